// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Serial port: 8 data bits, no parity, one stop bit; any rate up to half the clock's. A received byte without its stop bit is dropped.
// Bits are timed by an accumulator, so that the rate need not divide the clock. Docs: docs/fpga.md. Test: tests/fpga.

module systole_uart #(
    parameter int unsigned ClockHz = 60_000_000,
    parameter int unsigned Baud = 3_000_000
) (
    input  logic       clk_i,
    input  logic       rst_ni,

    input  logic       rx_i,  // asynchronous
    output logic       tx_o,

    output logic       rx_valid_o,  // pulse
    output logic [7:0] rx_data_o,

    input  logic       tx_valid_i,
    output logic       tx_ready_o,
    input  logic [7:0] tx_data_i
);
  // A bit is 2^16 of these.
  localparam longint unsigned Rate = (longint'(Baud) * 64'd65536 + longint'(ClockHz) / 2) / longint'(ClockHz);
  localparam logic [16:0] Step = 17'(Rate);
  localparam int unsigned FrameBits = 10;

  logic        rx_sync, rx_q;  // the latter finds edges
  logic        rx_busy_q, rx_valid_q, rx_tick;
  logic [3:0]  rx_count_q;
  logic [7:0]  rx_shift_q;
  logic [15:0] rx_phase_q, rx_phase_d;

  logic [3:0]  tx_left_q;
  logic [9:0]  tx_shift_q;
  logic [15:0] tx_phase_q, tx_phase_d;
  logic        tx_tick;

  assign {rx_tick, rx_phase_d} = 17'(rx_phase_q) + Step;
  assign {tx_tick, tx_phase_d} = 17'(tx_phase_q) + Step;

  assign rx_valid_o = rx_valid_q;
  assign rx_data_o  = rx_shift_q;
  assign tx_o       = tx_shift_q[0];
  assign tx_ready_o = tx_left_q == '0;

  systole_prim_sync u_sync (.clk_i, .d_i(rx_i), .q_o(rx_sync));
  always_ff @(posedge clk_i) rx_q <= rx_sync;

  // Receive: from the falling edge half a bit to the middle of the start bit, then bit by bit.
  always_ff @(posedge clk_i) begin
    rx_valid_q <= 1'b0;
    if (!rst_ni) begin
      rx_busy_q <= 1'b0;
    end else if (!rx_busy_q) begin
      rx_phase_q <= 16'h8000;
      rx_count_q <= '0;
      rx_busy_q  <= rx_q && !rx_sync;
    end else begin
      rx_phase_q <= rx_phase_d;
      if (rx_tick) begin
        rx_count_q <= rx_count_q + 4'd1;
        if (rx_count_q == '0) begin
          rx_busy_q <= !rx_q;  // a glitch, not a start bit
        end else if (rx_count_q == 4'(FrameBits - 1)) begin
          rx_busy_q  <= 1'b0;
          rx_valid_q <= rx_q;
        end else begin
          rx_shift_q <= {rx_q, rx_shift_q[7:1]};
        end
      end
    end
  end

  // Send: start bit, data, stop bit.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tx_left_q  <= '0;
      tx_shift_q <= '1;
    end else if (tx_left_q == '0) begin
      tx_phase_q <= '0;
      if (tx_valid_i) begin
        tx_left_q  <= 4'(FrameBits);
        tx_shift_q <= {1'b1, tx_data_i, 1'b0};
      end
    end else begin
      tx_phase_q <= tx_phase_d;
      if (tx_tick) begin
        tx_left_q  <= tx_left_q - 4'd1;
        tx_shift_q <= {1'b1, tx_shift_q[9:1]};
      end
    end
  end

  // The clock is at least twice the rate.
  initial a_rate : assert (Rate != 0 && Rate <= 64'd32768);
endmodule
