// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of A lie in the unified buffer, a block at a time; B streams through the
// weight FIFO. A group of column tiles that fills a line of whole beats shares
// one accumulator bank, and while the array fills a bank the vector unit
// empties the other; the last group uses both, so that a tile is drained while
// another goes on. The first and the last block are as short as the array
// allows, and what has to wait for the first loads, or is waited for at the
// end, is cut into chunks of rows: so little stands before and behind the
// array's work.
#include "systole/float_matmul.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/finish_program.h"
#include "host/compiler/float_tiles.h"
#include "host/compiler/geometry.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/row_blocks.h"
#include "host/compiler/schedule_builder.h"
#include "host/kernels/kernels.h"
#include "host/program/vpu_asm.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

class FloatMatmul {
 public:
  FloatMatmul(const FloatMatmulSpec& spec, const Preset& preset)
      : spec_(spec), preset_(preset), builder_(preset), hbm_(preset) {}

  absl::StatusOr<Program> Compile() {
    if (absl::Status s = Check(); !s.ok()) return s;
    if (absl::Status s = Plan(); !s.ok()) return s;
    absl::StatusOr<kernels::Image> image = kernels::Assemble(preset_);
    if (!image.ok()) return image.status();
    kernels_ = *std::move(image);
    int64_t bank = 0, m0 = 0;
    const std::vector<int64_t> blocks = Blocks();
    for (size_t block = 0; block < blocks.size(); ++block) {
      const int64_t rows = blocks[block];
      const int64_t a = a_base_ + (block % a_slots_) * a_bytes_;
      LoadA(m0, rows, a, /*first=*/block == 0);
      for (int64_t g = 0; g < groups_; ++g) {
        const bool last = block + 1 == blocks.size() && g == groups_ - 1;
        const std::vector<int64_t> sums = PlaceSums(g, rows, bank, last);
        const std::vector<int64_t> chunks = LastChunks(rows, last);
        Multiply(g, rows, a, sums, chunks, /*first=*/block == 0 && g == 0);
        Drain(m0, g, sums, chunks);
        bank ^= 1;
      }
      m0 += rows;
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

  absl::Status Plan() {
    const int64_t beat = preset_.beat_bytes();
    out_bytes_ = spec_.float32_result ? 4 : 2;
    k_tiles_ = CeilDiv(spec_.k, preset_.rows);
    n_tiles_ = CeilDiv(spec_.n, preset_.cols);
    a_pitch_ = RoundUp(2 * spec_.k, beat);
    group_ = FloatTileGroup(spec_, preset_);
    groups_ = CeilDiv(n_tiles_, group_);
    c_pitch_ = RoundUp(group_ * preset_.cols * out_bytes_, beat);
    const int64_t bank = preset_.acc_bank_rows();
    block_rows_ = std::min({spec_.m, bank / group_, int64_t{8192}});
    const int64_t code = CodeBytes();
    for (;; block_rows_ /= 2) {
      if (block_rows_ == 0) {
        return absl::ResourceExhaustedError(absl::StrFormat(
            "a line of %d values of A and one of %d of C do not fit the "
            "unified buffer of %d bytes",
            spec_.k, group_ * preset_.cols, preset_.ub_bytes));
      }
      const std::vector<int64_t> blocks = Blocks();
      const int64_t most = *std::max_element(blocks.begin(), blocks.end());
      a_bytes_ = most * a_pitch_;
      a_slots_ = blocks.size() > 1 ? 2 : 1;
      c_bytes_ = most * c_pitch_;
      if (code + a_slots_ * a_bytes_ + kCSlots * c_bytes_ <= preset_.ub_bytes)
        break;
    }
    a_base_ = code;
    c_base_ = a_base_ + a_slots_ * a_bytes_;
    AddTensors();
    return absl::OkStatus();
  }

  int64_t CodeBytes() const {
    return RoundUp(8 * vpu::kImemWords,
                   std::max(preset_.beat_bytes(), preset_.word_bytes()));
  }

  void AddTensors() {
    TensorInfo a, c;
    hbm_.Begin(MemoryUse::kArguments);
    a.name = "a";
    a.type = ElementType::kBf16;
    a.h = spec_.m;
    a.channels = spec_.k;
    a.pitch = a_pitch_;
    a.img_pitch = spec_.m * a_pitch_;
    a.hbm_addr = hbm_.Allocate(a.img_pitch);
    a.is_input = true;
    c.name = "c";
    c.type = spec_.float32_result ? ElementType::kFloat32 : ElementType::kBf16;
    c.h = spec_.m;
    c.channels = spec_.n;
    c.pitch = groups_ * c_pitch_;
    c.img_pitch = spec_.m * c.pitch;
    c.hbm_addr = hbm_.Allocate(c.img_pitch);
    c.is_output = true;
    program_.tensors = {a, c};
    if (!spec_.b_later) {
      hbm_.Begin(MemoryUse::kConstants);
      weights_ = hbm_.Add("b", PackTiles(spec_, preset_, spec_.b.data()));
      return;
    }
    TensorInfo b;
    b.name = "b";
    b.type = ElementType::kBf16;
    b.channels = k_tiles_ * n_tiles_ * preset_.tile_bytes() / 2;
    b.pitch = b.img_pitch = b.line_bytes();
    b.hbm_addr = weights_ = hbm_.Allocate(b.pitch);
    b.is_input = true;
    program_.tensors.push_back(b);
    hbm_.Begin(MemoryUse::kConstants);
  }

  int64_t TilesEnd(int64_t g) const {
    return std::min(n_tiles_, (g + 1) * group_);
  }

  // Rows of the blocks of A. The shortest ones are what lets passes follow each
  // other without a gap: a tile's way into the array.
  std::vector<int64_t> Blocks() const {
    const int64_t way = R() * std::max<int64_t>(2, preset_.cell_stages - 1);
    const int64_t least = std::min(way + R() / 8, spec_.m / 2);
    return RowBlocks(spec_.m, std::max(way, least), block_rows_);
  }

  int64_t Part(int64_t parts) const {
    return std::max<int64_t>(16, R() / parts);
  }
  // Of what is loaded and used first.
  std::vector<int64_t> FirstChunks(int64_t rows) const {
    return EndWith(RowChunks(rows, Part(4), Part(2)),
                   std::min(Part(4), kRequested));
  }
  // Of the last pass over a tile: its drain begins before it ends, and follows
  // closely where nothing comes after.
  std::vector<int64_t> LastChunks(int64_t rows, bool last) const {
    const int64_t most = last ? kDrainRows : R() + R() / 2;
    return RowChunks(rows, most, most);
  }

  // The accumulator rows at which the tiles of a group begin.
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
    const DataSegment code =
        vpu::Segment("kernels", hbm_.Allocate(CodeBytes()), part.words);
    const vpu::CodeLoad in =
        vpu::LoadCode(code.hbm_addr, /*ub_addr=*/0,
                      static_cast<int64_t>(part.words.size()), part.pc);
    program_.segments.push_back(code);
    builder_.Append(in.load);
    builder_.Append(in.vload);
  }

  int64_t R() const { return preset_.rows; }
  const char* DrainKernel() const {
    return spec_.float32_result ? "acc_fp32" : "acc_bf16";
  }

  // Columns of about two tiles, the very first ones by chunks of rows, so that
  // the first pass starts with the first chunk. The kernels come behind that.
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
    // Further tiles come behind the rows of A that the very first pass needs:
    // when the last of these are asked for.
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
        // The first use of A follows its loads; the last pass lets rows go.
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

  // A tile after the other: a group's first tiles are finished before its last.
  void Drain(int64_t m0, int64_t g, const std::vector<int64_t>& sums,
             const std::vector<int64_t>& chunks) {
    const int64_t slot = c_base_ + (slot_++ % kCSlots) * c_bytes_;
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

  // `count` rows of a tile from row r on, from accumulators to the slot.
  void DrainRows(int64_t g, int64_t t, int64_t r, int64_t count, int64_t acc,
                 int64_t slot) {
    const int64_t cols =
        std::min(preset_.cols, spec_.n - (g * group_ + t) * preset_.cols);
    Access from;
    from.space = Space::kAcc;
    from.base = acc;
    from.len = count;
    Access to;
    to.write = true;
    to.base = slot + r * c_pitch_ + t * preset_.cols * out_bytes_;
    to.len = cols * out_bytes_;
    to.count[0] = count;
    to.stride[0] = c_pitch_;
    builder_.Append(kernels_.Run(DrainKernel(), {{"acc", acc},
                                                 {"dst", to.base},
                                                 {"pitch", c_pitch_},
                                                 {"rows", count},
                                                 {"cols", cols}}),
                    {from, to}, count);
  }

  // Lines of the group from the slot to HBM.
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
    absl::StatusOr<Schedule> schedule = builder_.Finish();
    if (!schedule.ok()) return schedule.status();
    if (absl::Status s = FinishProgram(
            preset_, std::move(schedule->descriptors), hbm_, program_);
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

  static constexpr int64_t kCSlots = 2;
  static constexpr int64_t kDrainRows = 32;  // a round of the kernels
  static constexpr int64_t kRequested = 24;  // beats under way from the HBM

  const FloatMatmulSpec& spec_;
  const Preset& preset_;
  ScheduleBuilder builder_;
  HbmImage hbm_;
  Program program_;
  kernels::Image kernels_;
  uint64_t weights_ = 0;
  int64_t out_bytes_ = 2, k_tiles_ = 1, n_tiles_ = 1;
  int64_t a_pitch_ = 0, c_pitch_ = 0;  // bytes of a line
  int64_t group_ = 1, groups_ = 1;     // column tiles of a group
  int64_t block_rows_ = 1;
  int64_t a_base_ = 0, a_bytes_ = 0, a_slots_ = 1, c_base_ = 0, c_bytes_ = 0;
  int64_t slot_ = 0;
  int64_t sums_rows_ = 0;  // accumulator rows of the group before
};

}  // namespace

absl::StatusOr<Program> CompileFloatMatmul(const FloatMatmulSpec& spec,
                                           const Preset& preset) {
  return FloatMatmul(spec, preset).Compile();
}

}  // namespace systole::compiler
