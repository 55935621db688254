// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/link_collectives.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/shard_lowering.h"
#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/fold.h"

namespace systole::runtime {
namespace {

using compiler::AllReduceSpec;
using compiler::ExchangeSpec;
using ir::Node;
using ir::Op;

// Of all members together. Beyond that, the parts are so short that the host
// is faster.
constexpr size_t kMaxTransfers = 16384;

std::optional<AllReduceSpec> SumOf(const Node& node, const ir::Type& type) {
  AllReduceSpec spec;
  const std::optional<Op> op = ir::CombinerOf(*node.regions[0]);
  if (!op) return std::nullopt;
  switch (*op) {
    case Op::kHloAdd:
      spec.operation = AllReduceSpec::Operation::kSum;
      break;
    case Op::kHloMaximum:
      spec.operation = AllReduceSpec::Operation::kMax;
      break;
    case Op::kHloMinimum:
      spec.operation = AllReduceSpec::Operation::kMin;
      break;
    default:
      return std::nullopt;
  }
  switch (type.element) {
    case ir::ElementType::kFloat32:
      spec.type = AllReduceSpec::Type::kFloat32;
      break;
    case ir::ElementType::kBfloat16:
      spec.type = AllReduceSpec::Type::kBf16;
      break;
    case ir::ElementType::kInt32:
      spec.type = AllReduceSpec::Type::kInt32;
      break;
    default:
      return std::nullopt;
  }
  spec.elements = {type.elements()};
  return spec;
}

bool IsPowerOfTwo(int members) { return (members & (members - 1)) == 0; }

// Where a part of a dense value lies: `count` entries of a dimension.
struct Part {
  int64_t lines, pitch;   // of the dimensions before it; bytes between two
  int64_t begin, length;  // in a line, in bytes

  Part(const ir::Type& type, int64_t dimension, int64_t first, int64_t count)
      : lines(1) {
    int64_t inner = ir::ElementBytes(type.element);
    for (int d = 0; d < type.rank(); ++d) {
      if (d < dimension) lines *= type.shape[d];
      if (d > dimension) inner *= type.shape[d];
    }
    pitch = type.shape[dimension] * inner;
    begin = first * inner;
    length = count * inner;
    if (count != type.shape[dimension]) return;
    length *= lines;  // all of it
    lines = 1;
  }
  // Of a byte of the part.
  int64_t At(int64_t byte) const {
    return byte / length * pitch + begin + byte % length;
  }
};

// Adds the transfers of a part of one member's operand to a part of another
// one's result. Returns false if there are too many.
bool Connect(int from, const Part& source, int to, const Part& target,
             ExchangeSpec& spec) {
  const int64_t all = source.lines * source.length;
  const auto add = [&](int64_t at, int64_t bytes, int64_t lines) {
    compiler::Transfer t;
    t.from = from;
    t.to = to;
    t.from_byte = source.At(at);
    t.to_byte = target.At(at);
    t.bytes = bytes;
    t.lines = lines;
    if (lines > 1) {
      t.from_pitch = source.At(at + bytes) - t.from_byte;
      t.to_pitch = target.At(at + bytes) - t.to_byte;
    }
    spec.transfers.push_back(t);
    return spec.transfers.size() <= kMaxTransfers;
  };
  const int64_t shorter = std::min(source.length, target.length),
                longer = std::max(source.length, target.length);
  if (shorter == longer) return add(0, shorter, source.lines);
  if (longer % shorter == 0) {
    for (int64_t at = 0; at < all; at += longer)
      if (!add(at, shorter, longer / shorter)) return false;
    return true;
  }
  for (int64_t at = 0; at < all;) {
    const int64_t bytes = std::min(source.length - at % source.length,
                                   target.length - at % target.length);
    if (!add(at, bytes, 1)) return false;
    at += bytes;
  }
  return true;
}

bool Fill(const Node& node, int operand, int members,
          const std::vector<int>& sources, ExchangeSpec& spec) {
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const ir::Type& in = node.operands[operand].type();
  const ir::Type& out = node.result_type(operand);
  ir::Type piece = in;
  if (node.op == Op::kHloAllToAll) piece.shape[a.dimension] /= members;
  for (int from = 0; from < members; ++from) {
    for (int to = 0; to < members; ++to) {
      if (node.op == Op::kHloAllGather) {
        const int64_t size = in.shape[a.dimension];
        if (!Connect(from, Part(in, a.dimension, 0, size), to,
                     Part(out, a.dimension, from * size, size), spec))
          return false;
      } else if (node.op == Op::kHloAllToAll) {
        const int64_t cut = piece.shape[a.dimension],
                      size = piece.shape[a.concat_dimension];
        if (!Connect(from, Part(in, a.dimension, to * cut, cut), to,
                     Part(out, a.concat_dimension, from * size, size), spec))
          return false;
      } else if (node.op == Op::kHloCollectivePermute ? sources[to] == from
                                                      : from == 0) {
        spec.transfers.push_back({from, to, 0, 0, in.bytes()});
      }
    }
  }
  return true;
}

std::optional<ExchangeSpec> ExchangeOf(const Node& node, int operand,
                                       int members,
                                       const std::vector<int>& sources,
                                       const Preset& preset) {
  ExchangeSpec spec;
  spec.in_bytes = {node.operands[operand].type().bytes()};
  spec.out_bytes = {node.result_type(operand).bytes()};
  if (!Fill(node, operand, members, sources, spec)) return std::nullopt;
  const int64_t beat = preset.beat_bytes();
  for (const compiler::Transfer& t : spec.transfers) {
    const bool ends = t.lines == 1 && t.to_byte + t.bytes == spec.out_bytes[0];
    if (t.from_byte % beat != 0 || t.to_byte % beat != 0 ||
        t.from_pitch % beat != 0 || t.to_pitch % beat != 0 ||
        (t.bytes % beat != 0 && !ends))
      return std::nullopt;
  }
  return spec;
}

// Of an all_gather whose parts lie behind each other, as words of 32 bits.
std::optional<AllReduceSpec> GatherOf(const Node& node, int operand,
                                      int members, const Preset& preset) {
  if (node.op != Op::kHloAllGather || !IsPowerOfTwo(members))
    return std::nullopt;
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const ir::Type& in = node.operands[operand].type();
  const ir::Type& out = node.result_type(operand);
  const Part part(out, a.dimension, 0, in.shape[a.dimension]);
  if (part.lines != 1 || in.bytes() % preset.beat_bytes() != 0)
    return std::nullopt;
  AllReduceSpec spec;
  spec.phase = AllReduceSpec::Phase::kAllGather;
  spec.type = AllReduceSpec::Type::kInt32;
  spec.elements = {out.bytes() / 4};
  return spec;
}

// Of one operand.
std::optional<LinkCollective> CollectiveOf(const Node& node, int operand,
                                           int members,
                                           const std::vector<int>& sources,
                                           const Preset& preset) {
  const ir::Type& in = node.operands[operand].type();
  LinkCollective collective;
  collective.operands = {operand};
  collective.out_bytes = {node.result_type(operand).bytes()};
  collective.part_bytes = {0};
  if (in.bytes() == 0 || collective.out_bytes[0] == 0 ||
      members > kMostLinkMembers)
    return std::nullopt;
  if (node.op == Op::kHloAllReduce || node.op == Op::kHloReduceScatter) {
    auto spec = SumOf(node, in);
    if (!spec || !IsPowerOfTwo(members)) return std::nullopt;
    if (node.op == Op::kHloReduceScatter) {
      const auto& a = node.attr<ir::HloCollectiveAttributes>();
      const Part part(in, a.dimension, 0, in.shape[a.dimension] / members);
      // The result is a part of the output, and begins as all values do.
      if (part.lines != 1 || part.length % lanes::ValueAlignment(preset) != 0)
        return std::nullopt;
      spec->phase = AllReduceSpec::Phase::kReduceScatter;
      collective.part_bytes = {part.length};
      collective.out_bytes = {in.bytes()};
    }
    collective.spec = *std::move(spec);
    return collective;
  }
  if (auto spec = GatherOf(node, operand, members, preset)) {
    collective.spec = *std::move(spec);
    return collective;
  }
  auto spec = ExchangeOf(node, operand, members, sources, preset);
  if (!spec) return std::nullopt;
  collective.spec = *std::move(spec);
  return collective;
}

void Append(const LinkCollective& next, LinkCollective& last) {
  last.operands.push_back(next.operands[0]);
  last.out_bytes.push_back(next.out_bytes[0]);
  last.part_bytes.push_back(next.part_bytes[0]);
}

// Takes `next` into `last`. Returns false if two programs are needed.
bool Join(const LinkCollective& next, LinkCollective& last) {
  if (next.spec.index() != last.spec.index()) return false;
  if (std::holds_alternative<ExchangeSpec>(next.spec)) {
    auto& all = std::get<ExchangeSpec>(last.spec);
    const auto& one = std::get<ExchangeSpec>(next.spec);
    if (all.transfers.size() + one.transfers.size() > kMaxTransfers)
      return false;
    for (compiler::Transfer transfer : one.transfers) {
      transfer.vector = static_cast<int>(all.in_bytes.size());
      all.transfers.push_back(transfer);
    }
    all.in_bytes.push_back(one.in_bytes[0]);
    all.out_bytes.push_back(one.out_bytes[0]);
    Append(next, last);
    return true;
  }
  auto& all = std::get<AllReduceSpec>(last.spec);
  const auto& one = std::get<AllReduceSpec>(next.spec);
  if (one.type != all.type) return false;
  all.elements.push_back(one.elements[0]);
  Append(next, last);
  return true;
}

}  // namespace

std::vector<LinkCollective> LinkCollectivesOf(const Node& node, int members,
                                              const std::vector<int>& sources,
                                              const Preset& preset) {
  std::vector<LinkCollective> all;
  for (int i = 0; i < static_cast<int>(node.operands.size()); ++i) {
    auto next = CollectiveOf(node, i, members, sources, preset);
    if (!next) return {};
    if (all.empty() || !Join(*next, all.back()))
      all.push_back(*std::move(next));
  }
  for (LinkCollective& collective : all) {
    if (const auto* sum = std::get_if<AllReduceSpec>(&collective.spec))
      collective.scratch_bytes = compiler::ScratchBytes(*sum, preset);
  }
  return all;
}

absl::StatusOr<std::vector<Program>> LinkCollective::Compile(
    const std::vector<int>& group, int columns,
    const std::vector<compiler::MemberMemory>& memory,
    const Preset& preset) const {
  const auto placed = [&](auto own) {
    own.group = group;
    own.columns = columns;
    own.memory = memory;
    return own;
  };
  const auto* sum = std::get_if<AllReduceSpec>(&spec);
  if (sum == nullptr)
    return compiler::CompileExchange(placed(std::get<ExchangeSpec>(spec)),
                                     preset);
  auto programs = compiler::CompileAllReduce(placed(*sum), preset);
  if (sum->phase != AllReduceSpec::Phase::kAllGather ||
      !absl::IsInvalidArgument(programs.status()))
    return programs;
  // On the chips in another way: each part goes straight to all.
  std::vector<int64_t> parts;
  for (const int64_t elements : sum->elements)
    parts.push_back(4 * elements / static_cast<int64_t>(group.size()));
  return compiler::CompileExchange(
      placed(compiler::AllGather(parts, group, columns)), preset);
}

}  // namespace systole::runtime
