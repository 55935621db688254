// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The registers and memories of a Verilated model built with state.vlt, bit by
// bit, sorted into structures: the targets of a fault campaign.
//
//   auto state = State::Find(preset);  // of the model made last in this thread
//   state->Turn(state->structures()[3], 1234);

#ifndef SYSTOLE_VERIF_FAULTS_STATE_H_
#define SYSTOLE_VERIF_FAULTS_STATE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/presets.h"

namespace systole::faults {

// A signal: elements of a number of bits. Each element is stored in whole
// bytes.
struct Signal {
  std::string name;  // "u_chip.u_core.u_control.u_sync.count_q"
  uint8_t* data = nullptr;
  uint64_t element_bytes = 0, element_bits = 0, elements = 0;
  uint64_t bits() const { return element_bits * elements; }
};

struct Structure {
  std::string name;  // "sync flags"
  std::vector<Signal> signals;
  uint64_t bits = 0;
};

// The structure that a signal belongs to, by its path.
std::string StructureOf(const std::string& path);

class State {
 public:
  // kFailedPrecondition: no model exposes its state. In a chip with two cores,
  // the state is that of core 0 and its memory controller. Structures that the
  // chip cannot use, because it lacks a scalar unit or a second core, are left
  // out.
  static absl::StatusOr<State> Find(const Preset& preset);

  const std::vector<Structure>& structures() const { return structures_; }
  // The complete memory of the chip's models, for both cores: signals, and
  // pointers, which are equal in every copy of the process.
  const std::vector<absl::Span<const uint8_t>>& everything() const {
    return everything_;
  }

  // Flips bit 0 .. bits - 1 of the structure.
  void Turn(const Structure& structure, uint64_t bit) const;
  // "u_chip.u_core.u_control.u_sync.count_q[3] bit 7"
  static std::string Describe(const Structure& structure, uint64_t bit);
  // The memory word or register that contains a bit.
  static std::pair<std::string, uint64_t> WordOf(const Structure& structure,
                                                 uint64_t bit);

 private:
  std::vector<Structure> structures_;  // by name
  std::vector<absl::Span<const uint8_t>> everything_;
};

// A build with state.vlt calls it with the size of its model (model_state.cc).
bool RegisterState(const char* preset, uint64_t bytes);

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_STATE_H_
