// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Inserts operations before a node, and transforms the operands of products.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_NODES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_NODES_H_

#include <cstdint>
#include <vector>

#include "host/ir/index.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

inline constexpr ir::ElementType kBf16 = ir::ElementType::kBfloat16;
inline constexpr ir::ElementType kF32 = ir::ElementType::kFloat32;

// The elements of a value in a given order: sizes and strides of the
// dimensions, in elements, starting at `offset`.
struct Walk {
  ir::Ints sizes, strides;
  int64_t offset = 0;

  void Add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  // Whether it visits the elements in memory order, each once.
  bool Dense() const {
    const ir::Ints dense = ir::StridesOf(sizes);
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != 1 && strides[i] != dense[i]) return false;
    return offset == 0;
  }
};

int64_t SizeOf(const ir::Ints& shape);
// A tensor's elements with its dimensions in the order of these lists.
Walk Ordered(const ir::Ints& shape, const std::vector<ir::Ints>& order);

// Whether the array walks over the lines of a product in place: its contraction
// has runs long enough for the segments, or passes that leave rows unused take
// less than a move does. The first `lines` dimensions are the batch and the
// lines; columns: of the product.
bool Walkable(const Walk& walk, size_t lines, int64_t columns,
              const Preset& preset);

class ProductNodes {
 public:
  // Inserts the operations before `node`.
  ProductNodes(ir::Module& module, ir::Node& node)
      : module_(module), node_(node) {}

  ir::Value Make(ir::Op op, ir::Type type, std::vector<ir::Value> operands,
                 ir::Attributes attributes = ir::NoAttributes{});
  // A tensor with this number everywhere; of an integer type, or 0.
  ir::Value Number(ir::ElementType type, int32_t number, const ir::Ints& shape);
  ir::Value Convert(ir::Value value, ir::ElementType element);
  ir::Value Reshape(ir::Value value, const ir::Ints& shape);
  ir::Value Walked(ir::Value value, const Walk& walk);
  // Part `part` of each number for a multi-pass product, in bf16: the nearest
  // to what the earlier parts leave. A number that is not finite has one part.
  ir::Value Part(ir::Value value, int part);
  // Digit of base 256 of each integer, in bf16; the last digit has the sign.
  ir::Value Digit(ir::Value value, int digit);
  // Inlines another module with these parameters; returns its results.
  std::vector<ir::Value> Inlined(const ir::Module& other,
                                 const std::vector<ir::Value>& operands);

 private:
  ir::Module& module_;
  ir::Node& node_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_NODES_H_
