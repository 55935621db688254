// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clocks the lockstep module (see lockstep.py), once without and once with each
// seeded fault. Prints a line for each run: for each comparison the first cycle
// in which netlist and RTL differed, or -1.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "Vlockstep.h"
#include "verilated.h"

namespace {

// The first cycle with a difference, for each bit of mismatch_o.
std::vector<int> Run(int fault, int cycles, int seed) {
  VerilatedContext context;
  context.randSeed(seed);
  auto model = std::make_unique<Vlockstep>(&context);
  model->fault_i = fault;

  std::vector<int> first(sizeof(model->mismatch_o) * 8, -1);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    // The inputs change at the falling edge, the outputs are compared before
    // the rising one.
    model->clk_i = 0;
    model->eval();
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i] < 0 && (model->mismatch_o >> i & 1)) first[i] = cycle;
    }
    model->clk_i = 1;
    model->eval();
  }
  model->final();
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s cycles seed faults\n", argv[0]);
    return 2;
  }
  for (int fault = 0; fault <= std::atoi(argv[3]); ++fault) {
    for (int cycle : Run(fault, std::atoi(argv[1]), std::atoi(argv[2]))) {
      std::printf("%d ", cycle);
    }
    std::printf("\n");
  }
  return 0;
}
