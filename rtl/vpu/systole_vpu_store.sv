// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Store unit after its instruction queue (systole_vpu_unit): converts one row per cycle and queues it for the unified
// buffer. A row starts only if the queue has room for it. Latency: four cycles from start_i to the write request. A
// halt travels with a row, or as a row that is not written, and is complete when everything before it is.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_store
  import systole_presets_pkg::*;
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini),
    localparam int unsigned Width = Cfg.Cols * 32,
    localparam int unsigned Bytes = Cfg.Cols * 4,
    localparam int unsigned LaneBits = $clog2(Cfg.Cols + 1)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  freeze_i,

    output logic                  go_o,
    input  logic                  start_i,
    input  logic                  first_i,
    input  logic                  halt_i,      // a program ends with this row
    // verilator lint_off UNUSEDSIGNAL
    input  uop_t                  uop_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [Width-1:0]      operand_i,   // two cycles after start_i
    output logic                  stored_o,    // no row is in flight
    output logic                  halted_o,    // pulse: a halt is complete
    output logic [LaneBits-1:0]   nan_o,       // NaNs in the row converted two cycles ago
    output logic [LaneBits-1:0]   inf_o,       // infinities in that row

    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [UbAddrBits-1:0] wr_addr_o,
    output logic [Width-1:0]      wr_data_o,
    output logic [Bytes-1:0]      wr_mask_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Depth = 8;  // a row takes six cycles from its start until its credit returns
  localparam int unsigned LenBits = $clog2(Bytes) + 1;
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned Group = 8;  // lanes per inner loop: short loops are unrolled, so their selects are constant

  // A row on its way to the queue.
  typedef struct packed {
    logic                  valid;
    vpu_op_e               op;
    logic                  halt;
    logic [LenBits-1:0]    len;
    logic [UbAddrBits-1:0] addr;
  } step_t;

  step_t                 fetch_q, convert_q, push_q;  // operand requested; in conversion; converted
  logic                  written, room, queue_valid, halt, write;
  logic [LenBits-1:0]    wr_len;
  logic [31:0]           address, next_q;
  logic [CountBits-1:0]  queued, credits;
  logic [Width-1:0]      row_q;

  assign address = first_i ? uop_i.scalar[0] : next_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      fetch_q <= '{valid: 1'b1, op: uop_i.op, halt: halt_i, len: uop_i.scalar[2][LenBits-1:0], addr: address[UbAddrBits-1:0]};
      next_q  <= address + uop_i.scalar[1];
    end
    if (fetch_q.valid) convert_q <= fetch_q;
    if (convert_q.valid) push_q <= convert_q;
    fetch_q.valid   <= rst_ni && start_i;
    convert_q.valid <= rst_ni && fetch_q.valid;
    push_q.valid    <= rst_ni && convert_q.valid;
  end

  systole_credit #(.Credits(Depth)) u_credit (
      .clk_i,
      .rst_ni,
      .take_i (start_i),
      .give_i (written),
      .avail_o(go_o),
      .idle_o (stored_o),
      .count_o(credits)
  );

  // Conversion, and the counts of NaNs and infinities. Words and lanes are arrays, for vectorisation.
  always_ff @(posedge clk_i) begin : convert
    logic [31:0]      lane [Cols], word [Cols];
    logic [31:0]      nan_q [Cols], inf_q [Cols];  // 1 for an element that counts
    logic [31:0]      count, nans, infs;
    logic [Width-1:0] row;
    nans = '0;
    infs = '0;
    if (push_q.valid && push_q.op inside {VopSt32, VopSt16}) begin
      for (int unsigned c = 0; c < Cols; c++) begin
        nans += nan_q[c];
        infs += inf_q[c];
      end
    end
    nan_o <= nans[LaneBits-1:0];
    inf_o <= infs[LaneBits-1:0];
    if (convert_q.valid) begin
      row   = operand_i;
      count = 32'd0;
      for (int unsigned g = 0; g < Cols / Group; g++) begin
        for (int unsigned i = 0; i < Group; i++) lane[g*Group+i] = operand_i[(g*Group+i)*32+:32];
      end
      if (convert_q.op == VopSt32) begin
        count = 32'(convert_q.len) >> 2;
      end else begin
        if (convert_q.op inside {VopSt16, VopSt16h}) begin
          count = 32'(convert_q.len) >> 1;
          if (convert_q.op == VopSt16) for (int unsigned c = 0; c < Cols; c++) lane[c] = to_bf16(lane[c]);
          for (int unsigned c = 0; c < Cols / 2; c++) word[c] = lane[2*c] >> 16 | (lane[2*c+1] & 32'hFFFF_0000);
          for (int unsigned c = Cols / 2; c < Cols; c++) word[c] = '0;
        end else begin
          for (int unsigned c = 0; c < Cols / 4; c++) begin
            word[c] = (lane[4*c] & 32'hFF) | (lane[4*c+1] & 32'hFF) << 8 | (lane[4*c+2] & 32'hFF) << 16 | lane[4*c+3] << 24;
          end
          for (int unsigned c = Cols / 4; c < Cols; c++) word[c] = '0;
        end
        for (int unsigned g = 0; g < Cols / Group; g++) begin
          for (int unsigned i = 0; i < Group; i++) row[(g*Group+i)*32+:32] = word[g*Group+i];
        end
      end
      if (convert_q.op inside {VopSt32, VopSt16}) begin
        for (int unsigned c = 0; c < Cols; c++) begin
          nan_q[c] = 32'(lane[c] << 1 > 32'hFF00_0000 && c < count);
          inf_q[c] = 32'(lane[c] << 1 == 32'hFF00_0000 && c < count);
        end
      end
      row_q <= row;
    end
  end

  systole_fifo #(
      .Width(2 + LenBits + UbAddrBits + Width),
      .Depth(Depth)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(push_q.valid),
      .ready_o(room),
      .data_i ({push_q.halt, push_q.op != VopHalt, push_q.len, push_q.addr, row_q}),
      .valid_o(queue_valid),
      .ready_i(written),
      .data_o ({halt, write, wr_len, wr_addr_o, wr_data_o}),
      .count_o(queued)
  );

  assign wr_valid_o = queue_valid && write && !freeze_i;
  assign halted_o   = written && halt;
  assign wr_mask_o  = wr_valid_o ? ~({Bytes{1'b1}} << wr_len) : '0;
  assign written    = queue_valid && !freeze_i && (wr_ready_i || !write);

  // Checks: the queue has room for every row; writes stay inside the unified buffer; lengths are legal.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!push_q.valid || room);
      a_credits : assert (32'(queued) + 32'(credits) <= Depth);
      a_range : assert (!wr_valid_o || 32'(wr_addr_o) + 32'(wr_len) <= Cfg.UbBytes);
      a_len : assert (!wr_valid_o || (wr_len != '0 && 32'(wr_len) <= Bytes));
    end
  end
endmodule
