// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Vload and vrun: the programmable vector unit of docs/vpu.md, one instruction
// after the other.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/program/vpu_asm.h"
#include "sim/iss/execute.h"
#include "sim/iss/vpu_alu.h"
#include "sim/iss/vpu_lanes.h"
#include "sim/iss/vpu_rows.h"

namespace systole::iss {
namespace {

constexpr int64_t kMaxLanes = 256;
// After this many instructions in a row that move no row, the program loops for
// ever.
constexpr uint64_t kIdleLimit = uint64_t{1} << 22;

// One vrun.
class Run {
 public:
  Run(const isa::Vrun& d, State* state)
      : state_(*state),
        vpu_(state->vpu),
        log_(state->vrun_log),
        cols_(state->preset.cols),
        rows_(state->vpu.rows),
        lanes_(cols_),
        pc_(d.pc) {
    std::copy(d.args.begin(), d.args.end(), s_.begin() + 1);
  }

  Result Execute() {
    if (log_.enabled) log_.Start();
    uint64_t idle = 0;
    while (!halted_) {
      const VpuState::Slot& slot = vpu_.imem[pc_];
      if (!slot.illegal.empty())
        return Bad(absl::StrFormat("0x%016x: %s", slot.word, slot.illegal));
      next_ = pc_ + 1;
      if (Result r = Step(slot.x, *slot.op)) return r;
      idle = slot.op->cls <= vpu::Class::kControl ? idle + 1 : 0;
      if (idle > kIdleLimit)
        return Trap{isa::Fault::kWatchdog, pc_,
                    absl::StrCat("the vector program loops around instruction ",
                                 pc_, " without moving a row")};
      if (!halted_ && next_ >= vpu::kImemWords)
        return Bad(absl::StrCat("the next instruction would be ", next_));
      pc_ = static_cast<uint32_t>(next_);
    }
    return std::nullopt;
  }

 private:
  // A vector source: the place of its row i.
  struct Source {
    const uint32_t* at = nullptr;
    int64_t step = 0;  // lanes from one row to the next
    const uint32_t* Row(int i) const { return at + i * step; }
  };

  Result Bad(std::string detail) const {
    return Trap{isa::Fault::kVectorProgram, pc_,
                absl::StrCat("vector instruction ", pc_, ", ", detail)};
  }

  void CheckWritten(int v, int first, int end) {
    if (!log_.enabled) return;
    for (int r = first; r < end; ++r) {
      if ((vpu_.written[v] >> r & 1) == 0) return log_.Unwritten(pc_, v, r);
    }
  }
  void SetWritten(int v) {
    vpu_.written[v] |= static_cast<uint32_t>((uint64_t{1} << vl_) - 1);
  }

  Source Operand(vpu::Kind kind, int r, int mode, uint32_t* scalar_row) {
    if (kind != vpu::Kind::kVsrc && kind != vpu::Kind::kVrow) return {};
    if (mode == static_cast<int>(vpu::Mode::kScalar)) {
      std::fill(scalar_row, scalar_row + cols_, s_[r]);
      return {scalar_row, 0};
    }
    if (mode == static_cast<int>(vpu::Mode::kRow0)) {
      CheckWritten(r, 0, 1);
      return {vpu_.row(r, 0), 0};
    }
    if (kind != vpu::Kind::kVrow) CheckWritten(r, 0, vl_);
    return {vpu_.row(r, 0), cols_};
  }

  Result Step(const vpu::Instr& x, const vpu::OpInfo& op) {
    switch (op.cls) {
      case vpu::Class::kScalar:
        Scalar(x);
        return std::nullopt;
      case vpu::Class::kControl:
        return Control(x);
      case vpu::Class::kLoad:
        return Load(x);
      case vpu::Class::kStore:
        return Store(x);
      case vpu::Class::kCross:
        if (x.op != vpu::Op::kMov) return Cross(x, op);
        [[fallthrough]];
      default:
        Compute(x, op);
        return std::nullopt;
    }
  }

  void Scalar(const vpu::Instr& x) {
    const uint32_t a = s_[x.a], b = s_[x.b];
    const uint32_t imm = static_cast<uint32_t>(x.imm);
    uint32_t d = 0;
    switch (x.op) {
      case vpu::Op::kLi:
        d = imm;
        break;
      case vpu::Op::kAdd:
        d = a + b;
        break;
      case vpu::Op::kAddi:
        d = a + imm;
        break;
      case vpu::Op::kSub:
        d = a - b;
        break;
      case vpu::Op::kMul:
        d = a * b;
        break;
      case vpu::Op::kSlli:
        d = a << (imm & 31);
        break;
      case vpu::Op::kSrli:
        d = a >> (imm & 31);
        break;
      default:  // and
        d = a & b;
        break;
    }
    if (x.d != 0) s_[x.d] = d;
  }

  Result Control(const vpu::Instr& x) {
    const int32_t a = static_cast<int32_t>(s_[x.a]);
    const int32_t b = static_cast<int32_t>(s_[x.b]);
    bool taken = false;
    switch (x.op) {
      case vpu::Op::kBeq:
        taken = a == b;
        break;
      case vpu::Op::kBne:
        taken = a != b;
        break;
      case vpu::Op::kBlt:
        taken = a < b;
        break;
      case vpu::Op::kVl:
        if (a <= 0) return Bad(absl::StrCat("vl of ", a));
        vl_ = std::min(a, rows_);
        if (x.imm > 0) vl_ = std::min(vl_, x.imm);
        break;
      case vpu::Op::kLanes:
        if (a <= 0 || a > cols_)
          return Bad(absl::StrCat("lanes of ", a, " outside 1..", cols_));
        lanes_ = a;
        break;
      case vpu::Op::kFence:
        log_.Fence();
        break;
      default:  // halt
        halted_ = true;
        break;
    }
    if (taken) next_ = static_cast<uint32_t>(x.imm);
    return std::nullopt;
  }

  uint32_t Address(const vpu::Instr& x, int i) const {
    return s_[x.a] + static_cast<uint32_t>(x.imm) +
           static_cast<uint32_t>(i) * s_[x.b];
  }

  // Loads a word into a scalar register.
  Result LoadScalar(const vpu::Instr& x) {
    const uint64_t address = s_[x.a] + static_cast<uint32_t>(x.imm);
    if (Result r = CheckRow(address, 4)) return r;
    uint32_t word;
    std::memcpy(&word, &state_.ub[address], 4);
    if (log_.enabled) log_.Load(pc_, {address, address + 4});
    if (x.d != 0) s_[x.d] = word;
    return std::nullopt;
  }

  Result Load(const vpu::Instr& x) {
    if (x.op == vpu::Op::kLds) return LoadScalar(x);
    for (int i = 0; i < vl_; ++i) {
      const uint64_t address = Address(x, i);
      uint32_t* to = vpu_.row(x.d, i);
      if (x.op == vpu::Op::kLdacc) {
        if (address >= static_cast<uint64_t>(state_.preset.acc_rows))
          return Trap{isa::Fault::kAccRange, address, At("ldacc")};
        std::memcpy(to, state_.acc_row(static_cast<int64_t>(address)).data(),
                    4 * lanes_);
        if (log_.enabled) log_.LoadAcc(address);
      } else {
        const uint64_t bytes = ElementBytes(x.op) * lanes_;
        if (Result r = CheckRow(address, bytes)) return r;
        LoadRow(x.op, &state_.ub[address], lanes_, to);
        if (log_.enabled) log_.Load(pc_, {address, address + bytes});
      }
      std::fill(to + lanes_, to + cols_, 0);
    }
    SetWritten(x.d);
    return std::nullopt;
  }

  Result Store(const vpu::Instr& x) {
    CheckWritten(x.d, 0, vl_);
    const uint64_t bytes = ElementBytes(x.op) * lanes_;
    for (int i = 0; i < vl_; ++i) {
      const uint64_t address = Address(x, i);
      if (Result r = CheckRow(address, bytes)) return r;
      StoreRow(x.op, vpu_.row(x.d, i), lanes_, &state_.ub[address]);
      Count(x.op, vpu_.row(x.d, i));
      if (log_.enabled) log_.Store({address, address + bytes});
    }
    return std::nullopt;
  }

  // Counts values as stored: rounding to bf16 makes infinities.
  void Count(vpu::Op op, const uint32_t* row) {
    if (op == vpu::Op::kSt8 || op == vpu::Op::kSt16h) return;
    for (int64_t l = 0; l < lanes_; ++l) {
      const uint32_t bits = op == vpu::Op::kSt16 ? RoundBf16(row[l]) : row[l];
      state_.counters.vector_nan += IsNan(bits);
      state_.counters.vector_inf += IsInfinite(bits);
    }
  }

  Result CheckRow(uint64_t address, uint64_t bytes) const {
    Result r = CheckWindow(state_, address, bytes);
    if (r) r->detail = At("row");
    return r;
  }
  std::string At(const char* what) const {
    return absl::StrFormat("%s of vector instruction %d", what, pc_);
  }

  void Compute(const vpu::Instr& x, const vpu::OpInfo& op) {
    uint32_t rows[3][kMaxLanes], out[kMaxLanes];
    const Source a = Operand(op.a, x.a, x.am, rows[0]);
    Source b = Operand(op.b, x.b, x.bm, rows[1]);
    Source c = Operand(op.c, x.c, x.cm, rows[2]);
    // Operands that the operation does not use are read anyway.
    if (b.at == nullptr) b = a;
    if (c.at == nullptr) c = a;
    uint32_t* const to = vpu_.row(x.d, 0);
    const bool apart = a.at != to && b.at != to && c.at != to;
    // Contiguous rows are treated as one.
    const bool whole =
        apart && a.step == cols_ && b.step == cols_ && c.step == cols_;
    for (int i = 0; i < (whole ? 1 : vl_); ++i) {
      uint32_t* const row = to + i * cols_;
      ComputeRow(x.op, a.Row(i), b.Row(i), c.Row(i),
                 whole ? vl_ * cols_ : cols_, apart ? row : out);
      if (!apart) std::copy(out, out + cols_, row);
    }
    SetWritten(x.d);
  }

  // Moves between rows or lanes.
  Result Cross(const vpu::Instr& x, const vpu::OpInfo& op) {
    uint32_t scalar_row[kMaxLanes], out[kMaxLanes];
    const Source a = Operand(op.a, x.a, x.am, scalar_row);
    const uint32_t k = static_cast<uint32_t>(x.imm) + s_[x.b];
    if (x.op == vpu::Op::kTpush) return Push(a);
    if (x.op == vpu::Op::kTpop && (pushed_ == 0 || popped_ + vl_ > cols_))
      return Bad(
          absl::StrFormat("tpop of %d columns: %d rows pushed, %d of %d "
                          "columns popped",
                          vl_, pushed_, popped_, cols_));
    for (int i = 0; i < vl_; ++i) {
      if (x.op == vpu::Op::kRotrow) {
        const int row = static_cast<int>((i + k) % rows_);
        CheckWritten(x.a, row, row + 1);
      }
      CrossRow(x, a, k, i, out);
      std::copy(out, out + cols_, vpu_.row(x.d, i));
    }
    SetWritten(x.d);
    if (x.op == vpu::Op::kTpop) popped_ += vl_;
    return std::nullopt;
  }

  void CrossRow(const vpu::Instr& x, const Source& a, uint32_t k, int i,
                uint32_t* out) const {
    const uint32_t lanes = static_cast<uint32_t>(cols_), lane = k & (lanes - 1);
    switch (x.op) {
      case vpu::Op::kRotl:
        std::rotate_copy(a.Row(i), a.Row(i) + lane, a.Row(i) + lanes, out);
        break;
      case vpu::Op::kBcl:
        std::fill(out, out + lanes, a.Row(i)[lane]);
        break;
      case vpu::Op::kRotrow:
        std::copy_n(a.Row((i + k) % rows_), lanes, out);
        break;
      case vpu::Op::kIota:
        for (uint32_t l = 0; l < lanes; ++l) out[l] = l + s_[x.a];
        break;
      case vpu::Op::kRnd:
        for (uint32_t l = 0; l < lanes; ++l)
          out[l] = Mix(Mix(s_[x.b] + i * lanes + l) ^ Mix(s_[x.a]));
        break;
      default:  // tpop
        for (uint32_t l = 0; l < lanes; ++l)
          out[l] = l < static_cast<uint32_t>(pushed_)
                       ? transposer_[l * lanes + popped_ + i]
                       : 0;
        break;
    }
  }

  // The first push after a pop begins a matrix.
  Result Push(const Source& a) {
    if (popped_ > 0) pushed_ = popped_ = 0;
    if (pushed_ + vl_ > cols_)
      return Bad(
          absl::StrFormat("tpush of %d rows: %d of %d are in the transposer",
                          vl_, pushed_, cols_));
    transposer_.resize(cols_ * cols_);
    for (int i = 0; i < vl_; ++i, ++pushed_)
      std::copy(a.Row(i), a.Row(i) + cols_, &transposer_[pushed_ * cols_]);
    return std::nullopt;
  }

  State& state_;
  VpuState& vpu_;
  VrunLog& log_;
  const int64_t cols_;
  const int rows_;  // of a register
  std::array<uint32_t, vpu::kScalarRegs> s_ = {};
  int32_t vl_ = vpu::kVectorSteps;
  int64_t lanes_;
  uint32_t pc_;
  uint64_t next_ = 0;
  bool halted_ = false;
  std::vector<uint32_t> transposer_;  // [pushed row][lane]
  int64_t pushed_ = 0, popped_ = 0;
};

}  // namespace

Result Execute(const isa::Vload& d, State* state) {
  if (d.count == 0 || d.addr + d.count > vpu::kImemWords)
    return Trap{isa::Fault::kIllegalDescriptor};
  if (d.ub_addr % state->preset.word_bytes() != 0)
    return Trap{isa::Fault::kMisaligned, d.ub_addr};
  if (Result r = CheckUb(*state, d.ub_addr, uint64_t{8} * d.count)) return r;
  for (uint32_t i = 0; i < d.count; ++i) {
    uint64_t word;
    std::memcpy(&word, &state->ub[d.ub_addr + 8 * i], sizeof word);
    const vpu::Instr x = vpu::Instr::Decode(word);
    state->vpu.imem[d.addr + i] = {word, x,
                                   vpu::FindOp(static_cast<uint8_t>(x.op)),
                                   vpu::WhyIllegal(word)};
  }
  return std::nullopt;
}

Result Execute(const isa::Vrun& d, State* state) {
  return Run(d, state).Execute();
}

}  // namespace systole::iss
