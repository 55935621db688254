// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Devices, their descriptions and memories.
#include <cstring>
#include <iterator>

#include "host/pjrt/objects.h"

namespace systole::pjrt {
namespace {

PJRT_Error* DescriptionId(PJRT_DeviceDescription_Id_Args* args) {
  args->id = args->device_description->id;
  return nullptr;
}

PJRT_Error* DescriptionProcess(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  args->process_index = 0;
  return nullptr;
}

PJRT_Error* DescriptionAttributes(
    PJRT_DeviceDescription_Attributes_Args* args) {
  args->attributes = args->device_description->attributes.data();
  args->num_attributes = args->device_description->attributes.size();
  return nullptr;
}

PJRT_Error* DescriptionKind(PJRT_DeviceDescription_Kind_Args* args) {
  args->device_kind = args->device_description->kind.data();
  args->device_kind_size = args->device_description->kind.size();
  return nullptr;
}

PJRT_Error* DescriptionDebug(PJRT_DeviceDescription_DebugString_Args* args) {
  args->debug_string = args->device_description->text.data();
  args->debug_string_size = args->device_description->text.size();
  return nullptr;
}

PJRT_Error* DescriptionToString(PJRT_DeviceDescription_ToString_Args* args) {
  args->to_string = args->device_description->text.data();
  args->to_string_size = args->device_description->text.size();
  return nullptr;
}

PJRT_Error* GetDescription(PJRT_Device_GetDescription_Args* args) {
  args->device_description = &args->device->description;
  return nullptr;
}

PJRT_Error* IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = true;
  return nullptr;
}

PJRT_Error* LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = args->device->description.id;
  return nullptr;
}

PJRT_Error* Memories(PJRT_Device_AddressableMemories_Args* args) {
  args->memories = args->device->memories;
  args->num_memories = std::size(args->device->memories);
  return nullptr;
}

PJRT_Error* DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  args->memory = &args->device->memory;
  return nullptr;
}

PJRT_Error* MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  const runtime::Device& device = *args->device->device;
  const size_t size = args->struct_size;
  std::memset(&args->device + 1, 0,
              size - offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use));
  args->bytes_in_use = device.bytes_in_use();
  args->peak_bytes_in_use = device.peak_bytes();
  args->peak_bytes_in_use_is_set = true;
  args->bytes_limit =
      static_cast<int64_t>(device.client().preset().memory_bytes());
  args->bytes_limit_is_set = true;
  return nullptr;
}

PJRT_Error* MemoryId(PJRT_Memory_Id_Args* args) {
  args->id = args->memory->id;
  return nullptr;
}

PJRT_Error* MemoryKind(PJRT_Memory_Kind_Args* args) {
  args->kind = kMemoryKinds[args->memory->kind];
  args->kind_size = std::strlen(args->kind);
  return nullptr;
}

PJRT_Error* MemoryKindId(PJRT_Memory_Kind_Id_Args* args) {
  args->kind_id = args->memory->kind;
  return nullptr;
}

PJRT_Error* MemoryDebug(PJRT_Memory_DebugString_Args* args) {
  args->debug_string = args->memory->text.data();
  args->debug_string_size = args->memory->text.size();
  return nullptr;
}

PJRT_Error* MemoryToString(PJRT_Memory_ToString_Args* args) {
  args->to_string = args->memory->text.data();
  args->to_string_size = args->memory->text.size();
  return nullptr;
}

PJRT_Error* MemoryDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  args->devices = args->memory->device->self;
  args->num_devices = 1;
  return nullptr;
}

}  // namespace

void FillDevice(PJRT_Api& api) {
  api.PJRT_DeviceDescription_Id = DescriptionId;
  api.PJRT_DeviceDescription_ProcessIndex = DescriptionProcess;
  api.PJRT_DeviceDescription_Attributes = DescriptionAttributes;
  api.PJRT_DeviceDescription_Kind = DescriptionKind;
  api.PJRT_DeviceDescription_DebugString = DescriptionDebug;
  api.PJRT_DeviceDescription_ToString = DescriptionToString;
  api.PJRT_Device_GetDescription = GetDescription;
  api.PJRT_Device_IsAddressable = IsAddressable;
  api.PJRT_Device_LocalHardwareId = LocalHardwareId;
  api.PJRT_Device_AddressableMemories = Memories;
  api.PJRT_Device_DefaultMemory = DefaultMemory;
  api.PJRT_Device_MemoryStats = MemoryStats;
  api.PJRT_Memory_Id = MemoryId;
  api.PJRT_Memory_Kind = MemoryKind;
  api.PJRT_Memory_Kind_Id = MemoryKindId;
  api.PJRT_Memory_DebugString = MemoryDebug;
  api.PJRT_Memory_ToString = MemoryToString;
  api.PJRT_Memory_AddressableByDevices = MemoryDevices;
}

}  // namespace systole::pjrt
