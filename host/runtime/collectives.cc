// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/collectives.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/fold.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using ir::Literals;
using ir::Node;
using ir::Op;

// The levels of a tree over `members`, as distances of its pairs: from the
// smallest up, or the first one and then from the largest down.
std::vector<size_t> LevelsOf(size_t members, bool downwards) {
  std::vector<size_t> levels;
  for (size_t distance = 1; distance < members; distance *= 2)
    levels.push_back(distance);
  if (downwards && levels.size() > 2)
    std::reverse(levels.begin() + 1, levels.end());
  return levels;
}

// Reduces elements first to end of the members' values into `result`.
class Tree {
 public:
  Tree(const ir::Module& region, ir::ElementType element)
      : region_(region), bytes_(ir::ElementBytes(element)) {
    if (const std::optional<Op> op = ir::CombinerOf(region))
      combiner_ = ir::FindCombiner(*op, element);
  }

  absl::Status Reduce(const std::vector<const Literal*>& members, int64_t first,
                      int64_t end, bool downwards, Literal& result) {
    const int64_t count = end - first;
    if (count == 0) return absl::OkStatus();
    const ir::ElementType element = result.element();
    // Of each position: the member's own elements, or what they have become.
    std::vector<const uint8_t*> values;
    for (const Literal* member : members)
      values.push_back(member->data() + first * bytes_);
    std::vector<Literal> made(members.size());
    size_t done = 0;  // the bits of the distances so far
    for (const size_t distance : LevelsOf(members.size(), downwards)) {
      done |= distance;
      for (size_t p = 0; p + distance < members.size(); ++p) {
        if ((p & done) != 0) continue;  // not needed any more
        if (combiner_) {
          if (made[p].size() == 0) made[p] = Literal::Zeros(element, count);
          combiner_->map(count, values[p], 1, values[p + distance], 1,
                         made[p].data());
        } else {
          const Literal left = Literal::FromBytes(element, count, values[p]);
          const Literal right =
              Literal::FromBytes(element, count, values[p + distance]);
          absl::StatusOr<Literals> sums =
              evaluation_.RunLanes(region_, count, {&left, &right});
          if (!sums.ok()) return sums.status();
          // A region that ignores its parameters gives one value for all.
          made[p] = (*sums)[0].size() == count ? std::move((*sums)[0])
                                               : ir::Filled((*sums)[0], count);
        }
        values[p] = std::as_const(made[p]).data();
      }
    }
    std::memcpy(result.data() + first * bytes_, values[0], count * bytes_);
    return absl::OkStatus();
  }

 private:
  const ir::Module& region_;
  const int64_t bytes_;
  std::optional<ir::Combiner> combiner_;
  ir::Evaluation evaluation_;
};

absl::StatusOr<Literal> Reduced(const Node& node,
                                const std::vector<const Literal*>& members) {
  const int64_t count = members[0]->size();
  Literal result = Literal::Zeros(members[0]->element(), count);
  Tree tree(*node.regions[0], result.element());
  const int64_t half = std::min(count, (count + 511) / 512 * 256);
  absl::Status status = tree.Reduce(members, 0, half, false, result);
  if (status.ok()) status = tree.Reduce(members, half, count, true, result);
  if (!status.ok()) return status;
  return result;
}

// A value as [outer][size][inner], size being that of a dimension.
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;  // inner in bytes

  Lines(const ir::Type& type, int64_t dimension)
      : size(type.shape[dimension]), inner(ir::ElementBytes(type.element)) {
    for (int d = 0; d < type.rank(); ++d) {
      if (d < dimension) outer *= type.shape[d];
      if (d > dimension) inner *= type.shape[d];
    }
  }
};

// Copies `count` of the dimension's entries, from one place of it to another.
void CopyLines(const Literal& from, const Lines& source, int64_t at,
               int64_t count, Literal& to, const Lines& target, int64_t place) {
  if (count == 0 || source.inner == 0) return;
  const uint8_t* const read = from.data();
  uint8_t* const written = to.data();
  for (int64_t line = 0; line < source.outer; ++line) {
    std::memcpy(written + (line * target.size + place) * target.inner,
                read + (line * source.size + at) * source.inner,
                count * source.inner);
  }
}

// What member `to` of an all_to_all receives: piece `to` of each member, one
// after the other along the other dimension.
Literal Received(const Node& node, int result,
                 const std::vector<const Literal*>& members, size_t to) {
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const ir::Type& whole = node.operands[result].type();
  ir::Type piece = whole;
  piece.shape[a.dimension] /= static_cast<int64_t>(members.size());
  const ir::Type& type = node.result_type(result);
  Literal received = Literal::Zeros(type.element, type.elements());
  const Lines from(whole, a.dimension), cut(piece, a.dimension),
      part(piece, a.concat_dimension), all(type, a.concat_dimension);
  for (size_t m = 0; m < members.size(); ++m) {
    Literal own = Literal::Zeros(type.element, piece.elements());
    CopyLines(*members[m], from, static_cast<int64_t>(to) * cut.size, cut.size,
              own, cut, 0);
    CopyLines(own, part, 0, part.size, received, all,
              static_cast<int64_t>(m) * part.size);
  }
  return received;
}

// One operand of all members.
absl::StatusOr<Literals> Exchanged(const Node& node, int result,
                                   const std::vector<const Literal*>& members,
                                   const std::vector<int>& sources) {
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const ir::Type& from = node.operands[result].type();
  const ir::Type& to = node.result_type(result);
  const size_t count = members.size();
  Literals results;
  switch (node.op) {
    case Op::kHloAllReduce:
    case Op::kHloReduceScatter: {
      absl::StatusOr<Literal> sum = Reduced(node, members);
      if (!sum.ok()) return sum.status();
      if (node.op == Op::kHloAllReduce) return Literals(count, *sum);
      for (size_t m = 0; m < count; ++m) {
        Literal& part =
            results.emplace_back(Literal::Zeros(to.element, to.elements()));
        const Lines all(from, a.dimension), own(to, a.dimension);
        CopyLines(*sum, all, static_cast<int64_t>(m) * own.size, own.size, part,
                  own, 0);
      }
      return results;
    }
    case Op::kHloAllGather: {
      Literal whole = Literal::Zeros(to.element, to.elements());
      const Lines all(to, a.dimension), own(from, a.dimension);
      for (size_t m = 0; m < count; ++m)
        CopyLines(*members[m], own, 0, own.size, whole, all,
                  static_cast<int64_t>(m) * own.size);
      return Literals(count, whole);
    }
    case Op::kHloAllToAll:
      for (size_t m = 0; m < count; ++m)
        results.push_back(Received(node, result, members, m));
      return results;
    case Op::kHloCollectivePermute:
      for (const int source : sources) {
        results.push_back(source < 0 ? Literal::Zeros(to.element, to.elements())
                                     : *members[source]);
      }
      return results;
    case Op::kHloCollectiveBroadcast:
      return Literals(count, *members[0]);
    default:
      return absl::InternalError(ir::OpName(node.op));
  }
}

}  // namespace

absl::StatusOr<std::vector<Literals>> Collective(
    const Node& node, const std::vector<Literals>& operands,
    const std::vector<int>& sources) {
  std::vector<Literals> results(operands.size());
  for (int i = 0; i < node.results(); ++i) {
    std::vector<const Literal*> members;
    for (const Literals& own : operands) members.push_back(&own[i]);
    absl::StatusOr<Literals> made = Exchanged(node, i, members, sources);
    if (!made.ok()) return made.status();
    for (size_t m = 0; m < operands.size(); ++m)
      results[m].push_back(std::move((*made)[m]));
  }
  return results;
}

}  // namespace systole::runtime
