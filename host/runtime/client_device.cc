// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Devices of a client, and their buffers.
#include <utility>

#include "host/runtime/array_products.h"
#include "host/runtime/client.h"
#include "host/runtime/place.h"

namespace systole::runtime {

using ir::Literal;

Device::Device(Client& client, int id)
    : client_(client),
      id_(id),
      core_(std::make_unique<Core>(client.options().OfDevice(id),
                                   client.board(), id)),
      products_(std::make_unique<ArrayProducts>(
          *core_, client.options().host_operators)) {}

Device::~Device() = default;

CoreWork Device::TakeWork() { return core_->TakeWork(); }

systole::Device* Device::hardware() const { return core_->device(); }

void Device::Count(int64_t bytes) {
  const int64_t now = bytes_ += bytes;
  int64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

Buffer::Buffer(Device& device, ir::Type type, Memory memory)
    : device_(device),
      type_(std::move(type)),
      memory_(memory),
      ready_(std::make_shared<Event>()) {
  if (memory_ == Memory::kDevice) device_.Count(type_.bytes());
}

Buffer::Buffer(Device& device, ir::Type type, Literal value, Memory memory)
    : Buffer(device, std::move(type), memory) {
  Set(std::move(value));
}

Buffer::~Buffer() {
  if (memory_ == Memory::kDevice) device_.Count(-type_.bytes());
}

void Buffer::Set(absl::StatusOr<Literal> value) {
  if (!value.ok()) return ready_->Set(value.status());
  SetPlaced(OnHost(*std::move(value)));
}

void Buffer::SetPlaced(absl::StatusOr<PlacedValue> value) {
  if (value.ok()) value_ = *std::move(value);
  absl::Status status = value.status();
  if (status.ok() && memory_ == Memory::kHost) {
    auto host = value_->Host(type_, *device_.core_);
    status = host.status();
    if (status.ok()) value_ = OnHost(*std::move(host));
  }
  ready_->Set(std::move(status));
}

absl::StatusOr<Literal> Buffer::Await() const {
  if (absl::Status s = ready_->Await(); !s.ok()) return s;
  return value_->Host(type_, *device_.core_);
}

}  // namespace systole::runtime
