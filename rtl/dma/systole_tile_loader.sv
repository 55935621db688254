// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loads weight tiles from the unified buffer (bf16) as a `tiles` descriptor says. Throughput: one stored row per cycle
// while the window is granted and the weight FIFO has room; elements outside a tile are 0. Latency: a beat follows the
// grant of its last row by two cycles.
// Docs: docs/dma.md, docs/isa.md. Test: tests/rtl/dma.

module systole_tile_loader
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini),
    localparam int unsigned W = word_bytes(Cfg),
    localparam int unsigned D = beat_bytes(Cfg)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  freeze_i,

    output logic                  start_ready_o,
    input  logic                  start_i,
    input  desc_t                 start_desc_i,
    output logic                  busy_o,         // rows are left to read or in flight
    output fault_e                fault_code_o,   // while it is not FaultNone, nothing moves
    output logic [AddrBits-1:0]   fault_addr_o,
    output logic                  step_o,         // a row was requested
    output logic                  full_o,         // a row waits for room in the FIFO

    // Window of the unified buffer.
    output logic                  win_valid_o,
    output logic [UbAddrBits-1:0] win_addr_o,
    output logic [1:0]            win_need_o,
    input  logic                  win_ready_i,
    input  logic                  win_rsp_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [W*8-1:0]        win_data_i,
    // verilator lint_on UNUSEDSIGNAL

    // Weight FIFO.
    input  logic [15:0]           wf_free_i,      // free space in beats
    output logic                  beat_valid_o,
    output logic [D*8-1:0]        beat_data_o
);
  localparam int unsigned Rows = Cfg.Rows;
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned ElementBits = 8 * element_bytes(Cfg);
  localparam int unsigned RowBits = Cols * ElementBits;
  localparam int unsigned RowsPerBeat = D * 8 / RowBits;
  localparam int unsigned SubBits = RowsPerBeat > 1 ? $clog2(RowsPerBeat) : 1;
  localparam int unsigned OffBits = $clog2(W);
  localparam int unsigned EndBits = UbAddrBits + 1;  // with room for the first address beyond the end
  typedef logic [41:0]               addr_t;   // wide enough that no field can overflow it
  typedef logic signed [EndBits:0]   limit_t;

  // verilator lint_off UNUSEDSIGNAL
  tiles_desc_t n, d_q;
  // verilator lint_on UNUSEDSIGNAL
  assign n = tiles_desc_t'(start_desc_i);

  // The next row. It is checked when it moves to the window stage.
  logic                    next_valid_q, illegal_q, odd_q;
  addr_t                   row_addr_q, tile_addr_q;
  limit_t                  limit_q;        // the last address at which a row fits
  logic [$clog2(Rows)-1:0] row_q;
  logic [15:0]             tiles_left_q;
  logic [SubBits-1:0]      sub_q;
  logic                    stored, row_last, tile_last, sub_last, move;

  assign stored    = 32'(row_q) < 32'(d_q.rows);
  assign row_last  = 32'(row_q) == Rows - 1;
  assign tile_last = tiles_left_q == 16'd1;
  assign sub_last  = 32'(sub_q) == RowsPerBeat - 1;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      d_q          <= n;
      row_addr_q   <= addr_t'(n.ub_addr);
      tile_addr_q  <= addr_t'(n.ub_addr);
      limit_q      <= limit_t'(Cfg.UbBytes) - limit_t'(32'(n.cols) * element_bytes(Cfg));
      tiles_left_q <= n.tiles;
      row_q        <= '0;
      sub_q        <= '0;
      illegal_q    <= n.tiles == '0 || n.rows == '0 || 32'(n.rows) > Rows || n.cols == '0 || 32'(n.cols) > Cols;
      odd_q        <= n.ub_addr[0] || n.pitch[0] || n.tile_stride[0];
    end else if (move) begin
      row_q      <= row_q + 1'b1;
      sub_q      <= sub_last ? '0 : sub_q + 1'b1;
      row_addr_q <= row_addr_q + addr_t'(d_q.pitch);
      if (row_last) begin
        tiles_left_q <= tiles_left_q - 1'b1;
        tile_addr_q  <= tile_addr_q + addr_t'(d_q.tile_stride);
        row_addr_q   <= tile_addr_q + addr_t'(d_q.tile_stride);
      end
    end
  end

  // The row at the window; its request is registered. The first row of a beat waits for room in the FIFO; the room is
  // that of the last cycle.
  typedef struct packed {
    logic       stored;
    logic       last;  // last row of its beat
    logic [8:0] cols;
  } flight_t;
  flight_t                 row_d, now_q;
  logic                    active_q, begins_q, illegal_now_q, odd_now_q, outside_q, room1_q, room2_q, began_q, bad, go, step;
  logic [AddrBits-1:0]     addr_q;
  logic [1:0]              need_q;
  logic [15:0]             under_way_q;  // beats started and not delivered

  assign row_d        = '{stored: stored, last: sub_last, cols: d_q.cols};
  assign move         = next_valid_q && (!active_q || step) && !bad;
  assign bad          = active_q && (illegal_now_q || odd_now_q || outside_q);

  always_ff @(posedge clk_i) begin
    room1_q <= under_way_q < wf_free_i;
    room2_q <= under_way_q + 16'd1 < wf_free_i;
    if (move) begin
      now_q         <= row_d;
      addr_q        <= row_addr_q[AddrBits-1:0];
      need_q        <= {32'(row_addr_q[OffBits-1:0]) + 32'(d_q.cols) * element_bytes(Cfg) > W, 1'b1};
      begins_q      <= sub_q == '0;
      illegal_now_q <= illegal_q;  // applies to all rows, so there is no second row
      odd_now_q     <= odd_q;
      outside_q     <= stored && (row_addr_q[41:EndBits] != '0
                                  || limit_t'({1'b0, row_addr_q[EndBits-1:0]}) > limit_q);
    end
  end

  // The next descriptor has not been taken when a fault is reported, so d_q is the faulting one.
  always_comb begin
    fault_code_o = FaultNone;
    fault_addr_o = addr_q;
    if (active_q) begin
      if (illegal_now_q) begin
        fault_code_o = FaultIllegalDescriptor;
        fault_addr_o = '0;
      end else if (odd_now_q) begin
        fault_code_o = FaultMisaligned;
        fault_addr_o = d_q.ub_addr[0] ? AddrBits'(d_q.ub_addr) : d_q.pitch[0] ? AddrBits'(d_q.pitch) : AddrBits'(d_q.tile_stride);
      end else if (outside_q) begin
        fault_code_o = FaultUbRange;
      end
    end
  end

  assign full_o        = active_q && begins_q && !(began_q ? room2_q : room1_q);
  assign go            = active_q && !bad && !freeze_i && !full_o;
  assign win_valid_o   = go && now_q.stored;
  assign win_addr_o    = addr_q[UbAddrBits-1:0];
  assign win_need_o    = need_q;
  assign step          = go && (!now_q.stored || win_ready_i);
  assign step_o        = step;
  assign start_ready_o = !next_valid_q && !bad;

  // Rows in flight, two cycles that match the latency of the buffer. A beat is complete with its last row.
  flight_t            flight1_q, flight2_q;
  logic               valid1_q, valid2_q;
  logic [RowBits-1:0] row;

  for (genvar c = 0; c < Cols; c++) begin : gen_element
    assign row[c*ElementBits+:ElementBits] =
        flight2_q.stored && c < 32'(flight2_q.cols) ? win_data_i[c*ElementBits+:ElementBits] : '0;
  end
  assign beat_valid_o = valid2_q && flight2_q.last;
  assign busy_o       = next_valid_q || active_q || valid1_q || valid2_q;

  if (RowsPerBeat > 1) begin : gen_assemble
    logic [D*8-RowBits-1:0] held_q;  // earlier rows of the beat, the oldest in the lowest bits
    assign beat_data_o = {row, held_q};
    always_ff @(posedge clk_i) if (valid2_q) held_q <= beat_data_o[D*8-1:RowBits];
  end else begin : gen_direct
    assign beat_data_o = row;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      active_q     <= 1'b0;
      valid1_q     <= 1'b0;
      valid2_q     <= 1'b0;
      under_way_q  <= '0;
    end else begin
      if (start_i) next_valid_q <= 1'b1;
      else if (move && row_last && tile_last) next_valid_q <= 1'b0;
      if (move) active_q <= 1'b1;
      else if (step) active_q <= 1'b0;
      valid1_q <= step;
      valid2_q <= valid1_q;
      under_way_q <= under_way_q + 16'(step && begins_q) - 16'(beat_valid_o);
    end
  end
  always_ff @(posedge clk_i) begin
    began_q   <= step && begins_q;
    flight1_q <= now_q;
    flight2_q <= flight1_q;
  end

  // Checks: rows fill whole beats; responses come when expected; a start only when ready.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_beats : assert (RowsPerBeat >= 1 && RowsPerBeat * RowBits == D * 8);
      a_answer : assert (win_rsp_valid_i == (valid2_q && flight2_q.stored));
      a_start : assert (!start_i || start_ready_o);
    end
  end
endmodule
