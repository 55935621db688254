// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The walk of the systolic data setup: docs/isa.md, "matmul".
#ifndef SYSTOLE_SIM_ISS_GATHER_H_
#define SYSTOLE_SIM_ISS_GATHER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sim/iss/execute.h"

namespace systole::iss {

class Gather {
 public:
  Gather(const isa::Matmul& d, const State& state)
      : d_(d), state_(state), element_(state.preset.element_bytes()) {}

  // Fills [n*ny*nx][Rows elements] with the vectors of pass (p1, p0).
  Result Pass(int64_t p1, int64_t p0, uint8_t* a) const {
    const int64_t bytes = state_.preset.rows * element_;
    for (int64_t i = 0; i < d_.n; ++i) {
      for (int64_t y = 0; y < d_.ny; ++y) {
        for (int64_t x = 0; x < d_.nx; ++x, a += bytes) {
          uint8_t* to = a;
          for (size_t s = 0; s < d_.seg_len.size(); ++s) {
            const int64_t len = d_.seg_len[s] * element_;
            if (Result r =
                    Window(i, y * d_.sy + d_.seg_dy[s] + p1 * d_.t1_dy,
                           int64_t{d_.seg_dx[s]} + x * d_.sx + p0 * d_.t0_dx,
                           len, to)) {
              return r;
            }
            to += len;
          }
          std::fill(to, a + bytes, uint8_t{0});
        }
      }
    }
    return std::nullopt;
  }

 private:
  // Bytes first to first + len - 1 of a line; padding outside the line.
  Result Window(int64_t i, int64_t line, int64_t first, int64_t len,
                uint8_t* to) const {
    int64_t from = 0, until = 0;  // bytes of the window that exist
    if (line >= 0 && line < d_.lines) {
      from = std::clamp<int64_t>(-first, 0, len);
      until = std::clamp<int64_t>(d_.line_bytes - first, from, len);
    }
    if (from < until) {
      const uint64_t address =
          d_.ub_base + i * d_.img_pitch + line * d_.pitch + first + from;
      if (Result r = CheckWindow(state_, address, until - from)) return r;
      std::memcpy(to + from, &state_.ub[address], until - from);
    }
    std::fill(to, to + from, static_cast<uint8_t>(d_.pad));
    std::fill(to + until, to + len, static_cast<uint8_t>(d_.pad));
    return std::nullopt;
  }

  const isa::Matmul& d_;
  const State& state_;
  const int64_t element_;  // bytes
};

// Whether a field has a value that is illegal for every cell.
inline bool IsIllegal(const isa::Matmul& d, const Preset& preset) {
  for (uint32_t count : {d.lines, d.line_bytes, d.n, d.ny, d.nx, d.t0, d.t1}) {
    if (count == 0) return true;
  }
  uint32_t used = 0;
  for (size_t s = 0; s < d.seg_len.size(); ++s) {
    if (static_cast<int64_t>(s) >= preset.segments && d.seg_len[s] != 0)
      return true;
    used += d.seg_len[s];
  }
  return used == 0 || used > preset.rows;
}

// Takes the next tile from the FIFO for a pass. If no earlier descriptor pushes
// one, the array would wait for ever.
inline Result TakeTile(int64_t pass, State* state) {
  if (state->weight_fifo.empty())
    return Trap{isa::Fault::kWatchdog, static_cast<uint64_t>(pass)};
  state->tile = std::move(state->weight_fifo.front());
  state->weight_fifo.pop_front();
  return std::nullopt;
}

// Matmul of the bf16 cell.
Result ExecuteBf16(const isa::Matmul& d, State* state);

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_GATHER_H_
