// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_checkpoint.h"

#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/read_file.h"
#include "host/files/write_file.h"
#include "host/model/checkpoint.h"

namespace systole::tools {
namespace {

// As safetensors has it: "F32", "BF16", "I8".
std::string DtypeOf(ir::ElementType element) {
  if (element == ir::ElementType::kBool) return "BOOL";
  return absl::AsciiStrToUpper(ir::ElementTypeName(element));
}

std::string Text(const std::string& dtype, const std::vector<int64_t>& shape) {
  return absl::StrCat(dtype, " [", absl::StrJoin(shape, ", "), "]");
}

absl::StatusOr<Checkpoint> Parse(std::string_view bytes,
                                 const std::vector<StateTensor>& tensors) {
  const auto container = model::ParseCheckpoint(bytes);
  if (!container.ok()) return container.status();
  Checkpoint checkpoint;
  checkpoint.description = container->metadata.at(model::kRunDescription);
  for (const StateTensor& t : tensors) {
    const auto stored = container->tensors.find(t.name);
    if (stored == container->tensors.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no tensor '", t.name, "'"));
    }
    const std::string dtype = DtypeOf(t.type.element);
    if (stored->second.dtype != dtype || stored->second.shape != t.type.shape) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", t.name, "' is ",
                       Text(stored->second.dtype, stored->second.shape),
                       ", expected ", Text(dtype, t.type.shape)));
    }
    checkpoint.state.push_back(ir::Literal::FromBytes(
        t.type.element, t.type.elements(),
        reinterpret_cast<const uint8_t*>(stored->second.data.data())));
  }
  if (container->tensors.size() != tensors.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d tensors, the state has %d",
                        container->tensors.size(), tensors.size()));
  }
  return checkpoint;
}

}  // namespace

absl::Status WriteCheckpoint(const std::string& path,
                             const std::vector<StateTensor>& tensors,
                             const Checkpoint& checkpoint) {
  std::vector<std::vector<uint8_t>> values;
  std::map<std::string, model::StoredTensor> stored;
  for (const ir::Literal& literal : checkpoint.state)
    values.push_back(literal.Bytes());
  for (size_t i = 0; i < tensors.size(); ++i) {
    stored[tensors[i].name] = {
        DtypeOf(tensors[i].type.element),
        tensors[i].type.shape,
        {reinterpret_cast<const char*>(values[i].data()), values[i].size()}};
  }
  if (absl::Status s = MakeFolderOf(path); !s.ok()) return s;
  return WriteFile(model::SerializeCheckpoint(checkpoint.description, stored),
                   path);
}

absl::StatusOr<Checkpoint> ReadCheckpoint(
    const std::string& path, const std::vector<StateTensor>& tensors) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Checkpoint> checkpoint = Parse(*bytes, tensors);
  if (checkpoint.ok()) return checkpoint;
  return absl::Status(checkpoint.status().code(),
                      absl::StrCat(path, ": ", checkpoint.status().message()));
}

}  // namespace systole::tools
