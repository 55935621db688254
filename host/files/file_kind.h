// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a file is, by its first bytes: its name may end in anything.
#ifndef SYSTOLE_HOST_FILES_FILE_KIND_H_
#define SYSTOLE_HOST_FILES_FILE_KIND_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace systole {

enum class FileKind {
  kUnknown,
  kEmpty,
  kText,
  kGitLfs,       // the pointer to a file that was not fetched
  kHtml,         // a page, as a failed download leaves one
  kProgram,      // of this project (.tpu)
  kTflite,       // TensorFlow Lite
  kSafetensors,  // a network of this project, or weights
  kStableHlo,    // MLIR bytecode, or a JAX export that holds it
  kMlirText,
  kNpy,  // an array
  kNpz,
  kKeras,
  kHdf5,  // as Keras writes it too
  kOnnx,
  kSavedModel,  // a TensorFlow graph (.pb), or the folder around one
  kPyTorch,
  kPickle,
  kZip,  // another archive
  kGzip,
  kPng,
  kJpeg,
};

// How a TensorFlow or Keras model becomes one that this project reads.
extern const char kConvertHint[];

// Of the bytes of a file of that name, or of its first 512: a format without a
// mark of its own is told by its ending.
FileKind KindOfBytes(std::string_view bytes, std::string_view path);

// kNotFound, kUnavailable: as of ReadFile. A folder is kSavedModel if it holds
// saved_model.pb, and an error otherwise.
absl::StatusOr<FileKind> KindOfFile(const std::string& path);

// The error of a file that is not what was wanted: names what it is, what was
// wanted and, for a model of another format, what to do.
absl::Status WrongKind(const std::string& path, FileKind kind,
                       std::string_view wanted);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_FILE_KIND_H_
