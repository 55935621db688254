// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random legal programs for the programmable vector unit: they end, break no
// rule of docs/vpu.md, and leave all that they computed in the unified buffer.
// Two implementations that run one must agree on all bytes of its segments.
//
//   const RandomProgram p = MakeRandomProgram(*FindPreset("mini"), seed, {});
//   iss::State state(preset, 1);
//   iss::Result fault = RunOnIss(p, &state);  // p.ub, p.acc, vload, vrun
//   ... the same with another implementation; for each s of p.ub compare
//   state.ub[s.address ...] ...
#ifndef SYSTOLE_TESTS_VPU_RANDOM_PROGRAM_H_
#define SYSTOLE_TESTS_VPU_RANDOM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/iss/execute.h"
#include "sim/iss/state.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::vpu {

struct RandomOptions {
  int instructions = 150;  // about so many, loops not unrolled
  bool functions = true;   // exp2, log2, rcp, rsqrt, tanh
  // One instruction of the program faults. What the program stored before is
  // then undefined: compare cause and address only.
  bool fault = false;
};

struct RandomProgram {
  struct Bytes {
    uint64_t address;
    std::vector<uint8_t> data;
  };
  struct Rows {
    uint64_t first;
    std::vector<uint32_t> data;  // [rows][Cols]
  };

  std::string name;  // preset and seed
  std::vector<uint64_t> words;
  isa::Vload vload;  // of `words`, which lie in the first of the segments
  isa::Vrun vrun;
  // What must be there before. All bytes that the program touches are in `ub`,
  // all accumulator rows in `acc`.
  std::vector<Bytes> ub;
  std::vector<Rows> acc;

  std::string Text() const;  // disassembled, for messages
};

RandomProgram MakeRandomProgram(const Preset& preset, uint64_t seed,
                                const RandomOptions& options);

// Writes the segments and executes both descriptors. The state's log is on: a
// program that breaks a rule has left problems there. `undefined` seeds what
// vector registers hold before.
iss::Result RunOnIss(const RandomProgram& program, iss::State* state,
                     uint64_t undefined = 1);

}  // namespace systole::vpu

#endif  // SYSTOLE_TESTS_VPU_RANDOM_PROGRAM_H_
