// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/types.h"

#include <cstring>
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
    const mlir::Type& part = *type.elements[0];
    return absl::UnimplementedError(absl::StrCat(
        "type complex<",
        part.kind == Kind::kFloat ? std::string(part.name) : TypeText(part),
        ">"));
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
  if (IsComplex(type))
    return absl::UnimplementedError("complex numbers are not expected here");
  absl::StatusOr<std::vector<ir::Type>> types = ConvertParts(type);
  if (!types.ok()) return types.status();
  return (*types)[0];
}

bool IsComplex(const mlir::Type& type) {
  using Kind = mlir::Type::Kind;
  return type.kind == Kind::kTensor &&
         type.elements[0]->kind == Kind::kComplex &&
         type.elements[0]->elements[0]->kind == Kind::kFloat &&
         type.elements[0]->elements[0]->name == "f32";
}

absl::StatusOr<std::vector<ir::Type>> ConvertParts(const mlir::Type& type) {
  // In manual computations they are those of StableHLO, whose only other type,
  // the future, no operation that is read has.
  const bool is_own =
      type.kind == mlir::Type::Kind::kOpaque && type.dialect == "stablehlo";
  if (type.kind == mlir::Type::Kind::kToken || is_own)
    return std::vector<ir::Type>{TokenType()};
  if (type.kind != mlir::Type::Kind::kTensor) {
    return absl::UnimplementedError(
        absl::StrCat("type ", mlir::TypeText(type)));
  }
  const bool is_complex = IsComplex(type);
  const absl::StatusOr<ir::ElementType> element = ConvertElement(
      is_complex ? *type.elements[0]->elements[0] : *type.elements[0]);
  if (!element.ok()) return element.status();
  int64_t elements = is_complex ? 2 : 1;
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
  return std::vector<ir::Type>(is_complex ? 2 : 1,
                               {*element, type.shape, std::nullopt});
}

absl::StatusOr<std::vector<ir::Literal>> ConvertElements(
    const mlir::Attribute& elements, const mlir::Type& type) {
  if (elements.kind != mlir::Attribute::Kind::kElements) {
    return absl::InvalidArgumentError("the value is no tensor");
  }
  const absl::StatusOr<std::vector<ir::Type>> own =
      ConvertParts(*elements.type);
  if (!own.ok()) return own.status();
  const absl::StatusOr<std::vector<ir::Type>> wanted = ConvertParts(type);
  if (!wanted.ok()) return wanted.status();
  if (*own != *wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("the value is ", ir::TypeText(own->front()),
                     ", the result ", ir::TypeText(wanted->front())));
  }
  const ir::ElementType element = own->front().element;
  const auto parts = static_cast<int64_t>(own->size());
  const int64_t count = elements.is_splat ? 1 : own->front().elements();
  const int64_t size = ir::ElementBytes(element);
  const int64_t bytes = count * parts * size;
  if (static_cast<int64_t>(elements.data.size()) != bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the value has ", elements.data.size(), " bytes, not ", bytes));
  }
  const auto* const data =
      reinterpret_cast<const uint8_t*>(elements.data.data());
  if (parts == 1)
    return std::vector{ir::Literal::FromBytes(element, count, data)};
  std::vector<ir::Literal> literals;
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<uint8_t> of_part(count * size);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(&of_part[i * size], data + (i * parts + part) * size, size);
    literals.push_back(ir::Literal::FromBytes(element, count, of_part.data()));
  }
  return literals;
}

}  // namespace systole::import
