// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/vpu/random_core_program.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/compiler/schedule_builder.h"
#include "host/program/vpu_asm.h"
#include "tests/testing/choices.h"
#include "tests/testing/long.h"
#include "tests/vpu/random_program.h"

namespace systole::vpu {
namespace {

constexpr int kVectorPrograms = 3;

// All accumulator rows to the unified buffer from byte 0 on.
constexpr char kDumpText[] = R"(
.arg rows
        li    s13, 1
        li    s14, 4*L
loop:   ldacc v0, s2, s13
        st32  v0, s3, s14
        addi  s2, s2, 8
        addi  s3, s3, 32*L
        blt   s2, rows, loop
        halt
)";

class Builder {
 public:
  Builder(const Preset& preset, uint64_t seed)
      : preset_(preset),
        random_(seed),
        beat_(preset.beat_bytes()),
        ub_(preset.ub_bytes),
        known_(testing_options::Long() ? ub_ : std::min(ub_, kMostKnown)),
        scratch_(preset, seed),
        schedule_(preset) {
    // HBM: an image of what is known of the unified buffer, weight tiles,
    // vector code, tables of rows, bytes that are stored, the final states,
    // descriptors.
    tiles_ = known_;
    code_ = tiles_ + kTiles * preset.tile_bytes();
    tables_ = code_ + (kVectorPrograms + 1) * kCodeBytes;
    out_ = tables_ + kTables * kTableBytes;
    dump_ = out_ + kOutBytes;
    p_.result_begin = out_;
    p_.result_end = dump_ + known_ + 4 * preset.acc_rows * preset.cols;
    p_.program.preset = std::string(preset.name);
    p_.program.prog_addr = (p_.result_end + 127) / 128 * 128;
  }

  absl::StatusOr<CoreProgram> Make(uint64_t seed, int items) {
    Segment("image", 0, known_);
    Segment("tiles", tiles_, kTiles * preset_.tile_bytes());
    for (int i = 0; i < kVectorPrograms; ++i) {
      RandomOptions options;
      options.instructions = 60;
      programs_.push_back(
          MakeRandomProgram(preset_, seed * kVectorPrograms + i, options));
      AddCode(i, programs_[i].words);
    }
    Start();
    for (int i = 0; testing_options::More(i < items); ++i) {
      const testing_options::Span span;
      Item();
    }
    if (absl::Status s = End(); !s.ok()) return s;
    absl::StatusOr<compiler::Schedule> schedule =
        schedule_.Finish(/*reorder=*/random_() % 2 == 0);
    if (!schedule.ok()) return schedule.status();
    p_.program.descriptors = std::move(schedule->descriptors);
    double size = 1000.0 * static_cast<double>(p_.program.descriptors.size());
    for (const RandomProgram& p : programs_)
      size += static_cast<double>(p.words.size());
    testing_options::Describe(
        size, absl::StrCat(p_.program.descriptors.size(), " descriptors"));
    p_.program.hbm_bytes =
        (p_.program.prog_addr +
         p_.program.descriptors.size() * isa::kDescriptorBytes + beat_ - 1) /
        beat_ * beat_;
    return std::move(p_);
  }

 private:
  // A large unified buffer is known at both ends alone but in the long form:
  // to load all takes longer than what is tested. Vector programs use no other.
  static constexpr uint64_t kMostKnown = 2 << 20;
  static constexpr uint64_t kTiles = 16, kCodeBytes = 16384,
                            kOutBytes = 1 << 16, kTables = 64,
                            kTableBytes = 1024, kMostRows = 100;

  uint64_t Below(uint64_t n) {
    return testing_options::Choose(n, [this] { return random_(); });
  }
  uint64_t Draw(uint64_t n) { return random_() % n; }
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(high - low + 1));
  }
  bool OneIn(int n) { return Below(n) == 0; }

  // bf16 of about 1, zeros, now and then anything.
  void Segment(const char* name, uint64_t address, uint64_t bytes) {
    DataSegment s{name, address, std::vector<uint8_t>(bytes)};
    for (uint64_t i = 0; i < bytes; i += 2) {
      uint16_t v = static_cast<uint16_t>((Draw(1 << 16) & 0x80FF) | 0x3F00);
      if (Draw(8) == 0) v = 0;
      if (Draw(500) == 0) v = static_cast<uint16_t>(random_());
      s.data[i] = static_cast<uint8_t>(v);
      s.data[i + 1] = static_cast<uint8_t>(v >> 8);
    }
    p_.program.segments.push_back(std::move(s));
  }
  void AddCode(int i, const std::vector<uint64_t>& words) {
    p_.program.segments.push_back(
        vpu::Segment(absl::StrCat("code ", i), code_ + i * kCodeBytes, words));
  }

  // Where `bytes` are that begin `at` in the image; bytes of both ends begin at
  // the second.
  uint32_t Place(uint64_t at, uint64_t bytes) const {
    if (known_ == ub_) return static_cast<uint32_t>(at);
    if (at < known_ / 2 && at + bytes > known_ / 2) at = known_ / 2;
    return static_cast<uint32_t>(at < known_ / 2 ? at : at + ub_ - known_);
  }

  // Everything that is read holds something known: bytes, accumulator rows.
  void Start() {
    isa::Load load;
    load.n1 = load.n2 = 1, load.len = static_cast<uint32_t>(known_ / 4);
    for (int i = 0; i < 4; ++i) {
      load.hbm_addr = i * load.len,
      load.ub_addr = Place(i * load.len, load.len);
      schedule_.Append(load);
    }
    for (int bank = 0; bank < 2; ++bank) {
      Tiles(1);
      isa::Matmul m;
      m.pitch = m.line_bytes = 2 * preset_.rows;
      m.lines = m.ny = preset_.acc_bank_rows();
      m.n = m.nx = m.t0 = m.t1 = m.sy = 1;
      m.seg_len[0] = preset_.rows;
      m.ub_base = Bytes(uint64_t{m.lines} * m.pitch);
      m.acc = bank * m.lines;
      schedule_.Append(m);
    }
  }

  void Item() {
    switch (Below(8)) {
      case 0:
      case 1:
        return Dma(isa::Load(), Below(tiles_));
      case 2:
        return Dma(isa::Store(), out_ + Below(kOutBytes));
      case 3:
      case 4:
        return Run(static_cast<int>(Below(kVectorPrograms)));
      default:
        return Matmul();
    }
  }

  uint32_t Even(uint64_t limit) {
    return static_cast<uint32_t>(Below(limit + 1) / 2 * 2);
  }
  // So many bytes at an even address.
  uint32_t Bytes(uint64_t bytes) { return Place(Even(known_ - bytes), bytes); }
  uint64_t Beats(uint64_t bytes) const { return bytes / beat_ * beat_; }

  template <typename D>
  void Dma(D d, uint64_t hbm) {
    const bool stores = hbm >= out_;
    d.len = static_cast<uint32_t>(Between(1, 6 * beat_));
    d.n1 = static_cast<uint32_t>(Between(1, 6));
    d.n2 = static_cast<uint32_t>(Between(1, 4));
    d.hbm_stride1 = Below(9) * beat_, d.hbm_stride2 = Below(40) * beat_;
    d.ub_stride1 = static_cast<uint32_t>(Below(9) * beat_);
    d.ub_stride2 = static_cast<uint32_t>(Below(40) * beat_);
    const uint64_t whole = (d.len + beat_ - 1) / beat_ * beat_;
    const auto place = [&](uint64_t at, uint64_t begin, uint64_t size,
                           uint64_t span) {
      return Beats(std::min(at, begin + size - span));
    };
    const uint64_t span =
        (d.n1 - 1) * d.ub_stride1 + (d.n2 - 1) * d.ub_stride2 + whole;
    d.ub_addr = Place(place(Below(known_), 0, known_, span), span);
    if (OneIn(3) && number_ < kTables) return Rows(d, stores);
    d.hbm_addr =
        place(hbm, stores ? out_ : 0, stores ? kOutBytes : tiles_,
              (d.n1 - 1) * d.hbm_stride1 + (d.n2 - 1) * d.hbm_stride2 + whole);
    schedule_.Append(d);
  }

  // The same with rows from a table, which a load brings.
  template <typename D>
  void Rows(D d, bool stores) {
    d.header.flags = D::kIndexed;
    d.n2 = static_cast<uint32_t>(Between(1, kMostRows));
    if (d.n2 > 4) d.ub_stride2 = static_cast<uint32_t>(Below(3) * beat_);
    const uint64_t whole = (d.len + beat_ - 1) / beat_ * beat_;
    const uint64_t span =
        (d.n1 - 1) * d.ub_stride1 + (d.n2 - 1) * d.ub_stride2 + whole;
    d.ub_addr = Place(Beats(Below(known_ - span)), span);
    const uint64_t begin = stores ? out_ : 0,
                   size = stores ? kOutBytes : tiles_;
    d.hbm_addr = (begin + beat_ - 1) / beat_ * beat_ + Below(9) * beat_;
    const uint64_t room =
        begin + size - d.hbm_addr - (d.n1 - 1) * d.hbm_stride1 - whole;
    DataSegment table{absl::StrCat("table ", number_),
                      tables_ + number_ * kTableBytes,
                      std::vector<uint8_t>(kTableBytes)};
    for (uint32_t i = 0; i < d.n2; ++i) {
      const uint64_t entry = Draw(room / beat_ + 1);
      for (int b = 0; b < 4; ++b)
        table.data[4 * i + b] = static_cast<uint8_t>(entry >> 8 * b);
    }
    isa::Load load;
    load.n1 = load.n2 = 1;
    load.len = 4 * d.n2;
    load.hbm_addr = tables_ + number_ * kTableBytes;
    do {
      load.ub_addr = Place(Beats(Below(known_ - kTableBytes)), kTableBytes);
    } while (load.ub_addr < d.ub_addr + span &&
             d.ub_addr < load.ub_addr + kTableBytes);
    d.index_addr = load.ub_addr;
    schedule_.Append(load);
    compiler::Access hbm;
    hbm.space = compiler::Space::kHbm;
    hbm.write = stores;
    hbm.base = static_cast<int64_t>(begin);
    hbm.len = static_cast<int64_t>(size);
    schedule_.Append(d, hbm);
    p_.program.segments.push_back(std::move(table));
    ++number_;
  }

  void Tiles(uint32_t count) {
    if (OneIn(2)) {
      isa::Weights w;
      w.tiles = count;
      w.hbm_addr = tiles_ + Below(kTiles - count + 1) * preset_.tile_bytes();
      if (OneIn(2)) w.header.flags = isa::Weights::kTranspose;
      return schedule_.Append(w);
    }
    isa::Tiles t;
    t.tiles = count;
    t.rows = static_cast<uint32_t>(Between(1, preset_.rows));
    t.cols = static_cast<uint32_t>(Between(1, preset_.cols));
    t.pitch = Even(4 * preset_.cols);
    t.tile_stride = Even(4 * preset_.tile_bytes());
    t.ub_addr = Bytes(uint64_t{count - 1} * t.tile_stride +
                      uint64_t{t.rows - 1} * t.pitch + 2 * t.cols);
    if (OneIn(2)) t.header.flags = isa::Tiles::kTranspose;
    schedule_.Append(t);
  }

  void Matmul() {
    const int64_t rows = preset_.rows;
    const bool turned = OneIn(3);
    isa::Matmul m;
    m.n = Between(1, 2), m.ny = Between(1, 12), m.nx = Between(1, 12);
    if (turned) m.n = 1, m.ny = Between(1, rows), m.nx = 1;
    const bool edge = !turned && OneIn(4);  // vectors and depth at the limits
    if (edge && !OneIn(3)) {
      const int64_t vectors[] = {1, rows - 1, rows, rows + 1,
                                 preset_.acc_bank_rows()};
      m.n = m.nx = 1, m.ny = vectors[Below(std::size(vectors))];
    }
    m.lines = Between(1, 14), m.line_bytes = 2 * Between(1, 3 * rows);
    m.pitch = m.line_bytes + Even(64);
    m.img_pitch = m.lines * m.pitch + Even(64);
    m.ub_base = Bytes(2 * uint64_t{m.img_pitch});
    m.sy = Between(0, 2), m.sx = Even(4 * rows);
    m.t0 = Between(1, 3), m.t1 = Between(1, 2);
    m.t0_dx = std::min<uint32_t>(Even(2 * rows), 1022), m.t1_dy = Between(0, 2);
    const int64_t block =
        turned ? m.t0 * m.t1 * rows : int64_t{m.n} * m.ny * m.nx;
    if (block > preset_.acc_bank_rows()) return;
    m.acc = Between(0, 1) * preset_.acc_bank_rows() +
            Between(0, preset_.acc_bank_rows() - block);
    int64_t left = rows;
    if (edge) {
      const int64_t depths[] = {1, 2, rows - 1, rows};
      left = depths[Below(std::size(depths))];
    }
    for (int s = 0; s < 4; ++s) {
      m.seg_len[s] = edge ? left : Between(s == 0 ? 1 : 0, left);
      left -= m.seg_len[s];
      m.seg_dy[s] = Between(-3, 3);
      m.seg_dx[s] = Between(-rows, rows) * 2;
    }
    m.header.flags = (turned ? isa::Matmul::kTranspose : 0) |
                     (OneIn(2) ? isa::Matmul::kAccumulate : 0) |
                     (OneIn(5) ? isa::Matmul::kKeepWeights : 0);
    const bool keeps = (m.header.flags & isa::Matmul::kKeepWeights) != 0;
    const uint32_t tiles = (turned ? 1 : m.t0 * m.t1) - (keeps ? 1 : 0);
    if (tiles > 0) Tiles(tiles);
    schedule_.Append(m);
  }

  void Bring(int i, size_t count, uint64_t ub, int addr) {
    const CodeLoad in =
        LoadCode(code_ + i * kCodeBytes, ub, static_cast<int64_t>(count), addr);
    schedule_.Append(in.load);
    schedule_.Append(in.vload);
  }

  // What a vector program touches depends on its scalars only: a run on
  // arbitrary memory tells.
  void Run(int i) {
    const RandomProgram& p = programs_[i];
    if (OneIn(4)) {  // code that does not run
      const RandomProgram& other = programs_[Below(kVectorPrograms)];
      Bring(static_cast<int>(&other - programs_.data()), other.words.size(),
            other.vload.ub_addr, static_cast<int>(other.vload.addr));
    }
    Bring(i, p.words.size(), p.vload.ub_addr, static_cast<int>(p.vload.addr));
    RunOnIss(p, &scratch_);
    AppendRun(p.vrun, p.words.size());
  }
  void AppendRun(const isa::Vrun& run, size_t words) {
    std::vector<compiler::Access> accesses;
    const auto add = [&](const iss::RangeSet& ranges, compiler::Space space,
                         bool write) {
      for (const iss::Range& r : ranges.All()) {
        compiler::Access a;
        a.space = space, a.write = write;
        a.base = static_cast<int64_t>(r.begin);
        a.len = static_cast<int64_t>(r.end - r.begin);
        accesses.push_back(a);
      }
    };
    add(scratch_.vrun_log.reads, compiler::Space::kUb, false);
    add(scratch_.vrun_log.acc_reads, compiler::Space::kAcc, false);
    add(scratch_.vrun_log.writes, compiler::Space::kUb, true);
    schedule_.Append(run, accesses, static_cast<int64_t>(8 * words));
  }

  absl::Status End() {
    isa::Store store;
    store.n1 = store.n2 = 1, store.len = static_cast<uint32_t>(known_ / 4);
    for (int i = 0; i < 4; ++i) {
      store.ub_addr = Place(i * store.len, store.len);
      store.hbm_addr = dump_ + i * store.len;
      schedule_.Append(store);
    }
    const absl::StatusOr<Code> dump =
        Assemble(kDumpText, "dump", {{"L", preset_.cols}});
    if (!dump.ok()) return dump.status();
    AddCode(kVectorPrograms, dump->words);
    const uint64_t code_ub =
        ub_ / 2 / preset_.word_bytes() * preset_.word_bytes();
    Bring(kVectorPrograms, dump->words.size(), code_ub, 0);
    isa::Vrun run;
    run.args[0] = static_cast<uint32_t>(preset_.acc_rows);
    const uint64_t bytes = 4 * preset_.acc_rows * preset_.cols;
    scratch_.vrun_log.Start();
    scratch_.vrun_log.Store({0, bytes});
    for (int64_t row = 0; row < preset_.acc_rows; ++row)
      scratch_.vrun_log.LoadAcc(row);
    AppendRun(run, preset_.acc_rows / 8);
    store.ub_addr = 0, store.hbm_addr = dump_ + known_;
    store.len = static_cast<uint32_t>(bytes);
    schedule_.Append(store);
    return absl::OkStatus();
  }

  const Preset& preset_;
  std::mt19937_64 random_;
  const uint64_t beat_, ub_, known_;
  uint64_t tiles_, code_, tables_, out_, dump_;
  uint64_t number_ = 0;  // of tables
  std::vector<RandomProgram> programs_;
  iss::State scratch_;
  compiler::ScheduleBuilder schedule_;
  CoreProgram p_;
};

}  // namespace

absl::StatusOr<CoreProgram> MakeRandomCoreProgram(const Preset& preset,
                                                  uint64_t seed, int items) {
  return Builder(preset, seed).Make(seed, items);
}

}  // namespace systole::vpu
