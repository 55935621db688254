// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Transposes blocks of at most Rows vectors between data setup and array: vector i of a block becomes element i of each
// of the Rows vectors that leave. Two halves: one block leaves while the next fills. Throughput: one vector per cycle;
// blocks that start from accumulator rows lose one cycle each. Latency: vectors are written, and leave, three cycles
// after their step.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_transposer
  import systole_presets_pkg::AccAddrBits;
#(
    parameter int unsigned Rows = 8,
    parameter int unsigned ElementBits = 16
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    output logic                   empty_o,       // no complete block is waiting to leave or leaving

    // Fill port. The flags and the row given with the block's last step apply to the whole block.
    output logic                   fill_ready_o,
    input  logic                   fill_i,        // step of the data setup: the vector arrives three cycles later
    input  logic                   fill_last_i,
    input  logic                   fill_take_i,   // the block's first outgoing vector takes a tile
    input  logic                   fill_accumulate_i,
    input  logic                   fill_done_i,   // the block's last outgoing vector ends the descriptor
    input  logic [AccAddrBits-1:0] fill_row_i,    // accumulator row of the block's first outgoing vector
    input  logic [ElementBits-1:0] vec_i [Rows],

    // Output port.
    output logic                   col_valid_o,
    output logic                   col_take_o,
    output logic                   col_accumulate_o,
    output logic                   col_done_o,
    output logic [AccAddrBits-1:0] col_row_o,
    input  logic                   col_go_i,      // step: the vector leaves three cycles later
    output logic [ElementBits-1:0] vec_o [Rows]
);
  localparam int unsigned IndexBits = $clog2(Rows);

  typedef struct packed {
    logic                   take;
    logic                   accumulate;
    logic                   done;
    logic [AccAddrBits-1:0] row;
  } block_t;
  block_t               block_q [2];
  logic [IndexBits-1:0] last_q [2];       // index of the block's last vector
  logic [1:0]           used_q, full_q;   // half is taken by a block; all vectors of the block have arrived
  logic                 give_q, in_q, out_q;
  logic [2:0]           fill_q, fill_last_q;
  logic [IndexBits-1:0] in_row_q, column_q, last1_q, last2_q, last3_q;
  logic                 write, column_last;
  logic [1:0]           step_q;
  logic [ElementBits-1:0] column [Rows];

  // The first vector of a new block is written three cycles after its step. So the block may begin while the last
  // columns of the old block leave, if nothing can stall them.
  logic leaving;
  assign leaving      = col_go_i && out_q == give_q
                        && (column_last || (!col_accumulate_o && !fill_last_i && column_q >= IndexBits'(Rows - 3)));
  assign fill_ready_o = !used_q[give_q] || leaving;
  assign empty_o      = used_q == '0;
  assign write        = fill_q[2];

  assign column_last      = column_q == IndexBits'(Rows - 1);
  assign col_valid_o      = full_q[out_q];
  assign col_take_o       = block_q[out_q].take && column_q == '0;
  assign col_accumulate_o = block_q[out_q].accumulate;
  assign col_done_o       = block_q[out_q].done && column_last;
  assign col_row_o        = block_q[out_q].row + AccAddrBits'(column_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q      <= '0;
      full_q      <= '0;
      give_q      <= 1'b0;
      in_q        <= 1'b0;
      out_q       <= 1'b0;
      fill_q      <= '0;
      fill_last_q <= '0;
      in_row_q    <= '0;
      column_q    <= '0;
    end else begin
      fill_q      <= {fill_q[1:0], fill_i};
      fill_last_q <= {fill_last_q[1:0], fill_i && fill_last_i};
      if (write) in_row_q <= fill_last_q[2] ? '0 : in_row_q + 1'b1;
      if (fill_last_q[2]) begin
        full_q[in_q] <= 1'b1;
        in_q         <= !in_q;
      end
      if (col_go_i) begin
        column_q <= column_q + 1'b1;
        if (column_last) begin
          used_q[out_q] <= 1'b0;
          full_q[out_q] <= 1'b0;
          out_q         <= !out_q;
        end
      end
      if (fill_i && fill_last_i) begin
        used_q[give_q] <= 1'b1;
        give_q         <= !give_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (fill_i && fill_last_i) begin
      block_q[give_q] <= '{take: fill_take_i, accumulate: fill_accumulate_i, done: fill_done_i, row: fill_row_i};
    end
    if (fill_last_q[2]) last_q[in_q] <= in_row_q;
    step_q <= {step_q[0], col_go_i};
    if (col_go_i) last1_q <= last_q[out_q];
    if (step_q[0]) last2_q <= last1_q;
    if (step_q[1]) last3_q <= last2_q;
  end

  systole_transpose_ram #(.N(Rows), .Width(ElementBits)) u_ram (
      .clk_i,
      .we_i(write), .wmatrix_i(in_q), .wrow_i(in_row_q), .wdata_i(vec_i),
      .re_i(col_go_i), .rmatrix_i(out_q), .rcolumn_i(column_q), .rdata_o(column)
  );

  // Elements of vectors that the block does not have are 0.
  always_comb begin
    for (int unsigned i = 0; i < Rows; i++) vec_o[i] = i <= 32'(last3_q) ? column[i] : '0;
  end

  // Checks: a block fills a free half and leaves a full one.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_fill : assert (!fill_i || fill_ready_o);
      a_go : assert (!col_go_i || col_valid_o);
      a_full : assert ((full_q & ~used_q) == '0);
    end
  end
endmodule
