// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Load, store, send, weights.

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "sim/iss/execute.h"

namespace systole::iss {
namespace {

uint64_t RoundUp(uint64_t bytes, uint64_t beat) {
  return (bytes + beat - 1) / beat * beat;
}

// Whole beats starting at `address` must end at or below the limit of a memory
// of `capacity` bytes; otherwise the fault address is the first beat that does
// not.
Result CheckMemory(const State& state, uint64_t capacity, uint64_t address,
                   uint64_t bytes) {
  const uint64_t limit = std::min(state.hbm_limit, capacity);
  if (address + bytes <= limit) return std::nullopt;
  const uint64_t last_good = limit / state.beat() * state.beat();
  return Trap{isa::Fault::kHbmRange, std::max(address, last_good)};
}

Result CheckHbm(const State& state, uint64_t address, uint64_t bytes) {
  return CheckMemory(state, state.hbm.capacity(), address, bytes);
}

// Where the repetitions of the inner loop begin in HBM.
std::vector<uint64_t> RowsOf(const isa::Send& d, const State&) {
  std::vector<uint64_t> rows(d.n2);
  for (uint64_t i = 0; i < d.n2; ++i) rows[i] = d.hbm_addr + i * d.hbm_stride2;
  return rows;
}
template <typename Dma>
std::vector<uint64_t> RowsOf(const Dma& d, const State& state) {
  std::vector<uint64_t> rows(d.n2);
  for (uint64_t i = 0; i < d.n2; ++i) {
    uint64_t offset = i * d.hbm_stride2;
    if (d.header.flags & Dma::kIndexed) {
      const uint8_t* entry = &state.ub[d.index_addr + 4 * i];
      offset =
          state.beat() * (entry[0] | uint32_t{entry[1]} << 8 |
                          uint32_t{entry[2]} << 16 | uint32_t{entry[3]} << 24);
    }
    rows[i] = d.hbm_addr + offset;
  }
  return rows;
}

// Checks the table of an indexed load or store.
Result CheckTable(const isa::Send&, const State&) { return std::nullopt; }
template <typename Dma>
Result CheckTable(const Dma& d, const State& state) {
  if ((d.header.flags & Dma::kIndexed) == 0) return std::nullopt;
  if (d.index_addr % state.beat() != 0)
    return Trap{isa::Fault::kMisaligned, d.index_addr};
  if (d.index_addr + 4 * uint64_t{d.n2} <= state.ub.size()) return std::nullopt;
  return Trap{isa::Fault::kUbRange,
              std::max<uint64_t>(d.index_addr, state.ub.size())};
}

// Walks the runs of a load, store or send; `copy(hbm address, ub address, len)`
// moves one run. capacity: bytes of the memory that the core reaches.
template <typename Dma, typename Copy>
Result Runs(const Dma& d, State* state, uint64_t capacity, uint64_t* beats,
            Copy copy) {
  const uint64_t beat = state->beat();
  if (d.len == 0 || d.n1 == 0 || d.n2 == 0)
    return Trap{isa::Fault::kIllegalDescriptor};
  for (uint64_t value :
       {d.hbm_addr, uint64_t{d.ub_addr}, d.hbm_stride1, uint64_t{d.ub_stride1},
        d.hbm_stride2, uint64_t{d.ub_stride2}}) {
    if (value % beat != 0) return Trap{isa::Fault::kMisaligned, value};
  }
  if (Result r = CheckTable(d, *state)) return r;
  state->dma_rows = RowsOf(d, *state);
  const uint64_t whole = RoundUp(d.len, beat);
  for (uint64_t i2 = 0; i2 < d.n2; ++i2) {
    for (uint64_t i1 = 0; i1 < d.n1; ++i1) {
      const uint64_t hbm = state->dma_rows[i2] + i1 * d.hbm_stride1;
      const uint64_t ub = d.ub_addr + i2 * d.ub_stride2 + i1 * d.ub_stride1;
      if (Result r = CheckMemory(*state, capacity, hbm, whole)) return r;
      if (Result r = CheckUb(*state, ub, whole)) return r;
      copy(hbm, ub, d.len);
      *beats += whole / beat;
    }
  }
  return std::nullopt;
}

// A tile of bf16 elements with rows and columns exchanged.
Tile Transposed(const std::vector<uint8_t>& stored, const Preset& preset) {
  Tile tile(stored.size());
  for (int64_t r = 0; r < preset.rows; ++r) {
    for (int64_t c = 0; c < preset.cols; ++c) {
      std::copy_n(&stored[2 * (c * preset.rows + r)], 2,
                  &tile[2 * (r * preset.cols + c)]);
    }
  }
  return tile;
}

}  // namespace

Result Execute(const isa::Load& d, State* state) {
  return Runs(d, state, state->hbm.capacity(), &state->counters.load_beats,
              [state](uint64_t hbm, uint64_t ub, uint64_t len) {
                state->hbm.Read(hbm,
                                absl::MakeSpan(state->ub).subspan(ub, len));
              });
}

Result Execute(const isa::Store& d, State* state) {
  return Runs(d, state, state->hbm.capacity(), &state->counters.store_beats,
              [state](uint64_t hbm, uint64_t ub, uint64_t len) {
                state->hbm.Write(
                    hbm, absl::MakeConstSpan(state->ub).subspan(ub, len));
              });
}

Result Execute(const isa::Send& d, State* state) {
  const Network& network = *state->network;
  const bool post = (d.header.flags & isa::Send::kLinkPost) != 0;
  const bool empty = (d.header.flags & isa::Send::kEmpty) != 0;
  if (!network.Has(d.dst_x, d.dst_y))
    return Trap{
        isa::Fault::kIllegalDescriptor, 0,
        absl::StrFormat("chip (%d, %d) is outside of the torus of %d x "
                        "%d",
                        d.dst_x, d.dst_y, network.columns, network.rows)};
  if (empty) {
    const uint64_t fields = d.hbm_addr | d.ub_addr | d.len | d.n1 | d.n2 |
                            d.hbm_stride1 | d.ub_stride1 | d.hbm_stride2 |
                            d.ub_stride2;
    if (post && fields == 0) return std::nullopt;
    return Trap{isa::Fault::kIllegalDescriptor};
  }
  SparseMemory& memory =
      *network.memories[network.Number(d.dst_x, d.dst_y, d.dst_core)];
  const uint64_t flit = static_cast<uint64_t>(
      std::min<int64_t>(4 * state->preset.chip.link_bytes, 64));
  uint64_t beats = 0;
  return Runs(d, state, state->hbm.own_bytes(), &beats,
              [&](uint64_t hbm, uint64_t ub, uint64_t len) {
                memory.Write(hbm,
                             absl::MakeConstSpan(state->ub).subspan(ub, len));
                state->counters.send_bytes += RoundUp(len, flit);
              });
}

Result Execute(const isa::Weights& d, State* state) {
  if (d.tiles == 0) return Trap{isa::Fault::kIllegalDescriptor};
  if (d.hbm_addr % state->beat() != 0)
    return Trap{isa::Fault::kMisaligned, d.hbm_addr};
  const bool transpose = (d.header.flags & isa::Weights::kTranspose) != 0;
  const uint64_t bytes = state->preset.tile_bytes();
  std::vector<uint8_t> buffer(bytes);
  for (uint64_t i = 0; i < d.tiles; ++i) {
    const uint64_t address = d.hbm_addr + i * bytes;
    if (Result r = CheckHbm(*state, address, bytes)) return r;
    state->hbm.Read(address, absl::MakeSpan(buffer));
    state->weight_fifo.push_back(transpose
                                     ? Transposed(buffer, state->preset)
                                     : Tile(buffer.begin(), buffer.end()));
    state->counters.weight_beats += bytes / state->beat();
  }
  return std::nullopt;
}

}  // namespace systole::iss
