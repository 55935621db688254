// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Log of the ECC errors in a core's memory since the last clear: saturating counts and addresses. Latency: one cycle.
// Docs: docs/hbm.md. Test: tests/rtl/host.

module systole_ecc_log
  import systole_presets_pkg::AddrBits;
#(
    parameter int unsigned CountBits = 32
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,

    input  systole_bus_pkg::ecc_event_t event_i,
    input  logic                        clear_i,        // pulse; an event in the same cycle is the first of the new log

    output logic [CountBits-1:0]        corrected_o,
    output logic [CountBits-1:0]        uncorrected_o,
    output logic [AddrBits-1:0]         first_o,        // address of the first corrected error
    output logic [AddrBits-1:0]         last_o,         // address of the last corrected error
    output logic [AddrBits-1:0]         bad_o           // address of the first uncorrectable error
);
  typedef logic [CountBits-1:0] count_t;

  function automatic count_t next(count_t count, logic clear, logic more);
    return clear ? count_t'(more) : count == '1 ? count : count + count_t'(more);
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      corrected_o   <= '0;
      uncorrected_o <= '0;
      first_o       <= '0;
      last_o        <= '0;
      bad_o         <= '0;
    end else begin
      corrected_o   <= next(corrected_o, clear_i, event_i.fixed);
      uncorrected_o <= next(uncorrected_o, clear_i, event_i.bad);
      if (event_i.fixed && (clear_i || corrected_o == '0)) first_o <= event_i.addr;
      if (event_i.fixed) last_o <= event_i.addr;
      if (event_i.bad && (clear_i || uncorrected_o == '0)) bad_o <= event_i.addr;
    end
  end

  // Checks: without a clear, a count rises by at most one a cycle.
  count_t corrected_q, uncorrected_q;
  logic   clear_q;
  always_ff @(posedge clk_i) begin
    corrected_q   <= corrected_o;
    uncorrected_q <= uncorrected_o;
    clear_q       <= clear_i || !rst_ni;
    if (rst_ni && !clear_q) begin
      a_corrected : assert (corrected_o == corrected_q || corrected_o == corrected_q + 1'b1);
      a_uncorrected : assert (uncorrected_o == uncorrected_q || uncorrected_o == uncorrected_q + 1'b1);
    end
  end
endmodule
