// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/import/mlir/text.h"

namespace systole::mlir {
namespace {

class Dumper {
 public:
  explicit Dumper(const Module& module) : module_(module) {}

  std::string Run() {
    Add(module_.root, 0);
    return std::move(out_);
  }

 private:
  std::string Typed(ValueId id) const {
    return absl::StrCat(id, ": ", TypeText(*module_.values[id].type));
  }

  void Add(const Operation& operation, int depth) {
    const auto typed = [this](std::string* out, ValueId id) {
      out->append(Typed(id));
    };
    const auto attribute = [](std::string* out, const auto& pair) {
      absl::StrAppend(out, NameText(pair.first), " = ",
                      AttributeText(*pair.second));
    };
    absl::StrAppend(&out_, std::string(depth, ' '), operation.name, " (",
                    absl::StrJoin(operation.operands, ", "), ") -> ",
                    absl::StrJoin(operation.results, ", ", typed), " {",
                    absl::StrJoin(operation.attributes, ", ", attribute), "} ",
                    LocationText(operation.location), "\n");
    for (const Region& region : operation.regions) {
      absl::StrAppend(&out_, std::string(depth + 1, ' '), "region\n");
      for (const Block& block : region.blocks) Add(block, depth + 2);
    }
  }

  void Add(const Block& block, int depth) {
    const auto argument = [this](std::string* out, ValueId id) {
      absl::StrAppend(out, Typed(id), " ",
                      LocationText(module_.values[id].location));
    };
    absl::StrAppend(&out_, std::string(depth, ' '), "block (",
                    absl::StrJoin(block.arguments, ", ", argument), ")\n");
    for (const Operation& operation : block.operations) {
      Add(operation, depth + 1);
    }
  }

  const Module& module_;
  std::string out_;
};

}  // namespace

std::string Dump(const Module& module) { return Dumper(module).Run(); }

}  // namespace systole::mlir
