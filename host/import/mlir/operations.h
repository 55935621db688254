// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the operations of a bytecode file. Its tables have been read before.
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
  bool registered = true;  // known to the writer: its properties have names
};

struct Tables {
  uint64_t version = 0;  // of the format
  std::vector<OperationName> names;
  std::vector<absl::string_view> properties;
};

// Reads the operations section into `root` and `values` of the module, which
// already has its types and attributes. Operands must be defined before their
// use.
absl::Status ReadOperations(const Decoder& decoder, const Tables& tables,
                            absl::string_view section, Module& module);

// Reads the header of a section. Afterwards `in` is past the section's data.
struct Section {
  int id = 0;
  absl::string_view data;
};
Section ReadSection(ByteReader& in);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_OPERATIONS_H_
