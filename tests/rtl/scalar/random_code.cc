// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/scalar/random_code.h"

#include <algorithm>
#include <random>
#include <vector>

namespace systole::riscv {
namespace {

constexpr uint32_t kVectors = 0x100, kHandler = 0x180, kBodyEnd = 0x5000;

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::map<uint32_t, uint8_t> Write();

 private:
  uint32_t Below(uint32_t n) {
    return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_);
  }
  uint32_t Word() { return static_cast<uint32_t>(random_()); }
  // Registers that programs may write, and any.
  uint32_t Rd() {
    static constexpr int kFixed[] = {2, 3, 8, 9, 30, 31};
    for (;;) {
      const uint32_t r = Below(32);
      bool fixed = false;
      for (const int f : kFixed) fixed |= r == static_cast<uint32_t>(f);
      if (!fixed) return r;
    }
  }
  // Of the eight that compressed instructions name, from 10 on.
  uint32_t SmallRd() { return 2 + Below(6); }
  uint32_t Rs() { return Below(32); }
  uint32_t Base() {
    static constexpr uint32_t kBases[] = {2, 3, 8, 9};
    return kBases[Below(4)];
  }

  void Put32(uint32_t word) {
    for (int b = 0; b < 4; b++) bytes_[at_++] = word >> (8 * b);
  }
  void Put16(uint32_t half) {
    for (int b = 0; b < 2; b++) bytes_[at_++] = half >> (8 * b);
  }
  void Immediate(uint32_t rd, uint32_t value) {
    Put32(((value + 0x800) & 0xFFFFF000u) | rd << 7 | 0x37);
    Put32((value & 0xFFF) << 20 | rd << 15 | rd << 7 | 0x13);
  }
  void Jump(uint32_t at, uint32_t to);
  void One();
  void Compressed();
  void System();
  void Branch();

  std::mt19937_64 random_;
  std::map<uint32_t, uint8_t> bytes_;
  uint32_t at_ = 0;
  std::vector<uint32_t> branches_;  // to be given a target
};

uint32_t JumpWord(uint32_t offset, uint32_t rd) {
  return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 |
         (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12 | rd << 7 |
         0x6F;
}

void Writer::Jump(uint32_t at, uint32_t to) {
  at_ = at;
  Put32(JumpWord(to - at, 0));
}

void Writer::Compressed() {
  const uint32_t rd = SmallRd(), rs = Below(8), big = Rd(), bits = Below(32);
  switch (Below(10)) {
    case 0:
      Put16(0x4001 | Below(4) << 12 | big << 7 | bits << 2);
      break;
    case 1:
      Put16(0x0001 | Below(2) << 12 | big << 7 | bits << 2);
      break;
    case 2:  // and, or, xor, sub
      Put16(0x8C01 | rd << 7 | Below(4) << 5 | rs << 2);
      break;
    case 3:
      Put16(0x8801 | Below(2) << 12 | rd << 7 | bits << 2);
      break;
    case 4:
      Put16(0x8001 | Below(2) << 10 | rd << 7 | bits << 2);
      break;
    case 5:
      Put16(0x0002 | big << 7 | bits << 2);
      break;
    case 6:  // mv, add
      Put16(0x8002 | Below(2) << 12 | (big ? big : 5) << 7 |
            (1 + Below(31)) << 2);
      break;
    case 7:  // lw and sw through x8 or x9
      Put16(0x4000 | Below(2) << 15 | Below(8) << 10 | Below(2) << 7 |
            Below(4) << 5 | rd << 2);
      break;
    case 8:  // lwsp and swsp
      if (Below(2)) {
        Put16(0x4002 | Below(2) << 12 | (big ? big : 5) << 7 | bits << 2);
      } else {
        Put16(0xC002 | Below(64) << 7 | Below(32) << 2);
      }
      break;
    default:  // addi4spn; its immediate is not 0
      Put16(0x0000 | (1 + Below(255)) << 5 | rd << 2);
      break;
  }
}

void Writer::System() {
  static constexpr uint32_t kCsrs[] = {0x340, 0x341, 0x342, 0x343};
  switch (Below(8)) {
    case 0:
      Put32(0x00000073);
      break;  // ecall
    case 1:
      Put32(0x00100073);
      break;  // ebreak
    case 2:
      Put32(0x0000000F);
      break;  // fence
    case 3:
      Put32(0x30046073 | Below(2) << 12);
      break;  // mstatus.MIE
    case 4:
      Put32(Below(2) ? 0xFFFFFFFF : 0x0000007B);
      break;  // illegal
    case 5:
      Put32(0x304u << 20 | Rs() << 15 | 1 << 12 | Rd() << 7 | 0x73);
      break;
    default: {
      const uint32_t f3 = 1 + Below(3) + 4 * Below(2);
      Put32(kCsrs[Below(4)] << 20 | Rs() << 15 | f3 << 12 | Rd() << 7 | 0x73);
    }
  }
}

void Writer::Branch() {
  static constexpr uint32_t kF3[] = {0, 1, 4, 5, 6, 7};
  if (Below(4) == 0) {  // to what follows, through a register
    Put32(31 << 7 | 0x17);
    Put32(8u << 20 | 31 << 15 | Rd() << 7 | 0x67);
    return;
  }
  branches_.push_back(at_);
  switch (Below(4)) {
    case 0:
      Put32(0x6F | Rd() << 7);
      break;
    case 1:
      Put16(0xA001);  // c.j
      break;
    case 2:
      Put16(0xC001 | Below(2) << 13 | Below(8) << 7);  // c.beqz, c.bnez
      break;
    default:
      Put32(0x63 | Rs() << 20 | Rs() << 15 | kF3[Below(6)] << 12);
  }
}

void Writer::One() {
  const uint32_t rd = Rd() << 7, rs1 = Rs() << 15, rs2 = Rs() << 20;
  switch (Below(16)) {
    case 0:
    case 1: {  // immediate, but shifts
      static constexpr uint32_t kF3[] = {0, 2, 3, 4, 6, 7};
      Put32(Below(4096) << 20 | rs1 | kF3[Below(6)] << 12 | rd | 0x13);
      break;
    }
    case 2: {  // shifts
      const uint32_t right = Below(3);
      Put32((right == 2 ? 0x20u : 0u) << 25 | Below(32) << 20 | rs1 |
            (right ? 5 : 1) << 12 | rd | 0x13);
      break;
    }
    case 3:
    case 4: {
      const uint32_t f3 = Below(8);
      const uint32_t f7 = (f3 == 0 || f3 == 5) && Below(2) ? 0x20u : 0u;
      Put32(f7 << 25 | rs2 | rs1 | f3 << 12 | rd | 0x33);
      break;
    }
    case 5:
      Put32(1u << 25 | rs2 | rs1 | Below(8) << 12 | rd | 0x33);
      break;
    case 6:
      Put32((Word() & 0xFFFFF000u) | rd | (Below(2) ? 0x37 : 0x17));
      break;
    case 7: {  // loads
      static constexpr uint32_t kF3[] = {0, 1, 2, 4, 5};
      Put32(Below(4096) << 20 | Base() << 15 | kF3[Below(5)] << 12 | rd | 0x03);
      break;
    }
    case 8:
      Put32(Below(128) << 25 | rs2 | Base() << 15 | Below(3) << 12 |
            Below(32) << 7 | 0x23);
      break;
    case 9:  // anywhere but programs: x31 is free between the handlers
      Put32((Below(2) ? 0xF0000u : 0xA0000u) << 12 | 31 << 7 | 0x37);
      if (Below(2)) {
        Put32(4u * Below(64) << 20 | 31 << 15 | 2 << 12 | rd | 0x03);
      } else {
        Put32(rs2 | 31 << 15 | 2 << 12 | (4 * Below(8)) << 7 | 0x23);
      }
      break;
    case 10:
      System();
      break;
    case 11:
    case 12:
      Branch();
      break;
    default:
      Compressed();
      break;
  }
}

std::map<uint32_t, uint8_t> Writer::Write() {
  // An interrupt's handler: acknowledges, returns. x31 is not kept: an access
  // through it may go elsewhere, alike in model and processor.
  at_ = kHandler;
  Put32(0x34102FF3);  // csrr x31, mepc
  Put32(0x000FDF03);  // lhu x30, 0(x31)
  Put32(0x003F7F13);  // andi x30, x30, 3
  Put32(0xFFDF0F13);  // addi x30, x30, -3
  Put32(0x001F3F13);  // sltiu x30, x30, 1
  Put32(0x001F1F13);  // slli x30, x30, 1
  Put32(0x01EF8FB3);  // add x31, x31, x30
  Put32(0x002F8F93);  // addi x31, x31, 2
  Put32(0x341F9073);  // csrw mepc, x31
  Put32(0x34302F73);  // csrr x30, mtval
  Put32(0x34202FF3);  // csrr x31, mcause
  Put32(0x30200073);  // mret
  const uint32_t acknowledge = at_;
  Put32((kAcknowledge & 0xFFFFF000u) | 30 << 7 | 0x37);
  Put32(0x34202FF3);  // csrr x31, mcause
  Put32(31u << 20 | 30 << 15 | 2 << 12 | 0x23);
  Put32(0x34102FF3);  // csrr x31, mepc
  Put32(0x30200073);  // mret
  Jump(kVectors, kHandler);
  for (int v = 1; v < 32; v++) Jump(kVectors + 4 * v, acknowledge);

  at_ = kResetVector;
  Immediate(30, kVectors);
  Put32(0x305F1073);  // csrw mtvec, x30
  Immediate(30, 0x7FFF0880);
  Put32(0x304F1073);  // csrw mie, x30
  const uint32_t bases[][2] = {
      {2, 0x8000}, {3, 0x8800}, {8, 0x9000 + Below(4)}, {9, 0x9800}};
  for (const auto& base : bases) Immediate(base[0], base[1]);
  for (uint32_t r = 1; r < 32; r++) {
    if (r != 2 && r != 3 && r != 8 && r != 9) {
      Immediate(r, Below(4) ? Word() : Below(2) ? 0x80000000u : ~0u);
    }
  }
  Put32(0x30046073);  // interrupts on
  std::vector<uint32_t> starts;
  const uint32_t start = at_;
  while (at_ < kBodyEnd) {
    starts.push_back(at_);
    One();
  }
  starts.push_back(at_);
  Immediate(8, 0x9000 + Below(4));
  Jump(at_, start);

  // Branches go a few instructions ahead; the body's end goes back to its
  // start.
  for (const uint32_t from : branches_) {
    size_t i = 0;
    while (starts[i] != from) i++;
    const size_t to = std::min(starts.size() - 1, i + 1 + Below(12));
    const uint32_t offset = starts[to] - from;
    at_ = from;
    const uint32_t low = bytes_[from] | bytes_[from + 1] << 8;
    const auto bit = [&](int b) { return offset >> b & 1; };
    if ((low & 3) != 3) {
      const bool jump = (low & 0xE003) == 0xA001;
      Put16(low |
            (jump ? bit(11) << 12 | bit(4) << 11 | bit(9) << 10 | bit(8) << 9 |
                        bit(10) << 8 | bit(6) << 7 | bit(7) << 6 | bit(3) << 5 |
                        bit(2) << 4 | bit(1) << 3 | bit(5) << 2
                  : bit(8) << 12 | bit(4) << 11 | bit(3) << 10 | bit(7) << 6 |
                        bit(6) << 5 | bit(2) << 4 | bit(1) << 3 | bit(5) << 2));
      continue;
    }
    const uint32_t word = low | bytes_[from + 2] << 16 |
                          static_cast<uint32_t>(bytes_[from + 3]) << 24;
    if ((word & 0x7F) == 0x6F) {
      Put32(JumpWord(offset, word >> 7 & 31));
    } else {
      Put32(word | bit(12) << 31 | (offset >> 5 & 0x3F) << 25 |
            (offset >> 1 & 0xF) << 8 | bit(11) << 7);
    }
  }
  return bytes_;
}

}  // namespace

std::map<uint32_t, uint8_t> RandomCode(uint64_t seed) {
  return Writer(seed).Write();
}

}  // namespace systole::riscv
