// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/types.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "host/import/mlir/text.h"

namespace systole::import {
namespace {

absl::StatusOr<ir::ElementType> ConvertElement(const mlir::Type& type) {
  using Kind = mlir::Type::Kind;
  if (type.kind == Kind::kBoolean ||
      (type.kind == Kind::kInteger && type.width == 1)) {
    return ir::ElementType::kBool;
  }
  if (type.kind == Kind::kComplex) {
    return absl::UnimplementedError("complex numbers");
  }
  std::string name = mlir::TypeText(type);
  if (type.kind == Kind::kInteger) {
    name = absl::StrCat(type.is_unsigned ? "u" : "i", type.width);
  } else if (type.kind == Kind::kFloat) {
    name = std::string(type.name);
  }
  const auto element = ir::ElementTypeFromName(name);
  if (!element) return absl::UnimplementedError(absl::StrCat("type ", name));
  return *element;
}

}  // namespace

ir::Type TokenType() {
  return ir::Type{ir::ElementType::kBool, {0}, std::nullopt};
}

absl::StatusOr<ir::Type> ConvertType(const mlir::Type& type) {
  // Manual computations have StableHLO's own token type. StableHLO's only other
  // type of its own is the future, and no supported operation has it.
  const bool is_own =
      type.kind == mlir::Type::Kind::kOpaque && type.dialect == "stablehlo";
  if (type.kind == mlir::Type::Kind::kToken || is_own) return TokenType();
  if (type.kind != mlir::Type::Kind::kTensor) {
    return absl::UnimplementedError(
        absl::StrCat("type ", mlir::TypeText(type)));
  }
  const absl::StatusOr<ir::ElementType> element =
      ConvertElement(*type.elements[0]);
  if (!element.ok()) return element.status();
  int64_t elements = 1;
  for (const int64_t size : type.shape) {
    if (size == mlir::kDynamic) {
      return absl::UnimplementedError("a dynamic shape");
    }
    if (size < 0 || size > ir::kMaxElements ||
        elements * size > ir::kMaxElements) {
      return absl::UnimplementedError(
          absl::StrCat("shape ", ir::ShapeText(type.shape), " is too large"));
    }
    elements *= size;
  }
  return ir::Type{*element, type.shape, std::nullopt};
}

absl::StatusOr<ir::Literal> ConvertElements(const mlir::Attribute& elements,
                                            const ir::Type& type) {
  if (elements.kind != mlir::Attribute::Kind::kElements) {
    return absl::InvalidArgumentError("the value is no tensor");
  }
  const absl::StatusOr<ir::Type> own = ConvertType(*elements.type);
  if (!own.ok()) return own.status();
  if (own->element != type.element || own->shape != type.shape) {
    return absl::InvalidArgumentError(
        absl::StrCat("the value is ", ir::TypeText(*own), ", the result ",
                     ir::TypeText(type)));
  }
  const int64_t count = elements.is_splat ? 1 : type.elements();
  const int64_t bytes = count * ir::ElementBytes(type.element);
  if (static_cast<int64_t>(elements.data.size()) != bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the value has ", elements.data.size(), " bytes, not ", bytes));
  }
  return ir::Literal::FromBytes(
      type.element, count,
      reinterpret_cast<const uint8_t*>(elements.data.data()));
}

}  // namespace systole::import
