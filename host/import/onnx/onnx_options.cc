// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/onnx_options.h"

#include <cmath>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "host/files/printable.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/npy/npy.h"

namespace systole::import {
namespace {

absl::Status Invalid(absl::string_view option, const std::string& value,
                     const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, " ", Printable(value), ": ", what));
}

absl::Status AddDim(const std::string& text, OnnxOptions& options) {
  const size_t equals = text.rfind('=');
  int64_t size = 0;
  if (equals == std::string::npos || equals == 0 ||
      !absl::SimpleAtoi(text.substr(equals + 1), &size) || size < 1 ||
      size > ir::kMaxElements) {
    return Invalid("--dim", text, "NAME=SIZE is needed, such as batch=4");
  }
  if (!options.dims.emplace(text.substr(0, equals), size).second)
    return Invalid("--dim", text, "is given twice");
  return absl::OkStatus();
}

// The type's name in NumPy.
std::string NumpyName(ir::ElementType element) {
  const std::string name = ir::ElementTypeName(element);
  if (element == ir::ElementType::kBool) return "bool";
  if (element == ir::ElementType::kBfloat16) return "bfloat16";
  const char* const kind = name[0] == 'i'   ? "int"
                           : name[0] == 'u' ? "uint"
                                            : "float";
  return kind + name.substr(1);
}

absl::StatusOr<Literal> FromFile(const std::string& file,
                                 const ir::Type& type) {
  const auto array = npy::Read(file);
  if (!array.ok()) return array.status();
  if (npy::TypeName(array->type) != NumpyName(type.element) ||
      array->shape != type.shape) {
    return absl::InvalidArgumentError(
        absl::StrCat(Printable(file), ": is ", npy::Describe(*array), ", not ",
                     NumpyName(type.element), " ", ir::ShapeText(type.shape)));
  }
  return Literal::FromBytes(type.element, type.elements(), array->bytes.data());
}

// Whether the type can represent the number. A float type represents every
// number, rounded.
bool Represents(ir::ElementType element, double value) {
  if (ir::IsFloat(element)) return true;
  if (element == ir::ElementType::kBool) return value == 0 || value == 1;
  if (value != std::floor(value)) return false;
  const int bits = 8 * ir::ElementBytes(element);
  const bool has_sign = ir::IsSigned(element);
  const double end = std::ldexp(1.0, has_sign ? bits - 1 : bits);
  return value >= (has_sign ? -end : 0) && value < end;
}

absl::StatusOr<Literal> FromNumbers(const std::string& text,
                                    const ir::Type& type) {
  std::vector<double> values;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    double value = 0;
    if (!absl::SimpleAtod(part, &value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", Printable(text),
                       "' is neither numbers nor a file of an array (.npy)"));
    }
    if (!Represents(type.element, value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", Printable(std::string(part)), "' is no ",
          NumpyName(type.element),
          type.element == ir::ElementType::kBool ? ": give 0 or 1" : ""));
    }
    values.push_back(value);
  }
  if (static_cast<int64_t>(values.size()) != type.elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Counted(static_cast<int64_t>(values.size()), "number"), " for ",
        NumpyName(type.element), " ", ir::ShapeText(type.shape)));
  }
  return LiteralOf(type.element, values);
}

absl::Status AddFixed(const std::string& text, OnnxOptions& options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Invalid(
        "--fix", text,
        "NAME=FILE.npy or NAME=NUMBERS is needed, such as rate=16000");
  }
  const std::string value = text.substr(equals + 1);
  const auto make = absl::EndsWith(value, ".npy") ? FromFile : FromNumbers;
  const FixedInput fixed = [value, make](const ir::Type& type) {
    return make(value, type);
  };
  if (!options.fixed.emplace(text.substr(0, equals), fixed).second)
    return Invalid("--fix", text, "is given twice");
  return absl::OkStatus();
}

absl::Status SetPrecision(const std::string& text, OnnxOptions& options) {
  if (text == "default") {
    options.precision = ir::Precision::kDefault;
  } else if (text == "high") {
    options.precision = ir::Precision::kHigh;
  } else if (text == "highest") {
    options.precision = ir::Precision::kHighest;
  } else {
    return Invalid("--precision", text, "there are default, high, highest");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddOnnxOption(absl::string_view option, const std::string& value,
                           OnnxOptions& options) {
  if (option == "--precision") return SetPrecision(value, options);
  if (option == "--dim") return AddDim(value, options);
  if (option == "--fix") return AddFixed(value, options);
  return absl::InvalidArgumentError(
      absl::StrCat("'", Printable(std::string(option)),
                   "' is no option of an ONNX model: there are --precision, "
                   "--dim, --fix"));
}

absl::Status AddOnnxOptions(absl::string_view text, OnnxOptions& options) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    if (absl::Status s = AddOnnxOption(words[i], value, options); !s.ok())
      return s;
  }
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace systole::import
