// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Listens to the probe while programs run: when each descriptor started and
// ended, what it waited for, and for every cycle of every unit the one cause
// that it belongs to.
//
//   Recorder recorder({&program});
//   DeviceOptions options;
//   options.simulation.probes = {&recorder};
//   auto device = Device::Open("rtl", options);
//   ... (*device)->Run(program) ...
//   recorder.recordings()[0].spans[static_cast<int>(Unit::kMxu)]
#ifndef SYSTOLE_HOST_PROFILE_RECORDER_H_
#define SYSTOLE_HOST_PROFILE_RECORDER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "systole/probe.h"
#include "systole/program.h"

namespace systole::profile {

// The queues' units in the order of isa::Queue, then the sequencer and the
// memory's data bus.
enum class Unit : uint8_t {
  kLoad,
  kWeight,
  kMxu,
  kVector,
  kStore,
  kSend,  // in chips with links
  kSequencer,
  kMemory
};
inline constexpr int kNumUnits = 8;
const char* UnitName(Unit unit);
// Whether cores of the preset have the unit.
bool HasUnit(const Preset& preset, Unit unit);

// What a unit does in a cycle, or what it waits for. docs/profile.md has what
// each means for each unit.
enum class Cause : uint8_t {
  kWork,
  kStart,          // a descriptor's preparation, the last results' way out
  kTranspose,      // vectors go into the transposer
  kNoWeights,      // no tile in the weight FIFO
  kSwap,           // the array is not free for the next tile yet
  kSums,           // a sum is on its way to the row that is needed
  kBufferPort,     // a bank of the unified buffer serves another port
  kAccPort,        // the accumulators' port serves the array
  kFifoFull,       // the weight FIFO has no room
  kMemoryBusy,     // the memory does not take the request
  kMemoryLatency,  // answers are on their way
  kNetworkBusy,    // the network does not take the packet
  kFlagLoad,       // for a flag; in the order of isa::Queue
  kFlagWeight,
  kFlagMxu,
  kFlagVector,
  kFlagStore,
  kFlagSend,
  kFlagCore,   // for a flag that another core posts
  kDispatch,   // the next descriptor stands behind one whose queue is full
  kFetch,      // the next descriptor is on its way from memory
  kDone,       // no descriptors are left
  kRead,       // memory: a beat read
  kWrite,      // memory: a beat written
  kReadWrite,  // memory: both
  kRefresh,    // memory: refresh, requests wait
  kRows,       // memory: rows are opened, requests wait
  kNoRequest,  // memory: nobody asks
  kIdle,       // of several cores: none of its programs runs
};
inline constexpr int kNumCauses = 29;
const char* CauseName(Cause cause);  // "no weights"
constexpr Cause FlagOf(int queue) {
  return static_cast<Cause>(static_cast<int>(Cause::kFlagLoad) + queue);
}
// The queue whose flag it is, or -1.
constexpr int FlagQueue(Cause cause) {
  const int queue =
      static_cast<int>(cause) - static_cast<int>(Cause::kFlagLoad);
  return queue >= 0 && queue < kProbedQueues ? queue : -1;
}

// The flags of a core that only other cores post.
uint32_t ForeignFlags(const Preset& preset);

// Cycles from `start` to the next span's start, or to the end of the program.
struct Span {
  uint64_t start : 48, cause : 8, at : 8;  // at: kDispatch: the full queue
  Cause why() const { return static_cast<Cause>(cause); }
};

// A flag that a descriptor waited for and another of the program posted.
struct FlagWait {
  int flag = 0;
  uint32_t poster = 0;  // descriptor
  uint64_t posted = 0;  // cycle
};

struct DescriptorTimes {
  uint64_t head = 0;   // it is at the head of its queue
  uint64_t start = 0;  // its flags are there and its unit took it
  uint64_t end = 0;    // complete; 0: not
  std::vector<FlagWait> waits;
};

// A row command of the memory, in `cycle`.
struct RowEvent {
  uint64_t cycle = 0;
  RowCommand command;
};

// Cycle 0 is the first in which the program runs.
struct Recording {
  uint64_t cycles = 0;
  uint64_t begin = 0;  // cycle 0, as a cycle of the device
  std::vector<DescriptorTimes> descriptors;  // as Program::descriptors
  std::array<std::vector<Span>, kNumUnits> spans;
  std::array<std::array<uint64_t, kNumCauses>, kNumUnits> totals{};
  std::vector<RowEvent> rows;  // of an HBM
  // Beats moved in periods of kTrafficCycles, by client: fetch,
  // weight, load, store.
  static constexpr uint64_t kTrafficCycles = 64;
  std::vector<std::array<uint8_t, 4>> traffic;
};

class Recorder : public ProbeSink {
 public:
  // The programs run one after the other and outlive the recorder. A program
  // that starts after the last begins with the first again, in place of its
  // earlier recording.
  explicit Recorder(std::vector<const Program*> programs);
  // One more behind them, before it starts.
  void Append(const Program* program) {
    programs_.push_back(program);
    recordings_.emplace_back();
  }
  void Sample(ProbeSample sample, uint64_t cycle) override {
    if (!sample.running() && !running_) return;
    if (!running_) begins_.push_back(cycle);
    running_ = sample.running() != 0;
    samples_[kept_++] = sample;
    if (kept_ == samples_.size()) Flush();
  }
  void Command(const RowCommand& command) override {
    if (running_) commands_.push_back({kept_, command});
  }
  const std::deque<Recording>& recordings() {
    Flush();
    return recordings_;
  }

 private:
  struct QueueState {
    std::vector<uint32_t> descriptors;  // of this queue, in order
    size_t dispatched = 0, heads = 0, started = 0, done = 0;
    bool head = false, waits = false;  // in the cycle before
    size_t flag_spans = 0;  // spans from here on wait for a flag not known yet
    bool busy() const { return started != done; }
    bool ends() const { return heads == descriptors.size(); }
  };
  struct Post {
    uint32_t poster;
    uint64_t cycle;
  };

  // A model's cycle drives this code out of the caches: many are looked at in
  // a row.
  void Flush();
  void Take(ProbeSample s);
  void Begin();
  void Advance(ProbeSample s);  // queues and flags
  void Grant(int queue);        // the head's flags were there
  void CountTraffic(ProbeSample s);
  void Attribute(Unit unit, Cause cause, int at = 0);
  Cause Classify(Unit unit, ProbeSample s) const;
  Cause Mxu(ProbeSample s) const;
  Cause Vector(ProbeSample s) const;
  Cause Store(ProbeSample s) const;
  Cause Send(ProbeSample s) const;
  Cause Reader(int queue, int client, ProbeSample s) const;
  Cause Waiting(int queue, ProbeSample s) const;
  Cause Sequencer(ProbeSample s) const;
  Cause Memory(ProbeSample s) const;

  std::array<ProbeSample, 1024> samples_;  // not looked at yet
  size_t kept_ = 0;
  std::vector<RowEvent> commands_;  // `cycle`: samples that were before it
  std::deque<uint64_t> begins_;     // of the programs among them
  bool running_ = false;            // of the last sample

  std::vector<const Program*> programs_;
  std::deque<Recording> recordings_;  // where they are, though more come
  const Program* program_ = nullptr;  // of what runs
  Recording* recording_ = nullptr;
  size_t next_ = 0;
  uint64_t cycle_ = 0, rows_until_ = 0, vector_until_ = 0;
  uint64_t vector_cycles_ = 1;  // that the vector unit's lanes take for a row
  uint32_t foreign_ = 0;        // flags that other cores post
  bool halt_foreign_ = false;   // the halt waits for one
  std::array<QueueState, kProbedQueues> queues_;
  std::array<std::deque<Post>, 32> posts_;  // not taken yet, of each flag
  std::array<int64_t, 3> answers_{};        // that each reader waits for
  int64_t walks_ = 0;  // started products whose last vector has not gone
  std::array<uint64_t, kNumUnits> unclear_{};
};

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_RECORDER_H_
