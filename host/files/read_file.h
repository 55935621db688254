// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Files that are read whole.
//
//   absl::StatusOr<std::string> bytes = ReadFile("model.tflite");
#ifndef SYSTOLE_HOST_FILES_READ_FILE_H_
#define SYSTOLE_HOST_FILES_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace systole {

// kNotFound: it cannot be opened; kUnavailable: it is a folder, or cannot be
// read to its end. The message begins with the path.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_READ_FILE_H_
