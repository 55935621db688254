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

#ifndef SYSTOLE_HOST_SCALAR_COMMAND_QUEUE_H_
#define SYSTOLE_HOST_SCALAR_COMMAND_QUEUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firmware/scalar/protocol.h"
#include "host/scalar/image.h"

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
  ImageOptions known;      // its test_ fields
  uint32_t entries = 16;   // of the rings, a power of two
};

// One launch; addresses are of HBM.
struct Launch {
  uint64_t program = 0;  // multiple of 128
  uint32_t length = 0;   // descriptors, the halt included
  uint64_t limit = 0;    // bytes that it may touch; 0: all below the rings
  uint32_t watchdog = 0x40000;
  uint32_t timeout = 0;  // cycles; 0: none
  uint32_t repeat = 1;
  std::vector<patch> patches;  // in ascending order of index
};

struct LogLine {
  uint32_t number, time, event, value[2];
};

class CommandQueue {
 public:
  // The rings, the log and the image take this much at the end of the memory.
  static constexpr uint64_t kReserved = 1u << 16;

  // kInternal: a self-test failed or the image is not what it should be, said
  // in words; kUnimplemented: the chip has no scalar unit, the build no
  // firmware.
  static absl::StatusOr<std::unique_ptr<CommandQueue>> Boot(
      Port* port, const BootOptions& options);

  // The launch's tag. kResourceExhausted: the ring is full; kInvalidArgument.
  absl::StatusOr<uint32_t> Submit(const Launch& launch);
  // The completion, if it is there.
  absl::StatusOr<std::optional<completion>> Poll(uint32_t tag);
  // kDeadlineExceeded after so many cycles.
  absl::StatusOr<completion> Wait(uint32_t tag, uint64_t cycles);
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
  absl::Status WaitState(uint32_t state, uint64_t cycles);

  Port* port_;
  uint32_t entries_, stride_;
  uint64_t base_, commands_, completions_, log_, patches_;
  uint32_t submitted_ = 0, completed_ = 0;
};

// "fault illegal_opcode ...", "timeout", ...
std::string DescribeCompletion(const completion& c);
std::string DescribeLog(const LogLine& line);

}  // namespace systole::scalar

#endif  // SYSTOLE_HOST_SCALAR_COMMAND_QUEUE_H_
