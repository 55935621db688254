// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Product of two bf16 matrices. Rows of A are in the unified buffer, one block
// at a time; B streams through the weight FIFO. A group of column tiles whose
// lines are whole beats shares one accumulator bank: the array fills one bank
// while the vector unit drains the other. The last group uses both banks, so
// that one tile drains while another is computed. The first and the last block
// are as short as the array allows. Work that waits for the first loads, or
// that the end waits for, is cut into chunks of rows. So the array is idle for
// little time at the start and at the end.
#include "systole/float_matmul.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/float_tiles.h"
#include "host/compiler/geometry.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/passes/float_tiling.h"
#include "host/compiler/passes/memory_planning.h"
#include "host/compiler/plan.h"
#include "host/compiler/plan_program.h"
#include "host/compiler/row_blocks.h"
#include "host/compiler/schedule_builder.h"
#include "host/kernels/kernels.h"
#include "host/program/vpu_asm.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

class FloatMatmul {
 public:
  FloatMatmul(const FloatMatmulSpec& spec, const Preset& preset,
              const Options& options)
      : spec_(spec),
        preset_(preset),
        options_(options),
        builder_(preset),
        hbm_(preset) {}

  absl::StatusOr<Program> Compile() {
    if (absl::Status s = Check(); !s.ok()) return s;
    MakePlan();
    PlanPassManager passes("plan");
    passes.Add(std::make_unique<FloatTiling>());
    passes.Add(std::make_unique<MemoryPlanning>());
    if (absl::Status s = RunPasses(passes, options_, plan_); !s.ok()) return s;
    AddConstants();
    absl::StatusOr<kernels::Image> image = kernels::Assemble(preset_);
    if (!image.ok()) return image.status();
    kernels_ = *std::move(image);
    int64_t bank = 0;
    const std::vector<Block>& blocks = layer().blocks;
    for (size_t block = 0; block < blocks.size(); ++block) {
      const int64_t m0 = blocks[block].y0, rows = blocks[block].ny;
      const int64_t a =
          BaseOf(layer().in[0].buffer) +
          static_cast<int64_t>(block) % kSlotCount * layer().in[0].slot_bytes;
      LoadA(m0, rows, a, /*first=*/block == 0);
      for (int64_t g = 0; g < groups_; ++g) {
        const bool last = block + 1 == blocks.size() && g == groups_ - 1;
        const std::vector<int64_t> sums = PlaceSums(g, rows, bank, last);
        const std::vector<int64_t> chunks = LastChunks(rows, last);
        Multiply(g, rows, a, sums, chunks, /*first=*/block == 0 && g == 0);
        Drain(m0, g, sums, chunks);
        bank ^= 1;
      }
    }
    return Finish();
  }

 private:
  absl::Status Check() const {
    if (!Target(preset_).float_modules()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "preset '%s' has the %s cell; a bf16 product needs the bf16 cell",
          preset_.name, preset_.cell_name()));
    }
    if (spec_.m < 1 || spec_.k < 1 || spec_.n < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "a matrix product of %d x %d x %d", spec_.m, spec_.k, spec_.n));
    }
    const int64_t values = spec_.b_later ? 0 : spec_.k * spec_.n;
    if (static_cast<int64_t>(spec_.b.size()) != values) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "b has %d values, %s are needed", spec_.b.size(),
          spec_.b_later ? "0" : absl::StrFormat("%d x %d", spec_.k, spec_.n)));
    }
    return absl::OkStatus();
  }

  // A product of M lines is a convolution of M lines of one position, like the
  // int8 product (MatmulNetwork). Data needed before each run also counts as an
  // input.
  void MakePlan() {
    plan_.name = "matmul";
    plan_.preset = &preset_;
    plan_.ub_bytes =
        options_.ub_bytes > 0 ? options_.ub_bytes : preset_.ub_bytes;
    k_tiles_ = CeilDiv(spec_.k, preset_.rows);
    n_tiles_ = CeilDiv(spec_.n, preset_.cols);
    PlanTensor a, c;
    a.name = "a";
    a.h = spec_.m;
    a.c = spec_.k;
    a.element_bytes = 2;
    a.input = true;
    c.name = "c";
    c.h = spec_.m;
    c.c = spec_.n;
    c.element_bytes = spec_.float32_result ? 4 : 2;
    c.output = true;
    plan_.tensors = {a, c};
    if (spec_.b_later) {
      PlanTensor b;
      b.name = "b";
      b.c = k_tiles_ * n_tiles_ * preset_.tile_bytes() / 2;
      b.element_bytes = 2;
      b.input = true;
      plan_.tensors.push_back(b);
    }
    PlanLayer product;
    product.name = "matmul";
    product.inputs = {0};
    product.output = 1;
    product.shape.h = product.shape.oh = spec_.m;
    product.shape.c = a.line_bytes();
    product.shape.oc = spec_.n;
    product.shape.element_bytes = c.element_bytes;
    product.g = product.shape;
    plan_.layers.push_back(std::move(product));
  }

  const PlanLayer& layer() const { return plan_.layers[0]; }
  int64_t BaseOf(int buffer) const { return plan_.buffers[buffer].at; }

  void AddConstants() {
    AddTensors(plan_, hbm_, program_);
    weights_ = spec_.b_later
                   ? program_.tensors[2].hbm_addr
                   : hbm_.Add("b", PackTiles(spec_, preset_, spec_.b.data()));
    out_bytes_ = plan_.tensors[1].element_bytes;
    group_ = layer().out.channels / preset_.cols;
    groups_ = CeilDiv(n_tiles_, group_);
    a_pitch_ = layer().in[0].pitch;
    c_pitch_ = RoundUp(layer().out.channels * out_bytes_, preset_.beat_bytes());
  }

  int64_t TilesEnd(int64_t g) const {
    return std::min(n_tiles_, (g + 1) * group_);
  }

  int64_t Part(int64_t parts) const {
    return std::max<int64_t>(16, R() / parts);
  }
  // Chunks of the rows that are loaded and used first.
  std::vector<int64_t> FirstChunks(int64_t rows) const {
    return EndWith(RowChunks(rows, Part(4), Part(2)),
                   std::min(Part(4), kRequested));
  }
  // Chunks of the last pass over a tile: the drain begins before the pass ends,
  // and follows it closely if nothing comes after.
  std::vector<int64_t> LastChunks(int64_t rows, bool last) const {
    const int64_t most = last ? kDrainRows : R() + R() / 2;
    return RowChunks(rows, most, most);
  }

  // The first accumulator row of each tile of a group.
  std::vector<int64_t> PlaceSums(int64_t g, int64_t rows, int64_t bank,
                                 bool last) {
    const int64_t tiles = TilesEnd(g) - g * group_;
    const int64_t size = preset_.acc_bank_rows();
    const bool spread = last && sums_rows_ + tiles / 2 * rows <= size;
    sums_rows_ = tiles * rows;
    return TileRows(tiles, rows, bank, size, spread);
  }

  void LoadKernels() {
    const kernels::Image::Part part = kernels_.PartOf(DrainKernel());
    const DataSegment code = vpu::Segment(
        "kernels", hbm_.Allocate(plan_.buffers[0].bytes), part.words);
    const vpu::CodeLoad in =
        vpu::LoadCode(code.hbm_addr, BaseOf(0),
                      static_cast<int64_t>(part.words.size()), part.pc);
    program_.segments.push_back(code);
    builder_.Append(in.load);
    builder_.Append(in.vload);
  }

  int64_t R() const { return preset_.rows; }
  const char* DrainKernel() const {
    return spec_.float32_result ? "acc_fp32" : "acc_bf16";
  }

  // Loads about two tiles' columns at a time. The very first columns are loaded
  // in chunks of rows, so that the first pass can start with the first chunk.
  // The kernels are loaded right after that chunk.
  void LoadA(int64_t m0, int64_t rows, int64_t a, bool first) {
    const int64_t width = RoundUp(4 * R(), preset_.beat_bytes());
    for (int64_t at = 0; at < a_pitch_; at += width) {
      const int64_t len = std::min(width, 2 * spec_.k - at);
      const std::vector<int64_t> chunks =
          first && at == 0 ? FirstChunks(rows) : std::vector<int64_t>{rows};
      int64_t r = 0;
      for (const int64_t count : chunks) {
        isa::Load load;
        load.hbm_addr = program_.tensors[0].hbm_addr + (m0 + r) * a_pitch_ + at;
        load.ub_addr = a + r * a_pitch_ + at;
        load.len = len;
        load.n1 = count;
        load.n2 = 1;
        load.hbm_stride1 = load.ub_stride1 = a_pitch_;
        builder_.Append(load);
        if (first && at == 0 && r == 0) LoadKernels();
        r += count;
      }
    }
  }

  void Multiply(int64_t g, int64_t rows, int64_t a,
                const std::vector<int64_t>& sums,
                const std::vector<int64_t>& last_chunks, bool first) {
    const int64_t tiles = TilesEnd(g) - g * group_;
    isa::Weights weights;
    weights.hbm_addr = weights_ + g * group_ * k_tiles_ * preset_.tile_bytes();
    if (spec_.b_transposed) weights.header.flags |= isa::Weights::kTranspose;
    // Tiles after the first one are requested only after the last rows of A
    // that the very first pass needs.
    const std::vector<int64_t> arriving = FirstChunks(rows);
    Access asked;
    asked.base =
        a + (arriving.size() > 1 ? rows - 1 - arriving.back() : 0) * a_pitch_;
    asked.len = std::min<int64_t>(2 * spec_.k, preset_.beat_bytes());
    for (int64_t k = 0; k < k_tiles_; ++k) {
      for (int64_t t = 0; t < tiles; ++t) {
        if (k == 0 && t == 0) {
          weights.tiles = first ? 1 : tiles * k_tiles_;
          builder_.Append(weights);
        } else if (first && k * tiles + t == 1) {
          weights.hbm_addr += preset_.tile_bytes();
          weights.tiles = tiles * k_tiles_ - 1;
          builder_.Append(weights, asked);
        }
        // The first use of A is chunked like its loads; the last pass is
        // chunked to release rows to the drain.
        std::vector<int64_t> chunks = {rows};
        if (k == k_tiles_ - 1) chunks = last_chunks;
        if (first && k == 0 && t == 0 && chunks.size() < arriving.size())
          chunks = arriving;
        int64_t r = 0;
        for (const int64_t count : chunks) {
          isa::Matmul m;
          if (k > 0) m.header.flags |= isa::Matmul::kAccumulate;
          if (r > 0) m.header.flags |= isa::Matmul::kKeepWeights;
          m.ub_base = a + r * a_pitch_;
          m.pitch = a_pitch_;
          m.lines = m.ny = count;
          m.line_bytes = 2 * spec_.k;
          m.n = m.nx = m.sy = m.t0 = m.t1 = 1;
          m.acc = sums[t] + r;
          m.seg_dx[0] = k * preset_.rows * 2;
          m.seg_len[0] = preset_.rows;
          builder_.Append(m);
          r += count;
        }
      }
    }
  }

  // Drains tile by tile: the first tiles of a group are complete before its
  // last.
  void Drain(int64_t m0, int64_t g, const std::vector<int64_t>& sums,
             const std::vector<int64_t>& chunks) {
    const int64_t slot = BaseOf(layer().out.buffer) +
                         slot_++ % kSlotCount * layer().out.slot_bytes;
    const int64_t tiles = TilesEnd(g) - g * group_;
    for (int64_t t = 0; t < tiles; ++t) {
      const bool last_tile = t == tiles - 1;
      int64_t r = 0;
      for (const int64_t count : chunks) {
        DrainRows(g, t, r, count, sums[t] + r, slot);
        if (last_tile) StoreRows(m0, g, r, count, slot);
        r += count;
      }
    }
  }

  // Drains `count` rows of a tile, from row r on, from the accumulators to the
  // slot.
  void DrainRows(int64_t g, int64_t t, int64_t r, int64_t count, int64_t acc,
                 int64_t slot) {
    const int64_t cols =
        std::min(preset_.cols, spec_.n - (g * group_ + t) * preset_.cols);
    builder_.Append(kernels_.Run(
        DrainKernel(),
        {{"acc", acc},
         {"dst", slot + r * c_pitch_ + t * preset_.cols * out_bytes_},
         {"pitch", c_pitch_},
         {"rows", count},
         {"cols", cols}}));
  }

  // Stores lines of the group from the slot to HBM.
  void StoreRows(int64_t m0, int64_t g, int64_t r, int64_t count,
                 int64_t slot) {
    const TensorInfo& c = program_.tensors[1];
    isa::Store store;
    store.hbm_addr = c.hbm_addr + (m0 + r) * c.pitch + g * c_pitch_;
    store.ub_addr = slot + r * c_pitch_;
    store.len =
        std::min(c_pitch_, (spec_.n - g * group_ * preset_.cols) * out_bytes_);
    store.n1 = count;
    store.n2 = 1;
    store.hbm_stride1 = c.pitch;
    store.ub_stride1 = c_pitch_;
    builder_.Append(store);
  }

  absl::StatusOr<Program> Finish() {
    if (absl::Status s = FinishPlan(plan_, options_, builder_, hbm_, program_);
        !s.ok())
      return s;
    LayerInfo info;
    info.name = info.op = "matmul";
    info.shape = absl::StrFormat("%dx%dx%d", spec_.m, spec_.k, spec_.n);
    info.output = "c";
    info.macs = spec_.m * spec_.k * spec_.n;
    info.ideal_cycles = spec_.m * k_tiles_ * n_tiles_;
    program_.layers = {info};
    return std::move(program_);
  }

  static constexpr int64_t kDrainRows = 32;  // rows per round of the kernels
  static constexpr int64_t kRequested = 24;  // beats in flight from HBM

  const FloatMatmulSpec& spec_;
  const Preset& preset_;
  const Options& options_;
  Plan plan_;
  ScheduleBuilder builder_;
  HbmImage hbm_;
  Program program_;
  kernels::Image kernels_;
  uint64_t weights_ = 0;
  int64_t out_bytes_ = 2, k_tiles_ = 1, n_tiles_ = 1;
  int64_t a_pitch_ = 0, c_pitch_ = 0;  // bytes per line
  int64_t group_ = 1, groups_ = 1;     // column tiles per group; groups
  int64_t slot_ = 0;
  int64_t sums_rows_ = 0;  // accumulator rows of the previous group
};

}  // namespace

absl::StatusOr<Program> CompileFloatMatmul(const FloatMatmulSpec& spec,
                                           const Preset& preset,
                                           const Options& options) {
  return FloatMatmul(spec, preset, options).Compile();
}

}  // namespace systole::compiler
