// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/client.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/runtime/array_products.h"
#include "host/runtime/guarded.h"
#include "host/runtime/kernel_executor.h"
#include "host/runtime/placement.h"
#include "systole/target.h"

namespace systole::runtime {

using ir::Literal;

Device::Device(Client& client, int id)
    : client_(client),
      id_(id),
      core_(std::make_unique<Core>(client.options())),
      products_(std::make_unique<ArrayProducts>(
          *core_, client.options().host_operators)) {}

Device::~Device() = default;

CoreWork Device::TakeWork() { return core_->TakeWork(); }

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
  if (!value.ok()) return ready_->Set(value.status());
  SetPlaced(OnHost(*std::move(value)));
}

void Buffer::SetPlaced(absl::StatusOr<PlacedValue> value) {
  if (value.ok()) value_ = *std::move(value);
  ready_->Set(value.status());
}

absl::StatusOr<Literal> Buffer::Await() const {
  if (absl::Status s = ready_->Await(); !s.ok()) return s;
  return *value_->host;
}

namespace {

std::unique_ptr<ir::Module> Lowered(std::unique_ptr<ir::Module> module,
                                    const Preset& preset) {
  lanes::LowerModule(*module, preset);
  return module;
}

}  // namespace

Executable::Executable(std::unique_ptr<ir::Module> module, const Preset& preset)
    : module_(Lowered(std::move(module), preset)),
      plan_(lanes::PlanFor(*module_, preset)),
      placement_(PlacementOf(*module_, plan_, preset)) {
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
    absl::StatusOr<PlacedValues> values =
        self->Evaluate(std::move(held), device);
    for (size_t i = 0; i < results.size(); ++i) {
      results[i]->SetPlaced(values.ok()
                                ? absl::StatusOr<PlacedValue>((*values)[i])
                                : values.status());
    }
    done->Set(values.status());
  });
  return execution;
}

PlacedValues Executable::Constants(const Device& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  PlacedValues& values = constants_[device.id()];
  if (values.empty()) {
    for (const auto& [slot, literal] : plan_.constants)
      values.push_back(OnHost(literal));
  }
  return values;
}

absl::StatusOr<PlacedValues> Executable::Evaluate(
    std::vector<std::shared_ptr<Buffer>> arguments, Device& device) {
  PlacedValues values;
  for (std::shared_ptr<Buffer>& argument : arguments) {
    const absl::StatusOr<Literal> value = argument->Await();
    if (!value.ok()) return value.status();
    // This device cannot use the memory of another device.
    values.push_back(&argument->device() == &device ? argument->value_
                                                    : OnHost(*value));
    argument.reset();  // a donated value is released after its last read
  }
  absl::StatusOr<PlacedValues> results =
      Guarded([&] { return Run(std::move(values), device); });
  if (!results.ok()) {
    return absl::Status(
        results.status().code(),
        absl::StrCat(module_->name, ": ", results.status().message()));
  }
  return results;
}

absl::StatusOr<PlacedValues> Executable::Run(PlacedValues arguments,
                                             Device& device) {
  KernelExecutor executor(*device.core_, *device.products_);
  absl::StatusOr<PlacedValues> results =
      executor.Run(plan_, std::move(arguments), Constants(device));
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < results_.size(); ++i) {
    PlacedValue& result = (*results)[i];
    const absl::StatusOr<Literal> literal =
        executor.ToHost(*result, results_[i]);
    if (!literal.ok()) return literal.status();
    // Another user may see the same memory with another type.
    if (result->host->element() != results_[i].element) {
      auto view = std::make_shared<Place>(*result);
      view->host = *literal;
      result = std::move(view);
    }
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
  if (absl::Status s = ir::Verify(*module); !s.ok()) {
    return absl::Status(s.code(),
                        absl::StrCat(module->name, ": ", s.message()));
  }
  std::shared_ptr<Executable> executable(
      new Executable(std::move(module), preset()));
  if (!options_.host_operators) {
    if (absl::Status s =
            RefuseHost(executable->module().name, executable->placement());
        !s.ok())
      return s;
  }
  return executable;
}

}  // namespace systole::runtime
