// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Requant, pool, add, mul, table.

#include <algorithm>
#include <cstring>

#include "sim/iss/execute.h"
#include "sim/iss/numerics.h"

namespace systole::iss {
namespace {

// Calls f(i, y, x, destination address) in the order of the walk until it
// returns a trap.
template <typename D, typename F>
Result ForEachPosition(const D& d, F f) {
  for (uint64_t i = 0; i < d.n; ++i) {
    for (uint64_t y = 0; y < d.ny; ++y) {
      for (uint64_t x = 0; x < d.nx; ++x) {
        if (Result r =
                f(i, y, x,
                  d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx))
          return r;
      }
    }
  }
  return std::nullopt;
}

template <typename D>
bool IsEmpty(const D& d, const Preset& preset) {
  return d.n == 0 || d.ny == 0 || d.nx == 0 || d.cols == 0 ||
         d.cols > preset.cols;
}

// Bias, multiplier and shift of each column.
struct Params {
  std::vector<int32_t> bias, multiplier;
  std::vector<int8_t> shift;
};

Params ReadParams(const State& state, uint64_t address) {
  const size_t cols = state.preset.cols;
  Params p{std::vector<int32_t>(cols), std::vector<int32_t>(cols),
           std::vector<int8_t>(cols)};
  const uint8_t* from = &state.ub[address];
  std::memcpy(p.bias.data(), from, 4 * cols);
  std::memcpy(p.multiplier.data(), from + 4 * cols, 4 * cols);
  std::memcpy(p.shift.data(), from + 8 * cols, cols);
  return p;
}

// Values ub[address + c] over the taps of a pooling window.
struct Window {
  std::vector<int32_t> sum, max;
  int32_t taps;

  explicit Window(size_t cols) : sum(cols), max(cols) {}
  void Clear() {
    std::fill(sum.begin(), sum.end(), 0);
    std::fill(max.begin(), max.end(), -128);
    taps = 0;
  }
  void Add(const uint8_t* from) {
    ++taps;
    for (size_t c = 0; c < sum.size(); ++c) {
      const int32_t v = static_cast<int8_t>(from[c]);
      sum[c] += v;
      max[c] = std::max(max[c], v);
    }
  }
};

// The table that results pass through: none, or that of the lanes. A descriptor
// that needs the table is illegal if none is loaded.
class Lookup {
 public:
  Lookup(bool wanted, const State& state)
      : missing_(wanted && !state.table),
        table_(wanted && state.table ? state.table->data() : nullptr) {}
  Result Check() const {
    if (!missing_) return std::nullopt;
    return Trap{isa::Fault::kIllegalDescriptor, 0,
                "table, but no table descriptor before it"};
  }
  uint8_t operator()(int8_t value) const {
    return table_ == nullptr ? static_cast<uint8_t>(value)
                             : table_[value + 128];
  }

 private:
  bool missing_;
  const uint8_t* table_;
};

// The addition after a requantise. The scale of one operand is the larger one;
// its factor in an addition is always one half.
int8_t AddResidual(const isa::Requant& d, int8_t result, int8_t operand) {
  constexpr int kLeftShift = 20;
  const bool single = (d.header.flags & isa::Requant::kResidualSingle) != 0;
  int32_t narrow = operand - d.src_zp, wide = result - d.zp;
  if (d.header.flags & isa::Requant::kResidualWide) std::swap(narrow, wide);
  const int32_t scaled =
      Requantise(narrow * (1 << kLeftShift), static_cast<int32_t>(d.sum_mult1),
                 d.sum_shift1, single);
  const int32_t sum =
      Sat32(int64_t{scaled} + int64_t{wide} * (1 << (kLeftShift - 1)));
  const int32_t v =
      Requantise(sum, static_cast<int32_t>(d.sum_mult), d.sum_shift, single);
  return Clamp8(int64_t{v} + d.sum_zp, d.sum_min, d.sum_max);
}

}  // namespace

Result Execute(const isa::Requant& d, State* state) {
  const bool raw = (d.header.flags & isa::Requant::kRaw) != 0;
  const bool single = (d.header.flags & isa::Requant::kSingleRound) != 0;
  const bool table = (d.header.flags & isa::Requant::kTable) != 0;
  const bool residual = (d.header.flags & isa::Requant::kResidual) != 0;
  if (IsEmpty(d, state->preset) || raw + table + residual > 1 ||
      (residual && state->preset.residual == 0)) {
    return Trap{isa::Fault::kIllegalDescriptor};
  }
  const Lookup lookup(table, *state);
  if (Result r = lookup.Check()) return r;
  if (!raw && d.params % state->preset.word_bytes() != 0)
    return Trap{isa::Fault::kMisaligned, d.params};
  if (Result r = CheckAccRows(*state, d.acc, int64_t{d.n} * d.ny * d.nx))
    return r;
  Params params;
  if (!raw) {
    if (Result r = CheckUb(*state, d.params, state->preset.param_block_bytes()))
      return r;
    params = ReadParams(*state, d.params);
  }
  const uint64_t bytes = raw ? 4 * d.cols : d.cols;
  return ForEachPosition(
      d, [&](uint64_t i, uint64_t y, uint64_t x, uint64_t dst) -> Result {
        const uint64_t src =
            d.src + i * d.src_img_pitch + y * d.src_pitch + x * d.src_sx;
        if (residual) {
          if (Result r = CheckWindow(*state, src, d.cols)) return r;
        }
        for (uint64_t part = 0; part < bytes; part += state->preset.cols) {
          const uint64_t left =
              std::min<uint64_t>(state->preset.cols, bytes - part);
          if (Result r = CheckWindow(*state, dst + part, left)) return r;
        }
        const absl::Span<const int32_t> acc =
            state->acc_row(d.acc + (i * d.ny + y) * d.nx + x);
        uint8_t* to = &state->ub[dst];
        if (raw) {
          std::memcpy(to, acc.data(), bytes);  // both little endian
          return std::nullopt;
        }
        for (uint32_t c = 0; c < d.cols; ++c) {
          const int64_t sum = int64_t{acc[c]} + params.bias[c];
          if (sum != Sat32(sum)) state->acc_saturated = true;
          const int32_t v = Requantise(Sat32(sum), params.multiplier[c],
                                       params.shift[c], single);
          int8_t result = Clamp8(int64_t{v} + d.zp, d.clamp_min, d.clamp_max);
          if (residual) {
            result =
                AddResidual(d, result, static_cast<int8_t>(state->ub[src + c]));
          }
          to[c] = lookup(result);
        }
        return std::nullopt;
      });
}

Result Execute(const isa::Pool& d, State* state) {
  const bool average = (d.header.flags & isa::Pool::kAverage) != 0;
  const bool sum = (d.header.flags & isa::Pool::kSum) != 0;
  const bool single = (d.header.flags & isa::Pool::kSingleRound) != 0;
  if (IsEmpty(d, state->preset) || d.kh == 0 || d.kw == 0 ||
      (sum ? average : d.kh * d.kw > 256)) {
    return Trap{isa::Fault::kIllegalDescriptor};
  }
  const Lookup lookup((d.header.flags & isa::Pool::kTable) != 0, *state);
  if (Result r = lookup.Check()) return r;
  Window window(d.cols);
  return ForEachPosition(
      d, [&](uint64_t i, uint64_t y, uint64_t x, uint64_t dst) -> Result {
        window.Clear();
        for (uint32_t ky = 0; ky < d.kh; ++ky) {
          const int64_t line = static_cast<int64_t>(y * d.sy + ky) + d.dy;
          if (line < 0 || line >= d.lines) continue;
          for (uint32_t kx = 0; kx < d.kw; ++kx) {
            const int64_t byte =
                static_cast<int64_t>(x * d.src_sx + uint64_t{kx} * d.kx) + d.dx;
            if (byte < 0 || byte >= d.line_bytes) continue;
            const uint64_t src =
                d.src + i * d.src_img_pitch + line * d.src_pitch + byte;
            if (Result r = CheckWindow(*state, src, d.cols)) return r;
            window.Add(&state->ub[src]);
          }
        }
        if (Result r = CheckWindow(*state, dst, d.cols)) return r;
        for (uint32_t c = 0; c < d.cols; ++c) {
          int64_t v = d.clamp_min;
          if (sum) {
            v = int64_t{Requantise(window.sum[c] - window.taps * d.src_zp,
                                   static_cast<int32_t>(d.mult), d.shift,
                                   single)} +
                d.zp;
          } else if (average) {
            v = window.taps == 0 ? 0 : Average(window.sum[c], window.taps);
          } else if (window.taps != 0) {
            v = window.max[c];
          }
          state->ub[dst + c] = lookup(Clamp8(v, d.clamp_min, d.clamp_max));
        }
        return std::nullopt;
      });
}

Result Execute(const isa::Add& d, State* state) {
  constexpr int kLeftShift = 20;
  const bool single = (d.header.flags & isa::Add::kSingleRound) != 0;
  if (d.ny == 0 || d.line_bytes == 0)
    return Trap{isa::Fault::kIllegalDescriptor};
  const Lookup lookup((d.header.flags & isa::Add::kTable) != 0, *state);
  if (Result r = lookup.Check()) return r;
  const auto scaled = [single](uint8_t byte, int32_t zero_point,
                               uint32_t multiplier, int32_t shift) {
    const int32_t v =
        (static_cast<int8_t>(byte) - zero_point) * (1 << kLeftShift);
    return Requantise(v, static_cast<int32_t>(multiplier), shift, single);
  };
  for (uint64_t y = 0; y < d.ny; ++y) {
    const uint64_t src0 = d.src0 + y * d.pitch0, src1 = d.src1 + y * d.pitch1,
                   dst = d.dst + y * d.dst_pitch;
    for (uint64_t done = 0; done < d.line_bytes; done += state->preset.cols) {
      const uint64_t bytes =
          std::min<uint64_t>(state->preset.cols, d.line_bytes - done);
      for (uint64_t address : {src0, src1, dst}) {
        if (Result r = CheckWindow(*state, address + done, bytes)) return r;
      }
      for (uint64_t b = done; b < done + bytes; ++b) {
        const int32_t sum = Sat32(
            int64_t{scaled(state->ub[src0 + b], d.zp0, d.mult0, d.shift0)} +
            scaled(state->ub[src1 + b], d.zp1, d.mult1, d.shift1));
        const int32_t v =
            Requantise(sum, static_cast<int32_t>(d.mult), d.shift, single);
        state->ub[dst + b] =
            lookup(Clamp8(int64_t{v} + d.zp, d.clamp_min, d.clamp_max));
      }
    }
  }
  return std::nullopt;
}

Result Execute(const isa::Mul& d, State* state) {
  const bool single = (d.header.flags & isa::Mul::kSingleRound) != 0;
  if (IsEmpty(d, state->preset)) return Trap{isa::Fault::kIllegalDescriptor};
  const Lookup lookup((d.header.flags & isa::Mul::kTable) != 0, *state);
  if (Result r = lookup.Check()) return r;
  return ForEachPosition(
      d, [&](uint64_t i, uint64_t y, uint64_t x, uint64_t dst) -> Result {
        const uint64_t src0 =
            d.src0 + i * d.img_pitch0 + y * d.pitch0 + x * d.sx0;
        const uint64_t src1 =
            d.src1 + i * d.img_pitch1 + y * d.pitch1 + x * d.sx1;
        for (const uint64_t address : {src0, src1, dst}) {
          if (Result r = CheckWindow(*state, address, d.cols)) return r;
        }
        for (uint32_t c = 0; c < d.cols; ++c) {
          const int32_t a = static_cast<int8_t>(state->ub[src0 + c]) - d.zp0;
          const int32_t b = static_cast<int8_t>(state->ub[src1 + c]) - d.zp1;
          const int32_t v =
              Requantise(a * b, static_cast<int32_t>(d.mult), d.shift, single);
          state->ub[dst + c] =
              lookup(Clamp8(int64_t{v} + d.zp, d.clamp_min, d.clamp_max));
        }
        return std::nullopt;
      });
}

Result Execute(const isa::Table& d, State* state) {
  if (d.src % state->preset.word_bytes() != 0)
    return Trap{isa::Fault::kMisaligned, d.src};
  std::array<uint8_t, 256> table;
  if (Result r = CheckUb(*state, d.src, table.size())) return r;
  std::copy_n(state->ub.begin() + d.src, table.size(), table.begin());
  state->table = table;
  return std::nullopt;
}

}  // namespace systole::iss
