// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/profile/recorder.h"

#include <algorithm>
#include <utility>

#include "host/compiler/access.h"

namespace systole::profile {
namespace {

// Waits for a flag; whose it is is known when it comes.
constexpr int kUnclear = kNumCauses;
// After a row was opened, its columns may still be waited for (tRCD, and the
// data's way back).
constexpr uint64_t kRowCycles = 32;

constexpr std::array<const char*, kNumUnits> kUnitNames = {
    "load",  "weight loader", "array",     "vector unit",
    "store", "send",          "sequencer", "memory"};
constexpr std::array<const char*, kNumCauses> kCauseNames = {
    "working",
    "starts and ends of descriptors",
    "transposing",
    "no weights",
    "array not free for the next tile",
    "sums on their way",
    "unified buffer port",
    "accumulator port",
    "weight FIFO full",
    "memory busy",
    "memory latency",
    "network busy",
    "flag of load",
    "flag of weight loader",
    "flag of array",
    "flag of vector unit",
    "flag of store",
    "flag of send",
    "flag of another core",
    "dispatch behind a full queue",
    "fetch of descriptors",
    "no work left",
    "read",
    "write",
    "read and write",
    "refresh",
    "opening rows",
    "no request",
    "no program"};

const isa::Header HeaderOf(const isa::Descriptor& d) {
  return isa::Halt::Decode(d).header;
}

// A post is seen by the wait that takes it in the next cycle.
constexpr uint64_t kPostCycles = 1;

bool Bit(uint32_t bits, int at) { return (bits >> at & 1) != 0; }

}  // namespace

const char* UnitName(Unit unit) { return kUnitNames[static_cast<int>(unit)]; }
const char* CauseName(Cause cause) {
  return kCauseNames[static_cast<int>(cause)];
}
bool HasUnit(const Preset& preset, Unit unit) {
  return unit != Unit::kSend || preset.chip.link_bytes != 0;
}

uint32_t ForeignFlags(const Preset& preset) {
  const auto from = [](int first, int count) {
    return ((uint32_t{1} << count) - 1) << first;
  };
  return (preset.chip.cores > 1
              ? from(isa::kFirstPeerFlag, isa::kNumFlags - isa::kFirstPeerFlag)
              : 0) |
         (preset.chip.link_bytes != 0
              ? from(isa::kFirstLinkFlag, isa::kNumLinkFlags)
              : 0);
}

Recorder::Recorder(std::vector<const Program*> programs)
    : programs_(std::move(programs)), recordings_(programs_.size()) {}

void Recorder::Begin() {
  if (next_ == programs_.size()) next_ = 0;
  program_ = programs_[next_];
  recording_ = &recordings_[next_];
  ++next_;
  *recording_ = {};
  recording_->begin = begins_.front();
  begins_.pop_front();
  recording_->descriptors.resize(program_->descriptors.size());
  cycle_ = rows_until_ = vector_until_ = 0;
  const Preset* preset = FindPreset(program_->preset);
  if (preset != nullptr) {
    vector_cycles_ = static_cast<uint64_t>(preset->cols / preset->vector_lanes);
    foreign_ = ForeignFlags(*preset);
  }
  queues_ = {};
  posts_ = {};
  answers_ = {};
  walks_ = 0;
  unclear_ = {};
  halt_foreign_ = false;
  for (uint32_t i = 0; i < program_->descriptors.size(); ++i) {
    const isa::Descriptor& descriptor = program_->descriptors[i];
    const isa::Queue queue = compiler::QueueOf(descriptor);
    if (queue != isa::Queue::kNone) {
      queues_[static_cast<int>(queue)].descriptors.push_back(i);
    } else if (compiler::OpcodeOf(descriptor) == isa::Opcode::kHalt) {
      halt_foreign_ = (HeaderOf(descriptor).wait_mask & foreign_) != 0;
    }
  }
}

void Recorder::Flush() {
  size_t command = 0;
  for (size_t i = 0; i <= kept_; ++i) {
    for (; command < commands_.size() && commands_[command].cycle == i;
         ++command) {
      if (recording_ != nullptr)
        recording_->rows.push_back({cycle_, commands_[command].command});
    }
    if (i < kept_) Take(samples_[i]);
  }
  kept_ = 0;
  commands_.clear();
}

void Recorder::Take(ProbeSample s) {
  if (!s.running()) {
    if (recording_ != nullptr) recording_->cycles = cycle_;
    recording_ = nullptr;
    return;
  }
  if (recording_ == nullptr) Begin();
  for (int q = 0; q < kProbedQueues; ++q) {
    QueueState& queue = queues_[q];
    if (queue.waits && !Bit(s.wants(), q)) Grant(q);
    if (Bit(s.heads(), q) && !queue.head && !queue.ends())
      recording_->descriptors[queue.descriptors[queue.heads++]].head = cycle_;
    queue.head = Bit(s.heads(), q);
    queue.waits = Bit(s.wants(), q);
  }
  for (int c = 0; c < 3; ++c) answers_[c] -= Bit(s.rd_answer(), c);
  for (int u = 0; u < kNumUnits; ++u) {
    const Cause cause = Classify(static_cast<Unit>(u), s);
    Attribute(
        static_cast<Unit>(u), cause,
        cause == Cause::kDispatch ? static_cast<int>(s.dispatch_queue()) : 0);
  }
  CountTraffic(s);
  Advance(s);
  ++cycle_;
}

// What happens at the end of the cycle.
void Recorder::Advance(ProbeSample s) {
  for (int c = 0; c < 3; ++c)
    answers_[c] += Bit(s.rd_valid() & s.rd_ready(), c);
  if (s.vec_progress() || s.vec_write())
    vector_until_ = cycle_ + vector_cycles_;
  if (s.hbm_activate()) rows_until_ = cycle_ + kRowCycles;
  if (s.dispatch() && s.dispatch_queue() < kProbedQueues)
    ++queues_[s.dispatch_queue()].dispatched;
  walks_ += Bit(s.starts(), static_cast<int>(isa::Queue::kMxu));
  walks_ -= s.mxu_last();
  for (int q = 0; q < kProbedQueues; ++q) {
    QueueState& queue = queues_[q];
    if (Bit(s.starts(), q) && queue.started < queue.heads)
      recording_->descriptors[queue.descriptors[queue.started++]].start =
          cycle_;
    if (!Bit(s.dones(), q) || queue.done >= queue.started) continue;
    const uint32_t index = queue.descriptors[queue.done++];
    recording_->descriptors[index].end = cycle_;
    const uint32_t posts =
        HeaderOf(program_->descriptors[index]).post_mask & ~foreign_;
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if (Bit(posts, f)) posts_[f].push_back({index, cycle_});
    }
  }
}

// The n-th that takes a flag takes the n-th post. When a flag of another core
// came is not known: it was the last one unless one of this core came just now.
void Recorder::Grant(int q) {
  QueueState& queue = queues_[q];
  if (queue.heads == 0) return;
  const uint32_t index = queue.descriptors[queue.heads - 1];
  DescriptorTimes& times = recording_->descriptors[index];
  const uint32_t waits = HeaderOf(program_->descriptors[index]).wait_mask;
  const bool foreign = (waits & foreign_) != 0;
  FlagWait last;
  for (int f = 0; f < isa::kNumFlags; ++f) {
    if (!Bit(waits, f) || posts_[f].empty()) continue;
    const Post post = posts_[f].front();
    posts_[f].pop_front();
    times.waits.push_back({f, post.poster, post.cycle});
    if (times.waits.size() == 1 || post.cycle >= last.posted)
      last = times.waits.back();
  }
  if (times.waits.empty() && !foreign) return;
  // The cycles that it waited were for the flag that came last.
  const bool own =
      !times.waits.empty() && (!foreign || last.posted + kPostCycles >= cycle_);
  const Cause cause = own ? FlagOf(static_cast<int>(compiler::QueueOf(
                                program_->descriptors[last.poster])))
                          : Cause::kFlagCore;
  std::vector<Span>& spans = recording_->spans[q];
  for (size_t i = spans.size(); i > queue.flag_spans; --i) {
    if (spans[i - 1].cause == kUnclear)
      spans[i - 1].cause = static_cast<uint8_t>(cause);
  }
  queue.flag_spans = spans.size();
  recording_->totals[q][static_cast<int>(cause)] +=
      std::exchange(unclear_[q], 0);
}

void Recorder::Attribute(Unit unit, Cause cause, int at) {
  const int u = static_cast<int>(unit), c = static_cast<int>(cause);
  std::vector<Span>& spans = recording_->spans[u];
  if (spans.empty() || spans.back().cause != c || spans.back().at != at)
    spans.push_back(
        {cycle_, static_cast<uint8_t>(c), static_cast<uint8_t>(at)});
  ++(c == kUnclear ? unclear_[u] : recording_->totals[u][c]);
}

void Recorder::CountTraffic(ProbeSample s) {
  const size_t period = cycle_ / Recording::kTrafficCycles;
  if (recording_->traffic.size() <= period)
    recording_->traffic.resize(period + 1);
  for (int c = 0; c < 3; ++c)
    recording_->traffic[period][c] += Bit(s.rd_answer(), c);
  recording_->traffic[period][3] += s.store_mem_valid() && s.store_mem_ready();
}

// Of a unit that moves nothing.
Cause Recorder::Waiting(int q, ProbeSample s) const {
  const QueueState& queue = queues_[q];
  if (Bit(s.wants(), q)) return static_cast<Cause>(kUnclear);
  if (Bit(s.heads(), q) || queue.dispatched > queue.heads) return Cause::kStart;
  if (queue.ends()) return queue.busy() ? Cause::kStart : Cause::kDone;
  return s.dispatch_stall() ? Cause::kDispatch : Cause::kFetch;
}

Cause Recorder::Mxu(ProbeSample s) const {
  if (s.mxu_enter()) return Cause::kWork;
  if (s.mxu_stall_weights()) return Cause::kNoWeights;
  if (s.mxu_stall_swap()) return Cause::kSwap;
  if (s.mxu_stall_acc()) return Cause::kSums;
  if (s.mxu_stall_ub()) return Cause::kBufferPort;
  if (s.mxu_step()) return Cause::kTranspose;
  if (s.mxu_next() || walks_ != 0) return Cause::kStart;
  return Waiting(static_cast<int>(isa::Queue::kMxu), s);
}

// The part of load and weight loader that asks the memory.
Cause Recorder::Reader(int q, int client, ProbeSample s) const {
  const bool asks = Bit(s.rd_valid(), client);
  if (asks && !Bit(s.rd_ready(), client)) return Cause::kMemoryBusy;
  if (asks || (answers_[client] > 0 && !Bit(s.wants(), q)))
    return Cause::kMemoryLatency;
  return Waiting(q, s);
}

Cause Recorder::Vector(ProbeSample s) const {
  if (s.vec_stall_acc()) return Cause::kAccPort;
  if (s.vec_stall_ub()) return Cause::kBufferPort;
  if (s.vec_progress() || s.vec_write() || cycle_ < vector_until_)
    return Cause::kWork;
  return Waiting(static_cast<int>(isa::Queue::kVector), s);
}

Cause Recorder::Store(ProbeSample s) const {
  if (s.store_mem_valid())
    return s.store_mem_ready() ? Cause::kWork : Cause::kMemoryBusy;
  if (s.store_ub_valid())
    return s.store_ub_ready() ? Cause::kStart : Cause::kBufferPort;
  return Waiting(static_cast<int>(isa::Queue::kStore), s);
}

Cause Recorder::Send(ProbeSample s) const {
  if (s.send_net_valid()) {
    if (!s.send_net_ready()) return Cause::kNetworkBusy;
    return s.send_post() ? Cause::kStart : Cause::kWork;
  }
  if (s.send_ub_valid())
    return s.send_ub_ready() ? Cause::kStart : Cause::kBufferPort;
  return Waiting(static_cast<int>(isa::Queue::kSend), s);
}

Cause Recorder::Sequencer(ProbeSample s) const {
  if (s.dispatch()) return Cause::kWork;
  if (s.dispatch_stall()) return Cause::kDispatch;
  const bool done =
      std::all_of(queues_.begin(), queues_.end(), [](const QueueState& queue) {
        return queue.dispatched == queue.descriptors.size();
      });
  if (done)
    return s.halt_want() && halt_foreign_ ? Cause::kFlagCore : Cause::kDone;
  if (Bit(s.rd_valid(), 0) && !Bit(s.rd_ready(), 0)) return Cause::kMemoryBusy;
  return answers_[0] > 0 ? Cause::kMemoryLatency : Cause::kStart;
}

Cause Recorder::Memory(ProbeSample s) const {
  if (s.hbm_read()) return s.hbm_write() ? Cause::kReadWrite : Cause::kRead;
  if (s.hbm_write()) return Cause::kWrite;
  const bool asked = s.rd_valid() != 0 || s.store_mem_valid() ||
                     std::any_of(answers_.begin(), answers_.end(),
                                 [](int64_t n) { return n > 0; });
  if (!asked) return Cause::kNoRequest;
  if (s.hbm_refresh()) return Cause::kRefresh;
  return cycle_ < rows_until_ ? Cause::kRows : Cause::kMemoryLatency;
}

Cause Recorder::Classify(Unit unit, ProbeSample s) const {
  switch (unit) {
    case Unit::kLoad:
      if (s.load_ub_valid())
        return s.load_ub_ready() ? Cause::kWork : Cause::kBufferPort;
      return Reader(static_cast<int>(isa::Queue::kLoad), 2, s);
    case Unit::kWeight:
      if (s.weight_beat()) return Cause::kWork;
      // Room that is kept for answers is none that the array could empty.
      if (s.weight_full())
        return s.mxu_stall_weights() && answers_[1] > 0 ? Cause::kMemoryLatency
                                                        : Cause::kFifoFull;
      if (s.weight_ub_valid() && !s.weight_ub_ready())
        return Cause::kBufferPort;
      return Reader(static_cast<int>(isa::Queue::kWeight), 1, s);
    case Unit::kMxu:
      return Mxu(s);
    case Unit::kVector:
      return Vector(s);
    case Unit::kStore:
      return Store(s);
    case Unit::kSend:
      return Send(s);
    case Unit::kSequencer:
      return Sequencer(s);
    case Unit::kMemory:
      return Memory(s);
  }
  return Cause::kDone;
}

}  // namespace systole::profile
