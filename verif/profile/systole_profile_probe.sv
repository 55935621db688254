// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Activity of each unit of the core in a cycle, for systole profile. It is bound into systole_node for simulation, and
// the test bench reads sample_q and, in chips with links, send_q. While the test bench sets `sampling`, they describe the
// previous cycle; otherwise nothing is computed. The fields are those of host/include/systole/probe.h, the first one in
// bit 0. Docs: docs/profile.md. Test: tests/profile.

module systole_profile_probe
  import systole_isa_pkg::NumQueues;
  import systole_isa_pkg::QueueSend;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_hbm_pkg::perf_t;
#(
    parameter bit Links = 1'b0  // the core has a send unit
) (
    input logic                 clk_i,
    input logic                 running_i,

    // Queues and sequencer.
    // verilator lint_off UNUSEDSIGNAL
    input unit_req_t            req_i [NumQueues],
    input unit_rsp_t            rsp_i [NumQueues],
    input perf_t                perf_i,
    input logic [NumQueues:0]   flag_want_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic                 desc_valid_i,
    input logic                 dispatch_i,
    input logic                 dispatch_stall_i,
    input logic [2:0]           dispatch_queue_i,

    // MXU.
    input logic                 mxu_enter_i,
    input logic                 mxu_step_i,
    input logic                 mxu_stall_weights_i,
    input logic                 mxu_stall_swap_i,
    input logic                 mxu_stall_acc_i,
    input logic                 mxu_stall_ub_i,
    input logic                 mxu_next_i,
    input logic                 mxu_last_i,

    // Ports of the other units to memory and buffers.
    input logic                 wf_valid_i,
    input logic                 weight_full_i,
    input logic                 tile_valid_i,
    input logic                 tile_ready_i,
    input logic [2:0]           rd_valid_i,
    input logic [2:0]           rd_ready_i,
    input logic [2:0]           rd_rsp_valid_i,
    input logic                 ld_valid_i,
    input logic                 ld_ready_i,
    input logic                 st_valid_i,
    input logic                 st_ready_i,
    input logic                 wr_valid_i,
    input logic                 wr_ready_i,
    input logic                 vec_stall_ub_i,
    input logic                 acc_valid_i,
    input logic                 acc_ready_i,
    input logic                 vec_wr_valid_i,
    input logic                 vec_wr_ready_i,

    // Send unit: its reads of the unified buffer, its packets. post: one without payload.
    // verilator lint_off UNUSEDSIGNAL
    input logic                 send_ub_valid_i,
    input logic                 send_ub_ready_i,
    input logic                 send_net_valid_i,
    input logic                 send_net_ready_i,
    input logic                 send_post_i
    // verilator lint_on UNUSEDSIGNAL
);
  localparam int unsigned Queues = QueueSend;  // the queues that every chip has
  // Fields of five bits: one bit per queue.
  typedef struct packed {
    logic                 dispatch;
    logic [2:0]           dispatch_queue;
    logic                 hbm_columns;
    logic                 hbm_refresh;
    logic                 hbm_activate;
    logic                 hbm_write;
    logic                 hbm_read;
    logic                 vec_write;
    logic                 vec_stall_acc;
    logic                 vec_stall_ub;
    logic                 vec_progress;
    logic                 store_mem_ready;
    logic                 store_mem_valid;
    logic                 store_ub_ready;
    logic                 store_ub_valid;
    logic                 load_ub_ready;
    logic                 load_ub_valid;
    logic [2:0]           rd_answer;
    logic [2:0]           rd_ready;
    logic [2:0]           rd_valid;
    logic                 weight_ub_ready;
    logic                 weight_ub_valid;
    logic                 weight_full;
    logic                 weight_beat;
    logic                 mxu_last;
    logic                 mxu_next;
    logic                 mxu_stall_ub;
    logic                 mxu_stall_acc;
    logic                 mxu_stall_swap;
    logic                 mxu_stall_weights;
    logic                 mxu_step;
    logic                 mxu_enter;
    logic                 dispatch_stall;
    logic                 desc_valid;
    logic                 running;
    logic [Queues-1:0]    done;
    logic [Queues-1:0]    start;
    logic [Queues-1:0]    want;
    logic [Queues-1:0]    head;
  } sample_t;
  typedef struct packed {
    logic send_post;
    logic send_net_ready;
    logic send_net_valid;
    logic send_ub_ready;
    logic send_ub_valid;
    logic send_done;
    logic send_start;
    logic send_want;
    logic send_head;
    logic halt_want;
  } send_t;

  logic        sampling  /* verilator public_flat_rw */ = 1'b0;
  logic [63:0] sample_q  /* verilator public_flat_rd */;
  logic [15:0] send_q    /* verilator public_flat_rd */;

  always_ff @(posedge clk_i) begin
    sample_t sample;
    if (sampling) begin
      for (int unsigned q = 0; q < Queues; q++) begin
        sample.head[q]  = req_i[q].peek;
        sample.start[q] = req_i[q].valid && rsp_i[q].ready;
        sample.done[q]  = rsp_i[q].done;
      end
      sample.want              = flag_want_i[Queues-1:0];
      sample.running           = running_i;
      sample.desc_valid        = desc_valid_i;
      sample.dispatch_stall    = dispatch_stall_i;
      sample.mxu_enter         = mxu_enter_i;
      sample.mxu_step          = mxu_step_i;
      sample.mxu_stall_weights = mxu_stall_weights_i;
      sample.mxu_stall_swap    = mxu_stall_swap_i;
      sample.mxu_stall_acc     = mxu_stall_acc_i;
      sample.mxu_stall_ub      = mxu_stall_ub_i;
      sample.mxu_next          = mxu_next_i;
      sample.mxu_last          = mxu_last_i;
      sample.weight_beat       = wf_valid_i;
      sample.weight_full       = weight_full_i;
      sample.weight_ub_valid   = tile_valid_i;
      sample.weight_ub_ready   = tile_ready_i;
      sample.rd_valid          = rd_valid_i;
      sample.rd_ready          = rd_ready_i;
      sample.rd_answer         = rd_rsp_valid_i;
      sample.load_ub_valid     = ld_valid_i;
      sample.load_ub_ready     = ld_ready_i;
      sample.store_ub_valid    = st_valid_i;
      sample.store_ub_ready    = st_ready_i;
      sample.store_mem_valid   = wr_valid_i;
      sample.store_mem_ready   = wr_ready_i;
      sample.vec_progress      = rsp_i[3].progress;
      sample.vec_stall_ub      = vec_stall_ub_i;
      sample.vec_stall_acc     = acc_valid_i && !acc_ready_i;
      sample.vec_write         = vec_wr_valid_i && vec_wr_ready_i;
      sample.hbm_read          = perf_i.rd_beat;
      sample.hbm_write         = perf_i.wr_beat;
      sample.hbm_activate      = perf_i.activates != '0;
      sample.hbm_refresh       = perf_i.refreshing != '0;
      sample.hbm_columns       = perf_i.columns != '0;
      sample.dispatch_queue    = dispatch_queue_i;
      sample.dispatch          = dispatch_i;
      sample_q <= 64'(sample);
    end
  end

  if (Links) begin : gen_send
    always_ff @(posedge clk_i) begin
      send_t send;
      if (sampling) begin
        send.halt_want      = flag_want_i[NumQueues];
        send.send_head      = req_i[QueueSend].peek;
        send.send_want      = flag_want_i[QueueSend];
        send.send_start     = req_i[QueueSend].valid && rsp_i[QueueSend].ready;
        send.send_done      = rsp_i[QueueSend].done;
        send.send_ub_valid  = send_ub_valid_i;
        send.send_ub_ready  = send_ub_ready_i;
        send.send_net_valid = send_net_valid_i;
        send.send_net_ready = send_net_ready_i;
        send.send_post      = send_post_i;
        send_q <= 16'(send);
      end
    end
  end else begin : gen_no_send
    assign send_q = '0;
  end
endmodule

bind systole_node systole_profile_probe #(.Links(Links)) u_profile (
    .clk_i, .running_i(csr_running), .req_i(u_core.req), .rsp_i(u_core.rsp), .perf_i(mem_status.perf),
    .flag_want_i(u_core.u_control.flag_want), .desc_valid_i(u_core.u_control.u_sequencer.desc_valid_q),
    .dispatch_i(u_core.u_control.u_sequencer.take_next), .dispatch_queue_i(u_core.u_control.u_sequencer.queue_q),
    .dispatch_stall_i(u_core.dispatch_stall), .mxu_enter_i(u_core.u_mxu.enter), .mxu_step_i(u_core.u_mxu.step),
    .mxu_stall_weights_i(u_core.mxu_stall_weights), .mxu_stall_swap_i(u_core.mxu_stall_swap),
    .mxu_stall_acc_i(u_core.mxu_stall_acc), .mxu_stall_ub_i(u_core.mxu_stall_ub), .mxu_next_i(u_core.u_mxu.next_valid),
    .mxu_last_i(u_core.u_mxu.step && u_core.u_mxu.head_done),
    .wf_valid_i(u_core.wf_valid), .weight_full_i(u_core.weight_full), .tile_valid_i(u_core.tile_win_valid != '0),
    .tile_ready_i((u_core.tile_win_valid & ~u_core.tile_win_ready) == '0), .rd_valid_i(u_core.rd_valid_o), .rd_ready_i(u_core.rd_ready_i),
    .rd_rsp_valid_i(u_core.rd_rsp_valid_i), .ld_valid_i(u_core.ld_valid), .ld_ready_i(u_core.ld_ready),
    .st_valid_i(u_core.st_valid), .st_ready_i(u_core.st_ready), .wr_valid_i(u_core.wr_valid_o), .wr_ready_i(u_core.wr_ready_i),
    .vec_stall_ub_i(u_core.vec_stall_ub), .acc_valid_i(u_core.acc_rd_valid), .acc_ready_i(u_core.acc_rd_ready),
    .vec_wr_valid_i(u_core.vec_wr_valid), .vec_wr_ready_i(u_core.vec_wr_ready),
    .send_ub_valid_i(u_core.beat_valid[3]), .send_ub_ready_i(u_core.beat_ready[3]),
    .send_net_valid_i(u_core.send_o.valid), .send_net_ready_i(u_core.send_i.ready),
    .send_post_i(u_core.send_o.head.length == '0)
);
