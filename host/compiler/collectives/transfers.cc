// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The exchanges that collectives are, and their programs.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/compiler/collectives/exchange_member.h"
#include "systole/collective.h"

namespace systole::compiler {
absl::Status CheckExchange(const ExchangeSpec& spec, const Preset& preset) {
  if (absl::Status s = CheckGroup(spec.group, spec.columns, preset); !s.ok())
    return s;
  const auto size = static_cast<int>(spec.group.size());
  const int64_t beat = preset.beat_bytes();
  const auto vectors = static_cast<int>(spec.in_bytes.size());
  if (vectors == 0 || spec.out_bytes.size() != spec.in_bytes.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "an exchange of %d vectors to %d", vectors, spec.out_bytes.size()));
  }
  if (absl::Status s = CheckMembers(spec.memory, vectors, spec.group, preset);
      !s.ok())
    return s;
  for (int v = 0; v < vectors; ++v) {
    if (spec.in_bytes[v] >= 1 && spec.out_bytes[v] >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("an exchange of vectors of %d bytes to vectors of %d",
                        spec.in_bytes[v], spec.out_bytes[v]));
  }
  for (size_t i = 0; i < spec.transfers.size(); ++i) {
    const Transfer& t = spec.transfers[i];
    if (t.vector < 0 || t.vector >= vectors) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d is of vector %d of %d", i, t.vector, vectors));
    }
    const int64_t in_bytes = spec.in_bytes[t.vector];
    const int64_t out_bytes = spec.out_bytes[t.vector];
    const auto inside = [&](int64_t at, int64_t pitch, int64_t end) {
      return at >= 0 && t.bytes >= 1 && t.lines >= 1 && pitch >= 0 &&
             pitch <= end && t.lines <= end && at <= end &&
             t.bytes <= end - at && (t.lines - 1) * pitch <= end - at - t.bytes;
    };
    if (t.from < 0 || t.from >= size || t.to < 0 || t.to >= size ||
        !inside(t.from_byte, t.from_pitch, in_bytes) ||
        !inside(t.to_byte, t.to_pitch, out_bytes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d, %d times %d bytes from byte %d of position %d to byte "
          "%d of position %d: there are positions 0 to %d with %d and %d bytes",
          i, t.lines, t.bytes, t.from_byte, t.from, t.to_byte, t.to, size - 1,
          in_bytes, out_bytes));
    }
    const bool ends = t.lines == 1 && t.to_byte + t.bytes == out_bytes;
    if (t.from_byte % beat != 0 || t.to_byte % beat != 0 ||
        t.from_pitch % beat != 0 || t.to_pitch % beat != 0 ||
        (t.bytes % beat != 0 && !ends)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d, %d bytes from byte %d to byte %d: multiples of the "
          "beat of %d bytes are needed",
          i, t.bytes, t.from_byte, t.to_byte, beat));
    }
  }
  return absl::OkStatus();
}

ExchangeSpec AllGather(const std::vector<int64_t>& bytes,
                       std::vector<int> group, int columns) {
  const auto size = static_cast<int>(group.size());
  ExchangeSpec spec{bytes, bytes, {}, std::move(group), columns, {}};
  for (size_t v = 0; v < bytes.size(); ++v) {
    spec.out_bytes[v] *= size;
    for (int from = 0; from < size; ++from)
      for (int to = 0; to < size; ++to)
        spec.transfers.push_back(
            {from, to, 0, from * bytes[v], bytes[v], static_cast<int>(v)});
  }
  return spec;
}

ExchangeSpec AllToAll(int64_t part_bytes, std::vector<int> group, int columns) {
  const auto size = static_cast<int>(group.size());
  const int64_t all = part_bytes * size;
  ExchangeSpec spec{{all}, {all}, {}, std::move(group), columns, {}};
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      spec.transfers.push_back(
          {from, to, to * part_bytes, from * part_bytes, part_bytes});
  return spec;
}

ExchangeSpec Broadcast(int root, int64_t bytes, std::vector<int> group,
                       int columns) {
  const auto size = static_cast<int>(group.size());
  ExchangeSpec spec{{bytes}, {bytes}, {}, std::move(group), columns, {}};
  for (int to = 0; to < size; ++to)
    spec.transfers.push_back({root, to, 0, 0, bytes});
  return spec;
}

ExchangeSpec Permute(const std::vector<std::pair<int, int>>& pairs,
                     int64_t bytes, std::vector<int> group, int columns) {
  ExchangeSpec spec{{bytes}, {bytes}, {}, std::move(group), columns, {}};
  for (const auto& [from, to] : pairs)
    spec.transfers.push_back({from, to, 0, 0, bytes});
  return spec;
}

absl::StatusOr<std::vector<Program>> CompileExchange(const ExchangeSpec& spec,
                                                     const Preset& preset) {
  if (absl::Status s = CheckExchange(spec, preset); !s.ok()) return s;
  if (!spec.zeros.empty()) {
    return absl::InvalidArgumentError(
        "an exchange that fills vectors with zeros is part of a program only");
  }
  const Routes routes(spec, preset, Routes::Way::kStraight);
  std::vector<Program> programs;
  for (size_t position = 0; position < spec.group.size(); ++position) {
    auto program =
        ExchangeMember(spec, routes, preset, static_cast<int>(position))
            .Compile();
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace systole::compiler
