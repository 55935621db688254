// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Instruction memory, program counter and legality check, which is made when instructions are loaded. Throughput: one
// instruction per cycle. Latency: the first instruction comes three cycles after start_i or redirect_i. Beyond the end
// of the memory it returns an illegal instruction with the last index.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_fetch
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,

    // Load of instructions, while no program runs.
    input  logic        we_i,
    input  logic [10:0] waddr_i,
    input  vpu_instr_t  wdata_i,

    input  logic        start_i,     // start at start_pc_i
    input  logic [10:0] start_pc_i,
    input  logic        stop_i,      // stop fetching
    input  logic        redirect_i,  // squash fetched instructions and continue at target_i
    input  logic [10:0] target_i,

    output logic        valid_o,
    input  logic        ready_i,
    output decoded_t    decoded_o,
    output logic        ahead_valid_o,  // decoded_o takes ahead_o in this cycle
    output vpu_instr_t  ahead_o
);
  logic       running_q, fetched_q, go_fetch, go_decode;
  logic [11:0] pc_q, fetched_pc_q;  // 2048: past the end
  vpu_instr_t instr;
  logic       legal;

  assign go_decode = fetched_q && (!valid_o || ready_i);
  assign go_fetch  = running_q && (!fetched_q || go_decode);

  assign ahead_valid_o = go_decode;
  assign ahead_o       = instr;

  // Written two cycles late, because the use of the fields is looked up in a table.
  logic [1:0]  we_q;
  logic [10:0] waddr_q [2];
  vpu_instr_t  wdata_q [2];
  vpu_use_t    use_q [2];
  vpu_use_t    use_of_op;
  assign use_of_op = vpu_use(wdata_i.op);

  always_ff @(posedge clk_i) begin
    we_q    <= {we_q[0], we_i};
    waddr_q <= '{waddr_i, waddr_q[0]};
    wdata_q <= '{wdata_i, wdata_q[0]};
    use_q   <= '{use_of_op, use_q[0]};
  end

  // Looked at only for a write, which saves simulations time.
  logic wlegal;
  always_comb begin
    wlegal = 1'b0;
    if (we_q[1]) wlegal = !vpu_illegal(wdata_q[1], use_q[1]);
  end

  // Instructions, each with a legal flag in the top bit. All are illegal until they are loaded.
  systole_prim_ram_1r1w #(.Width(VpuInstrBits + 1), .Depth(VpuImemWords), .AnyOnCollision(1'b1), .Zero(1'b1), .Style("block")) u_memory (
      .clk_i, .we_i(we_q[1]), .waddr_i(waddr_q[1]), .wdata_i({wlegal, wdata_q[1]}),
      .re_i(go_fetch), .raddr_i(pc_q[10:0]), .rdata_o({legal, instr})
  );

  always_ff @(posedge clk_i) begin
    if (go_fetch) fetched_pc_q <= pc_q;
    if (go_decode) begin
      decoded_o.illegal <= fetched_pc_q[11] || !legal;
      decoded_o.pc      <= fetched_pc_q[11] ? 11'(VpuImemWords - 1) : fetched_pc_q[10:0];
      decoded_o.instr   <= instr;
    end
    if (go_fetch) pc_q <= pc_q + 1'b1;
    if (start_i) pc_q <= {1'b0, start_pc_i};
    else if (redirect_i) pc_q <= {1'b0, target_i};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      fetched_q <= 1'b0;
      valid_o   <= 1'b0;
    end else begin
      if (go_fetch || go_decode) fetched_q <= go_fetch;
      if (go_decode || ready_i) valid_o <= go_decode;
      if (go_fetch && pc_q[11]) running_q <= 1'b0;
      if (redirect_i || stop_i || start_i) begin
        fetched_q <= 1'b0;
        valid_o   <= 1'b0;
        running_q <= !stop_i;
      end
    end
  end

  // Checks: a program starts only when nothing is fetched; the memory is not written while a program runs.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_start : assert (!start_i || (!running_q && !fetched_q && !valid_o));
      a_write : assert (!(we_i || we_q != '0) || (!running_q && !fetched_q));
    end
  end
endmodule
