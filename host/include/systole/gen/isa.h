// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/isa.yaml by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_ISA_H_
#define SYSTOLE_GEN_ISA_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "systole/gen/presets.h"

namespace systole::isa {

inline constexpr int kVersion = 1;
inline constexpr int kDescriptorBits = 512;
inline constexpr int kDescriptorBytes = 64;
inline constexpr int kNumFlags = 32;
// From this one on, a chip with two cores posts to the other core's.
inline constexpr int kFirstPeerFlag = 28;
// From this one to that one, only packets post the flags of a chip with links.
inline constexpr int kFirstLinkFlag = 20;
inline constexpr int kNumLinkFlags = 8;
inline constexpr uint32_t kFlagMax = 65535;
inline constexpr int kNumQueues = 6;

// A descriptor as it lies in memory: little endian, bit 0 of word 0 first.
using Descriptor = std::array<uint64_t, 8>;

enum class Queue : uint8_t {
  kLoad = 0,  // DMA from HBM into the unified buffer
  kWeight = 1,  // weight tiles from HBM or the unified buffer into the weight FIFO
  kMxu = 2,  // systolic data setup, array, accumulator writes
  kVector = 3,  // int8: requantise, pool, add, multiply, tables; bf16: programs of the vector unit
  kStore = 4,  // DMA from the unified buffer into HBM
  kSend = 5,  // packets from the unified buffer over the links into a core's memory
  kNone = 6,  // the sequencer itself
};

inline constexpr std::array<std::string_view, 6> kQueueNames = {"load", "weight", "mxu", "vector", "store", "send"};

enum class Opcode : uint8_t {
  kLoad = 0x01,  // copy n2 x n1 runs of len bytes from HBM to the unified buffer
  kStore = 0x02,  // copy n2 x n1 runs of len bytes from the unified buffer to HBM
  kSend = 0x06,  // copy n2 x n1 runs of len bytes from the unified buffer to the memory of a core of the device, then post one of its link flags
  kWeights = 0x03,  // push tiles of Rows x Cols weights from HBM into the weight FIFO
  kTiles = 0x05,  // push weight tiles from the unified buffer into the weight FIFO
  kMatmul = 0x04,  // t1 x t0 passes of n x ny x nx activation vectors through the array into the accumulators
  kRequant = 0x10,  // accumulator rows: bias, requantise, clamp, write int8 vectors (or raw int32) to the unified buffer
  kPool = 0x11,  // max, average or requantised sum over windows of int8 vectors, unified buffer to unified buffer
  kAdd = 0x12,  // quantised int8 addition of two tensors, unified buffer to unified buffer
  kMul = 0x13,  // quantised int8 product of two tensors, unified buffer to unified buffer; steps of 0 repeat an operand
  kTable = 0x14,  // give the vector unit's lanes a table of 256 bytes: byte q + 128 is what q becomes
  kVload = 0x18,  // copy instructions from the unified buffer into the vector unit's instruction memory
  kVrun = 0x19,  // run a program of the vector unit until its halt
  kHalt = 0x7F,  // end of the program: when every queue is empty and every unit idle, raise the interrupt
};

enum class Fault : uint8_t {
  kNone = 0,  // no fault
  kIllegalOpcode = 1,  // unknown opcode
  kIllegalDescriptor = 2,  // a count of zero, a field outside its range, an unused bit that is set
  kMisaligned = 3,  // an address or stride that is not a multiple of what the operation needs
  kUbRange = 4,  // an access outside the unified buffer
  kAccRange = 5,  // accumulator rows outside the accumulators or across its two banks
  kHbmRange = 6,  // an access outside the HBM
  kWatchdog = 7,  // no unit made progress for the watchdog's time: a wait that can never be met
  kFlagOverflow = 8,  // a post to a sync flag that is at its maximum
  kProgramEnd = 9,  // the program's length was reached without a halt
  kVectorProgram = 10,  // an illegal instruction of the vector unit, a count out of its range, a pc beyond the instruction memory; address = pc
  kMemoryError = 11,  // the memory's bus answered an access of the core or the host with an error; address = its burst
  kEccError = 12,  // two bits of a word of the HBM are wrong, which ECC cannot correct; address = the word's
  kParity = 13,  // a descriptor that waits, a queue's state or a sync flag changed by itself; address = where: docs/sequencer.md
  kLinkDown = 14,  // a link is down, or a packet of this core was given up; address = the link (0 X+, 1 X-, 2 Y+, 3 Y-), or the packet's
};

struct FaultInfo {
  std::string_view name;
  std::string_view doc;
};
inline constexpr std::array<FaultInfo, 15> kFaults = {{
    {"none", "no fault"},
    {"illegal_opcode", "unknown opcode"},
    {"illegal_descriptor", "a count of zero, a field outside its range, an unused bit that is set"},
    {"misaligned", "an address or stride that is not a multiple of what the operation needs"},
    {"ub_range", "an access outside the unified buffer"},
    {"acc_range", "accumulator rows outside the accumulators or across its two banks"},
    {"hbm_range", "an access outside the HBM"},
    {"watchdog", "no unit made progress for the watchdog's time: a wait that can never be met"},
    {"flag_overflow", "a post to a sync flag that is at its maximum"},
    {"program_end", "the program's length was reached without a halt"},
    {"vector_program", "an illegal instruction of the vector unit, a count out of its range, a pc beyond the instruction memory; address = pc"},
    {"memory_error", "the memory's bus answered an access of the core or the host with an error; address = its burst"},
    {"ecc_error", "two bits of a word of the HBM are wrong, which ECC cannot correct; address = the word's"},
    {"parity", "a descriptor that waits, a queue's state or a sync flag changed by itself; address = where: docs/sequencer.md"},
    {"link_down", "a link is down, or a packet of this core was given up; address = the link (0 X+, 1 X-, 2 Y+, 3 Y-), or the packet's"},
}};

// Reads or writes `bits` bits from bit `lsb` on.
constexpr uint64_t GetBits(const Descriptor& d, int lsb, int bits) {
  uint64_t v = d[lsb / 64] >> (lsb % 64);
  if (lsb % 64 + bits > 64) v |= d[lsb / 64 + 1] << (64 - lsb % 64);
  return bits == 64 ? v : v & ((uint64_t{1} << bits) - 1);
}
constexpr int64_t GetSignedBits(const Descriptor& d, int lsb, int bits) {
  return static_cast<int64_t>(GetBits(d, lsb, bits) << (64 - bits)) >> (64 - bits);
}
constexpr void PutBits(Descriptor& d, int lsb, int bits, uint64_t value) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  value &= mask;
  d[lsb / 64] = (d[lsb / 64] & ~(mask << (lsb % 64))) | (value << (lsb % 64));
  if (lsb % 64 + bits > 64) {
    const int low = 64 - lsb % 64;
    d[lsb / 64 + 1] = (d[lsb / 64 + 1] & ~(mask >> low)) | (value >> low);
  }
}

// What every descriptor begins with.
struct Header {
  uint8_t opcode = 0;  // operation
  uint8_t flags = 0;  // operation-specific flags, below
  uint16_t tag = 0;  // free for software: layer number; shown in traces
  uint32_t wait_mask = 0;  // bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
  uint32_t post_mask = 0;  // bit f: add 1 to sync flag f when the descriptor is complete
};

// copy n2 x n1 runs of len bytes from HBM to the unified buffer.
struct Load {
  static constexpr Opcode kOpcode = Opcode::kLoad;
  static constexpr uint8_t kIndexed = 1;  // repetition i2 of the inner loop starts at hbm_addr + beat x entry i2 of the table at index_addr; hbm_stride2 takes no part
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint64_t hbm_addr = 0;  // HBM byte address of the first run; multiple of the beat
  uint32_t ub_addr = 0;  // unified buffer byte address of the first run; multiple of the beat
  uint32_t len = 0;  // bytes a run, >= 1; the last beat of a run is masked
  uint32_t n1 = 0;  // runs in the inner loop, >= 1
  uint32_t n2 = 0;  // repetitions of the inner loop, >= 1
  uint64_t hbm_stride1 = 0;  // HBM bytes from a run to the next; multiple of the beat
  uint32_t ub_stride1 = 0;  // unified buffer bytes from a run to the next; multiple of the beat
  uint64_t hbm_stride2 = 0;  // HBM bytes from an inner loop's start to the next; multiple of the beat
  uint32_t ub_stride2 = 0;  // unified buffer bytes from an inner loop's start to the next; multiple of the beat
  uint32_t index_addr = 0;  // indexed: unified buffer byte address of a table of n2 unsigned 32-bit numbers of beats; multiple of the beat; otherwise it takes no part

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 36, static_cast<uint64_t>(hbm_addr));
    PutBits(d, 132, 25, static_cast<uint64_t>(ub_addr));
    PutBits(d, 157, 25, static_cast<uint64_t>(len));
    PutBits(d, 182, 16, static_cast<uint64_t>(n1));
    PutBits(d, 198, 16, static_cast<uint64_t>(n2));
    PutBits(d, 214, 36, static_cast<uint64_t>(hbm_stride1));
    PutBits(d, 250, 25, static_cast<uint64_t>(ub_stride1));
    PutBits(d, 275, 36, static_cast<uint64_t>(hbm_stride2));
    PutBits(d, 311, 25, static_cast<uint64_t>(ub_stride2));
    PutBits(d, 336, 25, static_cast<uint64_t>(index_addr));
    return d;
  }
  static constexpr Load Decode(const Descriptor& d) {
    Load r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.hbm_addr = static_cast<decltype(r.hbm_addr)>(GetBits(d, 96, 36));
    r.ub_addr = static_cast<decltype(r.ub_addr)>(GetBits(d, 132, 25));
    r.len = static_cast<decltype(r.len)>(GetBits(d, 157, 25));
    r.n1 = static_cast<decltype(r.n1)>(GetBits(d, 182, 16));
    r.n2 = static_cast<decltype(r.n2)>(GetBits(d, 198, 16));
    r.hbm_stride1 = static_cast<decltype(r.hbm_stride1)>(GetBits(d, 214, 36));
    r.ub_stride1 = static_cast<decltype(r.ub_stride1)>(GetBits(d, 250, 25));
    r.hbm_stride2 = static_cast<decltype(r.hbm_stride2)>(GetBits(d, 275, 36));
    r.ub_stride2 = static_cast<decltype(r.ub_stride2)>(GetBits(d, 311, 25));
    r.index_addr = static_cast<decltype(r.index_addr)>(GetBits(d, 336, 25));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Load r = Decode(Encode());
    (void)r;
    return r.hbm_addr == hbm_addr &&
           r.ub_addr == ub_addr &&
           r.len == len &&
           r.n1 == n1 &&
           r.n2 == n2 &&
           r.hbm_stride1 == hbm_stride1 &&
           r.ub_stride1 == ub_stride1 &&
           r.hbm_stride2 == hbm_stride2 &&
           r.ub_stride2 == ub_stride2 &&
           r.index_addr == index_addr;
  }
};

// copy n2 x n1 runs of len bytes from the unified buffer to HBM.
struct Store {
  static constexpr Opcode kOpcode = Opcode::kStore;
  static constexpr uint8_t kIndexed = 1;  // repetition i2 of the inner loop starts at hbm_addr + beat x entry i2 of the table at index_addr; hbm_stride2 takes no part
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint64_t hbm_addr = 0;  // HBM byte address of the first run; multiple of the beat
  uint32_t ub_addr = 0;  // unified buffer byte address of the first run; multiple of the beat
  uint32_t len = 0;  // bytes a run, >= 1; the last beat of a run is masked
  uint32_t n1 = 0;  // runs in the inner loop, >= 1
  uint32_t n2 = 0;  // repetitions of the inner loop, >= 1
  uint64_t hbm_stride1 = 0;  // HBM bytes from a run to the next; multiple of the beat
  uint32_t ub_stride1 = 0;  // unified buffer bytes from a run to the next; multiple of the beat
  uint64_t hbm_stride2 = 0;  // HBM bytes from an inner loop's start to the next; multiple of the beat
  uint32_t ub_stride2 = 0;  // unified buffer bytes from an inner loop's start to the next; multiple of the beat
  uint32_t index_addr = 0;  // indexed: unified buffer byte address of a table of n2 unsigned 32-bit numbers of beats; multiple of the beat; otherwise it takes no part

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 36, static_cast<uint64_t>(hbm_addr));
    PutBits(d, 132, 25, static_cast<uint64_t>(ub_addr));
    PutBits(d, 157, 25, static_cast<uint64_t>(len));
    PutBits(d, 182, 16, static_cast<uint64_t>(n1));
    PutBits(d, 198, 16, static_cast<uint64_t>(n2));
    PutBits(d, 214, 36, static_cast<uint64_t>(hbm_stride1));
    PutBits(d, 250, 25, static_cast<uint64_t>(ub_stride1));
    PutBits(d, 275, 36, static_cast<uint64_t>(hbm_stride2));
    PutBits(d, 311, 25, static_cast<uint64_t>(ub_stride2));
    PutBits(d, 336, 25, static_cast<uint64_t>(index_addr));
    return d;
  }
  static constexpr Store Decode(const Descriptor& d) {
    Store r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.hbm_addr = static_cast<decltype(r.hbm_addr)>(GetBits(d, 96, 36));
    r.ub_addr = static_cast<decltype(r.ub_addr)>(GetBits(d, 132, 25));
    r.len = static_cast<decltype(r.len)>(GetBits(d, 157, 25));
    r.n1 = static_cast<decltype(r.n1)>(GetBits(d, 182, 16));
    r.n2 = static_cast<decltype(r.n2)>(GetBits(d, 198, 16));
    r.hbm_stride1 = static_cast<decltype(r.hbm_stride1)>(GetBits(d, 214, 36));
    r.ub_stride1 = static_cast<decltype(r.ub_stride1)>(GetBits(d, 250, 25));
    r.hbm_stride2 = static_cast<decltype(r.hbm_stride2)>(GetBits(d, 275, 36));
    r.ub_stride2 = static_cast<decltype(r.ub_stride2)>(GetBits(d, 311, 25));
    r.index_addr = static_cast<decltype(r.index_addr)>(GetBits(d, 336, 25));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Store r = Decode(Encode());
    (void)r;
    return r.hbm_addr == hbm_addr &&
           r.ub_addr == ub_addr &&
           r.len == len &&
           r.n1 == n1 &&
           r.n2 == n2 &&
           r.hbm_stride1 == hbm_stride1 &&
           r.ub_stride1 == ub_stride1 &&
           r.hbm_stride2 == hbm_stride2 &&
           r.ub_stride2 == ub_stride2 &&
           r.index_addr == index_addr;
  }
};

// copy n2 x n1 runs of len bytes from the unified buffer to the memory of a core of the device, then post one of its link flags.
struct Send {
  static constexpr Opcode kOpcode = Opcode::kSend;
  static constexpr uint8_t kLinkPost = 1;  // post link_flag of the destination after the data
  static constexpr uint8_t kEmpty = 2;  // no data, only the post: len, n1, n2, addresses and strides are 0
  static constexpr uint8_t kNegative = 4;  // where two ways around a ring are as long, take the negative one
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint64_t hbm_addr = 0;  // byte address of the first run in the destination's own memory; multiple of the beat
  uint32_t ub_addr = 0;  // unified buffer byte address of the first run; multiple of the beat
  uint32_t len = 0;  // bytes a run, >= 1; the last beat of a run is masked
  uint32_t n1 = 0;  // runs in the inner loop, >= 1
  uint32_t n2 = 0;  // repetitions of the inner loop, >= 1
  uint64_t hbm_stride1 = 0;  // bytes from a run to the next at the destination; multiple of the beat
  uint32_t ub_stride1 = 0;  // unified buffer bytes from a run to the next; multiple of the beat
  uint64_t hbm_stride2 = 0;  // bytes from an inner loop's start to the next at the destination; multiple of the beat
  uint32_t ub_stride2 = 0;  // unified buffer bytes from an inner loop's start to the next; multiple of the beat
  uint32_t dst_x = 0;  // column of the destination's chip in the torus
  uint32_t dst_y = 0;  // row
  uint32_t dst_core = 0;  // core of that chip
  uint32_t link_flag = 0;  // post: number of the destination's link flag, 0 the first of them

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 36, static_cast<uint64_t>(hbm_addr));
    PutBits(d, 132, 25, static_cast<uint64_t>(ub_addr));
    PutBits(d, 157, 25, static_cast<uint64_t>(len));
    PutBits(d, 182, 16, static_cast<uint64_t>(n1));
    PutBits(d, 198, 16, static_cast<uint64_t>(n2));
    PutBits(d, 214, 36, static_cast<uint64_t>(hbm_stride1));
    PutBits(d, 250, 25, static_cast<uint64_t>(ub_stride1));
    PutBits(d, 275, 36, static_cast<uint64_t>(hbm_stride2));
    PutBits(d, 311, 25, static_cast<uint64_t>(ub_stride2));
    PutBits(d, 336, 5, static_cast<uint64_t>(dst_x));
    PutBits(d, 341, 5, static_cast<uint64_t>(dst_y));
    PutBits(d, 346, 1, static_cast<uint64_t>(dst_core));
    PutBits(d, 347, 3, static_cast<uint64_t>(link_flag));
    return d;
  }
  static constexpr Send Decode(const Descriptor& d) {
    Send r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.hbm_addr = static_cast<decltype(r.hbm_addr)>(GetBits(d, 96, 36));
    r.ub_addr = static_cast<decltype(r.ub_addr)>(GetBits(d, 132, 25));
    r.len = static_cast<decltype(r.len)>(GetBits(d, 157, 25));
    r.n1 = static_cast<decltype(r.n1)>(GetBits(d, 182, 16));
    r.n2 = static_cast<decltype(r.n2)>(GetBits(d, 198, 16));
    r.hbm_stride1 = static_cast<decltype(r.hbm_stride1)>(GetBits(d, 214, 36));
    r.ub_stride1 = static_cast<decltype(r.ub_stride1)>(GetBits(d, 250, 25));
    r.hbm_stride2 = static_cast<decltype(r.hbm_stride2)>(GetBits(d, 275, 36));
    r.ub_stride2 = static_cast<decltype(r.ub_stride2)>(GetBits(d, 311, 25));
    r.dst_x = static_cast<decltype(r.dst_x)>(GetBits(d, 336, 5));
    r.dst_y = static_cast<decltype(r.dst_y)>(GetBits(d, 341, 5));
    r.dst_core = static_cast<decltype(r.dst_core)>(GetBits(d, 346, 1));
    r.link_flag = static_cast<decltype(r.link_flag)>(GetBits(d, 347, 3));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Send r = Decode(Encode());
    (void)r;
    return r.hbm_addr == hbm_addr &&
           r.ub_addr == ub_addr &&
           r.len == len &&
           r.n1 == n1 &&
           r.n2 == n2 &&
           r.hbm_stride1 == hbm_stride1 &&
           r.ub_stride1 == ub_stride1 &&
           r.hbm_stride2 == hbm_stride2 &&
           r.ub_stride2 == ub_stride2 &&
           r.dst_x == dst_x &&
           r.dst_y == dst_y &&
           r.dst_core == dst_core &&
           r.link_flag == link_flag;
  }
};

// push tiles of Rows x Cols weights from HBM into the weight FIFO.
struct Weights {
  static constexpr Opcode kOpcode = Opcode::kWeights;
  static constexpr uint8_t kTranspose = 1;  // the weight of array row r, column c is the stored tile's row c, element r
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint64_t hbm_addr = 0;  // HBM byte address of the first tile; multiple of the beat; tiles are dense, row-major [Rows][Cols]
  uint32_t tiles = 0;  // tiles, >= 1

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 36, static_cast<uint64_t>(hbm_addr));
    PutBits(d, 132, 16, static_cast<uint64_t>(tiles));
    return d;
  }
  static constexpr Weights Decode(const Descriptor& d) {
    Weights r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.hbm_addr = static_cast<decltype(r.hbm_addr)>(GetBits(d, 96, 36));
    r.tiles = static_cast<decltype(r.tiles)>(GetBits(d, 132, 16));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Weights r = Decode(Encode());
    (void)r;
    return r.hbm_addr == hbm_addr &&
           r.tiles == tiles;
  }
};

// push weight tiles from the unified buffer into the weight FIFO.
struct Tiles {
  static constexpr Opcode kOpcode = Opcode::kTiles;
  static constexpr uint8_t kTranspose = 1;  // the weight of array row r, column c is stored row c, element r
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t ub_addr = 0;  // unified buffer byte address of the first tile's row 0, element 0; even
  uint32_t pitch = 0;  // bytes from a stored row to the next; even
  uint32_t rows = 0;  // stored rows of a tile, 1..Rows; the rest is 0
  uint32_t cols = 0;  // stored elements of a row, 1..Cols; the rest is 0
  uint32_t tiles = 0;  // tiles, >= 1
  uint32_t tile_stride = 0;  // bytes from a tile's first row to the next tile's; even

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(ub_addr));
    PutBits(d, 121, 20, static_cast<uint64_t>(pitch));
    PutBits(d, 141, 9, static_cast<uint64_t>(rows));
    PutBits(d, 150, 9, static_cast<uint64_t>(cols));
    PutBits(d, 159, 16, static_cast<uint64_t>(tiles));
    PutBits(d, 175, 25, static_cast<uint64_t>(tile_stride));
    return d;
  }
  static constexpr Tiles Decode(const Descriptor& d) {
    Tiles r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.ub_addr = static_cast<decltype(r.ub_addr)>(GetBits(d, 96, 25));
    r.pitch = static_cast<decltype(r.pitch)>(GetBits(d, 121, 20));
    r.rows = static_cast<decltype(r.rows)>(GetBits(d, 141, 9));
    r.cols = static_cast<decltype(r.cols)>(GetBits(d, 150, 9));
    r.tiles = static_cast<decltype(r.tiles)>(GetBits(d, 159, 16));
    r.tile_stride = static_cast<decltype(r.tile_stride)>(GetBits(d, 175, 25));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Tiles r = Decode(Encode());
    (void)r;
    return r.ub_addr == ub_addr &&
           r.pitch == pitch &&
           r.rows == rows &&
           r.cols == cols &&
           r.tiles == tiles &&
           r.tile_stride == tile_stride;
  }
};

// t1 x t0 passes of n x ny x nx activation vectors through the array into the accumulators.
struct Matmul {
  static constexpr Opcode kOpcode = Opcode::kMatmul;
  static constexpr uint8_t kAccumulate = 1;  // the first pass adds to the accumulators; otherwise it overwrites (later passes always add)
  static constexpr uint8_t kKeepWeights = 2;  // the first pass uses the tile that the array already holds; otherwise it takes the next from the FIFO (later passes always take one, but with transpose: they keep it)
  static constexpr uint8_t kTranspose = 4;  // each pass sends the transpose of its block of at most Rows vectors through the array and has Rows accumulator rows of its own
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t ub_base = 0;  // unified buffer byte address of image 0, line 0, byte 0
  uint32_t pitch = 0;  // bytes from a line to the next
  uint32_t img_pitch = 0;  // bytes from an image to the next
  uint32_t lines = 0;  // lines of an image, >= 1; a line outside 0..lines-1 reads as pad
  uint32_t line_bytes = 0;  // valid bytes of a line, >= 1; a byte outside 0..line_bytes-1 reads as pad
  int32_t pad = 0;  // value of padding (the input's zero point); bf16: 0
  uint32_t n = 0;  // images, >= 1
  uint32_t ny = 0;  // output lines, >= 1
  uint32_t nx = 0;  // output positions a line, >= 1
  uint32_t sy = 0;  // input lines from an output line to the next
  uint32_t sx = 0;  // input bytes from an output position to the next
  uint32_t t0 = 0;  // inner passes, >= 1
  uint32_t t0_dx = 0;  // bytes that an inner pass advances every segment's dx
  uint32_t t1 = 0;  // outer passes, >= 1
  uint32_t t1_dy = 0;  // lines that an outer pass advances every segment's dy
  uint32_t acc = 0;  // accumulator row of the first vector; rows follow in walk order, all in one accumulator bank
  std::array<int32_t, 4> seg_dy = {};  // line offset of segment s (kernel row x dilation - padding)
  std::array<int32_t, 4> seg_dx = {};  // byte offset of segment s in the line
  std::array<uint32_t, 4> seg_len = {};  // array rows (elements) that segment s fills, after those of segments before it; 0 = unused, as all from the core's Segments on must be; the sum is at most Rows, rows left over get 0

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(ub_base));
    PutBits(d, 121, 20, static_cast<uint64_t>(pitch));
    PutBits(d, 141, 25, static_cast<uint64_t>(img_pitch));
    PutBits(d, 166, 14, static_cast<uint64_t>(lines));
    PutBits(d, 180, 20, static_cast<uint64_t>(line_bytes));
    PutBits(d, 200, 8, static_cast<uint64_t>(pad));
    PutBits(d, 208, 10, static_cast<uint64_t>(n));
    PutBits(d, 218, 14, static_cast<uint64_t>(ny));
    PutBits(d, 232, 14, static_cast<uint64_t>(nx));
    PutBits(d, 246, 5, static_cast<uint64_t>(sy));
    PutBits(d, 251, 18, static_cast<uint64_t>(sx));
    PutBits(d, 269, 12, static_cast<uint64_t>(t0));
    PutBits(d, 281, 10, static_cast<uint64_t>(t0_dx));
    PutBits(d, 291, 6, static_cast<uint64_t>(t1));
    PutBits(d, 297, 6, static_cast<uint64_t>(t1_dy));
    PutBits(d, 303, 13, static_cast<uint64_t>(acc));
    PutBits(d, 316, 8, static_cast<uint64_t>(seg_dy[0]));
    PutBits(d, 324, 8, static_cast<uint64_t>(seg_dy[1]));
    PutBits(d, 332, 8, static_cast<uint64_t>(seg_dy[2]));
    PutBits(d, 340, 8, static_cast<uint64_t>(seg_dy[3]));
    PutBits(d, 348, 19, static_cast<uint64_t>(seg_dx[0]));
    PutBits(d, 367, 19, static_cast<uint64_t>(seg_dx[1]));
    PutBits(d, 386, 19, static_cast<uint64_t>(seg_dx[2]));
    PutBits(d, 405, 19, static_cast<uint64_t>(seg_dx[3]));
    PutBits(d, 424, 9, static_cast<uint64_t>(seg_len[0]));
    PutBits(d, 433, 9, static_cast<uint64_t>(seg_len[1]));
    PutBits(d, 442, 9, static_cast<uint64_t>(seg_len[2]));
    PutBits(d, 451, 9, static_cast<uint64_t>(seg_len[3]));
    return d;
  }
  static constexpr Matmul Decode(const Descriptor& d) {
    Matmul r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.ub_base = static_cast<decltype(r.ub_base)>(GetBits(d, 96, 25));
    r.pitch = static_cast<decltype(r.pitch)>(GetBits(d, 121, 20));
    r.img_pitch = static_cast<decltype(r.img_pitch)>(GetBits(d, 141, 25));
    r.lines = static_cast<decltype(r.lines)>(GetBits(d, 166, 14));
    r.line_bytes = static_cast<decltype(r.line_bytes)>(GetBits(d, 180, 20));
    r.pad = static_cast<decltype(r.pad)>(GetSignedBits(d, 200, 8));
    r.n = static_cast<decltype(r.n)>(GetBits(d, 208, 10));
    r.ny = static_cast<decltype(r.ny)>(GetBits(d, 218, 14));
    r.nx = static_cast<decltype(r.nx)>(GetBits(d, 232, 14));
    r.sy = static_cast<decltype(r.sy)>(GetBits(d, 246, 5));
    r.sx = static_cast<decltype(r.sx)>(GetBits(d, 251, 18));
    r.t0 = static_cast<decltype(r.t0)>(GetBits(d, 269, 12));
    r.t0_dx = static_cast<decltype(r.t0_dx)>(GetBits(d, 281, 10));
    r.t1 = static_cast<decltype(r.t1)>(GetBits(d, 291, 6));
    r.t1_dy = static_cast<decltype(r.t1_dy)>(GetBits(d, 297, 6));
    r.acc = static_cast<decltype(r.acc)>(GetBits(d, 303, 13));
    r.seg_dy[0] = static_cast<int32_t>(GetSignedBits(d, 316, 8));
    r.seg_dy[1] = static_cast<int32_t>(GetSignedBits(d, 324, 8));
    r.seg_dy[2] = static_cast<int32_t>(GetSignedBits(d, 332, 8));
    r.seg_dy[3] = static_cast<int32_t>(GetSignedBits(d, 340, 8));
    r.seg_dx[0] = static_cast<int32_t>(GetSignedBits(d, 348, 19));
    r.seg_dx[1] = static_cast<int32_t>(GetSignedBits(d, 367, 19));
    r.seg_dx[2] = static_cast<int32_t>(GetSignedBits(d, 386, 19));
    r.seg_dx[3] = static_cast<int32_t>(GetSignedBits(d, 405, 19));
    r.seg_len[0] = static_cast<uint32_t>(GetBits(d, 424, 9));
    r.seg_len[1] = static_cast<uint32_t>(GetBits(d, 433, 9));
    r.seg_len[2] = static_cast<uint32_t>(GetBits(d, 442, 9));
    r.seg_len[3] = static_cast<uint32_t>(GetBits(d, 451, 9));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Matmul r = Decode(Encode());
    (void)r;
    return r.ub_base == ub_base &&
           r.pitch == pitch &&
           r.img_pitch == img_pitch &&
           r.lines == lines &&
           r.line_bytes == line_bytes &&
           r.pad == pad &&
           r.n == n &&
           r.ny == ny &&
           r.nx == nx &&
           r.sy == sy &&
           r.sx == sx &&
           r.t0 == t0 &&
           r.t0_dx == t0_dx &&
           r.t1 == t1 &&
           r.t1_dy == t1_dy &&
           r.acc == acc &&
           r.seg_dy[0] == seg_dy[0] &&
           r.seg_dy[1] == seg_dy[1] &&
           r.seg_dy[2] == seg_dy[2] &&
           r.seg_dy[3] == seg_dy[3] &&
           r.seg_dx[0] == seg_dx[0] &&
           r.seg_dx[1] == seg_dx[1] &&
           r.seg_dx[2] == seg_dx[2] &&
           r.seg_dx[3] == seg_dx[3] &&
           r.seg_len[0] == seg_len[0] &&
           r.seg_len[1] == seg_len[1] &&
           r.seg_len[2] == seg_len[2] &&
           r.seg_len[3] == seg_len[3];
  }
};

// accumulator rows: bias, requantise, clamp, write int8 vectors (or raw int32) to the unified buffer.
struct Requant {
  static constexpr Opcode kOpcode = Opcode::kRequant;
  static constexpr uint8_t kRaw = 1;  // write the int32 accumulators, little endian, 4 x cols bytes a row; no bias, no requantise
  static constexpr uint8_t kSingleRound = 2;  // round once rather than twice
  static constexpr uint8_t kTable = 4;  // results pass through the lanes' table
  static constexpr uint8_t kResidual = 8;  // a quantised addition of each result and a byte of a second operand follows; only cores with Residual
  static constexpr uint8_t kResidualWide = 16;  // residual: the second operand is the one that is scaled by 2^19 exactly, the result by sum_mult1 and sum_shift1; otherwise the other way round
  static constexpr uint8_t kResidualSingle = 32;  // residual: the addition rounds once rather than twice
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t acc = 0;  // first accumulator row; rows follow in walk order, all in one accumulator bank
  uint32_t n = 0;  // images, >= 1
  uint32_t ny = 0;  // lines, >= 1
  uint32_t nx = 0;  // positions a line, >= 1
  uint32_t dst = 0;  // unified buffer byte address of the first vector
  uint32_t dst_pitch = 0;  // bytes from a line to the next
  uint32_t dst_img_pitch = 0;  // bytes from an image to the next
  uint32_t dst_sx = 0;  // bytes from a position to the next
  uint32_t cols = 0;  // channels written, 1..Cols
  uint32_t params = 0;  // unified buffer address (multiple of the word) of the parameter block: Cols int32 bias, Cols int32 multiplier, Cols int8 shift = 9 words; ignored when raw
  int32_t zp = 0;  // output zero point
  int32_t clamp_min = 0;  // lower bound after the zero point
  int32_t clamp_max = 0;  // upper bound after the zero point
  uint32_t src = 0;  // residual: unified buffer byte address of the second operand's first vector
  uint32_t src_pitch = 0;  // residual: bytes from a line to the next
  uint32_t src_img_pitch = 0;  // residual: bytes from an image to the next
  uint32_t src_sx = 0;  // residual: bytes from a position to the next
  int32_t src_zp = 0;  // residual: zero point of the second operand
  int32_t sum_zp = 0;  // residual: zero point of the sum
  uint32_t sum_mult1 = 0;  // residual: multiplier of the operand that is not scaled by 2^19
  int32_t sum_shift1 = 0;  // residual: its shift (positive left)
  uint32_t sum_mult = 0;  // residual: multiplier of the sum
  int32_t sum_shift = 0;  // residual: shift of the sum
  int32_t sum_min = 0;  // residual: lower bound of the sum
  int32_t sum_max = 0;  // residual: upper bound of the sum

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 13, static_cast<uint64_t>(acc));
    PutBits(d, 109, 10, static_cast<uint64_t>(n));
    PutBits(d, 119, 14, static_cast<uint64_t>(ny));
    PutBits(d, 133, 14, static_cast<uint64_t>(nx));
    PutBits(d, 147, 25, static_cast<uint64_t>(dst));
    PutBits(d, 172, 20, static_cast<uint64_t>(dst_pitch));
    PutBits(d, 192, 25, static_cast<uint64_t>(dst_img_pitch));
    PutBits(d, 217, 18, static_cast<uint64_t>(dst_sx));
    PutBits(d, 235, 9, static_cast<uint64_t>(cols));
    PutBits(d, 244, 25, static_cast<uint64_t>(params));
    PutBits(d, 269, 8, static_cast<uint64_t>(zp));
    PutBits(d, 277, 8, static_cast<uint64_t>(clamp_min));
    PutBits(d, 285, 8, static_cast<uint64_t>(clamp_max));
    PutBits(d, 293, 25, static_cast<uint64_t>(src));
    PutBits(d, 318, 20, static_cast<uint64_t>(src_pitch));
    PutBits(d, 338, 25, static_cast<uint64_t>(src_img_pitch));
    PutBits(d, 363, 18, static_cast<uint64_t>(src_sx));
    PutBits(d, 381, 8, static_cast<uint64_t>(src_zp));
    PutBits(d, 389, 8, static_cast<uint64_t>(sum_zp));
    PutBits(d, 397, 32, static_cast<uint64_t>(sum_mult1));
    PutBits(d, 429, 6, static_cast<uint64_t>(sum_shift1));
    PutBits(d, 435, 32, static_cast<uint64_t>(sum_mult));
    PutBits(d, 467, 6, static_cast<uint64_t>(sum_shift));
    PutBits(d, 473, 8, static_cast<uint64_t>(sum_min));
    PutBits(d, 481, 8, static_cast<uint64_t>(sum_max));
    return d;
  }
  static constexpr Requant Decode(const Descriptor& d) {
    Requant r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.acc = static_cast<decltype(r.acc)>(GetBits(d, 96, 13));
    r.n = static_cast<decltype(r.n)>(GetBits(d, 109, 10));
    r.ny = static_cast<decltype(r.ny)>(GetBits(d, 119, 14));
    r.nx = static_cast<decltype(r.nx)>(GetBits(d, 133, 14));
    r.dst = static_cast<decltype(r.dst)>(GetBits(d, 147, 25));
    r.dst_pitch = static_cast<decltype(r.dst_pitch)>(GetBits(d, 172, 20));
    r.dst_img_pitch = static_cast<decltype(r.dst_img_pitch)>(GetBits(d, 192, 25));
    r.dst_sx = static_cast<decltype(r.dst_sx)>(GetBits(d, 217, 18));
    r.cols = static_cast<decltype(r.cols)>(GetBits(d, 235, 9));
    r.params = static_cast<decltype(r.params)>(GetBits(d, 244, 25));
    r.zp = static_cast<decltype(r.zp)>(GetSignedBits(d, 269, 8));
    r.clamp_min = static_cast<decltype(r.clamp_min)>(GetSignedBits(d, 277, 8));
    r.clamp_max = static_cast<decltype(r.clamp_max)>(GetSignedBits(d, 285, 8));
    r.src = static_cast<decltype(r.src)>(GetBits(d, 293, 25));
    r.src_pitch = static_cast<decltype(r.src_pitch)>(GetBits(d, 318, 20));
    r.src_img_pitch = static_cast<decltype(r.src_img_pitch)>(GetBits(d, 338, 25));
    r.src_sx = static_cast<decltype(r.src_sx)>(GetBits(d, 363, 18));
    r.src_zp = static_cast<decltype(r.src_zp)>(GetSignedBits(d, 381, 8));
    r.sum_zp = static_cast<decltype(r.sum_zp)>(GetSignedBits(d, 389, 8));
    r.sum_mult1 = static_cast<decltype(r.sum_mult1)>(GetBits(d, 397, 32));
    r.sum_shift1 = static_cast<decltype(r.sum_shift1)>(GetSignedBits(d, 429, 6));
    r.sum_mult = static_cast<decltype(r.sum_mult)>(GetBits(d, 435, 32));
    r.sum_shift = static_cast<decltype(r.sum_shift)>(GetSignedBits(d, 467, 6));
    r.sum_min = static_cast<decltype(r.sum_min)>(GetSignedBits(d, 473, 8));
    r.sum_max = static_cast<decltype(r.sum_max)>(GetSignedBits(d, 481, 8));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Requant r = Decode(Encode());
    (void)r;
    return r.acc == acc &&
           r.n == n &&
           r.ny == ny &&
           r.nx == nx &&
           r.dst == dst &&
           r.dst_pitch == dst_pitch &&
           r.dst_img_pitch == dst_img_pitch &&
           r.dst_sx == dst_sx &&
           r.cols == cols &&
           r.params == params &&
           r.zp == zp &&
           r.clamp_min == clamp_min &&
           r.clamp_max == clamp_max &&
           r.src == src &&
           r.src_pitch == src_pitch &&
           r.src_img_pitch == src_img_pitch &&
           r.src_sx == src_sx &&
           r.src_zp == src_zp &&
           r.sum_zp == sum_zp &&
           r.sum_mult1 == sum_mult1 &&
           r.sum_shift1 == sum_shift1 &&
           r.sum_mult == sum_mult &&
           r.sum_shift == sum_shift &&
           r.sum_min == sum_min &&
           r.sum_max == sum_max;
  }
};

// max, average or requantised sum over windows of int8 vectors, unified buffer to unified buffer.
struct Pool {
  static constexpr Opcode kOpcode = Opcode::kPool;
  static constexpr uint8_t kAverage = 1;  // average over the valid taps, rounded half away from zero; otherwise maximum
  static constexpr uint8_t kSingleRound = 2;  // sum: round once rather than twice
  static constexpr uint8_t kTable = 4;  // results pass through the lanes' table
  static constexpr uint8_t kSum = 8;  // sum over the valid taps of what they are above src_zp, requantised; without average
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t src = 0;  // unified buffer byte address of image 0, line 0, first channel
  uint32_t src_pitch = 0;  // bytes from a line to the next
  uint32_t src_img_pitch = 0;  // bytes from an image to the next
  uint32_t lines = 0;  // lines of an image; taps outside are left out
  uint32_t line_bytes = 0;  // x coordinates (bytes, see src_sx) valid below this; taps outside 0..line_bytes-1 are left out
  uint32_t n = 0;  // images, >= 1
  uint32_t ny = 0;  // output lines, >= 1
  uint32_t nx = 0;  // output positions a line, >= 1
  uint32_t sy = 0;  // input lines from an output line to the next
  uint32_t src_sx = 0;  // input bytes from an output position to the next
  int32_t dy = 0;  // line of the first window's first tap (minus the padding)
  int32_t dx = 0;  // byte x coordinate of the first window's first tap
  uint32_t kh = 0;  // window lines, >= 1
  uint32_t kw = 0;  // window positions, >= 1; kh x kw at most 256, or with sum 16129
  uint32_t kx = 0;  // bytes from a tap to the next in a line
  uint32_t dst = 0;  // unified buffer byte address of the first output vector
  uint32_t dst_pitch = 0;  // bytes from a line to the next
  uint32_t dst_img_pitch = 0;  // bytes from an image to the next
  uint32_t dst_sx = 0;  // bytes from a position to the next
  uint32_t cols = 0;  // channels, 1..Cols
  int32_t clamp_min = 0;  // lower bound
  int32_t clamp_max = 0;  // upper bound
  int32_t src_zp = 0;  // sum: zero point of the taps
  int32_t zp = 0;  // sum: zero point of the result
  uint32_t mult = 0;  // sum: multiplier
  int32_t shift = 0;  // sum: shift (positive left)

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(src));
    PutBits(d, 121, 20, static_cast<uint64_t>(src_pitch));
    PutBits(d, 141, 25, static_cast<uint64_t>(src_img_pitch));
    PutBits(d, 166, 14, static_cast<uint64_t>(lines));
    PutBits(d, 180, 20, static_cast<uint64_t>(line_bytes));
    PutBits(d, 200, 10, static_cast<uint64_t>(n));
    PutBits(d, 210, 14, static_cast<uint64_t>(ny));
    PutBits(d, 224, 14, static_cast<uint64_t>(nx));
    PutBits(d, 238, 5, static_cast<uint64_t>(sy));
    PutBits(d, 243, 18, static_cast<uint64_t>(src_sx));
    PutBits(d, 261, 8, static_cast<uint64_t>(dy));
    PutBits(d, 269, 19, static_cast<uint64_t>(dx));
    PutBits(d, 288, 7, static_cast<uint64_t>(kh));
    PutBits(d, 295, 7, static_cast<uint64_t>(kw));
    PutBits(d, 302, 14, static_cast<uint64_t>(kx));
    PutBits(d, 316, 25, static_cast<uint64_t>(dst));
    PutBits(d, 341, 20, static_cast<uint64_t>(dst_pitch));
    PutBits(d, 361, 25, static_cast<uint64_t>(dst_img_pitch));
    PutBits(d, 386, 18, static_cast<uint64_t>(dst_sx));
    PutBits(d, 404, 9, static_cast<uint64_t>(cols));
    PutBits(d, 413, 8, static_cast<uint64_t>(clamp_min));
    PutBits(d, 421, 8, static_cast<uint64_t>(clamp_max));
    PutBits(d, 429, 8, static_cast<uint64_t>(src_zp));
    PutBits(d, 437, 8, static_cast<uint64_t>(zp));
    PutBits(d, 445, 32, static_cast<uint64_t>(mult));
    PutBits(d, 477, 6, static_cast<uint64_t>(shift));
    return d;
  }
  static constexpr Pool Decode(const Descriptor& d) {
    Pool r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.src = static_cast<decltype(r.src)>(GetBits(d, 96, 25));
    r.src_pitch = static_cast<decltype(r.src_pitch)>(GetBits(d, 121, 20));
    r.src_img_pitch = static_cast<decltype(r.src_img_pitch)>(GetBits(d, 141, 25));
    r.lines = static_cast<decltype(r.lines)>(GetBits(d, 166, 14));
    r.line_bytes = static_cast<decltype(r.line_bytes)>(GetBits(d, 180, 20));
    r.n = static_cast<decltype(r.n)>(GetBits(d, 200, 10));
    r.ny = static_cast<decltype(r.ny)>(GetBits(d, 210, 14));
    r.nx = static_cast<decltype(r.nx)>(GetBits(d, 224, 14));
    r.sy = static_cast<decltype(r.sy)>(GetBits(d, 238, 5));
    r.src_sx = static_cast<decltype(r.src_sx)>(GetBits(d, 243, 18));
    r.dy = static_cast<decltype(r.dy)>(GetSignedBits(d, 261, 8));
    r.dx = static_cast<decltype(r.dx)>(GetSignedBits(d, 269, 19));
    r.kh = static_cast<decltype(r.kh)>(GetBits(d, 288, 7));
    r.kw = static_cast<decltype(r.kw)>(GetBits(d, 295, 7));
    r.kx = static_cast<decltype(r.kx)>(GetBits(d, 302, 14));
    r.dst = static_cast<decltype(r.dst)>(GetBits(d, 316, 25));
    r.dst_pitch = static_cast<decltype(r.dst_pitch)>(GetBits(d, 341, 20));
    r.dst_img_pitch = static_cast<decltype(r.dst_img_pitch)>(GetBits(d, 361, 25));
    r.dst_sx = static_cast<decltype(r.dst_sx)>(GetBits(d, 386, 18));
    r.cols = static_cast<decltype(r.cols)>(GetBits(d, 404, 9));
    r.clamp_min = static_cast<decltype(r.clamp_min)>(GetSignedBits(d, 413, 8));
    r.clamp_max = static_cast<decltype(r.clamp_max)>(GetSignedBits(d, 421, 8));
    r.src_zp = static_cast<decltype(r.src_zp)>(GetSignedBits(d, 429, 8));
    r.zp = static_cast<decltype(r.zp)>(GetSignedBits(d, 437, 8));
    r.mult = static_cast<decltype(r.mult)>(GetBits(d, 445, 32));
    r.shift = static_cast<decltype(r.shift)>(GetSignedBits(d, 477, 6));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Pool r = Decode(Encode());
    (void)r;
    return r.src == src &&
           r.src_pitch == src_pitch &&
           r.src_img_pitch == src_img_pitch &&
           r.lines == lines &&
           r.line_bytes == line_bytes &&
           r.n == n &&
           r.ny == ny &&
           r.nx == nx &&
           r.sy == sy &&
           r.src_sx == src_sx &&
           r.dy == dy &&
           r.dx == dx &&
           r.kh == kh &&
           r.kw == kw &&
           r.kx == kx &&
           r.dst == dst &&
           r.dst_pitch == dst_pitch &&
           r.dst_img_pitch == dst_img_pitch &&
           r.dst_sx == dst_sx &&
           r.cols == cols &&
           r.clamp_min == clamp_min &&
           r.clamp_max == clamp_max &&
           r.src_zp == src_zp &&
           r.zp == zp &&
           r.mult == mult &&
           r.shift == shift;
  }
};

// quantised int8 addition of two tensors, unified buffer to unified buffer.
struct Add {
  static constexpr Opcode kOpcode = Opcode::kAdd;
  static constexpr uint8_t kSingleRound = 2;  // round once rather than twice
  static constexpr uint8_t kTable = 4;  // results pass through the lanes' table
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t src0 = 0;  // unified buffer byte address of operand 0
  uint32_t src1 = 0;  // unified buffer byte address of operand 1
  uint32_t dst = 0;  // unified buffer byte address of the result
  uint32_t pitch0 = 0;  // operand 0: bytes from a line to the next
  uint32_t pitch1 = 0;  // operand 1: bytes from a line to the next
  uint32_t dst_pitch = 0;  // result: bytes from a line to the next
  uint32_t ny = 0;  // lines, >= 1
  uint32_t line_bytes = 0;  // bytes a line, >= 1, processed Cols at a time
  int32_t zp0 = 0;  // zero point of operand 0
  int32_t zp1 = 0;  // zero point of operand 1
  int32_t zp = 0;  // zero point of the result
  uint32_t mult0 = 0;  // multiplier of operand 0
  uint32_t mult1 = 0;  // multiplier of operand 1
  uint32_t mult = 0;  // multiplier of the sum
  int32_t shift0 = 0;  // shift of operand 0 (positive left)
  int32_t shift1 = 0;  // shift of operand 1
  int32_t shift = 0;  // shift of the sum
  int32_t clamp_min = 0;  // lower bound
  int32_t clamp_max = 0;  // upper bound

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(src0));
    PutBits(d, 121, 25, static_cast<uint64_t>(src1));
    PutBits(d, 146, 25, static_cast<uint64_t>(dst));
    PutBits(d, 171, 20, static_cast<uint64_t>(pitch0));
    PutBits(d, 191, 20, static_cast<uint64_t>(pitch1));
    PutBits(d, 211, 20, static_cast<uint64_t>(dst_pitch));
    PutBits(d, 231, 14, static_cast<uint64_t>(ny));
    PutBits(d, 245, 20, static_cast<uint64_t>(line_bytes));
    PutBits(d, 265, 8, static_cast<uint64_t>(zp0));
    PutBits(d, 273, 8, static_cast<uint64_t>(zp1));
    PutBits(d, 281, 8, static_cast<uint64_t>(zp));
    PutBits(d, 289, 32, static_cast<uint64_t>(mult0));
    PutBits(d, 321, 32, static_cast<uint64_t>(mult1));
    PutBits(d, 353, 32, static_cast<uint64_t>(mult));
    PutBits(d, 385, 6, static_cast<uint64_t>(shift0));
    PutBits(d, 391, 6, static_cast<uint64_t>(shift1));
    PutBits(d, 397, 6, static_cast<uint64_t>(shift));
    PutBits(d, 403, 8, static_cast<uint64_t>(clamp_min));
    PutBits(d, 411, 8, static_cast<uint64_t>(clamp_max));
    return d;
  }
  static constexpr Add Decode(const Descriptor& d) {
    Add r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.src0 = static_cast<decltype(r.src0)>(GetBits(d, 96, 25));
    r.src1 = static_cast<decltype(r.src1)>(GetBits(d, 121, 25));
    r.dst = static_cast<decltype(r.dst)>(GetBits(d, 146, 25));
    r.pitch0 = static_cast<decltype(r.pitch0)>(GetBits(d, 171, 20));
    r.pitch1 = static_cast<decltype(r.pitch1)>(GetBits(d, 191, 20));
    r.dst_pitch = static_cast<decltype(r.dst_pitch)>(GetBits(d, 211, 20));
    r.ny = static_cast<decltype(r.ny)>(GetBits(d, 231, 14));
    r.line_bytes = static_cast<decltype(r.line_bytes)>(GetBits(d, 245, 20));
    r.zp0 = static_cast<decltype(r.zp0)>(GetSignedBits(d, 265, 8));
    r.zp1 = static_cast<decltype(r.zp1)>(GetSignedBits(d, 273, 8));
    r.zp = static_cast<decltype(r.zp)>(GetSignedBits(d, 281, 8));
    r.mult0 = static_cast<decltype(r.mult0)>(GetBits(d, 289, 32));
    r.mult1 = static_cast<decltype(r.mult1)>(GetBits(d, 321, 32));
    r.mult = static_cast<decltype(r.mult)>(GetBits(d, 353, 32));
    r.shift0 = static_cast<decltype(r.shift0)>(GetSignedBits(d, 385, 6));
    r.shift1 = static_cast<decltype(r.shift1)>(GetSignedBits(d, 391, 6));
    r.shift = static_cast<decltype(r.shift)>(GetSignedBits(d, 397, 6));
    r.clamp_min = static_cast<decltype(r.clamp_min)>(GetSignedBits(d, 403, 8));
    r.clamp_max = static_cast<decltype(r.clamp_max)>(GetSignedBits(d, 411, 8));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Add r = Decode(Encode());
    (void)r;
    return r.src0 == src0 &&
           r.src1 == src1 &&
           r.dst == dst &&
           r.pitch0 == pitch0 &&
           r.pitch1 == pitch1 &&
           r.dst_pitch == dst_pitch &&
           r.ny == ny &&
           r.line_bytes == line_bytes &&
           r.zp0 == zp0 &&
           r.zp1 == zp1 &&
           r.zp == zp &&
           r.mult0 == mult0 &&
           r.mult1 == mult1 &&
           r.mult == mult &&
           r.shift0 == shift0 &&
           r.shift1 == shift1 &&
           r.shift == shift &&
           r.clamp_min == clamp_min &&
           r.clamp_max == clamp_max;
  }
};

// quantised int8 product of two tensors, unified buffer to unified buffer; steps of 0 repeat an operand.
struct Mul {
  static constexpr Opcode kOpcode = Opcode::kMul;
  static constexpr uint8_t kSingleRound = 2;  // round once rather than twice
  static constexpr uint8_t kTable = 4;  // results pass through the lanes' table
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t src0 = 0;  // unified buffer byte address of operand 0
  uint32_t src1 = 0;  // unified buffer byte address of operand 1
  uint32_t dst = 0;  // unified buffer byte address of the result
  uint32_t n = 0;  // images, >= 1
  uint32_t ny = 0;  // lines, >= 1
  uint32_t nx = 0;  // positions a line, >= 1
  uint32_t cols = 0;  // bytes of a position, 1..Cols
  uint32_t img_pitch0 = 0;  // operand 0: bytes from an image to the next
  uint32_t img_pitch1 = 0;  // operand 1: bytes from an image to the next
  uint32_t dst_img_pitch = 0;  // result: bytes from an image to the next
  uint32_t pitch0 = 0;  // operand 0: bytes from a line to the next
  uint32_t pitch1 = 0;  // operand 1: bytes from a line to the next
  uint32_t dst_pitch = 0;  // result: bytes from a line to the next
  uint32_t sx0 = 0;  // operand 0: bytes from a position to the next
  uint32_t sx1 = 0;  // operand 1: bytes from a position to the next
  uint32_t dst_sx = 0;  // result: bytes from a position to the next
  int32_t zp0 = 0;  // zero point of operand 0
  int32_t zp1 = 0;  // zero point of operand 1
  int32_t zp = 0;  // zero point of the result
  uint32_t mult = 0;  // multiplier of the product
  int32_t shift = 0;  // shift of the product (positive left)
  int32_t clamp_min = 0;  // lower bound
  int32_t clamp_max = 0;  // upper bound

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(src0));
    PutBits(d, 121, 25, static_cast<uint64_t>(src1));
    PutBits(d, 146, 25, static_cast<uint64_t>(dst));
    PutBits(d, 171, 10, static_cast<uint64_t>(n));
    PutBits(d, 181, 14, static_cast<uint64_t>(ny));
    PutBits(d, 195, 14, static_cast<uint64_t>(nx));
    PutBits(d, 209, 9, static_cast<uint64_t>(cols));
    PutBits(d, 218, 25, static_cast<uint64_t>(img_pitch0));
    PutBits(d, 243, 25, static_cast<uint64_t>(img_pitch1));
    PutBits(d, 268, 25, static_cast<uint64_t>(dst_img_pitch));
    PutBits(d, 293, 20, static_cast<uint64_t>(pitch0));
    PutBits(d, 313, 20, static_cast<uint64_t>(pitch1));
    PutBits(d, 333, 20, static_cast<uint64_t>(dst_pitch));
    PutBits(d, 353, 18, static_cast<uint64_t>(sx0));
    PutBits(d, 371, 18, static_cast<uint64_t>(sx1));
    PutBits(d, 389, 18, static_cast<uint64_t>(dst_sx));
    PutBits(d, 407, 8, static_cast<uint64_t>(zp0));
    PutBits(d, 415, 8, static_cast<uint64_t>(zp1));
    PutBits(d, 423, 8, static_cast<uint64_t>(zp));
    PutBits(d, 431, 32, static_cast<uint64_t>(mult));
    PutBits(d, 463, 6, static_cast<uint64_t>(shift));
    PutBits(d, 469, 8, static_cast<uint64_t>(clamp_min));
    PutBits(d, 477, 8, static_cast<uint64_t>(clamp_max));
    return d;
  }
  static constexpr Mul Decode(const Descriptor& d) {
    Mul r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.src0 = static_cast<decltype(r.src0)>(GetBits(d, 96, 25));
    r.src1 = static_cast<decltype(r.src1)>(GetBits(d, 121, 25));
    r.dst = static_cast<decltype(r.dst)>(GetBits(d, 146, 25));
    r.n = static_cast<decltype(r.n)>(GetBits(d, 171, 10));
    r.ny = static_cast<decltype(r.ny)>(GetBits(d, 181, 14));
    r.nx = static_cast<decltype(r.nx)>(GetBits(d, 195, 14));
    r.cols = static_cast<decltype(r.cols)>(GetBits(d, 209, 9));
    r.img_pitch0 = static_cast<decltype(r.img_pitch0)>(GetBits(d, 218, 25));
    r.img_pitch1 = static_cast<decltype(r.img_pitch1)>(GetBits(d, 243, 25));
    r.dst_img_pitch = static_cast<decltype(r.dst_img_pitch)>(GetBits(d, 268, 25));
    r.pitch0 = static_cast<decltype(r.pitch0)>(GetBits(d, 293, 20));
    r.pitch1 = static_cast<decltype(r.pitch1)>(GetBits(d, 313, 20));
    r.dst_pitch = static_cast<decltype(r.dst_pitch)>(GetBits(d, 333, 20));
    r.sx0 = static_cast<decltype(r.sx0)>(GetBits(d, 353, 18));
    r.sx1 = static_cast<decltype(r.sx1)>(GetBits(d, 371, 18));
    r.dst_sx = static_cast<decltype(r.dst_sx)>(GetBits(d, 389, 18));
    r.zp0 = static_cast<decltype(r.zp0)>(GetSignedBits(d, 407, 8));
    r.zp1 = static_cast<decltype(r.zp1)>(GetSignedBits(d, 415, 8));
    r.zp = static_cast<decltype(r.zp)>(GetSignedBits(d, 423, 8));
    r.mult = static_cast<decltype(r.mult)>(GetBits(d, 431, 32));
    r.shift = static_cast<decltype(r.shift)>(GetSignedBits(d, 463, 6));
    r.clamp_min = static_cast<decltype(r.clamp_min)>(GetSignedBits(d, 469, 8));
    r.clamp_max = static_cast<decltype(r.clamp_max)>(GetSignedBits(d, 477, 8));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Mul r = Decode(Encode());
    (void)r;
    return r.src0 == src0 &&
           r.src1 == src1 &&
           r.dst == dst &&
           r.n == n &&
           r.ny == ny &&
           r.nx == nx &&
           r.cols == cols &&
           r.img_pitch0 == img_pitch0 &&
           r.img_pitch1 == img_pitch1 &&
           r.dst_img_pitch == dst_img_pitch &&
           r.pitch0 == pitch0 &&
           r.pitch1 == pitch1 &&
           r.dst_pitch == dst_pitch &&
           r.sx0 == sx0 &&
           r.sx1 == sx1 &&
           r.dst_sx == dst_sx &&
           r.zp0 == zp0 &&
           r.zp1 == zp1 &&
           r.zp == zp &&
           r.mult == mult &&
           r.shift == shift &&
           r.clamp_min == clamp_min &&
           r.clamp_max == clamp_max;
  }
};

// give the vector unit's lanes a table of 256 bytes: byte q + 128 is what q becomes.
struct Table {
  static constexpr Opcode kOpcode = Opcode::kTable;
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t src = 0;  // unified buffer byte address of the table; multiple of the word

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(src));
    return d;
  }
  static constexpr Table Decode(const Descriptor& d) {
    Table r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.src = static_cast<decltype(r.src)>(GetBits(d, 96, 25));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Table r = Decode(Encode());
    (void)r;
    return r.src == src;
  }
};

// copy instructions from the unified buffer into the vector unit's instruction memory.
struct Vload {
  static constexpr Opcode kOpcode = Opcode::kVload;
  Header header = {static_cast<uint8_t>(kOpcode)};
  uint32_t ub_addr = 0;  // unified buffer byte address of the first instruction; multiple of the word
  uint32_t addr = 0;  // index in the instruction memory of the first
  uint32_t count = 0;  // instructions of 64 bits, 1..2048; addr + count is at most 2048

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 25, static_cast<uint64_t>(ub_addr));
    PutBits(d, 121, 11, static_cast<uint64_t>(addr));
    PutBits(d, 132, 12, static_cast<uint64_t>(count));
    return d;
  }
  static constexpr Vload Decode(const Descriptor& d) {
    Vload r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.ub_addr = static_cast<decltype(r.ub_addr)>(GetBits(d, 96, 25));
    r.addr = static_cast<decltype(r.addr)>(GetBits(d, 121, 11));
    r.count = static_cast<decltype(r.count)>(GetBits(d, 132, 12));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Vload r = Decode(Encode());
    (void)r;
    return r.ub_addr == ub_addr &&
           r.addr == addr &&
           r.count == count;
  }
};

// run a program of the vector unit until its halt.
struct Vrun {
  static constexpr Opcode kOpcode = Opcode::kVrun;
  Header header = {static_cast<uint8_t>(kOpcode)};
  std::array<uint32_t, 12> args = {};  // scalar registers s1..s12 at the start; the others are 0
  uint32_t pc = 0;  // index of the first instruction

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    PutBits(d, 96, 32, static_cast<uint64_t>(args[0]));
    PutBits(d, 128, 32, static_cast<uint64_t>(args[1]));
    PutBits(d, 160, 32, static_cast<uint64_t>(args[2]));
    PutBits(d, 192, 32, static_cast<uint64_t>(args[3]));
    PutBits(d, 224, 32, static_cast<uint64_t>(args[4]));
    PutBits(d, 256, 32, static_cast<uint64_t>(args[5]));
    PutBits(d, 288, 32, static_cast<uint64_t>(args[6]));
    PutBits(d, 320, 32, static_cast<uint64_t>(args[7]));
    PutBits(d, 352, 32, static_cast<uint64_t>(args[8]));
    PutBits(d, 384, 32, static_cast<uint64_t>(args[9]));
    PutBits(d, 416, 32, static_cast<uint64_t>(args[10]));
    PutBits(d, 448, 32, static_cast<uint64_t>(args[11]));
    PutBits(d, 480, 11, static_cast<uint64_t>(pc));
    return d;
  }
  static constexpr Vrun Decode(const Descriptor& d) {
    Vrun r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    r.args[0] = static_cast<uint32_t>(GetBits(d, 96, 32));
    r.args[1] = static_cast<uint32_t>(GetBits(d, 128, 32));
    r.args[2] = static_cast<uint32_t>(GetBits(d, 160, 32));
    r.args[3] = static_cast<uint32_t>(GetBits(d, 192, 32));
    r.args[4] = static_cast<uint32_t>(GetBits(d, 224, 32));
    r.args[5] = static_cast<uint32_t>(GetBits(d, 256, 32));
    r.args[6] = static_cast<uint32_t>(GetBits(d, 288, 32));
    r.args[7] = static_cast<uint32_t>(GetBits(d, 320, 32));
    r.args[8] = static_cast<uint32_t>(GetBits(d, 352, 32));
    r.args[9] = static_cast<uint32_t>(GetBits(d, 384, 32));
    r.args[10] = static_cast<uint32_t>(GetBits(d, 416, 32));
    r.args[11] = static_cast<uint32_t>(GetBits(d, 448, 32));
    r.pc = static_cast<decltype(r.pc)>(GetBits(d, 480, 11));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Vrun r = Decode(Encode());
    (void)r;
    return r.args[0] == args[0] &&
           r.args[1] == args[1] &&
           r.args[2] == args[2] &&
           r.args[3] == args[3] &&
           r.args[4] == args[4] &&
           r.args[5] == args[5] &&
           r.args[6] == args[6] &&
           r.args[7] == args[7] &&
           r.args[8] == args[8] &&
           r.args[9] == args[9] &&
           r.args[10] == args[10] &&
           r.args[11] == args[11] &&
           r.pc == pc;
  }
};

// end of the program: when every queue is empty and every unit idle, raise the interrupt.
struct Halt {
  static constexpr Opcode kOpcode = Opcode::kHalt;
  Header header = {static_cast<uint8_t>(kOpcode)};

  constexpr Descriptor Encode() const {
    Descriptor d{};
    PutBits(d, 0, 8, static_cast<uint64_t>(header.opcode));
    PutBits(d, 8, 8, static_cast<uint64_t>(header.flags));
    PutBits(d, 16, 16, static_cast<uint64_t>(header.tag));
    PutBits(d, 32, 32, static_cast<uint64_t>(header.wait_mask));
    PutBits(d, 64, 32, static_cast<uint64_t>(header.post_mask));
    return d;
  }
  static constexpr Halt Decode(const Descriptor& d) {
    Halt r;
    r.header.opcode = static_cast<decltype(r.header.opcode)>(GetBits(d, 0, 8));
    r.header.flags = static_cast<decltype(r.header.flags)>(GetBits(d, 8, 8));
    r.header.tag = static_cast<decltype(r.header.tag)>(GetBits(d, 16, 16));
    r.header.wait_mask = static_cast<decltype(r.header.wait_mask)>(GetBits(d, 32, 32));
    r.header.post_mask = static_cast<decltype(r.header.post_mask)>(GetBits(d, 64, 32));
    return r;
  }
  // True when every field fits its width: Decode(Encode()) gives the same back.
  constexpr bool Fits() const {
    const Halt r = Decode(Encode());
    (void)r;
    return true;
  }
};

// Tables for the assembler and the disassembler.
struct FieldInfo {
  std::string_view name;
  int lsb;
  int bits;
  int count;
  bool is_signed;
  std::string_view doc;
};
struct FlagInfo {
  std::string_view name;
  int bit;
  std::string_view doc;
  uint8_t cells;  // bit n: cores of cell n have it

  constexpr bool Has(Cell cell) const { return (cells >> static_cast<int>(cell) & 1) != 0; }
};
struct OpInfo {
  std::string_view name;
  Opcode opcode;
  Queue queue;
  std::string_view doc;
  const FieldInfo* fields;
  int num_fields;
  const FlagInfo* flags;
  int num_flags;
  int width;      // bits used; the rest must be zero
  uint8_t cells;  // bit n: cores of cell n have it
  bool links;     // only cores of chips with links have it

  // with_links: the chip has links.
  constexpr bool Has(Cell cell, bool with_links) const {
    return (cells >> static_cast<int>(cell) & 1) != 0 && (!links || with_links);
  }
  // Bits of the flags that it has on cores of this cell.
  constexpr uint8_t FlagMask(Cell cell) const {
    int mask = 0;
    for (int i = 0; i < num_flags; ++i) mask |= flags[i].Has(cell) ? 1 << flags[i].bit : 0;
    return static_cast<uint8_t>(mask);
  }
};

inline constexpr FieldInfo kLoadFields[] = {
    {"hbm_addr", 96, 36, 1, false, "HBM byte address of the first run; multiple of the beat"},
    {"ub_addr", 132, 25, 1, false, "unified buffer byte address of the first run; multiple of the beat"},
    {"len", 157, 25, 1, false, "bytes a run, >= 1; the last beat of a run is masked"},
    {"n1", 182, 16, 1, false, "runs in the inner loop, >= 1"},
    {"n2", 198, 16, 1, false, "repetitions of the inner loop, >= 1"},
    {"hbm_stride1", 214, 36, 1, false, "HBM bytes from a run to the next; multiple of the beat"},
    {"ub_stride1", 250, 25, 1, false, "unified buffer bytes from a run to the next; multiple of the beat"},
    {"hbm_stride2", 275, 36, 1, false, "HBM bytes from an inner loop's start to the next; multiple of the beat"},
    {"ub_stride2", 311, 25, 1, false, "unified buffer bytes from an inner loop's start to the next; multiple of the beat"},
    {"index_addr", 336, 25, 1, false, "indexed: unified buffer byte address of a table of n2 unsigned 32-bit numbers of beats; multiple of the beat; otherwise it takes no part"},
};
inline constexpr FlagInfo kLoadFlags[] = {
    {"indexed", 0, "repetition i2 of the inner loop starts at hbm_addr + beat x entry i2 of the table at index_addr; hbm_stride2 takes no part", 2},
};
inline constexpr FieldInfo kStoreFields[] = {
    {"hbm_addr", 96, 36, 1, false, "HBM byte address of the first run; multiple of the beat"},
    {"ub_addr", 132, 25, 1, false, "unified buffer byte address of the first run; multiple of the beat"},
    {"len", 157, 25, 1, false, "bytes a run, >= 1; the last beat of a run is masked"},
    {"n1", 182, 16, 1, false, "runs in the inner loop, >= 1"},
    {"n2", 198, 16, 1, false, "repetitions of the inner loop, >= 1"},
    {"hbm_stride1", 214, 36, 1, false, "HBM bytes from a run to the next; multiple of the beat"},
    {"ub_stride1", 250, 25, 1, false, "unified buffer bytes from a run to the next; multiple of the beat"},
    {"hbm_stride2", 275, 36, 1, false, "HBM bytes from an inner loop's start to the next; multiple of the beat"},
    {"ub_stride2", 311, 25, 1, false, "unified buffer bytes from an inner loop's start to the next; multiple of the beat"},
    {"index_addr", 336, 25, 1, false, "indexed: unified buffer byte address of a table of n2 unsigned 32-bit numbers of beats; multiple of the beat; otherwise it takes no part"},
};
inline constexpr FlagInfo kStoreFlags[] = {
    {"indexed", 0, "repetition i2 of the inner loop starts at hbm_addr + beat x entry i2 of the table at index_addr; hbm_stride2 takes no part", 2},
};
inline constexpr FieldInfo kSendFields[] = {
    {"hbm_addr", 96, 36, 1, false, "byte address of the first run in the destination's own memory; multiple of the beat"},
    {"ub_addr", 132, 25, 1, false, "unified buffer byte address of the first run; multiple of the beat"},
    {"len", 157, 25, 1, false, "bytes a run, >= 1; the last beat of a run is masked"},
    {"n1", 182, 16, 1, false, "runs in the inner loop, >= 1"},
    {"n2", 198, 16, 1, false, "repetitions of the inner loop, >= 1"},
    {"hbm_stride1", 214, 36, 1, false, "bytes from a run to the next at the destination; multiple of the beat"},
    {"ub_stride1", 250, 25, 1, false, "unified buffer bytes from a run to the next; multiple of the beat"},
    {"hbm_stride2", 275, 36, 1, false, "bytes from an inner loop's start to the next at the destination; multiple of the beat"},
    {"ub_stride2", 311, 25, 1, false, "unified buffer bytes from an inner loop's start to the next; multiple of the beat"},
    {"dst_x", 336, 5, 1, false, "column of the destination's chip in the torus"},
    {"dst_y", 341, 5, 1, false, "row"},
    {"dst_core", 346, 1, 1, false, "core of that chip"},
    {"link_flag", 347, 3, 1, false, "post: number of the destination's link flag, 0 the first of them"},
};
inline constexpr FlagInfo kSendFlags[] = {
    {"link_post", 0, "post link_flag of the destination after the data", 3},
    {"empty", 1, "no data, only the post: len, n1, n2, addresses and strides are 0", 3},
    {"negative", 2, "where two ways around a ring are as long, take the negative one", 3},
};
inline constexpr FieldInfo kWeightsFields[] = {
    {"hbm_addr", 96, 36, 1, false, "HBM byte address of the first tile; multiple of the beat; tiles are dense, row-major [Rows][Cols]"},
    {"tiles", 132, 16, 1, false, "tiles, >= 1"},
};
inline constexpr FlagInfo kWeightsFlags[] = {
    {"transpose", 0, "the weight of array row r, column c is the stored tile's row c, element r", 2},
};
inline constexpr FieldInfo kTilesFields[] = {
    {"ub_addr", 96, 25, 1, false, "unified buffer byte address of the first tile's row 0, element 0; even"},
    {"pitch", 121, 20, 1, false, "bytes from a stored row to the next; even"},
    {"rows", 141, 9, 1, false, "stored rows of a tile, 1..Rows; the rest is 0"},
    {"cols", 150, 9, 1, false, "stored elements of a row, 1..Cols; the rest is 0"},
    {"tiles", 159, 16, 1, false, "tiles, >= 1"},
    {"tile_stride", 175, 25, 1, false, "bytes from a tile's first row to the next tile's; even"},
};
inline constexpr FlagInfo kTilesFlags[] = {
    {"transpose", 0, "the weight of array row r, column c is stored row c, element r", 3},
};
inline constexpr FieldInfo kMatmulFields[] = {
    {"ub_base", 96, 25, 1, false, "unified buffer byte address of image 0, line 0, byte 0"},
    {"pitch", 121, 20, 1, false, "bytes from a line to the next"},
    {"img_pitch", 141, 25, 1, false, "bytes from an image to the next"},
    {"lines", 166, 14, 1, false, "lines of an image, >= 1; a line outside 0..lines-1 reads as pad"},
    {"line_bytes", 180, 20, 1, false, "valid bytes of a line, >= 1; a byte outside 0..line_bytes-1 reads as pad"},
    {"pad", 200, 8, 1, true, "value of padding (the input's zero point); bf16: 0"},
    {"n", 208, 10, 1, false, "images, >= 1"},
    {"ny", 218, 14, 1, false, "output lines, >= 1"},
    {"nx", 232, 14, 1, false, "output positions a line, >= 1"},
    {"sy", 246, 5, 1, false, "input lines from an output line to the next"},
    {"sx", 251, 18, 1, false, "input bytes from an output position to the next"},
    {"t0", 269, 12, 1, false, "inner passes, >= 1"},
    {"t0_dx", 281, 10, 1, false, "bytes that an inner pass advances every segment's dx"},
    {"t1", 291, 6, 1, false, "outer passes, >= 1"},
    {"t1_dy", 297, 6, 1, false, "lines that an outer pass advances every segment's dy"},
    {"acc", 303, 13, 1, false, "accumulator row of the first vector; rows follow in walk order, all in one accumulator bank"},
    {"seg_dy", 316, 8, 4, true, "line offset of segment s (kernel row x dilation - padding)"},
    {"seg_dx", 348, 19, 4, true, "byte offset of segment s in the line"},
    {"seg_len", 424, 9, 4, false, "array rows (elements) that segment s fills, after those of segments before it; 0 = unused, as all from the core's Segments on must be; the sum is at most Rows, rows left over get 0"},
};
inline constexpr FlagInfo kMatmulFlags[] = {
    {"accumulate", 0, "the first pass adds to the accumulators; otherwise it overwrites (later passes always add)", 3},
    {"keep_weights", 1, "the first pass uses the tile that the array already holds; otherwise it takes the next from the FIFO (later passes always take one, but with transpose: they keep it)", 3},
    {"transpose", 2, "each pass sends the transpose of its block of at most Rows vectors through the array and has Rows accumulator rows of its own", 2},
};
inline constexpr FieldInfo kRequantFields[] = {
    {"acc", 96, 13, 1, false, "first accumulator row; rows follow in walk order, all in one accumulator bank"},
    {"n", 109, 10, 1, false, "images, >= 1"},
    {"ny", 119, 14, 1, false, "lines, >= 1"},
    {"nx", 133, 14, 1, false, "positions a line, >= 1"},
    {"dst", 147, 25, 1, false, "unified buffer byte address of the first vector"},
    {"dst_pitch", 172, 20, 1, false, "bytes from a line to the next"},
    {"dst_img_pitch", 192, 25, 1, false, "bytes from an image to the next"},
    {"dst_sx", 217, 18, 1, false, "bytes from a position to the next"},
    {"cols", 235, 9, 1, false, "channels written, 1..Cols"},
    {"params", 244, 25, 1, false, "unified buffer address (multiple of the word) of the parameter block: Cols int32 bias, Cols int32 multiplier, Cols int8 shift = 9 words; ignored when raw"},
    {"zp", 269, 8, 1, true, "output zero point"},
    {"clamp_min", 277, 8, 1, true, "lower bound after the zero point"},
    {"clamp_max", 285, 8, 1, true, "upper bound after the zero point"},
    {"src", 293, 25, 1, false, "residual: unified buffer byte address of the second operand's first vector"},
    {"src_pitch", 318, 20, 1, false, "residual: bytes from a line to the next"},
    {"src_img_pitch", 338, 25, 1, false, "residual: bytes from an image to the next"},
    {"src_sx", 363, 18, 1, false, "residual: bytes from a position to the next"},
    {"src_zp", 381, 8, 1, true, "residual: zero point of the second operand"},
    {"sum_zp", 389, 8, 1, true, "residual: zero point of the sum"},
    {"sum_mult1", 397, 32, 1, false, "residual: multiplier of the operand that is not scaled by 2^19"},
    {"sum_shift1", 429, 6, 1, true, "residual: its shift (positive left)"},
    {"sum_mult", 435, 32, 1, false, "residual: multiplier of the sum"},
    {"sum_shift", 467, 6, 1, true, "residual: shift of the sum"},
    {"sum_min", 473, 8, 1, true, "residual: lower bound of the sum"},
    {"sum_max", 481, 8, 1, true, "residual: upper bound of the sum"},
};
inline constexpr FlagInfo kRequantFlags[] = {
    {"raw", 0, "write the int32 accumulators, little endian, 4 x cols bytes a row; no bias, no requantise", 3},
    {"single_round", 1, "round once rather than twice", 3},
    {"table", 2, "results pass through the lanes' table", 3},
    {"residual", 3, "a quantised addition of each result and a byte of a second operand follows; only cores with Residual", 3},
    {"residual_wide", 4, "residual: the second operand is the one that is scaled by 2^19 exactly, the result by sum_mult1 and sum_shift1; otherwise the other way round", 3},
    {"residual_single", 5, "residual: the addition rounds once rather than twice", 3},
};
inline constexpr FieldInfo kPoolFields[] = {
    {"src", 96, 25, 1, false, "unified buffer byte address of image 0, line 0, first channel"},
    {"src_pitch", 121, 20, 1, false, "bytes from a line to the next"},
    {"src_img_pitch", 141, 25, 1, false, "bytes from an image to the next"},
    {"lines", 166, 14, 1, false, "lines of an image; taps outside are left out"},
    {"line_bytes", 180, 20, 1, false, "x coordinates (bytes, see src_sx) valid below this; taps outside 0..line_bytes-1 are left out"},
    {"n", 200, 10, 1, false, "images, >= 1"},
    {"ny", 210, 14, 1, false, "output lines, >= 1"},
    {"nx", 224, 14, 1, false, "output positions a line, >= 1"},
    {"sy", 238, 5, 1, false, "input lines from an output line to the next"},
    {"src_sx", 243, 18, 1, false, "input bytes from an output position to the next"},
    {"dy", 261, 8, 1, true, "line of the first window's first tap (minus the padding)"},
    {"dx", 269, 19, 1, true, "byte x coordinate of the first window's first tap"},
    {"kh", 288, 7, 1, false, "window lines, >= 1"},
    {"kw", 295, 7, 1, false, "window positions, >= 1; kh x kw at most 256, or with sum 16129"},
    {"kx", 302, 14, 1, false, "bytes from a tap to the next in a line"},
    {"dst", 316, 25, 1, false, "unified buffer byte address of the first output vector"},
    {"dst_pitch", 341, 20, 1, false, "bytes from a line to the next"},
    {"dst_img_pitch", 361, 25, 1, false, "bytes from an image to the next"},
    {"dst_sx", 386, 18, 1, false, "bytes from a position to the next"},
    {"cols", 404, 9, 1, false, "channels, 1..Cols"},
    {"clamp_min", 413, 8, 1, true, "lower bound"},
    {"clamp_max", 421, 8, 1, true, "upper bound"},
    {"src_zp", 429, 8, 1, true, "sum: zero point of the taps"},
    {"zp", 437, 8, 1, true, "sum: zero point of the result"},
    {"mult", 445, 32, 1, false, "sum: multiplier"},
    {"shift", 477, 6, 1, true, "sum: shift (positive left)"},
};
inline constexpr FlagInfo kPoolFlags[] = {
    {"average", 0, "average over the valid taps, rounded half away from zero; otherwise maximum", 3},
    {"single_round", 1, "sum: round once rather than twice", 3},
    {"table", 2, "results pass through the lanes' table", 3},
    {"sum", 3, "sum over the valid taps of what they are above src_zp, requantised; without average", 3},
};
inline constexpr FieldInfo kAddFields[] = {
    {"src0", 96, 25, 1, false, "unified buffer byte address of operand 0"},
    {"src1", 121, 25, 1, false, "unified buffer byte address of operand 1"},
    {"dst", 146, 25, 1, false, "unified buffer byte address of the result"},
    {"pitch0", 171, 20, 1, false, "operand 0: bytes from a line to the next"},
    {"pitch1", 191, 20, 1, false, "operand 1: bytes from a line to the next"},
    {"dst_pitch", 211, 20, 1, false, "result: bytes from a line to the next"},
    {"ny", 231, 14, 1, false, "lines, >= 1"},
    {"line_bytes", 245, 20, 1, false, "bytes a line, >= 1, processed Cols at a time"},
    {"zp0", 265, 8, 1, true, "zero point of operand 0"},
    {"zp1", 273, 8, 1, true, "zero point of operand 1"},
    {"zp", 281, 8, 1, true, "zero point of the result"},
    {"mult0", 289, 32, 1, false, "multiplier of operand 0"},
    {"mult1", 321, 32, 1, false, "multiplier of operand 1"},
    {"mult", 353, 32, 1, false, "multiplier of the sum"},
    {"shift0", 385, 6, 1, true, "shift of operand 0 (positive left)"},
    {"shift1", 391, 6, 1, true, "shift of operand 1"},
    {"shift", 397, 6, 1, true, "shift of the sum"},
    {"clamp_min", 403, 8, 1, true, "lower bound"},
    {"clamp_max", 411, 8, 1, true, "upper bound"},
};
inline constexpr FlagInfo kAddFlags[] = {
    {"single_round", 1, "round once rather than twice", 3},
    {"table", 2, "results pass through the lanes' table", 3},
};
inline constexpr FieldInfo kMulFields[] = {
    {"src0", 96, 25, 1, false, "unified buffer byte address of operand 0"},
    {"src1", 121, 25, 1, false, "unified buffer byte address of operand 1"},
    {"dst", 146, 25, 1, false, "unified buffer byte address of the result"},
    {"n", 171, 10, 1, false, "images, >= 1"},
    {"ny", 181, 14, 1, false, "lines, >= 1"},
    {"nx", 195, 14, 1, false, "positions a line, >= 1"},
    {"cols", 209, 9, 1, false, "bytes of a position, 1..Cols"},
    {"img_pitch0", 218, 25, 1, false, "operand 0: bytes from an image to the next"},
    {"img_pitch1", 243, 25, 1, false, "operand 1: bytes from an image to the next"},
    {"dst_img_pitch", 268, 25, 1, false, "result: bytes from an image to the next"},
    {"pitch0", 293, 20, 1, false, "operand 0: bytes from a line to the next"},
    {"pitch1", 313, 20, 1, false, "operand 1: bytes from a line to the next"},
    {"dst_pitch", 333, 20, 1, false, "result: bytes from a line to the next"},
    {"sx0", 353, 18, 1, false, "operand 0: bytes from a position to the next"},
    {"sx1", 371, 18, 1, false, "operand 1: bytes from a position to the next"},
    {"dst_sx", 389, 18, 1, false, "result: bytes from a position to the next"},
    {"zp0", 407, 8, 1, true, "zero point of operand 0"},
    {"zp1", 415, 8, 1, true, "zero point of operand 1"},
    {"zp", 423, 8, 1, true, "zero point of the result"},
    {"mult", 431, 32, 1, false, "multiplier of the product"},
    {"shift", 463, 6, 1, true, "shift of the product (positive left)"},
    {"clamp_min", 469, 8, 1, true, "lower bound"},
    {"clamp_max", 477, 8, 1, true, "upper bound"},
};
inline constexpr FlagInfo kMulFlags[] = {
    {"single_round", 1, "round once rather than twice", 3},
    {"table", 2, "results pass through the lanes' table", 3},
};
inline constexpr FieldInfo kTableFields[] = {
    {"src", 96, 25, 1, false, "unified buffer byte address of the table; multiple of the word"},
};
inline constexpr FieldInfo kVloadFields[] = {
    {"ub_addr", 96, 25, 1, false, "unified buffer byte address of the first instruction; multiple of the word"},
    {"addr", 121, 11, 1, false, "index in the instruction memory of the first"},
    {"count", 132, 12, 1, false, "instructions of 64 bits, 1..2048; addr + count is at most 2048"},
};
inline constexpr FieldInfo kVrunFields[] = {
    {"args", 96, 32, 12, false, "scalar registers s1..s12 at the start; the others are 0"},
    {"pc", 480, 11, 1, false, "index of the first instruction"},
};
inline constexpr std::array<OpInfo, 14> kOps = {{
    {"load", Opcode::kLoad, Queue::kLoad, "copy n2 x n1 runs of len bytes from HBM to the unified buffer",
     kLoadFields, 10, kLoadFlags, 1, 361, 3, false},
    {"store", Opcode::kStore, Queue::kStore, "copy n2 x n1 runs of len bytes from the unified buffer to HBM",
     kStoreFields, 10, kStoreFlags, 1, 361, 3, false},
    {"send", Opcode::kSend, Queue::kSend, "copy n2 x n1 runs of len bytes from the unified buffer to the memory of a core of the device, then post one of its link flags",
     kSendFields, 13, kSendFlags, 3, 350, 3, true},
    {"weights", Opcode::kWeights, Queue::kWeight, "push tiles of Rows x Cols weights from HBM into the weight FIFO",
     kWeightsFields, 2, kWeightsFlags, 1, 148, 3, false},
    {"tiles", Opcode::kTiles, Queue::kWeight, "push weight tiles from the unified buffer into the weight FIFO",
     kTilesFields, 6, kTilesFlags, 1, 200, 2, false},
    {"matmul", Opcode::kMatmul, Queue::kMxu, "t1 x t0 passes of n x ny x nx activation vectors through the array into the accumulators",
     kMatmulFields, 19, kMatmulFlags, 3, 460, 3, false},
    {"requant", Opcode::kRequant, Queue::kVector, "accumulator rows: bias, requantise, clamp, write int8 vectors (or raw int32) to the unified buffer",
     kRequantFields, 25, kRequantFlags, 6, 489, 1, false},
    {"pool", Opcode::kPool, Queue::kVector, "max, average or requantised sum over windows of int8 vectors, unified buffer to unified buffer",
     kPoolFields, 26, kPoolFlags, 4, 483, 1, false},
    {"add", Opcode::kAdd, Queue::kVector, "quantised int8 addition of two tensors, unified buffer to unified buffer",
     kAddFields, 19, kAddFlags, 2, 419, 1, false},
    {"mul", Opcode::kMul, Queue::kVector, "quantised int8 product of two tensors, unified buffer to unified buffer; steps of 0 repeat an operand",
     kMulFields, 23, kMulFlags, 2, 485, 1, false},
    {"table", Opcode::kTable, Queue::kVector, "give the vector unit's lanes a table of 256 bytes: byte q + 128 is what q becomes",
     kTableFields, 1, nullptr, 0, 121, 1, false},
    {"vload", Opcode::kVload, Queue::kVector, "copy instructions from the unified buffer into the vector unit's instruction memory",
     kVloadFields, 3, nullptr, 0, 144, 2, false},
    {"vrun", Opcode::kVrun, Queue::kVector, "run a program of the vector unit until its halt",
     kVrunFields, 2, nullptr, 0, 491, 2, false},
    {"halt", Opcode::kHalt, Queue::kNone, "end of the program: when every queue is empty and every unit idle, raise the interrupt",
     nullptr, 0, nullptr, 0, 96, 3, false},
}};

// The operation of that opcode on a core of that preset, or nullptr.
constexpr const OpInfo* FindOp(uint8_t opcode, const Preset& preset) {
  for (const OpInfo& op : kOps) {
    if (static_cast<uint8_t>(op.opcode) == opcode && op.Has(preset.cell, preset.chip.link_bytes != 0)) return &op;
  }
  return nullptr;
}

// The operation of that opcode on any core, or nullptr.
constexpr const OpInfo* FindOp(uint8_t opcode) {
  for (const OpInfo& op : kOps) {
    if (static_cast<uint8_t>(op.opcode) == opcode) return &op;
  }
  return nullptr;
}

}  // namespace systole::isa

#endif  // SYSTOLE_GEN_ISA_H_
