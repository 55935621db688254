// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef SYSTOLE_HOST_FILES_WRITE_PARTS_H_
#define SYSTOLE_HOST_FILES_WRITE_PARTS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace systole {

// WriteFile (write_file.h) of bytes that lie in several places, one part behind
// the other.
absl::Status WriteParts(absl::Span<const std::string_view> parts,
                        const std::string& path);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_WRITE_PARTS_H_
