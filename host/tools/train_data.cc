// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_data.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/npy/npy.h"
#include "host/tools/digits.h"
#include "host/tools/module_file.h"

namespace systole::tools {
namespace {

using Kind = TrainArgument::Kind;

// Without sizes of 1: images of (28, 28) and of (28, 28, 1) are the same.
ir::Ints Squeezed(ir::Ints shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

// NAME to FILE.
absl::StatusOr<std::map<std::string, std::string>> FilesOf(
    const TrainModule& module, const DataPlaces& places) {
  std::vector<std::string> names;
  for (const TrainArgument& argument : module.arguments) {
    if (argument.kind == Kind::kData) names.push_back(argument.name);
  }
  std::map<std::string, std::string> files;
  for (const std::string& given : places.files) {
    const size_t equals = given.find('=');
    const std::string name =
        equals == std::string::npos ? "" : given.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          places.option, " ", given, ": NAME=FILE.npy is needed; data of ",
          module.file, ": ", absl::StrJoin(names, ", ")));
    }
    if (!files.emplace(name, given.substr(equals + 1)).second)
      return absl::InvalidArgumentError(
          absl::StrCat(places.option, " ", given, ": is given twice"));
  }
  return files;
}

// The array as values of the argument's type. `from` says where it is from.
absl::StatusOr<ir::Literal> ValuesOf(const std::string& from, npy::Array array,
                                     const TrainArgument& argument) {
  ir::Type type = argument.type;
  const auto wrong = [&](absl::string_view text) {
    return absl::InvalidArgumentError(
        absl::StrCat(from, ": the data '", argument.name, "': ", text));
  };
  if (array.shape.empty() || array.shape[0] < 1)
    return wrong(absl::StrCat(npy::Describe(array), " has no samples"));
  ir::Ints sample(type.shape.begin() + 1, type.shape.end());
  const ir::Ints given(array.shape.begin() + 1, array.shape.end());
  type.shape[0] = array.shape[0];
  if (Squeezed(given) == Squeezed(sample)) array.shape = type.shape;
  const auto values = FromArray(array, type, "");
  if (!values.ok() || values->stacked) {
    return wrong(absl::StrCat("is ", npy::Describe(array), ", a batch is ",
                              ValuesText(argument.type, "")));
  }
  return values->runs[0];
}

}  // namespace

absl::StatusOr<TrainData> TrainData::Read(const TrainModule& module,
                                          const DataPlaces& places,
                                          int64_t most) {
  const auto files = FilesOf(module, places);
  if (!files.ok()) return files.status();
  TrainData data;
  std::string first;  // where the number of samples is from
  std::optional<Digits> digits;
  for (const TrainArgument& argument : module.arguments) {
    if (argument.kind != Kind::kData) continue;
    npy::Array array;
    std::string from;
    const auto file = files->find(argument.name);
    if (file != files->end()) {
      from = file->second;
      auto read = npy::Read(from);
      if (!read.ok()) return read.status();
      array = *std::move(read);
    } else if (argument.name == "images" || argument.name == "labels") {
      from = places.digits;
      if (!digits) {
        auto read = ReadDigits(places.digits, places.part);
        if (!read.ok()) return read.status();
        digits = *std::move(read);
      }
      array.type = npy::Type::kUint8;
      array.shape = {digits->count};
      array.bytes = digits->labels;
      if (argument.name == "images") {
        array.shape = {digits->count, digits->height, digits->width};
        array.bytes = digits->pixels;
      }
    } else {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s takes the data '%s', %s: give %s %s=FILE.npy", module.file,
          argument.name, ValuesText(argument.type, ""), places.option,
          argument.name));
    }
    const int64_t count = array.shape.empty() ? 0 : array.shape[0];
    auto values = ValuesOf(from, std::move(array), argument);
    if (!values.ok()) return values.status();
    if (data.arrays_.empty()) {
      first = from;
      data.count_ = count;
    } else if (count != data.count_) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: the data '%s' have %d samples, those of %s %d",
                          from, argument.name, count, first, data.count_));
    }
    data.arrays_.push_back({argument.name, *std::move(values),
                            argument.type.elements() / argument.type.shape[0]});
  }
  if (most > data.count_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d test samples: %s has %d", most, first, data.count_));
  }
  if (most > 0) data.count_ = most;
  return data;
}

ir::Literal TrainData::Batch(const TrainArgument& argument,
                             absl::Span<const int64_t> samples) const {
  const auto array =
      std::find_if(arrays_.begin(), arrays_.end(),
                   [&](const Array& a) { return a.name == argument.name; });
  ir::Literal batch = ir::Literal::Zeros(
      argument.type.element,
      array->elements * static_cast<int64_t>(samples.size()));
  const int64_t bytes =
      array->elements * ir::ElementBytes(argument.type.element);
  uint8_t* to = batch.data();
  for (const int64_t sample : samples) {
    std::memcpy(to, array->values.data() + sample * bytes, bytes);
    to += bytes;
  }
  return batch;
}

std::string TrainData::Digest() const {
  uLong crc = 0;
  for (const Array& array : arrays_) {
    crc =
        crc32_z(crc, array.values.data(),
                array.values.size() * ir::ElementBytes(array.values.element()));
  }
  return absl::StrFormat("%08x", crc);
}

namespace {

ir::Literal Single(ir::ElementType element, uint32_t value) {
  if (element == ir::ElementType::kUint32)
    return ir::Literal(std::vector<uint32_t>{value});
  return ir::Literal(std::vector<int32_t>{static_cast<int32_t>(value)});
}

}  // namespace

std::vector<ir::Literal> StepArguments(const TrainProgram& program,
                                       const TrainData& data,
                                       absl::Span<const int64_t> samples,
                                       const StepScalars& scalars) {
  std::vector<ir::Literal> arguments;
  for (const TrainArgument& argument : program.step.arguments) {
    switch (argument.kind) {
      case Kind::kData:
        arguments.push_back(data.Batch(argument, samples));
        break;
      case Kind::kRate:
        arguments.push_back(ir::Literal(std::vector<float>{scalars.rate}));
        break;
      case Kind::kStep:
        arguments.push_back(
            Single(argument.type.element, static_cast<uint32_t>(scalars.step)));
        break;
      case Kind::kSeed:
        arguments.push_back(Single(argument.type.element, scalars.seed));
        break;
    }
  }
  return arguments;
}

namespace {

// The hash of the vector unit's `rnd` (docs/vpu.md).
uint32_t Mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x7FEB352D;
  x = (x ^ x >> 15) * 0x846CA68B;
  return x ^ x >> 16;
}

}  // namespace

void BatchOrder::Shuffle(int64_t epoch) {
  epoch_ = epoch;
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), int64_t{0});
  const uint32_t key = Mix(seed_ ^ Mix(static_cast<uint32_t>(epoch)));
  for (int64_t i = count_ - 1; i > 0; --i) {
    const uint64_t random = Mix(key + Mix(static_cast<uint32_t>(i)));
    std::swap(order_[i], order_[random * (i + 1) >> 32]);
  }
}

std::vector<int64_t> BatchOrder::Batch(int64_t step, int64_t batch) {
  std::vector<int64_t> indices(batch);
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t at = step * batch + n;
    if (at / count_ != epoch_) Shuffle(at / count_);
    indices[n] = order_[at % count_];
  }
  return indices;
}

}  // namespace systole::tools
