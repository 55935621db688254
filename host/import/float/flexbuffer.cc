// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/float/flexbuffer.h"

#include <cstring>
#include <limits>
#include <optional>

namespace systole::import {
namespace {

// Types as a flexbuffer numbers them.
enum FlexType {
  kFlexNull = 0,
  kFlexInt = 1,
  kFlexUint = 2,
  kFlexFloat = 3,
  kFlexIndirectInt = 6,
  kFlexIndirectUint = 7,
  kFlexIndirectFloat = 8,
  kFlexMap = 9,
  kFlexBool = 26,
};

// Values and offsets have 1, 2, 4 or 8 bytes. An offset leads back from where
// it is stored.
class FlexBytes {
 public:
  explicit FlexBytes(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  std::optional<uint64_t> Unsigned(uint64_t at, uint64_t width) const {
    if (at > bytes_.size() || bytes_.size() - at < width) return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at, width);
    return value;
  }
  // Where the offset that is stored there leads.
  std::optional<uint64_t> Target(uint64_t at, uint64_t width) const {
    const auto offset = Unsigned(at, width);
    if (!offset || *offset > at) return std::nullopt;
    return at - *offset;
  }
  // A text that ends with a zero byte.
  std::optional<std::string> Text(uint64_t at) const {
    if (at >= bytes_.size()) return std::nullopt;
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data()) + at;
    const void* const end = std::memchr(begin, 0, bytes_.size() - at);
    if (end == nullptr) return std::nullopt;
    return std::string(begin, static_cast<const char*>(end));
  }

  // A value that is stored there with `width` bytes. `packed`: its type, and
  // the logarithm of the width of what an offset leads to.
  std::optional<FlexValue> Value(uint64_t at, uint64_t width,
                                 uint64_t packed) const {
    uint64_t type = packed >> 2;
    if (kFlexIndirectInt <= type && type <= kFlexIndirectFloat) {
      const auto target = Target(at, width);
      if (!target) return std::nullopt;
      at = *target;
      width = uint64_t{1} << (packed & 3);
      type -= kFlexIndirectInt - kFlexInt;
    }
    const auto stored = Unsigned(at, width);
    if (!stored) return std::nullopt;
    using Kind = FlexValue::Kind;
    switch (type) {
      case kFlexNull:
        return FlexValue{};
      case kFlexBool:
        return FlexValue{Kind::kBool, *stored != 0, *stored != 0 ? 1.0 : 0.0};
      case kFlexInt: {
        const uint64_t unused = 64 - 8 * width;
        const int64_t value = static_cast<int64_t>(*stored << unused) >> unused;
        return FlexValue{Kind::kInteger, value, static_cast<double>(value)};
      }
      case kFlexUint: {
        if (*stored > uint64_t{std::numeric_limits<int64_t>::max()})
          return FlexValue{Kind::kOther};
        const auto value = static_cast<int64_t>(*stored);
        return FlexValue{Kind::kInteger, value, static_cast<double>(value)};
      }
      case kFlexFloat: {
        FlexValue value{Kind::kReal};
        if (width == sizeof(double)) {
          std::memcpy(&value.real, &*stored, sizeof(double));
        } else if (width == sizeof(float)) {
          float single;
          std::memcpy(&single, &*stored, sizeof(single));
          value.real = single;
        } else {
          return std::nullopt;
        }
        return value;
      }
      default:
        return FlexValue{Kind::kOther};
    }
  }

 private:
  const absl::Span<const uint8_t> bytes_;
};

absl::Status NoFlexbuffer() {
  return absl::InvalidArgumentError("the options are no valid flexbuffer");
}

bool IsWidth(uint64_t width) {
  return width == 1 || width == 2 || width == 4 || width == 8;
}

}  // namespace

absl::StatusOr<std::map<std::string, FlexValue>> ReadFlexMap(
    absl::Span<const uint8_t> bytes) {
  // The value of the whole is at the end: value, type, width.
  if (bytes.size() < 3) return NoFlexbuffer();
  const uint64_t root_width = bytes.back();
  const uint64_t packed = bytes[bytes.size() - 2];
  if (!IsWidth(root_width) || bytes.size() < root_width + 2)
    return NoFlexbuffer();
  if (packed >> 2 != kFlexMap)
    return absl::InvalidArgumentError("the options are no map");
  const FlexBytes in(bytes);
  const auto map = in.Target(bytes.size() - 2 - root_width, root_width);
  // Before the values: where the keys are, the width of those, the number of
  // values. Behind them: their types.
  const uint64_t width = uint64_t{1} << (packed & 3);
  if (!map || *map < 3 * width) return NoFlexbuffer();
  const auto keys = in.Target(*map - 3 * width, width);
  const auto key_width = in.Unsigned(*map - 2 * width, width);
  const auto count = in.Unsigned(*map - width, width);
  if (!keys || !key_width || !IsWidth(*key_width) || !count ||
      *count > bytes.size() || *keys < *key_width ||
      in.Unsigned(*keys - *key_width, *key_width) != count)
    return NoFlexbuffer();
  std::map<std::string, FlexValue> values;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto key = in.Target(*keys + i * *key_width, *key_width);
    const auto name = key ? in.Text(*key) : std::nullopt;
    const auto type = in.Unsigned(*map + *count * width + i, 1);
    const auto value =
        type ? in.Value(*map + i * width, width, *type) : std::nullopt;
    if (!name || !value) return NoFlexbuffer();
    values.emplace(*name, *value);
  }
  return values;
}

}  // namespace systole::import
