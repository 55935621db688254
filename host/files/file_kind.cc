// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/file_kind.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace systole {
namespace {

constexpr size_t kFirstBytes = 16;

std::string_view Name(FileKind kind) {
  switch (kind) {
    case FileKind::kProgram:
      return "a program (.tpu)";
    case FileKind::kTflite:
      return "a TensorFlow Lite model (.tflite)";
    case FileKind::kSafetensors:
      return "a network (.safetensors)";
    case FileKind::kNpy:
      return "an array (.npy)";
    case FileKind::kNpz:
      return "a ZIP archive (a Keras model, or .npz)";
    case FileKind::kHdf5:
      return "an HDF5 file (a Keras model)";
    case FileKind::kOnnx:
      return "an ONNX model";
    case FileKind::kSavedModel:
      return "a TensorFlow graph (a SavedModel)";
    case FileKind::kUnknown:
      break;
  }
  return "a file of no known format";
}

bool Begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
bool Ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() &&
         text.substr(text.size() - with.size()) == with;
}

bool IsForeignModel(FileKind kind) {
  return kind == FileKind::kNpz || kind == FileKind::kHdf5 ||
         kind == FileKind::kOnnx || kind == FileKind::kSavedModel;
}

}  // namespace

const char kConvertHint[] =
    "convert it with tf.lite.TFLiteConverter to full integers (optimizations = "
    "[tf.lite.Optimize.DEFAULT], a representative_dataset, "
    "target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8])";

FileKind KindOfBytes(std::string_view first, std::string_view path) {
  using namespace std::string_view_literals;
  if (Begins(first, "SYSTOLE\x1A"sv)) return FileKind::kProgram;
  if (first.size() >= 8 && first.substr(4, 4) == "TFL3"sv)
    return FileKind::kTflite;
  if (Begins(first, "\x93NUMPY"sv)) return FileKind::kNpy;
  if (Begins(first, "PK\x03\x04"sv)) return FileKind::kNpz;
  if (Begins(first, "\x89HDF\r\n\x1A\n"sv)) return FileKind::kHdf5;
  // Eight bytes of length, below 4 GiB, then a JSON object.
  if (first.size() >= 9 && first[8] == '{' &&
      first.substr(4, 4) == "\0\0\0\0"sv) {
    return FileKind::kSafetensors;
  }
  if (Ends(path, ".onnx")) return FileKind::kOnnx;
  if (Ends(path, ".pb")) return FileKind::kSavedModel;
  return FileKind::kUnknown;
}

absl::StatusOr<FileKind> KindOfFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (std::filesystem::exists(path + "/saved_model.pb", error))
      return FileKind::kSavedModel;
    return absl::UnavailableError(absl::StrCat(path, ": is a folder"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  std::string first(kFirstBytes, '\0');
  file.read(first.data(), kFirstBytes);
  first.resize(file.gcount());
  if (file.bad())
    return absl::UnavailableError(absl::StrCat(path, ": cannot be read"));
  return KindOfBytes(first, path);
}

absl::Status WrongKind(const std::string& path, FileKind kind,
                       std::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": is ", std::string(Name(kind)), ", not ", std::string(wanted),
      IsForeignModel(kind) ? kind == FileKind::kOnnx
                                 ? "; only models of TensorFlow Lite are read"
                                 : absl::StrCat("; ", kConvertHint)
                           : ""));
}

}  // namespace systole
