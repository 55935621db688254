// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Writes of the HBM front end: a sticky round robin among the clients, which hands on what the chosen one writes.
// Combinational: ready_o follows ready_i. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_write_port
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
#(
    parameter int unsigned NumWr = 2,
    parameter int unsigned AddrBits = 36,
    parameter int unsigned D = 32,  // bytes of a beat
    parameter logic [NumWr-1:0][7:0] Burst = {NumWr{8'd64}},
    parameter bit Ecc = 1'b0
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,

    // Clients.
    input  logic [NumWr-1:0]               valid_i,
    output logic [NumWr-1:0]               ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [NumWr-1:0][AddrBits-1:0] addr_i,  // byte address; bits inside the beat and beyond the capacity are ignored
    // verilator lint_on UNUSEDSIGNAL
    input  logic [NumWr-1:0][D*8-1:0]      data_i,
    input  logic [NumWr-1:0][D-1:0]        mask_i,  // 1: write the byte
    input  logic [NumWr-1:0]               hold_i,  // clients that a test stalls

    // The chosen write.
    output logic                           valid_o,
    input  logic                           ready_i,
    output beat_t                          beat_o,
    output logic [D*8-1:0]                 data_o,
    output logic [D-1:0]                   mask_o,
    output logic                           partial_o  // with ECC: it writes some but not all bytes of a burst
);
  localparam int unsigned IdxBits = NumWr > 1 ? $clog2(NumWr) : 1;
  localparam int unsigned BeatShift = $clog2(D);

  logic [IdxBits-1:0] idx;
  logic [NumWr-1:0]   partials;
  beat_t              beats[NumWr];

  systole_hbm_arb #(.N(NumWr), .Burst(Burst)) u_arb (
      .clk_i, .rst_ni, .req_i(valid_i & ~hold_i), .any_o(valid_o), .idx_o(idx), .accept_i(ready_i)
  );

  always_comb begin
    ready_o      = '0;
    ready_o[idx] = ready_i;
  end

  always_comb begin
    partials = '0;
    for (int unsigned i = 0; i < NumWr; i++) begin
      beats[i] = addr_i[i][BeatShift+:BeatBits];
      for (int unsigned l = 0; l < D / BurstBytes; l++) begin
        if (Ecc) partials[i] |= mask_i[i][l*BurstBytes+:BurstBytes] != '0 && mask_i[i][l*BurstBytes+:BurstBytes] != '1;
      end
    end
    partial_o = partials[idx];
    beat_o    = beats[idx];
  end

  always_comb begin
    data_o = data_i[0];
    mask_o = mask_i[0];
    for (int unsigned i = 1; i < NumWr; i++) begin
      if (idx == IdxBits'(i)) begin
        data_o = data_i[i];
        mask_o = mask_i[i];
      end
    end
  end

  // Check: clients hold a request until it is accepted.
  logic [NumWr-1:0]               held_q, dropped;
  logic [NumWr-1:0][AddrBits-1:0] addr_q;
  always_comb begin
    for (int unsigned i = 0; i < NumWr; i++) dropped[i] = held_q[i] && !(valid_i[i] && addr_i[i] == addr_q[i]);
  end
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni ? valid_i & ~ready_o : '0;
    addr_q <= addr_i;
    if (rst_ni) a_hold : assert (dropped == '0);
  end
endmodule
