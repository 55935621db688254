// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programmable vector unit: Cols fp32/int32 lanes, two load units, two ALUs, a cross unit and a store unit, controlled
// by a program of 64-bit instructions. Throughput: ALUs and cross unit process a step of Sublanes rows per cycle, the
// other units one row. This module connects control, fetch, issue, dispatch, units, registers and ports.
// Docs: docs/vpu.md, docs/isa.md. Test: tests/rtl/vpu.

module systole_vpu
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini),
    parameter bit Fast = FastView,  // use the lanes' simulation view
    parameter bit Gate = 1'b1,      // gate the clock while idle
    localparam int unsigned Width = Cfg.Cols * 32,
    localparam int unsigned Bytes = Cfg.Cols * 4,
    localparam int unsigned LaneBits = $clog2(Cfg.Cols + 1)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,

    // Descriptors (unit interface).
    // verilator lint_off UNUSEDSIGNAL
    input  unit_req_t                  req_i,
    // verilator lint_on UNUSEDSIGNAL
    output unit_rsp_t                  rsp_o,
    input  logic                       freeze_i,

    // Unified buffer: two window read ports and one window write port.
    output logic [1:0]                 vrd_valid_o,
    input  logic [1:0]                 vrd_ready_i,
    output logic [1:0][UbAddrBits-1:0] vrd_addr_o,
    output logic [1:0][1:0]            vrd_need_o,       // {second, first}: this word of the window has bytes that are used
    input  logic [1:0]                 vrd_rsp_valid_i,
    input  logic [Width-1:0]           vrd_data_i [2],
    output logic                       vwr_valid_o,
    input  logic                       vwr_ready_i,
    output logic [UbAddrBits-1:0]      vwr_addr_o,
    output logic [Width-1:0]           vwr_data_o,
    output logic [Bytes-1:0]           vwr_mask_o,

    // Accumulators.
    output logic                       acc_rd_valid_o,
    input  logic                       acc_rd_ready_i,
    output logic [AccAddrBits-1:0]     acc_rd_row_o,
    input  logic signed [31:0]         acc_rd_data_i [Cfg.Cols],

    // For status and counters.
    output logic [Units-1:0]           busy_o,           // a row or step starts in: load units 0, 1, ALUs 0, 1, cross unit, store unit
    output logic                       stall_ub_o,       // the unified buffer stalled a request in this cycle
    output logic [LaneBits-1:0]        nan_o,            // NaNs in a row that st32 or st16 stores
    output logic [LaneBits-1:0]        inf_o             // infinities in that row
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned OffBits = $clog2(Bytes);
  localparam int unsigned Lanes = Cfg.Sublanes * Cols;
  localparam int unsigned Wide = Lanes * 32;

  // Signals of the unit to its queue.
  logic                unit_ready, unit_done, unit_fault, unit_newest, unit_progress;
  fault_e              unit_code;
  logic [AddrBits-1:0] unit_addr;
  assign rsp_o = '{ready: unit_ready, done: unit_done, progress: unit_progress, fault: unit_fault, code: unit_code,
                   addr: unit_addr, newest: unit_newest};

  // Clock gating: the clock stops when no program runs and no instruction is left, because only a descriptor can start
  // work. Settle is longer than the longest path of a row through a unit.
  logic clk, idle, work, rest;
  systole_idle_clock #(.Settle(63), .Gate(Gate)) u_clock (.clk_i, .rst_ni, .work_i(work), .rest_i(rest), .clk_o(clk));

  // Control, fetch, issue, dispatch.
  logic              run, issued_all, halted, fault, imem_we, par_valid, par_ready;
  logic [10:0]       run_pc, imem_addr, target, pc;
  logic [11:0][31:0] run_args;
  logic [63:0]       imem_data;
  logic [UbAddrBits-1:0] par_addr;
  fault_e            fault_code;
  logic [31:0]       fault_addr, span, limit;
  logic              decoded_valid, decoded_ready, redirect, issued_valid, issued_ready, bad;
  decoded_t          decoded;
  logic              ahead_valid;
  vpu_instr_t        ahead;
  uop_t              issued, uop;

  // Units: 0, 1 load; 2, 3 ALU; 4 cross; 5 store.
  logic       push [Units], room [Units];
  logic       want [Units], go [Units];
  logic       first [Units], last [Units];
  // verilator lint_off UNUSEDSIGNAL
  logic       halt [Units];  // used by the store unit only
  // verilator lint_on UNUSEDSIGNAL
  // verilator lint_off UNUSEDSIGNAL
  row_t       row [Units];    // used by the cross unit
  place_t     place [Units];  // not used by the store unit
  // verilator lint_on UNUSEDSIGNAL
  uop_t       head [Units];
  logic [1:0] reads [Units];
  logic [5:0] number [2];
  held_t      held [Units];
  logic [63:0] present [8];
  logic [1:0] loaded;
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0] word_valid;  // used by load unit 0 only
  // verilator lint_on UNUSEDSIGNAL
  logic       stored;

  // Registers.
  write_t           soon [NumBanks], write [NumBanks];
  fetch_t           fetch [Ports];
  logic [Width-1:0] load0_row, load1_row, store_operand;
  logic [Wide-1:0]  alu0_rows, alu1_rows, cross_rows;
  logic [Wide-1:0]  alu0_a, alu0_b, alu0_c, alu1_a, alu1_b, alu1_c, cross_operand;

  systole_vpu_control #(.Cfg(Cfg)) u_control (
      .clk_i(clk),
      .rst_ni,
      .start_valid_i(req_i.valid),
      .start_ready_o(unit_ready),
      .idle_o      (idle),
      .start_desc_i(req_i.desc),
      .done_o(unit_done),
      .fault_valid_o(unit_fault),
      .fault_code_o(unit_code),
      .fault_addr_o(unit_addr),
      .freeze_i,
      .rd_valid_o  (par_valid),
      .rd_ready_i  (par_ready),
      .rd_addr_o   (par_addr),
      .rd_data_i   (vrd_data_i[0][63:0]),
      .imem_we_o   (imem_we),
      .imem_addr_o (imem_addr),
      .imem_data_o (imem_data),
      .run_o       (run),
      .run_pc_o    (run_pc),
      .run_args_o  (run_args),
      .issued_i    (issued_all),
      .halted_i    (halted),
      .fault_i     (fault),
      .fault_code_i(fault_code),
      .fault_addr_i(fault_addr)
  );
  assign unit_newest = 1'b0;

  systole_vpu_fetch u_fetch (
      .clk_i(clk),
      .rst_ni,
      .we_i      (imem_we),
      .waddr_i   (imem_addr),
      .wdata_i   (imem_data),
      .start_i   (run),
      .start_pc_i(run_pc),
      .stop_i    (issued_all),
      .redirect_i(redirect),
      .target_i  (target),
      .valid_o   (decoded_valid),
      .ready_i   (decoded_ready),
      .decoded_o (decoded),
      .ahead_valid_o(ahead_valid),
      .ahead_o   (ahead)
  );

  systole_vpu_issue #(.Cfg(Cfg)) u_issue (
      .clk_i(clk),
      .rst_ni,
      .start_i   (run),
      .args_i    (run_args),
      .stop_i    (issued_all),
      .word_valid_i(word_valid[0]),
      .word_i    (load0_row[31:0]),
      .valid_i   (decoded_valid),
      .ready_o   (decoded_ready),
      .decoded_i (decoded),
      .ahead_valid_i(ahead_valid),
      .ahead_i   (ahead),
      .redirect_o(redirect),
      .target_o  (target),
      .valid_o   (issued_valid),
      .ready_i   (issued_ready),
      .bad_o     (bad),
      .pc_o      (pc),
      .uop_o     (issued),
      .span_o    (span),
      .limit_o   (limit)
  );

  systole_vpu_dispatch #(.Cfg(Cfg)) u_dispatch (
      .clk_i(clk),
      .rst_ni,
      .start_i     (run),
      .freeze_i,
      .valid_i     (issued_valid),
      .ready_o     (issued_ready),
      .bad_i       (bad),
      .pc_i        (pc),
      .uop_i       (issued),
      .span_i      (span),
      .limit_i     (limit),
      .push_o      (push),
      .room_i      (room),
      .uop_o       (uop),
      .number_o    (number),
      .reads_i     (reads),
      .held_i      (held),
      .loaded_i    (loaded),
      .stored_i    (stored),
      .soon_i      (soon),
      .present_o   (present),
      .issued_o    (issued_all),
      .halted_i    (halted),
      .fault_o     (fault),
      .fault_code_o(fault_code),
      .fault_addr_o(fault_addr)
  );

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    localparam int unsigned Sources = u == 2 || u == 3 ? 3 : 1;
    // verilator lint_off UNUSEDSIGNAL
    fetch_t rows [Sources];  // unused by load units
    // verilator lint_on UNUSEDSIGNAL

    systole_vpu_unit #(.Sources(Sources), .Sublanes(Cfg.Sublanes), .Wide(u > 1 && u != UnitStore), .Store(u == UnitStore), .Load(u < 2)) u_unit (
        .clk_i(clk),
        .rst_ni,
        .push_i   (push[u]),
        .ready_o  (room[u]),
        .uop_i    (uop),
        .present_i(present),
        .loaded_i (loaded),
        .want_o   (want[u]),
        .go_i     (go[u]),
        .first_o  (first[u]),
        .last_o   (last[u]),
        .halt_o   (halt[u]),
        .row_o    (row[u]),
        .place_o  (place[u]),
        .uop_o    (head[u]),
        .fetch_o  (rows),
        .number_i (number),
        .reads_o  (reads[u]),
        .held_o   (held[u])
    );

    if (u > 1) begin : gen_reads
      for (genvar s = 0; s < Sources; s++) begin : gen_port
        assign fetch[(u<4?3*(u-2):u+2)+s] = rows[s];
      end
    end
  end

  systole_vpu_regs #(.Cols(Cols), .Sublanes(Cfg.Sublanes), .Fast(Fast)) u_regs (
      .clk_i(clk),
      .write_i (write),
      .load0_i (load0_row),
      .load1_i (load1_row),
      .alu0_i  (alu0_rows),
      .alu1_i  (alu1_rows),
      .cross_i (cross_rows),
      .fetch_i (fetch),
      .alu0_a_o(alu0_a),
      .alu0_b_o(alu0_b),
      .alu0_c_o(alu0_c),
      .alu1_a_o(alu1_a),
      .alu1_b_o(alu1_b),
      .alu1_c_o(alu1_c),
      .cross_o (cross_operand),
      .store_o (store_operand)
  );

  // Load units. While no program runs, instructions are loaded through the window port of load unit 0.
  logic [1:0]            ub_valid, ub_ready, acc_valid, acc_ready;
  logic [UbAddrBits-1:0] ub_addr [2];
  logic [31:0]           ub_bytes [2];
  logic [AccAddrBits-1:0] acc_row [2];
  logic                  acc_turn_q;  // a request of load unit 1 was refused and has priority

  for (genvar u = 0; u < 2; u++) begin : gen_load
    logic [OffBits:0] tail;
    logic [Width-1:0] wdata;

    systole_vpu_load #(.Cfg(Cfg)) u_load (
        .clk_i(clk),
        .rst_ni,
        .freeze_i,
        .want_i     (want[u]),
        .go_o       (go[u]),
        .first_i    (first[u]),
        .last_i     (last[u]),
        .place_i    (place[u]),
        .uop_i      (head[u]),
        .loaded_o   (loaded[u]),
        .ub_valid_o (ub_valid[u]),
        .ub_ready_i (ub_ready[u]),
        .ub_addr_o  (ub_addr[u]),
        .ub_bytes_o (ub_bytes[u]),
        .ub_data_i  (vrd_data_i[u]),
        .acc_valid_o(acc_valid[u]),
        .acc_ready_i(acc_ready[u]),
        .acc_row_o  (acc_row[u]),
        .acc_data_i (acc_rd_data_i),
        .soon_o     (soon[u]),
        .write_o    (write[u]),
        .wdata_o    (wdata),
        .word_o     (word_valid[u])
    );

    assign tail          = (OffBits + 1)'(ub_addr[u][OffBits-1:0]) + (OffBits + 1)'(ub_bytes[u]) - 1'b1;
    assign vrd_need_o[u] = {ub_valid[u] && tail[OffBits], 1'b1};
  end

  assign load0_row   = gen_load[0].wdata;
  assign load1_row   = gen_load[1].wdata;
  assign vrd_valid_o = {ub_valid[1], ub_valid[0] || par_valid};
  assign vrd_addr_o  = {ub_addr[1], par_valid ? par_addr : ub_addr[0]};
  assign ub_ready    = vrd_ready_i;
  assign par_ready   = vrd_ready_i[0];

  assign acc_rd_valid_o = acc_valid != '0;
  assign acc_rd_row_o   = acc_valid[0] && !acc_turn_q ? acc_row[0] : acc_row[1];
  assign acc_ready      = {acc_rd_ready_i && (acc_turn_q || !acc_valid[0]), acc_rd_ready_i && !acc_turn_q};

  always_ff @(posedge clk) begin
    if (!rst_ni) acc_turn_q <= 1'b0;
    else if (acc_rd_valid_o) acc_turn_q <= acc_valid[1] && !acc_ready[1] && (acc_turn_q || !acc_valid[0] || acc_ready[0]);
  end

  for (genvar u = 2; u < 4; u++) begin : gen_alu
    logic [Wide-1:0] a, b, c, wdata;

    assign go[u] = !freeze_i;
    assign a     = u == 2 ? alu0_a : alu1_a;
    assign b     = u == 2 ? alu0_b : alu1_b;
    assign c     = u == 2 ? alu0_c : alu1_c;

    systole_vpu_alu #(.Lanes(Lanes), .Fast(Fast)) u_alu (
        .clk_i(clk),
        .rst_ni,
        .start_i  (want[u] && go[u]),
        .op_i     (head[u].op),
        .number_i (head[u].d[2:0]),
        .place_i  (place[u]),
        .a_i      (a),
        .b_i      (b),
        .c_i      (c),
        .soon_o   (soon[u]),
        .write_o  (write[u]),
        .wdata_o  (wdata)
    );
  end
  assign alu0_rows = gen_alu[2].wdata;
  assign alu1_rows = gen_alu[3].wdata;

  logic cross_go, store_go;

  assign go[4] = cross_go && !freeze_i;
  assign go[5] = store_go && !freeze_i;

  systole_vpu_cross #(.Cols(Cols), .Sublanes(Cfg.Sublanes), .Fast(Fast)) u_cross (
      .clk_i(clk),
      .rst_ni,
      .go_o     (cross_go),
      .start_i  (want[4] && go[4]),
      .uop_i    (head[4]),
      .row_i    (row[4]),
      .place_i  (place[4]),
      .operand_i(cross_operand),
      .soon_o   (soon[4]),
      .write_o  (write[4]),
      .wdata_o  (cross_rows)
  );

  systole_vpu_store #(.Cfg(Cfg)) u_store (
      .clk_i(clk),
      .rst_ni,
      .freeze_i,
      .go_o      (store_go),
      .start_i   (want[5] && go[5]),
      .first_i   (first[5]),
      .halt_i    (halt[5]),
      .uop_i     (head[5]),
      .operand_i (store_operand),
      .stored_o  (stored),
      .halted_o  (halted),
      .nan_o,
      .inf_o,
      .wr_valid_o(vwr_valid_o),
      .wr_ready_i(vwr_ready_i),
      .wr_addr_o (vwr_addr_o),
      .wr_data_o (vwr_data_o),
      .wr_mask_o (vwr_mask_o)
  );

  assign stall_ub_o = (vrd_valid_o & ~vrd_ready_i) != '0 || (vwr_valid_o && !vwr_ready_i);
  for (genvar u = 0; u < Units; u++) begin : gen_busy
    assign busy_o[u] = want[u] && go[u] && !(u == UnitStore && head[u].op == VopHalt);
  end

  always_ff @(posedge clk) begin
    unit_progress <= rst_ni && (busy_o != '0 || (par_valid && par_ready) || (vwr_valid_o && vwr_ready_i));
  end

  always_comb begin
    work = req_i.valid || !idle;
    for (int unsigned u = 0; u < Units; u++) work |= held[u] != '0;
    rest = {vrd_valid_o, vwr_valid_o, acc_rd_valid_o, busy_o, unit_done, unit_fault, unit_progress, nan_o, inf_o} == '0;
    for (int unsigned b = 0; b < NumBanks; b++) rest &= !write[b].valid;
  end

  // Checks: requests hold until they are granted; read data arrives exactly when expected; one reader per window port.
  logic [1:0]                 rd_held_q, d1_q, d2_q;
  logic                       wr_held_q, acc_held_q, started1_q, started_q;
  logic [1:0][UbAddrBits-1:0] rd_last_q;
  logic [UbAddrBits-1:0]      wr_last_q;
  logic [AccAddrBits-1:0]     acc_last_q;

  always_ff @(posedge clk) begin
    started1_q <= rst_ni;
    started_q  <= rst_ni && started1_q;
    d1_q       <= vrd_valid_o & vrd_ready_i;
    d2_q       <= d1_q;
    rd_held_q  <= vrd_valid_o & ~vrd_ready_i;
    wr_held_q  <= vwr_valid_o && !vwr_ready_i;
    acc_held_q <= acc_rd_valid_o && !acc_rd_ready_i;
    rd_last_q  <= vrd_addr_o;
    wr_last_q  <= vwr_addr_o;
    acc_last_q <= acc_rd_row_o;
    if (rst_ni && started_q) a_response : assert (vrd_rsp_valid_i == d2_q);
    if (rst_ni) a_one_reader : assert (!par_valid || !ub_valid[0]);
    if (rst_ni && !freeze_i) begin
      for (int unsigned u = 0; u < 2; u++) begin
        a_rd_holds : assert (!rd_held_q[u] || (vrd_valid_o[u] && vrd_addr_o[u] == rd_last_q[u]));
      end
      a_wr_holds : assert (!wr_held_q || (vwr_valid_o && vwr_addr_o == wr_last_q));
      a_acc_holds : assert (!acc_held_q || (acc_rd_valid_o && acc_rd_row_o == acc_last_q));
    end
  end
endmodule
