// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/shardings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::import {
namespace {

using mlir::Attribute;
using partition::Part;
using partition::Parts;
using partition::Sharding;

constexpr int64_t kMostDevices = 1 << 20;

bool IsStruct(const Attribute* attribute, absl::string_view name) {
  return attribute && attribute->kind == Attribute::Kind::kStruct &&
         attribute->name == name;
}

// The part of a device number that is its position along an axis of the mesh.
absl::StatusOr<Part> AxisOf(const Attribute& mesh, absl::string_view name) {
  int64_t before = 1;
  for (const Attribute* axis : mesh.elements) {
    if (axis->integers.empty()) break;
    if (axis->text == name) return Part{before, axis->integers[0]};
    before *= axis->integers[0];
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a sharding along '", name, "', no axis of its mesh"));
}

}  // namespace

Shardings::Shardings(const mlir::Module& module, int partitions)
    : partitions_(partitions) {
  for (const mlir::Operation& operation :
       module.root.regions[0].blocks[0].operations) {
    const Attribute* name = operation.Find("sym_name");
    const Attribute* mesh = operation.Find("mesh");
    if (operation.name == "sdy.mesh" && name && IsStruct(mesh, "mesh"))
      meshes_[name->text] = mesh;
  }
}

absl::StatusOr<Sharding> Shardings::Read(
    const Attribute& sharding, size_t rank,
    const std::vector<absl::string_view>& axes) const {
  if (!IsStruct(&sharding, "sharding") || sharding.elements.empty())
    return absl::InvalidArgumentError("a sharding that is none of sdy");
  const Attribute* mesh = sharding.elements[0];
  if (mesh->kind == Attribute::Kind::kSymbol && !mesh->elements.empty()) {
    const auto found = meshes_.find(mesh->elements[0]->text);
    if (found == meshes_.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a sharding on '", mesh->elements[0]->text, "', no mesh"));
    }
    mesh = found->second;
  }
  if (!IsStruct(mesh, "mesh"))
    return absl::InvalidArgumentError("a sharding without a mesh");
  Sharding result = Sharding::Replicated(rank);
  const auto lists = static_cast<int64_t>(sharding.integers.size());
  const auto dims = lists > 0 ? sharding.integers[0] - 1 : 0;
  if (lists > 3 && sharding.integers[3] != 0) {
    return absl::UnimplementedError(
        "a sharding with unreduced axes that are not summed");
  }
  // A token: it has one dimension in the IR and none in the sharding.
  if (dims == 0 && rank == 1) return result;
  if (dims != static_cast<int64_t>(rank) ||
      dims >= static_cast<int64_t>(sharding.elements.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a sharding of ", dims, " dimensions for a value of ", rank));
  }
  int64_t size = 1;
  for (const Attribute* axis : mesh->elements) {
    const int64_t own = axis->integers.empty() ? 0 : axis->integers[0];
    if (own < 1 || own > kMostDevices / size)
      return absl::InvalidArgumentError("a mesh with an axis of a wrong size");
    size *= own;
  }
  bool any = false;
  const auto add = [&](const std::vector<const Attribute*>& list,
                       Parts& parts) -> absl::Status {
    for (const Attribute* axis : list) {
      if (!axes.empty() &&
          std::find(axes.begin(), axes.end(), axis->text) == axes.end())
        continue;
      absl::StatusOr<Part> part = AxisOf(*mesh, axis->text);
      if (!part.ok()) return part.status();
      if (!axis->elements.empty()) {  // [pre][size] of the axis
        const std::vector<int64_t>& sub = axis->elements[0]->integers;
        if (sub.size() != 2 || sub[0] < 1 || sub[1] < 1 ||
            part->size % sub[0] != 0 || part->size / sub[0] % sub[1] != 0)
          return absl::InvalidArgumentError("a part of an axis that is none");
        *part = {part->before * sub[0], sub[1]};
      }
      any = any || part->size > 1;
      parts.push_back(*part);
    }
    return absl::OkStatus();
  };
  for (size_t d = 0; d < rank; ++d) {
    const Attribute* dimension = sharding.elements[1 + d];
    if (!IsStruct(dimension, "dimension_sharding"))
      return absl::InvalidArgumentError("a sharding that is none of sdy");
    if (absl::Status s = add(dimension->elements, result.dims[d]); !s.ok())
      return s;
  }
  if (lists > 2) {
    const auto begin = static_cast<size_t>(sharding.integers[1]);
    const auto end = static_cast<size_t>(sharding.integers[2]);
    if (begin > end || end > sharding.elements.size())
      return absl::InvalidArgumentError("a sharding that is none of sdy");
    if (absl::Status s = add({sharding.elements.begin() + begin,
                              sharding.elements.begin() + end},
                             result.unreduced);
        !s.ok())
      return s;
  }
  if (any && size != partitions_) {
    return absl::InvalidArgumentError(absl::StrCat("a mesh of ", size,
                                                   " devices in a program of ",
                                                   partitions_, " partitions"));
  }
  for (const int64_t device : mesh->integers)
    result.devices.push_back(static_cast<int>(device));
  std::vector<int> sorted = result.devices;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; any && i < sorted.size(); ++i) {
    if (sorted.size() != static_cast<size_t>(partitions_) ||
        sorted[i] != static_cast<int>(i))
      return absl::InvalidArgumentError(
          "a mesh whose devices are not those of the program");
  }
  Parts all;
  std::vector<Parts> lists_of_parts = result.dims;
  lists_of_parts.push_back(result.unreduced);
  for (const Parts& parts : lists_of_parts) {
    for (const Part& part : parts) {
      if (partition::Overlap(all, {part}))
        return absl::InvalidArgumentError("a sharding that uses an axis twice");
      all.push_back(part);
    }
  }
  return partition::Normalised(std::move(result));
}

}  // namespace systole::import
