// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Accumulators: AccRows rows of Cols 32-bit lanes in two banks (upper row bit). The MXU is never refused: int8 writes or adds
// (saturating) one row a cycle; bf16 reads the rows that vectors begin from and writes their sums. The vector unit reads any row whose
// bank's read port the MXU does not need. Read data: two cycles after the transfer. A row is in the memory two cycles (int8: three) after
// the cycle in which it is written.
// Docs: docs/accumulators.md, docs/numerics.md. Test: tests/rtl/accumulators.

module systole_accumulators
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    localparam int unsigned LaneBits = $clog2(Cfg.Cols + 1)
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                     clear_i,       // clears saturated_o
    // verilator lint_on UNUSEDSIGNAL

    // What vectors begin from (bf16).
    input  logic                     feed_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                     feed_read_i,   // the row; otherwise 0
    // verilator lint_on UNUSEDSIGNAL
    input  logic [AccAddrBits-1:0]   feed_row_i,
    output logic signed [31:0]       feed_data_o [Cfg.Cols],

    input  logic                     wr_valid_i,
    input  logic                     wr_accumulate_i,  // int8
    input  logic [AccAddrBits-1:0]   wr_row_i,
    input  logic signed [31:0]       wr_data_i [Cfg.Cols],
    output logic                     wr_done_o,     // two cycles (bf16: one) after wr_valid_i: the row is in the memory from the next on

    input  logic                     rd_valid_i,
    output logic                     rd_ready_o,
    input  logic [AccAddrBits-1:0]   rd_row_i,
    output logic signed [31:0]       rd_data_o [Cfg.Cols],

    output logic                     saturated_o,

    // Elements among those written a cycle ago (bf16).
    output logic [LaneBits-1:0]      nan_o,
    output logic [LaneBits-1:0]      inf_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned BankRows = Cfg.AccRows / 2;
  localparam int unsigned RowBits = $clog2(BankRows);

  // The memory: the MXU's read, its write, the vector unit's read.
  logic                   mxu_reads, we, mxu_bank, rd_bank, rd_accept;
  // verilator lint_off UNUSEDSIGNAL
  logic [AccAddrBits-1:0] mxu_row, waddr;
  // verilator lint_on UNUSEDSIGNAL
  logic [Cols*32-1:0]     wdata;
  logic [Cols*32-1:0]     rdata [2];
  logic                   rd_bank_q, rd_pending_q, hold;

  // The vector unit's reads.
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));

  assign mxu_bank   = mxu_row[RowBits];
  assign rd_bank    = rd_row_i[RowBits];
  assign rd_ready_o = !hold && !(mxu_reads && mxu_bank == rd_bank);
  assign rd_accept  = rd_valid_i && rd_ready_o;

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic               mxu_read, vec_read;
    logic [RowBits-1:0] raddr;
    assign mxu_read = mxu_reads && mxu_bank == 1'(b);
    assign vec_read = rd_accept && rd_bank == 1'(b);
    assign raddr    = mxu_read ? mxu_row[RowBits-1:0] : rd_row_i[RowBits-1:0];
    systole_prim_ram_1r1w #(.Width(Cols * 32), .Depth(BankRows), .AnyOnCollision(1'b1)) u_ram (
        .clk_i,
        .we_i(we && waddr[RowBits] == 1'(b)), .waddr_i(waddr[RowBits-1:0]), .wdata_i(wdata),
        .re_i(mxu_read || vec_read), .raddr_i(raddr), .rdata_o(rdata[b])
    );
  end

  always_ff @(posedge clk_i) rd_pending_q <= rst_ni && rd_accept;

  always_ff @(posedge clk_i) begin
    logic signed [31:0] row [Cols];
    if (rd_accept) rd_bank_q <= rd_bank;
    if (rd_pending_q) begin
      for (int unsigned c = 0; c < Cols; c++) row[c] = rd_bank_q ? rdata[1][c*32+:32] : rdata[0][c*32+:32];
      rd_data_o <= row;
    end
  end

  if (Cfg.Cell == CellBf16) begin : gen_feed
    logic feed1_q, read1_q, bank1_q, done_q;

    assign mxu_reads = feed_valid_i && feed_read_i;
    assign mxu_row   = feed_row_i;
    assign we        = wr_valid_i;
    assign waddr     = wr_row_i;
    for (genvar c = 0; c < Cols; c++) begin : gen_column
      assign wdata[c*32+:32] = wr_data_i[c];
    end
    assign wr_done_o   = done_q;
    assign saturated_o = 1'b0;

    always_ff @(posedge clk_i) begin
      logic signed [31:0] row [Cols];
      done_q  <= rst_ni && wr_valid_i;
      feed1_q <= feed_valid_i;
      if (feed_valid_i) begin
        read1_q <= feed_read_i;
        bank1_q <= mxu_bank;
      end
      if (feed1_q) begin
        for (int unsigned c = 0; c < Cols; c++) begin
          row[c] = !read1_q ? '0 : bank1_q ? rdata[1][c*32+:32] : rdata[0][c*32+:32];
        end
        feed_data_o <= row;
      end
    end

    always_ff @(posedge clk_i) begin
      logic [31:0] nans, infs;
      nans = '0;
      infs = '0;
      if (rst_ni && wr_valid_i) begin
        for (int unsigned c = 0; c < Cols; c++) begin
          nans += 32'(wr_data_i[c] << 1 > 32'hFF00_0000);
          infs += 32'(wr_data_i[c] << 1 == 32'hFF00_0000);
        end
      end
      nan_o <= nans[LaneBits-1:0];
      inf_o <= infs[LaneBits-1:0];
    end

    // Sums were started from rows.
    always_ff @(posedge clk_i) if (rst_ni) a_plain : assert (!wr_valid_i || !wr_accumulate_i);
  end else begin : gen_add
    // Stage 1: the memory's old row arrives. Stage 2: it is added to and written. The row added a cycle ago goes straight to the adders,
    // the one before it into the old row's register.
    logic                   s1_valid_q, s1_accumulate_q, s1_near_q, s1_far_q;
    logic                   s2_valid_q, s2_near_q, saturates_q;
    // verilator lint_off UNUSEDSIGNAL
    logic [AccAddrBits-1:0] s1_row_q, s2_row_q;
    // verilator lint_on UNUSEDSIGNAL
    logic signed [31:0]     s1_data_q [Cols], s2_data_q [Cols];
    logic signed [31:0]     old_row [Cols];
    logic signed [31:0]     old_q [Cols];   // 0 for a row that is not added to
    logic signed [31:0]     last_q [Cols];  // the row written a cycle ago
    logic signed [31:0]     base [Cols];    // what is added to
    logic signed [31:0]     sum [Cols];
    logic                   saturates;

    assign mxu_reads = wr_valid_i && wr_accumulate_i;
    assign mxu_row   = wr_row_i;
    assign we        = s2_valid_q;
    assign waddr     = s2_row_q;
    assign wr_done_o = s2_valid_q;
    assign nan_o     = '0;
    assign inf_o     = '0;

    for (genvar c = 0; c < Cols; c++) begin : gen_column
      assign old_row[c]      = s1_row_q[RowBits] ? rdata[1][c*32+:32] : rdata[0][c*32+:32];
      assign wdata[c*32+:32] = sum[c];
      assign feed_data_o[c]  = '0;
    end

    // verilator lint_off UNUSEDSIGNAL
    function automatic logic overflows(logic signed [31:0] a, logic signed [31:0] b);
      logic signed [31:0] s;
      s = a + b;
      return a[31] == b[31] && s[31] != a[31];
    endfunction
    // verilator lint_on UNUSEDSIGNAL

    always_comb begin
      saturates = 1'b0;
      for (int unsigned c = 0; c < Cols; c++) base[c] = s2_near_q ? last_q[c] : old_q[c];
      for (int unsigned c = 0; c < Cols; c++) sum[c] = s2_data_q[c];
      if (s2_valid_q) begin
        for (int unsigned c = 0; c < Cols; c++) begin
          saturates |= overflows(base[c], s2_data_q[c]);
          sum[c] = !overflows(base[c], s2_data_q[c]) ? base[c] + s2_data_q[c] : base[c][31] ? 32'sh8000_0000 : 32'sh7FFF_FFFF;
        end
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        s1_valid_q  <= 1'b0;
        s1_near_q   <= 1'b0;
        s1_far_q    <= 1'b0;
        s2_valid_q  <= 1'b0;
        s2_near_q   <= 1'b0;
        saturates_q <= 1'b0;
        saturated_o <= 1'b0;
      end else begin
        s1_valid_q  <= wr_valid_i;
        s1_near_q   <= mxu_reads && s1_valid_q && s1_row_q == wr_row_i;
        s1_far_q    <= mxu_reads && s2_valid_q && s2_row_q == wr_row_i;
        s2_valid_q  <= s1_valid_q;
        s2_near_q   <= s1_near_q;
        saturates_q <= saturates;
        if (clear_i) saturated_o <= 1'b0;
        else if (saturates_q) saturated_o <= 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin
      if (wr_valid_i) begin
        s1_accumulate_q <= wr_accumulate_i;
        s1_row_q        <= wr_row_i;
        s1_data_q       <= wr_data_i;
      end
      if (s1_valid_q) begin
        s2_row_q  <= s1_row_q;
        s2_data_q <= s1_data_q;
        if (!s1_accumulate_q) old_q <= '{default: '0};
        else if (s1_far_q) old_q <= last_q;
        else old_q <= old_row;
      end
      if (s2_valid_q) last_q <= sum;
    end

    // Sums start from 0.
    always_ff @(posedge clk_i) if (rst_ni) a_no_feed : assert (!feed_valid_i);
  end

  // Rows exist.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_wr_row : assert (!wr_valid_i || 32'(wr_row_i) < Cfg.AccRows);
      a_rd_row : assert (!rd_valid_i || 32'(rd_row_i) < Cfg.AccRows);
      a_feed_row : assert (!feed_valid_i || 32'(feed_row_i) < Cfg.AccRows);
    end
  end
endmodule
