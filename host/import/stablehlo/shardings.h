// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts meshes and shardings of Shardy's dialect (sdy) to those of
// host/partition.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_SHARDINGS_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_SHARDINGS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/import/mlir/module.h"
#include "host/partition/sharding.h"

namespace systole::import {

class Shardings {
 public:
  // For a program of this number of partitions.
  Shardings(const mlir::Module& module, int partitions);

  int partitions() const { return partitions_; }
  // The sharding of a value of that rank. If `axes` is not empty, other axes
  // are ignored. Errors: Unimplemented for unreduced values that are not
  // summed; InvalidArgument for a wrong number of devices or dimensions, or
  // unknown axes.
  absl::StatusOr<partition::Sharding> Read(
      const mlir::Attribute& sharding, size_t rank,
      const std::vector<absl::string_view>& axes = {}) const;

 private:
  std::map<absl::string_view, const mlir::Attribute*> meshes_;
  const int partitions_;
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_SHARDINGS_H_
