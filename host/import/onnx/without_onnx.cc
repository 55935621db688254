// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stands in for the importer in a build without ONNX's schema or protobuf.
#include "host/import/onnx/onnx_importer.h"

namespace systole::import {

absl::StatusOr<OnnxProgram> ImportOnnx(absl::string_view, const OnnxOptions&) {
  return absl::UnimplementedError(
      "this build reads no ONNX: `scripts/setup.sh onnx` brings what it needs, "
      "then build again");
}

}  // namespace systole::import
