// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Accumulators: AccRows rows of Cols int32 in two banks (upper row bit). The MXU writes or adds (saturating) one row a cycle and is
// never refused; the vector unit reads any row whose bank's read port the MXU does not need. Read data: two cycles after the
// transfer. Docs: docs/accumulators.md, docs/numerics.md. Test: tests/rtl/mxu.

module systole_accumulators
  import systole_presets_pkg::*;
#(
    parameter cfg_t Cfg = preset(PresetNano)
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     clear_i,       // clears saturated_o
    input  logic                     stall_i,       // hold the vector unit's reads this cycle

    input  logic                     wr_valid_i,
    input  logic                     wr_accumulate_i,
    input  logic [AccAddrBits-1:0]   wr_row_i,
    input  logic signed [31:0]       wr_data_i [Cfg.Cols],
    output logic                     wr_done_o,     // the row of the wr_valid_i two cycles ago is in the memory now

    input  logic                     rd_valid_i,
    output logic                     rd_ready_o,
    input  logic [AccAddrBits-1:0]   rd_row_i,
    output logic signed [31:0]       rd_data_o [Cfg.Cols],

    output logic                     saturated_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned BankRows = Cfg.AccRows / 2;
  localparam int unsigned RowBits = $clog2(BankRows);

  logic                 wr_bank, rd_bank;
  logic                 wr_reads;    // the MXU needs the old row
  logic                 rd_accept;

  // Stage 1: the sums and the old row of the memory arrive.
  logic                 s1_valid_q, s1_accumulate_q, s1_bank_q, s1_forward_q;
  logic [RowBits-1:0]   s1_row_q;
  logic signed [31:0]   s1_data_q [Cols];
  logic signed [31:0]   s1_last_q [Cols];  // the row written a cycle ago, for s1_forward_q
  logic signed [31:0]   old_row [Cols];
  logic signed [31:0]   base [Cols];
  logic signed [31:0]   sum [Cols];
  logic                 sum_saturates;
  logic [Cols*32-1:0]   sum_packed;
  logic [Cols*32-1:0]   rdata [2];

  logic                 rd_bank_q, rd_pending_q;

  assign wr_bank    = wr_row_i[RowBits];
  assign rd_bank    = rd_row_i[RowBits];
  assign wr_reads   = wr_valid_i && wr_accumulate_i;
  assign rd_ready_o = !stall_i && !(wr_reads && wr_bank == rd_bank);
  assign rd_accept  = rd_valid_i && rd_ready_o;
  assign wr_done_o  = s1_valid_q;

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic               mxu_read, vec_read;
    logic [RowBits-1:0] raddr;
    assign mxu_read = wr_reads && wr_bank == 1'(b);
    assign vec_read = rd_accept && rd_bank == 1'(b);
    assign raddr    = mxu_read ? wr_row_i[RowBits-1:0] : rd_row_i[RowBits-1:0];
    systole_ram_1r1w #(.Width(Cols * 32), .Depth(BankRows)) u_ram (
        .clk_i,
        .we_i(s1_valid_q && s1_bank_q == 1'(b)), .waddr_i(s1_row_q), .wdata_i(sum_packed),
        .re_i(mxu_read || vec_read), .raddr_i(raddr), .rdata_o(rdata[b])
    );
  end

  for (genvar c = 0; c < Cols; c++) begin : gen_column
    assign old_row[c] = s1_bank_q ? rdata[1][c*32+:32] : rdata[0][c*32+:32];
    assign sum_packed[c*32+:32] = sum[c];
  end

  // verilator lint_off UNUSEDSIGNAL
  function automatic logic overflows(logic signed [31:0] a, logic signed [31:0] b);
    logic signed [31:0] s;
    s = a + b;
    return a[31] == b[31] && s[31] != a[31];
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // The new row: the sums themselves, or added to the old row with saturation.
  always_comb begin
    sum_saturates = 1'b0;
    for (int unsigned c = 0; c < Cols; c++) base[c] = s1_forward_q ? s1_last_q[c] : old_row[c];
    for (int unsigned c = 0; c < Cols; c++) sum[c] = s1_data_q[c];
    if (s1_valid_q && s1_accumulate_q) begin
      for (int unsigned c = 0; c < Cols; c++) begin
        sum_saturates |= overflows(base[c], s1_data_q[c]);
        sum[c] = !overflows(base[c], s1_data_q[c]) ? base[c] + s1_data_q[c]
                 : base[c][31] ? 32'sh8000_0000 : 32'sh7FFF_FFFF;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q   <= 1'b0;
      s1_forward_q <= 1'b0;
      rd_pending_q <= 1'b0;
      saturated_o  <= 1'b0;
    end else begin
      s1_valid_q   <= wr_valid_i;
      s1_forward_q <= wr_reads && s1_valid_q && s1_bank_q == wr_bank && s1_row_q == wr_row_i[RowBits-1:0];
      rd_pending_q <= rd_accept;
      if (clear_i) saturated_o <= 1'b0;
      else if (sum_saturates) saturated_o <= 1'b1;
    end
  end

  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    if (rd_accept) rd_bank_q <= rd_bank;
    if (rd_pending_q) begin
      for (int unsigned c = 0; c < Cols; c++) rd_data_o[c] = rd_bank_q ? rdata[1][c*32+:32] : rdata[0][c*32+:32];
    end
  end

  always_ff @(posedge clk_i) begin
    if (s1_valid_q) begin
      for (int unsigned c = 0; c < Cols; c++) s1_last_q[c] = sum[c];
    end
    if (wr_valid_i) begin
      s1_accumulate_q <= wr_accumulate_i;
      s1_bank_q       <= wr_bank;
      s1_row_q        <= wr_row_i[RowBits-1:0];
      for (int unsigned c = 0; c < Cols; c++) s1_data_q[c] = wr_data_i[c];
    end
  end
  // verilator lint_on BLKSEQ

  // Rows exist.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_wr_row : assert (!wr_valid_i || 32'(wr_row_i) < Cfg.AccRows);
      a_rd_row : assert (!rd_valid_i || 32'(rd_row_i) < Cfg.AccRows);
    end
  end
endmodule
