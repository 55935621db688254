// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Completions and the trace log in words.

#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/scalar/command_queue.h"

namespace systole::scalar {

std::string DescribeCompletion(const completion& c) {
  switch (c.status) {
    case STATUS_DONE:
      return "done";
    case STATUS_FAULT:
      return absl::StrFormat(
          "fault %d of %s, descriptor %d, address 0x%x, after %d runs", c.cause,
          c.queue == FAULT_QUEUE_FIRMWARE ? "the firmware's reads"
                                          : absl::StrCat("queue ", c.queue),
          c.index, uint64_t{c.address[1]} << 32 | c.address[0], c.runs);
    case STATUS_TIMEOUT:
      return absl::StrFormat("timeout after %d runs", c.runs);
    case STATUS_REFUSED:
      return "refused: the command means nothing";
    case STATUS_CANCELLED:
      return "cancelled";
    case STATUS_STOPPED:
      return "stopped";
    default:
      return absl::StrFormat("status %d", c.status);
  }
}

std::string DescribeLog(const LogLine& line) {
  constexpr const char* kEvents[] = {"",       "boot",  "command", "start",
                                     "done",   "fault", "timeout", "refused",
                                     "cancel", "stop",  "ecc",     "context"};
  const std::string event = line.event < std::size(kEvents)
                                ? kEvents[line.event]
                                : absl::StrFormat("event 0x%x", line.event);
  return absl::StrFormat("%5d %10d  %s 0x%x 0x%x", line.number, line.time,
                         event, line.value[0], line.value[1]);
}

}  // namespace systole::scalar
