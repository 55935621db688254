// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/coverage.yaml by scripts/generate.py: edit the source.
//
// Counts the bins of functional coverage: bound into systole_node for simulation, where the test bench reads hits_q.
// Docs: docs/regression.md. Test: tests/regress.

// verilator lint_off WIDTH
// verilator lint_off BLKSEQ
module systole_coverage_probe
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic core_rst_n,
    input logic begins,
    input logic resetting,
    input systole_bus_pkg::unit_req_t req [NumQueues],
    input systole_bus_pkg::unit_rsp_t rsp [NumQueues],
    input systole_bus_pkg::core_status_t status,
    input logic [NumQueues-1:0] busy,
    input logic [NumQueues-1:0] waiting,
    input logic [NumQueues:0] flag_want,
    input logic [NumQueues:0][NumFlags-1:0] flag_wait,
    input logic [NumQueues:0] flag_met,
    input logic [NumQueues-1:0][NumFlags-1:0] flag_post,
    input logic dispatch_stall,
    input logic mxu_stall_weights,
    input logic mxu_stall_swap,
    input logic mxu_stall_acc,
    input logic mxu_stall_ub,
    input logic vec_stall_ub,
    input logic vec_stall_acc,
    input logic vec_stall_write,
    input logic weight_full,
    input logic fetch_stall_mem,
    input logic weight_stall_mem,
    input logic weight_stall_ub,
    input logic load_stall_mem,
    input logic load_stall_ub,
    input logic store_stall_ub,
    input logic store_stall_mem,
    input systole_hbm_pkg::perf_t perf,
    input logic mxu_nan,
    input logic mxu_inf,
    input logic vec_nan,
    input logic vec_inf
);
  logic [31:0] hits_q [914]  /* verilator public_flat_rd */;
  localparam logic Bf16 = Cfg.Cell == CellBf16;
  localparam int unsigned Causes = 15;
  logic [NumQueues-1:0]     start;
  matmul_desc_t             mm;
  requant_desc_t            rq;
  pool_desc_t               pl;
  weights_desc_t            wt;
  tiles_desc_t              tl;
  load_desc_t               dma;
  logic [7:0]               op, op_before [NumQueues];
  logic [NumQueues-1:0]     has_before;
  int unsigned              depth, segments;
  longint unsigned          vectors;
  logic                     top, bottom, left, right;
  longint                   lowest, highest, leftmost, rightmost;
  logic [NumFlags-1:0]      posted, from [NumQueues], from_now [NumQueues], waits;
  logic [NumQueues:0]       blocked;
  logic [Causes-1:0]        stall;
  logic [5:0]               length [Causes];
  logic                     rd_before, wr_before, fault_before, fault_ever, ran;

  initial begin
    hits_q = '{default: '0};
    length = '{default: '0};
    from   = '{default: '0};
    op_before = '{default: '0};
    {has_before, blocked, rd_before, wr_before, fault_before, fault_ever, ran} = '0;
  end

  always @(posedge clk_i) if (rst_ni) begin
    for (int unsigned q = 0; q < NumQueues; q++) start[q] = req[q].valid && rsp[q].ready;
    mm = matmul_desc_t'(req[QueueMxu].desc);
    rq = requant_desc_t'(req[QueueVector].desc);
    pl = pool_desc_t'(req[QueueVector].desc);
    wt = weights_desc_t'(req[QueueWeight].desc);
    tl = tiles_desc_t'(req[QueueWeight].desc);
    if (start[QueueMxu]) begin
      depth     = 0;
      segments  = 0;
      lowest    = 0;
      highest   = 0;
      leftmost  = 0;
      rightmost = 0;
      for (int unsigned s = 0; s < 4; s++) begin
        depth    = depth + 32'(mm.seg_len[s]);
        segments = segments + 32'(mm.seg_len[s] != '0);
        if (mm.seg_len[s] != '0) begin
          if (64'($signed(mm.seg_dy[s])) < lowest) lowest = 64'($signed(mm.seg_dy[s]));
          if (64'($signed(mm.seg_dy[s])) > highest) highest = 64'($signed(mm.seg_dy[s]));
          if (64'($signed(mm.seg_dx[s])) < leftmost) leftmost = 64'($signed(mm.seg_dx[s]));
          if (64'($signed(mm.seg_dx[s])) + 64'(mm.seg_len[s]) * element_bytes(Cfg) > rightmost) begin
            rightmost = 64'($signed(mm.seg_dx[s])) + 64'(mm.seg_len[s]) * element_bytes(Cfg);
          end
        end
      end
      vectors = 64'(mm.n) * 64'(mm.ny) * 64'(mm.nx);
      top     = lowest < 0;
      left    = leftmost < 0;
      bottom  = (64'(mm.ny) - 1) * 64'(mm.sy) + (64'(mm.t1) - 1) * 64'(mm.t1_dy) + highest >= 64'(mm.lines);
      right   = (64'(mm.nx) - 1) * 64'(mm.sx) + (64'(mm.t0) - 1) * 64'(mm.t0_dx) + rightmost > 64'(mm.line_bytes);
    end
    posted = '0;
    for (int unsigned q = 0; q < NumQueues; q++) posted = posted | flag_post[q];
    for (int unsigned q = 0; q < NumQueues; q++) from_now[q] = (from[q] & ~posted) | flag_post[q];
    stall = {fetch_stall_mem, dispatch_stall, store_stall_mem, store_stall_ub, load_stall_ub, load_stall_mem, weight_stall_ub,
             weight_stall_mem, weight_full, vec_stall_write, vec_stall_acc, vec_stall_ub, mxu_stall_acc, mxu_stall_swap,
             mxu_stall_weights} & {Causes{status.running}};
    for (int unsigned q = 0; q < NumQueues; q++) begin
      if (start[q]) begin  // operation
        op = 8'(req[q].desc);
        if (op == OpLoad) hits_q[0] = hits_q[0] + 1;
        if (op == OpStore) hits_q[1] = hits_q[1] + 1;
        if (op == OpWeights) hits_q[2] = hits_q[2] + 1;
        if (op == OpTiles) hits_q[3] = hits_q[3] + 1;
        if (op == OpMatmul) hits_q[4] = hits_q[4] + 1;
        if (op == OpRequant) hits_q[5] = hits_q[5] + 1;
        if (op == OpPool) hits_q[6] = hits_q[6] + 1;
        if (op == OpAdd) hits_q[7] = hits_q[7] + 1;
        if (op == OpVload) hits_q[8] = hits_q[8] + 1;
        if (op == OpVrun) hits_q[9] = hits_q[9] + 1;
      end
    end
    for (int unsigned q = 0; q < NumQueues; q++) begin
      if (start[q] && has_before[q]) begin  // operation_after
        op = 8'(req[q].desc);
        if (op_before[q] == OpWeights && op == OpWeights) hits_q[10] = hits_q[10] + 1;
        if (op_before[q] == OpWeights && op == OpTiles) hits_q[11] = hits_q[11] + 1;
        if (op_before[q] == OpTiles && op == OpWeights) hits_q[12] = hits_q[12] + 1;
        if (op_before[q] == OpTiles && op == OpTiles) hits_q[13] = hits_q[13] + 1;
      end
    end
    if (start[QueueVector] && has_before[QueueVector]) begin  // vector_after_int8
      op = 8'(req[QueueVector].desc);
      if (op_before[QueueVector] == OpRequant && op == OpRequant) hits_q[14] = hits_q[14] + 1;
      if (op_before[QueueVector] == OpRequant && op == OpPool) hits_q[15] = hits_q[15] + 1;
      if (op_before[QueueVector] == OpRequant && op == OpAdd) hits_q[16] = hits_q[16] + 1;
      if (op_before[QueueVector] == OpPool && op == OpRequant) hits_q[17] = hits_q[17] + 1;
      if (op_before[QueueVector] == OpPool && op == OpPool) hits_q[18] = hits_q[18] + 1;
      if (op_before[QueueVector] == OpPool && op == OpAdd) hits_q[19] = hits_q[19] + 1;
      if (op_before[QueueVector] == OpAdd && op == OpRequant) hits_q[20] = hits_q[20] + 1;
      if (op_before[QueueVector] == OpAdd && op == OpPool) hits_q[21] = hits_q[21] + 1;
      if (op_before[QueueVector] == OpAdd && op == OpAdd) hits_q[22] = hits_q[22] + 1;
    end
    if (start[QueueVector] && has_before[QueueVector]) begin  // vector_after_bf16
      op = 8'(req[QueueVector].desc);
      if (op_before[QueueVector] == OpVload && op == OpVload) hits_q[23] = hits_q[23] + 1;
      if (op_before[QueueVector] == OpVload && op == OpVrun) hits_q[24] = hits_q[24] + 1;
      if (op_before[QueueVector] == OpVrun && op == OpVload) hits_q[25] = hits_q[25] + 1;
      if (op_before[QueueVector] == OpVrun && op == OpVrun) hits_q[26] = hits_q[26] + 1;
    end
    if (start[QueueMxu] && !Bf16) begin  // depth_int8
      if (depth == 1) hits_q[27] = hits_q[27] + 1;
      if (depth > 1 && depth < Cfg.Rows - 1) hits_q[28] = hits_q[28] + 1;
      if (depth == Cfg.Rows - 1) hits_q[29] = hits_q[29] + 1;
      if (depth == Cfg.Rows) hits_q[30] = hits_q[30] + 1;
    end
    if (start[QueueMxu] && Bf16) begin  // depth_bf16
      if (depth == 1) hits_q[31] = hits_q[31] + 1;
      if (depth > 1 && depth < Cfg.Rows - 1) hits_q[32] = hits_q[32] + 1;
      if (depth == Cfg.Rows - 1) hits_q[33] = hits_q[33] + 1;
      if (depth == Cfg.Rows) hits_q[34] = hits_q[34] + 1;
    end
    if (start[QueueMxu] && !Bf16) begin  // vectors_int8
      if (vectors == 1) hits_q[35] = hits_q[35] + 1;
      if (vectors > 1 && vectors < Cfg.Rows - 1) hits_q[36] = hits_q[36] + 1;
      if (vectors == Cfg.Rows - 1) hits_q[37] = hits_q[37] + 1;
      if (vectors == Cfg.Rows) hits_q[38] = hits_q[38] + 1;
      if (vectors == Cfg.Rows + 1) hits_q[39] = hits_q[39] + 1;
      if (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2) hits_q[40] = hits_q[40] + 1;
      if (vectors == Cfg.AccRows / 2) hits_q[41] = hits_q[41] + 1;
    end
    if (start[QueueMxu] && Bf16) begin  // vectors_bf16
      if (vectors == 1) hits_q[42] = hits_q[42] + 1;
      if (vectors > 1 && vectors < Cfg.Rows - 1) hits_q[43] = hits_q[43] + 1;
      if (vectors == Cfg.Rows - 1) hits_q[44] = hits_q[44] + 1;
      if (vectors == Cfg.Rows) hits_q[45] = hits_q[45] + 1;
      if (vectors == Cfg.Rows + 1) hits_q[46] = hits_q[46] + 1;
      if (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2) hits_q[47] = hits_q[47] + 1;
      if (vectors == Cfg.AccRows / 2) hits_q[48] = hits_q[48] + 1;
    end
    if (start[QueueMxu]) begin  // passes
      if (mm.t1 == 1 && mm.t0 == 1) hits_q[49] = hits_q[49] + 1;
      if (mm.t1 == 1 && mm.t0 == 2) hits_q[50] = hits_q[50] + 1;
      if (mm.t1 == 1 && mm.t0 > 2) hits_q[51] = hits_q[51] + 1;
      if (mm.t1 == 2 && mm.t0 == 1) hits_q[52] = hits_q[52] + 1;
      if (mm.t1 > 2 && mm.t0 == 1) hits_q[53] = hits_q[53] + 1;
      if (mm.t1 > 1 && mm.t0 > 1) hits_q[54] = hits_q[54] + 1;
    end
    if (start[QueueMxu] && !Bf16) begin  // shape_int8
      if ((depth == 1) && (vectors == 1)) hits_q[55] = hits_q[55] + 1;
      if ((depth == 1) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[56] = hits_q[56] + 1;
      if ((depth == 1) && (vectors == Cfg.Rows - 1)) hits_q[57] = hits_q[57] + 1;
      if ((depth == 1) && (vectors == Cfg.Rows)) hits_q[58] = hits_q[58] + 1;
      if ((depth == 1) && (vectors == Cfg.Rows + 1)) hits_q[59] = hits_q[59] + 1;
      if ((depth == 1) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[60] = hits_q[60] + 1;
      if ((depth == 1) && (vectors == Cfg.AccRows / 2)) hits_q[61] = hits_q[61] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == 1)) hits_q[62] = hits_q[62] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[63] = hits_q[63] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.Rows - 1)) hits_q[64] = hits_q[64] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.Rows)) hits_q[65] = hits_q[65] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.Rows + 1)) hits_q[66] = hits_q[66] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[67] = hits_q[67] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.AccRows / 2)) hits_q[68] = hits_q[68] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == 1)) hits_q[69] = hits_q[69] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[70] = hits_q[70] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.Rows - 1)) hits_q[71] = hits_q[71] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.Rows)) hits_q[72] = hits_q[72] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.Rows + 1)) hits_q[73] = hits_q[73] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[74] = hits_q[74] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.AccRows / 2)) hits_q[75] = hits_q[75] + 1;
      if ((depth == Cfg.Rows) && (vectors == 1)) hits_q[76] = hits_q[76] + 1;
      if ((depth == Cfg.Rows) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[77] = hits_q[77] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.Rows - 1)) hits_q[78] = hits_q[78] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.Rows)) hits_q[79] = hits_q[79] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.Rows + 1)) hits_q[80] = hits_q[80] + 1;
      if ((depth == Cfg.Rows) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[81] = hits_q[81] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.AccRows / 2)) hits_q[82] = hits_q[82] + 1;
    end
    if (start[QueueMxu] && Bf16) begin  // shape_bf16
      if ((depth == 1) && (vectors == 1)) hits_q[83] = hits_q[83] + 1;
      if ((depth == 1) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[84] = hits_q[84] + 1;
      if ((depth == 1) && (vectors == Cfg.Rows - 1)) hits_q[85] = hits_q[85] + 1;
      if ((depth == 1) && (vectors == Cfg.Rows)) hits_q[86] = hits_q[86] + 1;
      if ((depth == 1) && (vectors == Cfg.Rows + 1)) hits_q[87] = hits_q[87] + 1;
      if ((depth == 1) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[88] = hits_q[88] + 1;
      if ((depth == 1) && (vectors == Cfg.AccRows / 2)) hits_q[89] = hits_q[89] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == 1)) hits_q[90] = hits_q[90] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[91] = hits_q[91] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.Rows - 1)) hits_q[92] = hits_q[92] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.Rows)) hits_q[93] = hits_q[93] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.Rows + 1)) hits_q[94] = hits_q[94] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[95] = hits_q[95] + 1;
      if ((depth > 1 && depth < Cfg.Rows - 1) && (vectors == Cfg.AccRows / 2)) hits_q[96] = hits_q[96] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == 1)) hits_q[97] = hits_q[97] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[98] = hits_q[98] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.Rows - 1)) hits_q[99] = hits_q[99] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.Rows)) hits_q[100] = hits_q[100] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.Rows + 1)) hits_q[101] = hits_q[101] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[102] = hits_q[102] + 1;
      if ((depth == Cfg.Rows - 1) && (vectors == Cfg.AccRows / 2)) hits_q[103] = hits_q[103] + 1;
      if ((depth == Cfg.Rows) && (vectors == 1)) hits_q[104] = hits_q[104] + 1;
      if ((depth == Cfg.Rows) && (vectors > 1 && vectors < Cfg.Rows - 1)) hits_q[105] = hits_q[105] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.Rows - 1)) hits_q[106] = hits_q[106] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.Rows)) hits_q[107] = hits_q[107] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.Rows + 1)) hits_q[108] = hits_q[108] + 1;
      if ((depth == Cfg.Rows) && (vectors > Cfg.Rows + 1 && vectors < Cfg.AccRows / 2)) hits_q[109] = hits_q[109] + 1;
      if ((depth == Cfg.Rows) && (vectors == Cfg.AccRows / 2)) hits_q[110] = hits_q[110] + 1;
    end
    if (start[QueueMxu]) begin  // matmul_flags
      if (mm.flags[2:0] == 3'b000) hits_q[111] = hits_q[111] + 1;
      if (mm.flags[2:0] == 3'b001) hits_q[112] = hits_q[112] + 1;
      if (mm.flags[2:0] == 3'b010) hits_q[113] = hits_q[113] + 1;
      if (mm.flags[2:0] == 3'b011) hits_q[114] = hits_q[114] + 1;
      if (mm.flags[2:0] == 3'b100) hits_q[115] = hits_q[115] + 1;
      if (mm.flags[2:0] == 3'b101) hits_q[116] = hits_q[116] + 1;
      if (mm.flags[2:0] == 3'b110) hits_q[117] = hits_q[117] + 1;
      if (mm.flags[2:0] == 3'b111) hits_q[118] = hits_q[118] + 1;
    end
    if (start[QueueMxu]) begin  // segments
      if (segments == 1) hits_q[119] = hits_q[119] + 1;
      if (segments == 2) hits_q[120] = hits_q[120] + 1;
      if (segments == 3) hits_q[121] = hits_q[121] + 1;
      if (segments == 4) hits_q[122] = hits_q[122] + 1;
    end
    if (start[QueueMxu]) begin  // padding
      if ({top, bottom, left, right} == 4'b0000) hits_q[123] = hits_q[123] + 1;
      if ({top, bottom, left, right} == 4'b0001) hits_q[124] = hits_q[124] + 1;
      if ({top, bottom, left, right} == 4'b0010) hits_q[125] = hits_q[125] + 1;
      if ({top, bottom, left, right} == 4'b0011) hits_q[126] = hits_q[126] + 1;
      if ({top, bottom, left, right} == 4'b0100) hits_q[127] = hits_q[127] + 1;
      if ({top, bottom, left, right} == 4'b0101) hits_q[128] = hits_q[128] + 1;
      if ({top, bottom, left, right} == 4'b0110) hits_q[129] = hits_q[129] + 1;
      if ({top, bottom, left, right} == 4'b0111) hits_q[130] = hits_q[130] + 1;
      if ({top, bottom, left, right} == 4'b1000) hits_q[131] = hits_q[131] + 1;
      if ({top, bottom, left, right} == 4'b1001) hits_q[132] = hits_q[132] + 1;
      if ({top, bottom, left, right} == 4'b1010) hits_q[133] = hits_q[133] + 1;
      if ({top, bottom, left, right} == 4'b1011) hits_q[134] = hits_q[134] + 1;
      if ({top, bottom, left, right} == 4'b1100) hits_q[135] = hits_q[135] + 1;
      if ({top, bottom, left, right} == 4'b1101) hits_q[136] = hits_q[136] + 1;
      if ({top, bottom, left, right} == 4'b1110) hits_q[137] = hits_q[137] + 1;
      if ({top, bottom, left, right} == 4'b1111) hits_q[138] = hits_q[138] + 1;
    end
    if (start[QueueMxu]) begin  // walk
      if (mm.n > 1) hits_q[139] = hits_q[139] + 1;
      if (mm.ny == 1) hits_q[140] = hits_q[140] + 1;
      if (mm.nx == 1) hits_q[141] = hits_q[141] + 1;
      if (mm.ny > 1 && mm.sy == 0) hits_q[142] = hits_q[142] + 1;
      if (mm.ny > 1 && mm.sy == 1) hits_q[143] = hits_q[143] + 1;
      if (mm.ny > 1 && mm.sy > 1) hits_q[144] = hits_q[144] + 1;
      if (32'(mm.acc) >= Cfg.AccRows / 2) hits_q[145] = hits_q[145] + 1;
      if (mm.nx > 1 && 32'(mm.sx) == element_bytes(Cfg)) hits_q[146] = hits_q[146] + 1;
    end
    if (start[QueueVector] && !Bf16 && 8'(rq) == OpRequant) begin  // results
      if (rq.flags[1:0] == 0 && rq.cols == 1) hits_q[147] = hits_q[147] + 1;
      if (rq.flags[1:0] == 0 && rq.cols > 1 && 32'(rq.cols) < Cfg.Cols - 1) hits_q[148] = hits_q[148] + 1;
      if (rq.flags[1:0] == 0 && 32'(rq.cols) == Cfg.Cols - 1) hits_q[149] = hits_q[149] + 1;
      if (rq.flags[1:0] == 0 && 32'(rq.cols) == Cfg.Cols) hits_q[150] = hits_q[150] + 1;
      if (rq.flags[1:0] == 1 && rq.cols == 1) hits_q[151] = hits_q[151] + 1;
      if (rq.flags[1:0] == 1 && rq.cols > 1 && 32'(rq.cols) < Cfg.Cols - 1) hits_q[152] = hits_q[152] + 1;
      if (rq.flags[1:0] == 1 && 32'(rq.cols) == Cfg.Cols - 1) hits_q[153] = hits_q[153] + 1;
      if (rq.flags[1:0] == 1 && 32'(rq.cols) == Cfg.Cols) hits_q[154] = hits_q[154] + 1;
      if (rq.flags[1:0] == 2 && rq.cols == 1) hits_q[155] = hits_q[155] + 1;
      if (rq.flags[1:0] == 2 && rq.cols > 1 && 32'(rq.cols) < Cfg.Cols - 1) hits_q[156] = hits_q[156] + 1;
      if (rq.flags[1:0] == 2 && 32'(rq.cols) == Cfg.Cols - 1) hits_q[157] = hits_q[157] + 1;
      if (rq.flags[1:0] == 2 && 32'(rq.cols) == Cfg.Cols) hits_q[158] = hits_q[158] + 1;
    end
    if (start[QueueVector] && !Bf16 && 8'(pl) == OpPool) begin  // pooling
      if (pl.flags[0] == 0 && pl.kh == 1 && pl.kw == 1) hits_q[159] = hits_q[159] + 1;
      if (pl.flags[0] == 0 && pl.kh == 1 && pl.kw > 1) hits_q[160] = hits_q[160] + 1;
      if (pl.flags[0] == 0 && pl.kh > 1 && pl.kw == 1) hits_q[161] = hits_q[161] + 1;
      if (pl.flags[0] == 0 && pl.kh > 1 && pl.kw > 1) hits_q[162] = hits_q[162] + 1;
      if (pl.flags[0] == 0 && ($signed(pl.dy) < 0 || $signed(pl.dx) < 0)) hits_q[163] = hits_q[163] + 1;
      if (pl.flags[0] == 1 && pl.kh == 1 && pl.kw == 1) hits_q[164] = hits_q[164] + 1;
      if (pl.flags[0] == 1 && pl.kh == 1 && pl.kw > 1) hits_q[165] = hits_q[165] + 1;
      if (pl.flags[0] == 1 && pl.kh > 1 && pl.kw == 1) hits_q[166] = hits_q[166] + 1;
      if (pl.flags[0] == 1 && pl.kh > 1 && pl.kw > 1) hits_q[167] = hits_q[167] + 1;
      if (pl.flags[0] == 1 && ($signed(pl.dy) < 0 || $signed(pl.dx) < 0)) hits_q[168] = hits_q[168] + 1;
    end
    if (start[QueueWeight]) begin  // tiles
      if (8'(wt) == OpWeights && wt.tiles == 1) hits_q[169] = hits_q[169] + 1;
      if (8'(wt) == OpWeights && wt.tiles > 1 && 32'(wt.tiles) <= Cfg.WfifoTiles) hits_q[170] = hits_q[170] + 1;
      if (8'(wt) == OpWeights && 32'(wt.tiles) > Cfg.WfifoTiles) hits_q[171] = hits_q[171] + 1;
      if (8'(wt) == OpWeights && wt.flags[0]) hits_q[172] = hits_q[172] + 1;
      if (8'(tl) == OpTiles && tl.tiles == 1) hits_q[173] = hits_q[173] + 1;
      if (8'(tl) == OpTiles && tl.tiles > 1) hits_q[174] = hits_q[174] + 1;
      if (8'(tl) == OpTiles && tl.flags[0]) hits_q[175] = hits_q[175] + 1;
      if (8'(tl) == OpTiles && 32'(tl.rows) == Cfg.Rows && 32'(tl.cols) == Cfg.Cols) hits_q[176] = hits_q[176] + 1;
      if (8'(tl) == OpTiles && tl.rows == 1) hits_q[177] = hits_q[177] + 1;
      if (8'(tl) == OpTiles && tl.cols == 1) hits_q[178] = hits_q[178] + 1;
      if (8'(tl) == OpTiles && tl.rows > 1 && 32'(tl.rows) < Cfg.Rows && tl.cols > 1 && 32'(tl.cols) < Cfg.Cols) hits_q[179] = hits_q[179] + 1;
    end
    if (start[QueueLoad]) begin  // runs_load
      dma = load_desc_t'(req[QueueLoad].desc);
      if (dma.len == 1) hits_q[180] = hits_q[180] + 1;
      if (dma.len > 1 && 32'(dma.len) < beat_bytes(Cfg)) hits_q[181] = hits_q[181] + 1;
      if (32'(dma.len) == beat_bytes(Cfg)) hits_q[182] = hits_q[182] + 1;
      if (32'(dma.len) > beat_bytes(Cfg) && 32'(dma.len) % beat_bytes(Cfg) != 0) hits_q[183] = hits_q[183] + 1;
      if (32'(dma.len) > beat_bytes(Cfg) && 32'(dma.len) % beat_bytes(Cfg) == 0) hits_q[184] = hits_q[184] + 1;
      if (dma.n1 == 1 && dma.n2 == 1) hits_q[185] = hits_q[185] + 1;
      if (dma.n1 > 1 && dma.n2 == 1) hits_q[186] = hits_q[186] + 1;
      if (dma.n1 == 1 && dma.n2 > 1) hits_q[187] = hits_q[187] + 1;
      if (dma.n1 > 1 && dma.n2 > 1) hits_q[188] = hits_q[188] + 1;
      if (dma.n1 > 1 && dma.hbm_stride1 == '0) hits_q[189] = hits_q[189] + 1;
    end
    if (start[QueueStore]) begin  // runs_store
      dma = load_desc_t'(req[QueueStore].desc);
      if (dma.len == 1) hits_q[190] = hits_q[190] + 1;
      if (dma.len > 1 && 32'(dma.len) < beat_bytes(Cfg)) hits_q[191] = hits_q[191] + 1;
      if (32'(dma.len) == beat_bytes(Cfg)) hits_q[192] = hits_q[192] + 1;
      if (32'(dma.len) > beat_bytes(Cfg) && 32'(dma.len) % beat_bytes(Cfg) != 0) hits_q[193] = hits_q[193] + 1;
      if (32'(dma.len) > beat_bytes(Cfg) && 32'(dma.len) % beat_bytes(Cfg) == 0) hits_q[194] = hits_q[194] + 1;
      if (dma.n1 == 1 && dma.n2 == 1) hits_q[195] = hits_q[195] + 1;
      if (dma.n1 > 1 && dma.n2 == 1) hits_q[196] = hits_q[196] + 1;
      if (dma.n1 == 1 && dma.n2 > 1) hits_q[197] = hits_q[197] + 1;
      if (dma.n1 > 1 && dma.n2 > 1) hits_q[198] = hits_q[198] + 1;
      if (dma.n1 > 1 && dma.hbm_stride1 == '0) hits_q[199] = hits_q[199] + 1;
    end
    if (posted != '0) begin  // flag_posted
      if (posted[0]) hits_q[200] = hits_q[200] + 1;
      if (posted[1]) hits_q[201] = hits_q[201] + 1;
      if (posted[2]) hits_q[202] = hits_q[202] + 1;
      if (posted[3]) hits_q[203] = hits_q[203] + 1;
      if (posted[4]) hits_q[204] = hits_q[204] + 1;
      if (posted[5]) hits_q[205] = hits_q[205] + 1;
      if (posted[6]) hits_q[206] = hits_q[206] + 1;
      if (posted[7]) hits_q[207] = hits_q[207] + 1;
      if (posted[8]) hits_q[208] = hits_q[208] + 1;
      if (posted[9]) hits_q[209] = hits_q[209] + 1;
      if (posted[10]) hits_q[210] = hits_q[210] + 1;
      if (posted[11]) hits_q[211] = hits_q[211] + 1;
      if (posted[12]) hits_q[212] = hits_q[212] + 1;
      if (posted[13]) hits_q[213] = hits_q[213] + 1;
      if (posted[14]) hits_q[214] = hits_q[214] + 1;
      if (posted[15]) hits_q[215] = hits_q[215] + 1;
      if (posted[16]) hits_q[216] = hits_q[216] + 1;
      if (posted[17]) hits_q[217] = hits_q[217] + 1;
      if (posted[18]) hits_q[218] = hits_q[218] + 1;
      if (posted[19]) hits_q[219] = hits_q[219] + 1;
      if (posted[20]) hits_q[220] = hits_q[220] + 1;
      if (posted[21]) hits_q[221] = hits_q[221] + 1;
      if (posted[22]) hits_q[222] = hits_q[222] + 1;
      if (posted[23]) hits_q[223] = hits_q[223] + 1;
      if (posted[24]) hits_q[224] = hits_q[224] + 1;
      if (posted[25]) hits_q[225] = hits_q[225] + 1;
      if (posted[26]) hits_q[226] = hits_q[226] + 1;
      if (posted[27]) hits_q[227] = hits_q[227] + 1;
      if (posted[28]) hits_q[228] = hits_q[228] + 1;
      if (posted[29]) hits_q[229] = hits_q[229] + 1;
      if (posted[30]) hits_q[230] = hits_q[230] + 1;
      if (posted[31]) hits_q[231] = hits_q[231] + 1;
    end
    for (int unsigned a = 0; a <= NumQueues; a++) begin
      if (flag_met[a]) begin  // flag_taken
        if (flag_wait[a][0]) hits_q[232] = hits_q[232] + 1;
        if (flag_wait[a][1]) hits_q[233] = hits_q[233] + 1;
        if (flag_wait[a][2]) hits_q[234] = hits_q[234] + 1;
        if (flag_wait[a][3]) hits_q[235] = hits_q[235] + 1;
        if (flag_wait[a][4]) hits_q[236] = hits_q[236] + 1;
        if (flag_wait[a][5]) hits_q[237] = hits_q[237] + 1;
        if (flag_wait[a][6]) hits_q[238] = hits_q[238] + 1;
        if (flag_wait[a][7]) hits_q[239] = hits_q[239] + 1;
        if (flag_wait[a][8]) hits_q[240] = hits_q[240] + 1;
        if (flag_wait[a][9]) hits_q[241] = hits_q[241] + 1;
        if (flag_wait[a][10]) hits_q[242] = hits_q[242] + 1;
        if (flag_wait[a][11]) hits_q[243] = hits_q[243] + 1;
        if (flag_wait[a][12]) hits_q[244] = hits_q[244] + 1;
        if (flag_wait[a][13]) hits_q[245] = hits_q[245] + 1;
        if (flag_wait[a][14]) hits_q[246] = hits_q[246] + 1;
        if (flag_wait[a][15]) hits_q[247] = hits_q[247] + 1;
        if (flag_wait[a][16]) hits_q[248] = hits_q[248] + 1;
        if (flag_wait[a][17]) hits_q[249] = hits_q[249] + 1;
        if (flag_wait[a][18]) hits_q[250] = hits_q[250] + 1;
        if (flag_wait[a][19]) hits_q[251] = hits_q[251] + 1;
        if (flag_wait[a][20]) hits_q[252] = hits_q[252] + 1;
        if (flag_wait[a][21]) hits_q[253] = hits_q[253] + 1;
        if (flag_wait[a][22]) hits_q[254] = hits_q[254] + 1;
        if (flag_wait[a][23]) hits_q[255] = hits_q[255] + 1;
        if (flag_wait[a][24]) hits_q[256] = hits_q[256] + 1;
        if (flag_wait[a][25]) hits_q[257] = hits_q[257] + 1;
        if (flag_wait[a][26]) hits_q[258] = hits_q[258] + 1;
        if (flag_wait[a][27]) hits_q[259] = hits_q[259] + 1;
        if (flag_wait[a][28]) hits_q[260] = hits_q[260] + 1;
        if (flag_wait[a][29]) hits_q[261] = hits_q[261] + 1;
        if (flag_wait[a][30]) hits_q[262] = hits_q[262] + 1;
        if (flag_wait[a][31]) hits_q[263] = hits_q[263] + 1;
      end
    end
    for (int unsigned a = 0; a <= NumQueues; a++) begin
      if (flag_met[a] && $countones(flag_wait[a]) > 1) begin  // flag_pair
        waits = flag_wait[a];
        if (waits[0] && waits[1]) hits_q[264] = hits_q[264] + 1;
        if (waits[0] && waits[2]) hits_q[265] = hits_q[265] + 1;
        if (waits[0] && waits[3]) hits_q[266] = hits_q[266] + 1;
        if (waits[0] && waits[4]) hits_q[267] = hits_q[267] + 1;
        if (waits[0] && waits[5]) hits_q[268] = hits_q[268] + 1;
        if (waits[0] && waits[6]) hits_q[269] = hits_q[269] + 1;
        if (waits[0] && waits[7]) hits_q[270] = hits_q[270] + 1;
        if (waits[0] && waits[8]) hits_q[271] = hits_q[271] + 1;
        if (waits[0] && waits[9]) hits_q[272] = hits_q[272] + 1;
        if (waits[0] && waits[10]) hits_q[273] = hits_q[273] + 1;
        if (waits[0] && waits[11]) hits_q[274] = hits_q[274] + 1;
        if (waits[0] && waits[12]) hits_q[275] = hits_q[275] + 1;
        if (waits[0] && waits[13]) hits_q[276] = hits_q[276] + 1;
        if (waits[0] && waits[14]) hits_q[277] = hits_q[277] + 1;
        if (waits[0] && waits[15]) hits_q[278] = hits_q[278] + 1;
        if (waits[0] && waits[16]) hits_q[279] = hits_q[279] + 1;
        if (waits[0] && waits[17]) hits_q[280] = hits_q[280] + 1;
        if (waits[0] && waits[18]) hits_q[281] = hits_q[281] + 1;
        if (waits[0] && waits[19]) hits_q[282] = hits_q[282] + 1;
        if (waits[0] && waits[20]) hits_q[283] = hits_q[283] + 1;
        if (waits[0] && waits[21]) hits_q[284] = hits_q[284] + 1;
        if (waits[0] && waits[22]) hits_q[285] = hits_q[285] + 1;
        if (waits[0] && waits[23]) hits_q[286] = hits_q[286] + 1;
        if (waits[0] && waits[24]) hits_q[287] = hits_q[287] + 1;
        if (waits[0] && waits[25]) hits_q[288] = hits_q[288] + 1;
        if (waits[0] && waits[26]) hits_q[289] = hits_q[289] + 1;
        if (waits[0] && waits[27]) hits_q[290] = hits_q[290] + 1;
        if (waits[0] && waits[28]) hits_q[291] = hits_q[291] + 1;
        if (waits[0] && waits[29]) hits_q[292] = hits_q[292] + 1;
        if (waits[0] && waits[30]) hits_q[293] = hits_q[293] + 1;
        if (waits[0] && waits[31]) hits_q[294] = hits_q[294] + 1;
        if (waits[1] && waits[2]) hits_q[295] = hits_q[295] + 1;
        if (waits[1] && waits[3]) hits_q[296] = hits_q[296] + 1;
        if (waits[1] && waits[4]) hits_q[297] = hits_q[297] + 1;
        if (waits[1] && waits[5]) hits_q[298] = hits_q[298] + 1;
        if (waits[1] && waits[6]) hits_q[299] = hits_q[299] + 1;
        if (waits[1] && waits[7]) hits_q[300] = hits_q[300] + 1;
        if (waits[1] && waits[8]) hits_q[301] = hits_q[301] + 1;
        if (waits[1] && waits[9]) hits_q[302] = hits_q[302] + 1;
        if (waits[1] && waits[10]) hits_q[303] = hits_q[303] + 1;
        if (waits[1] && waits[11]) hits_q[304] = hits_q[304] + 1;
        if (waits[1] && waits[12]) hits_q[305] = hits_q[305] + 1;
        if (waits[1] && waits[13]) hits_q[306] = hits_q[306] + 1;
        if (waits[1] && waits[14]) hits_q[307] = hits_q[307] + 1;
        if (waits[1] && waits[15]) hits_q[308] = hits_q[308] + 1;
        if (waits[1] && waits[16]) hits_q[309] = hits_q[309] + 1;
        if (waits[1] && waits[17]) hits_q[310] = hits_q[310] + 1;
        if (waits[1] && waits[18]) hits_q[311] = hits_q[311] + 1;
        if (waits[1] && waits[19]) hits_q[312] = hits_q[312] + 1;
        if (waits[1] && waits[20]) hits_q[313] = hits_q[313] + 1;
        if (waits[1] && waits[21]) hits_q[314] = hits_q[314] + 1;
        if (waits[1] && waits[22]) hits_q[315] = hits_q[315] + 1;
        if (waits[1] && waits[23]) hits_q[316] = hits_q[316] + 1;
        if (waits[1] && waits[24]) hits_q[317] = hits_q[317] + 1;
        if (waits[1] && waits[25]) hits_q[318] = hits_q[318] + 1;
        if (waits[1] && waits[26]) hits_q[319] = hits_q[319] + 1;
        if (waits[1] && waits[27]) hits_q[320] = hits_q[320] + 1;
        if (waits[1] && waits[28]) hits_q[321] = hits_q[321] + 1;
        if (waits[1] && waits[29]) hits_q[322] = hits_q[322] + 1;
        if (waits[1] && waits[30]) hits_q[323] = hits_q[323] + 1;
        if (waits[1] && waits[31]) hits_q[324] = hits_q[324] + 1;
        if (waits[2] && waits[3]) hits_q[325] = hits_q[325] + 1;
        if (waits[2] && waits[4]) hits_q[326] = hits_q[326] + 1;
        if (waits[2] && waits[5]) hits_q[327] = hits_q[327] + 1;
        if (waits[2] && waits[6]) hits_q[328] = hits_q[328] + 1;
        if (waits[2] && waits[7]) hits_q[329] = hits_q[329] + 1;
        if (waits[2] && waits[8]) hits_q[330] = hits_q[330] + 1;
        if (waits[2] && waits[9]) hits_q[331] = hits_q[331] + 1;
        if (waits[2] && waits[10]) hits_q[332] = hits_q[332] + 1;
        if (waits[2] && waits[11]) hits_q[333] = hits_q[333] + 1;
        if (waits[2] && waits[12]) hits_q[334] = hits_q[334] + 1;
        if (waits[2] && waits[13]) hits_q[335] = hits_q[335] + 1;
        if (waits[2] && waits[14]) hits_q[336] = hits_q[336] + 1;
        if (waits[2] && waits[15]) hits_q[337] = hits_q[337] + 1;
        if (waits[2] && waits[16]) hits_q[338] = hits_q[338] + 1;
        if (waits[2] && waits[17]) hits_q[339] = hits_q[339] + 1;
        if (waits[2] && waits[18]) hits_q[340] = hits_q[340] + 1;
        if (waits[2] && waits[19]) hits_q[341] = hits_q[341] + 1;
        if (waits[2] && waits[20]) hits_q[342] = hits_q[342] + 1;
        if (waits[2] && waits[21]) hits_q[343] = hits_q[343] + 1;
        if (waits[2] && waits[22]) hits_q[344] = hits_q[344] + 1;
        if (waits[2] && waits[23]) hits_q[345] = hits_q[345] + 1;
        if (waits[2] && waits[24]) hits_q[346] = hits_q[346] + 1;
        if (waits[2] && waits[25]) hits_q[347] = hits_q[347] + 1;
        if (waits[2] && waits[26]) hits_q[348] = hits_q[348] + 1;
        if (waits[2] && waits[27]) hits_q[349] = hits_q[349] + 1;
        if (waits[2] && waits[28]) hits_q[350] = hits_q[350] + 1;
        if (waits[2] && waits[29]) hits_q[351] = hits_q[351] + 1;
        if (waits[2] && waits[30]) hits_q[352] = hits_q[352] + 1;
        if (waits[2] && waits[31]) hits_q[353] = hits_q[353] + 1;
        if (waits[3] && waits[4]) hits_q[354] = hits_q[354] + 1;
        if (waits[3] && waits[5]) hits_q[355] = hits_q[355] + 1;
        if (waits[3] && waits[6]) hits_q[356] = hits_q[356] + 1;
        if (waits[3] && waits[7]) hits_q[357] = hits_q[357] + 1;
        if (waits[3] && waits[8]) hits_q[358] = hits_q[358] + 1;
        if (waits[3] && waits[9]) hits_q[359] = hits_q[359] + 1;
        if (waits[3] && waits[10]) hits_q[360] = hits_q[360] + 1;
        if (waits[3] && waits[11]) hits_q[361] = hits_q[361] + 1;
        if (waits[3] && waits[12]) hits_q[362] = hits_q[362] + 1;
        if (waits[3] && waits[13]) hits_q[363] = hits_q[363] + 1;
        if (waits[3] && waits[14]) hits_q[364] = hits_q[364] + 1;
        if (waits[3] && waits[15]) hits_q[365] = hits_q[365] + 1;
        if (waits[3] && waits[16]) hits_q[366] = hits_q[366] + 1;
        if (waits[3] && waits[17]) hits_q[367] = hits_q[367] + 1;
        if (waits[3] && waits[18]) hits_q[368] = hits_q[368] + 1;
        if (waits[3] && waits[19]) hits_q[369] = hits_q[369] + 1;
        if (waits[3] && waits[20]) hits_q[370] = hits_q[370] + 1;
        if (waits[3] && waits[21]) hits_q[371] = hits_q[371] + 1;
        if (waits[3] && waits[22]) hits_q[372] = hits_q[372] + 1;
        if (waits[3] && waits[23]) hits_q[373] = hits_q[373] + 1;
        if (waits[3] && waits[24]) hits_q[374] = hits_q[374] + 1;
        if (waits[3] && waits[25]) hits_q[375] = hits_q[375] + 1;
        if (waits[3] && waits[26]) hits_q[376] = hits_q[376] + 1;
        if (waits[3] && waits[27]) hits_q[377] = hits_q[377] + 1;
        if (waits[3] && waits[28]) hits_q[378] = hits_q[378] + 1;
        if (waits[3] && waits[29]) hits_q[379] = hits_q[379] + 1;
        if (waits[3] && waits[30]) hits_q[380] = hits_q[380] + 1;
        if (waits[3] && waits[31]) hits_q[381] = hits_q[381] + 1;
        if (waits[4] && waits[5]) hits_q[382] = hits_q[382] + 1;
        if (waits[4] && waits[6]) hits_q[383] = hits_q[383] + 1;
        if (waits[4] && waits[7]) hits_q[384] = hits_q[384] + 1;
        if (waits[4] && waits[8]) hits_q[385] = hits_q[385] + 1;
        if (waits[4] && waits[9]) hits_q[386] = hits_q[386] + 1;
        if (waits[4] && waits[10]) hits_q[387] = hits_q[387] + 1;
        if (waits[4] && waits[11]) hits_q[388] = hits_q[388] + 1;
        if (waits[4] && waits[12]) hits_q[389] = hits_q[389] + 1;
        if (waits[4] && waits[13]) hits_q[390] = hits_q[390] + 1;
        if (waits[4] && waits[14]) hits_q[391] = hits_q[391] + 1;
        if (waits[4] && waits[15]) hits_q[392] = hits_q[392] + 1;
        if (waits[4] && waits[16]) hits_q[393] = hits_q[393] + 1;
        if (waits[4] && waits[17]) hits_q[394] = hits_q[394] + 1;
        if (waits[4] && waits[18]) hits_q[395] = hits_q[395] + 1;
        if (waits[4] && waits[19]) hits_q[396] = hits_q[396] + 1;
        if (waits[4] && waits[20]) hits_q[397] = hits_q[397] + 1;
        if (waits[4] && waits[21]) hits_q[398] = hits_q[398] + 1;
        if (waits[4] && waits[22]) hits_q[399] = hits_q[399] + 1;
        if (waits[4] && waits[23]) hits_q[400] = hits_q[400] + 1;
        if (waits[4] && waits[24]) hits_q[401] = hits_q[401] + 1;
        if (waits[4] && waits[25]) hits_q[402] = hits_q[402] + 1;
        if (waits[4] && waits[26]) hits_q[403] = hits_q[403] + 1;
        if (waits[4] && waits[27]) hits_q[404] = hits_q[404] + 1;
        if (waits[4] && waits[28]) hits_q[405] = hits_q[405] + 1;
        if (waits[4] && waits[29]) hits_q[406] = hits_q[406] + 1;
        if (waits[4] && waits[30]) hits_q[407] = hits_q[407] + 1;
        if (waits[4] && waits[31]) hits_q[408] = hits_q[408] + 1;
        if (waits[5] && waits[6]) hits_q[409] = hits_q[409] + 1;
        if (waits[5] && waits[7]) hits_q[410] = hits_q[410] + 1;
        if (waits[5] && waits[8]) hits_q[411] = hits_q[411] + 1;
        if (waits[5] && waits[9]) hits_q[412] = hits_q[412] + 1;
        if (waits[5] && waits[10]) hits_q[413] = hits_q[413] + 1;
        if (waits[5] && waits[11]) hits_q[414] = hits_q[414] + 1;
        if (waits[5] && waits[12]) hits_q[415] = hits_q[415] + 1;
        if (waits[5] && waits[13]) hits_q[416] = hits_q[416] + 1;
        if (waits[5] && waits[14]) hits_q[417] = hits_q[417] + 1;
        if (waits[5] && waits[15]) hits_q[418] = hits_q[418] + 1;
        if (waits[5] && waits[16]) hits_q[419] = hits_q[419] + 1;
        if (waits[5] && waits[17]) hits_q[420] = hits_q[420] + 1;
        if (waits[5] && waits[18]) hits_q[421] = hits_q[421] + 1;
        if (waits[5] && waits[19]) hits_q[422] = hits_q[422] + 1;
        if (waits[5] && waits[20]) hits_q[423] = hits_q[423] + 1;
        if (waits[5] && waits[21]) hits_q[424] = hits_q[424] + 1;
        if (waits[5] && waits[22]) hits_q[425] = hits_q[425] + 1;
        if (waits[5] && waits[23]) hits_q[426] = hits_q[426] + 1;
        if (waits[5] && waits[24]) hits_q[427] = hits_q[427] + 1;
        if (waits[5] && waits[25]) hits_q[428] = hits_q[428] + 1;
        if (waits[5] && waits[26]) hits_q[429] = hits_q[429] + 1;
        if (waits[5] && waits[27]) hits_q[430] = hits_q[430] + 1;
        if (waits[5] && waits[28]) hits_q[431] = hits_q[431] + 1;
        if (waits[5] && waits[29]) hits_q[432] = hits_q[432] + 1;
        if (waits[5] && waits[30]) hits_q[433] = hits_q[433] + 1;
        if (waits[5] && waits[31]) hits_q[434] = hits_q[434] + 1;
        if (waits[6] && waits[7]) hits_q[435] = hits_q[435] + 1;
        if (waits[6] && waits[8]) hits_q[436] = hits_q[436] + 1;
        if (waits[6] && waits[9]) hits_q[437] = hits_q[437] + 1;
        if (waits[6] && waits[10]) hits_q[438] = hits_q[438] + 1;
        if (waits[6] && waits[11]) hits_q[439] = hits_q[439] + 1;
        if (waits[6] && waits[12]) hits_q[440] = hits_q[440] + 1;
        if (waits[6] && waits[13]) hits_q[441] = hits_q[441] + 1;
        if (waits[6] && waits[14]) hits_q[442] = hits_q[442] + 1;
        if (waits[6] && waits[15]) hits_q[443] = hits_q[443] + 1;
        if (waits[6] && waits[16]) hits_q[444] = hits_q[444] + 1;
        if (waits[6] && waits[17]) hits_q[445] = hits_q[445] + 1;
        if (waits[6] && waits[18]) hits_q[446] = hits_q[446] + 1;
        if (waits[6] && waits[19]) hits_q[447] = hits_q[447] + 1;
        if (waits[6] && waits[20]) hits_q[448] = hits_q[448] + 1;
        if (waits[6] && waits[21]) hits_q[449] = hits_q[449] + 1;
        if (waits[6] && waits[22]) hits_q[450] = hits_q[450] + 1;
        if (waits[6] && waits[23]) hits_q[451] = hits_q[451] + 1;
        if (waits[6] && waits[24]) hits_q[452] = hits_q[452] + 1;
        if (waits[6] && waits[25]) hits_q[453] = hits_q[453] + 1;
        if (waits[6] && waits[26]) hits_q[454] = hits_q[454] + 1;
        if (waits[6] && waits[27]) hits_q[455] = hits_q[455] + 1;
        if (waits[6] && waits[28]) hits_q[456] = hits_q[456] + 1;
        if (waits[6] && waits[29]) hits_q[457] = hits_q[457] + 1;
        if (waits[6] && waits[30]) hits_q[458] = hits_q[458] + 1;
        if (waits[6] && waits[31]) hits_q[459] = hits_q[459] + 1;
        if (waits[7] && waits[8]) hits_q[460] = hits_q[460] + 1;
        if (waits[7] && waits[9]) hits_q[461] = hits_q[461] + 1;
        if (waits[7] && waits[10]) hits_q[462] = hits_q[462] + 1;
        if (waits[7] && waits[11]) hits_q[463] = hits_q[463] + 1;
        if (waits[7] && waits[12]) hits_q[464] = hits_q[464] + 1;
        if (waits[7] && waits[13]) hits_q[465] = hits_q[465] + 1;
        if (waits[7] && waits[14]) hits_q[466] = hits_q[466] + 1;
        if (waits[7] && waits[15]) hits_q[467] = hits_q[467] + 1;
        if (waits[7] && waits[16]) hits_q[468] = hits_q[468] + 1;
        if (waits[7] && waits[17]) hits_q[469] = hits_q[469] + 1;
        if (waits[7] && waits[18]) hits_q[470] = hits_q[470] + 1;
        if (waits[7] && waits[19]) hits_q[471] = hits_q[471] + 1;
        if (waits[7] && waits[20]) hits_q[472] = hits_q[472] + 1;
        if (waits[7] && waits[21]) hits_q[473] = hits_q[473] + 1;
        if (waits[7] && waits[22]) hits_q[474] = hits_q[474] + 1;
        if (waits[7] && waits[23]) hits_q[475] = hits_q[475] + 1;
        if (waits[7] && waits[24]) hits_q[476] = hits_q[476] + 1;
        if (waits[7] && waits[25]) hits_q[477] = hits_q[477] + 1;
        if (waits[7] && waits[26]) hits_q[478] = hits_q[478] + 1;
        if (waits[7] && waits[27]) hits_q[479] = hits_q[479] + 1;
        if (waits[7] && waits[28]) hits_q[480] = hits_q[480] + 1;
        if (waits[7] && waits[29]) hits_q[481] = hits_q[481] + 1;
        if (waits[7] && waits[30]) hits_q[482] = hits_q[482] + 1;
        if (waits[7] && waits[31]) hits_q[483] = hits_q[483] + 1;
        if (waits[8] && waits[9]) hits_q[484] = hits_q[484] + 1;
        if (waits[8] && waits[10]) hits_q[485] = hits_q[485] + 1;
        if (waits[8] && waits[11]) hits_q[486] = hits_q[486] + 1;
        if (waits[8] && waits[12]) hits_q[487] = hits_q[487] + 1;
        if (waits[8] && waits[13]) hits_q[488] = hits_q[488] + 1;
        if (waits[8] && waits[14]) hits_q[489] = hits_q[489] + 1;
        if (waits[8] && waits[15]) hits_q[490] = hits_q[490] + 1;
        if (waits[8] && waits[16]) hits_q[491] = hits_q[491] + 1;
        if (waits[8] && waits[17]) hits_q[492] = hits_q[492] + 1;
        if (waits[8] && waits[18]) hits_q[493] = hits_q[493] + 1;
        if (waits[8] && waits[19]) hits_q[494] = hits_q[494] + 1;
        if (waits[8] && waits[20]) hits_q[495] = hits_q[495] + 1;
        if (waits[8] && waits[21]) hits_q[496] = hits_q[496] + 1;
        if (waits[8] && waits[22]) hits_q[497] = hits_q[497] + 1;
        if (waits[8] && waits[23]) hits_q[498] = hits_q[498] + 1;
        if (waits[8] && waits[24]) hits_q[499] = hits_q[499] + 1;
        if (waits[8] && waits[25]) hits_q[500] = hits_q[500] + 1;
        if (waits[8] && waits[26]) hits_q[501] = hits_q[501] + 1;
        if (waits[8] && waits[27]) hits_q[502] = hits_q[502] + 1;
        if (waits[8] && waits[28]) hits_q[503] = hits_q[503] + 1;
        if (waits[8] && waits[29]) hits_q[504] = hits_q[504] + 1;
        if (waits[8] && waits[30]) hits_q[505] = hits_q[505] + 1;
        if (waits[8] && waits[31]) hits_q[506] = hits_q[506] + 1;
        if (waits[9] && waits[10]) hits_q[507] = hits_q[507] + 1;
        if (waits[9] && waits[11]) hits_q[508] = hits_q[508] + 1;
        if (waits[9] && waits[12]) hits_q[509] = hits_q[509] + 1;
        if (waits[9] && waits[13]) hits_q[510] = hits_q[510] + 1;
        if (waits[9] && waits[14]) hits_q[511] = hits_q[511] + 1;
        if (waits[9] && waits[15]) hits_q[512] = hits_q[512] + 1;
        if (waits[9] && waits[16]) hits_q[513] = hits_q[513] + 1;
        if (waits[9] && waits[17]) hits_q[514] = hits_q[514] + 1;
        if (waits[9] && waits[18]) hits_q[515] = hits_q[515] + 1;
        if (waits[9] && waits[19]) hits_q[516] = hits_q[516] + 1;
        if (waits[9] && waits[20]) hits_q[517] = hits_q[517] + 1;
        if (waits[9] && waits[21]) hits_q[518] = hits_q[518] + 1;
        if (waits[9] && waits[22]) hits_q[519] = hits_q[519] + 1;
        if (waits[9] && waits[23]) hits_q[520] = hits_q[520] + 1;
        if (waits[9] && waits[24]) hits_q[521] = hits_q[521] + 1;
        if (waits[9] && waits[25]) hits_q[522] = hits_q[522] + 1;
        if (waits[9] && waits[26]) hits_q[523] = hits_q[523] + 1;
        if (waits[9] && waits[27]) hits_q[524] = hits_q[524] + 1;
        if (waits[9] && waits[28]) hits_q[525] = hits_q[525] + 1;
        if (waits[9] && waits[29]) hits_q[526] = hits_q[526] + 1;
        if (waits[9] && waits[30]) hits_q[527] = hits_q[527] + 1;
        if (waits[9] && waits[31]) hits_q[528] = hits_q[528] + 1;
        if (waits[10] && waits[11]) hits_q[529] = hits_q[529] + 1;
        if (waits[10] && waits[12]) hits_q[530] = hits_q[530] + 1;
        if (waits[10] && waits[13]) hits_q[531] = hits_q[531] + 1;
        if (waits[10] && waits[14]) hits_q[532] = hits_q[532] + 1;
        if (waits[10] && waits[15]) hits_q[533] = hits_q[533] + 1;
        if (waits[10] && waits[16]) hits_q[534] = hits_q[534] + 1;
        if (waits[10] && waits[17]) hits_q[535] = hits_q[535] + 1;
        if (waits[10] && waits[18]) hits_q[536] = hits_q[536] + 1;
        if (waits[10] && waits[19]) hits_q[537] = hits_q[537] + 1;
        if (waits[10] && waits[20]) hits_q[538] = hits_q[538] + 1;
        if (waits[10] && waits[21]) hits_q[539] = hits_q[539] + 1;
        if (waits[10] && waits[22]) hits_q[540] = hits_q[540] + 1;
        if (waits[10] && waits[23]) hits_q[541] = hits_q[541] + 1;
        if (waits[10] && waits[24]) hits_q[542] = hits_q[542] + 1;
        if (waits[10] && waits[25]) hits_q[543] = hits_q[543] + 1;
        if (waits[10] && waits[26]) hits_q[544] = hits_q[544] + 1;
        if (waits[10] && waits[27]) hits_q[545] = hits_q[545] + 1;
        if (waits[10] && waits[28]) hits_q[546] = hits_q[546] + 1;
        if (waits[10] && waits[29]) hits_q[547] = hits_q[547] + 1;
        if (waits[10] && waits[30]) hits_q[548] = hits_q[548] + 1;
        if (waits[10] && waits[31]) hits_q[549] = hits_q[549] + 1;
        if (waits[11] && waits[12]) hits_q[550] = hits_q[550] + 1;
        if (waits[11] && waits[13]) hits_q[551] = hits_q[551] + 1;
        if (waits[11] && waits[14]) hits_q[552] = hits_q[552] + 1;
        if (waits[11] && waits[15]) hits_q[553] = hits_q[553] + 1;
        if (waits[11] && waits[16]) hits_q[554] = hits_q[554] + 1;
        if (waits[11] && waits[17]) hits_q[555] = hits_q[555] + 1;
        if (waits[11] && waits[18]) hits_q[556] = hits_q[556] + 1;
        if (waits[11] && waits[19]) hits_q[557] = hits_q[557] + 1;
        if (waits[11] && waits[20]) hits_q[558] = hits_q[558] + 1;
        if (waits[11] && waits[21]) hits_q[559] = hits_q[559] + 1;
        if (waits[11] && waits[22]) hits_q[560] = hits_q[560] + 1;
        if (waits[11] && waits[23]) hits_q[561] = hits_q[561] + 1;
        if (waits[11] && waits[24]) hits_q[562] = hits_q[562] + 1;
        if (waits[11] && waits[25]) hits_q[563] = hits_q[563] + 1;
        if (waits[11] && waits[26]) hits_q[564] = hits_q[564] + 1;
        if (waits[11] && waits[27]) hits_q[565] = hits_q[565] + 1;
        if (waits[11] && waits[28]) hits_q[566] = hits_q[566] + 1;
        if (waits[11] && waits[29]) hits_q[567] = hits_q[567] + 1;
        if (waits[11] && waits[30]) hits_q[568] = hits_q[568] + 1;
        if (waits[11] && waits[31]) hits_q[569] = hits_q[569] + 1;
        if (waits[12] && waits[13]) hits_q[570] = hits_q[570] + 1;
        if (waits[12] && waits[14]) hits_q[571] = hits_q[571] + 1;
        if (waits[12] && waits[15]) hits_q[572] = hits_q[572] + 1;
        if (waits[12] && waits[16]) hits_q[573] = hits_q[573] + 1;
        if (waits[12] && waits[17]) hits_q[574] = hits_q[574] + 1;
        if (waits[12] && waits[18]) hits_q[575] = hits_q[575] + 1;
        if (waits[12] && waits[19]) hits_q[576] = hits_q[576] + 1;
        if (waits[12] && waits[20]) hits_q[577] = hits_q[577] + 1;
        if (waits[12] && waits[21]) hits_q[578] = hits_q[578] + 1;
        if (waits[12] && waits[22]) hits_q[579] = hits_q[579] + 1;
        if (waits[12] && waits[23]) hits_q[580] = hits_q[580] + 1;
        if (waits[12] && waits[24]) hits_q[581] = hits_q[581] + 1;
        if (waits[12] && waits[25]) hits_q[582] = hits_q[582] + 1;
        if (waits[12] && waits[26]) hits_q[583] = hits_q[583] + 1;
        if (waits[12] && waits[27]) hits_q[584] = hits_q[584] + 1;
        if (waits[12] && waits[28]) hits_q[585] = hits_q[585] + 1;
        if (waits[12] && waits[29]) hits_q[586] = hits_q[586] + 1;
        if (waits[12] && waits[30]) hits_q[587] = hits_q[587] + 1;
        if (waits[12] && waits[31]) hits_q[588] = hits_q[588] + 1;
        if (waits[13] && waits[14]) hits_q[589] = hits_q[589] + 1;
        if (waits[13] && waits[15]) hits_q[590] = hits_q[590] + 1;
        if (waits[13] && waits[16]) hits_q[591] = hits_q[591] + 1;
        if (waits[13] && waits[17]) hits_q[592] = hits_q[592] + 1;
        if (waits[13] && waits[18]) hits_q[593] = hits_q[593] + 1;
        if (waits[13] && waits[19]) hits_q[594] = hits_q[594] + 1;
        if (waits[13] && waits[20]) hits_q[595] = hits_q[595] + 1;
        if (waits[13] && waits[21]) hits_q[596] = hits_q[596] + 1;
        if (waits[13] && waits[22]) hits_q[597] = hits_q[597] + 1;
        if (waits[13] && waits[23]) hits_q[598] = hits_q[598] + 1;
        if (waits[13] && waits[24]) hits_q[599] = hits_q[599] + 1;
        if (waits[13] && waits[25]) hits_q[600] = hits_q[600] + 1;
        if (waits[13] && waits[26]) hits_q[601] = hits_q[601] + 1;
        if (waits[13] && waits[27]) hits_q[602] = hits_q[602] + 1;
        if (waits[13] && waits[28]) hits_q[603] = hits_q[603] + 1;
        if (waits[13] && waits[29]) hits_q[604] = hits_q[604] + 1;
        if (waits[13] && waits[30]) hits_q[605] = hits_q[605] + 1;
        if (waits[13] && waits[31]) hits_q[606] = hits_q[606] + 1;
        if (waits[14] && waits[15]) hits_q[607] = hits_q[607] + 1;
        if (waits[14] && waits[16]) hits_q[608] = hits_q[608] + 1;
        if (waits[14] && waits[17]) hits_q[609] = hits_q[609] + 1;
        if (waits[14] && waits[18]) hits_q[610] = hits_q[610] + 1;
        if (waits[14] && waits[19]) hits_q[611] = hits_q[611] + 1;
        if (waits[14] && waits[20]) hits_q[612] = hits_q[612] + 1;
        if (waits[14] && waits[21]) hits_q[613] = hits_q[613] + 1;
        if (waits[14] && waits[22]) hits_q[614] = hits_q[614] + 1;
        if (waits[14] && waits[23]) hits_q[615] = hits_q[615] + 1;
        if (waits[14] && waits[24]) hits_q[616] = hits_q[616] + 1;
        if (waits[14] && waits[25]) hits_q[617] = hits_q[617] + 1;
        if (waits[14] && waits[26]) hits_q[618] = hits_q[618] + 1;
        if (waits[14] && waits[27]) hits_q[619] = hits_q[619] + 1;
        if (waits[14] && waits[28]) hits_q[620] = hits_q[620] + 1;
        if (waits[14] && waits[29]) hits_q[621] = hits_q[621] + 1;
        if (waits[14] && waits[30]) hits_q[622] = hits_q[622] + 1;
        if (waits[14] && waits[31]) hits_q[623] = hits_q[623] + 1;
        if (waits[15] && waits[16]) hits_q[624] = hits_q[624] + 1;
        if (waits[15] && waits[17]) hits_q[625] = hits_q[625] + 1;
        if (waits[15] && waits[18]) hits_q[626] = hits_q[626] + 1;
        if (waits[15] && waits[19]) hits_q[627] = hits_q[627] + 1;
        if (waits[15] && waits[20]) hits_q[628] = hits_q[628] + 1;
        if (waits[15] && waits[21]) hits_q[629] = hits_q[629] + 1;
        if (waits[15] && waits[22]) hits_q[630] = hits_q[630] + 1;
        if (waits[15] && waits[23]) hits_q[631] = hits_q[631] + 1;
        if (waits[15] && waits[24]) hits_q[632] = hits_q[632] + 1;
        if (waits[15] && waits[25]) hits_q[633] = hits_q[633] + 1;
        if (waits[15] && waits[26]) hits_q[634] = hits_q[634] + 1;
        if (waits[15] && waits[27]) hits_q[635] = hits_q[635] + 1;
        if (waits[15] && waits[28]) hits_q[636] = hits_q[636] + 1;
        if (waits[15] && waits[29]) hits_q[637] = hits_q[637] + 1;
        if (waits[15] && waits[30]) hits_q[638] = hits_q[638] + 1;
        if (waits[15] && waits[31]) hits_q[639] = hits_q[639] + 1;
        if (waits[16] && waits[17]) hits_q[640] = hits_q[640] + 1;
        if (waits[16] && waits[18]) hits_q[641] = hits_q[641] + 1;
        if (waits[16] && waits[19]) hits_q[642] = hits_q[642] + 1;
        if (waits[16] && waits[20]) hits_q[643] = hits_q[643] + 1;
        if (waits[16] && waits[21]) hits_q[644] = hits_q[644] + 1;
        if (waits[16] && waits[22]) hits_q[645] = hits_q[645] + 1;
        if (waits[16] && waits[23]) hits_q[646] = hits_q[646] + 1;
        if (waits[16] && waits[24]) hits_q[647] = hits_q[647] + 1;
        if (waits[16] && waits[25]) hits_q[648] = hits_q[648] + 1;
        if (waits[16] && waits[26]) hits_q[649] = hits_q[649] + 1;
        if (waits[16] && waits[27]) hits_q[650] = hits_q[650] + 1;
        if (waits[16] && waits[28]) hits_q[651] = hits_q[651] + 1;
        if (waits[16] && waits[29]) hits_q[652] = hits_q[652] + 1;
        if (waits[16] && waits[30]) hits_q[653] = hits_q[653] + 1;
        if (waits[16] && waits[31]) hits_q[654] = hits_q[654] + 1;
        if (waits[17] && waits[18]) hits_q[655] = hits_q[655] + 1;
        if (waits[17] && waits[19]) hits_q[656] = hits_q[656] + 1;
        if (waits[17] && waits[20]) hits_q[657] = hits_q[657] + 1;
        if (waits[17] && waits[21]) hits_q[658] = hits_q[658] + 1;
        if (waits[17] && waits[22]) hits_q[659] = hits_q[659] + 1;
        if (waits[17] && waits[23]) hits_q[660] = hits_q[660] + 1;
        if (waits[17] && waits[24]) hits_q[661] = hits_q[661] + 1;
        if (waits[17] && waits[25]) hits_q[662] = hits_q[662] + 1;
        if (waits[17] && waits[26]) hits_q[663] = hits_q[663] + 1;
        if (waits[17] && waits[27]) hits_q[664] = hits_q[664] + 1;
        if (waits[17] && waits[28]) hits_q[665] = hits_q[665] + 1;
        if (waits[17] && waits[29]) hits_q[666] = hits_q[666] + 1;
        if (waits[17] && waits[30]) hits_q[667] = hits_q[667] + 1;
        if (waits[17] && waits[31]) hits_q[668] = hits_q[668] + 1;
        if (waits[18] && waits[19]) hits_q[669] = hits_q[669] + 1;
        if (waits[18] && waits[20]) hits_q[670] = hits_q[670] + 1;
        if (waits[18] && waits[21]) hits_q[671] = hits_q[671] + 1;
        if (waits[18] && waits[22]) hits_q[672] = hits_q[672] + 1;
        if (waits[18] && waits[23]) hits_q[673] = hits_q[673] + 1;
        if (waits[18] && waits[24]) hits_q[674] = hits_q[674] + 1;
        if (waits[18] && waits[25]) hits_q[675] = hits_q[675] + 1;
        if (waits[18] && waits[26]) hits_q[676] = hits_q[676] + 1;
        if (waits[18] && waits[27]) hits_q[677] = hits_q[677] + 1;
        if (waits[18] && waits[28]) hits_q[678] = hits_q[678] + 1;
        if (waits[18] && waits[29]) hits_q[679] = hits_q[679] + 1;
        if (waits[18] && waits[30]) hits_q[680] = hits_q[680] + 1;
        if (waits[18] && waits[31]) hits_q[681] = hits_q[681] + 1;
        if (waits[19] && waits[20]) hits_q[682] = hits_q[682] + 1;
        if (waits[19] && waits[21]) hits_q[683] = hits_q[683] + 1;
        if (waits[19] && waits[22]) hits_q[684] = hits_q[684] + 1;
        if (waits[19] && waits[23]) hits_q[685] = hits_q[685] + 1;
        if (waits[19] && waits[24]) hits_q[686] = hits_q[686] + 1;
        if (waits[19] && waits[25]) hits_q[687] = hits_q[687] + 1;
        if (waits[19] && waits[26]) hits_q[688] = hits_q[688] + 1;
        if (waits[19] && waits[27]) hits_q[689] = hits_q[689] + 1;
        if (waits[19] && waits[28]) hits_q[690] = hits_q[690] + 1;
        if (waits[19] && waits[29]) hits_q[691] = hits_q[691] + 1;
        if (waits[19] && waits[30]) hits_q[692] = hits_q[692] + 1;
        if (waits[19] && waits[31]) hits_q[693] = hits_q[693] + 1;
        if (waits[20] && waits[21]) hits_q[694] = hits_q[694] + 1;
        if (waits[20] && waits[22]) hits_q[695] = hits_q[695] + 1;
        if (waits[20] && waits[23]) hits_q[696] = hits_q[696] + 1;
        if (waits[20] && waits[24]) hits_q[697] = hits_q[697] + 1;
        if (waits[20] && waits[25]) hits_q[698] = hits_q[698] + 1;
        if (waits[20] && waits[26]) hits_q[699] = hits_q[699] + 1;
        if (waits[20] && waits[27]) hits_q[700] = hits_q[700] + 1;
        if (waits[20] && waits[28]) hits_q[701] = hits_q[701] + 1;
        if (waits[20] && waits[29]) hits_q[702] = hits_q[702] + 1;
        if (waits[20] && waits[30]) hits_q[703] = hits_q[703] + 1;
        if (waits[20] && waits[31]) hits_q[704] = hits_q[704] + 1;
        if (waits[21] && waits[22]) hits_q[705] = hits_q[705] + 1;
        if (waits[21] && waits[23]) hits_q[706] = hits_q[706] + 1;
        if (waits[21] && waits[24]) hits_q[707] = hits_q[707] + 1;
        if (waits[21] && waits[25]) hits_q[708] = hits_q[708] + 1;
        if (waits[21] && waits[26]) hits_q[709] = hits_q[709] + 1;
        if (waits[21] && waits[27]) hits_q[710] = hits_q[710] + 1;
        if (waits[21] && waits[28]) hits_q[711] = hits_q[711] + 1;
        if (waits[21] && waits[29]) hits_q[712] = hits_q[712] + 1;
        if (waits[21] && waits[30]) hits_q[713] = hits_q[713] + 1;
        if (waits[21] && waits[31]) hits_q[714] = hits_q[714] + 1;
        if (waits[22] && waits[23]) hits_q[715] = hits_q[715] + 1;
        if (waits[22] && waits[24]) hits_q[716] = hits_q[716] + 1;
        if (waits[22] && waits[25]) hits_q[717] = hits_q[717] + 1;
        if (waits[22] && waits[26]) hits_q[718] = hits_q[718] + 1;
        if (waits[22] && waits[27]) hits_q[719] = hits_q[719] + 1;
        if (waits[22] && waits[28]) hits_q[720] = hits_q[720] + 1;
        if (waits[22] && waits[29]) hits_q[721] = hits_q[721] + 1;
        if (waits[22] && waits[30]) hits_q[722] = hits_q[722] + 1;
        if (waits[22] && waits[31]) hits_q[723] = hits_q[723] + 1;
        if (waits[23] && waits[24]) hits_q[724] = hits_q[724] + 1;
        if (waits[23] && waits[25]) hits_q[725] = hits_q[725] + 1;
        if (waits[23] && waits[26]) hits_q[726] = hits_q[726] + 1;
        if (waits[23] && waits[27]) hits_q[727] = hits_q[727] + 1;
        if (waits[23] && waits[28]) hits_q[728] = hits_q[728] + 1;
        if (waits[23] && waits[29]) hits_q[729] = hits_q[729] + 1;
        if (waits[23] && waits[30]) hits_q[730] = hits_q[730] + 1;
        if (waits[23] && waits[31]) hits_q[731] = hits_q[731] + 1;
        if (waits[24] && waits[25]) hits_q[732] = hits_q[732] + 1;
        if (waits[24] && waits[26]) hits_q[733] = hits_q[733] + 1;
        if (waits[24] && waits[27]) hits_q[734] = hits_q[734] + 1;
        if (waits[24] && waits[28]) hits_q[735] = hits_q[735] + 1;
        if (waits[24] && waits[29]) hits_q[736] = hits_q[736] + 1;
        if (waits[24] && waits[30]) hits_q[737] = hits_q[737] + 1;
        if (waits[24] && waits[31]) hits_q[738] = hits_q[738] + 1;
        if (waits[25] && waits[26]) hits_q[739] = hits_q[739] + 1;
        if (waits[25] && waits[27]) hits_q[740] = hits_q[740] + 1;
        if (waits[25] && waits[28]) hits_q[741] = hits_q[741] + 1;
        if (waits[25] && waits[29]) hits_q[742] = hits_q[742] + 1;
        if (waits[25] && waits[30]) hits_q[743] = hits_q[743] + 1;
        if (waits[25] && waits[31]) hits_q[744] = hits_q[744] + 1;
        if (waits[26] && waits[27]) hits_q[745] = hits_q[745] + 1;
        if (waits[26] && waits[28]) hits_q[746] = hits_q[746] + 1;
        if (waits[26] && waits[29]) hits_q[747] = hits_q[747] + 1;
        if (waits[26] && waits[30]) hits_q[748] = hits_q[748] + 1;
        if (waits[26] && waits[31]) hits_q[749] = hits_q[749] + 1;
        if (waits[27] && waits[28]) hits_q[750] = hits_q[750] + 1;
        if (waits[27] && waits[29]) hits_q[751] = hits_q[751] + 1;
        if (waits[27] && waits[30]) hits_q[752] = hits_q[752] + 1;
        if (waits[27] && waits[31]) hits_q[753] = hits_q[753] + 1;
        if (waits[28] && waits[29]) hits_q[754] = hits_q[754] + 1;
        if (waits[28] && waits[30]) hits_q[755] = hits_q[755] + 1;
        if (waits[28] && waits[31]) hits_q[756] = hits_q[756] + 1;
        if (waits[29] && waits[30]) hits_q[757] = hits_q[757] + 1;
        if (waits[29] && waits[31]) hits_q[758] = hits_q[758] + 1;
        if (waits[30] && waits[31]) hits_q[759] = hits_q[759] + 1;
      end
    end
    if (flag_met != '0) begin  // flag_route
      if (flag_met[QueueLoad] && (flag_wait[QueueLoad] & from_now[QueueLoad]) != '0) hits_q[760] = hits_q[760] + 1;
      if (flag_met[QueueWeight] && (flag_wait[QueueWeight] & from_now[QueueLoad]) != '0) hits_q[761] = hits_q[761] + 1;
      if (flag_met[QueueMxu] && (flag_wait[QueueMxu] & from_now[QueueLoad]) != '0) hits_q[762] = hits_q[762] + 1;
      if (flag_met[QueueVector] && (flag_wait[QueueVector] & from_now[QueueLoad]) != '0) hits_q[763] = hits_q[763] + 1;
      if (flag_met[QueueStore] && (flag_wait[QueueStore] & from_now[QueueLoad]) != '0) hits_q[764] = hits_q[764] + 1;
      if (flag_met[QueueLoad] && (flag_wait[QueueLoad] & from_now[QueueWeight]) != '0) hits_q[765] = hits_q[765] + 1;
      if (flag_met[QueueWeight] && (flag_wait[QueueWeight] & from_now[QueueWeight]) != '0) hits_q[766] = hits_q[766] + 1;
      if (flag_met[QueueMxu] && (flag_wait[QueueMxu] & from_now[QueueWeight]) != '0) hits_q[767] = hits_q[767] + 1;
      if (flag_met[QueueVector] && (flag_wait[QueueVector] & from_now[QueueWeight]) != '0) hits_q[768] = hits_q[768] + 1;
      if (flag_met[QueueStore] && (flag_wait[QueueStore] & from_now[QueueWeight]) != '0) hits_q[769] = hits_q[769] + 1;
      if (flag_met[QueueLoad] && (flag_wait[QueueLoad] & from_now[QueueMxu]) != '0) hits_q[770] = hits_q[770] + 1;
      if (flag_met[QueueWeight] && (flag_wait[QueueWeight] & from_now[QueueMxu]) != '0) hits_q[771] = hits_q[771] + 1;
      if (flag_met[QueueMxu] && (flag_wait[QueueMxu] & from_now[QueueMxu]) != '0) hits_q[772] = hits_q[772] + 1;
      if (flag_met[QueueVector] && (flag_wait[QueueVector] & from_now[QueueMxu]) != '0) hits_q[773] = hits_q[773] + 1;
      if (flag_met[QueueStore] && (flag_wait[QueueStore] & from_now[QueueMxu]) != '0) hits_q[774] = hits_q[774] + 1;
      if (flag_met[QueueLoad] && (flag_wait[QueueLoad] & from_now[QueueVector]) != '0) hits_q[775] = hits_q[775] + 1;
      if (flag_met[QueueWeight] && (flag_wait[QueueWeight] & from_now[QueueVector]) != '0) hits_q[776] = hits_q[776] + 1;
      if (flag_met[QueueMxu] && (flag_wait[QueueMxu] & from_now[QueueVector]) != '0) hits_q[777] = hits_q[777] + 1;
      if (flag_met[QueueVector] && (flag_wait[QueueVector] & from_now[QueueVector]) != '0) hits_q[778] = hits_q[778] + 1;
      if (flag_met[QueueStore] && (flag_wait[QueueStore] & from_now[QueueVector]) != '0) hits_q[779] = hits_q[779] + 1;
      if (flag_met[QueueLoad] && (flag_wait[QueueLoad] & from_now[QueueStore]) != '0) hits_q[780] = hits_q[780] + 1;
      if (flag_met[QueueWeight] && (flag_wait[QueueWeight] & from_now[QueueStore]) != '0) hits_q[781] = hits_q[781] + 1;
      if (flag_met[QueueMxu] && (flag_wait[QueueMxu] & from_now[QueueStore]) != '0) hits_q[782] = hits_q[782] + 1;
      if (flag_met[QueueVector] && (flag_wait[QueueVector] & from_now[QueueStore]) != '0) hits_q[783] = hits_q[783] + 1;
      if (flag_met[QueueStore] && (flag_wait[QueueStore] & from_now[QueueStore]) != '0) hits_q[784] = hits_q[784] + 1;
    end
    if (flag_met[NumQueues]) begin  // flag_halt
      if ((flag_wait[NumQueues] & from_now[QueueLoad]) != '0) hits_q[785] = hits_q[785] + 1;
      if ((flag_wait[NumQueues] & from_now[QueueWeight]) != '0) hits_q[786] = hits_q[786] + 1;
      if ((flag_wait[NumQueues] & from_now[QueueMxu]) != '0) hits_q[787] = hits_q[787] + 1;
      if ((flag_wait[NumQueues] & from_now[QueueVector]) != '0) hits_q[788] = hits_q[788] + 1;
      if ((flag_wait[NumQueues] & from_now[QueueStore]) != '0) hits_q[789] = hits_q[789] + 1;
    end
    if (flag_met != '0) begin  // flag_wait
      if (flag_met[QueueLoad] && !blocked[QueueLoad]) hits_q[790] = hits_q[790] + 1;
      if (flag_met[QueueLoad] && blocked[QueueLoad]) hits_q[791] = hits_q[791] + 1;
      if (flag_met[QueueWeight] && !blocked[QueueWeight]) hits_q[792] = hits_q[792] + 1;
      if (flag_met[QueueWeight] && blocked[QueueWeight]) hits_q[793] = hits_q[793] + 1;
      if (flag_met[QueueMxu] && !blocked[QueueMxu]) hits_q[794] = hits_q[794] + 1;
      if (flag_met[QueueMxu] && blocked[QueueMxu]) hits_q[795] = hits_q[795] + 1;
      if (flag_met[QueueVector] && !blocked[QueueVector]) hits_q[796] = hits_q[796] + 1;
      if (flag_met[QueueVector] && blocked[QueueVector]) hits_q[797] = hits_q[797] + 1;
      if (flag_met[QueueStore] && !blocked[QueueStore]) hits_q[798] = hits_q[798] + 1;
      if (flag_met[QueueStore] && blocked[QueueStore]) hits_q[799] = hits_q[799] + 1;
    end
    if (stall != '1) begin  // stall
      if (!stall[0] && length[0] == 1) hits_q[800] = hits_q[800] + 1;
      if (!stall[0] && length[0] > 1 && length[0] < 16) hits_q[801] = hits_q[801] + 1;
      if (!stall[0] && length[0] >= 16) hits_q[802] = hits_q[802] + 1;
      if (!stall[1] && length[1] == 1) hits_q[803] = hits_q[803] + 1;
      if (!stall[1] && length[1] > 1 && length[1] < 16) hits_q[804] = hits_q[804] + 1;
      if (!stall[1] && length[1] >= 16) hits_q[805] = hits_q[805] + 1;
      if (!stall[2] && length[2] == 1) hits_q[806] = hits_q[806] + 1;
      if (!stall[2] && length[2] > 1 && length[2] < 16) hits_q[807] = hits_q[807] + 1;
      if (!stall[2] && length[2] >= 16) hits_q[808] = hits_q[808] + 1;
      if (!stall[3] && length[3] == 1) hits_q[809] = hits_q[809] + 1;
      if (!stall[3] && length[3] > 1 && length[3] < 16) hits_q[810] = hits_q[810] + 1;
      if (!stall[3] && length[3] >= 16) hits_q[811] = hits_q[811] + 1;
      if (!stall[4] && length[4] == 1) hits_q[812] = hits_q[812] + 1;
      if (!stall[4] && length[4] > 1 && length[4] < 16) hits_q[813] = hits_q[813] + 1;
      if (!stall[4] && length[4] >= 16) hits_q[814] = hits_q[814] + 1;
      if (!stall[5] && length[5] == 1) hits_q[815] = hits_q[815] + 1;
      if (!stall[5] && length[5] > 1 && length[5] < 16) hits_q[816] = hits_q[816] + 1;
      if (!stall[5] && length[5] >= 16) hits_q[817] = hits_q[817] + 1;
      if (!stall[6] && length[6] == 1) hits_q[818] = hits_q[818] + 1;
      if (!stall[6] && length[6] > 1 && length[6] < 16) hits_q[819] = hits_q[819] + 1;
      if (!stall[6] && length[6] >= 16) hits_q[820] = hits_q[820] + 1;
      if (!stall[7] && length[7] == 1) hits_q[821] = hits_q[821] + 1;
      if (!stall[7] && length[7] > 1 && length[7] < 16) hits_q[822] = hits_q[822] + 1;
      if (!stall[7] && length[7] >= 16) hits_q[823] = hits_q[823] + 1;
      if (!stall[8] && length[8] == 1) hits_q[824] = hits_q[824] + 1;
      if (!stall[8] && length[8] > 1 && length[8] < 16) hits_q[825] = hits_q[825] + 1;
      if (!stall[8] && length[8] >= 16) hits_q[826] = hits_q[826] + 1;
      if (!stall[9] && length[9] == 1) hits_q[827] = hits_q[827] + 1;
      if (!stall[9] && length[9] > 1 && length[9] < 16) hits_q[828] = hits_q[828] + 1;
      if (!stall[9] && length[9] >= 16) hits_q[829] = hits_q[829] + 1;
      if (!stall[10] && length[10] == 1) hits_q[830] = hits_q[830] + 1;
      if (!stall[10] && length[10] > 1 && length[10] < 16) hits_q[831] = hits_q[831] + 1;
      if (!stall[10] && length[10] >= 16) hits_q[832] = hits_q[832] + 1;
      if (!stall[11] && length[11] == 1) hits_q[833] = hits_q[833] + 1;
      if (!stall[11] && length[11] > 1 && length[11] < 16) hits_q[834] = hits_q[834] + 1;
      if (!stall[11] && length[11] >= 16) hits_q[835] = hits_q[835] + 1;
      if (!stall[12] && length[12] == 1) hits_q[836] = hits_q[836] + 1;
      if (!stall[12] && length[12] > 1 && length[12] < 16) hits_q[837] = hits_q[837] + 1;
      if (!stall[12] && length[12] >= 16) hits_q[838] = hits_q[838] + 1;
      if (!stall[13] && length[13] == 1) hits_q[839] = hits_q[839] + 1;
      if (!stall[13] && length[13] > 1 && length[13] < 16) hits_q[840] = hits_q[840] + 1;
      if (!stall[13] && length[13] >= 16) hits_q[841] = hits_q[841] + 1;
      if (!stall[14] && length[14] == 1) hits_q[842] = hits_q[842] + 1;
      if (!stall[14] && length[14] > 1 && length[14] < 16) hits_q[843] = hits_q[843] + 1;
      if (!stall[14] && length[14] >= 16) hits_q[844] = hits_q[844] + 1;
    end
    if (mxu_stall_ub) begin  // stall_window
      if (busy == 5'b00100) hits_q[845] = hits_q[845] + 1;
      if (busy != 5'b00100) hits_q[846] = hits_q[846] + 1;
    end
    if (busy != '0) begin  // busy
      if (busy[QueueLoad] && busy[QueueWeight]) hits_q[847] = hits_q[847] + 1;
      if (busy[QueueLoad] && busy[QueueMxu]) hits_q[848] = hits_q[848] + 1;
      if (busy[QueueLoad] && busy[QueueVector]) hits_q[849] = hits_q[849] + 1;
      if (busy[QueueLoad] && busy[QueueStore]) hits_q[850] = hits_q[850] + 1;
      if (busy[QueueWeight] && busy[QueueMxu]) hits_q[851] = hits_q[851] + 1;
      if (busy[QueueWeight] && busy[QueueVector]) hits_q[852] = hits_q[852] + 1;
      if (busy[QueueWeight] && busy[QueueStore]) hits_q[853] = hits_q[853] + 1;
      if (busy[QueueMxu] && busy[QueueVector]) hits_q[854] = hits_q[854] + 1;
      if (busy[QueueMxu] && busy[QueueStore]) hits_q[855] = hits_q[855] + 1;
      if (busy[QueueVector] && busy[QueueStore]) hits_q[856] = hits_q[856] + 1;
    end
    if (busy == '1) begin  // all_busy
      if (1'b1) hits_q[857] = hits_q[857] + 1;
    end
    if (status.fault && !fault_before) begin  // fault
      if (status.fault_code == FaultIllegalOpcode) hits_q[858] = hits_q[858] + 1;
      if (status.fault_code == FaultIllegalDescriptor) hits_q[859] = hits_q[859] + 1;
      if (status.fault_code == FaultMisaligned) hits_q[860] = hits_q[860] + 1;
      if (status.fault_code == FaultUbRange) hits_q[861] = hits_q[861] + 1;
      if (status.fault_code == FaultAccRange) hits_q[862] = hits_q[862] + 1;
      if (status.fault_code == FaultHbmRange) hits_q[863] = hits_q[863] + 1;
      if (status.fault_code == FaultWatchdog) hits_q[864] = hits_q[864] + 1;
      if (status.fault_code == FaultFlagOverflow) hits_q[865] = hits_q[865] + 1;
      if (status.fault_code == FaultProgramEnd) hits_q[866] = hits_q[866] + 1;
      if (status.fault_code == FaultVectorProgram) hits_q[867] = hits_q[867] + 1;
      if (status.fault_code == FaultMemoryError) hits_q[868] = hits_q[868] + 1;
      if (status.fault_code == FaultEccError) hits_q[869] = hits_q[869] + 1;
      if (status.fault_code == FaultParity) hits_q[870] = hits_q[870] + 1;
    end
    if (status.fault && !fault_before) begin  // fault_unit
      if (status.fault_queue == 0) hits_q[871] = hits_q[871] + 1;
      if (status.fault_queue == 1) hits_q[872] = hits_q[872] + 1;
      if (status.fault_queue == 2) hits_q[873] = hits_q[873] + 1;
      if (status.fault_queue == 3) hits_q[874] = hits_q[874] + 1;
      if (status.fault_queue == 4) hits_q[875] = hits_q[875] + 1;
      if (status.fault_queue == 7) hits_q[876] = hits_q[876] + 1;
    end
    if (status.fault && !fault_before) begin  // fault_range
      if (status.fault_code == FaultIllegalDescriptor && status.fault_queue == 0) hits_q[877] = hits_q[877] + 1;
      if (status.fault_code == FaultIllegalDescriptor && status.fault_queue == 1) hits_q[878] = hits_q[878] + 1;
      if (status.fault_code == FaultIllegalDescriptor && status.fault_queue == 2) hits_q[879] = hits_q[879] + 1;
      if (status.fault_code == FaultIllegalDescriptor && status.fault_queue == 3) hits_q[880] = hits_q[880] + 1;
      if (status.fault_code == FaultIllegalDescriptor && status.fault_queue == 4) hits_q[881] = hits_q[881] + 1;
      if (status.fault_code == FaultUbRange && status.fault_queue == 0) hits_q[882] = hits_q[882] + 1;
      if (status.fault_code == FaultUbRange && status.fault_queue == 1) hits_q[883] = hits_q[883] + 1;
      if (status.fault_code == FaultUbRange && status.fault_queue == 2) hits_q[884] = hits_q[884] + 1;
      if (status.fault_code == FaultUbRange && status.fault_queue == 3) hits_q[885] = hits_q[885] + 1;
      if (status.fault_code == FaultUbRange && status.fault_queue == 4) hits_q[886] = hits_q[886] + 1;
    end
    if (status.fault && !fault_before && status.fault_code == FaultHbmRange) begin  // fault_hbm
      if (status.fault_queue == 0) hits_q[887] = hits_q[887] + 1;
      if (status.fault_queue == 1) hits_q[888] = hits_q[888] + 1;
      if (status.fault_queue == 4) hits_q[889] = hits_q[889] + 1;
      if (status.fault_queue == 7) hits_q[890] = hits_q[890] + 1;
    end
    if (status.fault && !fault_before) begin  // fault_beside
      if ($countones(busy) < 2) hits_q[891] = hits_q[891] + 1;
      if ($countones(busy) > 1) hits_q[892] = hits_q[892] + 1;
    end
    if (begins || resetting || status.done) begin  // run
      if (begins && !ran) hits_q[893] = hits_q[893] + 1;
      if (begins && ran && !fault_ever) hits_q[894] = hits_q[894] + 1;
      if (begins && fault_ever) hits_q[895] = hits_q[895] + 1;
      if (status.done) hits_q[896] = hits_q[896] + 1;
      if (resetting && status.running) hits_q[897] = hits_q[897] + 1;
      if (resetting && fault_ever) hits_q[898] = hits_q[898] + 1;
      if (resetting && !status.running && !fault_ever) hits_q[899] = hits_q[899] + 1;
    end
    if (status.running) begin  // numbers
      if (!Bf16 && status.acc_saturated) hits_q[900] = hits_q[900] + 1;
      if (mxu_nan) hits_q[901] = hits_q[901] + 1;
      if (mxu_inf) hits_q[902] = hits_q[902] + 1;
      if (vec_nan) hits_q[903] = hits_q[903] + 1;
      if (vec_inf) hits_q[904] = hits_q[904] + 1;
    end
    if (status.running) begin  // memory
      if (perf.rd_beat) hits_q[905] = hits_q[905] + 1;
      if (perf.wr_beat) hits_q[906] = hits_q[906] + 1;
      if (perf.wr_beat && rd_before) hits_q[907] = hits_q[907] + 1;
      if (perf.rd_beat && wr_before) hits_q[908] = hits_q[908] + 1;
      if (perf.rd_beat && perf.wr_beat) hits_q[909] = hits_q[909] + 1;
      if (perf.activates != '0) hits_q[910] = hits_q[910] + 1;
      if (perf.columns > perf.activates) hits_q[911] = hits_q[911] + 1;
      if (perf.refreshing != '0) hits_q[912] = hits_q[912] + 1;
      if (perf.refreshing != '0 && busy != '0) hits_q[913] = hits_q[913] + 1;
    end
    for (int unsigned i = 0; i < Causes; i++) length[i] = !stall[i] ? '0 : length[i] == '1 ? '1 : length[i] + 1'b1;
    for (int unsigned q = 0; q < NumQueues; q++) begin
      from[q] = core_rst_n ? from_now[q] : '0;
      if (start[q]) op_before[q] = 8'(req[q].desc);
      has_before[q] = core_rst_n && (has_before[q] || start[q]);
    end
    blocked      = core_rst_n ? (blocked | (flag_want & ~flag_met)) & ~flag_met : '0;
    rd_before    = perf.rd_beat;
    wr_before    = perf.wr_beat;
    if (begins) ran = 1'b1;
    if (begins) fault_ever = 1'b0;
    else if (status.fault) fault_ever = 1'b1;
    fault_before = status.fault;
  end
endmodule

bind systole_node systole_coverage_probe #(.Cfg(Cfg)) u_coverage (
    .clk_i, .rst_ni,
    .core_rst_n(u_core.core_rst_n),
    .begins(u_core.begin_q),
    .resetting(resetting),
    .req(u_core.req),
    .rsp(u_core.rsp),
    .status(u_core.status_o),
    .busy(u_core.q_busy),
    .waiting(u_core.q_waiting),
    .flag_want(u_core.u_control.flag_want),
    .flag_wait(u_core.u_control.flag_wait),
    .flag_met(u_core.u_control.flag_met),
    .flag_post(u_core.u_control.flag_post),
    .dispatch_stall(u_core.dispatch_stall),
    .mxu_stall_weights(u_core.mxu_stall_weights),
    .mxu_stall_swap(u_core.mxu_stall_swap),
    .mxu_stall_acc(u_core.mxu_stall_acc),
    .mxu_stall_ub(u_core.mxu_stall_ub),
    .vec_stall_ub(u_core.vec_stall_ub),
    .vec_stall_acc(u_core.acc_rd_valid && !u_core.acc_rd_ready),
    .vec_stall_write(u_core.vec_wr_valid && !u_core.vec_wr_ready),
    .weight_full(u_core.weight_full),
    .fetch_stall_mem(u_core.rd_valid_o[0] && !u_core.rd_ready_i[0]),
    .weight_stall_mem(u_core.rd_valid_o[1] && !u_core.rd_ready_i[1]),
    .weight_stall_ub((u_core.tile_win_valid & ~u_core.tile_win_ready) != '0),
    .load_stall_mem(u_core.rd_valid_o[2] && !u_core.rd_ready_i[2]),
    .load_stall_ub(u_core.ld_valid && !u_core.ld_ready),
    .store_stall_ub(u_core.st_valid && !u_core.st_ready),
    .store_stall_mem(u_core.wr_valid_o && !u_core.wr_ready_i),
    .perf(mem_status.perf),
    .mxu_nan(u_core.mxu_nan != '0),
    .mxu_inf(u_core.mxu_inf != '0),
    .vec_nan(u_core.vec_nan != '0),
    .vec_inf(u_core.vec_inf != '0)
);
