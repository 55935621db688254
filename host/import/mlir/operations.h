// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations of a bytecode file, once its tables are read.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_OPERATIONS_H_
#define SYSTOLE_HOST_IMPORT_MLIR_OPERATIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "host/import/mlir/decoder.h"

namespace systole::mlir {

struct OperationName {
  absl::string_view name;  // "vhlo.add_v1"
  bool registered = true;  // with the writer: its properties have names
};

struct Tables {
  uint64_t version = 0;  // of the format
  std::vector<OperationName> names;
  std::vector<absl::string_view> properties;
};

// Reads the section of operations into `root` and `values` of the module, which
// has its types and attributes. Operands must be defined before they are used.
absl::Status ReadOperations(const Decoder& decoder, const Tables& tables,
                            absl::string_view section, Module& module);

// What a section begins with; `in` is behind its data then.
struct Section {
  int id = 0;
  absl::string_view data;
};
Section ReadSection(ByteReader& in);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_OPERATIONS_H_
