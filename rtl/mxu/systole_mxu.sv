// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Matrix unit: data setup, weight FIFO, systolic array, tags. A vector granted in cycle g reaches the accumulators in cycle
// g + 4 + Rows + Cols; passes of at least max(Rows, Cols) + 1 vectors run back to back. Up to MaxInFlight descriptors.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_mxu
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter cfg_t Cfg = preset(PresetNano),
    parameter int unsigned S = Cfg.Segments,      // derived, do not set
    parameter int unsigned W = Cfg.Rows,          // derived, do not set
    parameter int unsigned D = beat_bytes(Cfg)    // derived, do not set
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         freeze_i,
    input  logic                         flush_i,   // start of a program: the weight FIFO forgets its tiles
    input  logic [1:0]                   stall_i,   // hold: descriptor start, tile load

    // Unit interface (docs/design.md).
    input  logic                         start_valid_i,
    output logic                         start_ready_o,
    input  desc_t                        start_desc_i,
    output logic                         done_o,
    output logic                         fault_valid_o,
    output fault_e                       fault_code_o,
    output logic [AddrBits-1:0]          fault_addr_o,
    output logic                         fault_newest_o,
    output logic                         progress_o,

    // Weight loader.
    input  logic                         wf_valid_i,
    input  logic [D*8-1:0]               wf_data_i,
    output logic [15:0]                  wf_free_o,

    // Unified buffer windows.
    output logic [S-1:0]                 win_valid_o,
    output logic [S-1:0][UbAddrBits-1:0] win_addr_o,
    output logic [S-1:0][1:0]            win_need_o,
    input  logic [S-1:0]                 win_ready_i,
    input  logic [S-1:0]                 win_rsp_valid_i,
    input  logic [S-1:0][W*8-1:0]        win_data_i,

    // Accumulators.
    output logic                         acc_wr_valid_o,
    output logic                         acc_wr_accumulate_o,
    output logic [AccAddrBits-1:0]       acc_wr_row_o,
    output logic signed [31:0]           acc_wr_data_o [Cfg.Cols],
    input  logic                         acc_wr_done_i,   // the row written two cycles ago is in the memory

    // Counter strobes.
    output logic                         vector_o,
    output logic                         stall_weights_o,  // waits for a tile: none in the FIFO
    output logic                         stall_swap_o,     // waits for a tile: the array is not free for it yet
    output logic                         stall_ub_o
);
  localparam int unsigned Rows = Cfg.Rows;
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Latency = Rows + Cols + 1;  // of the array
  localparam int unsigned TagSlots = 1 << $clog2(Latency + 1);
  localparam int unsigned TagBits = $clog2(TagSlots);
  localparam int unsigned FilledBits = $clog2(Latency);
  localparam int unsigned MaxInFlight = 8;
  localparam int unsigned CoolBits = $clog2(Cols + 1);

  // Data setup.
  logic                   sds_ready, pass_first, stall_tile, tile_ready;
  logic                   sds_fault;
  fault_e                 sds_fault_code;
  logic [AddrBits-1:0]    sds_fault_addr;
  logic                   vec_valid, vec_bank, vec_accumulate, vec_done, sds_busy;
  logic [7:0]             vec [W];
  logic [AccAddrBits-1:0] vec_row;
  logic [3:0]             in_flight_q;
  logic                   room, start;

  assign room          = in_flight_q != 4'(MaxInFlight);
  assign start_ready_o = sds_ready && room && !stall_i[0];
  assign start         = start_valid_i && start_ready_o;

  systole_sds #(.Cfg(Cfg)) u_sds (
      .clk_i, .rst_ni, .freeze_i, .flush_i,
      .start_valid_i(start_valid_i && room && !stall_i[0]), .start_ready_o(sds_ready), .start_desc_i,
      .fault_valid_o(sds_fault), .fault_code_o(sds_fault_code), .fault_addr_o(sds_fault_addr),
      .win_valid_o, .win_addr_o, .win_need_o, .win_ready_i, .win_rsp_valid_i, .win_data_i,
      .tile_ready_i(tile_ready), .pass_first_o(pass_first),
      .vec_valid_o(vec_valid), .vec_o(vec), .vec_bank_o(vec_bank), .vec_row_o(vec_row),
      .vec_accumulate_o(vec_accumulate), .vec_done_o(vec_done),
      .busy_o(sds_busy), .stall_weights_o(stall_tile), .stall_ub_o
  );

  // A fault concerns the descriptor that the data setup works on: the last one started.
  always_ff @(posedge clk_i) begin
    fault_valid_o <= rst_ni && sds_fault;
    if (sds_fault) begin
      fault_code_o <= sds_fault_code;
      fault_addr_o <= sds_fault_addr;
    end
  end
  assign fault_newest_o = 1'b1;

  // Tiles: one in use, one ahead in the other bank. The next tile may enter Cols cycles after a pass began to use the tile before it,
  // for then the last vector of the tile two before is Cols columns ahead of the first row written. Its rows follow one a cycle.
  logic                    tile_there, load, load_busy, row_valid;
  logic [7:0]              row [Cols];
  logic [$clog2(Rows)-1:0] load_row_q, write_row_q;
  logic                    load_busy_q, load_bank_q, write_bank_q;
  logic                    ahead_q;   // a tile is on its way or in the array, and no pass has begun to use it
  logic [CoolBits-1:0]     cool_q;

  assign load       = !load_busy_q && !ahead_q && cool_q == '0 && tile_there && !stall_i[1] && !freeze_i;
  assign load_busy  = load || load_busy_q;
  assign tile_ready = ahead_q;
  assign stall_weights_o = stall_tile && !tile_there;
  assign stall_swap_o    = stall_tile && tile_there;

  systole_weight_fifo #(.Cfg(Cfg)) u_weight_fifo (
      .clk_i, .rst_ni, .flush_i, .wf_valid_i, .wf_data_i, .wf_free_o,
      .tile_o(tile_there), .read_i(load_busy), .row_valid_o(row_valid), .row_o(row)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      load_busy_q  <= 1'b0;
      load_row_q   <= '0;
      load_bank_q  <= 1'b0;
      write_row_q  <= '0;
      write_bank_q <= 1'b0;
      ahead_q      <= 1'b0;
      cool_q       <= '0;
    end else begin
      if (load_busy) begin
        load_row_q  <= load_row_q + 1'b1;
        load_busy_q <= 32'(load_row_q) != Rows - 1;
        if (32'(load_row_q) == Rows - 1) load_bank_q <= !load_bank_q;
      end
      if (row_valid) begin
        write_row_q <= write_row_q + 1'b1;
        if (32'(write_row_q) == Rows - 1) write_bank_q <= !write_bank_q;
      end
      if (load) ahead_q <= 1'b1;
      else if (pass_first) ahead_q <= 1'b0;
      if (pass_first) cool_q <= CoolBits'(Cols);
      else if (cool_q != '0) cool_q <= cool_q - 1'b1;
    end
  end

  // Array and tags.
  typedef struct packed {
    logic                   valid;
    logic                   done;
    logic                   accumulate;
    logic [AccAddrBits-1:0] row;
  } tag_t;
  tag_t               tag_q [TagSlots];
  logic [TagBits-1:0] tag_ptr_q;
  logic [FilledBits-1:0] filled_q;  // tags written since the reset, as far as they matter
  logic [$clog2(Latency+2)-1:0] drain_q;  // cycles until the last vector has left
  logic               enable;
  tag_t               tag_in, tag_out, tag_out_q;

  assign enable  = vec_valid || drain_q != '0;
  assign tag_in  = '{valid: vec_valid, done: vec_done, accumulate: vec_accumulate, row: vec_row};
  assign tag_out = tag_q[tag_ptr_q-TagBits'(Latency-1)];

  systole_mxu_array #(.Rows(Rows), .Cols(Cols)) u_array (
      .clk_i, .enable_i(enable), .vec_bank_i(vec_bank), .vec_i(vec),
      .wl_valid_i(row_valid), .wl_bank_i(write_bank_q), .wl_row_i(write_row_q), .wl_data_i(row),
      .sum_o(acc_wr_data_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      drain_q   <= '0;
      tag_ptr_q <= '0;
      tag_out_q <= '0;
      filled_q  <= '0;
    end else begin
      if (vec_valid) drain_q <= ($clog2(Latency + 2))'(Latency + 1);
      else if (drain_q != '0) drain_q <= drain_q - 1'b1;
      if (enable) tag_ptr_q <= tag_ptr_q + 1'b1;
      tag_out_q       <= tag_out;
      tag_out_q.valid <= enable && tag_out.valid && filled_q == FilledBits'(Latency - 1);
      if (enable && filled_q != FilledBits'(Latency - 1)) filled_q <= filled_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (enable) tag_q[tag_ptr_q] <= tag_in;

  assign acc_wr_valid_o      = tag_out_q.valid;
  assign acc_wr_row_o        = tag_out_q.row;
  assign acc_wr_accumulate_o = tag_out_q.accumulate;

  // Complete when the last row is in the accumulators.
  logic done1_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done1_q     <= 1'b0;
      in_flight_q <= '0;
    end else begin
      done1_q     <= tag_out_q.valid && tag_out_q.done;
      in_flight_q <= in_flight_q + 4'(start) - 4'(done_o);
    end
  end
  assign done_o     = done1_q && acc_wr_done_i;
  assign vector_o   = vec_valid;
  assign progress_o = vec_valid || drain_q != '0 || row_valid;

  // Each descriptor that began ends once; a row of a tile is written where the array expects it.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_in_flight : assert (!done_o || in_flight_q != '0);
      a_start_room : assert (!start || room);
      a_done : assert (!done1_q || acc_wr_done_i);
      a_pass : assert (!pass_first || ahead_q);
      a_banks : assert (flush_i || load_busy || row_valid || load_bank_q == write_bank_q);
      a_busy : assert (!sds_busy || in_flight_q != '0);
    end
  end
endmodule
