// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/hbm.yaml by scripts/generate.py: edit the source.

package systole_hbm_pkg;

  // Geometry of a pseudo-channel.
  localparam int unsigned BankGroups = 4;  // bank groups of a pseudo-channel
  localparam int unsigned BanksPerGroup = 4;  // banks of a bank group
  localparam int unsigned BurstBytes = 32;  // bytes of a column command: burst length 4 on 64 data bits
  localparam int unsigned BurstCycles = 2;  // cycles a burst occupies the data bus
  localparam int unsigned PhyBytes = 16;  // bytes of a pseudo-channel's data bus in a cycle (both clock edges)
  localparam int unsigned Banks = BankGroups * BanksPerGroup;
  localparam int unsigned BankBits = 4;  // {bank group, bank}
  localparam int unsigned BgBits = 2;
  localparam int unsigned RowBits = 15;
  localparam int unsigned ColBits = 5;
  localparam int unsigned BeatBits = 25;  // of a beat's number: capacity is 2**BeatBits beats

  typedef enum logic [2:0] {
    RowNop = 3'd0,  // no command
    RowAct = 3'd1,  // open row_addr in row_bank
    RowPre = 3'd2,  // close row_bank (no effect on a closed bank)
    RowPrea = 3'd3,  // close all banks
    RowRef = 3'd4,  // refresh all banks, which must be closed
    RowRefsb = 3'd5  // refresh row_bank, which must be closed
  } row_cmd_e;

  typedef enum logic [2:0] {
    ColNop = 3'd0,  // no command
    ColRd = 3'd1,  // read the burst col_addr of the open row of col_bank
    ColWr = 3'd2,  // write the burst col_addr of the open row of col_bank
    ColRda = 3'd3,  // rd, then close the bank as soon as tRTP and tRAS allow
    ColWra = 3'd4  // wr, then close the bank as soon as tWR and tRAS allow
  } col_cmd_e;

  // Timing in cycles; HbmTiming holds the table's values.
  typedef struct packed {
    logic [15:0] tcl;  // RD to the first read data
    logic [15:0] tcwl;  // WR to the first write data
    logic [15:0] trcdrd;  // ACT to RD, same bank
    logic [15:0] trcdwr;  // ACT to WR, same bank
    logic [15:0] trp;  // PRE or PREA to ACT of the bank, or to REF
    logic [15:0] tras;  // ACT to PRE, same bank
    logic [15:0] trc;  // ACT to ACT, same bank
    logic [15:0] trrd_s;  // ACT to ACT, any two banks
    logic [15:0] trrd_l;  // ACT to ACT, same bank group
    logic [15:0] tfaw;  // ACT to the fourth ACT after it
    logic [15:0] tccd_s;  // RD to RD or WR to WR, any two banks
    logic [15:0] tccd_l;  // RD to RD or WR to WR, same bank group
    logic [15:0] twtr_s;  // end of write data to RD, any two banks
    logic [15:0] twtr_l;  // end of write data to RD, same bank group
    logic [15:0] trtw;  // RD to WR
    logic [15:0] twr;  // end of write data to PRE, same bank
    logic [15:0] trtp;  // RD to PRE, same bank
    logic [15:0] trfc;  // REF to ACT or REF
    logic [15:0] trefi;  // average interval of the refreshes of a bank, by REF or REFSB
    logic [15:0] trfcsb;  // REFSB to ACT or REFSB of the bank, or to REF
    logic [15:0] trrefd;  // REFSB to ACT or REFSB, any two banks
  } timing_t;

  localparam timing_t HbmTiming = '{
    tcl: 16'd14,
    tcwl: 16'd4,
    trcdrd: 16'd14,
    trcdwr: 16'd14,
    trp: 16'd14,
    tras: 16'd34,
    trc: 16'd48,
    trrd_s: 16'd4,
    trrd_l: 16'd6,
    tfaw: 16'd15,
    tccd_s: 16'd2,
    tccd_l: 16'd4,
    twtr_s: 16'd6,
    twtr_l: 16'd8,
    trtw: 16'd14,
    twr: 16'd16,
    trtp: 16'd6,
    trfc: 16'd260,
    trefi: 16'd3900,
    trfcsb: 16'd160,
    trrefd: 16'd8
  };

  // Refreshes of a bank that may be owed or done in advance.
  localparam int unsigned HbmRefreshPostpone = 8;

  // Where a beat lives.
  typedef struct packed {
    logic                group;  // half of the pseudo-channels
    logic [BankBits-1:0] bank;   // {bank group, bank}
    logic [RowBits-1:0]  row;
    logic [ColBits-1:0]  col;
  } loc_t;

  // Address map: k is the byte address divided by the bytes of a beat.
  function automatic loc_t locate(logic [BeatBits-1:0] k);
    loc_t l;
    l.col = k[6:2];
    l.row = k[24:10];
    l.group = ^(k & 25'h003F109);  // lower (0) or upper (1) half of the pseudo-channels
    l.bank[0] = ^(k & 25'h002F900);  // bank in its group, bit 0
    l.bank[1] = ^(k & 25'h029B200);  // bank in its group, bit 1
    l.bank[2] = ^(k & 25'h0232F02);  // bank group, bit 0
    l.bank[3] = ^(k & 25'h02084D0);  // bank group, bit 1
    return l;
  endfunction

  // The group alone.
  function automatic logic group_of(logic [BeatBits-1:0] k);
    return ^(k & 25'h003F109);
  endfunction

  // What happened this cycle, for the performance counters. A command counts once a pseudo-channel.
  typedef struct packed {
    logic       rd_beat;     // a read response was delivered
    logic       wr_beat;     // a write was accepted
    logic [7:0] columns;     // RD and WR commands
    logic [7:0] activates;   // ACT commands (columns - activates are row hits)
    logic [7:0] refreshing;  // pseudo-channels in which a refresh keeps requests waiting
  } perf_t;

endpackage
