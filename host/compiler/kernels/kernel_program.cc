// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/kernel_program.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "host/compiler/kernels/code_placement.h"
#include "host/program/vpu_asm.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

// The field `hbm_addr` of loads and stores.
constexpr int kAddressBit = 96, kAddressBits = 36;
// The fields `pc` of a run and `addr` of a load of code.
constexpr int kRunPcBit = 480, kLoadPcBit = 121, kPcBits = 11;

compiler::Plan EmptyPlan(const Preset& preset) {
  compiler::Plan plan;
  plan.name = "kernel";
  plan.preset = &preset;
  plan.ub_bytes = preset.ub_bytes;
  return plan;
}

}  // namespace

void MoveCode(absl::Span<uint64_t> code, int64_t by) {
  for (uint64_t& word : code) {
    vpu::Instr x = vpu::Instr::Decode(word);
    if (x.op != vpu::Op::kBeq && x.op != vpu::Op::kBne && x.op != vpu::Op::kBlt)
      continue;
    x.imm += static_cast<int32_t>(by);
    x.c = x.cm = 0;  // bits of the old target
    word = x.Encode();
  }
}

void MoveCode(isa::Descriptor& descriptor, int64_t by) {
  const isa::Opcode opcode = compiler::OpcodeOf(descriptor);
  const int bit = opcode == isa::Opcode::kVrun    ? kRunPcBit
                  : opcode == isa::Opcode::kVload ? kLoadPcBit
                                                  : -1;
  if (bit < 0) return;
  isa::PutBits(descriptor, bit, kPcBits,
               isa::GetBits(descriptor, bit, kPcBits) + by);
}

void MoveCode(KernelProgram& program, int64_t by) {
  // What follows the code is data.
  MoveCode(absl::MakeSpan(program.words).first(CodeOf(program).count), by);
  for (compiler::Step& step : program.steps) MoveCode(step.descriptor, by);
  for (isa::Descriptor& d : program.descriptors) MoveCode(d, by);
}

bool IsDma(const isa::Descriptor& d) {
  const isa::Opcode opcode = compiler::OpcodeOf(d);
  return opcode == isa::Opcode::kLoad || opcode == isa::Opcode::kStore ||
         opcode == isa::Opcode::kSend;
}

int64_t HbmAddressOf(const isa::Descriptor& d) {
  return static_cast<int64_t>(isa::GetBits(d, kAddressBit, kAddressBits));
}

void SetHbmAddress(isa::Descriptor& d, int64_t address) {
  isa::PutBits(d, kAddressBit, kAddressBits, static_cast<uint64_t>(address));
}

std::vector<KernelProgram::Patch> PatchesOf(
    const std::vector<isa::Descriptor>& descriptors,
    const std::vector<int64_t>& bases) {
  std::vector<KernelProgram::Patch> patches;
  for (size_t i = 0; i < descriptors.size(); ++i) {
    if (!IsDma(descriptors[i])) continue;
    const int64_t address = HbmAddressOf(descriptors[i]);
    const auto above = std::upper_bound(bases.begin(), bases.end(), address);
    const int operand = static_cast<int>(above - bases.begin()) - 1;
    patches.push_back({static_cast<int>(i), operand,
                       address - (operand < 0 ? 0 : bases[operand])});
  }
  return patches;
}

std::vector<isa::Descriptor> KernelProgram::Placed(
    absl::Span<const uint64_t> operands, uint64_t code) const {
  std::vector<isa::Descriptor> placed = descriptors;
  for (const Patch& patch : patches) {
    const uint64_t base = patch.operand < 0 ? code : operands[patch.operand];
    SetHbmAddress(placed[patch.descriptor],
                  static_cast<int64_t>(base) + patch.offset);
  }
  return placed;
}

KernelBuilder::KernelBuilder(const Preset& preset, int64_t origin)
    : preset_(preset),
      schedule_(preset),
      plan_(EmptyPlan(preset)),
      placer_(plan_.ub_bytes, plan_.align()) {
  // The code is at address 0 of both memories.
  next_ = Place("code", 8 * vpu::kImemWords).count;
  if (origin > next_) Place("others", origin - next_);
  fixed_ = placer_.Mark();
}

KernelBuilder::Bytes KernelBuilder::Place(const char* name, int64_t bytes) {
  const int64_t count = Align(std::max<int64_t>(bytes, 1));
  const std::optional<int> placed =
      placer_.Place({name, count, 0, 0, {}, compiler::kNowhere});
  if (placed) return {placer_.buffers()[*placed].at, count};
  if (status_.ok()) {
    status_ = absl::ResourceExhaustedError(
        absl::StrFormat("the unified buffer is too small: %s needs %d bytes, "
                        "%d of %d are free",
                        name, count, Room(), preset_.ub_bytes));
  }
  return {0, count};
}

int64_t KernelBuilder::Room() const {
  return preset_.ub_bytes - placer_.Used(0, 0);
}

void KernelBuilder::ReleaseAll() {
  placer_.Release(fixed_);
  status_ = absl::OkStatus();
}

int KernelBuilder::AddOperand(int64_t bytes) {
  bases_.push_back(next_);
  program_.bytes.push_back(bytes);
  next_ += Align(std::max<int64_t>(bytes, 1));
  return static_cast<int>(bases_.size()) - 1;
}

void KernelBuilder::SetCode(std::vector<uint64_t> words, int pc) {
  const vpu::CodeLoad in =
      vpu::LoadCode(0, 0, static_cast<int64_t>(words.size()), pc);
  program_.words = std::move(words);
  schedule_.Append(in.load);
  schedule_.Append(in.vload);
}

template <typename Dma>
Dma KernelBuilder::Move(int operand, int64_t offset, int64_t ub,
                        int64_t bytes) const {
  Dma d;
  d.hbm_addr = bases_[operand] + offset;
  d.ub_addr = static_cast<uint32_t>(ub);
  d.len = static_cast<uint32_t>(bytes);
  d.n1 = d.n2 = 1;
  return d;
}

void KernelBuilder::Load(int operand, int64_t offset, int64_t ub,
                         int64_t bytes) {
  program_.load_bytes += bytes;
  schedule_.Append(Move<isa::Load>(operand, offset, ub, bytes));
}

void KernelBuilder::Store(int operand, int64_t offset, int64_t ub,
                          int64_t bytes) {
  StoreRuns(operand, offset, ub, bytes, {});
}

void KernelBuilder::LoadRuns(int operand, int64_t offset, int64_t ub,
                             int64_t bytes,
                             const std::vector<Repeat>& repeats) {
  program_.load_bytes +=
      AppendRuns(Move<isa::Load>(operand, offset, ub, bytes), bytes, repeats);
}

void KernelBuilder::StoreRuns(int operand, int64_t offset, int64_t ub,
                              int64_t bytes,
                              const std::vector<Repeat>& repeats) {
  program_.store_bytes +=
      AppendRuns(Move<isa::Store>(operand, offset, ub, bytes), bytes, repeats);
}

template <typename Dma>
int64_t KernelBuilder::AppendRuns(Dma dma, int64_t bytes,
                                  const std::vector<Repeat>& repeats) {
  if (!repeats.empty()) {
    dma.n1 = static_cast<uint32_t>(repeats[0].count);
    dma.hbm_stride1 = repeats[0].hbm;
    dma.ub_stride1 = static_cast<uint32_t>(repeats[0].ub);
    bytes *= repeats[0].count;
  }
  if (repeats.size() > 1) {
    dma.n2 = static_cast<uint32_t>(repeats[1].count);
    dma.hbm_stride2 = repeats[1].hbm;
    dma.ub_stride2 = static_cast<uint32_t>(repeats[1].ub);
    bytes *= repeats[1].count;
  }
  schedule_.Append(dma);
  return bytes;
}

void KernelBuilder::LoadRows(int operand, int64_t offset, int64_t ub,
                             int64_t bytes, const Rows& rows) {
  program_.load_bytes +=
      AppendRows(Move<isa::Load>(operand, offset, ub, bytes), operand, rows);
}

void KernelBuilder::StoreRows(int operand, int64_t offset, int64_t ub,
                              int64_t bytes, const Rows& rows) {
  program_.store_bytes +=
      AppendRows(Move<isa::Store>(operand, offset, ub, bytes), operand, rows);
}

template <typename Dma>
int64_t KernelBuilder::AppendRows(Dma dma, int operand, const Rows& rows) {
  dma.header.flags |= Dma::kIndexed;
  dma.n2 = static_cast<uint32_t>(rows.count);
  dma.ub_stride2 = static_cast<uint32_t>(rows.ub_stride);
  dma.index_addr = static_cast<uint32_t>(rows.table);
  compiler::Access all;  // any of its rows
  all.space = compiler::Space::kHbm;
  all.write = std::is_same_v<Dma, isa::Store>;
  all.base = bases_[operand];
  all.len = Align(program_.bytes[operand]);
  schedule_.Append(dma, all);
  return rows.count * dma.len;
}

void KernelBuilder::LoadData(const std::vector<uint32_t>& data, int64_t ub) {
  const auto bytes = static_cast<int64_t>(4 * data.size());
  std::vector<uint64_t>& words = program_.words;
  data_offset_ = Align(static_cast<int64_t>(8 * words.size()));
  words.resize(data_offset_ / 8);
  for (size_t i = 0; i < data.size(); i += 2) {
    const uint64_t upper = i + 1 < data.size() ? data[i + 1] : 0;
    words.push_back(upper << 32 | data[i]);
  }
  data_ = next_;
  next_ += Align(bytes);
  isa::Load load;
  load.hbm_addr = data_;
  load.ub_addr = static_cast<uint32_t>(ub);
  load.len = static_cast<uint32_t>(bytes);
  load.n1 = load.n2 = 1;
  program_.load_bytes += bytes;
  schedule_.Append(load);
}

void KernelBuilder::Run(int pc, const std::vector<int64_t>& arguments,
                        const std::vector<Bytes>& reads,
                        const std::vector<Bytes>& writes, int64_t cycles) {
  isa::Vrun run;
  run.pc = static_cast<uint32_t>(pc);
  for (size_t i = 0; i < arguments.size(); ++i)
    run.args[i] = static_cast<uint32_t>(arguments[i]);
  std::vector<compiler::Access> accesses;
  for (const std::vector<Bytes>* list : {&reads, &writes}) {
    for (const Bytes& bytes : *list) {
      compiler::Access access;
      access.write = list == &writes;
      access.base = bytes.at;
      access.len = bytes.count;
      accesses.push_back(access);
    }
  }
  schedule_.Append(run, std::move(accesses), cycles);
}

void AddCosts(const compiler::Schedule& schedule,
              std::vector<KernelCost>& costs) {
  const compiler::Timeline& t = schedule.timeline;
  const size_t last = costs.size() - 1;
  const auto kernel_of = [&](size_t step) {
    return std::min<size_t>(compiler::TagOf(schedule.descriptors[step]), last);
  };
  std::vector<int64_t> end(costs.size(), 0);
  for (size_t i = 0; i < t.end.size(); ++i)
    end[kernel_of(i)] = std::max(end[kernel_of(i)], t.end[i]);
  std::vector<int64_t> begin(costs.size(), 0);
  for (size_t k = 0; k < costs.size(); ++k) {
    costs[k].cycles = std::max<int64_t>(0, end[k] - begin[k]);
    if (k < last) begin[k + 1] = std::max(begin[k], end[k]);
  }
  // A unit's descriptors follow each other.
  std::array<int64_t, isa::kNumQueues> free{};
  for (size_t i = 0; i < t.end.size(); ++i) {
    const size_t k = kernel_of(i);
    const auto queue =
        static_cast<size_t>(compiler::QueueOf(schedule.descriptors[i]));
    const int64_t from = std::max({t.start[i], free[queue], begin[k]});
    costs[k].busy[queue] += std::max<int64_t>(0, t.end[i] - from);
    free[queue] = std::max(free[queue], t.end[i]);
  }
}

absl::StatusOr<KernelProgram> KernelBuilder::Finish() {
  if (!status_.ok()) return status_;
  plan_.buffers = placer_.buffers();
  for (const compiler::PlanBuffer& buffer : plan_.buffers)
    program_.ub_end = std::max(program_.ub_end, buffer.at + buffer.bytes);
  if (absl::Status s = Verify(plan_); !s.ok()) return s;
  absl::StatusOr<compiler::Sequence> sequence = schedule_.Ordered();
  if (!sequence.ok()) return sequence.status();
  absl::StatusOr<compiler::Schedule> schedule =
      compiler::ScheduleOfOrdered(*sequence);
  if (!schedule.ok()) return schedule.status();
  program_.steps = std::move(sequence->steps);
  program_.expected_cycles = schedule->estimated_cycles;
  int64_t bytes = program_.load_bytes + program_.store_bytes;
  bytes = std::min(bytes, std::accumulate(program_.bytes.begin(),
                                          program_.bytes.end(), int64_t{0}));
  program_.costs.resize(1);
  program_.costs[0].memory_cycles = bytes / preset_.beat_bytes();
  AddCosts(*schedule, program_.costs);
  program_.descriptors = std::move(schedule->descriptors);
  program_.bases = bases_;
  program_.patches = PatchesOf(program_.descriptors, bases_);
  for (KernelProgram::Patch& patch : program_.patches) {
    // The data lies behind the operands, and in the program behind the code.
    const int64_t address =
        HbmAddressOf(program_.descriptors[patch.descriptor]);
    if (data_ >= 0 && address >= data_)
      patch = {patch.descriptor, -1, data_offset_ + address - data_};
  }
  return std::move(program_);
}

}  // namespace systole::lanes
