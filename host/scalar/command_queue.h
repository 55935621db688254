// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The host's end of the firmware's rings: boots the scalar unit, hands it
// programs, several of which may be in flight, and takes their completions.
//
//   auto queue = scalar::CommandQueue::Boot(&port, {});
//   auto first = (*queue)->Submit({.program = a, .length = 12});
//   auto second = (*queue)->Submit({.program = b, .length = 7});
//   auto done = (*queue)->Wait(*second, /*cycles=*/1000000);
//   if (done.ok() && done->status == STATUS_FAULT) ...
//
// Launches of one context cannot reach another one's memory:
//
//   auto context = (*queue)->CreateContext(/*base=*/0x100000, 0x80000);
//   (*queue)->WriteMemory(*context, 0x100000, bytes);
//   (*queue)->Submit({.program = 0x100000, .length = 4, .context = *context});

#ifndef SYSTOLE_HOST_SCALAR_COMMAND_QUEUE_H_
#define SYSTOLE_HOST_SCALAR_COMMAND_QUEUE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firmware/scalar/protocol.h"
#include "host/scalar/image.h"
#include "systole/loops.h"

namespace systole::scalar {

// A chip as its host sees it.
class Port {
 public:
  virtual ~Port() = default;
  virtual absl::StatusOr<uint32_t> ReadRegister(uint32_t offset) = 0;
  virtual absl::Status WriteRegister(uint32_t offset, uint32_t value) = 0;
  virtual absl::Status ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes) = 0;
  virtual absl::Status WriteMemory(uint64_t addr,
                                   absl::Span<const uint8_t> bytes) = 0;
  // Until the interrupt line is high; kDeadlineExceeded after so many cycles.
  virtual absl::Status WaitInterrupt(uint64_t cycles) = 0;
  virtual uint64_t memory_bytes() const = 0;
  virtual uint64_t beat_bytes() const = 0;
};

struct BootOptions {
  bool test_smem = false;  // march test of SMEM and its code
  bool test_core = false;  // the known answer that `known` describes
  ImageOptions known;      // its test_ and scrub_ fields
  // Written first, at these addresses: what `known` speaks of.
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> data;
  uint32_t entries = 16;  // of the rings, a power of two, at most MAX_ENTRIES
  // The words of an image (ReadFirmware) in place of the built-in firmware's.
  std::vector<uint32_t> firmware;
};

// A part of a program, from where the one before ends, with what the firmware
// holds of it at a time.
struct Chapter {
  uint32_t end = 0;            // descriptors; no loop goes on behind it
  std::vector<patch> patches;  // in ascending order of index, lsb, loop
  std::vector<loop> loops;
};

// One launch; addresses are of HBM.
struct Launch {
  uint64_t program = 0;  // multiple of 128
  uint32_t length = 0;   // descriptors, the halt included
  uint64_t limit = 0;    // bytes that it may touch; 0: all below the rings
  uint32_t watchdog = 0x40000;
  uint32_t timeout = 0;  // cycles; 0: none
  uint32_t repeat = 1;
  std::vector<patch> patches;  // in ascending order of index, lsb, loop
  std::vector<loop> loops;
  std::vector<Chapter> chapters;  // in the place of both, where they are more
  uint32_t context = 0;           // of CreateContext; 0: the host's own
  uint32_t priority = 0;          // of those that wait the highest goes first
  uint32_t after = 0;  // the tag of a launch that has to be done before
};

// A program's loops and steps as a launch of its `length` has them, beside its
// other patches; in chapters, if they are more than MAX_PATCHES or MAX_LOOPS.
void AddLoops(absl::Span<const Loop> loops, absl::Span<const Step> steps,
              Launch* launch);

// A part of HBM that belongs to a context.
struct Window {
  uint64_t base = 0, end = 0;
};

struct LogLine {
  uint32_t number, time, event, value[2];
};

class CommandQueue {
 public:
  // The rings, the log and the image take this much at the end of the memory.
  static constexpr uint64_t kReserved = 1u << 18;
  // Of that, from here on the driver's own programs lie (core_programs.h).
  static constexpr uint64_t kPrograms = 3u << 16;

  // kInternal: a self-test failed or the image is not what it should be, said
  // in words; kUnimplemented: the chip has no scalar unit, the build no
  // firmware.
  static absl::StatusOr<std::unique_ptr<CommandQueue>> Boot(
      Port* port, const BootOptions& options);
  // The same in two steps: cores that have begun boot side by side, and each
  // is used when Ready() has returned.
  static absl::StatusOr<std::unique_ptr<CommandQueue>> BeginBoot(
      Port* port, const BootOptions& options);
  absl::Status Ready();

  // The launch's tag. kResourceExhausted: the ring is full, or the tables have
  // no room beside those of launches in chapters; kInvalidArgument.
  absl::StatusOr<uint32_t> Submit(const Launch& launch);
  // The completion, if it is there.
  absl::StatusOr<std::optional<completion>> Poll(uint32_t tag);
  // kDeadlineExceeded after so many cycles.
  absl::StatusOr<completion> Wait(uint32_t tag, uint64_t cycles);
  // A context with its window, multiples of 4096, apart from those of others
  // and below limit(). Its programs fault where they leave it, or use a sync
  // flag between cores. kInvalidArgument, kOutOfRange, kAlreadyExists (another
  // context's memory), kResourceExhausted (kMaxContexts are there).
  static constexpr uint32_t kMaxContexts = MAX_CONTEXTS - 1;
  absl::StatusOr<uint32_t> CreateContext(uint64_t base, uint64_t bytes);
  // Of one without launches in flight.
  absl::Status DestroyContext(uint32_t context);
  // The host's accesses for a context; kOutOfRange outside of its window.
  absl::Status WriteMemory(uint32_t context, uint64_t addr,
                           absl::Span<const uint8_t> bytes);
  absl::Status ReadMemory(uint32_t context, uint64_t addr,
                          absl::Span<uint8_t> bytes);

  // Everything that was submitted and is not complete ends as cancelled. Submit
  // again after their completions.
  absl::Status Cancel();
  // Ends the firmware in order, and gives the core back to the registers.
  absl::Status Stop(uint64_t cycles);
  // The trace log's entries, the oldest first; has the firmware write them out
  // unless `cycles` is 0. kFailedPrecondition: something is in flight.
  absl::StatusOr<std::vector<LogLine>> ReadLog(uint64_t cycles);

  // What programs may touch: below the rings.
  uint64_t limit() const { return base_; }

 private:
  CommandQueue(Port* port, const BootOptions& options);
  absl::Status Start(const BootOptions& options);
  absl::Status WriteCommand(const command& c);
  absl::Status Ring(uint32_t request);
  absl::Status Refresh();
  uint32_t room() const;  // commands that may be sent
  std::optional<size_t> FreePlaces(size_t count) const;
  absl::StatusOr<uint32_t> Send(command c, absl::Span<const uint8_t> tables);
  absl::Status SetContext(uint32_t context, const Window& window);
  absl::Status CheckWindow(uint32_t context, uint64_t addr, size_t bytes) const;
  absl::Status WaitReady();

  Port* port_;
  uint32_t entries_, stride_;
  uint64_t base_, commands_, completions_, log_, tables_;
  uint32_t submitted_ = 0, completed_ = 0;
  std::vector<uint32_t> places_;  // for tables: the tag of whose; 0: free
  std::set<uint32_t> waiting_;    // tags that are not complete
  std::map<uint32_t, completion> ended_;  // of the last tags
  std::map<uint32_t, Window> contexts_;
};

// "fault illegal_opcode ...", "timeout", ...
std::string DescribeCompletion(const completion& c);
std::string DescribeLog(const LogLine& line);

}  // namespace systole::scalar

#endif  // SYSTOLE_HOST_SCALAR_COMMAND_QUEUE_H_
