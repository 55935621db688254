// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The effect of one descriptor, from docs/isa.md. Flags, fetch and dispatch are
// in iss.cc.
#ifndef SYSTOLE_SIM_ISS_EXECUTE_H_
#define SYSTOLE_SIM_ISS_EXECUTE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "sim/iss/state.h"
#include "systole/gen/isa.h"

namespace systole::iss {

// Why a descriptor cannot go on. What it did before the offending access stays
// done.
struct Trap {
  isa::Fault cause;
  uint64_t address = 0;     // or the value that was wrong
  std::string detail = {};  // what code and address do not say; may be empty
};
using Result = std::optional<Trap>;  // nothing: executed

// Checks come in the order illegal, misaligned, accumulator range, then
// addresses as the walk reaches them.
Result Execute(const isa::Load& d, State* state);
Result Execute(const isa::Store& d, State* state);
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

// [address, address + bytes) outside a memory of `size` bytes: the first byte
// that does not exist.
inline Result CheckUb(const State& state, uint64_t address, uint64_t bytes) {
  const uint64_t size = state.ub.size();
  if (address + bytes <= size) return std::nullopt;
  return Trap{isa::Fault::kUbRange, address > size ? address : size};
}

// The same for a vector that is read or written as a whole: tells where it
// begins.
inline Result CheckWindow(const State& state, uint64_t address,
                          uint64_t bytes) {
  if (address + bytes <= state.ub.size()) return std::nullopt;
  return Trap{isa::Fault::kUbRange, address};
}

// Accumulator rows `first` .. `first + rows - 1` must lie in one of the two
// banks.
inline Result CheckAccRows(const State& state, int64_t first, int64_t rows) {
  const int64_t bank_rows = state.preset.acc_bank_rows();
  if (first < state.preset.acc_rows && first % bank_rows + rows <= bank_rows)
    return std::nullopt;
  return Trap{isa::Fault::kAccRange, static_cast<uint64_t>(first)};
}

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_EXECUTE_H_
