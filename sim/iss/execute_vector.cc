// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// requant, pool, add.

#include <algorithm>
#include <cstring>

#include "sim/iss/execute.h"
#include "sim/iss/numerics.h"

namespace systole::iss {
namespace {

// Calls f(i, y, x, destination address) in walk order until it returns a trap.
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

}  // namespace

Result Execute(const isa::Requant& d, State* state) {
  const bool raw = (d.header.flags & isa::Requant::kRaw) != 0;
  const bool single = (d.header.flags & isa::Requant::kSingleRound) != 0;
  if (IsEmpty(d, state->preset)) return Trap{isa::Fault::kIllegalDescriptor};
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
          to[c] = static_cast<uint8_t>(
              Clamp8(int64_t{v} + d.zp, d.clamp_min, d.clamp_max));
        }
        return std::nullopt;
      });
}

Result Execute(const isa::Pool& d, State* state) {
  const bool average = (d.header.flags & isa::Pool::kAverage) != 0;
  if (IsEmpty(d, state->preset) || d.kh == 0 || d.kw == 0 ||
      d.kh * d.kw > 256) {
    return Trap{isa::Fault::kIllegalDescriptor};
  }
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
          int32_t v = d.clamp_min;
          if (average) {
            v = window.taps == 0 ? 0 : Average(window.sum[c], window.taps);
          } else if (window.taps != 0) {
            v = window.max[c];
          }
          state->ub[dst + c] =
              static_cast<uint8_t>(Clamp8(v, d.clamp_min, d.clamp_max));
        }
        return std::nullopt;
      });
}

Result Execute(const isa::Add& d, State* state) {
  constexpr int kLeftShift = 20;
  const bool single = (d.header.flags & isa::Add::kSingleRound) != 0;
  if (d.ny == 0 || d.line_bytes == 0)
    return Trap{isa::Fault::kIllegalDescriptor};
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
        state->ub[dst + b] = static_cast<uint8_t>(
            Clamp8(int64_t{v} + d.zp, d.clamp_min, d.clamp_max));
      }
    }
  }
  return std::nullopt;
}

}  // namespace systole::iss
