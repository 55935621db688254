// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Program control behind ports that C++ reads easily: wide ones as arrays of 32-bit words. mutant_i plants a fault between the
// design and the bench, to show that the bench sees it. With Twin a control whose clock never stands still runs beside it, and is
// the same in all that is seen.

module sequencer_bench
  import systole_isa_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned D = 64,                 // bytes of a beat
    parameter int unsigned Cell = 0,               // 0 int8, 1 bf16
    parameter bit Issue = 1'b0,                    // of a chip with a scalar unit
    parameter bit Peer = 1'b0,                     // and another core
    parameter bit Links = 1'b0,                    // and links
    parameter bit Twin = 1'b1,
    localparam int unsigned Words = D / 4
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        peer_rst_ni,
    input  logic        freeze_i,
    output logic [5:0]  freeze_o,     // to the units
    output logic        frozen_o,     // nothing starts
    input  logic [6:0]  stall_i,
    input  logic [3:0]  mutant_i,
    input  logic        start_i,
    input  logic [35:0] prog_addr_i,
    input  logic [31:0] prog_len_i,
    input  logic [31:0] watchdog_i,
    input  logic [36:0] hbm_end_i,
    input  logic [63:0] cycle_i,
    output logic        running_o,
    output logic        done_o,
    output logic        fault_o,
    output logic [3:0]  fault_code_o,
    output logic [2:0]  fault_queue_o,
    output logic [31:0] fault_pc_o,
    output logic [35:0] fault_addr_o,
    output logic [63:0] fault_cycle_o,
    output logic        rd_valid_o,
    input  logic        rd_ready_i,
    output logic [35:0] rd_addr_o,
    input  logic        rd_rsp_valid_i,
    input  logic [31:0] rd_rsp_data_i [Words],
    output logic [5:0]  start_valid_o,
    input  logic [5:0]  start_ready_i,
    output logic [31:0] start_desc_o [NumQueues*16],
    input  logic [5:0]  done_i,
    input  logic [5:0]  progress_i,
    input  logic [5:0]  unit_fault_i,
    input  logic [23:0] unit_code_i,
    input  logic [35:0] unit_addr_i [NumQueues],
    input  logic [5:0]  unit_newest_i,
    output logic [5:0]  idle_o,
    output logic [5:0]  busy_o,
    output logic [5:0]  waiting_o,
    output logic        dispatch_stall_o,
    output logic [5:0]  retire_valid_o,
    output logic [31:0] retire_index_o [NumQueues],

    // The scalar unit, the other core, the network.
    input  logic        issue_i,      // the program comes from the issue port
    input  logic        isolated_i,
    input  logic        issue_valid_i,
    output logic        issue_ready_o,
    input  logic [31:0] issue_desc_i [16],
    input  logic [31:0] scalar_post_i,
    input  logic [31:0] scalar_want_i,
    output logic        scalar_taken_o,
    output logic [31:0] scalar_there_o,
    input  logic [3:0]  peer_post_i,
    input  logic [3:0]  peer_take_i,
    input  logic [7:0]  link_post_i,
    output logic [3:0]  peer_posted_o
);
  logic [D*8-1:0]              rd_data;
  logic [NumQueues-1:0][31:0]  retire_index;
  unit_req_t                   req [NumQueues];
  unit_rsp_t                   rsp [NumQueues];
  core_ctl_t                   ctl;
  core_status_t                status;
  issue_req_t                  issue_req;
  flag_rsp_t                   flag_rsp;
  peer_req_t                   peer_req;
  peer_rsp_t                   peer_rsp;
  desc_t                       issue_desc;

  for (genvar w = 0; w < 16; w++) begin : gen_issue
    assign issue_desc[w*32+:32] = issue_desc_i[w];
  end
  assign issue_req      = '{patch: '0, valid: issue_valid_i, stream: 1'b0, desc: issue_desc};
  assign scalar_taken_o = flag_rsp.taken;
  assign scalar_there_o = flag_rsp.there;
  assign peer_req       = '{link: link_post_i, post: peer_post_i, take: peer_take_i};
  assign peer_posted_o  = peer_rsp.posted;

  for (genvar w = 0; w < Words; w++) begin : gen_data
    assign rd_data[w*32+:32] = rd_rsp_data_i[w];
  end
  for (genvar q = 0; q < NumQueues; q++) begin : gen_queue
    assign rsp[q] = '{ready: start_ready_i[q], done: done_i[q], progress: progress_i[q], fault: unit_fault_i[q],
                      code: fault_e'(unit_code_i[q*4+:4]), addr: unit_addr_i[q],
                      newest: unit_newest_i[q] ^ (mutant_i == 4'd8)};
    assign start_valid_o[q]  = req[q].valid || (mutant_i == 4'd4 && waiting_o[q]);  // waits are not honoured
    assign retire_index_o[q] = retire_index[q] + 32'(mutant_i == 4'd1);
    for (genvar w = 0; w < 16; w++) begin : gen_word
      assign start_desc_o[q*16+w] = req[q].desc[w*32+:32] ^ 32'(mutant_i == 4'd2 && w == 15);
    end
  end
  assign frozen_o      = u_dut.freeze_sequencer;
  assign running_o     = status.running;
  assign done_o        = status.done && mutant_i != 4'd5;
  assign fault_o       = status.fault;
  assign fault_code_o  = mutant_i == 4'd3 ? 4'd2 : status.fault_code;
  assign fault_queue_o = status.fault_queue;
  assign fault_pc_o    = status.fault_pc;
  assign fault_addr_o  = status.fault_addr;
  assign fault_cycle_o = status.fault_cycle;
  assign ctl = '{prog_addr: prog_addr_i, prog_len: mutant_i == 4'd6 ? prog_len_i - 32'd1 : prog_len_i,
                 watchdog: mutant_i == 4'd7 ? '0 : watchdog_i, issue: issue_i, base: '0, isolated: isolated_i, cycle: cycle_i};

  systole_control #(.D(D), .Cell(Cell), .Issue(Issue), .Peer(Peer), .Links(Links), .Parity(1'b1)) u_dut (
      .clk_i, .rst_ni, .peer_rst_ni, .freeze_i, .freeze_o,
      .start_i, .ctl_i(ctl), .hbm_end_i, .mem_error_i('0), .status_o(status),
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i(rd_data),
      .issue_req_i(issue_req), .issue_ready_o, .flag_req_i('{post: scalar_post_i, want: scalar_want_i}), .flag_rsp_o(flag_rsp),
      .peer_req_i(peer_req), .peer_rsp_o(peer_rsp),
      .req_o(req), .rsp_i(rsp),
      .idle_o, .busy_o, .waiting_o, .dispatch_stall_o, .retire_valid_o, .retire_index_o(retire_index)
  );
  always @* u_dut.u_sequencer.u_hold.bench = stall_i[0];
  for (genvar q = 0; q < QueueSend; q++) begin : gen_hold
    always @* u_dut.gen_queue[q].u_queue.u_hold.bench = stall_i[q+1];
  end
  if (Links) begin : gen_send_hold
    always @* u_dut.gen_send.u_queue.u_hold.bench = stall_i[QueueSend+1];
  end

  if (Twin) begin : gen_twin
    unit_req_t                   req2 [NumQueues];
    core_status_t                status2;
    flag_rsp_t                   flag_rsp2;
    peer_rsp_t                   peer_rsp2;
    logic                        rd_valid, issue_ready, dispatch_stall, equal, reset_q;
    logic [35:0]                 rd_addr;
    logic [NumQueues-1:0]        freeze, idle, busy, waiting, retire_valid;
    logic [NumQueues-1:0][31:0]  retire_index2;

    systole_control #(.D(D), .Cell(Cell), .Issue(Issue), .Peer(Peer), .Links(Links), .Parity(1'b1), .Gate(1'b0)) u_control (
        .clk_i, .rst_ni, .peer_rst_ni, .freeze_i, .freeze_o(freeze),
        .start_i, .ctl_i(ctl), .hbm_end_i, .mem_error_i('0), .status_o(status2),
        .rd_valid_o(rd_valid), .rd_ready_i, .rd_addr_o(rd_addr), .rd_rsp_valid_i, .rd_rsp_data_i(rd_data),
        .issue_req_i(issue_req), .issue_ready_o(issue_ready), .flag_req_i('{post: scalar_post_i, want: scalar_want_i}),
        .flag_rsp_o(flag_rsp2), .peer_req_i(peer_req), .peer_rsp_o(peer_rsp2),
        .req_o(req2), .rsp_i(rsp),
        .idle_o(idle), .busy_o(busy), .waiting_o(waiting), .dispatch_stall_o(dispatch_stall), .retire_valid_o(retire_valid),
        .retire_index_o(retire_index2)
    );
    always @* u_control.u_sequencer.u_hold.bench = stall_i[0];
    for (genvar q = 0; q < QueueSend; q++) begin : gen_hold
      always @* u_control.gen_queue[q].u_queue.u_hold.bench = stall_i[q+1];
    end
    if (Links) begin : gen_send_hold
      always @* u_control.gen_send.u_queue.u_hold.bench = stall_i[QueueSend+1];
    end

    always_comb begin
      equal = {rd_valid, issue_ready, flag_rsp2, peer_rsp2, freeze, idle, busy, waiting, dispatch_stall, retire_valid} ==
              {rd_valid_o, issue_ready_o, flag_rsp, peer_rsp, freeze_o, idle_o, busy_o, waiting_o, dispatch_stall_o, retire_valid_o};
      equal &= {status2.running, status2.done, status2.fault} == {status.running, status.done, status.fault};
      if (status.fault) equal &= status2 == status;
      if (rd_valid_o) equal &= rd_addr == rd_addr_o;
      for (int unsigned q = 0; q < NumQueues; q++) begin
        equal &= {req2[q].peek, req2[q].valid} == {req[q].peek, req[q].valid};
        if (req[q].peek) equal &= req2[q].desc == req[q].desc;
        if (retire_valid_o[q]) equal &= retire_index2[q] == retire_index[q];
      end
    end
    always_ff @(posedge clk_i) begin
      reset_q <= !rst_ni;
      if (rst_ni && !reset_q) a_equal : assert (equal);
    end
  end
endmodule
