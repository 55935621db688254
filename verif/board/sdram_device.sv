// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Model of a 16-bit SDRAM of 4 banks x 8192 rows x 512 columns (MT48LC16M16A2, speed grade -75) with burst length 1. Each data
// sheet rule for the controller is an assertion. Docs: docs/fpga.md. Test: tests/fpga/sdram_test.cc.

module sdram_device #(
    parameter int unsigned ClockHz = 60_000_000
) (
    input  logic        clk,
    input  logic        cke,
    input  logic        csn,
    input  logic        rasn,
    input  logic        casn,
    input  logic        wen,
    input  logic [12:0] a,
    input  logic [1:0]  ba,
    input  logic [1:0]  dqm,
    inout  wire  [15:0] dq
);
  // Picoseconds to cycles, rounded up.
  function automatic int cycles(longint ps);
    return int'((ps * 64'(ClockHz) + 64'd999_999_999_999) / 64'd1_000_000_000_000);
  endfunction
  localparam int TRcd = cycles(20_000);
  localparam int TRp = cycles(20_000);
  localparam int TRas = cycles(44_000);
  localparam int TRc = cycles(66_000);
  localparam int TRfc = cycles(66_000);
  localparam int TRrd = cycles(15_000);
  localparam int TWr = cycles(15_000);
  localparam int TMrd = 2;
  localparam int PowerUp = cycles(100_000_000);
  // 8192 refreshes in 64 ms. A controller may postpone eight.
  localparam int MaxRefreshGap = 9 * cycles(7_812_500);
  localparam int Longest = 1 << 30;  // time counters stop here

  typedef enum logic [2:0] {
    LoadMode = 3'b000, Refresh = 3'b001, Precharge = 3'b010, Activate = 3'b011, Write = 3'b100, Read = 3'b101,
    Terminate = 3'b110, Nop = 3'b111
  } command_e;

  command_e    command;
  logic [15:0] mem [1 << 24];
  logic [3:0]  open_q = '0;
  logic [12:0] row_q [4];
  // Cycles since an event of each kind.
  int          since_activate_q [4] = '{default: Longest};
  int          since_precharge_q [4] = '{default: Longest};
  int          since_write_q [4] = '{default: Longest};
  int          since_refresh_q = Longest;
  int          since_mode_q = Longest;
  int          since_any_activate_q = Longest;
  int          awake_q = 0;      // cycles with CKE high
  int          refreshes_q = 0;  // since the banks were first closed
  logic        closed_q = 1'b0;  // all banks were closed after power-up
  logic        ready_q = 1'b0;   // the mode is set
  logic [2:0]  latency_q = '0;
  logic [15:0] out_q [4];
  logic [3:0]  out_valid_q = '0;
  logic [1:0]  mask_q [3];
  logic [23:0] at;
  logic        drive_q = 1'b0;
  logic [15:0] drive_data_q;

  assign command = csn || !cke ? Nop : command_e'({rasn, casn, wen});
  assign at      = {row_q[ba], ba, a[8:0]};
  assign dq      = drive_q ? drive_data_q : 16'hzzzz;

  always_ff @(posedge clk) begin
    awake_q <= cke ? (awake_q < Longest ? awake_q + 1 : awake_q) : 0;
    for (int b = 0; b < 4; b++) begin
      if (since_activate_q[b] < Longest) since_activate_q[b] <= since_activate_q[b] + 1;
      if (since_precharge_q[b] < Longest) since_precharge_q[b] <= since_precharge_q[b] + 1;
      if (since_write_q[b] < Longest) since_write_q[b] <= since_write_q[b] + 1;
    end
    if (since_refresh_q < Longest) since_refresh_q <= since_refresh_q + 1;
    if (since_mode_q < Longest) since_mode_q <= since_mode_q + 1;
    if (since_any_activate_q < Longest) since_any_activate_q <= since_any_activate_q + 1;

    unique case (command)
      LoadMode: begin
        since_mode_q <= 1;
        latency_q    <= a[6:4];
        ready_q      <= 1'b1;
      end
      Refresh: begin
        since_refresh_q <= 1;
        refreshes_q     <= refreshes_q + 1;
      end
      Precharge: begin
        for (int b = 0; b < 4; b++) begin
          if (a[10] || ba == 2'(b)) begin
            open_q[b]            <= 1'b0;
            since_precharge_q[b] <= 1;
          end
        end
        if (a[10]) closed_q <= 1'b1;
      end
      Activate: begin
        open_q[ba]           <= 1'b1;
        row_q[ba]            <= a;
        since_activate_q[ba] <= 1;
        since_any_activate_q <= 1;
      end
      Write: begin
        if (!dqm[0]) mem[at][7:0] <= dq[7:0];
        if (!dqm[1]) mem[at][15:8] <= dq[15:8];
        since_write_q[ba] <= 1;
        if (a[10]) begin  // auto precharge
          open_q[ba]            <= 1'b0;
          since_precharge_q[ba] <= 1 - TWr;
        end
      end
      Read: begin
        if (a[10]) begin
          open_q[ba]            <= 1'b0;
          since_precharge_q[ba] <= 1;
        end
      end
      default: ;
    endcase

    // Read data appear so that the receiver samples them at the edge of the CAS latency. The mask takes effect two
    // cycles later.
    out_valid_q  <= {out_valid_q[2:0], command == Read};
    out_q        <= '{0: mem[at], 1: out_q[0], 2: out_q[1], 3: out_q[2]};
    mask_q       <= '{0: dqm, 1: mask_q[0], 2: mask_q[1]};
    drive_q      <= latency_q == 3'd2 ? out_valid_q[0] : out_valid_q[1];
    drive_data_q <= latency_q == 3'd2 ? out_q[0] : out_q[1];
  end

  // Rules of the data sheet.
  always_ff @(posedge clk) begin
    if (command == LoadMode) begin
      a_mode_closed : assert (open_q == '0 && closed_q);
      a_mode_value : assert (a[2:0] == 3'd0 && (a[6:4] == 3'd2 || a[6:4] == 3'd3));
    end
    if (command == Refresh || command == Precharge) a_power_up : assert (awake_q >= PowerUp);
    if (command == Refresh) begin
      a_refresh_closed : assert (open_q == '0 && closed_q);
      for (int b = 0; b < 4; b++) begin
        a_refresh_trp : assert (since_precharge_q[b] >= TRp);
        a_refresh_trc : assert (since_activate_q[b] >= TRc);
      end
    end
    if (command != Nop) begin
      a_trfc : assert (since_refresh_q >= TRfc);
      a_tmrd : assert (since_mode_q >= TMrd);
    end
    if (command == Activate) begin
      a_initialised : assert (ready_q && refreshes_q >= 2);
      a_activate_closed : assert (!open_q[ba]);
      a_trp : assert (since_precharge_q[ba] >= TRp);
      a_trc : assert (since_activate_q[ba] >= TRc);
      a_trrd : assert (since_any_activate_q >= TRrd);
    end
    if (command == Precharge) begin
      for (int b = 0; b < 4; b++) begin
        if (open_q[b] && (a[10] || ba == 2'(b))) begin
          a_tras : assert (since_activate_q[b] >= TRas);
          a_twr : assert (since_write_q[b] >= TWr);
        end
      end
    end
    if (command == Read || command == Write) begin
      a_open : assert (open_q[ba]);
      a_trcd : assert (since_activate_q[ba] >= TRcd);
      a_column : assert (a[9] == 1'b0 && a[12:11] == 2'b00);
      if (a[10]) a_auto_tras : assert (since_activate_q[ba] + TWr >= TRas);
    end
    if (command == Read) a_read_mask : assert (dqm == '0);
    // Bus turnaround: a write must not coincide with read data.
    if (command == Write) a_turn : assert (!drive_q && out_valid_q[1:0] == '0);
    if (ready_q && refreshes_q >= 2) a_refresh_rate : assert (since_refresh_q <= MaxRefreshGap);
  end
endmodule
