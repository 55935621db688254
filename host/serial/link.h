// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The host's side of the link: requests in a window, sent again until each has
// its answer.
//
//   Link link(std::move(port), {});
//   absl::StatusOr<BoardInfo> info = link.Hello();
//   link.WriteMemory(0x1000, bytes);
//   absl::StatusOr<uint32_t> status = link.ReadRegister(csr::kStatus);
#ifndef SYSTOLE_HOST_SERIAL_LINK_H_
#define SYSTOLE_HOST_SERIAL_LINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/serial/frames.h"
#include "host/serial/port.h"

namespace systole::serial {

struct LinkOptions {
  double timeout = 0.5;  // seconds without an answer before requests go again
  int attempts = 8;      // time-outs in a row before the board is given up
  // Called now and then during long transfers with bytes done and in all.
  std::function<void(uint64_t, uint64_t)> progress;
  std::function<bool()> stop;  // true ends a transfer
};

struct BoardInfo {
  int version = 0;
  size_t max_data = 0;
  double clock_mhz = 0;
};

struct LinkStats {
  uint64_t requests = 0;    // answered
  uint64_t repeated = 0;    // frames that were sent again
  uint64_t timeouts = 0;    // answers that did not come
  uint64_t bad_frames = 0;  // garbled, seen by either side
};

class Link {
 public:
  Link(std::unique_ptr<Port> port, LinkOptions options)
      : port_(std::move(port)), options_(std::move(options)) {}

  // Begins a session. kUnavailable: nothing answers, or something else does.
  absl::StatusOr<BoardInfo> Hello();

  absl::StatusOr<uint32_t> ReadRegister(uint32_t offset);
  absl::Status WriteRegister(uint32_t offset, uint32_t value);
  // Any address and length.
  absl::Status ReadMemory(uint64_t address, absl::Span<uint8_t> bytes);
  absl::Status WriteMemory(uint64_t address, absl::Span<const uint8_t> bytes);

  const LinkStats& stats() const { return stats_; }

 private:
  struct Request {
    Op op;
    uint64_t address = 0;
    absl::Span<const uint8_t> write;
    absl::Span<uint8_t> read;
    // Filled in here.
    uint8_t number = 0;
    bool done = false;
  };
  // What an answer says to the requests from `first` on.
  struct Progress {
    size_t first = 0, next = 0;  // open requests
    int resent_for = -1;         // number wanted by the last refusal
    int strange = 0;             // refusals that fit no request, in a row
  };

  absl::Status Execute(std::vector<Request>& requests);
  absl::Status Send(const Request& request);
  absl::Status Resend(std::vector<Request>& requests, size_t from, size_t to);
  absl::Status Handle(const std::vector<uint8_t>& answer,
                      std::vector<Request>& requests, Progress& at);
  absl::Status Refused(uint8_t wanted, std::vector<Request>& requests,
                       Progress& at);
  absl::Status Transfer(std::vector<Request> requests, uint64_t bytes);

  std::unique_ptr<Port> port_;
  LinkOptions options_;
  FrameReader reader_;
  LinkStats stats_;
  uint8_t next_number_ = 0;
};

}  // namespace systole::serial

#endif  // SYSTOLE_HOST_SERIAL_LINK_H_
