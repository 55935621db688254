// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Instruction-set model of the scalar unit's processor: RV32IMC, machine mode,
// vectored traps. It is written only from the RISC-V manuals (unprivileged
// 20191213, privileged 1.12) and shares nothing with the RTL. Misaligned
// accesses are carried out byte by byte.
//
//   riscv::Rv32 model(memory, 0x1080);
//   const riscv::Step step = model.Execute();  // one instruction, or its trap
//   model.Interrupt(11);  // the next instruction is the first of its handler

#ifndef SYSTOLE_VERIF_RISCV_RV32_H_
#define SYSTOLE_VERIF_RISCV_RV32_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace systole::riscv {

// Bytes at 32-bit addresses. Refusing an access causes an access fault.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual bool Readable(uint32_t addr) const = 0;
  virtual bool Writable(uint32_t addr) const = 0;
  virtual uint8_t Read(uint32_t addr) const = 0;
  virtual void Write(uint32_t addr, uint8_t value) = 0;
};

inline constexpr uint32_t kMstatusMie = 1u << 3, kMstatusMpie = 1u << 7;

enum Cause : uint32_t {
  kInstructionFault = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadFault = 5,
  kStoreFault = 7,
  kMachineCall = 11,
};

// The effects of one instruction.
struct Step {
  uint32_t pc = 0, next_pc = 0;
  uint32_t instruction = 0;  // 16 or 32 bits
  bool trap = false;
  int rd = 0;  // 0: none
  uint32_t value = 0;
  std::vector<std::pair<uint32_t, uint8_t>> writes;
};

class Rv32 {
 public:
  Rv32(Memory* memory, uint32_t pc) : memory_(memory), pc_(pc) {}

  Step Execute();
  // Enters the handler of interrupt `number`, even if CanInterrupt does not
  // allow it.
  void Interrupt(int number);
  // Whether machine mode takes the interrupt: mstatus and mie enable it.
  bool CanInterrupt(int number) const {
    return (mstatus_ & kMstatusMie) && (mie_ >> number & 1);
  }

  uint32_t pc() const { return pc_; }
  uint32_t reg(int i) const { return x_[i]; }
  // A seeded fault: arithmetic right shifts are logical.
  void SeedFault() { faulty_shift_ = true; }

 private:
  void Trap(uint32_t cause, uint32_t value, Step* step);
  bool Legal32(uint32_t instruction, Step* step);
  bool Alu(uint32_t instruction, Step* step);
  bool LoadStore(uint32_t instruction, Step* step);
  bool System(uint32_t instruction, Step* step);
  uint32_t* Csr(uint32_t number);
  void WriteCsr(uint32_t number, uint32_t value);
  static uint32_t Expand(uint32_t half);  // 0: illegal

  Memory* memory_;
  uint32_t pc_;
  std::array<uint32_t, 32> x_{};
  uint32_t mstatus_ = 0, mie_ = 0, mtvec_ = 1, mscratch_ = 0, mepc_ = 0,
           mcause_ = 0, mtval_ = 0;
  bool faulty_shift_ = false;
};

}  // namespace systole::riscv

#endif  // SYSTOLE_VERIF_RISCV_RV32_H_
