// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types of values in the graph: element type, shape and quantisation.
#ifndef SYSTOLE_HOST_IR_TYPE_H_
#define SYSTOLE_HOST_IR_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace systole::ir {

constexpr int kMaxRank = 16;
constexpr int kMaxQuantRank = 6;  // limit for the operations of quant/
constexpr int64_t kMaxElements = int64_t{1} << 31;

enum class ElementType {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBfloat16,
  kFloat16,
  kFloat32,
};

// "i1", "i8", "u8", "bf16", "f32" and so on.
const char* ElementTypeName(ElementType type);
std::optional<ElementType> ElementTypeFromName(std::string_view name);
int ElementBytes(ElementType type);  // 1 for i1, stored as 0 or 1
constexpr bool IsFloat(ElementType type) {
  return type >= ElementType::kBfloat16;
}
bool IsSigned(ElementType type);    // i8..i64
bool IsUnsigned(ElementType type);  // u8..u64
// Signed or unsigned, but not i1.
bool IsInteger(ElementType type);

// q stands for scale * (q - zero_point). One scale for the whole tensor, or
// one for each index of `axis`; then the zero point is 0.
struct Quantization {
  std::vector<float> scales;
  int32_t zero_point = 0;
  int axis = 0;  // 0 unless per channel

  bool per_channel() const { return scales.size() > 1; }
  // Scale of index `channel` of the axis.
  float scale(int64_t channel = 0) const {
    return per_channel() ? scales[channel] : scales[0];
  }
  bool operator==(const Quantization& other) const {
    return scales == other.scales && zero_point == other.zero_point &&
           axis == other.axis;
  }
};

// Row-major, the last dimension fastest. Rank 0 is a scalar.
struct Type {
  ElementType element = ElementType::kInt8;
  std::vector<int64_t> shape;
  std::optional<Quantization> quantization;

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t elements() const;
  int64_t bytes() const { return elements() * ElementBytes(element); }
  bool operator==(const Type& other) const {
    return element == other.element && shape == other.shape &&
           quantization == other.quantization;
  }
  bool operator!=(const Type& other) const { return !(*this == other); }
};

// "[1,32,32,3]".
std::string ShapeText(const std::vector<int64_t>& shape);
// "i8[1,32,32,3]{scale=0.5, zero=-128}", as in a module's text.
std::string TypeText(const Type& type);
// The shortest decimal that reads back as the same float.
std::string FloatText(float value);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_TYPE_H_
