// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Soft reset: freezes the core, waits until the HBM has nothing in flight, then resets the core for some cycles. The HBM
// controller, the host interface and all memories keep running.
// Docs: docs/host.md. Test: tests/rtl/host.

module systole_soft_reset (
    input  logic clk_i,
    input  logic rst_ni,

    input  logic request_i,      // pulse
    input  logic outstanding_i,  // the HBM has reads or writes in flight

    output logic busy_o,         // from the request to the end of the reset
    output logic freeze_o,       // the core makes no new accesses
    output logic core_rst_no
);
  localparam int unsigned QuietCycles = 16;  // a request on its way to the HBM shows in outstanding_i within this many cycles
  localparam int unsigned ResetCycles = 4;

  typedef enum logic [1:0] {Idle, Drain, Hold} state_e;
  state_e     state_q;
  logic [4:0] count_q;

  assign busy_o   = state_q != Idle;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      count_q  <= '0;
      freeze_o <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: begin
          count_q <= '0;
          if (request_i) begin
            state_q  <= Drain;
            freeze_o <= 1'b1;
          end
        end
        Drain: begin
          count_q <= outstanding_i ? '0 : count_q + 5'd1;
          if (!outstanding_i && count_q == 5'(QuietCycles - 1)) begin
            state_q <= Hold;
            count_q <= '0;
          end
        end
        Hold: begin
          count_q <= count_q + 5'd1;
          if (count_q == 5'(ResetCycles - 1)) begin
            state_q  <= Idle;
            freeze_o <= 1'b0;
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  // Registered, so that the core's reset is free of glitches.
  always_ff @(posedge clk_i) core_rst_no <= rst_ni && state_q != Hold;
endmodule
