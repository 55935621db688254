// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Names of what a core runs, from its program.

#ifndef SYSTOLE_VERIF_WAVES_NAMES_H_
#define SYSTOLE_VERIF_WAVES_NAMES_H_

#include <cstdint>
#include <map>
#include <string>

#include "systole/program.h"

namespace systole::waves {

// A table: value of a signal to text; values that it lacks are shown as they
// are.
struct Names {
  std::string name;  // of the table: descriptor, layer, flag, opcode
  int bits = 0;      // of the signals
  std::map<uint64_t, std::string> texts;
  uint64_t none = 0;  // this value stands for nothing: "-"
};

// By index: "12 matmul conv1".
Names DescriptorNames(const Program& program);
// By number: "conv1".
Names LayerNames(const Program& program);
// By number, of the flags that the program uses: "load to array".
Names FlagNames(const Program& program);
Names OpcodeNames();

// "conv1"; a layer without a name: "layer 3".
std::string LayerName(const Program& program, int layer);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_NAMES_H_
