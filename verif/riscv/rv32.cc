// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/riscv/rv32.h"

#include "verif/riscv/bits.h"

namespace systole::riscv {
void Rv32::Trap(uint32_t cause, uint32_t value, Step* step) {
  mepc_ = pc_;
  mcause_ = cause;
  mtval_ = value;
  mstatus_ = (mstatus_ & kMstatusMie) ? kMstatusMpie : 0;
  step->trap = true;
  step->next_pc = mtvec_ & ~0xFFu;
  step->rd = 0;
  step->value = 0;
  step->writes.clear();
}

void Rv32::Interrupt(int number) {
  mepc_ = pc_;
  mcause_ = 1u << 31 | static_cast<uint32_t>(number);
  mtval_ = 0;
  mstatus_ = (mstatus_ & kMstatusMie) ? kMstatusMpie : 0;
  pc_ = (mtvec_ & ~0xFFu) + 4 * static_cast<uint32_t>(number);
}

Step Rv32::Execute() {
  Step step;
  step.pc = pc_;
  if (!memory_->Readable(pc_)) {
    Trap(kInstructionFault, pc_, &step);
    pc_ = step.next_pc;
    return step;
  }
  uint32_t word = memory_->Read(pc_) | memory_->Read(pc_ + 1) << 8;
  uint32_t full = word;
  step.next_pc = pc_ + 2;
  if ((word & 3) == 3) {
    if (!memory_->Readable(pc_ + 2)) {
      Trap(kInstructionFault, pc_ + 2, &step);
      pc_ = step.next_pc;
      return step;
    }
    word |= memory_->Read(pc_ + 2) << 16 |
            static_cast<uint32_t>(memory_->Read(pc_ + 3)) << 24;
    full = word;
    step.next_pc = pc_ + 4;
  } else {
    full = Expand(word);
  }
  step.instruction = word;
  if (!Legal32(full, &step) && !step.trap) {
    Trap(kIllegalInstruction, word, &step);
  }
  if (step.rd) x_[step.rd] = step.value;
  if (!step.rd) step.value = 0;
  pc_ = step.next_pc;
  return step;
}

bool Rv32::Legal32(uint32_t i, Step* step) {
  const uint32_t rs1 = x_[Bits(i, 19, 15)], rs2 = x_[Bits(i, 24, 20)];
  const int f3 = Bits(i, 14, 12);
  step->rd = Bits(i, 11, 7);
  switch (i & 0x7F) {
    case 0x37:
      step->value = i & 0xFFFFF000u;
      return true;
    case 0x17:
      step->value = pc_ + (i & 0xFFFFF000u);
      return true;
    case 0x6F:
      step->value = step->next_pc;
      step->next_pc =
          pc_ + Signed(Bits(i, 31, 31) << 20 | Bits(i, 19, 12) << 12 |
                           Bits(i, 20, 20) << 11 | Bits(i, 30, 21) << 1,
                       21);
      return true;
    case 0x67:
      if (f3) return false;
      step->value = step->next_pc;
      step->next_pc = (rs1 + Signed(Bits(i, 31, 20), 12)) & ~1u;
      return true;
    case 0x63: {
      step->rd = 0;
      const bool less = static_cast<int32_t>(rs1) < static_cast<int32_t>(rs2);
      bool taken = false;
      switch (f3) {
        case 0:
          taken = rs1 == rs2;
          break;
        case 1:
          taken = rs1 != rs2;
          break;
        case 4:
          taken = less;
          break;
        case 5:
          taken = !less;
          break;
        case 6:
          taken = rs1 < rs2;
          break;
        case 7:
          taken = rs1 >= rs2;
          break;
        default:
          return false;
      }
      if (taken) {
        step->next_pc =
            pc_ + Signed(Bits(i, 31, 31) << 12 | Bits(i, 7, 7) << 11 |
                             Bits(i, 30, 25) << 5 | Bits(i, 11, 8) << 1,
                         13);
      }
      return true;
    }
    case 0x03:
    case 0x23:
      return LoadStore(i, step);
    case 0x13:
    case 0x33:
      return Alu(i, step);
    case 0x0F:
      step->rd = 0;
      return f3 <= 1;
    case 0x73:
      return System(i, step);
    default:
      return false;
  }
}

bool Rv32::LoadStore(uint32_t i, Step* step) {
  const bool store = (i & 0x7F) == 0x23;
  const int f3 = Bits(i, 14, 12);
  if (store ? f3 > 2 : f3 == 3 || f3 > 5) return false;
  const uint32_t offset =
      store ? Bits(i, 31, 25) << 5 | Bits(i, 11, 7) : Bits(i, 31, 20);
  const uint32_t addr = x_[Bits(i, 19, 15)] + Signed(offset, 12);
  const int bytes = 1 << (f3 & 3);
  for (int b = 0; b < bytes; b++) {
    if (store ? !memory_->Writable(addr + b) : !memory_->Readable(addr + b)) {
      Trap(store ? kStoreFault : kLoadFault, addr, step);
      return true;
    }
  }
  uint32_t value = 0;
  for (int b = 0; b < bytes; b++) {
    if (store) {
      const uint8_t byte = x_[Bits(i, 24, 20)] >> (8 * b);
      memory_->Write(addr + b, byte);
      step->writes.emplace_back(addr + b, byte);
    } else {
      value |= static_cast<uint32_t>(memory_->Read(addr + b)) << (8 * b);
    }
  }
  if (store) step->rd = 0;
  step->value = f3 == 0   ? Signed(value, 8)
                : f3 == 1 ? Signed(value, 16)
                          : value;
  return true;
}

bool Rv32::Alu(uint32_t i, Step* step) {
  const bool immediate = (i & 0x7F) == 0x13;
  const int f3 = Bits(i, 14, 12), f7 = Bits(i, 31, 25);
  const uint32_t a = x_[Bits(i, 19, 15)];
  const uint32_t b =
      immediate ? Signed(Bits(i, 31, 20), 12) : x_[Bits(i, 24, 20)];
  const int32_t sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  uint32_t& out = step->value;
  if (!immediate && f7 == 1) {
    const bool overflow = a == 0x80000000u && b == 0xFFFFFFFFu;
    switch (f3) {
      case 0:
        out = a * b;
        break;
      case 1:
        out = static_cast<uint64_t>(int64_t{sa} * sb) >> 32;
        break;
      case 2:
        out =
            static_cast<uint64_t>(int64_t{sa} * static_cast<int64_t>(b)) >> 32;
        break;
      case 3:
        out = uint64_t{a} * b >> 32;
        break;
      case 4:
        out = !b ? ~0u : overflow ? a : static_cast<uint32_t>(sa / sb);
        break;
      case 5:
        out = !b ? ~0u : a / b;
        break;
      case 6:
        out = !b ? a : overflow ? 0 : static_cast<uint32_t>(sa % sb);
        break;
      default:
        out = !b ? a : a % b;
        break;
    }
    return true;
  }
  const bool shift = f3 == 1 || f3 == 5;
  const bool other = f7 == 0x20 && (f3 == 5 || (f3 == 0 && !immediate));
  if ((!immediate || shift) && f7 != 0 && !other) return false;
  switch (f3) {
    case 0:
      out = !immediate && f7 == 0x20 ? a - b : a + b;
      break;
    case 1:
      out = a << (b & 31);
      break;
    case 2:
      out = sa < sb;
      break;
    case 3:
      out = a < b;
      break;
    case 4:
      out = a ^ b;
      break;
    case 5:
      out = a >> (b & 31);
      if (f7 == 0x20 && sa < 0 && (b & 31) && !faulty_shift_) {
        out |= ~0u << (32 - (b & 31));
      }
      break;
    case 6:
      out = a | b;
      break;
    default:
      out = a & b;
      break;
  }
  return true;
}

uint32_t* Rv32::Csr(uint32_t number) {
  switch (number) {
    case 0x300:
      return &mstatus_;
    case 0x304:
      return &mie_;
    case 0x305:
      return &mtvec_;
    case 0x340:
      return &mscratch_;
    case 0x341:
      return &mepc_;
    case 0x342:
      return &mcause_;
    case 0x343:
      return &mtval_;
    default:
      return nullptr;
  }
}

void Rv32::WriteCsr(uint32_t number, uint32_t value) {
  uint32_t* const csr = Csr(number);
  switch (number) {
    // Of mstatus, the model implements only the interrupt bits; the others read
    // 0.
    case 0x300:
      *csr = value & (kMstatusMie | kMstatusMpie);
      break;
    // Software, timer, external and 15 fast interrupts.
    case 0x304:
      *csr = value & 0x7FFF0888u;
      break;
    case 0x305:
      *csr = (value & ~0xFFu) | 1;
      break;
    case 0x341:
      *csr = value & ~1u;
      break;
    // Of the cause, the model implements five bits of the number. The manual
    // leaves the upper bits to the processor: bits 30 and 31 distinguish no
    // interrupt, an interrupt and an internal interrupt.
    case 0x342:
      *csr = (value & 0x1Fu) | (value >> 30 == 3   ? 0xFFFFFFE0u
                                : value >> 30 == 2 ? 0x80000000u
                                                   : 0u);
      break;
    default:
      *csr = value;
      break;
  }
}

bool Rv32::System(uint32_t i, Step* step) {
  const int f3 = Bits(i, 14, 12), source = Bits(i, 19, 15);
  const uint32_t number = Bits(i, 31, 20);
  if (f3 == 0) {
    if (source || step->rd) return false;
    switch (number) {
      case 0x000:
        Trap(kMachineCall, 0, step);
        return true;
      case 0x001:
        Trap(kBreakpoint, 0, step);
        return true;
      case 0x302:
        step->next_pc = mepc_;
        mstatus_ = kMstatusMpie | (mstatus_ & kMstatusMpie ? kMstatusMie : 0);
        return true;
      case 0x105:
        return true;
      default:
        return false;
    }
  }
  uint32_t* const csr = Csr(number);
  if (f3 == 4 || !csr) return false;
  const uint32_t operand = f3 & 4 ? static_cast<uint32_t>(source) : x_[source];
  const uint32_t old = *csr;
  step->value = old;
  switch (f3 & 3) {
    case 1:
      WriteCsr(number, operand);
      break;
    case 2:
      if (source) WriteCsr(number, old | operand);
      break;
    default:
      if (source) WriteCsr(number, old & ~operand);
      break;
  }
  return true;
}

}  // namespace systole::riscv
