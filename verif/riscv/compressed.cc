// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

// Expands compressed instructions to the 32-bit ones that they stand for.

#include "verif/riscv/bits.h"
#include "verif/riscv/rv32.h"

namespace systole::riscv {
namespace {

// Encoders of the 32-bit formats that compressed instructions expand to.
uint32_t R(int f7, int rs2, int rs1, int f3, int rd, int op) {
  return static_cast<uint32_t>(f7) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
         rd << 7 | op;
}
uint32_t I(uint32_t imm, int rs1, int f3, int rd, int op) {
  return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
uint32_t S(uint32_t imm, int rs2, int rs1, int f3) {
  return Bits(imm, 11, 5) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
         Bits(imm, 4, 0) << 7 | 0x23;
}
uint32_t B(uint32_t imm, int rs1, int f3) {
  return Bits(imm, 12, 12) << 31 | Bits(imm, 10, 5) << 25 | rs1 << 15 |
         f3 << 12 | Bits(imm, 4, 1) << 8 | Bits(imm, 11, 11) << 7 | 0x63;
}
uint32_t J(uint32_t imm, int rd) {
  return Bits(imm, 20, 20) << 31 | Bits(imm, 10, 1) << 21 |
         Bits(imm, 11, 11) << 20 | Bits(imm, 19, 12) << 12 | rd << 7 | 0x6F;
}

uint32_t ExpandQuadrant0(uint32_t c, int f3, int rs1, int rs2) {
  const uint32_t word =
      Bits(c, 5, 5) << 6 | Bits(c, 12, 10) << 3 | Bits(c, 6, 6) << 2;
  switch (f3) {
    case 0: {
      const uint32_t imm = Bits(c, 10, 7) << 6 | Bits(c, 12, 11) << 4 |
                           Bits(c, 5, 5) << 3 | Bits(c, 6, 6) << 2;
      return imm ? I(imm, 2, 0, rs2, 0x13) : 0;
    }
    case 2:
      return I(word, rs1, 2, rs2, 0x03);
    case 6:
      return S(word, rs2, rs1, 2);
    default:
      return 0;
  }
}

uint32_t ExpandQuadrant1(uint32_t c, int f3, int rd, int rs1, int rs2) {
  const uint32_t imm6 = Signed(Bits(c, 12, 12) << 5 | Bits(c, 6, 2), 6);
  const uint32_t jump =
      Signed(Bits(c, 12, 12) << 11 | Bits(c, 8, 8) << 10 | Bits(c, 10, 9) << 8 |
                 Bits(c, 6, 6) << 7 | Bits(c, 7, 7) << 6 | Bits(c, 2, 2) << 5 |
                 Bits(c, 11, 11) << 4 | Bits(c, 5, 3) << 1,
             12);
  const uint32_t branch =
      Signed(Bits(c, 12, 12) << 8 | Bits(c, 6, 5) << 6 | Bits(c, 2, 2) << 5 |
                 Bits(c, 11, 10) << 3 | Bits(c, 4, 3) << 1,
             9);
  switch (f3) {
    case 0:
      return I(imm6, rd, 0, rd, 0x13);
    case 1:
      return J(jump, 1);
    case 2:
      return I(imm6, 0, 0, rd, 0x13);
    case 3: {
      if (rd != 2) {
        return imm6 ? (imm6 << 12) | static_cast<uint32_t>(rd) << 7 | 0x37 : 0;
      }
      const uint32_t imm = Signed(Bits(c, 12, 12) << 9 | Bits(c, 4, 3) << 7 |
                                      Bits(c, 5, 5) << 6 | Bits(c, 2, 2) << 5 |
                                      Bits(c, 6, 6) << 4,
                                  10);
      return imm ? I(imm, 2, 0, 2, 0x13) : 0;
    }
    case 4: {
      const int shift = Bits(c, 6, 2);
      switch (Bits(c, 11, 10)) {
        case 0:
          return Bits(c, 12, 12) ? 0 : R(0, shift, rs1, 5, rs1, 0x13);
        case 1:
          return Bits(c, 12, 12) ? 0 : R(0x20, shift, rs1, 5, rs1, 0x13);
        case 2:
          return I(imm6, rs1, 7, rs1, 0x13);
        default:
          break;
      }
      if (Bits(c, 12, 12)) return 0;
      switch (Bits(c, 6, 5)) {
        case 0:
          return R(0x20, rs2, rs1, 0, rs1, 0x33);
        case 1:
          return R(0, rs2, rs1, 4, rs1, 0x33);
        case 2:
          return R(0, rs2, rs1, 6, rs1, 0x33);
        default:
          return R(0, rs2, rs1, 7, rs1, 0x33);
      }
    }
    case 5:
      return J(jump, 0);
    case 6:
      return B(branch, rs1, 0);
    default:
      return B(branch, rs1, 1);
  }
}

uint32_t ExpandQuadrant2(uint32_t c, int f3, int rd) {
  const int rs2 = Bits(c, 6, 2);
  switch (f3) {
    case 0:
      return Bits(c, 12, 12) ? 0 : R(0, rs2, rd, 1, rd, 0x13);
    case 2: {
      const uint32_t imm =
          Bits(c, 3, 2) << 6 | Bits(c, 12, 12) << 5 | Bits(c, 6, 4) << 2;
      return rd ? I(imm, 2, 2, rd, 0x03) : 0;
    }
    case 4:
      if (!Bits(c, 12, 12)) {
        if (rs2) return R(0, rs2, 0, 0, rd, 0x33);
        return rd ? I(0, rd, 0, 0, 0x67) : 0;
      }
      if (rs2) return R(0, rs2, rd, 0, rd, 0x33);
      return rd ? I(0, rd, 0, 1, 0x67) : 0x00100073;
    case 6:
      return S(Bits(c, 8, 7) << 6 | Bits(c, 12, 9) << 2, rs2, 2, 2);
    default:
      return 0;
  }
}

}  // namespace

uint32_t Rv32::Expand(uint32_t c) {
  const int f3 = Bits(c, 15, 13);
  const int low1 = 8 + Bits(c, 9, 7), low2 = 8 + Bits(c, 4, 2);
  switch (c & 3) {
    case 0:
      return ExpandQuadrant0(c, f3, low1, low2);
    case 1:
      return ExpandQuadrant1(c, f3, Bits(c, 11, 7), low1, low2);
    default:
      return ExpandQuadrant2(c, f3, Bits(c, 11, 7));
  }
}

}  // namespace systole::riscv
