// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Names for the descriptors and layers of a core, taken from its program.

#ifndef SYSTOLE_VERIF_WAVES_NAMES_H_
#define SYSTOLE_VERIF_WAVES_NAMES_H_

#include <cstdint>
#include <map>
#include <string>

#include "systole/program.h"

namespace systole::waves {

// A table from values of a signal to texts. Values without an entry are shown
// as numbers.
struct Names {
  std::string name;  // name of the table: descriptor, layer, flag, opcode
  int bits = 0;      // of the signals
  std::map<uint64_t, std::string> texts;
  uint64_t none = 0;  // the value without a meaning: "-"
};

// Descriptors by index: "12 matmul conv1".
Names DescriptorNames(const Program& program);
// Layers by number: "conv1".
Names LayerNames(const Program& program);
// Flags that the program uses, by number: "load to array".
Names FlagNames(const Program& program);
Names OpcodeNames();

// "conv1"; a layer without a name: "layer 3".
std::string LayerName(const Program& program, int layer);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_NAMES_H_
