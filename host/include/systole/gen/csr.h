// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/csr.rdl by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_CSR_H_
#define SYSTOLE_GEN_CSR_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace systole::csr {

inline constexpr uint32_t kId = 0x000;  // ro: 'SYST'
inline constexpr uint32_t kVersion = 0x004;  // ro: ISA version
inline constexpr uint32_t kPreset = 0x008;  // ro: preset number
inline constexpr uint32_t kCtrl = 0x00C;  // wo: commands
inline constexpr uint32_t kCtrlStart = 1u << 0;  // start the program at prog_addr; ignored while running or faulted
inline constexpr uint32_t kCtrlReset = 1u << 1;  // soft reset: drain HBM, then clear queues, flags, faults; memories keep their data
inline constexpr uint32_t kStatus = 0x010;  // ro: state
inline constexpr uint32_t kStatusRunning = 1u << 0;  // a program runs
inline constexpr uint32_t kStatusDone = 1u << 1;  // the last program reached its halt
inline constexpr uint32_t kStatusFault = 1u << 2;  // frozen by a fault; only a reset clears it
inline constexpr uint32_t kStatusResetting = 1u << 3;  // a soft reset is in progress
inline constexpr uint32_t kIrq = 0x014;  // w1c: interrupt pending: the interrupt line is high while irq & irq_enable is not 0
inline constexpr uint32_t kIrqDone = 1u << 0;  // a program reached its halt
inline constexpr uint32_t kIrqFault = 1u << 1;  // a fault froze the core
inline constexpr uint32_t kIrqScalar = 1u << 2;  // the scalar unit's firmware raised it
inline constexpr uint32_t kIrqEnable = 0x018;  // rw: interrupt enable, bits as irq
inline constexpr uint32_t kProgAddrLo = 0x020;  // rw: HBM byte address of the program, multiple of 128
inline constexpr uint32_t kProgAddrHi = 0x024;  // rw: upper bits
inline constexpr uint32_t kProgLen = 0x028;  // rw: descriptors in the program, the halt included
inline constexpr uint32_t kWatchdog = 0x02C;  // rw: cycles without progress before a watchdog fault; 0 = off
inline constexpr uint32_t kHbmLimitLo = 0x034;  // rw: HBM bytes a program may touch: an access at or above faults
inline constexpr uint32_t kHbmLimitHi = 0x038;  // rw: upper bits
inline constexpr uint32_t kFaultCause = 0x040;  // ro: fault code (isa.yaml)
inline constexpr uint32_t kFaultQueue = 0x044;  // ro: queue that faulted; 7 = the sequencer
inline constexpr uint32_t kFaultPc = 0x048;  // ro: index of the descriptor
inline constexpr uint32_t kFaultAddrLo = 0x04C;  // ro: address or value that was wrong
inline constexpr uint32_t kFaultAddrHi = 0x050;  // ro: upper bits
inline constexpr uint32_t kFaultCycleLo = 0x054;  // ro: cycle counter at the fault
inline constexpr uint32_t kFaultCycleHi = 0x058;  // ro: upper bits
inline constexpr uint32_t kAccSaturated = 0x05C;  // ro: 1 if an accumulator saturated since start
inline constexpr uint32_t kEccCorrected = 0x060;  // ro: answers of the memory in which ECC corrected a bit, or one in each of several words; stays at its maximum
inline constexpr uint32_t kEccUncorrected = 0x064;  // ro: answers with a word that has two wrong bits; stays at its maximum
inline constexpr uint32_t kEccFirstLo = 0x068;  // ro: memory address of the first corrected word (8 bytes) since the last clear
inline constexpr uint32_t kEccFirstHi = 0x06C;  // ro: upper bits
inline constexpr uint32_t kEccLastLo = 0x070;  // ro: of the last corrected word
inline constexpr uint32_t kEccLastHi = 0x074;  // ro: upper bits
inline constexpr uint32_t kEccBadLo = 0x078;  // ro: of the first word with two wrong bits
inline constexpr uint32_t kEccBadHi = 0x07C;  // ro: upper bits
inline constexpr uint32_t kEccCtrl = 0x080;  // wo: commands
inline constexpr uint32_t kEccCtrlClear = 1u << 0;  // clear the counts of ECC; but for this only the hardware's reset does
inline constexpr uint32_t kScrubPeriod = 0x084;  // rw: cycles from a beat that the scrubber looks at, and repairs, to the next; 0 = off

inline constexpr uint32_t kCounterBase = 0x200;  // 64 bits each
enum class Counter : uint8_t {
  kCycles = 0,  // cycles since start
  kDescriptors = 1,  // descriptors completed
  kLoadBusy = 2,  // cycles with a load in flight
  kLoadWait = 3,  // cycles the load queue's head waited for sync flags
  kLoadBytes = 4,  // bytes written to the unified buffer by loads (beats x beat bytes)
  kWeightBusy = 5,  // cycles with a weight descriptor in flight
  kWeightWait = 6,  // cycles the weight queue's head waited for sync flags
  kWeightBytes = 7,  // bytes read for weights
  kWeightFull = 8,  // cycles the weight loader had no room in the FIFO
  kMxuBusy = 9,  // cycles with a matmul in flight
  kMxuWait = 10,  // cycles the MXU queue's head waited for sync flags
  kMxuVectors = 11,  // activation vectors that entered the array; times Rows x Cols = MAC slots used
  kMxuStallWeights = 12,  // cycles the data setup waited for a weight tile (FIFO empty)
  kMxuStallSwap = 13,  // cycles the data setup waited for the array to take the tile (shadow weights not free yet)
  kMxuStallUb = 14,  // cycles the data setup waited for a unified buffer port
  kMxuIdle = 15,  // cycles with no matmul queued or in flight
  kVectorBusy = 16,  // cycles with a vector operation in flight
  kVectorWait = 17,  // cycles the vector queue's head waited for sync flags
  kVectorStallUb = 18,  // cycles the vector unit waited for a unified buffer or accumulator port
  kStoreBusy = 19,  // cycles with a store in flight
  kStoreWait = 20,  // cycles the store queue's head waited for sync flags
  kStoreBytes = 21,  // bytes of store beats written to HBM
  kHbmReadBeats = 22,  // beats read from HBM, all clients
  kHbmWriteBeats = 23,  // beats written to HBM, all clients
  kHbmActivates = 24,  // ACT commands, all pseudo-channels
  kHbmRefresh = 25,  // cycles in which a pseudo-channel was blocked by refresh, summed over pseudo-channels
  kFetchBytes = 26,  // bytes of descriptors fetched
  kDispatchStall = 27,  // cycles the sequencer could not dispatch because the unit's queue was full
  kMxuStallAcc = 28,  // cycles the data setup waited for an accumulator row that still has a sum on its way (bf16: passes shorter than the array)
  kMxuNan = 29,  // NaN among the elements of the rows that the MXU wrote to the accumulators, all Cols of a row (bf16)
  kMxuInf = 30,  // infinities among them
  kVectorNan = 31,  // NaN among the elements that st32 and st16 stored, as stored: after the rounding to bf16; st32 taken as fp32 whatever it holds (bf16)
  kVectorInf = 32,  // infinities among them
  kSendBusy = 33,  // cycles with a send in flight (chips with links)
  kSendWait = 34,  // cycles the send queue's head waited for sync flags (chips with links)
  kSendBytes = 35,  // bytes of flits given to the network, payload only (chips with links)
};
inline constexpr int kNumCounters = 36;
inline constexpr std::array<std::string_view, 36> kCounterNames = {
    "cycles",
    "descriptors",
    "load_busy",
    "load_wait",
    "load_bytes",
    "weight_busy",
    "weight_wait",
    "weight_bytes",
    "weight_full",
    "mxu_busy",
    "mxu_wait",
    "mxu_vectors",
    "mxu_stall_weights",
    "mxu_stall_swap",
    "mxu_stall_ub",
    "mxu_idle",
    "vector_busy",
    "vector_wait",
    "vector_stall_ub",
    "store_busy",
    "store_wait",
    "store_bytes",
    "hbm_read_beats",
    "hbm_write_beats",
    "hbm_activates",
    "hbm_refresh",
    "fetch_bytes",
    "dispatch_stall",
    "mxu_stall_acc",
    "mxu_nan",
    "mxu_inf",
    "vector_nan",
    "vector_inf",
    "send_busy",
    "send_wait",
    "send_bytes",
};

// Of the scalar unit; 0 in chips without one.
inline constexpr uint32_t kScalarSmemBytes = 0x400;  // ro: bytes of SMEM; 0: no scalar unit
inline constexpr uint32_t kScalarRun = 0x404;  // rw: bit 0: 1: the scalar unit runs and owns the core, whose other registers here have no effect; 0: it is held in reset
inline constexpr uint32_t kScalarBootAddr = 0x408;  // rw: HBM address of the firmware's image in units of 4096 bytes
inline constexpr uint32_t kScalarBootFlags = 0x40C;  // rw: options of the boot: docs/scalar.md
inline constexpr uint32_t kScalarDoorbell = 0x410;  // rw: a write is the firmware's doorbell interrupt
inline constexpr uint32_t kScalarState = 0x414;  // ro: what the firmware says of itself: docs/scalar.md
inline constexpr uint32_t kScalarCompleted = 0x418;  // ro: commands that the firmware has completed

// Of the links, in the first core's block; 0 in chips without links.
inline constexpr uint32_t kLinksCount = 0x500;  // ro: links of the chip; 0: none
inline constexpr uint32_t kLinksPlace = 0x504;  // rw: bits 4:0: column of the chip in the torus, 12:8: row, 31:16: number of the chip, which the other ends of its links are told; written while no packets are on their way, the number while the links are not enabled
inline constexpr uint32_t kLinksTorus = 0x508;  // rw: bits 5:0: columns of the torus, 13:8: rows
inline constexpr uint32_t kLinksEnable = 0x50C;  // rw: bit l: link l (0 X+, 1 X-, 2 Y+, 3 Y-) trains and carries packets; 0: it is in reset; bit 8: the network is in reset, and drops what the cores send
inline constexpr uint32_t kLinksState = 0x510;  // ro: bit l: link l is up; bit 8 + l: it is down, a fault of both cores; bits 17 + 2 l to 16 + 2 l: the cause (docs/reference/link.md)
inline constexpr uint32_t kLinksSelect = 0x514;  // rw: bits 3:0: counter, 9:8: link, of count_value; counters: 0 packets sent, 1 bytes sent, 2 packets received, 3 bytes received, 4 replays, 5 CRC errors, 6 cycles that waited for credits, 7 trainings, 8 packets given up
inline constexpr uint32_t kLinksCountValue = 0x518;  // ro: the selected counter, modulo 2^32
inline constexpr uint32_t kLinksPeer = 0x51C;  // ro: who is at the other end of the selected link: bits 15:0: number of the chip, 17:16: its link; bit 31: known, a CTRL packet has come since the link was enabled; else 0

}  // namespace systole::csr

#endif  // SYSTOLE_GEN_CSR_H_
