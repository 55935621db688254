// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Merge exchange (Knuth, The Art of Computer Programming, volume 3, algorithm
// 5.2.2M), for any number of elements: stages of compare-exchanges between
// positions that are `distance` apart. The elements of each operand are stored
// as words, as in lanes, position by position, with the elements of all lines
// at each position. So a stage is a few runs over rows. The network is not
// stable: equal elements are ordered by their original position.
#include "host/compiler/kernels/sort_kernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_region.h"
#include "host/compiler/kernels/word_copies.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using ir::ElementType;
using vpu::Op;

// Including the positions, two loads of each operand have their own register.
// So no element is loaded again after the store that replaces it.
constexpr int kMostOperands = 7;
// Walks: the elements of the lower and of the higher positions. For code that
// copies: source, destination, and a word that is added.
enum { kLower, kHigher, kAdded };

int64_t SortedDimension(const ir::Node& node) {
  const int64_t d = node.attr<ir::HloSortAttributes>().dimension;
  return d < 0 ? d + node.type.rank() : d;
}

class Sort {
 public:
  Sort(const ir::Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        copies_(preset),
        operands_(node.results()) {
    const ir::Ints& shape = node.type.shape;
    const int64_t d = SortedDimension(node);
    for (int64_t i = 0; i < node.type.rank(); ++i)
      (i < d ? outer_ : i > d ? inner_ : positions_) *= shape[i];
  }

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = Plan(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < operands_; ++i)
        builder_.AddOperand(node_.result_type(i).bytes());
    }
    // The load of a word that is spread reads a whole row.
    std::vector<uint32_t> powers = {0};
    for (int64_t p = 1; p < positions_; p *= 2)
      powers.push_back(static_cast<uint32_t>(p));
    builder_.LoadData(powers, powers_.at);
    for (int64_t first = 0; first < outer_; first += part_) {
      lines_ = std::min(part_, outer_ - first);
      for (int i = 0; i < operands_; ++i) {
        if (absl::Status s = Bring(i, first); !s.ok()) return s;
      }
      if (absl::Status s = NumberPositions(); !s.ok()) return s;
      Exchange();
      for (int i = 0; i < operands_; ++i) {
        if (absl::Status s = TakeAway(i, first); !s.ok()) return s;
      }
    }
    return builder_.Finish();
  }

 private:
  ElementType Element(int i) const { return node_.result_type(i).element; }
  int64_t Size(int i) const { return ir::ElementBytes(Element(i)); }
  // Current elements per position, and per operand.
  int64_t Width() const { return lines_ * inner_; }
  int64_t Count() const { return positions_ * Width(); }

  // Sorts all lines at once, or as many at a time as fit and begin at beats.
  absl::Status Plan() {
    const auto begins_at_beats = [&](int64_t lines) {
      for (int i = 0; i < operands_; ++i) {
        if (lines * positions_ * inner_ * Size(i) % builder_.Align(1) != 0)
          return false;
      }
      return true;
    };
    for (part_ = outer_;; part_ = (part_ + 1) / 2) {
      while (part_ < outer_ && !begins_at_beats(part_)) ++part_;
      lines_ = part_;
      builder_.ReleaseAll();
      const int64_t words = kWord * Count();
      powers_ = builder_.Place("powers", kWord * (64 + preset_.cols));
      as_stored_ = builder_.Place("as stored", words);
      rearranged_ = outer_ > 1 ? builder_.Place("rearranged", words) : Bytes{};
      values_.clear();
      for (int i = 0; i <= operands_; ++i)
        values_.push_back(builder_.Place("words", words));
      const absl::Status fits = builder_.Fits();
      if (fits.ok()) return fits;
      // Rounded up to beats, this may be the size that did not fit.
      if (part_ == 1 || part_ == last_part_) return fits;
      last_part_ = part_;
    }
  }

  absl::StatusOr<int> Add(std::vector<uint64_t>& words, const LaneGraph& graph,
                          const std::vector<LaneStore>& stores,
                          const LanePlaces& places) {
    const absl::StatusOr<LaneCode> code =
        Emit(graph, stores, places, preset_, static_cast<int>(words.size()));
    if (!code.ok()) return code.status();
    words.insert(words.end(), code->words.begin(), code->words.end());
    return code->main;
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    std::vector<ElementType> types;
    for (int i = 0; i < operands_; ++i) types.push_back(Element(i));
    if (absl::Status s = copies_.AddCode(words, types); !s.ok()) return s;
    LaneGraph graph;
    const Lane from = graph.Load({0, Storage::kWord, Pattern::kStream});
    const Lane word = graph.Load({1, Storage::kWord, Pattern::kStream});
    const Lane sum = graph.Make(Op::kIadd, from, graph.Make(Op::kBcl, word));
    const absl::StatusOr<int> pc =
        Add(words, graph, {{sum, Storage::kWord}},
            {{{{0, kLower}, 0, 0}, {{0, kAdded}, 0, 0}}, {{0, kHigher}}});
    if (!pc.ok()) return pc.status();
    add_ = *pc;
    if (absl::Status s = AddExchange(words); !s.ok()) return s;
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  absl::Status AddExchange(std::vector<uint64_t>& words) {
    LaneGraph graph;
    LanePlaces places;
    std::vector<Lane> lower, higher;
    for (const int walk : {kLower, kHigher}) {
      for (const Bytes& place : values_) {
        const auto operand = static_cast<int>(places.operands.size());
        places.operands.push_back({{place.at, walk}, 0, 0});
        (walk == kLower ? lower : higher)
            .push_back(graph.Load({operand, Storage::kWord, Pattern::kStream}));
      }
    }
    // Whether the first elements come before the second ones.
    const auto before = [&](const std::vector<Lane>& a,
                            const std::vector<Lane>& b) {
      std::vector<Lane> pairs;
      for (int i = 0; i < operands_; ++i) {
        pairs.push_back(a[i]);
        pairs.push_back(b[i]);
      }
      return LowerRegion(graph, *node_.regions[0], pairs)[0];
    };
    // Of equal elements, the older one stays in front. If the comparison says
    // of both that they come before the other, the younger one goes in front.
    const Lane stays = before(lower, higher), goes = before(higher, lower);
    const Lane younger = graph.Make(Op::kIlt, higher.back(), lower.back());
    const Lane exchanged =
        graph.Make(Op::kSel, graph.Make(Op::kIxor, stays, goes), goes,
                   graph.Make(Op::kIxor, stays, younger));
    std::vector<LaneStore> stores;
    for (size_t i = 0; i < values_.size(); ++i) {
      stores.push_back({graph.Make(Op::kSel, exchanged, higher[i], lower[i])});
      stores.push_back({graph.Make(Op::kSel, exchanged, lower[i], higher[i])});
      places.stores.push_back({values_[i].at, kLower});
      places.stores.push_back({values_[i].at, kHigher});
    }
    const absl::StatusOr<int> pc = Add(words, graph, stores, places);
    if (!pc.ok()) return pc.status();
    exchange_ = *pc;
    exchange_cycles_ = static_cast<int64_t>(stores.size());
    return absl::OkStatus();
  }

  // Copies between the order of the operands and that of the positions.
  absl::Status Rearrange(const Bytes& from, const Bytes& to, bool back) {
    const int64_t line = positions_ * inner_, position = Width();
    BufferCopy copy{from.at, to.at, kWord, {}, from, to};
    for (const auto& [size, stored, sorted] :
         {std::array<int64_t, 3>{lines_, line, inner_},
          {positions_, inner_, position},
          {inner_, 1, 1}})
      copy.dimensions.push_back(
          {size, back ? sorted : stored, back ? stored : sorted});
    return copier_.Copy(builder_, copy);
  }

  // Loads lines of an operand.
  absl::Status Bring(int i, int64_t first) {
    const int64_t bytes = Count() * Size(i);
    const Bytes& values = values_[i];
    const Bytes& words = outer_ > 1 ? rearranged_ : values;
    const bool is_word = WordCopies::AreWords(Element(i));
    const Bytes& loaded = is_word ? words : as_stored_;
    builder_.Load(i, first * positions_ * inner_ * Size(i), loaded.at, bytes);
    if (!is_word) copies_.ToWords(builder_, Element(i), loaded, words, Count());
    return outer_ > 1 ? Rearrange(words, values, /*back=*/false)
                      : absl::OkStatus();
  }

  absl::Status TakeAway(int i, int64_t first) {
    const Bytes* words = &values_[i];
    if (outer_ > 1) {
      if (absl::Status s = Rearrange(*words, rearranged_, /*back=*/true);
          !s.ok())
        return s;
      words = &rearranged_;
    }
    const Bytes* stored = words;
    if (!WordCopies::AreWords(Element(i))) {
      copies_.FromWords(builder_, Element(i), *words, as_stored_, Count());
      stored = &as_stored_;
    }
    builder_.Store(operands_ + i, first * positions_ * inner_ * Size(i),
                   stored->at, Count() * Size(i));
    return absl::OkStatus();
  }

  // Numbers the positions by doubling the numbers that are there.
  absl::Status NumberPositions() {
    const Bytes& numbers = values_.back();
    const BufferCopy zero{powers_.at,        numbers.at, kWord,
                          {{Width(), 0, 1}}, powers_,    numbers};
    if (absl::Status s = copier_.Copy(builder_, zero); !s.ok()) return s;
    const int64_t cols = preset_.cols;
    int64_t power = powers_.at;
    for (int64_t known = 1; known < positions_; known *= 2) {
      power += kWord;
      const int64_t count = std::min(known, positions_ - known) * Width();
      RowsRun run;
      run.stride[kLower] = run.stride[kHigher] = cols * kWord;
      const auto start = [&](int64_t first, int64_t rows, int64_t lanes) {
        run.place[kLower] = numbers.at + first * kWord;
        run.place[kHigher] = run.place[kLower] + known * Width() * kWord;
        run.place[kAdded] = power;
        run.rows = rows;
        run.lanes = lanes;
        builder_.Run(add_, ArgumentsOf(run), {numbers, powers_}, {numbers},
                     2 * rows);
      };
      if (count >= cols) start(0, count / cols, cols);
      if (count % cols > 0) start(count / cols * cols, 1, count % cols);
    }
    return absl::OkStatus();
  }

  void Exchange() {
    int64_t top = 1;
    while (2 * top < positions_) top *= 2;
    for (int64_t p = top; p > 0; p /= 2) {
      Stage(p, 0, p);
      for (int64_t q = top; q > p; q /= 2) Stage(p, p, q - p);
    }
  }

  // Exchanges positions i and i + distance for all i with (i & p) == r.
  void Stage(int64_t p, int64_t r, int64_t distance) {
    const int64_t end = positions_ - distance;
    const int64_t whole = end < r + p ? 0 : (end - r - p) / (2 * p) + 1;
    if (whole > 0) Blocks(r, whole, 2 * p, p, distance);
    const int64_t last = r + whole * 2 * p;
    if (last < end) Blocks(last, 1, 0, end - last, distance);
  }

  // Processes blocks of positions. Rows are parts of a block, or the same parts
  // of all blocks, whichever needs fewer runs.
  void Blocks(int64_t first, int64_t blocks, int64_t pitch, int64_t positions,
              int64_t distance) {
    const int64_t cols = preset_.cols, width = positions * Width();
    const auto start = [&](int64_t element, int64_t rows, int64_t stride,
                           int64_t lanes) {
      RowsRun run;
      run.place[kLower] = element * kWord;
      run.place[kHigher] = (element + distance * Width()) * kWord;
      run.stride[kLower] = run.stride[kHigher] = stride * kWord;
      run.rows = rows;
      run.lanes = lanes;
      builder_.Run(exchange_, ArgumentsOf(run), values_, values_,
                   exchange_cycles_ * rows);
    };
    if (blocks < (width + cols - 1) / cols) {
      for (int64_t i = 0; i < blocks; ++i) {
        const int64_t at = (first + i * pitch) * Width();
        if (width >= cols) start(at, width / cols, cols, cols);
        if (width % cols > 0)
          start(at + width / cols * cols, 1, 0, width % cols);
      }
      return;
    }
    for (int64_t at = 0; at < width; at += cols) {
      start(first * Width() + at, blocks, pitch * Width(),
            std::min(cols, width - at));
    }
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  WordCopies copies_;
  const int operands_;
  // Elements before, along and after the dimension; lines of outer_ that are
  // sorted together, and of the current part.
  int64_t outer_ = 1, positions_ = 1, inner_ = 1, part_ = 1, lines_ = 1;
  int64_t last_part_ = 0;
  Bytes powers_ = {}, as_stored_ = {}, rearranged_ = {};
  std::vector<Bytes> values_;  // words of each operand; last, of the positions
  int add_ = 0, exchange_ = 0;
  int64_t exchange_cycles_ = 0;
};

}  // namespace

bool IsSort(const ir::Node& node) {
  if (node.op != ir::Op::kHloSort || node.type.elements() == 0) return false;
  const int values = node.results();
  if (static_cast<int>(node.operands.size()) != values ||
      values > kMostOperands || node.type.rank() == 0)
    return false;
  for (int i = 0; i < values; ++i) {
    if (!FitsLane(node.result_type(i).element)) return false;
  }
  return FitsLanes(*node.regions[0]);
}

absl::StatusOr<KernelProgram> CompileSort(const ir::Node& node,
                                          const Preset& preset) {
  return Sort(node, preset).Compile();
}

}  // namespace systole::lanes
