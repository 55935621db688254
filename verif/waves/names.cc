// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/waves/names.h"

#include <array>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace systole::waves {
namespace {

constexpr uint64_t kNoIndex = 0xffffffff, kNoTag = 0xffff;
// Names of the queues in the rows of the overview.
constexpr std::array<std::string_view, isa::kNumQueues> kUnits = {
    "load", "weights", "array", "vector", "store", "send"};

isa::Header HeaderOf(const isa::Descriptor& d) {
  return isa::Halt::Decode(d).header;
}

}  // namespace

std::string LayerName(const Program& program, int layer) {
  if (layer < static_cast<int>(program.layers.size()) &&
      !program.layers[layer].name.empty())
    return program.layers[layer].name;
  return absl::StrCat("layer ", layer);
}

Names DescriptorNames(const Program& program) {
  Names names{"descriptor", 32, {}, kNoIndex};
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    const isa::Header header = HeaderOf(program.descriptors[i]);
    const isa::OpInfo* op = isa::FindOp(header.opcode);
    names.texts[i] =
        absl::StrCat(i, " ", op == nullptr ? "?" : std::string(op->name), " ",
                     LayerName(program, header.tag));
  }
  return names;
}

Names LayerNames(const Program& program) {
  Names names{"layer", 16, {}, kNoTag};
  for (const isa::Descriptor& d : program.descriptors) {
    const int layer = HeaderOf(d).tag;
    names.texts[static_cast<uint64_t>(layer)] = LayerName(program, layer);
  }
  return names;
}

Names FlagNames(const Program& program) {
  std::array<std::set<int>, isa::kNumFlags> posts, waits;
  for (const isa::Descriptor& d : program.descriptors) {
    const isa::Header header = HeaderOf(d);
    const isa::OpInfo* op = isa::FindOp(header.opcode);
    if (op == nullptr) continue;
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if (header.post_mask >> f & 1)
        posts[f].insert(static_cast<int>(op->queue));
      if (header.wait_mask >> f & 1)
        waits[f].insert(static_cast<int>(op->queue));
    }
  }
  const auto join = [](const std::set<int>& queues) {
    return absl::StrJoin(queues, ",", [](std::string* out, int queue) {
      *out += queue < isa::kNumQueues ? kUnits[queue] : "halt";
    });
  };
  Names names{"flag", 6, {}, isa::kNumFlags};
  for (int f = 0; f < isa::kNumFlags; ++f) {
    if (posts[f].empty() && waits[f].empty()) continue;
    names.texts[f] =
        absl::StrCat(posts[f].empty() ? "nobody" : join(posts[f]), " to ",
                     waits[f].empty() ? "nobody" : join(waits[f]));
  }
  return names;
}

Names OpcodeNames() {
  Names names{"opcode", 8, {}, 256};
  for (int code = 0; code < 256; ++code) {
    const isa::OpInfo* op = isa::FindOp(static_cast<uint8_t>(code));
    if (op != nullptr) names.texts[code] = std::string(op->name);
  }
  return names;
}

}  // namespace systole::waves
