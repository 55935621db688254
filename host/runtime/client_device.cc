// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clients, their devices and buffers.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/ir/verifier.h"
#include "host/runtime/array_products.h"
#include "host/runtime/client.h"
#include "host/runtime/place.h"
#include "systole/target.h"

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

Client::Client(const ClientOptions& options, const Preset& preset)
    : options_(options), preset_(&preset) {
  if (options.devices > 1 && Board::IsFor(preset)) {
    DeviceOptions of_chips = options.device;
    of_chips.preset = options.preset;
    board_ =
        std::make_unique<Board>(options.backend, of_chips, options.devices);
  }
  for (int id = 0; id < options.devices; ++id)
    devices_.push_back(std::make_unique<Device>(*this, id));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(
    const ClientOptions& options) {
  const std::vector<std::string> names =
      PresetsThat([](const Target& t) { return t.float_modules(); });
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr || !Target(*preset).float_modules()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "preset '%s' %s; those with the bf16 cell are %s", options.preset,
        preset == nullptr ? "does not exist" : "has no bf16 cell",
        absl::StrJoin(names, ", ")));
  }
  if (options.backend != "iss" && options.backend != "rtl") {
    return absl::InvalidArgumentError(absl::StrFormat(
        "backend '%s' does not exist; there are iss, rtl", options.backend));
  }
  if (options.devices < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.devices, " devices"));
  }
  return std::unique_ptr<Client>(new Client(options, *preset));
}

absl::StatusOr<std::shared_ptr<Executable>> Client::Compile(
    std::unique_ptr<ir::Module> module, ir::ProcessGrid grid) {
  absl::Status status = ir::Verify(*module);
  if (status.ok()) status = ir::CheckCollectives(*module, grid);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(module->name, ": ", status.message()));
  }
  std::shared_ptr<Executable> executable(
      new Executable(std::move(module), grid, preset(), board_ != nullptr));
  if (!options_.host_operators) {
    if (absl::Status s =
            RefuseHost(executable->module().name, executable->placement());
        !s.ok())
      return s;
  }
  return executable;
}

}  // namespace systole::runtime
