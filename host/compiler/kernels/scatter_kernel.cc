// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// No window may cross from a band into the next one. Where that needs too large
// bands, the contiguous pieces of a window are windows of their own, or its
// elements.
#include "host/compiler/kernels/scatter_kernel.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/scatter_code.h"
#include "host/compiler/kernels/window_starts.h"
#include "host/compiler/kernels/windows.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using compiler::CeilDiv;
using compiler::RoundUp;
using ir::Ints;
using ir::Node;

constexpr int64_t kMostWindows = 1 << 16;
constexpr int64_t kMostOperandBands = 1 << 10;
constexpr int64_t kPipelineBands = 8;  // bands, of at least so many beats
constexpr int64_t kLeastBandBeats = 48;
constexpr int64_t kChunkShare = 8;  // of the unified buffer, for updates
// Cycles to skip a window, and to write a row of lanes of one.
constexpr int64_t kSkipCycles = 12, kWriteCycles = 30;

class Scatter {
 public:
  // streams: updates come in chunks, for each band anew.
  Scatter(const Node& node, const Preset& preset, int64_t origin, CutInto cut,
          bool streams, bool pipeline)
      : node_(node),
        preset_(preset),
        builder_(preset, origin),
        copier_(preset),
        windows_(WindowsOf(node).Cut(cut)),
        offsets_(windows_.count() > kMostWindows ? Ints() : windows_.Offsets()),
        count_(windows_.count()),
        size_(ir::ElementBytes(node.type.element)),
        bytes_(node.type.bytes()),
        updates_number_(node.op == ir::Op::kHloScatter ? 2 : 1),
        streams_(streams),
        pipeline_(pipeline) {}

  absl::StatusOr<KernelProgram> Compile() {
    if (count_ > kMostWindows || bytes_ >= int64_t{1} << 31)
      return absl::ResourceExhaustedError("too many windows");
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    const bool any = count_ * windows_.elements() > 0;
    if (any) {
      if (absl::Status s = MakeAddresses(); !s.ok()) return s;
    }
    for (int64_t b = 0; b < bands(); ++b) {
      const Bytes buffer = buffers_[b % buffers_.size()];
      const int64_t first = b * band_, bytes = std::min(band_, bytes_ - first);
      builder_.Load(0, first, buffer.at, bytes);
      if (any) {
        if (bands() > 1) FindPlaces(b);
        for (int64_t window = 0; window < count_; window += chunk_)
          WriteWindows(window, buffer);
      }
      builder_.Store(static_cast<int>(node_.operands.size()), first, buffer.at,
                     bytes);
    }
    return builder_.Finish();
  }

 private:
  absl::Status PlaceAll() {
    const int64_t margin = preset_.word_bytes();
    for (const ir::Value& operand : node_.operands) {
      const size_t i = operands_.size();
      operands_.push_back(
          i == 0 || (streams_ && i == updates_number_)
              ? Bytes{0, 0}
              : builder_.Place("operand", operand.type().bytes() + margin));
    }
    for (size_t i = 0; i < windows_.starts.size(); ++i)
      starts_.push_back(builder_.Place("starts", 4 * count_));
    addresses_ = builder_.Place("addresses", 4 * count_);
    places_ = builder_.Place("places", 4 * count_);
    const auto offsets = static_cast<int64_t>(offsets_.size());
    data_ = builder_.Place("data", 4 * (offsets + kMostOperandBands));
    // Windows that are not at a constant distance are first copied into that
    // order.
    const Ints dense = ir::StridesOf(windows_.batch);
    std::optional<int64_t> step;
    bool linear = true;
    for (size_t i = 0; i < dense.size(); ++i) {
      if (windows_.batch[i] == 1) continue;
      const int64_t stride = windows_.other_strides[i];
      if (!step) step = stride / dense[i];
      linear = linear && stride == *step * dense[i];
    }
    lines_ = {operands_[updates_number_]};
    chunk_ = std::max<int64_t>(count_, 1);
    std::vector<CopyDimension> inside = windows_.inside;
    Ints sizes;
    for (const CopyDimension& d : inside) sizes.push_back(d.size);
    const Ints packed = ir::StridesOf(sizes);
    bool dense_inside = true;
    for (size_t i = 0; i < sizes.size(); ++i)
      dense_inside =
          dense_inside && (sizes[i] == 1 || inside[i].to == packed[i]);
    const int64_t elements = windows_.elements();
    step_ = linear ? step.value_or(0) : elements;
    if (streams_) {
      if (!linear || !dense_inside || step_ != elements)
        return absl::ResourceExhaustedError("updates in another order");
      PlaceChunks(elements * size_);
    } else if (!linear) {
      lines_ = {builder_.Place("windows", count_ * elements * size_)};
      for (size_t i = 0; i < sizes.size(); ++i) inside[i].to = packed[i];
    }
    reorders_ = !linear;
    absl::StatusOr<std::vector<WindowPart>> parts = PartsOf(
        inside, size_, StorageBytes(ScatterStorage(node_)), preset_.cols);
    if (!parts.ok()) return parts.status();
    parts_ = *std::move(parts);
    if (parts_.size() > 1 && Slides())
      return absl::ResourceExhaustedError("windows in parts that overlap");
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    return PlaceBands();
  }

  // Buffers for updates of windows of so many bytes.
  void PlaceChunks(int64_t bytes) {
    const int64_t step =
        preset_.beat_bytes() / std::gcd(preset_.beat_bytes(), bytes);
    const int64_t fit = preset_.ub_bytes / kChunkShare / bytes;
    chunk_ = std::max(fit / step, int64_t{1}) * step;
    lines_.clear();
    for (int i = 0; i < 2; ++i) {
      lines_.push_back(
          builder_.Place("updates", chunk_ * bytes + preset_.word_bytes()));
    }
  }

  // Whether an element may lie at different places of two windows. All parts of
  // the first one then come before the second one.
  bool Slides() const {
    return std::any_of(windows_.starts.begin(), windows_.starts.end(),
                       [](const Windows::Start& start) {
                         return start.window > 1 && start.size > start.window;
                       });
  }

  // One band, or some that make a pipeline.
  absl::Status PlaceBands() {
    const int64_t unit =
        std::lcm(windows_.Unit(node_.operands[0].type().shape) * size_,
                 preset_.beat_bytes());
    const int64_t count = pipeline_ ? 3 : 1;
    const int64_t margin = builder_.Align(preset_.word_bytes());
    const int64_t most = builder_.Room() / count - margin;
    band_ = std::max(CeilDiv(bytes_, pipeline_ ? kPipelineBands : 1),
                     pipeline_ ? kLeastBandBeats * preset_.beat_bytes() : 1);
    band_ = std::min(RoundUp(band_, unit), RoundUp(bytes_, unit));
    if (band_ > most) band_ = most / unit * unit;
    if (band_ >= bytes_) band_ = bytes_;
    if (band_ <= 0 || CeilDiv(bytes_, band_) > kMostOperandBands)
      return absl::ResourceExhaustedError("bands of an operand");
    for (int64_t i = 0; i < count; ++i)
      buffers_.push_back(builder_.Place("band", band_ + preset_.word_bytes()));
    return builder_.Fits();
  }

  int64_t bands() const { return CeilDiv(bytes_, band_); }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    ScatterBuffers buffers = {starts_, addresses_.at, places_.at, {}};
    if (!offsets_.empty()) buffers.offsets = data_.at;
    const absl::StatusOr<ScatterCode> code = AddScatterCode(
        node_, windows_, buffers, bands() > 1 ? band_ : 0, preset_, words);
    if (!code.ok()) return code.status();
    code_ = *code;
    for (const ir::Value& operand : node_.operands)
      builder_.AddOperand(operand.type().bytes());
    builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  absl::Status MakeAddresses() {
    for (size_t i = 1; i < operands_.size(); ++i) {
      const int64_t bytes = node_.operands[i].type().bytes();
      if (bytes > 0 && operands_[i].count > 0)
        builder_.Load(static_cast<int>(i), 0, operands_[i].at, bytes);
    }
    std::vector<uint32_t> data;
    for (const int64_t elements : offsets_)
      data.push_back(static_cast<uint32_t>(elements * size_));
    for (int64_t first = 0; first < bytes_; first += band_)
      data.push_back(static_cast<uint32_t>(first));
    builder_.LoadData(data, data_.at);
    std::vector<Bytes> reads = starts_;
    reads.push_back(data_);
    for (size_t i = 0; i < starts_.size(); ++i) {
      const Windows::Start& s = windows_.starts[i];
      if (absl::Status status =
              CopyStarts(copier_, builder_, node_, s, operands_[s.operand],
                         starts_[i], windows_.batch, s.strides);
          !status.ok())
        return status;
    }
    RunOverNumbers(count_, preset_.cols, [&](const RowsRun& run) {
      builder_.Run(code_.address, ArgumentsOf(run), reads, {addresses_},
                   8 * run.rows);
    });
    return reorders_ ? Reorder() : absl::OkStatus();
  }

  // Copies the updates into the order of the windows.
  absl::Status Reorder() {
    const Bytes updates = operands_[updates_number_];
    return copier_.Copy(builder_, {updates.at, lines_[0].at, size_,
                                   windows_.InOrder(), updates, lines_[0]});
  }

  void FindPlaces(int64_t band) {
    const int64_t first =
        data_.at + 4 * (static_cast<int64_t>(offsets_.size()) + band);
    RunOverNumbers(count_, preset_.cols, [&](RowsRun run) {
      run.place[2] = first;
      run.stride[2] = 0;
      builder_.Run(code_.place, ArgumentsOf(run), {addresses_, data_},
                   {places_}, 4 * run.rows);
    });
  }

  // A chunk of the windows, from `first` on.
  void WriteWindows(int64_t first, const Bytes& buffer) {
    const Bytes line = lines_[first / chunk_ % lines_.size()];
    const int64_t count = std::min(chunk_, count_ - first);
    if (streams_) {
      const int64_t bytes = step_ * size_;
      builder_.Load(static_cast<int>(updates_number_), first * bytes, line.at,
                    count * bytes);
    }
    for (const WindowPart& part : parts_)
      Walk(part, first, count, line, buffer);
  }

  void Walk(const WindowPart& part, int64_t first, int64_t count,
            const Bytes& line, const Bytes& buffer) {
    const Bytes& table = bands() > 1 ? places_ : addresses_;
    std::vector<int64_t> arguments(kPlaceOffset + 1);
    arguments[1] = line.at + part.to;
    arguments[kTable] = table.at + 4 * first;
    arguments[kRowCount] = part.rows;
    arguments[kStrides] = part.from_stride;
    arguments[kStrides + 1] = part.to_stride;
    arguments[kLinearStep] = step_ * size_;
    arguments[kLaneCount] = part.lanes;
    arguments[kPlaceCount] = count;
    arguments[kPlaceOffset] = buffer.at + part.from;
    std::vector<Bytes> reads = {table, line};
    if (code_.combines) reads.push_back(buffer);
    builder_.Run(code_.walk, arguments, reads, {buffer},
                 kSkipCycles * count + kWriteCycles * CeilDiv(count, bands()));
  }

  const Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const Windows windows_;
  const std::vector<int64_t> offsets_;  // of the windows, behind their starts
  const int64_t count_, size_;
  const int64_t bytes_;  // of operand and result
  const size_t updates_number_;
  const bool streams_, pipeline_;
  // data_: offsets, first bytes of the bands.
  std::vector<Bytes> operands_, starts_, buffers_;
  std::vector<Bytes> lines_;  // updates, in the order of the windows
  Bytes addresses_ = {}, places_ = {}, data_ = {};
  bool reorders_ = false;
  int64_t chunk_ = 0;  // windows whose updates are there
  int64_t step_ = 0;   // elements from one window's updates to the next one's
  std::vector<WindowPart> parts_;
  int64_t band_ = 0;  // bytes
  ScatterCode code_;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileScatter(const Node& node,
                                             const Preset& preset,
                                             int64_t origin) {
  absl::StatusOr<KernelProgram> best = absl::ResourceExhaustedError("");
  for (const CutInto cut :
       {CutInto::kWindows, CutInto::kPieces, CutInto::kElements}) {
    for (const bool streams : {false, true}) {
      for (const bool pipeline : {false, true}) {
        absl::StatusOr<KernelProgram> program =
            Scatter(node, preset, origin, cut, streams, pipeline).Compile();
        const bool better =
            !best.ok() ||
            (program.ok() && program->expected_cycles < best->expected_cycles);
        if (better) best = std::move(program);
      }
      if (best.ok()) return best;
    }
  }
  return best;
}

}  // namespace systole::lanes
