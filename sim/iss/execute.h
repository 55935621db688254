// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The effect of one descriptor, after docs/isa.md. Flags, fetch and dispatch
// are in iss.cc.
#ifndef SYSTOLE_SIM_ISS_EXECUTE_H_
#define SYSTOLE_SIM_ISS_EXECUTE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "sim/iss/state.h"
#include "systole/gen/isa.h"

namespace systole::iss {

// The reason why a descriptor cannot continue. The effects before the offending
// access remain.
struct Trap {
  isa::Fault cause;
  uint64_t address = 0;     // or the illegal value
  std::string detail = {};  // what code and address do not say; may be empty
};
using Result = std::optional<Trap>;  // nullopt: executed

// Checks are made in this order: illegal, misaligned, accumulator range, then
// addresses in the order of the walk.
Result Execute(const isa::Load& d, State* state);
Result Execute(const isa::Store& d, State* state);
Result Execute(const isa::Send& d, State* state);  // without its post
Result Execute(const isa::Weights& d, State* state);
Result Execute(const isa::Tiles& d, State* state);
Result Execute(const isa::Matmul& d, State* state);
Result Execute(const isa::Requant& d, State* state);
Result Execute(const isa::Pool& d, State* state);
Result Execute(const isa::Add& d, State* state);
Result Execute(const isa::Mul& d, State* state);
Result Execute(const isa::Table& d, State* state);
Result Execute(const isa::Vload& d, State* state);
Result Execute(const isa::Vrun& d, State* state);

// Faults if [address, address + bytes) is outside a memory of `size` bytes; the
// fault address is the first byte that does not exist.
inline Result CheckUb(const State& state, uint64_t address, uint64_t bytes) {
  const uint64_t size = state.ub.size();
  if (address + bytes <= size) return std::nullopt;
  return Trap{isa::Fault::kUbRange, address > size ? address : size};
}

// The same for a vector that is accessed as a whole; the fault address is its
// start.
inline Result CheckWindow(const State& state, uint64_t address,
                          uint64_t bytes) {
  if (address + bytes <= state.ub.size()) return std::nullopt;
  return Trap{isa::Fault::kUbRange, address};
}

// Accumulator rows `first` to `first + rows - 1` must be in one of the two
// banks.
inline Result CheckAccRows(const State& state, int64_t first, int64_t rows) {
  const int64_t bank_rows = state.preset.acc_bank_rows();
  if (first < state.preset.acc_rows && first % bank_rows + rows <= bank_rows)
    return std::nullopt;
  return Trap{isa::Fault::kAccRange, static_cast<uint64_t>(first)};
}

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_EXECUTE_H_
