// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The options of an import in text form, as a user writes them.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_ONNX_OPTIONS_H_
#define SYSTOLE_HOST_IMPORT_ONNX_ONNX_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "host/import/onnx/onnx_importer.h"

namespace systole::import {

// option: "--precision" with "default", "high" or "highest"; "--dim" with
// "NAME=SIZE"; "--fix" with "NAME=FILE.npy" or "NAME=1,2". Errors
// (InvalidArgument) begin with the option.
absl::Status AddOnnxOption(absl::string_view option, const std::string& value,
                           OnnxOptions& options);

// "--precision highest --dim batch=4", with blanks between.
absl::Status AddOnnxOptions(absl::string_view text, OnnxOptions& options);

// The folder of a model's file. External data are there.
std::string FolderOf(const std::string& path);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_ONNX_OPTIONS_H_
