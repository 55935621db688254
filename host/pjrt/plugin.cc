// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The entry point: function table, errors, events.
#include <algorithm>
#include <cstring>

#include "host/pjrt/objects.h"

namespace systole::pjrt {
namespace {

// The StableHLO version requested for artifacts. Later versions have the same
// operations.
constexpr int64_t kStableHloVersion[] = {1, 9, 0};

PJRT_NamedValue Attribute(const char* name, const int64_t* values,
                          size_t count) {
  PJRT_NamedValue value;
  std::memset(&value, 0, sizeof(value));
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = name;
  value.name_size = std::strlen(name);
  value.type = PJRT_NamedValue_kInt64List;
  value.int64_array_value = values;
  value.value_size = count;
  return value;
}

PJRT_Error* Initialize(PJRT_Plugin_Initialize_Args*) { return nullptr; }

PJRT_Error* Attributes(PJRT_Plugin_Attributes_Args* args) {
  static const PJRT_NamedValue kAttributes[] = {
      Attribute("stablehlo_current_version", kStableHloVersion, 3),
      Attribute("stablehlo_minimum_version", kStableHloVersion, 3)};
  args->attributes = kAttributes;
  args->num_attributes = std::size(kAttributes);
  return nullptr;
}

void ErrorDestroy(PJRT_Error_Destroy_Args* args) { delete args->error; }

void ErrorMessage(PJRT_Error_Message_Args* args) {
  const absl::string_view message = args->error->status.message();
  args->message = message.data();
  args->message_size = message.size();
}

PJRT_Error* ErrorGetCode(PJRT_Error_GetCode_Args* args) {
  args->code = static_cast<PJRT_Error_Code>(args->error->status.code());
  return nullptr;
}

PJRT_Error* EventDestroy(PJRT_Event_Destroy_Args* args) {
  delete args->event;
  return nullptr;
}

PJRT_Error* EventIsReady(PJRT_Event_IsReady_Args* args) {
  args->is_ready = args->event->event->ready();
  return nullptr;
}

PJRT_Error* EventAwait(PJRT_Event_Await_Args* args) {
  return Wrap(args->event->event->Await());
}

// Only called for ready events.
PJRT_Error* EventError(PJRT_Event_Error_Args* args) {
  return Wrap(args->event->event->Await());
}

PJRT_Error* EventOnReady(PJRT_Event_OnReady_Args* args) {
  args->event->event->OnReady([callback = args->callback,
                               user = args->user_arg](const absl::Status& s) {
    callback(Wrap(s), user);
  });
  return nullptr;
}

PJRT_Api MakeApi() {
  PJRT_Api api;
  std::memset(&api, 0, sizeof(api));
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = ErrorDestroy;
  api.PJRT_Error_Message = ErrorMessage;
  api.PJRT_Error_GetCode = ErrorGetCode;
  api.PJRT_Plugin_Initialize = Initialize;
  api.PJRT_Plugin_Attributes = Attributes;
  api.PJRT_Event_Destroy = EventDestroy;
  api.PJRT_Event_IsReady = EventIsReady;
  api.PJRT_Event_Error = EventError;
  api.PJRT_Event_Await = EventAwait;
  api.PJRT_Event_OnReady = EventOnReady;
  FillClient(api);
  FillDevice(api);
  FillCompile(api);
  FillExecutable(api);
  FillBuffer(api);
  return api;
}

}  // namespace

absl::StatusOr<ir::ElementType> ElementTypeOf(PJRT_Buffer_Type type) {
  using ir::ElementType;
  switch (type) {
    case PJRT_Buffer_Type_PRED:
      return ElementType::kBool;
    case PJRT_Buffer_Type_S8:
      return ElementType::kInt8;
    case PJRT_Buffer_Type_S16:
      return ElementType::kInt16;
    case PJRT_Buffer_Type_S32:
      return ElementType::kInt32;
    case PJRT_Buffer_Type_S64:
      return ElementType::kInt64;
    case PJRT_Buffer_Type_U8:
      return ElementType::kUint8;
    case PJRT_Buffer_Type_U16:
      return ElementType::kUint16;
    case PJRT_Buffer_Type_U32:
      return ElementType::kUint32;
    case PJRT_Buffer_Type_U64:
      return ElementType::kUint64;
    case PJRT_Buffer_Type_F16:
      return ElementType::kFloat16;
    case PJRT_Buffer_Type_BF16:
      return ElementType::kBfloat16;
    case PJRT_Buffer_Type_F32:
    case PJRT_Buffer_Type_C64:
      return ElementType::kFloat32;
    case PJRT_Buffer_Type_F64:
      return absl::UnimplementedError(
          "values of 64-bit floats: the devices compute in bf16 and f32; leave "
          "jax_enable_x64 off");
    case PJRT_Buffer_Type_C128:
      return absl::UnimplementedError(
          "complex values of 64-bit floats: complex64 is supported; leave "
          "jax_enable_x64 off");
    default:
      return absl::UnimplementedError(absl::StrCat(
          "values of the element type ", static_cast<int>(type),
          " of PJRT_Buffer_Type: 4-bit and 8-bit floats, 2-bit and 4-bit "
          "integers and tokens are not supported"));
  }
}

PJRT_Buffer_Type TypeOf(ir::ElementType element, bool is_complex) {
  using ir::ElementType;
  if (is_complex) return PJRT_Buffer_Type_C64;
  switch (element) {
    case ElementType::kBool:
      return PJRT_Buffer_Type_PRED;
    case ElementType::kInt8:
      return PJRT_Buffer_Type_S8;
    case ElementType::kInt16:
      return PJRT_Buffer_Type_S16;
    case ElementType::kInt32:
      return PJRT_Buffer_Type_S32;
    case ElementType::kInt64:
      return PJRT_Buffer_Type_S64;
    case ElementType::kUint8:
      return PJRT_Buffer_Type_U8;
    case ElementType::kUint16:
      return PJRT_Buffer_Type_U16;
    case ElementType::kUint32:
      return PJRT_Buffer_Type_U32;
    case ElementType::kUint64:
      return PJRT_Buffer_Type_U64;
    case ElementType::kFloat16:
      return PJRT_Buffer_Type_F16;
    case ElementType::kBfloat16:
      return PJRT_Buffer_Type_BF16;
    case ElementType::kFloat32:
      return PJRT_Buffer_Type_F32;
  }
  return PJRT_Buffer_Type_INVALID;
}

PJRT_Error* Wrap(absl::Status status) {
  return status.ok() ? nullptr : new PJRT_Error{std::move(status)};
}

PJRT_Event* Wrap(std::shared_ptr<runtime::Event> event) {
  return new PJRT_Event{std::move(event)};
}

}  // namespace systole::pjrt

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api kApi = systole::pjrt::MakeApi();
  return &kApi;
}
