// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Joins the memory ports of a Verilated systole_top to a Device. Call this
// after each rising clock edge has been evaluated, from the first one in reset
// on:
//
//   dram::TickAxi(device, &dut);
//
// The master's outputs come from registers. They hold their values until the
// next edge, whatever the memory answers.

#ifndef SYSTOLE_VERIF_DRAM_MODEL_AXI_H_
#define SYSTOLE_VERIF_DRAM_MODEL_AXI_H_

#include <cstring>

#include "verif/dram_model/device.h"

namespace systole::dram {

template <typename Model>
void TickAxi(Device* device, Model* dut) {
  AxiIn in;
  AxiOut out;
  in.aw = {dut->dram_awvalid_o != 0, dut->dram_awaddr_o, dut->dram_awlen_o,
           dut->dram_awsize_o, dut->dram_awburst_o};
  in.ar = {dut->dram_arvalid_o != 0, dut->dram_araddr_o, dut->dram_arlen_o,
           dut->dram_arsize_o, dut->dram_arburst_o};
  in.wvalid = dut->dram_wvalid_o;
  in.wlast = dut->dram_wlast_o;
  in.wdata = &dut->dram_wdata_o;
  in.wstrb = &dut->dram_wstrb_o;
  in.bready = dut->dram_bready_o;
  in.rready = dut->dram_rready_o;
  device->Tick(in, &out);
  dut->dram_awready_i = out.awready;
  dut->dram_wready_i = out.wready;
  dut->dram_bvalid_i = out.bvalid;
  dut->dram_bresp_i = out.bresp;
  dut->dram_arready_i = out.arready;
  dut->dram_rvalid_i = out.rvalid;
  dut->dram_rresp_i = out.rresp;
  dut->dram_rlast_i = out.rlast;
  if (out.rvalid)
    std::memcpy(&dut->dram_rdata_i, out.rdata, sizeof(dut->dram_rdata_i));
}

}  // namespace systole::dram

#endif  // SYSTOLE_VERIF_DRAM_MODEL_AXI_H_
