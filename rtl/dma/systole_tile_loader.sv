// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loads weight tiles from the unified buffer (bf16) as a `tiles` descriptor says. Throughput: one beat of RowsPerBeat
// stored rows per cycle while their windows are granted and the weight FIFO has room; elements outside a tile are 0.
// Rows side by side in the buffer take one window together. Latency: a beat follows the grant of its last window by two
// cycles.
// Docs: docs/dma.md, docs/isa.md. Test: tests/rtl/dma.

module systole_tile_loader
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini),
    localparam int unsigned W = word_bytes(Cfg),
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned RowsPerBeat = tile_windows(Cfg)
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
    output logic                  step_o,         // a window was granted, or a beat needs none
    output logic                  full_o,         // a beat waits for room in the FIFO

    // Windows of the unified buffer.
    output logic [RowsPerBeat-1:0] win_valid_o,
    output logic [RowsPerBeat-1:0][UbAddrBits-1:0] win_addr_o,
    output logic [RowsPerBeat-1:0][1:0] win_need_o,
    input  logic [RowsPerBeat-1:0] win_ready_i,
    input  logic [RowsPerBeat-1:0] win_rsp_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [RowsPerBeat-1:0][W*8-1:0] win_data_i,
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
  localparam int unsigned BeatsPerTile = Rows / RowsPerBeat;
  localparam int unsigned BeatBits = BeatsPerTile > 1 ? $clog2(BeatsPerTile) : 1;
  localparam int unsigned OffBits = $clog2(W);
  localparam int unsigned EndBits = UbAddrBits + 1;  // with room for the first address beyond the end
  typedef logic [41:0]               addr_t;   // wide enough that no field can overflow it
  typedef logic signed [EndBits:0]   limit_t;

  // verilator lint_off UNUSEDSIGNAL
  tiles_desc_t n, d_q;
  // verilator lint_on UNUSEDSIGNAL
  assign n = tiles_desc_t'(start_desc_i);

  // The next beat: the address of each of its rows. It is checked when it moves to the window stage.
  logic                    next_valid_q, illegal_q, odd_q, joined_q;
  addr_t                   row_addr_q [RowsPerBeat], tile_addr_q [RowsPerBeat];
  limit_t                  limit_q;        // the last address at which a row fits
  logic [BeatBits-1:0]     beat_q;         // of the tile
  logic [15:0]             tiles_left_q;
  logic [RowsPerBeat-1:0]  stored;
  logic                    beat_last, tile_last, move;

  for (genvar i = 0; i < RowsPerBeat; i++) begin : gen_stored
    assign stored[i] = 32'(beat_q) * RowsPerBeat + i < 32'(d_q.rows);
  end
  assign beat_last = 32'(beat_q) == BeatsPerTile - 1;
  assign tile_last = tiles_left_q == 16'd1;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      d_q          <= n;
      limit_q      <= limit_t'(Cfg.UbBytes) - limit_t'(32'(n.cols) * element_bytes(Cfg));
      tiles_left_q <= n.tiles;
      beat_q       <= '0;
      illegal_q    <= n.tiles == '0 || n.rows == '0 || 32'(n.rows) > Rows || n.cols == '0 || 32'(n.cols) > Cols;
      odd_q        <= n.ub_addr[0] || n.pitch[0] || n.tile_stride[0];
      joined_q     <= RowsPerBeat > 1 && D <= W && 32'(n.cols) == Cols && 32'(n.pitch) == RowBits / 8;
      for (int unsigned i = 0; i < RowsPerBeat; i++) begin
        row_addr_q[i]  <= addr_t'(n.ub_addr) + addr_t'(i) * addr_t'(n.pitch);
        tile_addr_q[i] <= addr_t'(n.ub_addr) + addr_t'(i) * addr_t'(n.pitch);
      end
    end else if (move) begin
      beat_q <= beat_last ? '0 : beat_q + 1'b1;
      if (beat_last) tiles_left_q <= tiles_left_q - 1'b1;
      for (int unsigned i = 0; i < RowsPerBeat; i++) begin
        if (beat_last) tile_addr_q[i] <= tile_addr_q[i] + addr_t'(d_q.tile_stride);
        // One assignment: Verilator 5.032 takes an earlier one for the last where both are to an element of an array.
        row_addr_q[i] <= beat_last ? tile_addr_q[i] + addr_t'(d_q.tile_stride)
                                   : row_addr_q[i] + addr_t'(RowsPerBeat) * addr_t'(d_q.pitch);
      end
    end
  end

  // The beat at the windows; their requests are registered and leave one by one or together. The beat waits for room in
  // the FIFO; the room is that of the last cycle.
  typedef struct packed {
    logic [RowsPerBeat-1:0] stored;
    logic                   joined;
    logic [8:0]             cols;
  } flight_t;
  flight_t                 beat_d, now_q;
  logic                    active_q, illegal_now_q, odd_now_q, room1_q, room2_q, began_q, bad, go, step;
  logic [RowsPerBeat-1:0]  outside_q, wants, granted_q;  // granted_q: windows of the beat, in earlier cycles
  logic [RowsPerBeat-1:0][AddrBits-1:0] addr_q;
  logic [RowsPerBeat-1:0][1:0] need_q;
  logic [15:0]             under_way_q;  // beats started and not delivered

  assign beat_d       = '{stored: stored, joined: joined_q, cols: d_q.cols};
  assign move         = next_valid_q && (!active_q || step) && !bad;
  assign bad          = active_q && (illegal_now_q || odd_now_q || outside_q != '0);

  always_ff @(posedge clk_i) begin
    room1_q <= under_way_q < wf_free_i;
    room2_q <= under_way_q + 16'd1 < wf_free_i;
    if (move) begin
      now_q         <= beat_d;
      illegal_now_q <= illegal_q;  // applies to all rows, so there is no second beat
      odd_now_q     <= odd_q;
      for (int unsigned i = 0; i < RowsPerBeat; i++) begin
        addr_q[i]    <= row_addr_q[i][AddrBits-1:0];
        need_q[i]    <= {32'(row_addr_q[i][OffBits-1:0]) + (joined_q ? D : 32'(d_q.cols) * element_bytes(Cfg)) > W, 1'b1};
        outside_q[i] <= stored[i] && (row_addr_q[i][41:EndBits] != '0
                                      || limit_t'({1'b0, row_addr_q[i][EndBits-1:0]}) > limit_q);
      end
    end
  end

  // The next descriptor has not been taken when a fault is reported, so d_q is the faulting one.
  always_comb begin
    fault_code_o = FaultNone;
    fault_addr_o = addr_q[0];
    if (active_q) begin
      if (illegal_now_q) begin
        fault_code_o = FaultIllegalDescriptor;
        fault_addr_o = '0;
      end else if (odd_now_q) begin
        fault_code_o = FaultMisaligned;
        fault_addr_o = d_q.ub_addr[0] ? AddrBits'(d_q.ub_addr) : d_q.pitch[0] ? AddrBits'(d_q.pitch) : AddrBits'(d_q.tile_stride);
      end else if (outside_q != '0) begin
        fault_code_o = FaultUbRange;
        for (int unsigned i = RowsPerBeat; i > 0; i--) if (outside_q[i-1]) fault_addr_o = addr_q[i-1];
      end
    end
  end

  assign full_o        = active_q && !(began_q ? room2_q : room1_q);
  assign go            = active_q && !bad && !freeze_i && (!full_o || granted_q != '0);
  assign wants         = now_q.joined ? RowsPerBeat'(now_q.stored[0]) : now_q.stored;
  assign win_valid_o   = go ? wants & ~granted_q : '0;
  assign win_need_o    = need_q;
  assign step          = go && (win_valid_o & ~win_ready_i) == '0;
  assign step_o        = step || (win_valid_o & win_ready_i) != '0;
  assign start_ready_o = !next_valid_q && !bad;
  for (genvar i = 0; i < RowsPerBeat; i++) begin : gen_address
    assign win_addr_o[i] = addr_q[i][UbAddrBits-1:0];
  end

  // Beats in flight, two cycles that match the latency of the buffer. Windows that were granted before the last one
  // have their data early and keep them.
  flight_t flight1_q, flight2_q;
  logic    valid1_q, valid2_q;

  for (genvar i = 0; i < RowsPerBeat; i++) begin : gen_row
    logic [RowBits-1:0] row, held_q;
    assign row = win_rsp_valid_i[i] ? win_data_i[i][RowBits-1:0] : held_q;
    always_ff @(posedge clk_i) if (win_rsp_valid_i[i]) held_q <= win_data_i[i][RowBits-1:0];
    for (genvar c = 0; c < Cols; c++) begin : gen_element
      logic [ElementBits-1:0] element;
      if (D <= W) begin : gen_joined
        assign element = flight2_q.joined ? win_data_i[0][i*RowBits+c*ElementBits+:ElementBits] : row[c*ElementBits+:ElementBits];
      end else begin : gen_apart
        assign element = row[c*ElementBits+:ElementBits];
      end
      assign beat_data_o[i*RowBits+c*ElementBits+:ElementBits] =
          flight2_q.stored[i] && c < 32'(flight2_q.cols) ? element : '0;
    end
  end
  assign beat_valid_o = valid2_q;
  assign busy_o       = next_valid_q || active_q || valid1_q || valid2_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      active_q     <= 1'b0;
      valid1_q     <= 1'b0;
      valid2_q     <= 1'b0;
      under_way_q  <= '0;
      granted_q    <= '0;
    end else begin
      if (start_i) next_valid_q <= 1'b1;
      else if (move && beat_last && tile_last) next_valid_q <= 1'b0;
      if (move) active_q <= 1'b1;
      else if (step) active_q <= 1'b0;
      valid1_q <= step;
      valid2_q <= valid1_q;
      under_way_q <= under_way_q + 16'(step) - 16'(beat_valid_o);
      granted_q   <= step || !active_q ? '0 : granted_q | (win_valid_o & win_ready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    began_q   <= step;
    flight1_q <= now_q;
    flight2_q <= flight1_q;
  end

  // Checks: rows fill whole beats; responses come when expected; a start only when ready.
  logic [RowsPerBeat-1:0] asked1_q, asked2_q;
  always_ff @(posedge clk_i) begin
    asked1_q <= rst_ni ? win_valid_o & win_ready_i : '0;
    asked2_q <= rst_ni ? asked1_q : '0;
    if (rst_ni) begin
      a_beats : assert (RowsPerBeat >= 1 && RowsPerBeat * RowBits == D * 8);
      a_answer : assert (win_rsp_valid_i == asked2_q);
      a_start : assert (!start_i || start_ready_o);
    end
  end
endmodule
