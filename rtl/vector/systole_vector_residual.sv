// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Quantised addition after a requant: 16 stages that never stall. Both operands are bytes. The operand with the larger scale
// (wide) is multiplied by 2^19, its factor in every addition. The other operand (narrow) is scaled by a multiplier and a shift.
// Then the sum is scaled. Stages: differences | scale (6) | sum | scale (6) | zero point | clamp.
// Docs: docs/vector.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector_residual
  import systole_vector_pkg::*;
#(
    parameter int unsigned Lanes = 8,
    parameter int unsigned Ahead = 16,  // entries of the operand FIFO
    localparam int unsigned Slots = Lanes < 4 ? 4 : Lanes
) (
    input  logic               clk_i,
    input  logic               rst_ni,

    // Bytes of the residual operand, in order.
    input  logic               operand_valid_i,
    input  logic [Slots*8-1:0] operand_i,

    // Results of the requant.
    input  logic               valid_i,
    input  logic [Slots*8-1:0] data_i,
    input  logic               bank_i,
    input  logic               last_i,
    input  logic               row_end_i,
    // verilator lint_off UNUSEDSIGNAL
    input  scalars_t           scalars_i [2],  // by bank
    // verilator lint_on UNUSEDSIGNAL

    output logic               valid_o,
    output logic [Slots*8-1:0] data_o,
    output logic               bank_o,
    output logic               last_o,
    output logic               row_end_o
);
  localparam int unsigned Scaled = 7;    // stage that writes the scaled narrow operand
  localparam int unsigned Summed = 8;
  localparam int unsigned Rounded = 14;  // stage that writes the scaled sum
  localparam int unsigned End = 16;
  localparam int unsigned AheadBits = $clog2(Ahead);

  logic [End:1] valid_q, bank_q, last_q, row_end_q;
  // verilator lint_off UNUSEDSIGNAL
  scalars_t sc_in, sc_narrow, sc_scaled, sc_sum, sc_zp, sc_clamp;  // each stage uses only some of the fields
  // verilator lint_on UNUSEDSIGNAL
  round_t   round_narrow, round_sum;

  assign sc_in     = scalars_i[bank_i];
  assign sc_narrow = scalars_i[bank_q[1]];
  assign sc_scaled = scalars_i[bank_q[Scaled]];
  assign sc_sum    = scalars_i[bank_q[Summed]];
  assign sc_zp     = scalars_i[bank_q[Rounded]];
  assign sc_clamp  = scalars_i[bank_q[Rounded+1]];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[End-1:1], valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0) begin
      bank_q    <= {bank_q[End-1:1], bank_i};
      last_q    <= {last_q[End-1:1], last_i};
      row_end_q <= {row_end_q[End-1:1], row_end_i};
    end
  end

  // Operands wait in a FIFO for the requant's results.
  logic [AheadBits-1:0] operand_wr_q, operand_rd_q;
  logic [AheadBits:0]   ahead_q;
  logic [Slots*8-1:0]   operand;

  systole_prim_ram_async #(.Width(Slots * 8), .Depth(Ahead)) u_operands (
      .clk_i, .we_i(operand_valid_i), .waddr_i(operand_wr_q), .wdata_i(operand_i), .raddr_i(operand_rd_q), .rdata_o(operand)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      operand_wr_q <= '0;
      operand_rd_q <= '0;
      ahead_q      <= '0;
    end else begin
      if (operand_valid_i) operand_wr_q <= operand_wr_q + 1'b1;
      if (valid_i) operand_rd_q <= operand_rd_q + 1'b1;
      ahead_q <= ahead_q + (AheadBits + 1)'(operand_valid_i) - (AheadBits + 1)'(valid_i);
    end
  end

  // Stage 1: subtract the zero points. The wide operands wait in a FIFO while the narrow ones are scaled.
  logic signed [31:0] narrow_q [Lanes], mult1_q [Lanes];
  logic signed [7:0]  shift1_q [Lanes];
  logic signed [15:0] wide_q [8][Lanes];
  logic [2:0]         wide_wr_q, wide_rd_q;

  always_ff @(posedge clk_i) begin : differences
    logic signed [31:0] narrow_v [Lanes], m_v [Lanes];
    logic signed [7:0]  s_v [Lanes];
    logic signed [15:0] wide_v [Lanes];
    if (valid_i) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [15:0] y, o, n;
        y           = 16'(signed'(data_i[c*8+:8])) - 16'(sc_in.zp);
        o           = 16'(signed'(operand[c*8+:8])) - 16'(sc_in.zp1);
        n           = sc_in.wide ? y : o;
        narrow_v[c] = 32'(n) <<< 20;
        wide_v[c]   = sc_in.wide ? o : y;
        m_v[c]      = sc_in.mult1;
        s_v[c]      = 8'(sc_in.shift1);
      end
      mult1_q           <= m_v;
      shift1_q          <= s_v;
      narrow_q          <= narrow_v;
      wide_q[wide_wr_q] <= wide_v;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wide_wr_q <= '0;
      wide_rd_q <= '0;
    end else begin
      if (valid_i) wide_wr_q <= wide_wr_q + 1'b1;
      if (valid_q[Scaled]) wide_rd_q <= wide_rd_q + 1'b1;
    end
  end

  // Stages 2 to 7: scale the narrow operand.
  logic signed [31:0] scaled [Lanes];

  assign round_narrow = '{twice: !sc_narrow.sum_single, trunc: 1'b0};

  systole_vector_scale #(.Lanes(Lanes)) u_narrow (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[1]),
      .round_i(round_narrow),
      .x_i    (narrow_q),
      .m_i    (mult1_q),
      .s_i    (shift1_q),
      .r_o    (scaled)
  );

  // Stage 8: the saturating sum.
  logic signed [31:0] sum_q [Lanes], mult_q [Lanes];
  logic signed [7:0]  shift_q [Lanes];

  always_ff @(posedge clk_i) begin : add
    logic signed [31:0] sum_v [Lanes], m_v [Lanes];
    logic signed [7:0]  s_v [Lanes];
    if (valid_q[Scaled]) begin
      for (int unsigned c = 0; c < Lanes; c++) begin
        logic signed [31:0] a, b, t;
        a        = scaled[c];
        b        = 32'(wide_q[wide_rd_q][c]) <<< 19;
        t        = a + b;
        sum_v[c] = ((a ^ t) & (b ^ t)) < 0 ? (a < 0 ? 32'sh8000_0000 : 32'sh7fff_ffff) : t;
        m_v[c]   = sc_scaled.mult;
        s_v[c]   = 8'(sc_scaled.shift);
      end
      sum_q   <= sum_v;
      mult_q  <= m_v;
      shift_q <= s_v;
    end
  end

  // Stages 9 to 14: scale the sum.
  logic signed [31:0] rounded [Lanes];

  assign round_sum = '{twice: !sc_sum.sum_single, trunc: 1'b0};

  systole_vector_scale #(.Lanes(Lanes)) u_sum (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[Summed]),
      .round_i(round_sum),
      .x_i    (sum_q),
      .m_i    (mult_q),
      .s_i    (shift_q),
      .r_o    (rounded)
  );

  systole_vector_clamp #(.Lanes(Lanes)) u_clamp (
      .clk_i,
      .valid_i (valid_q[Rounded]),
      .r_i     (rounded),
      .zp_i    (sc_zp.sum_zp),
      .valid1_i(valid_q[Rounded+1]),
      .min_i   (sc_clamp.sum_min),
      .max_i   (sc_clamp.sum_max),
      .data_o
  );

  assign valid_o   = valid_q[End];
  assign bank_o    = bank_q[End];
  assign last_o    = last_q[End];
  assign row_end_o = row_end_q[End];

  // Checks: each result finds its operand, and the FIFO has room for each operand.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_operand : assert (!valid_i || ahead_q != '0);
      a_room : assert (!operand_valid_i || 32'(ahead_q) < Ahead || valid_i);
    end
  end
endmodule
