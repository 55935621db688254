// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the attributes of an operation as numbers. The first error is kept.
// After it the values are empty or zero.
//
//   AttributeReader in(operation, operand_types);
//   HloSliceAttributes attributes{in.Integers("start_indices"), ...};
//   if (!in.status().ok()) return in.status();
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_ATTRIBUTE_READER_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_ATTRIBUTE_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "host/import/mlir/module.h"
#include "host/ir/type.h"

namespace systole::import {

class AttributeReader {
 public:
  AttributeReader(const mlir::Operation& operation,
                  std::vector<ir::Type> operand_types)
      : operation_(operation), operand_types_(std::move(operand_types)) {}

  const mlir::Operation& operation() const { return operation_; }
  const std::vector<ir::Type>& operand_types() const { return operand_types_; }
  // InvalidArgument, or Unimplemented after Refuse.
  const absl::Status& status() const { return status_; }

  int64_t Integer(absl::string_view name);
  bool Boolean(absl::string_view name);
  float Float(absl::string_view name);
  std::string Text(absl::string_view name);
  // Index of the case of an enumeration.
  int64_t Enumeration(absl::string_view name, absl::string_view enumeration);
  // A tensor of integers or booleans, row-major.
  std::vector<int64_t> Integers(absl::string_view name);
  // The shape of that tensor.
  std::vector<int64_t> Shape(absl::string_view name);
  // Columns 0 and 1 of a tensor [n, 2].
  void Pairs(absl::string_view name, std::vector<int64_t>& first,
             std::vector<int64_t>& second);

  // The attribute, or null after an error.
  const mlir::Attribute* Get(absl::string_view name);
  // Whether a type attribute is the none type.
  bool IsNone(absl::string_view name);

  template <typename... Parts>
  void Refuse(const Parts&... parts) {
    if (status_.ok())
      status_ = absl::UnimplementedError(absl::StrCat(parts...));
  }

 private:
  const mlir::Attribute* GetKind(absl::string_view name,
                                 mlir::Attribute::Kind kind, const char* what);
  void Fail(absl::string_view name, const char* what);

  const mlir::Operation& operation_;
  const std::vector<ir::Type> operand_types_;
  absl::Status status_;
};

// Reads dense elements of integers or booleans. Returns false for other
// elements, or too many.
bool IntegerElements(const mlir::Attribute& elements,
                     std::vector<int64_t>& values);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_ATTRIBUTE_READER_H_
