// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The functions of systole.h.
#include "systole.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/capi/device.h"
#include "host/capi/processor.h"
#include "host/capi/program.h"
#include "host/capi/status.h"
#include "systole/gen/csr.h"
#include "systole/gen/presets.h"

namespace systole::capi {
namespace {

constexpr const char* kStatusNames[] = {
    "OK",        "CANCELLED",           "INVALID_ARGUMENT",
    "NOT_FOUND", "FAILED_PRECONDITION", "UNIMPLEMENTED",
    "DATA_LOSS", "RESOURCE_EXHAUSTED",  "UNAVAILABLE",
    "ABORTED",   "OUT_OF_RANGE",        "INTERNAL"};
constexpr const char* kTypeNames[] = {
    "bool",   "int8",   "int16",  "int32",    "int64",   "uint8",
    "uint16", "uint32", "uint64", "bfloat16", "float16", "float32"};
constexpr int kNumTypes = 12;
static_assert(static_cast<int>(ir::ElementType::kBool) == SYSTOLE_BOOL);
static_assert(static_cast<int>(ir::ElementType::kUint8) == SYSTOLE_UINT8);
static_assert(static_cast<int>(ir::ElementType::kFloat32) == SYSTOLE_FLOAT32);

bool IsType(systole_type type) {
  return static_cast<int>(type) >= 0 && static_cast<int>(type) < kNumTypes;
}

std::string& LastError() {
  thread_local std::string error;
  return error;
}

systole_status CodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return SYSTOLE_OK;
    case absl::StatusCode::kCancelled:
      return SYSTOLE_CANCELLED;
    case absl::StatusCode::kInvalidArgument:
      return SYSTOLE_INVALID_ARGUMENT;
    case absl::StatusCode::kNotFound:
      return SYSTOLE_NOT_FOUND;
    case absl::StatusCode::kFailedPrecondition:
      return SYSTOLE_FAILED_PRECONDITION;
    case absl::StatusCode::kUnimplemented:
      return SYSTOLE_UNIMPLEMENTED;
    case absl::StatusCode::kDataLoss:
      return SYSTOLE_DATA_LOSS;
    case absl::StatusCode::kResourceExhausted:
      return SYSTOLE_RESOURCE_EXHAUSTED;
    case absl::StatusCode::kUnavailable:
      return SYSTOLE_UNAVAILABLE;
    case absl::StatusCode::kAborted:
      return SYSTOLE_ABORTED;
    case absl::StatusCode::kOutOfRange:
      return SYSTOLE_OUT_OF_RANGE;
    default:
      return SYSTOLE_INTERNAL;
  }
}

absl::StatusOr<systole_compile_options> Read(
    const systole_compile_options* options) {
  return ReadOptions(options, kCompileDefaults, "systole_compile_options",
                     kFirstCompileBytes);
}

// Before the first code that only newer processors have.
absl::Status CheckProcessor() {
  const char* reason = systole_processor_lacks();
  return reason == nullptr ? absl::OkStatus()
                           : absl::FailedPreconditionError(reason);
}

absl::Status Hand(absl::StatusOr<std::shared_ptr<Program>> made,
                  systole_program** program) {
  if (!made.ok()) return made.status();
  *program = Programs().Add(*std::move(made));
  return absl::OkStatus();
}

systole_status DescribeTensor(const systole_program* handle, const char* what,
                              const std::vector<Tensor>& (Program::*list)()
                                  const,
                              int32_t index, systole_tensor* out) {
  return Guard([&]() -> absl::Status {
    const auto program = Programs().Find(handle);
    if (!program.ok()) return program.status();
    if (absl::Status s = CheckPointer(out, "tensor"); !s.ok()) return s;
    const std::vector<Tensor>& tensors = ((**program).*list)();
    if (absl::Status s = CheckIndex(what, index, tensors); !s.ok()) return s;
    *out = (*program)->Describe(tensors[index]);
    return absl::OkStatus();
  });
}

}  // namespace

systole_status Report(const absl::Status& status) {
  if (!status.ok()) LastError() = std::string(status.message());
  return CodeOf(status.code());
}

}  // namespace systole::capi

using namespace systole::capi;  // NOLINT: what follows is that namespace's C
                                // form

#define SYSTOLE_TEXT_OF(number) #number
#define SYSTOLE_TEXT(number) SYSTOLE_TEXT_OF(number)

const char* systole_version(void) {
  return SYSTOLE_TEXT(SYSTOLE_VERSION_MAJOR) "." SYSTOLE_TEXT(
      SYSTOLE_VERSION_MINOR) "." SYSTOLE_TEXT(SYSTOLE_VERSION_PATCH);
}

int32_t systole_abi_version(void) { return SYSTOLE_ABI_VERSION; }

const char* systole_status_name(systole_status status) {
  const auto index = static_cast<size_t>(status);
  return index < std::size(kStatusNames) ? kStatusNames[index] : "UNKNOWN";
}

const char* systole_error(void) { return LastError().c_str(); }

size_t systole_type_size(systole_type type) {
  if (!IsType(type)) return 0;
  return systole::ir::ElementBytes(static_cast<systole::ir::ElementType>(type));
}

const char* systole_type_name(systole_type type) {
  return IsType(type) ? kTypeNames[static_cast<int>(type)] : nullptr;
}

int32_t systole_num_presets(void) {
  return static_cast<int32_t>(systole::kPresets.size());
}

systole_status systole_get_preset(int32_t index, systole_preset* preset) {
  return Guard([&]() -> absl::Status {
    if (absl::Status s = CheckPointer(preset, "preset"); !s.ok()) return s;
    if (absl::Status s = CheckIndex("preset", index, systole::kPresets);
        !s.ok())
      return s;
    const systole::Preset& p = systole::kPresets[index];
    // Both point to literals.
    *preset = {p.name.data(), p.cell_name().data(),
               static_cast<int32_t>(p.rows), static_cast<int32_t>(p.cols),
               p.memory_bytes()};
    return absl::OkStatus();
  });
}

systole_status systole_program_load(const char* path,
                                    const systole_compile_options* options,
                                    systole_program** program) {
  return Guard([&]() -> absl::Status {
    if (absl::Status s = CheckProcessor(); !s.ok()) return s;
    if (absl::Status s = CheckPointer(path, "path"); !s.ok()) return s;
    if (absl::Status s = CheckPointer(program, "program"); !s.ok()) return s;
    const auto read = Read(options);
    if (!read.ok()) return read.status();
    return Hand(Program::Load(path, *read), program);
  });
}

systole_status systole_program_parse(const void* bytes, size_t size,
                                     const char* name,
                                     const systole_compile_options* options,
                                     systole_program** program) {
  return Guard([&]() -> absl::Status {
    if (absl::Status s = CheckProcessor(); !s.ok()) return s;
    if (absl::Status s = CheckPointer(bytes, "bytes"); !s.ok()) return s;
    if (absl::Status s = CheckPointer(name, "name"); !s.ok()) return s;
    if (absl::Status s = CheckPointer(program, "program"); !s.ok()) return s;
    const auto read = Read(options);
    if (!read.ok()) return read.status();
    return Hand(
        Program::Parse({static_cast<const char*>(bytes), size}, name, *read),
        program);
  });
}

systole_status systole_program_save(const systole_program* handle,
                                    const char* path) {
  return Guard([&]() -> absl::Status {
    const auto program = Programs().Find(handle);
    if (!program.ok()) return program.status();
    if (absl::Status s = CheckPointer(path, "path"); !s.ok()) return s;
    if ((*program)->model() == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          (*program)->name(),
          ": StableHLO, float and ONNX models have no program file: keep the "
          "artifact that it came from"));
    }
    return systole::runtime::WriteModel(*(*program)->model(), path);
  });
}

systole_status systole_program_close(systole_program* handle) {
  return Guard([&] { return Programs().Remove(handle).status(); });
}

systole_status systole_program_get_info(const systole_program* handle,
                                        systole_program_info* info) {
  return Guard([&]() -> absl::Status {
    const auto found = Programs().Find(handle);
    if (!found.ok()) return found.status();
    const Program& program = **found;
    systole_program_info out = SYSTOLE_PROGRAM_INFO_INIT;
    out.name = program.name().c_str();
    out.preset = program.model() ? program.model()->preset().c_str() : "";
    out.batch = program.model() ? program.model()->batch() : 1;
    out.num_inputs = static_cast<int32_t>(program.inputs().size());
    out.num_outputs = static_cast<int32_t>(program.outputs().size());
    out.placement = program.placement().c_str();
    return FillStruct(out, info, "systole_program_info");
  });
}

systole_status systole_program_input(const systole_program* program,
                                     int32_t index, systole_tensor* tensor) {
  return DescribeTensor(program, "input", &Program::inputs, index, tensor);
}

systole_status systole_program_output(const systole_program* program,
                                      int32_t index, systole_tensor* tensor) {
  return DescribeTensor(program, "output", &Program::outputs, index, tensor);
}

systole_status systole_device_open(const systole_device_options* options,
                                   systole_device** device) {
  return Guard([&]() -> absl::Status {
    if (absl::Status s = CheckProcessor(); !s.ok()) return s;
    if (absl::Status s = CheckPointer(device, "device"); !s.ok()) return s;
    const auto read = ReadOptions<systole_device_options>(
        options, SYSTOLE_DEVICE_OPTIONS_INIT, "systole_device_options");
    if (!read.ok()) return read.status();
    auto opened = Device::Open(*read);
    if (!opened.ok()) return opened.status();
    *device = Devices().Add(*std::move(opened));
    return absl::OkStatus();
  });
}

systole_status systole_device_close(systole_device* handle) {
  return Guard([&] { return Devices().Remove(handle).status(); });
}

systole_status systole_device_run(systole_device* device_handle,
                                  const systole_program* program_handle,
                                  const systole_array* inputs,
                                  int32_t num_inputs,
                                  const systole_array* outputs,
                                  int32_t num_outputs) {
  return Guard([&]() -> absl::Status {
    const auto device = Devices().Find(device_handle);
    if (!device.ok()) return device.status();
    auto program = Programs().Find(program_handle);
    if (!program.ok()) return program.status();
    if (num_inputs < 0 || num_outputs < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(num_inputs, " inputs and ", num_outputs, " outputs"));
    }
    if (num_inputs > 0) {
      if (absl::Status s = CheckPointer(inputs, "inputs"); !s.ok()) return s;
    }
    if (num_outputs > 0) {
      if (absl::Status s = CheckPointer(outputs, "outputs"); !s.ok()) return s;
    }
    return (*device)->Run(*std::move(program),
                          {inputs, static_cast<size_t>(num_inputs)},
                          {outputs, static_cast<size_t>(num_outputs)});
  });
}

systole_status systole_device_get_stats(systole_device* handle,
                                        systole_run_stats* stats) {
  return Guard([&]() -> absl::Status {
    const auto device = Devices().Find(handle);
    if (!device.ok()) return device.status();
    const auto found = (*device)->Stats();
    if (!found.ok()) return found.status();
    return FillStruct(*found, stats, "systole_run_stats");
  });
}

int32_t systole_num_counters(void) { return systole::csr::kNumCounters; }

const char* systole_counter_name(int32_t index) {
  if (index < 0 || index >= systole::csr::kNumCounters) return nullptr;
  return systole::csr::kCounterNames[index].data();  // of a literal
}

systole_status systole_device_get_counters(systole_device* handle,
                                           uint64_t* values, int32_t count) {
  return Guard([&]() -> absl::Status {
    const auto device = Devices().Find(handle);
    if (!device.ok()) return device.status();
    if (count < 0)
      return absl::InvalidArgumentError(absl::StrCat(count, " counters"));
    if (absl::Status s = CheckPointer(values, "values"); !s.ok()) return s;
    return (*device)->Counters({values, static_cast<size_t>(count)});
  });
}
