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

// "-" is standard input. A pipe or a device ends when a read returns nothing.
// kNotFound: there is no such file; kUnavailable: it cannot be opened, is a
// folder, or a read fails; kResourceExhausted: it is larger than the free
// memory, or a pipe or a device does not end in time. The message begins with
// the path.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// The first bytes of the file, `count` or all that it has. A pipe can be read
// once only: all its bytes are kept for the ReadFile that follows. Errors: as
// of ReadFile.
absl::StatusOr<std::string> ReadFirst(const std::string& path, size_t count);

// From here on, the bytes of each pipe and device are kept: a program that
// looks at its arguments several times reads them again and again.
void KeepPipes();

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_READ_FILE_H_
