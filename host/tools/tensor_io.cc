// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/tools/tensor_io.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/ir/evaluate.h"

namespace systole::tools {
namespace {

using ir::ElementType;
using ir::Literal;

// Images in an array of that shape; 0 if it has none.
int64_t CountImages(const std::vector<int64_t>& shape,
                    const std::vector<int64_t>& one) {
  if (shape == one) return 1;
  const auto ends_with = [&](size_t skip_shape, size_t skip_one) {
    return std::equal(shape.begin() + skip_shape, shape.end(),
                      one.begin() + skip_one, one.end());
  };
  const bool unit = !one.empty() && one[0] == 1;
  if (unit && shape.size() == one.size() && ends_with(1, 1)) return shape[0];
  if (shape.size() == one.size() + 1 && ends_with(1, 0)) return shape[0];
  if (unit && shape.size() + 1 == one.size() && ends_with(0, 1)) return 1;
  return 0;
}

Literal Evaluated(ir::Op op, const ir::Type& from, const ir::Type& to,
                  const Literal& values) {
  ir::Node operand{"values", ir::Op::kParameter, from, {}, {}};
  const ir::Node node{"converted", op, to, {&operand}, ir::NoAttributes{}};
  return *ir::Evaluate(node, {&values});
}

ir::Type Row(ElementType element, int64_t size) {
  ir::Type type;
  type.element = element;
  type.shape = {size};
  return type;
}

constexpr char kUint8[] = "u8", kTruth[] = "i1", kInt64[] = "i64";

// int64 as int32, unless a number does not fit.
absl::StatusOr<Literal> Narrowed(const Literal& wide) {
  std::vector<int32_t> values;
  for (const int64_t value : wide.values<int64_t>()) {
    if (value != static_cast<int32_t>(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("element ", values.size(), " is ", value,
                       "; integers have at most 32 bits"));
    }
    values.push_back(static_cast<int32_t>(value));
  }
  return Literal(std::move(values));
}

// Of the element that the type has, or of float. Bytes without sign are
// re-centred, as the import does it with those of a model.
absl::StatusOr<Literal> ValuesFor(const npy::Array& array, const ir::Type& type,
                                  const std::string& stored) {
  const ElementType element = type.element;
  const auto as = [&](ElementType from) {
    return Literal::FromBytes(from, array.elements(), array.bytes.data());
  };
  const bool truth = stored == kTruth;
  const bool bytes = element == ElementType::kInt8 && !truth;
  const bool halves = element == ElementType::kInt16;
  const bool integers = element == ElementType::kInt32;
  switch (array.type) {
    case npy::Type::kFloat32:
      if (!integers && !truth) return as(ElementType::kFloat32);
      break;
    case npy::Type::kBool:
      if (truth) return as(ElementType::kInt8);
      break;
    case npy::Type::kInt8:
      if (element == ElementType::kInt8) return as(ElementType::kInt8);
      break;
    case npy::Type::kInt16:
      if (halves) return as(ElementType::kInt16);
      break;
    case npy::Type::kUint8: {
      if (!bytes) break;
      Literal values = as(ElementType::kInt8);
      for (int8_t& value : values.values<int8_t>()) {
        value = static_cast<int8_t>(value ^ -128);
      }
      return values;
    }
    case npy::Type::kInt32:
      if (integers) return as(ElementType::kInt32);
      break;
    case npy::Type::kInt64:
      if (stored == kInt64) return Narrowed(as(ElementType::kInt64));
      break;
    default:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      npy::Describe(array), " for ",
      stored.empty() ? ir::ElementTypeName(element) : stored, ": give ",
      truth              ? "bool"
      : bytes            ? "int8, uint8 or float32"
      : halves           ? "int16 or float32"
      : stored == kInt64 ? "int64 or int32"
      : integers         ? "int32"
                         : "float32"));
}

// (lowest, highest) number of a type with one scale.
std::pair<double, double> Range(const ir::Type& type) {
  const double scale = type.quantization->scales[0];
  const int64_t zero = type.quantization->zero_point;
  const int64_t half = type.element == ElementType::kInt8 ? 128 : 32768;
  return {scale * static_cast<double>(-half - zero),
          scale * static_cast<double>(half - 1 - zero)};
}

}  // namespace

std::string RangeText(const ir::Type& type) {
  const auto [low, high] = Range(type);
  return absl::StrFormat("%.4g to %.4g", low, high);
}

absl::StatusOr<Images> ToImages(const npy::Array& array, const ir::Type& type,
                                const std::string& stored) {
  Images images;
  images.count = CountImages(array.shape, type.shape);
  if (images.count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(npy::Describe(array), " is neither ",
                     ir::ShapeText(type.shape), " nor a stack of them"));
  }
  images.stacked = array.shape != type.shape;
  const bool is_float = array.type == npy::Type::kFloat32;
  const bool quantises = is_float && type.quantization.has_value() &&
                         type.element != ElementType::kFloat32;
  absl::StatusOr<Literal> values = ValuesFor(array, type, stored);
  if (!values.ok()) return values.status();
  images.values = *std::move(values);
  if (is_float) {
    const std::vector<float>& numbers = images.values.values<float>();
    const auto is_nan = [](float v) { return std::isnan(v); };
    const auto nan = std::find_if(numbers.begin(), numbers.end(), is_nan);
    if (nan != numbers.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          std::count_if(nan, numbers.end(), is_nan), " of ", numbers.size(),
          " values are not numbers (NaN), the first is element ",
          nan - numbers.begin()));
    }
    if (quantises) {
      // Half a step beyond the ends still rounds to them.
      const auto [low, high] = Range(type);
      const double half = type.quantization->scales[0] / 2.0;
      images.clipped =
          std::count_if(numbers.begin(), numbers.end(),
                        [low = low - half, high = high + half](float v) {
                          return v < low || v > high;
                        });
    }
  }
  if (quantises) {
    ir::Type to = Row(type.element, array.elements());
    to.quantization = type.quantization;
    images.values = Evaluated(ir::Op::kQuantize,
                              Row(ElementType::kFloat32, array.elements()), to,
                              images.values);
    images.quantised = true;
  }
  return images;
}

npy::Array FromImages(const Literal& values, const ir::Type& type,
                      int64_t images, const std::string& stored, bool stacked) {
  npy::Array array;
  array.type = values.VisitQuant([](const auto& v) {
    using T = typename std::decay_t<decltype(v)>::value_type;
    if constexpr (std::is_same_v<T, float>) return npy::Type::kFloat32;
    return sizeof(T) == 1   ? npy::Type::kInt8
           : sizeof(T) == 2 ? npy::Type::kInt16
                            : npy::Type::kInt32;
  });
  array.shape = type.shape;
  if (!stacked && images == 1) {
    // One image, in its own shape.
  } else if (!array.shape.empty() && array.shape[0] == 1) {
    array.shape[0] = images;
  } else {
    array.shape.insert(array.shape.begin(), images);
  }
  array.bytes = values.Bytes();
  if (stored == kUint8 && array.type == npy::Type::kInt8) {
    array.type = npy::Type::kUint8;
    for (uint8_t& byte : array.bytes) byte ^= 128;
  } else if (stored == kTruth && array.type == npy::Type::kInt8) {
    array.type = npy::Type::kBool;
  } else if (stored == kInt64 && array.type == npy::Type::kInt32) {
    array.type = npy::Type::kInt64;
    const std::vector<int32_t>& from = values.values<int32_t>();
    array.bytes =
        Literal(std::vector<int64_t>(from.begin(), from.end())).Bytes();
  }
  return array;
}

Literal Dequantised(const Literal& values, const ir::Type& type) {
  ir::Type from = Row(type.element, values.size());
  from.quantization = type.quantization;
  return Evaluated(ir::Op::kDequantize, from,
                   Row(ElementType::kFloat32, values.size()), values);
}

Literal RandomValues(const ir::Type& type, int64_t images, uint64_t seed,
                     const std::string& stored) {
  std::mt19937_64 random(seed);
  const int64_t count = images * type.elements();
  if (type.element == ElementType::kFloat32) {
    std::vector<float> values(count);
    for (float& v : values) {
      v = static_cast<float>(static_cast<int64_t>(random() >> 40) - (1 << 23)) /
          static_cast<float>(1 << 23);
    }
    return Literal(std::move(values));
  }
  if (type.element == ElementType::kInt32) {  // small numbers, as tokens are
    std::vector<int32_t> values(count);
    for (int32_t& v : values) v = static_cast<int32_t>(random() >> 61);
    return Literal(std::move(values));
  }
  if (type.element == ElementType::kInt16) {
    std::vector<int16_t> values(count);
    for (int16_t& v : values) v = static_cast<int16_t>(random() >> 32);
    return Literal(std::move(values));
  }
  std::vector<int8_t> values(count);
  for (int8_t& v : values) {
    v = static_cast<int8_t>(random() >> 32);
    if (stored == kTruth) v &= 1;
  }
  return Literal(std::move(values));
}

absl::StatusOr<std::vector<std::string>> FilesFor(
    const std::vector<std::string>& names,
    const std::vector<std::string>& given, const char* what) {
  std::vector<std::string> files(names.size());
  for (const std::string& text : given) {
    size_t index = names.size();
    std::string file = text;
    for (size_t i = 0; i < names.size(); ++i) {
      if (text.size() > names[i].size() && text[names[i].size()] == '=' &&
          text.compare(0, names[i].size(), names[i]) == 0) {
        index = i;
        file = text.substr(names[i].size() + 1);
      }
    }
    // What looks like the name of another is no file's name.
    const size_t equals = text.find('=');
    const bool other_name = equals != std::string::npos &&
                            text.substr(0, equals).find('/') == text.npos;
    if (index == names.size() && names.size() == 1 && !other_name) index = 0;
    if (index == names.size() || !files[index].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " ", text, ": give one NAME=FILE for each of ",
                       absl::StrJoin(names, ", ")));
    }
    files[index] = file;
  }
  return files;
}

}  // namespace systole::tools
