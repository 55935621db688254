// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clocks the lockstep module (see lockstep.py) and prints, for each comparison
// in it, the first cycle in which netlist and RTL differed, or -1.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "Vlockstep.h"
#include "verilated.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s cycles seed\n", argv[0]);
    return 2;
  }
  const int cycles = std::atoi(argv[1]);
  VerilatedContext context;
  context.randSeed(std::atoi(argv[2]));
  auto model = std::make_unique<Vlockstep>(&context);

  std::vector<int> first(sizeof(model->mismatch_o) * 8, -1);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    // The inputs change at the falling edge, the outputs are compared before
    // the rising one.
    model->clk_i = 0;
    model->eval();
    const auto* words = reinterpret_cast<const uint32_t*>(&model->mismatch_o);
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i] < 0 && (words[i / 32] >> (i % 32) & 1)) first[i] = cycle;
    }
    model->clk_i = 1;
    model->eval();
  }
  model->final();
  for (int cycle : first) std::printf("%d\n", cycle);
  return 0;
}
