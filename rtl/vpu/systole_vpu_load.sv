// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Load unit: requests one row per cycle from the unified buffer or the accumulators, converts the data two cycles after
// the grant, and writes it into its register bank one cycle later. Lanes that are not loaded become 0. A word of lds is
// not written to a bank.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_load
  import systole_presets_pkg::*;
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini),
    localparam int unsigned Width = Cfg.Cols * 32
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   freeze_i,

    // From systole_vpu_unit.
    input  logic                   want_i,
    output logic                   go_o,
    input  logic                   first_i,
    input  logic                   last_i,
    input  place_t                 place_i,
    // verilator lint_off UNUSEDSIGNAL
    input  uop_t                   uop_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                   loaded_o,  // pulse: the last row of an instruction is requested

    output logic                   ub_valid_o,
    input  logic                   ub_ready_i,
    output logic [UbAddrBits-1:0]  ub_addr_o,
    output logic [31:0]            ub_bytes_o,
    input  logic [Width-1:0]       ub_data_i,
    output logic                   acc_valid_o,
    input  logic                   acc_ready_i,
    output logic [AccAddrBits-1:0] acc_row_o,
    input  logic signed [31:0]     acc_data_i [Cfg.Cols],

    output write_t                 soon_o,    // value of write_o in the next cycle
    output write_t                 write_o,
    output logic [Width-1:0]       wdata_o,
    output logic                   word_o     // lane 0 of wdata_o is the word of an lds
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned LaneBits = $clog2(Cols) + 1;
  localparam int unsigned Group = 8;  // lanes per inner loop: short loops are unrolled, so their selects are constant

  // Request in flight; its data arrives two cycles later.
  typedef struct packed {
    logic                valid;
    vpu_op_e             op;
    logic [2:0]          number;
    place_t              place;
    logic [LaneBits-1:0] lanes;
  } tag_t;

  tag_t        tag, d1_q, d2_q;
  logic [31:0] address, next_q, bytes;
  logic        acc;

  assign acc         = uop_i.op == VopLdacc;
  assign address     = first_i ? uop_i.scalar[0] : next_q;
  assign bytes       = uop_i.scalar[2];
  assign ub_valid_o  = want_i && !acc && !freeze_i;
  assign ub_addr_o   = address[UbAddrBits-1:0];
  assign ub_bytes_o  = bytes;
  assign acc_valid_o = want_i && acc && !freeze_i;
  assign acc_row_o   = address[AccAddrBits-1:0];
  assign go_o        = !freeze_i && (acc ? acc_ready_i : ub_ready_i);
  assign loaded_o    = want_i && go_o && last_i;

  always_comb begin
    tag.valid  = want_i && go_o;
    tag.op     = uop_i.op;
    tag.number = uop_i.d[2:0];
    tag.place  = place_i;
    unique case (uop_i.op)
      VopLd32, VopLds: tag.lanes = LaneBits'(bytes >> 2);
      VopLd16: tag.lanes = LaneBits'(bytes >> 1);
      default: tag.lanes = LaneBits'(bytes);
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (tag.valid) begin
      next_q <= address + uop_i.scalar[1];
      d1_q   <= tag;
    end
    if (d1_q.valid) d2_q <= d1_q;
    d1_q.valid    <= rst_ni && tag.valid;
    d2_q.valid    <= rst_ni && d1_q.valid;
    write_o       <= soon_o;
    word_o        <= rst_ni && d2_q.valid && d2_q.op == VopLds;
  end

  assign soon_o = '{valid: rst_ni && d2_q.valid && d2_q.op != VopLds, number: d2_q.number, place: d2_q.place};

  // Conversion. Words and lanes are arrays, for vectorisation.
  always_ff @(posedge clk_i) begin : convert
    logic [31:0]      word [Cols], lane [Cols];
    logic [Width-1:0] row;
    if (d2_q.valid) begin
      for (int unsigned g = 0; g < Cols / Group; g++) begin
        for (int unsigned i = 0; i < Group; i++) word[g*Group+i] = ub_data_i[(g*Group+i)*32+:32];
      end
      unique case (d2_q.op)
        VopLd16: begin
          for (int unsigned c = 0; c < Cols / 2; c++) begin
            lane[2*c]   = word[c] << 16;
            lane[2*c+1] = word[c] & 32'hFFFF_0000;
          end
        end
        VopLd8: begin
          for (int unsigned c = 0; c < Cols / 4; c++) begin
            lane[4*c]   = 32'(signed'(word[c][7:0]));
            lane[4*c+1] = 32'(signed'(word[c][15:8]));
            lane[4*c+2] = 32'(signed'(word[c][23:16]));
            lane[4*c+3] = 32'(signed'(word[c][31:24]));
          end
        end
        VopLdacc: for (int unsigned c = 0; c < Cols; c++) lane[c] = acc_data_i[c];
        default: for (int unsigned c = 0; c < Cols; c++) lane[c] = word[c];
      endcase
      for (int unsigned c = 0; c < Cols; c++) lane[c] = c < 32'(d2_q.lanes) ? lane[c] : 32'd0;
      for (int unsigned g = 0; g < Cols / Group; g++) begin
        for (int unsigned i = 0; i < Group; i++) row[(g*Group+i)*32+:32] = lane[g*Group+i];
      end
      wdata_o <= row;
    end
  end

  // Checks: requests stay inside the memories; the number of lanes is legal.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_ub : assert (!ub_valid_o || 64'(address) + 64'(bytes) <= 64'(Cfg.UbBytes));
      a_acc : assert (!acc_valid_o || address < Cfg.AccRows);
      a_lanes : assert (!tag.valid || (tag.lanes != '0 && 32'(tag.lanes) <= Cols));
    end
  end
endmodule
