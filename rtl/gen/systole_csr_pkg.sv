// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/csr.yaml by scripts/generate.py: edit the source.

package systole_csr_pkg;

  localparam logic [11:0] CsrId = 12'h000;  // ro: 'SYST'
  localparam logic [31:0] CsrIdReset = 32'h53595354;
  localparam logic [11:0] CsrVersion = 12'h004;  // ro: ISA version
  localparam logic [11:0] CsrPreset = 12'h008;  // ro: preset number
  localparam logic [11:0] CsrCtrl = 12'h00C;  // wo: commands
  localparam int unsigned CsrCtrlStartLsb = 0;  // start the program at prog_addr; ignored while running or faulted
  localparam int unsigned CsrCtrlResetLsb = 1;  // soft reset: drain HBM, then clear queues, flags, faults; memories keep their data
  localparam logic [11:0] CsrStatus = 12'h010;  // ro: state
  localparam int unsigned CsrStatusRunningLsb = 0;  // a program runs
  localparam int unsigned CsrStatusDoneLsb = 1;  // the last program reached its halt
  localparam int unsigned CsrStatusFaultLsb = 2;  // frozen by a fault; only a reset clears it
  localparam int unsigned CsrStatusResettingLsb = 3;  // a soft reset is in progress
  localparam logic [11:0] CsrIrq = 12'h014;  // w1c: interrupt pending: the interrupt line is high while irq & irq_enable is not 0
  localparam int unsigned CsrIrqDoneLsb = 0;  // a program reached its halt
  localparam int unsigned CsrIrqFaultLsb = 1;  // a fault froze the core
  localparam logic [11:0] CsrIrqEnable = 12'h018;  // rw: interrupt enable, bits as irq
  localparam logic [31:0] CsrIrqEnableReset = 32'h00000000;
  localparam logic [11:0] CsrProgAddrLo = 12'h020;  // rw: HBM byte address of the program, multiple of 128
  localparam logic [31:0] CsrProgAddrLoReset = 32'h00000000;
  localparam logic [11:0] CsrProgAddrHi = 12'h024;  // rw: upper bits
  localparam logic [31:0] CsrProgAddrHiReset = 32'h00000000;
  localparam logic [11:0] CsrProgLen = 12'h028;  // rw: descriptors in the program, the halt included
  localparam logic [31:0] CsrProgLenReset = 32'h00000000;
  localparam logic [11:0] CsrWatchdog = 12'h02C;  // rw: cycles without progress before a watchdog fault; 0 = off
  localparam logic [31:0] CsrWatchdogReset = 32'h00040000;
  localparam logic [11:0] CsrStall = 12'h030;  // rw: random stall injection on every stream
  localparam logic [31:0] CsrStallReset = 32'h00000000;
  localparam int unsigned CsrStallRateLsb = 0;  // each stream stalls with probability rate/256 each cycle; 0 = off
  localparam int unsigned CsrStallRateBits = 8;
  localparam int unsigned CsrStallSeedLsb = 16;  // seed of the generator
  localparam int unsigned CsrStallSeedBits = 16;
  localparam logic [11:0] CsrHbmLimitLo = 12'h034;  // rw: HBM bytes a program may touch: an access at or above faults
  localparam logic [31:0] CsrHbmLimitLoReset = 32'hFFFFFFFF;
  localparam logic [11:0] CsrHbmLimitHi = 12'h038;  // rw: upper bits
  localparam logic [31:0] CsrHbmLimitHiReset = 32'h0000000F;
  localparam logic [11:0] CsrFaultCause = 12'h040;  // ro: fault code (isa.yaml)
  localparam logic [11:0] CsrFaultQueue = 12'h044;  // ro: queue that faulted; 7 = the sequencer
  localparam logic [11:0] CsrFaultPc = 12'h048;  // ro: index of the descriptor
  localparam logic [11:0] CsrFaultAddrLo = 12'h04C;  // ro: address or value that was wrong
  localparam logic [11:0] CsrFaultAddrHi = 12'h050;  // ro: upper bits
  localparam logic [11:0] CsrFaultCycleLo = 12'h054;  // ro: cycle counter at the fault
  localparam logic [11:0] CsrFaultCycleHi = 12'h058;  // ro: upper bits
  localparam logic [11:0] CsrAccSaturated = 12'h05C;  // ro: 1 if an accumulator saturated since start

  localparam logic [11:0] CsrCounterBase = 12'h100;
  localparam int unsigned NumCounters = 33;
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

endpackage
