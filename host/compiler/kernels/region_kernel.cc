// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/region_kernel.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_region.h"
#include "host/compiler/kernels/word_copies.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

// Walks: the kept values, and the next element.
enum { kKept, kNext };

class RegionReduction {
 public:
  RegionReduction(const ir::Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        copies_(preset),
        shape_(node.operands[0].type().shape),
        dimensions_(node.attr<ir::HloDimensionsAttributes>().dimensions),
        count_(node.operands[0].type().elements() / node.type.elements()) {
    while (d_ < shape_.size() && shape_[d_] == 1) ++d_;
    const bool cuts =
        d_ < shape_.size() && std::count(dimensions_.begin(), dimensions_.end(),
                                         static_cast<int64_t>(d_)) == 0;
    all_ = cuts ? shape_[d_] : 1;
  }

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = ChooseRows(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    const int values = node_.results();
    for (int i = 0; i < 2 * values; ++i)
      builder_.AddOperand(node_.operands[i].type().bytes());
    for (int i = 0; i < values; ++i)
      builder_.AddOperand(node_.result_type(i).bytes());
    for (int i = values; i < 2 * values; ++i) LoadWords(i, 0, 1, 1);
    for (int64_t at = 0; at < all_; at += rows_) {
      if (absl::Status s = Part(at, std::min(rows_, all_ - at)); !s.ok())
        return s;
    }
    return builder_.Finish();
  }

 private:
  // Bytes per index of the dimension that is cut.
  int64_t Slab(const ir::Type& type) const { return type.bytes() / all_; }

  // Places buffers for this many indices. Error: no room.
  absl::Status Places(int64_t rows) {
    builder_.ReleaseAll();
    for (auto* places : {&loaded_, &words_, &next_element_, &kept_})
      places->clear();
    const int values = node_.results();
    const int64_t row = kWord * preset_.cols;
    for (int i = 0; i < 2 * values; ++i) {
      const ir::Type& type = node_.operands[i].type();
      const int64_t size = ir::ElementBytes(type.element);
      const int64_t bytes = i < values ? rows * Slab(type) : size;
      loaded_.push_back(builder_.Place("operand", bytes + row));
      words_.push_back(WordCopies::AreWords(type.element)
                           ? loaded_.back()
                           : builder_.Place("words of an operand",
                                            kWord * (bytes / size) + row));
    }
    const int64_t results = rows * (node_.type.elements() / all_);
    for (int i = 0; i < values; ++i) {
      next_element_.push_back(
          builder_.Place("elements in order", kWord * results * count_));
      kept_.push_back(builder_.Place("results", kWord * results));
    }
    return builder_.Fits();
  }

  // Takes all indices, or as many as fit such that loads and stores begin at
  // multiples of the beat.
  absl::Status ChooseRows() {
    rows_ = all_;
    absl::Status fits = Places(rows_);
    if (fits.ok()) return fits;
    const int64_t unit = builder_.Align(1);
    int64_t least = 1;
    const auto whole = [&](const ir::Type& type) {
      return least * Slab(type) % unit == 0;
    };
    for (int i = 0; i < node_.results(); ++i) {
      while (!whole(node_.operands[i].type()) || !whole(node_.result_type(i)))
        least *= 2;
    }
    while (!fits.ok() && rows_ > least) {
      rows_ = (rows_ / 2 + least - 1) / least * least;
      fits = Places(rows_);
    }
    return fits;
  }

  void LoadWords(int i, int64_t offset, int64_t rows, int64_t elements) {
    const ir::ElementType type = node_.operands[i].type().element;
    builder_.Load(i, offset, loaded_[i].at,
                  rows * elements * ir::ElementBytes(type));
    if (!WordCopies::AreWords(type))
      copies_.ToWords(builder_, type, loaded_[i], words_[i], rows * elements);
  }

  // Processes `rows` indices from `first` on.
  absl::Status Part(int64_t first, int64_t rows) {
    const int values = node_.results();
    results_ = rows * (node_.type.elements() / all_);
    for (int i = 0; i < values; ++i) {
      const ir::Type& type = node_.operands[i].type();
      LoadWords(i, first * Slab(type), rows, type.elements() / all_);
    }
    for (int i = 0; i < values; ++i) {
      if (absl::Status s = Arrange(i, rows); !s.ok()) return s;
    }
    for (int64_t i = 0; i < count_; ++i) Element(i);
    for (int i = 0; i < values; ++i) {
      const ir::Type type = node_.result_type(i);
      const Bytes* stored = &kept_[i];
      if (!WordCopies::AreWords(type.element)) {
        stored = &loaded_[i];
        copies_.FromWords(builder_, type.element, kept_[i], *stored, results_);
      }
      builder_.Store(2 * values + i, first * Slab(type), stored->at,
                     rows * Slab(type));
    }
    return absl::OkStatus();
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

  // Arranges the elements of all results, first elements first, and the initial
  // values. The load of an element that is spread reads a whole row.
  absl::Status Arrange(int i, int64_t rows) {
    ir::Ints shape = shape_;
    if (all_ > 1) shape[d_] = rows;
    BufferCopy copy{words_[i].at, next_element_[i].at, kWord,
                    {},           words_[i],           next_element_[i]};
    const ir::Ints strides = ir::StridesOf(shape);
    const ir::Ints order = ir::ReducedFirst(shape, dimensions_);
    ir::Ints sizes;
    for (const int64_t d : order) sizes.push_back(shape[d]);
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
  const int64_t count_;
  size_t d_ = 0;      // the dimension that is cut
  int64_t all_ = 1;   // its size
  int64_t rows_ = 1;  // indices per part
  int64_t results_ = 0;
  // Operands as loaded; their elements in the order of the runs; results.
  std::vector<Bytes> loaded_, words_, next_element_, kept_;
  int pc_ = 0;
};

}  // namespace

bool IsRegionReduction(const ir::Node& node) {
  if (node.op != ir::Op::kHloReduce || node.type.elements() == 0) return false;
  const size_t values = static_cast<size_t>(node.results());
  const int64_t elements = node.operands[0].type().elements();
  if (node.operands.size() != 2 * values || elements == 0 ||
      elements / node.type.elements() > ir::kFoldGroup)
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
