// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clients and topologies.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "host/pjrt/caller.h"
#include "host/pjrt/objects.h"

namespace systole::pjrt {
namespace {

using runtime::Client;
using runtime::ClientOptions;

constexpr char kVersion[] = "systole 1.0";
constexpr int kMostDevices = 256;

struct Options : ClientOptions {
  bool propagates = true;
  std::string propagation;  // the command
};

absl::Status SetOption(absl::string_view name, absl::string_view value,
                       Options& options) {
  if (name == "backend") {
    options.backend = std::string(value);
  } else if (name == "preset") {
    options.preset = std::string(value);
  } else if (name == "devices") {
    if (!absl::SimpleAtoi(value, &options.devices) || options.devices < 1 ||
        options.devices > kMostDevices) {
      return absl::InvalidArgumentError(absl::StrCat(
          "devices = '", value, "' is not a number from 1 to ", kMostDevices));
    }
  } else if (name == "fallback") {
    if (value != "allow" && value != "error") {
      return absl::InvalidArgumentError(
          absl::StrCat("fallback = '", value, "' is not allow or error"));
    }
    options.host_operators = value == "allow";
  } else if (name == "propagation") {
    if (value != "shardy" && value != "none") {
      return absl::InvalidArgumentError(
          absl::StrCat("propagation = '", value, "' is not shardy or none"));
    }
    options.propagates = value == "shardy";
  } else if (name == "node_id" || name == "num_nodes") {
    // What jax adds for a program of several processes.
    if (name == "num_nodes" && value != "1") {
      return absl::UnimplementedError(absl::StrCat(
          "jax.distributed with ", value,
          " processes: the devices are those of one process (SYSTOLE_DEVICES); "
          "leave jax.distributed.initialize out"));
    }
  } else if (name == "propagation_command") {
    options.propagation = std::string(value);
  } else if (name == "caller") {
    uint64_t address = 0;
    if (!absl::SimpleAtoi(value, &address)) {
      return absl::InvalidArgumentError(
          absl::StrCat("caller = '", value, "' is not an address"));
    }
    options.caller = CallerAt(address);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown option '", name,
                     "'; there are backend, preset, devices, fallback, "
                     "propagation, propagation_command, caller"));
  }
  return absl::OkStatus();
}

// The caller's options override the environment.
absl::StatusOr<Options> OptionsOf(const PJRT_NamedValue* values, size_t count) {
  Options options;
  constexpr std::pair<const char*, const char*> kVariables[] = {
      {"SYSTOLE_BACKEND", "backend"},
      {"SYSTOLE_PRESET", "preset"},
      {"SYSTOLE_DEVICES", "devices"},
      {"SYSTOLE_FALLBACK", "fallback"},
      {"SYSTOLE_PROPAGATION", "propagation"}};
  for (const auto& [variable, name] : kVariables) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    if (absl::Status s = SetOption(name, value, options); !s.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(variable, ": ", s.message()));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const PJRT_NamedValue& v = values[i];
    const std::string name(v.name, v.name_size);
    std::string text;
    if (v.type == PJRT_NamedValue_kString) {
      text.assign(v.string_value, v.value_size);
    } else if (v.type == PJRT_NamedValue_kInt64) {
      text = absl::StrCat(v.int64_value);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "option '", name, "' is neither a string nor a whole number"));
    }
    if (absl::Status s = SetOption(name, text, options); !s.ok()) return s;
  }
  return options;
}

PJRT_NamedValue Attribute(const char* name, PJRT_NamedValue_Type type) {
  PJRT_NamedValue value;
  std::memset(&value, 0, sizeof(value));
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = name;
  value.name_size = std::strlen(name);
  value.type = type;
  value.value_size = 1;
  return value;
}

// Chips have two cores. They lie in rows, as many in a row as is next to a
// square: eight cores are four chips, 2 x 2.
void Describe(int id, int count, const Preset& preset,
              PJRT_DeviceDescription& out) {
  constexpr int kCores = 2;
  const int row = runtime::TorusOf((count + kCores - 1) / kCores).columns;
  const int chip = id / kCores;
  out.id = id;
  out.kind = absl::StrCat("Systole ", std::string(preset.name));
  out.coords[0] = chip % row;
  out.coords[1] = chip / row;
  out.text =
      absl::StrCat("SystoleDevice(id=", id, ", coords=(", out.coords[0], ",",
                   out.coords[1], ",0), core_on_chip=", id % kCores, ")");
  out.attributes = {Attribute("coords", PJRT_NamedValue_kInt64List),
                    Attribute("core_on_chip", PJRT_NamedValue_kInt64)};
  out.attributes[0].int64_array_value = out.coords;
  out.attributes[0].value_size = 3;
  out.attributes[1].int64_value = id % kCores;
}

PJRT_Error* ClientCreate(PJRT_Client_Create_Args* args) {
  return Call(args, PJRT_STRUCT_SIZE(PJRT_Client_Create_Args, client), [&] {
    absl::StatusOr<Options> options =
        OptionsOf(args->create_options, args->num_options);
    if (!options.ok()) return options.status();
    absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(*options);
    if (!client.ok()) {
      return absl::Status(
          client.status().code(),
          absl::StrCat(client.status().message(),
                       "; SYSTOLE_BACKEND, SYSTOLE_PRESET and SYSTOLE_DEVICES "
                       "name others"));
    }
    auto made = std::make_unique<PJRT_Client>();
    made->client = *std::move(client);
    if (options->propagates) {
      made->propagation =
          std::make_unique<Propagation>(std::move(options->propagation));
    }
    for (int id = 0; id < made->client->devices(); ++id) {
      auto device = std::make_unique<PJRT_Device>();
      Describe(id, made->client->devices(), made->client->preset(),
               device->description);
      device->device = &made->client->device(id);
      made->device_list.push_back(device.get());
      for (int kind = 0; kind < 3; ++kind) {
        PJRT_Memory& memory = *device->memories[kind];
        memory.device = device.get();
        memory.id = kind * made->client->devices() + id;
        memory.kind = kind;
        memory.text = absl::StrCat("SystoleMemory(id=", memory.id,
                                   ", kind=", kMemoryKinds[kind], ")");
        made->memory_list.push_back(&memory);
      }
      made->topology.descriptions.push_back(&device->description);
      made->devices.push_back(std::move(device));
    }
    args->client = made.release();
    return absl::OkStatus();
  });
}

// There is one process, which knows itself.
PJRT_Error* UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args*) {
  return nullptr;
}

PJRT_Error* ClientDestroy(PJRT_Client_Destroy_Args* args) {
  delete args->client;
  return nullptr;
}

template <typename Args>
PJRT_Error* PlatformName(Args* args) {
  args->platform_name = kPlatform;
  args->platform_name_size = std::strlen(kPlatform);
  return nullptr;
}

template <typename Args>
PJRT_Error* PlatformVersion(Args* args) {
  args->platform_version = kVersion;
  args->platform_version_size = std::strlen(kVersion);
  return nullptr;
}

PJRT_Error* ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = 0;
  return nullptr;
}

PJRT_Error* Devices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->device_list.data();
  args->num_devices = args->client->device_list.size();
  return nullptr;
}

PJRT_Error* AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = args->client->device_list.data();
  args->num_addressable_devices = args->client->device_list.size();
  return nullptr;
}

absl::StatusOr<PJRT_Device*> Find(PJRT_Client* client, int id) {
  if (id < 0 || id >= static_cast<int>(client->device_list.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no device ", id, "; there are ", client->device_list.size()));
  }
  return client->device_list[id];
}

PJRT_Error* LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  absl::StatusOr<PJRT_Device*> device = Find(args->client, args->id);
  if (device.ok()) args->device = *device;
  return Wrap(device.status());
}

PJRT_Error* LookupAddressable(PJRT_Client_LookupAddressableDevice_Args* args) {
  absl::StatusOr<PJRT_Device*> device =
      Find(args->client, args->local_hardware_id);
  if (device.ok()) args->addressable_device = *device;
  return Wrap(device.status());
}

PJRT_Error* Memories(PJRT_Client_AddressableMemories_Args* args) {
  args->addressable_memories = args->client->memory_list.data();
  args->num_addressable_memories = args->client->memory_list.size();
  return nullptr;
}

PJRT_Error* DefaultAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  const size_t count =
      static_cast<size_t>(args->num_replicas) * args->num_partitions;
  if (count > args->client->device_list.size() ||
      count > args->default_assignment_size) {
    return Wrap(absl::InvalidArgumentError(
        absl::StrCat(count, " devices are asked for, there are ",
                     args->client->device_list.size(), " (SYSTOLE_DEVICES)")));
  }
  for (size_t i = 0; i < count; ++i)
    args->default_assignment[i] = static_cast<int>(i);
  return nullptr;
}

PJRT_Error* Topology(PJRT_Client_TopologyDescription_Args* args) {
  args->topology = &args->client->topology;
  return nullptr;
}

PJRT_Error* TopologyCreate(PJRT_TopologyDescription_Create_Args*) {
  return Wrap(absl::UnimplementedError(
      "a topology without a client: compile on a client instead"));
}

// A client owns its topology.
PJRT_Error* TopologyDestroy(PJRT_TopologyDescription_Destroy_Args*) {
  return nullptr;
}

PJRT_Error* TopologyDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return nullptr;
}

PJRT_Error* TopologyAttributes(PJRT_TopologyDescription_Attributes_Args* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return nullptr;
}

PJRT_Error* TopologySerialize(PJRT_TopologyDescription_Serialize_Args*) {
  return Wrap(absl::UnimplementedError("topologies are not serialised"));
}

}  // namespace

void FillClient(PJRT_Api& api) {
  api.PJRT_Client_Create = ClientCreate;
  api.PJRT_Client_Destroy = ClientDestroy;
  api.PJRT_Client_UpdateGlobalProcessInfo = UpdateGlobalProcessInfo;
  api.PJRT_Client_PlatformName = PlatformName<PJRT_Client_PlatformName_Args>;
  api.PJRT_Client_PlatformVersion =
      PlatformVersion<PJRT_Client_PlatformVersion_Args>;
  api.PJRT_Client_ProcessIndex = ProcessIndex;
  api.PJRT_Client_Devices = Devices;
  api.PJRT_Client_AddressableDevices = AddressableDevices;
  api.PJRT_Client_LookupDevice = LookupDevice;
  api.PJRT_Client_LookupAddressableDevice = LookupAddressable;
  api.PJRT_Client_AddressableMemories = Memories;
  api.PJRT_Client_DefaultDeviceAssignment = DefaultAssignment;
  api.PJRT_Client_TopologyDescription = Topology;
  api.PJRT_TopologyDescription_Create = TopologyCreate;
  api.PJRT_TopologyDescription_Destroy = TopologyDestroy;
  api.PJRT_TopologyDescription_PlatformName =
      PlatformName<PJRT_TopologyDescription_PlatformName_Args>;
  api.PJRT_TopologyDescription_PlatformVersion =
      PlatformVersion<PJRT_TopologyDescription_PlatformVersion_Args>;
  api.PJRT_TopologyDescription_GetDeviceDescriptions = TopologyDescriptions;
  api.PJRT_TopologyDescription_Attributes = TopologyAttributes;
  api.PJRT_TopologyDescription_Serialize = TopologySerialize;
}

}  // namespace systole::pjrt
