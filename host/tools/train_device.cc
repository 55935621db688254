// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_device.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/tools/waves.h"

namespace systole::tools {

using ir::Literal;

absl::StatusOr<std::unique_ptr<TrainDevice>> TrainDevice::Create(
    const TrainProgram& program, runtime::ClientOptions options) {
  std::unique_ptr<TrainDevice> device(new TrainDevice(program));
  options.listener = device.get();
  auto client = runtime::Client::Create(options);
  if (!client.ok()) return client.status();
  device->client_ = *std::move(client);
  const auto compile = [&](const TrainModule& module) {
    auto compiled = device->client_->Compile(module.program.DeviceModule());
    if (compiled.ok()) return compiled;
    return absl::StatusOr<std::shared_ptr<runtime::Executable>>(absl::Status(
        compiled.status().code(),
        absl::StrCat(module.file, ": ", compiled.status().message())));
  };
  auto step = compile(program.step);
  if (!step.ok()) return step.status();
  device->step_ = *std::move(step);
  if (!program.evaluate) return device;
  auto evaluate = compile(*program.evaluate);
  if (!evaluate.ok()) return evaluate.status();
  device->evaluate_ = *std::move(evaluate);
  return device;
}

absl::Status TrainDevice::Write(const std::vector<Literal>& state) {
  state_.clear();
  for (size_t i = 0; i < state.size(); ++i) {
    state_.push_back(std::make_shared<runtime::Buffer>(
        client_->device(0), program_.state[i].type, state[i]));
  }
  before_ = state_;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Literal>> TrainDevice::ReadState() const {
  std::vector<Literal> state;
  for (const auto& buffer : state_) {
    auto value = buffer->Await();
    if (!value.ok()) return value.status();
    state.push_back(*std::move(value));
  }
  return state;
}

absl::StatusOr<runtime::Arguments> TrainDevice::Run(
    runtime::Executable& executable, std::vector<Literal> arguments) {
  runtime::Arguments all = state_;
  for (Literal& argument : arguments) {
    all.push_back(std::make_shared<runtime::Buffer>(
        client_->device(0), executable.parameters()[all.size()],
        std::move(argument)));
  }
  std::vector<size_t> kept(state_.size());  // for Undo
  std::iota(kept.begin(), kept.end(), 0);
  const auto execution = executable.Execute(all, client_->device(0), kept);
  if (!execution.ok()) return execution.status();
  const absl::Status s = execution->done->Await();
  if (s.ok()) return execution->results;
  const bool steps = &executable == step_.get();
  const std::string& file =
      steps ? program_.step.file : program_.evaluate->file;
  return absl::Status(s.code(), absl::StrCat(file, ": ", s.message()));
}

absl::StatusOr<std::vector<Literal>> TrainDevice::Step(
    std::vector<Literal> arguments) {
  auto results = Run(*step_, std::move(arguments));
  if (!results.ok()) return results.status();
  const auto behind = results->begin() + program_.state.size();
  std::vector<Literal> values;
  for (auto it = behind; it != results->end(); ++it) {
    auto value = (*it)->Await();
    if (!value.ok()) return value.status();
    values.push_back(*std::move(value));
  }
  before_ = std::exchange(state_, {results->begin(), behind});
  return values;
}

absl::StatusOr<std::vector<Literal>> TrainDevice::Evaluate(
    std::vector<Literal> arguments) {
  const auto results = Run(*evaluate_, std::move(arguments));
  if (!results.ok()) return results.status();
  std::vector<Literal> values;
  for (const auto& result : *results) {
    auto value = result->Await();
    if (!value.ok()) return value.status();
    values.push_back(*std::move(value));
  }
  return values;
}

void TrainDevice::RecordWrong() {
  systole::Device* const hardware = client_->device(0).hardware();
  if (hardware != nullptr) tools::RecordWrong(*hardware, 0, cycles_);
}

absl::Status TrainDevice::WithWaveform(const absl::Status& status) const {
  const systole::Device* const hardware = client_->device(0).hardware();
  return hardware == nullptr ? status : tools::WithWaveform(*hardware, status);
}

absl::Status TrainDevice::Failed(const systole::Device& device,
                                 absl::Status status) {
  return tools::WithWaveform(device, status);
}

}  // namespace systole::tools
