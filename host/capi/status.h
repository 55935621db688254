// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the functions of systole.h are written: a body that returns a status,
// whose message is kept for systole_error(); no exception leaves it.
//
//   return Guard([&]() -> absl::Status { ... });
#ifndef SYSTOLE_HOST_CAPI_STATUS_H_
#define SYSTOLE_HOST_CAPI_STATUS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "systole.h"

namespace systole::capi {

// The status's code; its message becomes that of the thread unless it is Ok.
systole_status Report(const absl::Status& status);

template <typename Body>
systole_status Guard(Body&& body) {
  try {
    return Report(body());
  } catch (const std::bad_alloc&) {
    return Report(absl::ResourceExhaustedError("out of memory"));
  } catch (const std::exception& error) {
    return Report(absl::InternalError(error.what()));
  } catch (...) {
    return Report(absl::InternalError("an exception of unknown type"));
  }
}

// Structures of callers begin with their size as the caller's header has it.
// More than this is no size but what happened to be there.
inline constexpr size_t kMostStructBytes = 4096;

// least: of the structure's first version.
template <typename T>
absl::Status CheckStruct(const T* given, const char* name,
                         size_t least = sizeof(T)) {
  if (given == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(name, " is NULL"));
  if (given->struct_size >= least && given->struct_size <= kMostStructBytes)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": struct_size is ", given->struct_size, ", not ",
                   sizeof(T), ": initialise it by its _INIT"));
}

// The options of a caller, NULL for `defaults`. What a newer header has behind
// ours must be 0; what an older one lacks has its default. least: as of
// CheckStruct.
template <typename T>
absl::StatusOr<T> ReadOptions(const T* given, const T& defaults,
                              const char* name, size_t least = sizeof(T)) {
  if (given == nullptr) return defaults;
  if (absl::Status s = CheckStruct(given, name, least); !s.ok()) return s;
  if (given->struct_size < sizeof(T)) {
    T options = defaults;
    std::memcpy(&options, given, given->struct_size);
    return options;
  }
  const char* bytes = reinterpret_cast<const char*>(given);
  if (std::any_of(bytes + sizeof(T), bytes + given->struct_size,
                  [](char byte) { return byte != 0; })) {
    return absl::UnimplementedError(absl::StrCat(
        name, ": options of a newer systole.h, the library is version ",
        systole_version()));
  }
  return *given;
}

// Fills a structure that may be longer in the caller's header.
template <typename T>
absl::Status FillStruct(T value, T* out, const char* name) {
  if (absl::Status s = CheckStruct(out, name); !s.ok()) return s;
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, sizeof(T));
  return absl::OkStatus();
}

template <typename T>
absl::Status CheckPointer(const T* pointer, const char* name) {
  if (pointer != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is NULL"));
}

template <typename List>
absl::Status CheckIndex(const char* what, int64_t index, const List& list) {
  const auto count = static_cast<int64_t>(std::size(list));
  if (index >= 0 && index < count) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat(what, " ", index, "; there are ", count));
}

}  // namespace systole::capi

#endif  // SYSTOLE_HOST_CAPI_STATUS_H_
