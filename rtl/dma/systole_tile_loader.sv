// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight tiles from the unified buffer (bf16): walks a `tiles` descriptor, one stored row a cycle while the window is granted and the
// weight FIFO has room; what a tile lacks is 0. Beats for the FIFO come two cycles after their last row was granted.
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
    output logic                  busy_o,         // rows to be read or on their way
    output fault_e                fault_code_o,   // while it stands, nothing moves
    output logic [AddrBits-1:0]   fault_addr_o,
    output logic                  step_o,         // a row was asked for
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
    input  logic [15:0]           wf_free_i,      // beats of room
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
  typedef logic [41:0] addr_t;  // wide enough that no field can wrap it

  // verilator lint_off UNUSEDSIGNAL
  tiles_desc_t n, d_q;
  // verilator lint_on UNUSEDSIGNAL
  assign n = tiles_desc_t'(start_desc_i);

  // The stored row at hand.
  logic                    active_q, first_q, illegal_q;
  logic [AddrBits-1:0]     odd_q;          // the first value that is not a multiple of the element
  addr_t                   row_addr_q, tile_addr_q;
  logic [$clog2(Rows)-1:0] row_q;
  logic [15:0]             tiles_left_q, under_way_q;  // tiles; beats begun that have not come
  logic [SubBits-1:0]      sub_q;
  logic                    stored, row_last, sub_last, go, step;
  addr_t                   row_end;

  assign stored   = 32'(row_q) < 32'(d_q.rows);
  assign row_last = 32'(row_q) == Rows - 1;
  assign sub_last = 32'(sub_q) == RowsPerBeat - 1;
  assign row_end  = row_addr_q + addr_t'(d_q.cols) * addr_t'(element_bytes(Cfg));

  always_comb begin
    fault_code_o = FaultNone;
    fault_addr_o = row_addr_q[AddrBits-1:0];
    if (active_q) begin
      if (first_q && illegal_q) begin
        fault_code_o = FaultIllegalDescriptor;
        fault_addr_o = '0;
      end else if (first_q && odd_q[0]) begin
        fault_code_o = FaultMisaligned;
        fault_addr_o = odd_q;
      end else if (stored && row_end > addr_t'(Cfg.UbBytes)) begin
        fault_code_o = FaultUbRange;
      end
    end
  end

  assign go            = active_q && fault_code_o == FaultNone && !freeze_i && !full_o;
  assign full_o        = active_q && sub_q == '0 && under_way_q >= wf_free_i;
  assign win_valid_o   = go && stored;
  assign win_addr_o    = row_addr_q[UbAddrBits-1:0];
  assign win_need_o    = {32'(row_addr_q[OffBits-1:0]) + 32'(d_q.cols) * element_bytes(Cfg) > W, 1'b1};
  assign step          = go && (!stored || win_ready_i);
  assign step_o        = step;
  assign start_ready_o = !active_q || (step && row_last && tiles_left_q == 16'd1);

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      d_q          <= n;
      row_addr_q   <= addr_t'(n.ub_addr);
      tile_addr_q  <= addr_t'(n.ub_addr);
      tiles_left_q <= n.tiles;
      row_q        <= '0;
      sub_q        <= '0;
      first_q      <= 1'b1;
      illegal_q    <= n.tiles == '0 || n.rows == '0 || 32'(n.rows) > Rows || n.cols == '0 || 32'(n.cols) > Cols;
      odd_q        <= n.ub_addr[0] ? AddrBits'(n.ub_addr) : n.pitch[0] ? AddrBits'(n.pitch) : AddrBits'(n.tile_stride);
    end else if (step) begin
      first_q    <= 1'b0;
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

  // Rows on their way, two cycles beside the buffer's answer; a beat is complete with its last row.
  typedef struct packed {
    logic       stored;
    logic       last;  // of its beat
    logic [8:0] cols;
  } flight_t;
  flight_t            flight1_q, flight2_q;
  logic               valid1_q, valid2_q;
  logic [RowBits-1:0] row;

  for (genvar c = 0; c < Cols; c++) begin : gen_element
    assign row[c*ElementBits+:ElementBits] =
        flight2_q.stored && c < 32'(flight2_q.cols) ? win_data_i[c*ElementBits+:ElementBits] : '0;
  end
  assign beat_valid_o = valid2_q && flight2_q.last;
  assign busy_o       = active_q || valid1_q || valid2_q;

  if (RowsPerBeat > 1) begin : gen_assemble
    logic [D*8-RowBits-1:0] held_q;  // earlier rows of the beat, the oldest lowest
    assign beat_data_o = {row, held_q};
    always_ff @(posedge clk_i) if (valid2_q) held_q <= beat_data_o[D*8-1:RowBits];
  end else begin : gen_direct
    assign beat_data_o = row;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q    <= 1'b0;
      valid1_q    <= 1'b0;
      valid2_q    <= 1'b0;
      under_way_q <= '0;
    end else begin
      if (start_i) active_q <= 1'b1;
      else if (step && row_last && tiles_left_q == 16'd1) active_q <= 1'b0;
      valid1_q    <= step;
      valid2_q    <= valid1_q;
      under_way_q <= under_way_q + 16'(step && sub_q == '0) - 16'(beat_valid_o);
    end
  end
  always_ff @(posedge clk_i) begin
    if (step) flight1_q <= '{stored: stored, last: sub_last, cols: d_q.cols};
    if (valid1_q) flight2_q <= flight1_q;
  end

  // A row fills whole beats; answers come when expected.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_beats : assert (RowsPerBeat >= 1 && RowsPerBeat * RowBits == D * 8);
      a_answer : assert (win_rsp_valid_i == (valid2_q && flight2_q.stored));
      a_start : assert (!start_i || start_ready_o);
    end
  end
endmodule
