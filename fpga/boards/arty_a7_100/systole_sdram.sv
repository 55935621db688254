// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Block RAM with the ports of the DRAM controller that LiteDRAM generates for other boards: 256 KiB, again and again in the address space.
// One burst at a time. Not run here. Docs: docs/fpga.md.

module systole_sdram #(
    parameter int unsigned Beats = 16384
) (
    input  logic         clk_i,
    input  logic         rst_i,
    output logic         ready_o,

    input  logic         axi_awvalid_i,
    output logic         axi_awready_o,
    input  logic [24:0]  axi_awaddr_i,
    input  logic [7:0]   axi_awlen_i,
    input  logic [2:0]   axi_awsize_i,
    input  logic [1:0]   axi_awburst_i,
    input  logic         axi_awid_i,
    input  logic         axi_wvalid_i,
    output logic         axi_wready_o,
    input  logic [127:0] axi_wdata_i,
    input  logic [15:0]  axi_wstrb_i,
    input  logic         axi_wlast_i,
    output logic         axi_bvalid_o,
    input  logic         axi_bready_i,
    output logic [1:0]   axi_bresp_o,
    output logic         axi_bid_o,
    input  logic         axi_arvalid_i,
    output logic         axi_arready_o,
    input  logic [24:0]  axi_araddr_i,
    input  logic [7:0]   axi_arlen_i,
    input  logic [2:0]   axi_arsize_i,
    input  logic [1:0]   axi_arburst_i,
    input  logic         axi_arid_i,
    output logic         axi_rvalid_o,
    input  logic         axi_rready_i,
    output logic [127:0] axi_rdata_o,
    output logic [1:0]   axi_rresp_o,
    output logic         axi_rlast_o,
    output logic         axi_rid_o,

    output logic [12:0]  sdram_a_o,
    output logic [1:0]   sdram_ba_o,
    output logic         sdram_cs_n_o,
    output logic         sdram_ras_n_o,
    output logic         sdram_cas_n_o,
    output logic         sdram_we_n_o,
    output logic         sdram_cke_o,
    output logic [1:0]   sdram_dm_o,
    input  logic [15:0]  sdram_dq_i,
    output logic [15:0]  sdram_dq_o,
    output logic [15:0]  sdram_dq_t_o
);
  localparam int unsigned AddrBits = $clog2(Beats);

  typedef enum logic [2:0] {Idle, Write, Answer, Fetch, Read} state_e;
  state_e              state_q;
  logic [AddrBits-1:0] at_q;
  logic [7:0]          left_q;

  assign ready_o       = !rst_i;
  assign axi_awready_o = state_q == Idle;
  assign axi_arready_o = state_q == Idle && !axi_awvalid_i;
  assign axi_wready_o  = state_q == Write;
  assign axi_bvalid_o  = state_q == Answer;
  assign axi_rvalid_o  = state_q == Read;
  assign axi_rlast_o   = left_q == '0;
  assign {axi_bresp_o, axi_bid_o, axi_rresp_o, axi_rid_o} = '0;
  assign {sdram_a_o, sdram_ba_o, sdram_cs_n_o, sdram_ras_n_o, sdram_cas_n_o, sdram_we_n_o, sdram_cke_o, sdram_dm_o} = '0;
  assign {sdram_dq_o, sdram_dq_t_o} = '1;

  systole_prim_ram_1r1w #(.Width(128), .Depth(Beats), .LaneBits(8)) u_ram (
      .clk_i, .we_i(axi_wvalid_i && axi_wready_o ? axi_wstrb_i : '0), .waddr_i(at_q), .wdata_i(axi_wdata_i),
      .re_i(state_q == Fetch), .raddr_i(at_q), .rdata_o(axi_rdata_o)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle: begin
          at_q   <= axi_awvalid_i ? axi_awaddr_i[4+:AddrBits] : axi_araddr_i[4+:AddrBits];
          left_q <= axi_arlen_i;
          if (axi_awvalid_i) state_q <= Write;
          else if (axi_arvalid_i) state_q <= Fetch;
        end
        Write: if (axi_wvalid_i) begin
          at_q <= at_q + 1'b1;
          if (axi_wlast_i) state_q <= Answer;
        end
        Answer: if (axi_bready_i) state_q <= Idle;
        Fetch: state_q <= Read;
        Read: if (axi_rready_i) begin
          at_q    <= at_q + 1'b1;
          left_q  <= left_q - 8'd1;
          state_q <= axi_rlast_o ? Idle : Fetch;
        end
        default: state_q <= Idle;
      endcase
    end
  end
endmodule
