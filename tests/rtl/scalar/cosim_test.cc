// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit's processor beside the instruction-set model of verif/riscv:
// random programs, held grants and late answers of the memory, interrupts; each
// retired instruction is compared, with what it writes.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>

#include "VCpuBench.h"
#include "absl/strings/str_format.h"
#include "tests/rtl/scalar/random_code.h"
#include "tests/testing/seeds.h"
#include "verif/riscv/rv32.h"
#include "verif/views/print.h"

namespace systole::riscv {
namespace {

class Sparse : public Memory {
 public:
  explicit Sparse(const std::map<uint32_t, uint8_t>& image)
      : bytes_(image.begin(), image.end()) {}
  bool Readable(uint32_t addr) const override { return addr < kRefused; }
  bool Writable(uint32_t addr) const override { return addr < kRefused; }
  uint8_t Read(uint32_t addr) const override {
    const auto it = bytes_.find(addr);
    return it != bytes_.end() ? it->second : (addr * 0x9E3779B1u) >> 24;
  }
  void Write(uint32_t addr, uint8_t value) override { bytes_[addr] = value; }
  uint32_t Word(uint32_t addr) const {
    addr &= ~3u;
    return Read(addr) | Read(addr + 1) << 8 | Read(addr + 2) << 16 |
           static_cast<uint32_t>(Read(addr + 3)) << 24;
  }

 private:
  std::unordered_map<uint32_t, uint8_t> bytes_;
};

struct Faults {
  uint64_t wrong_load =
      0;  // of this load (from 1) the processor sees a bit turned over
  bool shift = false;  // the model's
};

struct Outcome {
  uint64_t instructions = 0, traps = 0, interrupts = 0, cycles = 0;
  std::string mismatch;  // the first; empty: none
};

// One port of the bench's memory: grants and answers at random.
struct Port {
  struct Answer {
    uint32_t data;
    bool refused;
    int wait;
  };
  std::deque<Answer> answers;
};

class Bench {
 public:
  Bench(uint64_t seed, const Faults& faults)
      : faults_(faults),
        random_(seed),
        image_(RandomCode(seed)),
        rtl_(image_),
        golden_(image_),
        model_(&golden_, kResetVector),
        context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed & 0x7FFFFFFF) | 1);
    top_ = std::make_unique<VCpuBench>(context_.get());
    if (faults.shift) model_.SeedFault();
    stall_ = Below(3) * 96;
  }
  ~Bench() { top_->final(); }

  Outcome Run(uint64_t instructions) {
    std::string text;  // Ibex tells each illegal instruction
    views::printed = &text;
    RunUntil(instructions);
    views::printed = nullptr;
    return outcome_;
  }

 private:
  void RunUntil(uint64_t instructions) {
    top_->rst_ni = 0;
    top_->irq_i = 0;
    for (int i = 0; i < 8; i++) Clock();
    top_->rst_ni = 1;
    uint64_t at = 0;
    while (outcome_.mismatch.empty() && outcome_.instructions < instructions) {
      Drive();
      top_->clk_i = 0;
      top_->eval();
      Accept();
      if (top_->valid_o) {
        Retire();
        at = outcome_.cycles;
      }
      Interrupts();
      top_->clk_i = 1;
      top_->eval();
      outcome_.cycles++;
      if (outcome_.cycles - at > 2000) {
        outcome_.mismatch = absl::StrFormat(
            "no instruction in 2000 cycles after pc 0x%08x", model_.pc());
      }
    }
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool Held() { return stall_ && Below(256) < stall_; }
  void Clock() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }

  void Drive() {
    top_->instr_gnt_i = instr_.answers.size() < 2 && !Held();
    top_->data_gnt_i = data_.answers.empty() && !Held();
    const auto answer = [&](Port& port, auto& valid, auto& data, auto& error) {
      valid = 0;
      if (port.answers.empty()) return;
      if (port.answers.front().wait-- > 0) return;
      valid = 1;
      data = port.answers.front().data;
      error = port.answers.front().refused;
      port.answers.pop_front();
    };
    answer(instr_, top_->instr_rvalid_i, top_->instr_rdata_i,
           top_->instr_err_i);
    answer(data_, top_->data_rvalid_i, top_->data_rdata_i, top_->data_err_i);
  }

  int Wait() { return Held() ? static_cast<int>(Below(6)) : 0; }

  void Accept() {
    if (top_->instr_req_o && top_->instr_gnt_i) {
      instr_.answers.push_back({rtl_.Word(top_->instr_addr_o),
                                !rtl_.Readable(top_->instr_addr_o), Wait()});
    }
    if (!top_->data_req_o || !top_->data_gnt_i) return;
    const uint32_t addr = top_->data_addr_o;
    const bool refused = !rtl_.Readable(addr);
    uint32_t data = rtl_.Word(addr);
    if (!top_->data_we_o && !refused && ++loads_ == faults_.wrong_load) {
      data = ~data;
    }
    data_.answers.push_back({data, refused, Wait()});
    if (!top_->data_we_o || refused) return;
    for (int b = 0; b < 4; b++) {
      if (!(top_->data_be_o >> b & 1)) continue;
      const uint8_t byte = top_->data_wdata_o >> (8 * b);
      rtl_.Write(addr + b, byte);
      writes_.emplace_back(addr + b, byte);
    }
    if (addr == kAcknowledge && line_ >= 0) {
      acknowledged_ = line_;
      line_ = -1;
    }
  }

  // One line at a time, so that it is known which one is taken.
  void Interrupts() {
    if (line_ < 0 && Below(300) == 0) {
      line_ = static_cast<int>(Below(16));
      raised_ = outcome_.instructions;
    }
    if (line_ >= 0 && outcome_.instructions - raised_ > 3000) line_ = -1;
    top_->irq_i = line_ < 0 ? 0 : 1u << line_;
  }
  static int Number(int line) {
    return line == 0 ? 7 : line == 1 ? 11 : 14 + line;
  }

  void Fail(const std::string& what) {
    if (!outcome_.mismatch.empty()) return;
    outcome_.mismatch =
        absl::StrFormat("instruction %d, cycle %d, pc 0x%08x, 0x%08x: %s",
                        outcome_.instructions, outcome_.cycles, top_->pc_o,
                        top_->instruction_o, what);
  }
  void Same(const char* what, uint32_t rtl, uint32_t model) {
    if (rtl != model) {
      Fail(absl::StrFormat("%s 0x%x, the model has 0x%x", what, rtl, model));
    }
  }

  void Retire() {
    outcome_.instructions++;
    if (top_->interrupt_o && top_->pc_o != model_.pc()) {
      const int line = line_ >= 0 ? line_ : acknowledged_;
      if (line < 0 || !model_.CanInterrupt(Number(line))) {
        Fail("an interrupt that is not pending and enabled was taken");
        return;
      }
      model_.Interrupt(Number(line));
      outcome_.interrupts++;
    }
    const Step step = model_.Execute();
    Same("pc", top_->pc_o, step.pc);
    Same("trap", top_->trap_o, step.trap);
    if (!step.trap || step.instruction) {
      Same("instruction", top_->instruction_o, step.instruction);
    }
    outcome_.traps += step.trap;
    if (!step.trap) {
      // RVFI does not follow returns from traps; the next pc is compared.
      if ((step.instruction & 0x7F) != 0x73) {
        Same("next pc", top_->next_pc_o, step.next_pc);
      }
      Same("rd", top_->rd_o, step.rd);
      if (step.rd) Same("value", top_->value_o, step.value);
    }
    for (const auto& [addr, byte] : step.writes) {
      if (writes_.empty()) {
        Fail(absl::StrFormat("no write of 0x%08x", addr));
        return;
      }
      Same("address of a write", writes_.front().first, addr);
      Same("byte written", writes_.front().second, byte);
      writes_.pop_front();
    }
    // What an instruction behind this one may have written already.
    if (writes_.size() > 4) Fail("more was written than the model writes");
  }

  const Faults faults_;
  std::mt19937_64 random_;
  const std::map<uint32_t, uint8_t> image_;
  Sparse rtl_, golden_;
  Rv32 model_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VCpuBench> top_;
  Port instr_, data_;
  std::deque<std::pair<uint32_t, uint8_t>> writes_;
  uint64_t loads_ = 0, raised_ = 0;
  int line_ = -1, acknowledged_ = -1;
  uint32_t stall_ = 0;
  Outcome outcome_;
};

TEST(Cosim, RandomPrograms) {
  uint64_t instructions = 0, traps = 0, interrupts = 0;
  for (const uint64_t seed : testing_options::Seeds(15)) {
    const Outcome o = Bench(seed, {}).Run(10000);
    ASSERT_EQ(o.mismatch, "") << "seed " << seed;
    instructions += o.instructions;
    traps += o.traps;
    interrupts += o.interrupts;
  }
  std::printf("%llu instructions, %llu traps, %llu interrupts\n",
              static_cast<unsigned long long>(instructions),
              static_cast<unsigned long long>(traps),
              static_cast<unsigned long long>(interrupts));
  EXPECT_GT(traps, instructions / 200);
  EXPECT_GT(interrupts, instructions / 2000);
}

TEST(Cosim, WrongLoadIsSeen) {
  EXPECT_NE(Bench(1, {.wrong_load = 20}).Run(20000).mismatch, "");
}

TEST(Cosim, WrongShiftIsSeen) {
  EXPECT_NE(Bench(1, {.shift = true}).Run(20000).mismatch, "");
}

}  // namespace
}  // namespace systole::riscv
