// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Performance counters of 64 bits in a memory. The low bits of each count are in flip-flops. A sweep visits one counter a cycle
// and adds its low bits to its word in the memory. A read inserts a visit of its counter into the sweep. It returns the exact
// count as of the cycle after the visit begins, five to seven cycles after the request.
// Docs: docs/host.md. Test: tests/rtl/host.

module systole_counters
  import systole_csr_pkg::*;
(
    input  logic                                   clk_i,
    input  logic                                   rst_ni,
    input  logic                                   clear_i,  // all counters are 0 in the next cycle
    input  logic                                   count_i,  // inc_i is counted in this cycle
    input  logic [NumCounters-1:0][CtrIncBits-1:0] inc_i,    // at most CtrMost

    // Read of one half: req_i is a pulse and is answered before the next one. A read of the low half latches the high half.
    input  logic                                   req_i,
    input  logic [$clog2(NumCounters)-1:0]         index_i,
    input  logic                                   high_i,
    output logic                                   ack_o,
    output logic [31:0]                            data_o
);
  localparam int unsigned IndexBits = $clog2(NumCounters);
  localparam int unsigned Period = 1 << ($clog2(NumCounters) + 1);  // most cycles between two visits, as reads may take every other cycle
  typedef logic [IndexBits-1:0] index_t;

  // The pending read, and the counter to visit in this cycle. A read visits its counter at once, unless an earlier visit of
  // that counter is still in the pipeline. Otherwise the sweep visits its next counter.
  logic   wait_q, wait_high_q, busy, read, high_ack_q;
  index_t wait_index_q, sweep_q, visit;
  logic   v1_q, v2_q, v3_q, r1_q, r2_q, r3_q;
  index_t i1_q, i2_q, i3_q;

  assign busy  = (v1_q && i1_q == wait_index_q) || (v2_q && i2_q == wait_index_q) || (v3_q && i3_q == wait_index_q);
  assign read  = wait_q && !wait_high_q && !busy;
  assign visit = read ? wait_index_q : sweep_q;

  // The sweep stalls while a visit of its next counter is still in the pipeline.
  logic sweep_ok, go;
  assign sweep_ok = !(v1_q && i1_q == sweep_q) && !(v2_q && i2_q == sweep_q) && !(v3_q && i3_q == sweep_q);
  assign go       = (read || sweep_ok) && !clear_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wait_q     <= 1'b0;
      high_ack_q <= 1'b0;
      sweep_q    <= '0;
    end else begin
      if (req_i) wait_q <= 1'b1;
      else if (!clear_i && (read || wait_high_q)) wait_q <= 1'b0;
      high_ack_q <= wait_q && wait_high_q && !clear_i;
      if (go && !read) sweep_q <= sweep_q == index_t'(NumCounters - 1) ? '0 : sweep_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (req_i) begin
      wait_index_q <= index_i;
      wait_high_q  <= high_i;
    end
  end

  // Low bits. They are taken one cycle after a visit begins; only the increment of that cycle stays in the flip-flops. Each
  // counter has enough low bits for the increments of one period.
  logic [31:0]            low [NumCounters];
  logic [NumCounters-1:0] fresh_q;  // the count is 0, whatever the memory holds

  for (genvar i = 0; i < NumCounters; i++) begin : gen_low
    localparam int unsigned Bits = $clog2(Period) + $clog2(CtrMost[i] + 1);
    logic [Bits-1:0] low_q;
    assign low[i] = 32'(low_q);
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) low_q <= '0;
      else if (count_i) low_q <= (v1_q && i1_q == index_t'(i) ? '0 : low_q) + Bits'(inc_i[i]);
      else if (v1_q && i1_q == index_t'(i)) low_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) fresh_q <= '1;
    else if (v1_q) fresh_q[i1_q] <= 1'b0;
  end

  // Pipeline of a visit: read memory and low bits | register the word | register the sum | write it back.
  logic [31:0] l2_q, high_q;
  logic [63:0] word, w2_q, sum_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
      v3_q <= 1'b0;
    end else begin
      v1_q <= go;
      v2_q <= v1_q;
      v3_q <= v2_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      r1_q   <= 1'b0;
      r2_q   <= 1'b0;
      r3_q   <= 1'b0;
      high_q <= '0;  // for a read of a high half before any read of a low half
    end else begin
      r1_q <= go && read;
      r2_q <= r1_q;
      r3_q <= r2_q;
      if (r3_q) high_q <= sum_q[63:32];
    end
  end
  always_ff @(posedge clk_i) begin
    i1_q  <= visit;
    i2_q  <= i1_q;
    i3_q  <= i2_q;
    l2_q  <= low[i1_q];
    w2_q  <= fresh_q[i1_q] ? '0 : word;
    sum_q <= w2_q + 64'(l2_q);
  end

  systole_prim_ram_1r1w #(.Width(64), .Depth(NumCounters)) u_ram (
      .clk_i, .we_i(v3_q && !clear_i), .waddr_i(i3_q), .wdata_i(sum_q), .re_i(go), .raddr_i(visit), .rdata_o(word)
  );

  assign ack_o  = r3_q || high_ack_q;
  assign data_o = r3_q ? sum_q[31:0] : high_q;

  // Upper bits of each increment, which must always be 0. The low bits are wide enough for the largest increment that has these
  // bits 0.
  typedef logic [NumCounters-1:0][CtrIncBits-1:0] incs_t;
  function automatic incs_t high_bits();
    for (int unsigned i = 0; i < NumCounters; i++) high_bits[i] = ~CtrIncBits'((1 << $clog2(CtrMost[i] + 1)) - 1);
  endfunction
  localparam incs_t TooHigh = high_bits();

  // Checks: one read at a time; increments stay within their bound; each counter is visited before its low bits overflow.
  logic [$clog2(Period+1)-1:0] gap_q;  // cycles since the sweep visited counter 0
  always_ff @(posedge clk_i) begin
    if (!rst_ni || (go && !read && sweep_q == '0)) gap_q <= '0;
    else gap_q <= gap_q + 1'b1;
    if (rst_ni) begin
      a_one : assert (!req_i || !(wait_q || r1_q || r2_q || r3_q || high_ack_q));
      a_sweep : assert (32'(gap_q) < Period / 2);
      a_most : assert (!count_i || (inc_i & TooHigh) == '0);
    end
  end
endmodule
