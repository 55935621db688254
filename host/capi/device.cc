// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/capi/device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/capi/arrays.h"
#include "host/runtime/board.h"
#include "systole/target.h"

namespace systole::capi {
namespace {

using ir::Literal;

constexpr std::chrono::milliseconds kAskEvery{20};

absl::Status At(const char* what, size_t index, const std::string& name,
                const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(what, " ", index,
                   name.empty() ? std::string() : " '" + name + "'", ": ",
                   status.message()));
}

absl::Status CheckCounts(const Program& program, size_t inputs,
                         size_t outputs) {
  const auto list = [](const std::vector<Tensor>& tensors) {
    return absl::StrJoin(tensors, ", ", [](std::string* out, const Tensor& t) {
      absl::StrAppend(out, "'", t.name, "'");
    });
  };
  if (inputs != program.inputs().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        program.name(), ": ", inputs, " inputs instead of ",
        program.inputs().size(), " (", list(program.inputs()), ")"));
  }
  if (outputs != program.outputs().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        program.name(), ": ", outputs, " outputs instead of ",
        program.outputs().size(), " (", list(program.outputs()), ")"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> Device::Open(
    const systole_device_options& options) {
  const std::string backend =
      options.backend == nullptr ? "iss" : options.backend;
  const std::string name = options.preset == nullptr ? "edge" : options.preset;
  auto device = std::make_shared<Device>();
  device->profiled_ = options.profile != 0;
  device->interrupt_ = options.interrupt;
  device->user_ = options.user;
  DeviceOptions core;
  core.preset = name;
  core.simulation.seed = options.seed == 0 ? 1 : options.seed;
  const Preset* preset = FindPreset(name);
  if (preset != nullptr && Target(*preset).float_modules()) {
    if (device->profiled_) core.simulation.probes = {&device->modules_};
    // The client opens its core when the first product comes. What stands
    // against that is told now.
    auto tried = systole::Device::Open(backend, core);
    if (!tried.ok()) return tried.status();
    tried->reset();
    runtime::ClientOptions client;
    client.backend = backend;
    client.preset = name;
    client.device = core;
    if (device->profiled_) client.listener = &device->modules_;
    auto made = runtime::Client::Create(client);
    if (!made.ok()) return made.status();
    device->client_ = *std::move(made);
    return device;
  }
  if (device->profiled_) core.simulation.probes = {&device->probe_};
  // The core is the device's own: it is gone before the device is.
  if (options.interrupt != nullptr)
    core.stop = [self = device.get()] { return self->Interrupted(); };
  auto made = systole::Device::Open(backend, core);
  if (!made.ok()) return made.status();
  device->core_ = *std::move(made);
  return device;
}

bool Device::Interrupted() {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kAskEvery) return false;
  asked_ = now;
  return interrupt_(user_) != 0;
}

// Makes the program the one that runs. Models stay in the core's memory as long
// as their programs are open and there is room.
absl::Status Device::Use(std::shared_ptr<const Program> program) {
  if (program_ == program) return absl::OkStatus();
  timeline_.reset();  // it reads recorder and program
  stats_.reset();
  executable_.reset();
  program_.reset();
  probe_.sink = nullptr;
  runner_ = nullptr;
  recorder_ = nullptr;
  loaded_.erase(std::remove_if(loaded_.begin(), loaded_.end(),
                               [](const std::unique_ptr<Loaded>& l) {
                                 return l->program.use_count() == 1;
                               }),
                loaded_.end());
  if (program->model() != nullptr) {
    const std::string& preset = program->model()->preset();
    const std::string_view own =
        core_ ? core_->preset().name : client_->preset().name;
    if (preset != own) {
      return absl::FailedPreconditionError(
          absl::StrCat(program->name(), ": made for preset '", preset,
                       "', the device is '", std::string(own), "'"));
    }
    const auto found =
        std::find_if(loaded_.begin(), loaded_.end(),
                     [&](const auto& l) { return l->program == program; });
    if (found != loaded_.end()) {
      std::rotate(found, found + 1, loaded_.end());
    } else {
      auto loaded = std::make_unique<Loaded>();
      loaded->program = program;
      std::vector<const systole::Program*> programs;
      for (const systole::Program& p : program->model()->programs)
        programs.push_back(&p);
      if (profiled_) {
        loaded->recorder =
            std::make_unique<profile::Recorder>(std::move(programs));
      }
      if (loader_ == nullptr)
        loader_ = std::make_unique<runtime::Loader>(*core_);
      loaded->runner =
          std::make_unique<runtime::Runner>(*loader_, *program->model());
      loaded_.push_back(std::move(loaded));
    }
    runner_ = loaded_.back()->runner.get();
    recorder_ = loaded_.back()->recorder.get();
    if (profiled_) probe_.sink = recorder_;
  } else {
    if (client_ == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(program->name(),
                       ": StableHLO, float and ONNX models run on bf16 "
                       "presets, the device is '",
                       std::string(core_->preset().name), "'"));
    }
    const runtime::WholeProgram& module = *program->module();
    if (absl::Status s = OpenCores(module, program->name()); !s.ok()) return s;
    auto executable = client_->Compile(module.DeviceModule(), module.grid());
    if (!executable.ok()) return executable.status();
    executable_ = *std::move(executable);
  }
  program_ = std::move(program);
  return absl::OkStatus();
}

absl::Status Device::OpenCores(const runtime::WholeProgram& module,
                               const std::string& name) {
  const int devices = module.devices;
  // A recorder is of all the cores that there are.
  if (profiled_ ? devices == client_->devices() : devices <= client_->devices())
    return absl::OkStatus();
  runtime::ClientOptions more = client_->options();
  more.devices = devices;
  std::unique_ptr<profile::CoresRecorder> cores;
  if (profiled_ && devices == 1) {
    more.listeners.clear();
    more.listener = &modules_;
    more.device.simulation.probes = {&modules_};
  } else if (profiled_) {
    const Preset& preset = client_->preset();
    if (!runtime::Board::IsFor(preset)) {
      return absl::FailedPreconditionError(absl::StrCat(
          name, ": a profile of ", devices,
          " devices is of cores on links, and the chips of preset '",
          std::string(preset.name),
          "' have none; open a device of minichip, litechip or v2chip"));
    }
    cores = std::make_unique<profile::CoresRecorder>(devices, preset);
    more.listener = nullptr;
    more.listeners = cores->listeners();
    more.device.simulation.probes = cores->probes();
  }
  auto made = runtime::Client::Create(more);
  if (!made.ok()) return made.status();
  client_ = *std::move(made);
  cores_ = std::move(cores);  // behind those that it recorded
  return absl::OkStatus();
}

void Device::Forget() {
  timeline_.reset();  // it reads recorder and program
  stats_.reset();
  probe_.sink = nullptr;
  runner_ = nullptr;
  recorder_ = nullptr;
  loaded_.clear();
  executable_.reset();
  program_.reset();
}

// Models that were used longer ago make room where there is none.
absl::StatusOr<runtime::BatchRun> Device::RunBatch(
    const std::vector<Literal>& inputs) {
  for (;;) {
    absl::StatusOr<runtime::BatchRun> run = runner_->Run(inputs);
    if (!absl::IsResourceExhausted(run.status()) || loaded_.size() == 1)
      return run;
    loaded_.erase(loaded_.begin());
  }
}

absl::Status Device::Run(std::shared_ptr<const Program> program,
                         absl::Span<const systole_array> inputs,
                         absl::Span<const systole_array> outputs) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status s = CheckCounts(*program, inputs.size(), outputs.size());
      !s.ok())
    return s;
  if (absl::Status s = Use(std::move(program)); !s.ok()) return s;
  timeline_.reset();
  stats_.reset();
  asked_ = std::chrono::steady_clock::now();
  try {
    return runner_ ? RunModel(inputs, outputs) : RunModule(inputs, outputs);
  } catch (...) {  // no memory, or a callback of the caller in C++
    Forget();
    if (core_) core_->Reset(ResetScope::kCore).IgnoreError();
    throw;
  }
}

absl::Status Device::RunModel(absl::Span<const systole_array> inputs,
                              absl::Span<const systole_array> outputs) {
  systole_run_stats stats = SYSTOLE_RUN_STATS_INIT;
  std::vector<Literal> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = program_->inputs()[i];
    absl::StatusOr<Stack> stack = ReadStack(inputs[i], tensor);
    if (stack.ok() && i > 0 && stack->images != stats.images) {
      stack = absl::InvalidArgumentError(absl::StrCat(
          stack->images, " images, the first input has ", stats.images));
    }
    if (!stack.ok()) return At("input", i, tensor.name, stack.status());
    stats.images = stack->images;
    values.push_back(std::move(stack->values));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = program_->outputs()[i];
    if (absl::Status s = CheckStack(outputs[i], tensor, stats.images); !s.ok())
      return At("output", i, tensor.name, s);
  }
  const runtime::CompiledModel& model = *program_->model();
  RunStats sums;
  std::vector<Literal> results;
  for (int64_t first = 0; first < stats.images; first += model.batch()) {
    const int64_t images = std::min(model.batch(), stats.images - first);
    std::vector<Literal> batch;
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t elements = program_->inputs()[i].type.elements();
      batch.push_back(values[i].Slice(first * elements, images * elements));
    }
    absl::StatusOr<runtime::BatchRun> run = RunBatch(batch);
    if (!run.ok()) {
      Forget();  // memory and units are in whatever state they were left in
      absl::Status reset = core_->Reset(ResetScope::kCore);
      if (reset.ok()) return run.status();
      return absl::Status(
          run.status().code(),
          absl::StrCat(run.status().message(), "; reset: ", reset.message()));
    }
    stats.runs += static_cast<int64_t>(run->runs.size());
    sums.Add(run->stats);
    runs_ = std::move(run->runs);
    if (first == 0) {
      results = std::move(run->outputs);
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i)
      results[i].Append(run->outputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].bytes > 0)
      std::memcpy(outputs[i].data, results[i].data(), outputs[i].bytes);
  }
  stats.cycles = sums.cycles;
  stats.host_cpu_seconds = sums.host_cpu_seconds;
  stats.saturated = sums.acc_saturated ? 1 : 0;
  sums_ = std::move(sums);
  stats_ = stats;
  return absl::OkStatus();
}

absl::Status Device::RunModule(absl::Span<const systole_array> inputs,
                               absl::Span<const systole_array> outputs) {
  const runtime::WholeProgram& module = *program_->module();
  std::vector<Literal> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = program_->inputs()[i];
    if (absl::Status s = CheckExact(inputs[i], tensor); !s.ok())
      return At("input", i, tensor.name, s);
    values.push_back(
        Literal::FromBytes(tensor.type.element, tensor.type.elements(),
                           static_cast<const uint8_t*>(inputs[i].data)));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = program_->outputs()[i];
    if (absl::Status s = CheckExact(outputs[i], tensor); !s.ok())
      return At("output", i, tensor.name, s);
  }
  if (cores_ != nullptr) {
    cores_->Begin();
  } else if (profiled_) {
    modules_.Begin();
  }
  const auto results =
      runtime::RunOnce(module, *executable_, *client_, std::move(values));
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].bytes > 0)
      std::memcpy(outputs[i].data, (*results)[i].data(), outputs[i].bytes);
  }
  runtime::CoreWork work;
  uint64_t cycles = 0;  // of the device that needs most
  for (int d = 0; d < module.devices; ++d) {
    const runtime::CoreWork own = client_->device(d).TakeWork();
    cycles = std::max<uint64_t>(cycles, own.stats.cycles);
    work.Add(own);
  }
  if (client_->board() != nullptr) cycles = client_->board()->TakeCycles();
  systole_run_stats stats = SYSTOLE_RUN_STATS_INIT;
  stats.images = 1;
  stats.runs = work.programs;
  stats.cycles = cycles;
  stats.host_cpu_seconds = work.stats.host_cpu_seconds;
  sums_ = work.stats;
  stats_ = stats;
  return absl::OkStatus();
}

absl::StatusOr<systole_run_stats> Device::Stats() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!stats_)
    return absl::FailedPreconditionError(
        "no run has succeeded on this device yet");
  return *stats_;
}

absl::Status Device::Counters(absl::Span<uint64_t> values) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!stats_)
    return absl::FailedPreconditionError(
        "no run has succeeded on this device yet");
  if (values.size() > sums_.counters.size()) {
    return absl::OutOfRangeError(absl::StrCat(
        values.size(), " counters; there are ", sums_.counters.size()));
  }
  std::copy_n(sums_.counters.begin(), values.size(), values.begin());
  return absl::OkStatus();
}

absl::Status Device::MakeTimeline() {
  if (!profiled_) {
    return absl::FailedPreconditionError(
        "the device was opened without the option profile");
  }
  if (!stats_)
    return absl::FailedPreconditionError(
        "no run has succeeded on this device yet");
  if (timeline_) return absl::OkStatus();
  absl::StatusOr<Timeline> made = program_->model() != nullptr
                                      ? TimelineOfModel()
                                  : cores_ != nullptr ? TimelineOfCores()
                                                      : TimelineOfModule();
  if (!made.ok()) return made.status();
  timeline_ = *std::move(made);
  timeline_->layer_cores.resize(timeline_->layers.size(), 0);
  timeline_->event_cores.resize(timeline_->events.size(), 0);
  for (Event& event : timeline_->events) event.event.name = event.name.c_str();
  return absl::OkStatus();
}

Handles<Device, systole_device>& Devices() {
  static auto& devices = *new Handles<Device, systole_device>("device");
  return devices;
}

}  // namespace systole::capi
