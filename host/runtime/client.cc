// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/client.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/runtime/array_products.h"
#include "host/runtime/placement.h"

namespace systole::runtime {

using ir::Literal;

Device::Device(Client& client, int id)
    : client_(client),
      id_(id),
      products_(std::make_unique<ArrayProducts>(client.options())) {}

Device::~Device() = default;

ArrayWork Device::TakeArrayWork() { return products_->TakeWork(); }

void Device::Count(int64_t bytes) {
  const int64_t now = bytes_ += bytes;
  int64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

Buffer::Buffer(Device& device, ir::Type type)
    : device_(device),
      type_(std::move(type)),
      ready_(std::make_shared<Event>()) {
  device_.Count(type_.bytes());
}

Buffer::Buffer(Device& device, ir::Type type, Literal value)
    : Buffer(device, std::move(type)) {
  Set(std::move(value));
}

Buffer::~Buffer() { device_.Count(-type_.bytes()); }

void Buffer::Set(absl::StatusOr<Literal> value) {
  if (value.ok()) value_ = *std::move(value);
  ready_->Set(value.status());
}

absl::StatusOr<Literal> Buffer::Await() const {
  if (absl::Status s = ready_->Await(); !s.ok()) return s;
  return value_;
}

Executable::Executable(std::unique_ptr<ir::Module> module)
    : module_(std::move(module)), placement_(PlacementOf(*module_)) {
  for (const ir::Node* input : module_->inputs())
    parameters_.push_back(input->type);
  for (const ir::Output& output : module_->outputs)
    results_.push_back(output.node.type());
  fingerprint_ =
      absl::StrFormat("%016x", std::hash<std::string>()(ir::Print(*module_)));
}

absl::StatusOr<Execution> Executable::Execute(
    absl::Span<const std::shared_ptr<Buffer>> arguments, Device& device) {
  if (arguments.size() != parameters_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(module_->name, ": ", arguments.size(),
                     " arguments instead of ", parameters_.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::Type& type = arguments[i]->type();
    if (type.element != parameters_[i].element ||
        type.shape != parameters_[i].shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          module_->name, ": argument ", i, " is ", ir::TypeText(type),
          ", the program takes ", ir::TypeText(parameters_[i])));
    }
  }
  Execution execution;
  for (const ir::Type& type : results_)
    execution.results.push_back(std::make_shared<Buffer>(device, type));
  execution.done = std::make_shared<Event>();
  std::vector<std::shared_ptr<Buffer>> held(arguments.begin(), arguments.end());
  device.stream().Enqueue([self = shared_from_this(), held = std::move(held),
                           results = execution.results, done = execution.done,
                           &device]() mutable {
    absl::StatusOr<std::vector<Literal>> values =
        self->Evaluate(std::move(held), device);
    for (size_t i = 0; i < results.size(); ++i) {
      if (values.ok()) {
        results[i]->Set(std::move((*values)[i]));
      } else {
        results[i]->Set(values.status());
      }
    }
    done->Set(values.status());
  });
  return execution;
}

absl::StatusOr<std::vector<Literal>> Executable::Evaluate(
    std::vector<std::shared_ptr<Buffer>> arguments, Device& device) const {
  std::vector<Literal> values;
  for (std::shared_ptr<Buffer>& argument : arguments) {
    absl::StatusOr<Literal> value = argument->Await();
    if (!value.ok()) return value.status();
    values.push_back(*std::move(value));
    argument.reset();  // a donated value is let go when it was read last
  }
  ir::EvaluateOptions options;
  options.products = device.products_.get();
  ir::Evaluation evaluation(std::move(options));
  absl::StatusOr<std::vector<Literal>> results =
      evaluation.Run(*module_, std::move(values));
  if (!results.ok()) {
    return absl::Status(
        results.status().code(),
        absl::StrCat(module_->name, ": ", results.status().message()));
  }
  return results;
}

Client::Client(const ClientOptions& options, const Preset& preset)
    : options_(options), preset_(&preset) {
  for (int id = 0; id < options.devices; ++id)
    devices_.push_back(std::make_unique<Device>(*this, id));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(
    const ClientOptions& options) {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    if (preset.cell == Cell::kBf16) names.emplace_back(preset.name);
  }
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr || preset->cell != Cell::kBf16) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "preset '%s' %s; those with the bf16 cell are %s", options.preset,
        preset == nullptr ? "does not exist" : "has no bf16 cell",
        absl::StrJoin(names, ", ")));
  }
  if (options.backend != "iss" && options.backend != "rtl") {
    return absl::InvalidArgumentError(absl::StrFormat(
        "backend '%s' does not exist; there are iss, rtl", options.backend));
  }
  if (options.backend == "rtl" && options.devices > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.devices,
        " devices: the RTL's simulator has one in a process; the iss has any "
        "number"));
  }
  if (options.devices < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.devices, " devices"));
  }
  return std::unique_ptr<Client>(new Client(options, *preset));
}

absl::StatusOr<std::shared_ptr<Executable>> Client::Compile(
    std::unique_ptr<ir::Module> module) {
  if (absl::Status s = ir::Verify(*module); !s.ok()) return s;
  if (!options_.host_operators) {
    if (absl::Status s = RefuseHost(module->name, PlacementOf(*module));
        !s.ok())
      return s;
  }
  return std::shared_ptr<Executable>(new Executable(std::move(module)));
}

}  // namespace systole::runtime
