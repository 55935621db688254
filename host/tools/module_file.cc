// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/module_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/files/file_kind.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/import/float/float_importer.h"
#include "host/import/onnx/onnx_importer.h"
#include "host/import/onnx/onnx_options.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/tools/commands.h"
#include "systole/target.h"

namespace systole::tools {
namespace {

using ir::Literal;

constexpr char kDefaultModulePreset[] = "lite";

npy::Type FileType(ir::ElementType element) {
  switch (element) {
    case ir::ElementType::kBool:
      return npy::Type::kBool;
    case ir::ElementType::kInt8:
      return npy::Type::kInt8;
    case ir::ElementType::kInt16:
      return npy::Type::kInt16;
    case ir::ElementType::kInt32:
      return npy::Type::kInt32;
    case ir::ElementType::kInt64:
      return npy::Type::kInt64;
    case ir::ElementType::kUint8:
      return npy::Type::kUint8;
    case ir::ElementType::kUint16:
      return npy::Type::kUint16;
    case ir::ElementType::kUint32:
      return npy::Type::kUint32;
    case ir::ElementType::kUint64:
      return npy::Type::kUint64;
    case ir::ElementType::kBfloat16:
      return npy::Type::kBfloat16;
    case ir::ElementType::kFloat16:
      return npy::Type::kFloat16;
    case ir::ElementType::kFloat32:
      break;
  }
  return npy::Type::kFloat32;
}

bool IsHalf(ir::ElementType element) {
  return element == ir::ElementType::kBfloat16 ||
         element == ir::ElementType::kFloat16;
}

std::string Accepted(ir::ElementType element) {
  const std::string own = npy::TypeName(FileType(element));
  if (element == ir::ElementType::kBfloat16)
    return absl::StrCat(own, ", uint16 (its bits) or float32");
  return element == ir::ElementType::kFloat16 ? own + " or float32" : own;
}

// "NAME=1,28,28,1".
absl::Status AddShape(const std::string& text, import::FloatOptions& options) {
  const size_t equals = text.rfind('=');
  const std::string name =
      equals == std::string::npos ? "" : text.substr(0, equals);
  ir::Ints shape;
  for (const absl::string_view part :
       absl::StrSplit(text.substr(name.empty() ? 0 : equals + 1), ',')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1 || size > ir::kMaxElements) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--input-shape ", text, ": sizes are needed, as in x=1,28,28,1"));
    }
    shape.push_back(size);
  }
  if (!options.shapes.emplace(name, std::move(shape)).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("--input-shape ", text, ": is given twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<import::FloatOptions> FloatOptionsOf(const ModuleArgs& args) {
  import::FloatOptions options;
  options.signature = args.signature;
  if (args.precision == "high") options.precision = ir::Precision::kHigh;
  if (args.precision == "highest") options.precision = ir::Precision::kHighest;
  for (const std::string& text : args.shapes) {
    if (absl::Status s = AddShape(text, options); !s.ok()) return s;
  }
  return options;
}

absl::StatusOr<std::unique_ptr<ir::Module>> ReadOnnx(const std::string& path,
                                                     const std::string& bytes,
                                                     const ModuleArgs& args) {
  import::OnnxOptions options;
  options.folder = import::FolderOf(path);
  absl::Status status;
  if (!args.precision.empty())
    status = import::AddOnnxOption("--precision", args.precision, options);
  for (const std::string& text : args.dims)
    status.Update(import::AddOnnxOption("--dim", text, options));
  for (const std::string& text : args.fixed)
    status.Update(import::AddOnnxOption("--fix", text, options));
  if (!status.ok()) return status;
  absl::StatusOr<import::OnnxProgram> program =
      import::ImportOnnx(bytes, options);
  if (!program.ok()) {
    return absl::Status(program.status().code(),
                        absl::StrCat(path, ": ", program.status().message()));
  }
  for (const std::string& note : program->notes) {
    if (args.quiet) break;
    std::fprintf(stderr, "systole: %s: %s\n", Printable(path).c_str(),
                 note.c_str());
  }
  return std::move(program->module);
}

// Pairs of float32 along the last axis as numbers of complex64: the same bytes.
void JoinParts(npy::Array& array) {
  array.type = npy::Type::kComplex64;
  array.shape.pop_back();
}

// float32 to one of 16 bits.
Literal Rounded(const Literal& values, ir::ElementType element) {
  const std::vector<float>& from = values.values<float>();
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> to;
    to.reserve(from.size());
    for (const float value : from) to.push_back(T(value));
    return Literal(std::move(to));
  };
  return element == ir::ElementType::kBfloat16 ? as(ir::Bfloat16())
                                               : as(ir::Float16());
}

}  // namespace

absl::StatusOr<ModuleKind> ModuleKindOf(const std::string& path,
                                        const std::string& signature) {
  const auto kind = KindOfFile(path);
  if (!kind.ok()) return kind.status();
  if (*kind == FileKind::kStableHlo) return ModuleKind::kStableHlo;
  if (*kind == FileKind::kOnnx) return ModuleKind::kOnnx;
  if (*kind != FileKind::kTflite) return ModuleKind::kNone;
  const auto bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  return import::IsFloatTflite(*bytes, signature) ? ModuleKind::kFloatTflite
                                                  : ModuleKind::kNone;
}

std::string ModuleKindText(ModuleKind kind) {
  if (kind == ModuleKind::kOnnx) return "an ONNX model";
  return kind == ModuleKind::kFloatTflite ? "a float model" : "StableHLO";
}

absl::StatusOr<std::unique_ptr<ir::Module>> ReadModuleFile(
    const std::string& path, ModuleKind kind, const ModuleArgs& args) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (absl::Status s = CheckModuleArgs(path, kind, args); !s.ok()) return s;
  if (kind == ModuleKind::kOnnx) return ReadOnnx(path, *bytes, args);
  if (kind == ModuleKind::kFloatTflite) {
    const auto options = FloatOptionsOf(args);
    if (!options.ok()) return options.status();
    return import::ImportFloatTflite(*bytes, path, *options);
  }
  absl::StatusOr<import::StableHloProgram> program =
      import::ImportStableHlo(*bytes);
  if (!program.ok()) {
    return absl::Status(program.status().code(),
                        absl::StrCat(path, ": ", program.status().message()));
  }
  if (program->num_partitions > 1) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": a program for ", program->num_partitions,
                     " devices; systole run --devices ",
                     program->num_partitions, " runs it"));
  }
  return std::move(program->module);
}

absl::Status CheckModuleArgs(const std::string& path, ModuleKind kind,
                             const ModuleArgs& args) {
  const bool tflite = kind == ModuleKind::kFloatTflite;
  const bool onnx = kind == ModuleKind::kOnnx;
  const char *option = nullptr, *models = "";
  const auto file = KindOfFile(path);
  if (!args.signature.empty() && file.ok() && *file != FileKind::kTflite &&
      *file != FileKind::kProgram) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": --signature is for TensorFlow Lite models only"));
  }
  if (!args.precision.empty() && !tflite && !onnx) {
    option = "--precision";
    models = "float TensorFlow Lite and ONNX";
  } else if (!args.shapes.empty() && !tflite) {
    option = "--input-shape";
    models = "float TensorFlow Lite";
  } else if ((!args.dims.empty() || !args.fixed.empty()) && !onnx) {
    option = args.dims.empty() ? "--fix" : "--dim";
    models = "ONNX";
  }
  if (option == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", option, " is for ", models, " models only"));
}

absl::StatusOr<const Preset*> ModulePreset(ModuleKind kind,
                                           const std::string& name,
                                           bool given) {
  const auto preset = PresetByName(given ? name : kDefaultModulePreset);
  if (!preset.ok() || Target(**preset).float_modules()) return preset;
  return absl::InvalidArgumentError(
      absl::StrCat("preset '", name, "': ", ModuleKindText(kind),
                   " runs on bf16 cores: ", FloatPresets()));
}

std::string ValuesText(const ir::Type& type, const std::string& stored) {
  npy::Array values{FileType(type.element), type.shape, {}};
  if (stored == ir::kComplexStored) JoinParts(values);
  return npy::Describe(values);
}

absl::StatusOr<ModuleValues> FromArray(const npy::Array& given,
                                       const ir::Type& type,
                                       const std::string& stored) {
  npy::Array array = given;
  if (stored == ir::kComplexStored) {
    if (array.type != npy::Type::kComplex64) {
      return absl::InvalidArgumentError(
          absl::StrCat(npy::Describe(array), " for complex64: give complex64"));
    }
    array.type = npy::Type::kFloat32;
    array.shape.push_back(2);
  }
  ModuleValues values;
  values.stacked =
      array.shape.size() == type.shape.size() + 1 &&
      std::equal(type.shape.begin(), type.shape.end(), array.shape.begin() + 1);
  if (!values.stacked && array.shape != type.shape) {
    return absl::InvalidArgumentError(
        absl::StrCat(npy::Describe(given), " is neither ",
                     ValuesText(type, stored), " nor a stack of them"));
  }
  const ir::ElementType element = type.element;
  const bool rounds = IsHalf(element) && array.type == npy::Type::kFloat32;
  const bool bits =
      element == ir::ElementType::kBfloat16 && array.type == npy::Type::kUint16;
  if (array.type != FileType(element) && !rounds && !bits) {
    return absl::InvalidArgumentError(absl::StrCat(
        npy::Describe(array), " for ", ir::ElementTypeName(element), ": give ",
        Accepted(element)));
  }
  if (array.type == npy::Type::kBool) {
    const auto other = std::find_if(array.bytes.begin(), array.bytes.end(),
                                    [](uint8_t value) { return value > 1; });
    if (other != array.bytes.end()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("element %d is %d, not a truth value",
                          other - array.bytes.begin(), *other));
    }
  }
  const Literal all =
      rounds
          ? Rounded(Literal::FromBytes(ir::ElementType::kFloat32,
                                       array.elements(), array.bytes.data()),
                    element)
          : Literal::FromBytes(element, array.elements(), array.bytes.data());
  const int64_t count = values.stacked ? array.shape[0] : 1;
  for (int64_t i = 0; i < count; ++i)
    values.runs.push_back(all.Slice(i * type.elements(), type.elements()));
  return values;
}

npy::Array ToArray(const std::vector<Literal>& runs, const ir::Type& type,
                   const std::string& stored, bool stacked) {
  npy::Array array;
  const bool widened = type.element == ir::ElementType::kBfloat16;
  array.type = widened ? npy::Type::kFloat32 : FileType(type.element);
  array.shape = type.shape;
  if (stacked)
    array.shape.insert(array.shape.begin(), static_cast<int64_t>(runs.size()));
  for (const Literal& run : runs) {
    std::vector<uint8_t> bytes = run.Bytes();
    if (widened) {
      const std::vector<ir::Bfloat16>& from = run.values<ir::Bfloat16>();
      bytes = Literal(std::vector<float>(from.begin(), from.end())).Bytes();
    }
    array.bytes.insert(array.bytes.end(), bytes.begin(), bytes.end());
  }
  if (stored == ir::kComplexStored) JoinParts(array);
  return array;
}

Literal RandomOf(const ir::Type& type, uint64_t seed) {
  std::mt19937_64 random(seed);
  return ir::WithElement(type.element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values(type.elements());
    for (T& value : values) {
      const uint64_t bits = random();
      if constexpr (std::is_same_v<T, ir::Bool>) {
        value = ir::Bool(bits >> 63 != 0);
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(bits >> 61);
      } else {
        constexpr double kHalf = 1 << 23;
        value = T(static_cast<float>((static_cast<double>(bits >> 40) - kHalf) /
                                     kHalf));
      }
    }
    return Literal(std::move(values));
  });
}

std::string SpanText(const std::vector<Literal>& runs) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  int64_t nan = 0, numbers = 0;
  for (const Literal& run : runs) {
    run.Visit([&](const auto& values) {
      for (const auto& value : values) {
        const auto number = static_cast<double>(value);
        if (std::isnan(number)) {
          ++nan;
          continue;
        }
        ++numbers;
        low = std::min(low, number);
        high = std::max(high, number);
      }
    });
  }
  std::string text = numbers > 0 ? absl::StrFormat("%.6g to %.6g", low, high)
                     : nan > 0   ? ""
                                 : "empty";
  if (nan > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", nan, " NaN");
  return text;
}

}  // namespace systole::tools
