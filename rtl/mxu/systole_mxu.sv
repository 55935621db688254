// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Matrix unit: data setup, transposer (bf16), weight FIFO, systolic array, tags. Latency: a vector whose step is in
// cycle g enters the array in cycle g + 3 and reaches the accumulators array_latency + 1 cycles after that. Throughput:
// one vector per cycle; a tile each BlockRows cycles; passes of at least bank_cycles vectors run back to back. Up to
// MaxInFlight descriptors are in flight.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_mxu
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_mxu_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    localparam int unsigned S = Cfg.Segments,
    localparam int unsigned W = word_bytes(Cfg),
    localparam int unsigned D = beat_bytes(Cfg)
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         freeze_i,
    input  logic                         flush_i,   // start of a program: the weight FIFO discards its tiles

    // Unit interface (docs/design.md).
    input  unit_req_t                    req_i,
    output unit_rsp_t                    rsp_o,

    // Weight loader.
    input  logic                         wf_valid_i,
    input  logic [D*8-1:0]               wf_data_i,
    input  logic                         wf_transpose_i,  // of the tile: its rows are columns of the array
    output logic [15:0]                  wf_free_o,

    // Unified buffer windows.
    output logic [S-1:0]                 win_valid_o,
    output logic [S-1:0][UbAddrBits-1:0] win_addr_o,
    output logic [S-1:0][1:0]            win_need_o,
    input  logic [S-1:0]                 win_ready_i,
    input  logic [S-1:0]                 win_rsp_valid_i,
    input  logic [S-1:0][W*8-1:0]        win_data_i,

    // Accumulators. Feed (bf16): the row that a vector starts from; the data follows two cycles later and is 0 without
    // a read. Write: the row of sums.
    output logic                         acc_feed_valid_o,
    output logic                         acc_feed_read_o,
    output logic [AccAddrBits-1:0]       acc_feed_row_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0]           acc_feed_data_i [Cfg.Cols],
    // verilator lint_on UNUSEDSIGNAL
    output logic                         acc_wr_valid_o,
    output logic                         acc_wr_accumulate_o,
    output logic [AccAddrBits-1:0]       acc_wr_row_o,
    output logic signed [31:0]           acc_wr_data_o [Cfg.Cols],
    input  logic                         acc_wr_done_i,   // a row has been written and can be read from the next cycle on

    // Strobes of the performance counters.
    output logic                         vector_o,
    output logic                         stall_weights_o,  // stall: the next pass needs a tile and the FIFO has none
    output logic                         stall_swap_o,     // stall: the next pass needs a tile and the array is not free for it
    output logic                         stall_acc_o,      // stall: the sum that a vector starts from is not written yet
    output logic                         stall_ub_o
);
  localparam int unsigned Rows = Cfg.Rows;
  localparam int unsigned Cols = Cfg.Cols;
  localparam logic        Bf16 = Cfg.Cell == CellBf16;
  localparam int unsigned Stages = Cfg.CellStages;
  localparam int unsigned ElementBits = 8 * element_bytes(Cfg);
  localparam int unsigned Latency = array_latency(Rows, Cols, Stages);
  localparam int unsigned TagSlots = Latency - 1;
  localparam int unsigned TagBits = $clog2(TagSlots);
  localparam int unsigned FilledBits = $clog2(Latency);
  localparam int unsigned MaxInFlight = max_in_flight(Latency);
  localparam int unsigned Blocks = Cfg.LoadBuses * Cfg.LoadBuses;
  localparam int unsigned BlockRows = Rows / Cfg.LoadBuses;
  localparam int unsigned BlockCols = Cols / Cfg.LoadBuses;
  localparam int unsigned Cool = bank_cycles(Rows, Cols, Stages, Cfg.LoadBuses);
  localparam int unsigned CoolBits = $clog2(Cool + 1);
  // Stages == 2 is the int8 cell of FPGAs. Its array is always enabled, because an enable would be a net to a third of
  // the chip's registers.
  localparam logic        RunsOn = !Bf16 && Stages == 2;

  // Signals of the unit to its queue.
  logic                unit_ready, unit_done, unit_fault, unit_newest, unit_progress;
  fault_e              unit_code;
  logic [AddrBits-1:0] unit_addr;
  assign rsp_o = '{ready: unit_ready, done: unit_done, progress: unit_progress, fault: unit_fault, code: unit_code,
                   addr: unit_addr, newest: unit_newest};

  // Tag: travels with a vector from its step to the accumulators.
  typedef struct packed {
    logic                   valid;
    logic                   done;        // last vector of its descriptor
    logic                   accumulate;
    logic                   bank;        // weight bank
    logic [AccAddrBits-1:0] row;
  } tag_t;

  // Data setup.
  logic                   sds_ready, tile_ready;
  logic                   head_valid, head_take, head_accumulate, head_done, go, step;
  logic [AccAddrBits-1:0] head_row;
  // verilator lint_off UNUSEDSIGNAL
  logic                   head_transpose, head_pass_last;  // bf16 only
  logic [AccAddrBits:0]   start_rows;
  matmul_desc_t           start_desc;
  // verilator lint_on UNUSEDSIGNAL
  logic                   sds_valid;
  logic [ElementBits-1:0] sds_vec [Rows];
  logic [$clog2(MaxInFlight+1)-1:0] in_flight_q;
  logic                   room, start, hold_start, hold_load;

  // Start of a descriptor; load of a tile.
  systole_prim_hold #(.Streams(2)) u_hold (.clk_i, .hold_o({hold_load, hold_start}));

  assign room       = 32'(in_flight_q) != MaxInFlight;
  assign unit_ready = sds_ready && room && !hold_start;
  assign start      = req_i.valid && unit_ready;
  assign start_desc = req_i.desc;

  systole_sds #(.Cfg(Cfg)) u_sds (
      .clk_i, .rst_ni, .freeze_i,
      .start_peek_i(req_i.peek), .start_valid_i(req_i.valid && room && !hold_start), .start_ready_o(sds_ready), .start_desc_i(req_i.desc),
      .fault_valid_o(unit_fault), .fault_code_o(unit_code), .fault_addr_o(unit_addr), .start_rows_o(start_rows),
      .win_valid_o, .win_addr_o, .win_need_o, .win_ready_i, .win_rsp_valid_i, .win_data_i,
      .head_valid_o(head_valid), .head_take_o(head_take), .head_accumulate_o(head_accumulate),
      .head_transpose_o(head_transpose), .head_pass_last_o(head_pass_last), .head_done_o(head_done), .head_row_o(head_row),
      .go_i(go), .step_o(step), .vec_valid_o(sds_valid), .vec_o(sds_vec), .stall_ub_o
  );

  // The next vector to enter the array, three cycles after its step; it comes from the data setup or the transposer.
  // The first vector of a pass waits for a tile. A vector that starts from an accumulator row waits until no sum for
  // that row is in flight.
  logic                   next_valid, next_take, rows_ok, enter;
  tag_t                   next, tag1_q, tag2_q, vec_tag;  // vec_tag: tag of the vector that enters the array in this cycle
  logic [ElementBits-1:0] vec [Rows];
  logic signed [31:0]     vec_sum [Cols];
  logic                   tag_out_valid;
  // verilator lint_off UNUSEDSIGNAL
  tag_t                   tag_out, tag_out_q;  // tag of the vector whose sums leave the array; the same, one cycle later
  // verilator lint_on UNUSEDSIGNAL
  logic                   bank_q, pass_first, next_go;

  assign next_go      = (!next_take || tile_ready) && rows_ok;
  assign next.bank    = pass_first ? !bank_q : bank_q;  // without a vector, the bank in use stays selected
  assign next.valid   = enter;
  assign pass_first   = enter && next_take;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bank_q  <= 1'b1;
      tag1_q  <= '0;
      tag2_q  <= '0;
      vec_tag <= '0;
    end else begin
      if (flush_i) bank_q <= 1'b1;
      else if (pass_first) bank_q <= !bank_q;
      tag1_q  <= next;
      tag2_q  <= tag1_q;
      vec_tag <= tag2_q;
    end
  end

  if (Bf16) begin : gen_bf16
    logic                   empty, fill_ready, col_valid, col_take, col_accumulate, col_done, col_go, col1_q, col2_q, col3_q;
    logic [AccAddrBits-1:0] col_row;
    logic [ElementBits-1:0] col_vec [Rows];

    systole_transposer #(.Rows(Rows), .ElementBits(ElementBits)) u_transposer (
        .clk_i, .rst_ni, .empty_o(empty),
        .fill_ready_o(fill_ready), .fill_i(step && head_transpose), .fill_last_i(head_pass_last), .fill_take_i(head_take),
        .fill_accumulate_i(head_accumulate), .fill_done_i(head_done), .fill_row_i(head_row), .vec_i(sds_vec),
        .col_valid_o(col_valid), .col_take_o(col_take), .col_accumulate_o(col_accumulate), .col_done_o(col_done),
        .col_row_o(col_row), .col_go_i(col_go), .vec_o(col_vec)
    );

    // The transposer's blocks leave before the vectors behind them enter.
    assign next_valid      = col_valid || (head_valid && !head_transpose && empty);
    assign next_take       = col_valid ? col_take : head_take;
    assign next.accumulate = col_valid ? col_accumulate : head_accumulate;
    assign next.done       = col_valid ? col_done : head_done;
    assign next.row        = col_valid ? col_row : head_row;
    assign go              = head_transpose ? fill_ready : empty && next_go;
    assign col_go          = col_valid && next_go;
    assign enter           = col_go || (step && !head_transpose);

    systole_mxu_rows #(.Latency(Latency + 4), .MaxInFlight(MaxInFlight)) u_rows (
        .clk_i, .rst_ni,
        .start_i(start), .start_acc_i(start_desc.acc), .start_rows_i(start_rows),
        .read_i(next_valid && next.accumulate), .row_i(next.row), .ok_o(rows_ok),
        .enter_i(enter), .enter_done_i(next.done), .leave_i(tag_out_valid), .leave_done_i(tag_out.done)
    );

    always_ff @(posedge clk_i) begin
      col1_q <= col_go;
      col2_q <= col1_q;
      col3_q <= col2_q;
    end
    always_comb begin
      for (int unsigned i = 0; i < Rows; i++) vec[i] = col3_q ? col_vec[i] : sds_vec[i];
      for (int unsigned c = 0; c < Cols; c++) vec_sum[c] = acc_feed_data_i[c];
    end
    assign acc_feed_valid_o = tag1_q.valid;
    assign acc_feed_read_o  = tag1_q.accumulate;
    assign acc_feed_row_o   = tag1_q.row;
  end else begin : gen_int8
    assign next_valid      = head_valid;
    assign next_take       = head_take;
    assign next.accumulate = head_accumulate;
    assign next.done       = head_done;
    assign next.row        = head_row;
    assign rows_ok         = 1'b1;
    assign go              = next_go;
    assign enter           = step;
    always_comb begin
      for (int unsigned i = 0; i < Rows; i++) vec[i] = sds_vec[i];
      for (int unsigned c = 0; c < Cols; c++) vec_sum[c] = '0;
    end
    assign acc_feed_valid_o = 1'b0;
    assign acc_feed_read_o  = 1'b0;
    assign acc_feed_row_o   = '0;
  end

  // A fault always belongs to the newest descriptor: the one that the data setup works on.
  assign unit_newest = 1'b1;

  // Tiles: two banks, used in turns. A pass uses one; the other holds the tile of the next pass, is loaded with it, or
  // waits until the last vector of the pass before is ahead of the load in every row and column, Cool cycles after it
  // entered. That vector is the last one when the first vector of the next pass is there, even if it waits. Once begun,
  // a load takes BlockRows cycles, and the next one may follow at once. The cycle in which it begins is decided in the
  // cycle before.
  logic                    tile_there, load, load_q, load_bank_q, wait_tile;
  logic [$clog2(BlockRows)-1:0] load_row_q;  // of block 0; 0: no load is on its way
  logic [1:0]              full_q;           // the bank holds or is being loaded with a tile that no pass uses yet
  logic [1:0]              used_q;           // the bank is in use by a pass that may have more vectors
  logic [CoolBits-1:0]     cool_q [2];       // cycles until the bank may be loaded
  logic [Blocks-1:0]       row_valid, row_bank, row_transpose;
  logic [$clog2(BlockRows)-1:0] row_index [Blocks];
  logic [ElementBits-1:0]  row [Blocks][BlockCols];

  assign load = tile_there && !load_q && (load_row_q == '0 || 32'(load_row_q) == BlockRows - 1) && !full_q[load_bank_q] &&
                !used_q[load_bank_q] && cool_q[load_bank_q] <= CoolBits'(1) && !hold_load && !freeze_i;
  assign tile_ready = full_q[!bank_q];

  assign wait_tile       = next_valid && !freeze_i && next_take && !tile_ready;
  assign stall_weights_o = wait_tile && !tile_there;
  assign stall_swap_o    = wait_tile && tile_there;
  assign stall_acc_o     = next_valid && !freeze_i && !(next_take && !tile_ready) && !rows_ok;

  systole_weight_fifo #(.Cfg(Cfg)) u_weight_fifo (
      .clk_i, .rst_ni, .flush_i, .wf_valid_i, .wf_data_i, .wf_transpose_i, .wf_free_o,
      .tile_o(tile_there), .load_i(load_q), .row_valid_o(row_valid), .row_bank_o(row_bank), .row_transpose_o(row_transpose),
      .row_index_o(row_index), .row_o(row)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      load_q      <= 1'b0;
      load_row_q  <= '0;
      load_bank_q <= 1'b0;
      full_q      <= '0;
      used_q      <= '0;
      cool_q      <= '{default: '0};
    end else begin
      load_q <= load;
      if (load_q || load_row_q != '0) load_row_q <= load_row_q + 1'b1;
      if (load) begin
        load_bank_q         <= !load_bank_q;
        full_q[load_bank_q] <= 1'b1;
      end
      if (next_valid && next_take) used_q[bank_q] <= 1'b0;
      if (pass_first) begin
        full_q[!bank_q] <= 1'b0;
        used_q[!bank_q] <= 1'b1;
      end
      for (int unsigned b = 0; b < 2; b++) begin
        if (enter && next.bank == b[0]) cool_q[b] <= CoolBits'(Cool);
        else if (cool_q[b] != '0) cool_q[b] <= cool_q[b] - 1'b1;
      end
    end
  end

  // Array and tags. The tags in flight are in a ring of exactly their number, in LUT RAM: a new tag takes the entry of
  // the one that leaves.
  logic [TagBits-1:0] tag_ptr_q;
  logic [FilledBits-1:0] filled_q;  // tags written since reset; saturates when the ring is full
  logic [$clog2(Latency+2)-1:0] drain_q;  // cycles until the last vector has left
  logic               enable;

  assign enable        = vec_tag.valid || drain_q != '0;
  assign tag_out_valid = enable && tag_out.valid && filled_q == FilledBits'(Latency - 1);

  systole_mxu_array #(
      .Rows(Rows), .Cols(Cols), .Cell(Cfg.Cell), .Stages(Stages), .LoadBuses(Cfg.LoadBuses), .FastView(FastArray),
      .Multipliers(Cfg.Multipliers)
  ) u_array (
      .clk_i, .enable_i(enable || RunsOn), .vec_bank_i(vec_tag.bank), .vec_i(vec), .sum_i(vec_sum),
      .wl_valid_i(row_valid), .wl_bank_i(row_bank), .wl_column_i(row_transpose), .wl_row_i(row_index), .wl_data_i(row),
      .sum_o(acc_wr_data_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      drain_q   <= '0;
      tag_ptr_q <= '0;
      tag_out_q <= '0;
      filled_q  <= '0;
    end else begin
      if (vec_tag.valid) drain_q <= ($clog2(Latency + 2))'(Latency + 1);
      else if (drain_q != '0) drain_q <= drain_q - 1'b1;
      if (enable) tag_ptr_q <= 32'(tag_ptr_q) == TagSlots - 1 ? '0 : tag_ptr_q + 1'b1;
      tag_out_q       <= tag_out;
      tag_out_q.valid <= tag_out_valid;
      if (enable && filled_q != FilledBits'(Latency - 1)) filled_q <= filled_q + 1'b1;
    end
  end
  systole_prim_ram_async #(.Width($bits(tag_t)), .Depth(TagSlots), .Style("distributed")) u_tags (
      .clk_i, .we_i(enable), .waddr_i(tag_ptr_q), .wdata_i(vec_tag), .raddr_i(tag_ptr_q), .rdata_o(tag_out)
  );

  assign acc_wr_valid_o      = tag_out_q.valid;
  assign acc_wr_row_o        = tag_out_q.row;
  assign acc_wr_accumulate_o = !Bf16 && tag_out_q.accumulate;

  // A descriptor is complete when its last row is in the accumulators.
  localparam int unsigned AccCycles = Bf16 ? 1 : 2;
  logic [AccCycles-1:0] done_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q      <= '0;
      in_flight_q <= '0;
    end else begin
      done_q      <= AccCycles'({done_q, tag_out_q.valid && tag_out_q.done});
      in_flight_q <= in_flight_q + $bits(in_flight_q)'(start) - $bits(in_flight_q)'(unit_done);
    end
  end
  assign unit_done     = done_q[AccCycles-1] && acc_wr_done_i;
  assign vector_o      = vec_tag.valid;
  assign unit_progress = sds_valid || drain_q != '0 || row_valid != '0;

  // Checks: every started descriptor ends once, when its last row has been written; tiles are loaded and used in the same
  // order of banks; data setup and tags agree.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_in_flight : assert (!unit_done || in_flight_q != '0);
      a_start_room : assert (!start || room);
      a_done : assert (!done_q[AccCycles-1] || acc_wr_done_i);
      a_pass : assert (!pass_first || full_q[!bank_q]);
      a_banks : assert (!load || (full_q | used_q) != '1);
      a_busy : assert (!head_valid || in_flight_q != '0);
      a_vector : assert (Bf16 || sds_valid == vec_tag.valid);
    end
  end
endmodule
