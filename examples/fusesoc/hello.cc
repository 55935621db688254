// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads what the core says of itself through its AXI4-Lite registers
// (docs/reference/csr.md).
#include <cstdint>
#include <cstdio>

#include "Vhello_soc.h"
#include "verilated.h"

namespace {

void Cycle(Vhello_soc& soc) {
  soc.clk_i = 0;
  soc.eval();
  soc.clk_i = 1;
  soc.eval();
}

// 0 after 100 cycles without an answer.
uint32_t Read(Vhello_soc& soc, uint16_t address) {
  soc.read_addr_i = address;
  soc.read_valid_i = 1;
  for (int cycle = 0; cycle < 100; ++cycle) {
    soc.clk_i = 0;
    soc.eval();
    const bool taken = soc.read_valid_i && soc.read_ready_o;
    const bool answered = soc.data_valid_o;
    const uint32_t data = soc.data_o;
    soc.clk_i = 1;
    soc.eval();
    if (taken) soc.read_valid_i = 0;
    if (answered) return data;
  }
  return 0;
}

}  // namespace

int main() {
  Vhello_soc soc;
  soc.rst_ni = 0;
  soc.read_valid_i = 0;
  for (int i = 0; i < 4; ++i) Cycle(soc);
  soc.rst_ni = 1;
  const uint32_t id = Read(soc, 0x000), preset = Read(soc, 0x008);
  std::printf("id %c%c%c%c, ISA version %u, preset %u\n", id >> 24,
              id >> 16 & 255, id >> 8 & 255, id & 255, Read(soc, 0x004),
              preset);
  return id == 0x53595354 && preset == 0 ? 0 : 1;
}
