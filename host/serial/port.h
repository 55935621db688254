// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A stream of bytes to a board.
#ifndef SYSTOLE_HOST_SERIAL_PORT_H_
#define SYSTOLE_HOST_SERIAL_PORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace systole::serial {

class Port {
 public:
  virtual ~Port() = default;
  // All of the bytes. kUnavailable: the other side is gone.
  virtual absl::Status Write(absl::Span<const uint8_t> bytes) = 0;
  // What is there, waiting for at most so long for the first byte; 0 bytes: the
  // time is over.
  virtual absl::StatusOr<size_t> Read(absl::Span<uint8_t> bytes,
                                      double seconds) = 0;
};

// A serial port, or a pseudo-terminal. 8 data bits, no parity, one stop bit,
// and for this process alone.
absl::StatusOr<std::unique_ptr<Port>> OpenPort(const std::string& path,
                                               int baud);

}  // namespace systole::serial

#endif  // SYSTOLE_HOST_SERIAL_PORT_H_
