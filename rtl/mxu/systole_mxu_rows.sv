// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Hazard check for vectors that start from an accumulator row: such a vector stalls while an older one still has to
// write that row. A descriptor visits its rows in order and sums leave in order. So a descriptor that has entered
// completely still has to write its last away_q rows, and the running one has a hazard only when as many vectors are in
// flight as it has rows.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_mxu_rows
  import systole_presets_pkg::AccAddrBits;
#(
    parameter int unsigned Latency = 20,      // longest time from a vector's step until its sums leave, in cycles
    parameter int unsigned MaxInFlight = 8    // descriptors in flight, a power of two
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    // Start of a descriptor: its accumulator rows.
    input  logic                   start_i,
    input  logic [AccAddrBits-1:0] start_acc_i,
    input  logic [AccAddrBits:0]   start_rows_i,

    // The next vector to enter; descriptors enter in the order of their starts.
    input  logic                   read_i,    // the vector starts from row_i
    input  logic [AccAddrBits-1:0] row_i,
    output logic                   ok_o,
    input  logic                   enter_i,
    input  logic                   enter_done_i,  // last vector of its descriptor

    // Sums leave: the row is written in the next cycle and can be read from the one after that.
    input  logic                   leave_i,
    input  logic                   leave_done_i
);
  localparam int unsigned PtrBits = $clog2(MaxInFlight);
  localparam int unsigned CountBits = $clog2(Latency + 1);
  typedef logic [AccAddrBits:0] row_t;

  row_t                 end_q [MaxInFlight], rows_q [MaxInFlight];
  logic [CountBits-1:0] away_q [MaxInFlight];  // vectors that have entered and not left
  logic [PtrBits-1:0]   start_q, enter_q, leave_q;
  logic [MaxInFlight-1:0] entered_q;           // all vectors of the descriptor have entered, and not all have left

  always_comb begin
    ok_o = 1'b1;
    if (read_i) begin
      ok_o = row_t'(away_q[enter_q]) < rows_q[enter_q];
      for (int unsigned i = 0; i < MaxInFlight; i++) begin
        if (entered_q[i] && row_t'(row_i) < end_q[i] && row_t'(row_i) + row_t'(away_q[i]) >= end_q[i]) ok_o = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      start_q   <= '0;
      enter_q   <= '0;
      leave_q   <= '0;
      entered_q <= '0;
    end else begin
      if (start_i) start_q <= start_q + 1'b1;
      if (enter_i && enter_done_i) begin
        enter_q            <= enter_q + 1'b1;
        entered_q[enter_q] <= 1'b1;
      end
      if (leave_i && leave_done_i) begin
        leave_q            <= leave_q + 1'b1;
        entered_q[leave_q] <= 1'b0;
      end
    end
  end

  for (genvar i = 0; i < MaxInFlight; i++) begin : gen_flight
    logic start, enter, leave;
    assign start = start_i && start_q == PtrBits'(i);
    assign enter = enter_i && enter_q == PtrBits'(i);
    assign leave = leave_i && leave_q == PtrBits'(i);
    always_ff @(posedge clk_i) begin
      if (start) begin
        end_q[i]  <= row_t'(start_acc_i) + start_rows_i;
        rows_q[i] <= start_rows_i;
        away_q[i] <= '0;
      end else if (enter != leave) begin
        away_q[i] <= enter ? away_q[i] + 1'b1 : away_q[i] - 1'b1;
      end
    end
  end

  // Checks: only vectors that entered leave; a descriptor ends with its last vector; the counters do not overflow.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_leave : assert (!leave_i || away_q[leave_q] != '0);
      a_done : assert (!(leave_i && leave_done_i) || (entered_q[leave_q] && away_q[leave_q] == CountBits'(1)));
      a_enter : assert (!enter_i || 32'(away_q[enter_q]) < Latency);
    end
  end
endmodule
