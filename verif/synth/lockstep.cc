// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clocks the lockstep module (see lockstep.py), once without a fault and once
// with each seeded fault. Prints a line for each run: for each comparison, the
// first cycle in which netlist and RTL differed, or -1. A run with a fault ends
// when all netlists with the fault have differed.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "Vlockstep.h"
#include "verilated.h"

namespace {

// The first cycle with a difference, for each bit of mismatch_o. If `awaited`
// is not 0, the run ends once all its bits have differed.
std::vector<int> Run(int fault, int cycles, int seed, uint64_t awaited) {
  VerilatedContext context;
  context.randSeed(seed);
  auto model = std::make_unique<Vlockstep>(&context);
  model->fault_i = fault;

  std::vector<int> first(sizeof(model->mismatch_o) * 8, -1);
  uint64_t seen = 0;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    // Inputs change at the falling edge. Outputs are compared before the rising
    // one.
    model->clk_i = 0;
    model->eval();
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i] < 0 && (model->mismatch_o >> i & 1)) {
        first[i] = cycle;
        seen |= uint64_t{1} << i;
      }
    }
    if (awaited != 0 && (awaited & ~seen) == 0) break;
    model->clk_i = 1;
    model->eval();
  }
  model->final();
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s cycles seed faults-of-netlist...\n",
                 argv[0]);
    return 2;
  }
  std::vector<int> faults;
  for (int i = 3; i < argc; ++i) faults.push_back(std::atoi(argv[i]));
  const int most =
      faults.empty() ? 0 : *std::max_element(faults.begin(), faults.end());
  for (int fault = 0; fault <= most; ++fault) {
    uint64_t awaited = 0;
    for (size_t i = 0; i < faults.size(); ++i) {
      if (fault > 0 && fault <= faults[i]) awaited |= uint64_t{1} << i;
    }
    for (int cycle :
         Run(fault, std::atoi(argv[1]), std::atoi(argv[2]), awaited)) {
      std::printf("%d ", cycle);
    }
    std::printf("\n");
  }
  return 0;
}
