// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The objects behind the handles of the PJRT C API. Each API function checks
// the size of its argument structure and returns a status.
#ifndef SYSTOLE_HOST_PJRT_OBJECTS_H_
#define SYSTOLE_HOST_PJRT_OBJECTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/pjrt/compile_options.h"
#include "host/pjrt/golden_check.h"
#include "host/pjrt/propagation.h"
#include "host/runtime/client.h"
#include "host/runtime/guarded.h"
#include "pjrt_c_api.h"

struct PJRT_Error {
  absl::Status status;
};

struct PJRT_Event {
  std::shared_ptr<systole::runtime::Event> event;
};

struct PJRT_DeviceDescription {
  int id = 0;
  std::string kind;  // "Systole v2"
  std::string text;  // "SystoleDevice(id=0, coords=(0,0,0), core_on_chip=0)"
  int64_t coords[3] = {0, 0, 0};            // of its chip
  std::vector<PJRT_NamedValue> attributes;  // coords, core_on_chip
};

struct PJRT_Memory {
  PJRT_Device* device = nullptr;
  int id = 0;
  int kind = 0;  // of kMemoryKinds
  std::string text;
};

struct PJRT_Device {
  PJRT_DeviceDescription description;
  PJRT_Memory memory, pinned, unpinned;
  PJRT_Memory* memories[3] = {&memory, &pinned, &unpinned};
  PJRT_Device* self[1] = {this};
  systole::runtime::Device* device = nullptr;
};

struct PJRT_TopologyDescription {
  std::vector<PJRT_DeviceDescription*> descriptions;
};

struct PJRT_Client {
  std::unique_ptr<systole::runtime::Client> client;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> device_list;
  std::vector<PJRT_Memory*> memory_list;
  PJRT_TopologyDescription topology;
  std::unique_ptr<systole::pjrt::Propagation> propagation;
};

struct PJRT_Buffer {
  PJRT_Memory* memory = nullptr;
  std::shared_ptr<systole::runtime::Buffer> buffer;  // null: deleted
  systole::ir::Type type;                            // remains after deletion
  // Of complex64, as pairs of f32 along a last dimension of `type` that callers
  // do not see.
  bool is_complex = false;
  std::vector<int64_t> minor_to_major;

  size_t rank() const { return type.shape.size() - (is_complex ? 1 : 0); }
};

namespace systole::pjrt {

// What jax reads of a compiled program: in XLA's notation.
struct Shardings {
  std::vector<std::string> inputs, outputs;
};

}  // namespace systole::pjrt

// Shared by all loaded copies of an executable. PJRT frees an executable and
// its loaded copies separately.
struct PJRT_Executable {
  std::shared_ptr<systole::runtime::Executable> executable;
  std::shared_ptr<const systole::pjrt::GoldenCheck> check;  // null: none
  std::vector<bool> donated;  // arguments that may be overwritten
  std::vector<bool> complex_arguments, complex_results;
  systole::pjrt::CompileOptions options;
  std::string name;
  systole::pjrt::Shardings shardings;  // of several partitions
  std::string text;                    // what it is, without its operations
  // What it was made of, for another process: StableHLO, with suggestions if
  // there are any, and the options.
  std::string code, option_bytes;
  bool suggested = false;
  std::vector<PJRT_Buffer_Type> types;
  std::vector<int64_t> dims;  // of all results, concatenated
  std::vector<size_t> ranks;
  std::vector<int> memories;  // of results: kinds
  std::vector<const char*> memory_kinds;
  std::vector<size_t> memory_kind_sizes;
  std::vector<PJRT_NamedValue> costs;
};

struct PJRT_LoadedExecutable {
  PJRT_Client* client = nullptr;
  std::shared_ptr<const PJRT_Executable> executable;
  std::vector<PJRT_Device*> devices;
  bool deleted = false;
};

namespace systole::pjrt {

inline constexpr char kPlatform[] = "systole";
// The names of a device's memories, as jax knows them: its own, and two in
// which values are on the host.
inline constexpr const char* kMemoryKinds[] = {"device", "pinned_host",
                                               "unpinned_host"};
inline runtime::Memory PlaceOf(int kind) {
  return kind == 0 ? runtime::Memory::kDevice : runtime::Memory::kHost;
}

// Converts between element types of the API and of the IR; the latter of
// complex numbers is that of their parts. Errors: Unimplemented for types that
// the devices do not support.
absl::StatusOr<ir::ElementType> ElementTypeOf(PJRT_Buffer_Type type);
PJRT_Buffer_Type TypeOf(ir::ElementType element, bool is_complex);

PJRT_Error* Wrap(absl::Status status);
PJRT_Event* Wrap(std::shared_ptr<runtime::Event> event);
PJRT_Buffer* Wrap(PJRT_Memory* memory, std::shared_ptr<runtime::Buffer> buffer,
                  bool is_complex);

// Errors: FailedPrecondition if the buffer was deleted or donated.
absl::Status CheckAlive(const PJRT_Buffer* buffer);

// Runs an API function and catches all exceptions.
template <typename Args, typename Function>
PJRT_Error* Call(Args* args, size_t least_size, Function function) {
  if (args->struct_size < least_size) {
    return Wrap(absl::InvalidArgumentError(absl::StrCat(
        "a caller with a structure of ", args->struct_size, " bytes where ",
        least_size, " are needed: its PJRT is too old for this plugin")));
  }
  return Wrap(runtime::Guarded(function));
}

// Each file fills its part of the function table.
void FillClient(PJRT_Api& api);
void FillDevice(PJRT_Api& api);
void FillCompile(PJRT_Api& api);
void FillExecutable(PJRT_Api& api);
void FillBuffer(PJRT_Api& api);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_OBJECTS_H_
