// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Driver backend "serial:PORT": a board behind a serial port.
//
// PORT is a device, with options behind commas: "serial:/dev/ttyUSB0",
// "serial:/dev/pts/3,baud=3000000,timeout=20".
#ifndef SYSTOLE_HOST_SERIAL_SERIAL_DEVICE_H_
#define SYSTOLE_HOST_SERIAL_SERIAL_DEVICE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/serial/link.h"
#include "systole/device.h"

namespace systole::serial {

struct Address {
  std::string path;
  int baud = 3000000;
  double timeout = 0.5;  // seconds
};

// kInvalidArgument: an option that does not exist.
absl::StatusOr<Address> ParseAddress(const std::string& text);

class SerialDevice : public Device {
 public:
  // kUnavailable: no such port or no answer; kFailedPrecondition: something
  // else than this project's chip, or another preset than options.preset
  // (empty: any).
  static absl::StatusOr<std::unique_ptr<SerialDevice>> Open(
      const Address& address, const DeviceOptions& options);
  // The same on a stream of bytes that is open.
  static absl::StatusOr<std::unique_ptr<SerialDevice>> OpenOn(
      std::unique_ptr<Port> port, const Address& address,
      const DeviceOptions& options);

  absl::Status Write(uint64_t addr, absl::Span<const uint8_t> bytes) override;
  absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) override;
  absl::Status Start(const Program& program) override;
  absl::StatusOr<RunStats> Wait() override;
  // Of either scope, for a board is one core.
  absl::Status Reset(ResetScope scope) override;

  const BoardInfo& info() const { return info_; }
  const LinkStats& link_stats() const { return link_.stats(); }
  // The chip's state register.
  absl::StatusOr<uint32_t> ReadStatus();

 private:
  SerialDevice(Link link, const BoardInfo& info, const Preset& preset,
               const DeviceOptions& options)
      : Device(preset, "serial", 0, nullptr),
        options_(options),
        link_(std::move(link)),
        info_(info) {}
  absl::Status Configure();
  absl::Status CheckRange(uint64_t addr, size_t bytes) const;
  absl::StatusOr<uint64_t> Read64(uint32_t offset);
  absl::StatusOr<FaultState> ReadFault();
  // Until the program ends or options_.stop says so, with samples.
  absl::StatusOr<uint32_t> WaitForEnd(RunStats& stats);

  DeviceOptions options_;
  Link link_;
  const BoardInfo info_;
};

}  // namespace systole::serial

#endif  // SYSTOLE_HOST_SERIAL_SERIAL_DEVICE_H_
