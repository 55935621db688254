// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two serial ports that are wired to each other, the second with a clock rate that is said to be 2 % off, as oscillators differ; a fault
// input inverts the line from the first to the second.

module uart_bench #(
    parameter int unsigned ClockHz = 20_000_000,
    parameter int unsigned FarHz = ClockHz / 50 * 51
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       invert_i,
    input  logic       valid_i,
    output logic       ready_o,
    input  logic [7:0] data_i,
    output logic       echo_valid_o,
    output logic [7:0] echo_data_o,
    output logic       line_o
);
  localparam int unsigned Baud = 1_000_000;

  logic       back_valid, back_ready, back_line;
  logic [7:0] back_data;

  systole_uart #(.ClockHz(ClockHz), .Baud(Baud)) u_near (
      .clk_i, .rst_ni, .rx_i(back_line), .tx_o(line_o), .rx_valid_o(echo_valid_o), .rx_data_o(echo_data_o),
      .tx_valid_i(valid_i), .tx_ready_o(ready_o), .tx_data_i(data_i)
  );
  systole_uart #(.ClockHz(FarHz), .Baud(Baud)) u_far (
      .clk_i, .rst_ni, .rx_i(line_o ^ invert_i), .tx_o(back_line), .rx_valid_o(back_valid), .rx_data_o(back_data),
      .tx_valid_i(back_valid), .tx_ready_o(back_ready), .tx_data_i(back_data)
  );

  // The far side is free when the next byte is whole: the near side leaves room.
  always_ff @(posedge clk_i) if (rst_ni) a_room : assert (!back_valid || back_ready);
endmodule
