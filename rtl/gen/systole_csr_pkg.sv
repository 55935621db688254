// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/csr.rdl by scripts/generate.py: edit the source.

package systole_csr_pkg;

  localparam int unsigned CsrAddrBits = 12;
  localparam int unsigned NumCounters = 36;
  localparam int unsigned CtrIncBits = 10;  // a counter grows by less than 1024 a cycle: bytes of a beat
  localparam int unsigned CtrCycles = 0;  // cycles since start
  localparam int unsigned CtrDescriptors = 1;  // descriptors completed
  localparam int unsigned CtrLoadBusy = 2;  // cycles with a load in flight
  localparam int unsigned CtrLoadWait = 3;  // cycles the load queue's head waited for sync flags
  localparam int unsigned CtrLoadBytes = 4;  // bytes written to the unified buffer by loads (beats x beat bytes)
  localparam int unsigned CtrWeightBusy = 5;  // cycles with a weight descriptor in flight
  localparam int unsigned CtrWeightWait = 6;  // cycles the weight queue's head waited for sync flags
  localparam int unsigned CtrWeightBytes = 7;  // bytes read for weights
  localparam int unsigned CtrWeightFull = 8;  // cycles the weight loader had no room in the FIFO
  localparam int unsigned CtrMxuBusy = 9;  // cycles with a matmul in flight
  localparam int unsigned CtrMxuWait = 10;  // cycles the MXU queue's head waited for sync flags
  localparam int unsigned CtrMxuVectors = 11;  // activation vectors that entered the array; times Rows x Cols = MAC slots used
  localparam int unsigned CtrMxuStallWeights = 12;  // cycles the data setup waited for a weight tile (FIFO empty)
  localparam int unsigned CtrMxuStallSwap = 13;  // cycles the data setup waited for the array to take the tile (shadow weights not free yet)
  localparam int unsigned CtrMxuStallUb = 14;  // cycles the data setup waited for a unified buffer port
  localparam int unsigned CtrMxuIdle = 15;  // cycles with no matmul queued or in flight
  localparam int unsigned CtrVectorBusy = 16;  // cycles with a vector operation in flight
  localparam int unsigned CtrVectorWait = 17;  // cycles the vector queue's head waited for sync flags
  localparam int unsigned CtrVectorStallUb = 18;  // cycles the vector unit waited for a unified buffer or accumulator port
  localparam int unsigned CtrStoreBusy = 19;  // cycles with a store in flight
  localparam int unsigned CtrStoreWait = 20;  // cycles the store queue's head waited for sync flags
  localparam int unsigned CtrStoreBytes = 21;  // bytes of store beats written to HBM
  localparam int unsigned CtrHbmReadBeats = 22;  // beats read from HBM, all clients
  localparam int unsigned CtrHbmWriteBeats = 23;  // beats written to HBM, all clients
  localparam int unsigned CtrHbmActivates = 24;  // ACT commands, all pseudo-channels
  localparam int unsigned CtrHbmRefresh = 25;  // cycles in which a pseudo-channel was blocked by refresh, summed over pseudo-channels
  localparam int unsigned CtrFetchBytes = 26;  // bytes of descriptors fetched
  localparam int unsigned CtrDispatchStall = 27;  // cycles the sequencer could not dispatch because the unit's queue was full
  localparam int unsigned CtrMxuStallAcc = 28;  // cycles the data setup waited for an accumulator row that still has a sum on its way (bf16: passes shorter than the array)
  localparam int unsigned CtrMxuNan = 29;  // NaN among the elements of the rows that the MXU wrote to the accumulators, all Cols of a row (bf16)
  localparam int unsigned CtrMxuInf = 30;  // infinities among them
  localparam int unsigned CtrVectorNan = 31;  // NaN among the elements that st32 and st16 stored, as stored: after the rounding to bf16; st32 taken as fp32 whatever it holds (bf16)
  localparam int unsigned CtrVectorInf = 32;  // infinities among them
  localparam int unsigned CtrSendBusy = 33;  // cycles with a send in flight (chips with links)
  localparam int unsigned CtrSendWait = 34;  // cycles the send queue's head waited for sync flags (chips with links)
  localparam int unsigned CtrSendBytes = 35;  // bytes of flits given to the network, payload only (chips with links)

  // What each may grow by in a cycle, at most.
  localparam int unsigned CtrMost [NumCounters] = '{1, 7, 1, 1, 512, 1, 1, 512, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 512, 1, 1, 64, 64, 512, 1, 1, 256, 256, 256, 256, 1, 1, 64};

  // Registers of the scalar unit, by word.
  localparam logic [2:0] ScalarSmemBytes = 0;  // bytes of SMEM; 0: no scalar unit
  localparam logic [2:0] ScalarRun = 1;  // bit 0: 1: the scalar unit runs and owns the core, whose other registers here have no effect; 0: it is held in reset
  localparam logic [2:0] ScalarBootAddr = 2;  // HBM address of the firmware's image in units of 4096 bytes
  localparam logic [2:0] ScalarBootFlags = 3;  // options of the boot: docs/scalar.md
  localparam logic [2:0] ScalarDoorbell = 4;  // a write is the firmware's doorbell interrupt
  localparam logic [2:0] ScalarState = 5;  // what the firmware says of itself: docs/scalar.md
  localparam logic [2:0] ScalarCompleted = 6;  // commands that the firmware has completed

  // Registers of the links, by word.
  localparam logic [2:0] LinksCount = 0;  // links of the chip; 0: none
  localparam logic [2:0] LinksPlace = 1;  // bits 4:0: column of the chip in the torus, 12:8: row, 31:16: number of the chip, which the other ends of its links are told; written while no packets are on their way, the number while the links are not enabled
  localparam logic [2:0] LinksTorus = 2;  // bits 5:0: columns of the torus, 13:8: rows
  localparam logic [2:0] LinksEnable = 3;  // bit l: link l (0 X+, 1 X-, 2 Y+, 3 Y-) trains and carries packets; 0: it is in reset; bit 8: the network is in reset, and drops what the cores send
  localparam logic [2:0] LinksState = 4;  // bit l: link l is up; bit 8 + l: it is down, a fault of both cores; bits 17 + 2 l to 16 + 2 l: the cause (docs/reference/link.md)
  localparam logic [2:0] LinksSelect = 5;  // bits 3:0: counter, 9:8: link, of count_value; counters: 0 packets sent, 1 bytes sent, 2 packets received, 3 bytes received, 4 replays, 5 CRC errors, 6 cycles that waited for credits, 7 trainings, 8 packets given up
  localparam logic [2:0] LinksCountValue = 6;  // the selected counter, modulo 2^32
  localparam logic [2:0] LinksPeer = 7;  // who is at the other end of the selected link: bits 15:0: number of the chip, 17:16: its link; bit 31: known, a CTRL packet has come since the link was enabled; else 0

endpackage
