// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/region_kernel.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_region.h"
#include "host/compiler/kernels/word_copies.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

constexpr int64_t kWord = 4;
constexpr int64_t kMostElements = 512;  // of one result

// Walks: what is kept, and the element that comes in.
enum { kKept, kNext };

class RegionReduction {
 public:
  RegionReduction(const ir::Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        copies_(preset, copier_),
        shape_(node.operands[0].type().shape),
        dimensions_(node.attr<ir::HloDimensionsAttributes>().dimensions),
        results_(node.type.elements()),
        count_(node.operands[0].type().elements() / results_) {}

  absl::StatusOr<KernelProgram> Compile() {
    const int values = node_.results();
    const int64_t row = kWord * preset_.cols;
    for (int i = 0; i < 2 * values; ++i) {
      const ir::Type& type = node_.operands[i].type();
      loaded_.push_back(Place(type.bytes() + row));
      words_.push_back(WordCopies::AreWords(type.element)
                           ? loaded_.back()
                           : Place(kWord * type.elements() + row));
    }
    for (int i = 0; i < values; ++i) {
      next_element_.push_back(
          Place(kWord * node_.operands[i].type().elements()));
      kept_.push_back(Place(kWord * results_));
    }
    if (next_ > preset_.ub_bytes)
      return absl::ResourceExhaustedError("the unified buffer is too small");
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (int i = 0; i < 2 * values; ++i) {
      const int64_t bytes = node_.operands[i].type().bytes();
      builder_.AddOperand(bytes);
      builder_.Load(i, 0, loaded_[i].at, bytes);
      const ir::Type& type = node_.operands[i].type();
      if (!WordCopies::AreWords(type.element))
        copies_.ToWords(builder_, type.element, loaded_[i], words_[i],
                        type.elements());
    }
    for (int i = 0; i < values; ++i) {
      if (absl::Status s = Arrange(i); !s.ok()) return s;
    }
    for (int64_t i = 0; i < count_; ++i) Element(i);
    for (int i = 0; i < values; ++i) {
      const ir::Type type = node_.result_type(i);
      const Bytes* stored = &kept_[i];
      if (!WordCopies::AreWords(type.element)) {
        stored = &loaded_[i];
        copies_.FromWords(builder_, type.element, kept_[i], *stored, results_);
      }
      builder_.AddOperand(type.bytes());
      builder_.Store(2 * values + i, 0, stored->at, type.bytes());
    }
    return builder_.Finish();
  }

 private:
  Bytes Place(int64_t bytes) {
    const Bytes place{next_, builder_.Align(bytes)};
    next_ += place.count;
    return place;
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    LaneGraph graph;
    LanePlaces places;
    std::vector<Lane> lanes;
    const int values = node_.results();
    std::vector<ir::ElementType> types;
    for (int i = 0; i < 2 * values; ++i) {
      const bool kept = i < values;
      types.push_back(node_.operands[i].type().element);
      places.operands.push_back(
          {{kept ? kept_[i].at : next_element_[i - values].at,
            kept ? kKept : kNext},
           0,
           0});
      lanes.push_back(graph.Load({i, Storage::kWord, Pattern::kStream}));
    }
    if (absl::Status s = copies_.AddCode(words, types); !s.ok()) return s;
    const std::vector<Lane> results =
        LowerRegion(graph, *node_.regions[0], lanes);
    std::vector<LaneStore> stores;
    for (int i = 0; i < values; ++i) {
      stores.push_back({results[i], Storage::kWord});
      places.stores.push_back({kept_[i].at, kKept});
    }
    const absl::StatusOr<LaneCode> code =
        Emit(graph, stores, places, preset_, static_cast<int>(words.size()));
    if (!code.ok()) return code.status();
    pc_ = code->main;
    words.insert(words.end(), code->words.begin(), code->words.end());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  // Elements of all results behind each other, the first ones first; initial
  // values (an element that is spread is read with a row of what follows it).
  absl::Status Arrange(int i) {
    BufferCopy copy{words_[i].at, next_element_[i].at, kWord,
                    {},           words_[i],           next_element_[i]};
    const ir::Ints strides = ir::StridesOf(shape_);
    const ir::Ints order = ir::ReducedFirst(shape_, dimensions_);
    ir::Ints sizes;
    for (const int64_t d : order) sizes.push_back(shape_[d]);
    const ir::Ints dense = ir::StridesOf(sizes);
    for (size_t d = 0; d < order.size(); ++d)
      copy.dimensions.push_back({sizes[d], strides[order[d]], dense[d]});
    if (absl::Status s = copier_.Copy(builder_, copy); !s.ok()) return s;
    const Bytes& initial = words_[node_.results() + i];
    const BufferCopy fill{initial.at,         kept_[i].at, kWord,
                          {{results_, 0, 1}}, initial,     kept_[i]};
    return copier_.Copy(builder_, fill);
  }

  void Element(int64_t i) {
    std::vector<Bytes> reads = kept_;
    reads.insert(reads.end(), next_element_.begin(), next_element_.end());
    const int64_t cols = preset_.cols;
    const int64_t rows = results_ / cols, rest = results_ % cols;
    RowsRun run;
    run.stride[kKept] = run.stride[kNext] = cols * kWord;
    const auto start = [&](int64_t first, int64_t count, int64_t lanes) {
      run.place[kKept] = first * kWord;
      run.place[kNext] = (i * results_ + first) * kWord;
      run.rows = count;
      run.lanes = lanes;
      builder_.Run(pc_, ArgumentsOf(run), reads, kept_, 8 * count);
    };
    if (rows > 0) start(0, rows, cols);
    if (rest > 0) start(rows * cols, 1, rest);
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  WordCopies copies_;
  const ir::Ints& shape_;
  const ir::Ints& dimensions_;
  const int64_t results_, count_;
  int64_t next_ = builder_.CodeBytes();
  // Operands as they come; their elements in the order of the runs; results.
  std::vector<Bytes> loaded_, words_, next_element_, kept_;
  int pc_ = 0;
};

}  // namespace

bool IsRegionReduction(const ir::Node& node) {
  if (node.op != ir::Op::kHloReduce || node.type.elements() == 0) return false;
  const size_t values = static_cast<size_t>(node.results());
  const int64_t elements = node.operands[0].type().elements();
  if (node.operands.size() != 2 * values || elements == 0 ||
      elements / node.type.elements() > kMostElements)
    return false;
  for (size_t i = 0; i < values; ++i) {
    if (!FitsLane(node.operands[i].type().element)) return false;
  }
  return FitsLanes(*node.regions[0]);
}

absl::StatusOr<KernelProgram> CompileRegionReduction(const ir::Node& node,
                                                     const Preset& preset) {
  return RegionReduction(node, preset).Compile();
}

}  // namespace systole::lanes
