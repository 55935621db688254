// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/race_checker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "systole/program.h"

namespace systole::iss {
namespace {

// The scalar unit waits for flags like a queue.
constexpr int kScalarUnit = 1 << 15;

void Merge(Clock* to, const Clock& from) {
  for (size_t q = 0; q < to->size(); ++q)
    (*to)[q] = std::max((*to)[q], from[q]);
}

uint64_t TilesTaken(const isa::Matmul& d) {
  const bool keep = (d.header.flags & isa::Matmul::kKeepWeights) != 0;
  const bool one = (d.header.flags & isa::Matmul::kTranspose) != 0;
  return (one ? 1 : uint64_t{d.t0} * d.t1) - (keep ? 1 : 0);
}

std::string_view QueueName(int queue) { return isa::kQueueNames[queue]; }

}  // namespace

std::string SpaceRange(Space space, const Range& r) {
  switch (space) {
    case Space::kUb:
      return absl::StrFormat("unified buffer bytes 0x%x..0x%x", r.begin,
                             r.end - 1);
    case Space::kAcc:
      return absl::StrFormat("accumulator rows %d..%d", r.begin, r.end - 1);
    case Space::kHbm:
      break;
  }
  return absl::StrFormat("HBM bytes 0x%x..0x%x", r.begin, r.end - 1);
}

absl::Status RaceReport::ToStatus() const {
  if (count == 0) return absl::OkStatus();
  std::string text =
      absl::StrCat(count, count == 1 ? " violation" : " violations",
                   " of the rules for programs");
  for (const Finding& f : findings) absl::StrAppend(&text, "\n", f.text);
  if (count > findings.size())
    absl::StrAppend(&text, "\n... and ", count - findings.size(), " more");
  return absl::FailedPreconditionError(text);
}

RaceChecker::RaceChecker(const Preset& preset, uint64_t prog_addr,
                         uint32_t prog_len, int core,
                         std::shared_ptr<DeviceShadow> device,
                         const Network* network)
    : preset_(preset),
      core_(core),
      device_(std::move(device)),
      network_(network),
      program_{prog_addr,
               prog_addr + uint64_t{prog_len} * isa::kDescriptorBytes},
      shadows_{
          Shadow(static_cast<int>(device_->cores.size()) * isa::kNumQueues),
          Shadow(static_cast<int>(device_->cores.size()) * isa::kNumQueues)} {
  // Earlier programs on this core are complete.
  const Clock& ended = device_->ended[core];
  for (int q = 0; q < isa::kNumQueues; ++q)
    queues_[q] = {ended[OfDevice(static_cast<isa::Queue>(q))], ended, ended};
  device_->cores[core] = this;
  // The queues may use the flags between cores differently from the program
  // before.
  for (Channel& c : device_->channels[core]) c.waiter = -1;
  for (auto& channels : device_->channels) {
    for (Channel& c : channels)
      if (c.poster >= 0 && CoreOf(c.poster) == core) c.poster = -1;
  }
}

RaceChecker::~RaceChecker() {
  Clock& ended = device_->ended[core_];
  for (int q = 0; q < isa::kNumQueues; ++q) {
    Merge(&ended, queues_[q].done);
    ended[OfDevice(static_cast<isa::Queue>(q))] = queues_[q].count;
  }
  device_->cores[core_] = nullptr;
}

void RaceChecker::Execute(uint32_t index, const isa::Descriptor& descriptor,
                          const VrunLog& vrun,
                          const std::vector<uint64_t>& dma_rows) {
  descriptors_.push_back(descriptor);
  const isa::Header header = isa::Halt::Decode(descriptor).header;
  const isa::OpInfo* op = isa::FindOp(header.opcode);
  if (op->queue == isa::Queue::kNone) return CheckHalt(index);

  // A unit starts and completes its descriptors in order, but may start one
  // before the previous one is complete. So `start` collects what the waits
  // imply, and only `done` includes the descriptor itself and the ones before
  // it.
  const int q = static_cast<int>(op->queue);
  QueueState& queue = queues_[q];
  const Access self = {static_cast<uint16_t>(OfDevice(op->queue)),
                       ++queue.count, index};
  Wait(self, header.wait_mask, &queue.start);
  Merge(&queue.done, queue.start);
  queue.done[self.queue] = self.number;
  if (op->opcode == isa::Opcode::kWeights) {
    PushTiles(self, isa::Weights::Decode(descriptor).tiles, queue.done);
  } else if (op->opcode == isa::Opcode::kTiles) {
    PushTiles(self, isa::Tiles::Decode(descriptor).tiles, queue.done);
  } else if (op->opcode == isa::Opcode::kMatmul) {
    TakeTiles(self, TilesTaken(isa::Matmul::Decode(descriptor)), queue.start,
              &queue.done);
  }
  const Footprint footprint = FootprintOf(descriptor, preset_, vrun, dma_rows);
  Touch(self, footprint, queue.start);
  if (op->opcode == isa::Opcode::kVrun) {
    for (const VrunLog::Problem& p : vrun.problems) {
      Add({5, index, index, Space::kUb, Range{0, 0},
           absl::StrCat(p.text, ":\n  ", Show(index))});
    }
  }
  if (op->opcode == isa::Opcode::kSend) {
    const isa::Send send = isa::Send::Decode(descriptor);
    Deliver(self, send, footprint.sent, queue.start, queue.done);
  }
  Post(self, header.post_mask, queue.done);
}

void RaceChecker::Wait(const Access& self, uint32_t mask, Clock* start) {
  for (int f = 0; f < isa::kNumFlags; ++f) {
    if ((mask >> f & 1) == 0) continue;
    Channel& c = Waited(f);
    if (c.waiter < 0) {
      c.waiter = self.queue;
      c.first_wait = self.index;
    } else if (c.waiter != self.queue) {
      c.broken = true;
      Add({2, c.first_wait, self.index, Space::kUb, Range{0, 0},
           absl::StrFormat("sync flag %d has waits in two queues:\n  %s\n  %s",
                           f, Show(c.first_wait), Show(self.index))});
    }
    // Violation of rule 1, which the simulator reports.
    if (c.messages.empty()) continue;
    // A flag that violates rule 2 does not order anything reliably.
    if (!c.broken) Merge(start, c.messages.front());
    c.messages.pop_front();
  }
}

// The word is read after the post, and everything that follows is issued after
// the read. So the read counts as an access of the queue that posted.
void RaceChecker::Test(uint32_t flag, const Range& word) {
  Channel& c = Waited(static_cast<int>(flag));
  const uint32_t last = static_cast<uint32_t>(descriptors_.size()) - 1;
  if (c.waiter < 0) {
    c.waiter = kScalarUnit;
    c.first_wait = last;
  } else if (c.waiter != kScalarUnit) {
    c.broken = true;
    Add({2, c.first_wait, last, Space::kUb, Range{0, 0},
         absl::StrFormat("sync flag %d has waits in a queue and in the "
                         "condition of a loop, which follows:\n  %s\n  %s",
                         flag, Show(c.first_wait), Show(last))});
  }
  const Clock known = c.messages.front();
  c.messages.pop_front();
  const auto queue = static_cast<uint16_t>(c.poster);
  for (const Range& range : OfDevice({word})) {
    device_->memory.Read(
        range, {queue, known[queue], last},
        [&](const Range& r, const Access& writer) {
          if (known[writer.queue] >= writer.number) return;
          Add({3, writer.index, last, Space::kHbm, r,
               absl::StrFormat("race on %s: a write and the condition of a "
                               "loop that reads it are not ordered by flag "
                               "%d:\n  %s\n  which follows %s",
                               SpaceRange(Space::kHbm, r), flag,
                               ShowAccess(writer), Show(last))});
        },
        [](const Range&) {});
  }
  if (c.broken) return;
  for (QueueState& state : queues_) Merge(&state.start, known);
}

void RaceChecker::Post(const Access& self, uint32_t mask, const Clock& done) {
  for (int f = 0; f < isa::kNumFlags; ++f) {
    if ((mask >> f & 1) != 0) PostTo(Posted(f), f, self, done);
  }
}

void RaceChecker::PostTo(Channel& c, int flag, const Access& self,
                         const Clock& done) {
  if (c.poster < 0) {
    c.poster = self.queue;
    c.first_post = self.index;
  } else if (c.poster != self.queue) {
    c.broken = true;
    const Access first = {static_cast<uint16_t>(c.poster), ~uint32_t{0},
                          c.first_post};
    Add({2, c.first_post, self.index, Space::kUb, Range{0, 0},
         absl::StrFormat("sync flag %d has posts from two queues:\n  %s\n  %s",
                         flag, ShowAccess(first), Show(self.index))});
  }
  c.messages.push_back(done);
}

void RaceChecker::PushTiles(const Access& self, uint64_t tiles,
                            const Clock& done) {
  if (taken_ < pushed_) {
    const uint32_t other = pushes_.back().access.index;
    Add({4, other, self.index, Space::kUb, Range{0, 0},
         absl::StrFormat("%d weight tiles pushed before are still untaken when "
                         "a weights descriptor starts:\n  %s\n  %s",
                         pushed_ - taken_, Show(other), Show(self.index))});
  }
  pushes_.push_back({self, pushed_, pushed_ + tiles, done});
  pushed_ += tiles;
}

void RaceChecker::TakeTiles(const Access& self, uint64_t tiles,
                            const Clock& start, Clock* done) {
  // A weights descriptor is complete when its last tile is in the FIFO. If it
  // has more tiles than the FIFO holds, that requires that the first ones are
  // taken. So a matmul that takes one of those must not wait for the
  // completion.
  const uint64_t capacity = preset_.wfifo_tiles;
  for (const Push& push : pushes_) {
    if (tiles > 0 && taken_ < push.end_tile &&
        taken_ + capacity < push.end_tile &&
        start[OfDevice(isa::Queue::kWeight)] >= push.access.number) {
      Add({1, push.access.index, self.index, Space::kUb, Range{0, 0},
           absl::StrFormat(
               "deadlock: a matmul waits for a weights descriptor of %d tiles "
               "to be complete, which needs the "
               "matmul to take some, as the FIFO holds %d:\n  %s\n  %s",
               push.end_tile - push.first_tile, capacity,
               Show(push.access.index), Show(self.index))});
    }
  }
  taken_ += tiles;
  // The matmul completes after its tiles have arrived. If it took the last tile
  // of a weights descriptor, it completes after that descriptor.
  while (!pushes_.empty() && pushes_.front().end_tile <= taken_) {
    Merge(done, pushes_.front().done);
    pushes_.pop_front();
  }
}

void RaceChecker::Touch(const Access& self, const Footprint& f,
                        const Clock& start) {
  const Ranges device_reads = OfDevice(f.read(Space::kHbm));
  const Ranges device_writes = OfDevice(f.write(Space::kHbm));
  for (Space space : {Space::kUb, Space::kAcc, Space::kHbm}) {
    const bool shared = space == Space::kHbm;
    Shadow& shadow =
        shared ? device_->memory : shadows_[static_cast<int>(space)];
    const Ranges& reads = shared ? device_reads : f.read(space);
    const Ranges& writes = shared ? device_writes : f.write(space);
    uint64_t fresh = 0;
    for (const Range& range : reads) {
      shadow.Read(
          range, self,
          [&](const Range& r, const Access& writer) {
            Conflict(space, r, writer, true, self, false, start);
          },
          [&](const Range& r) { fresh += r.end - r.begin; });
    }
    if (space == Space::kUb) report_.unwritten_bytes += fresh;
    if (space == Space::kAcc) report_.unwritten_rows += fresh;
    for (const Range& range : writes) {
      shadow.Write(range, self,
                   [&](const Range& r, const Access& earlier, bool writes) {
                     Conflict(space, r, earlier, writes, self, true, start);
                   });
    }
  }
  CheckPrograms(self, device_writes);
  if (!f.own_conflicts.empty()) {
    const Range& r = f.own_conflicts[0];
    Add({3, self.index, self.index, Space::kUb, r,
         absl::StrFormat(
             "race on %s: read and written by one descriptor:\n  %s",
             SpaceRange(Space::kUb, r), Show(self.index))});
  }
}

void RaceChecker::Conflict(Space space, const Range& range,
                           const Access& earlier, bool earlier_writes,
                           const Access& self, bool self_writes,
                           const Clock& start) {
  if (earlier.queue == self.queue || start[earlier.queue] >= earlier.number)
    return;
  const bool of_core = CoreOf(earlier.queue) == core_;
  if (of_core ? !pairs_.insert({earlier.index, self.index, space}).second
              : !device_->pairs
                     .insert({earlier.queue, earlier.number, self.queue,
                              self.number})
                     .second)
    return;
  Add({3, earlier.index, self.index, space, range,
       absl::StrFormat("race on %s: %s and %s are not ordered by queues and "
                       "flags:\n  %s\n  %s",
                       SpaceRange(space, range),
                       earlier_writes ? "a write" : "a read",
                       self_writes ? "a write" : "a read", ShowAccess(earlier),
                       Show(self.index))});
}

std::string RaceChecker::ShowAccess(const Access& access) const {
  const int core = CoreOf(access.queue);
  if (core == core_ && access.number > device_->ended[core][access.queue])
    return Show(access.index);
  const RaceChecker* other = device_->cores[core];
  if (other == nullptr || access.number <= device_->ended[core][access.queue])
    return absl::StrFormat("a program that ran before on core %d", core);
  return absl::StrFormat("core %d, %s", core, other->Show(access.index));
}

void RaceChecker::CheckHalt(uint32_t index) {
  if (taken_ == pushed_) return;
  const uint32_t other = pushes_.back().access.index;
  Add({4, other, index, Space::kUb, Range{0, 0},
       absl::StrFormat("%d weight tiles are untaken at the halt:\n  %s\n  %s",
                       pushed_ - taken_, Show(other), Show(index))});
}

void RaceChecker::Add(Finding finding) {
  ++report_.count;
  if (report_.findings.size() < RaceReport::kKept)
    report_.findings.push_back(std::move(finding));
}

std::string RaceChecker::Show(uint32_t index) const {
  const isa::OpInfo* op = isa::FindOp(
      static_cast<uint8_t>(isa::GetBits(descriptors_[index], 0, 8)));
  const std::string_view queue = op->queue == isa::Queue::kNone
                                     ? "sequencer"
                                     : QueueName(static_cast<int>(op->queue));
  return absl::StrFormat("#%d, queue %s: %s", index, queue,
                         Disassemble(descriptors_[index]));
}

}  // namespace systole::iss
