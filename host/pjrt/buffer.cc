// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Buffers: values on a device, dense and row-major. Complex numbers are pairs
// of f32 along one dimension more.
#include <cstring>
#include <utility>

#include "host/pjrt/objects.h"

namespace systole::pjrt {
namespace {

using runtime::Buffer;
using runtime::Event;

// Copies an array with any strides into dense bytes.
std::vector<uint8_t> Gather(const uint8_t* data, const ir::Type& type,
                            const int64_t* strides) {
  const int64_t element = ir::ElementBytes(type.element);
  std::vector<uint8_t> dense(type.elements() * element);
  std::vector<int64_t> index(type.rank(), 0);
  uint8_t* to = dense.data();
  for (int64_t count = type.elements(); count > 0; --count) {
    std::memcpy(to, data, element);
    to += element;
    for (int d = type.rank() - 1; d >= 0; --d) {
      data += strides[d];
      if (++index[d] < type.shape[d]) break;
      data -= strides[d] * type.shape[d];
      index[d] = 0;
    }
  }
  return dense;
}

bool Dense(const ir::Type& type, const int64_t* strides) {
  int64_t expected = ir::ElementBytes(type.element);
  for (int d = type.rank() - 1; d >= 0; --d) {
    if (type.shape[d] != 1 && strides[d] != expected) return false;
    expected *= type.shape[d];
  }
  return true;
}

PJRT_Error* FromHost(PJRT_Client_BufferFromHostBuffer_Args* args) {
  return Call(
      args, PJRT_STRUCT_SIZE(PJRT_Client_BufferFromHostBuffer_Args, buffer),
      [&]() -> absl::Status {
        absl::StatusOr<ir::ElementType> element = ElementTypeOf(args->type);
        if (!element.ok()) return element.status();
        ir::Type type;
        type.element = *element;
        type.shape.assign(args->dims, args->dims + args->num_dims);
        std::vector<int64_t> strides(
            args->byte_strides, args->byte_strides + args->num_byte_strides);
        const bool is_complex = args->type == PJRT_Buffer_Type_C64;
        if (is_complex) {
          type.shape.push_back(2);
          strides.push_back(ir::ElementBytes(type.element));
        }
        PJRT_Memory* const memory =
            args->memory != nullptr ? args->memory : &args->device->memory;
        const PJRT_Device* device = memory->device;
        const auto* data = static_cast<const uint8_t*>(args->data);
        std::vector<uint8_t> gathered;
        if (args->num_byte_strides != 0 && type.elements() != 0 &&
            !Dense(type, strides.data())) {
          gathered = Gather(data, type, strides.data());
          data = gathered.data();
        }
        ir::Literal value =
            ir::Literal::FromBytes(type.element, type.elements(), data);
        args->buffer = Wrap(
            memory,
            std::make_shared<Buffer>(*device->device, type, std::move(value),
                                     PlaceOf(memory->kind)),
            is_complex);
        // The bytes have been copied already.
        args->done_with_host_buffer = Wrap(Event::Ready());
        return absl::OkStatus();
      });
}

PJRT_Error* Destroy(PJRT_Buffer_Destroy_Args* args) {
  delete args->buffer;
  return nullptr;
}

PJRT_Error* ElementTypeFunction(PJRT_Buffer_ElementType_Args* args) {
  args->type = TypeOf(args->buffer->type.element, args->buffer->is_complex);
  return nullptr;
}

PJRT_Error* Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->type.shape.data();
  args->num_dims = args->buffer->rank();
  return nullptr;
}

PJRT_Error* UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  args->unpadded_dims = args->buffer->type.shape.data();
  args->num_dims = args->buffer->rank();
  return nullptr;
}

PJRT_Error* DynamicDimensions(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  args->dynamic_dim_indices = nullptr;
  args->num_dynamic_dims = 0;
  return nullptr;
}

PJRT_Error* MemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  PJRT_Buffer_MemoryLayout& layout = args->layout;
  std::memset(&layout, 0, sizeof(layout));
  layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout.tiled.minor_to_major = args->buffer->minor_to_major.data();
  layout.tiled.minor_to_major_size = args->buffer->minor_to_major.size();
  return nullptr;
}

PJRT_Error* Size(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  args->on_device_size_in_bytes = args->buffer->type.bytes();
  return nullptr;
}

PJRT_Error* DeviceOf(PJRT_Buffer_Device_Args* args) {
  args->device = args->buffer->memory->device;
  return nullptr;
}

PJRT_Error* MemoryOf(PJRT_Buffer_Memory_Args* args) {
  args->memory = args->buffer->memory;
  return nullptr;
}

PJRT_Error* Delete(PJRT_Buffer_Delete_Args* args) {
  args->buffer->buffer.reset();
  return nullptr;
}

PJRT_Error* IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  args->is_deleted = args->buffer->buffer == nullptr;
  return nullptr;
}

PJRT_Error* IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  args->is_on_cpu = false;
  return nullptr;
}

PJRT_Error* ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  absl::Status alive = CheckAlive(args->buffer);
  if (alive.ok()) args->event = Wrap(args->buffer->buffer->ready());
  return Wrap(alive);
}

// The dimensions from slowest to fastest, if the layout differs from the
// buffer's.
absl::StatusOr<std::vector<int64_t>> OrderOf(
    const PJRT_Buffer_MemoryLayout* layout, const PJRT_Buffer& buffer) {
  std::vector<int64_t> order;
  if (layout == nullptr) return order;
  const size_t rank = buffer.rank();
  if (layout->type != PJRT_Buffer_MemoryLayout_Type_Tiled ||
      layout->tiled.num_tiles != 0 ||
      layout->tiled.minor_to_major_size != rank) {
    return absl::UnimplementedError(
        "values are copied to the host dense, without strides or tiles");
  }
  const int64_t* minor = layout->tiled.minor_to_major;
  order.assign(std::make_reverse_iterator(minor + rank),
               std::make_reverse_iterator(minor));
  // The parts of complex numbers stay together.
  if (buffer.is_complex) order.push_back(buffer.type.rank() - 1);
  bool same = true;
  for (int d = 0; d < buffer.type.rank(); ++d) same = same && order[d] == d;
  if (same) order.clear();
  return order;
}

// Row-major with the dimensions in another order.
std::vector<uint8_t> Reorder(const ir::Literal& value, const ir::Type& type,
                             const std::vector<int64_t>& order) {
  std::vector<int64_t> strides(type.rank()), turned(type.rank());
  int64_t stride = ir::ElementBytes(type.element);
  for (int d = type.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= type.shape[d];
  }
  ir::Type to = type;
  for (int d = 0; d < type.rank(); ++d) {
    to.shape[d] = type.shape[order[d]];
    turned[d] = strides[order[d]];
  }
  return Gather(value.data(), to, turned.data());
}

PJRT_Error* ToHost(PJRT_Buffer_ToHostBuffer_Args* args) {
  return Call(args, PJRT_STRUCT_SIZE(PJRT_Buffer_ToHostBuffer_Args, event),
              [&]() -> absl::Status {
                const ir::Type& type = args->src->type;
                const auto size = static_cast<size_t>(type.bytes());
                if (args->dst == nullptr) {
                  args->dst_size = size;
                  return absl::OkStatus();
                }
                if (absl::Status s = CheckAlive(args->src); !s.ok()) return s;
                if (args->dst_size < size) {
                  return absl::InvalidArgumentError(absl::StrCat(
                      "a value of ", size, " bytes does not fit into ",
                      args->dst_size));
                }
                absl::StatusOr<std::vector<int64_t>> order =
                    OrderOf(args->host_layout, *args->src);
                if (!order.ok()) return order.status();
                auto copied = std::make_shared<Event>();
                args->event = Wrap(copied);
                args->src->buffer->ready()->OnReady(
                    [copied, buffer = args->src->buffer, dst = args->dst, type,
                     order = *std::move(order)](const absl::Status& status) {
                      if (!status.ok()) return copied->Set(status);
                      copied->Set(runtime::Guarded([&]() -> absl::Status {
                        const auto value = buffer->Await();
                        if (!value.ok()) return value.status();
                        if (!order.empty()) {
                          const std::vector<uint8_t> bytes =
                              Reorder(*value, type, order);
                          std::memcpy(dst, bytes.data(), bytes.size());
                        } else if (type.bytes() != 0) {
                          std::memcpy(dst, value->data(), type.bytes());
                        }
                        return absl::OkStatus();
                      }));
                    });
                return absl::OkStatus();
              });
}

PJRT_Error* RawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  return Call(
      args, PJRT_STRUCT_SIZE(PJRT_Buffer_CopyRawToHost_Args, event),
      [&]() -> absl::Status {
        if (absl::Status s = CheckAlive(args->buffer); !s.ok()) return s;
        const int64_t size = args->buffer->type.bytes();
        if (args->offset < 0 || args->transfer_size < 0 ||
            args->offset > size || args->transfer_size > size - args->offset) {
          return absl::InvalidArgumentError(absl::StrCat(
              "bytes ", args->offset, " to ",
              args->offset + args->transfer_size, " of a value of ", size));
        }
        auto copied = std::make_shared<Event>();
        args->event = Wrap(copied);
        args->buffer->buffer->ready()->OnReady(
            [copied, buffer = args->buffer->buffer, dst = args->dst,
             offset = args->offset,
             count = args->transfer_size](const absl::Status& status) {
              if (!status.ok()) return copied->Set(status);
              copied->Set(runtime::Guarded([&]() -> absl::Status {
                const auto value = buffer->Await();
                if (!value.ok()) return value.status();
                if (count != 0) std::memcpy(dst, value->data() + offset, count);
                return absl::OkStatus();
              }));
            });
        return absl::OkStatus();
      });
}

// Copies to another memory as soon as the value is available.
absl::StatusOr<PJRT_Buffer*> Copy(const PJRT_Buffer* from, PJRT_Memory& to) {
  if (absl::Status s = CheckAlive(from); !s.ok()) return s;
  auto copy = std::make_shared<Buffer>(*to.device->device, from->type,
                                       PlaceOf(to.kind));
  from->buffer->ready()->OnReady(
      [copy, source = from->buffer](const absl::Status&) {
        copy->Set(runtime::Guarded([&] { return source->Await(); }));
      });
  return Wrap(&to, std::move(copy), from->is_complex);
}

PJRT_Error* CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  absl::StatusOr<PJRT_Buffer*> copy =
      Copy(args->buffer, args->dst_device->memory);
  if (copy.ok()) args->dst_buffer = *copy;
  return Wrap(copy.status());
}

PJRT_Error* CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  absl::StatusOr<PJRT_Buffer*> copy = Copy(args->buffer, *args->dst_memory);
  if (copy.ok()) args->dst_buffer = *copy;
  return Wrap(copy.status());
}

absl::Status NoPointer() {
  return absl::UnimplementedError(
      "a pointer into a device's memory: the value lies behind a driver; copy "
      "it to the host");
}
PJRT_Error* UnsafePointer(PJRT_Buffer_UnsafePointer_Args*) {
  return Wrap(NoPointer());
}
PJRT_Error* OpaquePointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args*) {
  return Wrap(NoPointer());
}
PJRT_Error* Increase(PJRT_Buffer_IncreaseExternalReferenceCount_Args*) {
  return Wrap(NoPointer());
}
PJRT_Error* Decrease(PJRT_Buffer_DecreaseExternalReferenceCount_Args*) {
  return Wrap(NoPointer());
}

}  // namespace

PJRT_Buffer* Wrap(PJRT_Memory* memory, std::shared_ptr<Buffer> buffer,
                  bool is_complex) {
  auto made = std::make_unique<PJRT_Buffer>();
  made->memory = memory;
  made->type = buffer->type();
  made->buffer = std::move(buffer);
  made->is_complex = is_complex;
  for (int d = static_cast<int>(made->rank()) - 1; d >= 0; --d)
    made->minor_to_major.push_back(d);
  return made.release();
}

absl::Status CheckAlive(const PJRT_Buffer* buffer) {
  if (buffer->buffer != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("a value of type ",
                                                    ir::TypeText(buffer->type),
                                                    " was deleted or donated"));
}

void FillBuffer(PJRT_Api& api) {
  api.PJRT_Client_BufferFromHostBuffer = FromHost;
  api.PJRT_Buffer_Destroy = Destroy;
  api.PJRT_Buffer_ElementType = ElementTypeFunction;
  api.PJRT_Buffer_Dimensions = Dimensions;
  api.PJRT_Buffer_UnpaddedDimensions = UnpaddedDimensions;
  api.PJRT_Buffer_DynamicDimensionIndices = DynamicDimensions;
  api.PJRT_Buffer_GetMemoryLayout = MemoryLayout;
  api.PJRT_Buffer_OnDeviceSizeInBytes = Size;
  api.PJRT_Buffer_Device = DeviceOf;
  api.PJRT_Buffer_Memory = MemoryOf;
  api.PJRT_Buffer_Delete = Delete;
  api.PJRT_Buffer_IsDeleted = IsDeleted;
  api.PJRT_Buffer_CopyToDevice = CopyToDevice;
  api.PJRT_Buffer_CopyToMemory = CopyToMemory;
  api.PJRT_Buffer_ToHostBuffer = ToHost;
  api.PJRT_Buffer_CopyRawToHost = RawToHost;
  api.PJRT_Buffer_IsOnCpu = IsOnCpu;
  api.PJRT_Buffer_ReadyEvent = ReadyEvent;
  api.PJRT_Buffer_UnsafePointer = UnsafePointer;
  api.PJRT_Buffer_IncreaseExternalReferenceCount = Increase;
  api.PJRT_Buffer_DecreaseExternalReferenceCount = Decrease;
  api.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = OpaquePointer;
}

}  // namespace systole::pjrt
