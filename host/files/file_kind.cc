// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/file_kind.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "host/files/jax_export.h"
#include "host/files/read_file.h"

namespace systole {
namespace {

using namespace std::string_view_literals;

constexpr size_t kFirstBytes = 512;

std::string_view Name(FileKind kind) {
  switch (kind) {
    case FileKind::kEmpty:
      return "an empty file";
    case FileKind::kText:
      return "a text";
    case FileKind::kGitLfs:
      return "a Git LFS pointer to a file";
    case FileKind::kHtml:
      return "an HTML page";
    case FileKind::kProgram:
      return "a program (.tpu)";
    case FileKind::kTflite:
      return "a TensorFlow Lite model (.tflite)";
    case FileKind::kSafetensors:
      return "a network (.safetensors)";
    case FileKind::kStableHlo:
      return "a StableHLO program";
    case FileKind::kMlirText:
      return "MLIR as text";
    case FileKind::kNpy:
      return "an array (.npy)";
    case FileKind::kNpz:
      return "a set of arrays (.npz)";
    case FileKind::kKeras:
      return "a Keras model (.keras)";
    case FileKind::kHdf5:
      return "an HDF5 file (a Keras model)";
    case FileKind::kOnnx:
      return "an ONNX model (.onnx)";
    case FileKind::kSavedModel:
      return "a TensorFlow graph (a SavedModel)";
    case FileKind::kPyTorch:
      return "a PyTorch file (.pt)";
    case FileKind::kPickle:
      return "a Python pickle";
    case FileKind::kZip:
      return "a ZIP archive";
    case FileKind::kGzip:
      return "a gzip file";
    case FileKind::kPng:
      return "a PNG picture";
    case FileKind::kJpeg:
      return "a JPEG picture";
    case FileKind::kUnknown:
      break;
  }
  return "a file of no known format";
}

bool Ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() &&
         text.substr(text.size() - with.size()) == with;
}

// What to do about a model of another framework.
std::string Hint(FileKind kind) {
  switch (kind) {
    case FileKind::kKeras:
    case FileKind::kHdf5:
    case FileKind::kSavedModel:
      return absl::StrCat("; ", kConvertHint);
    case FileKind::kPyTorch:
      return "; run it by torch.compile(model, backend=\"systole\"), or export "
             "it: systole_torch.export, torch.onnx.export (docs/torch.md)";
    case FileKind::kOnnx:
    case FileKind::kStableHlo:
      return "; it is compiled when it runs: `systole run`, `systole profile`";
    case FileKind::kMlirText:
      return "; what jax.export's serialize() gives is bytecode";
    case FileKind::kZip:
    case FileKind::kGzip:
      return "; unpack it first";
    case FileKind::kGitLfs:
      return "; fetch the file itself with `git lfs pull`";
    case FileKind::kHtml:
      return "; the download may have failed";
    default:
      return "";
  }
}

// The name of an archive's first member.
std::string_view FirstMember(std::string_view zip) {
  constexpr size_t kLength = 26, kName = 30;
  if (zip.size() < kName) return "";
  const size_t length = static_cast<uint8_t>(zip[kLength]) |
                        static_cast<uint8_t>(zip[kLength + 1]) << 8;
  return zip.substr(kName, length);
}

FileKind KindOfZip(std::string_view first, std::string_view path) {
  const std::string_view member = FirstMember(first);
  if (member == "metadata.json" || Ends(path, ".keras"))
    return FileKind::kKeras;
  if (Ends(member, ".npy")) return FileKind::kNpz;
  if (Ends(member, "/data.pkl") || Ends(path, ".pt") || Ends(path, ".pth") ||
      Ends(path, ".pt2"))
    return FileKind::kPyTorch;
  return FileKind::kZip;
}

// ModelProto: field 1, the version of the format, then one of the fields 2 to
// 8 or 14, all of which have a length. SavedModel: version 1, then field 2.
bool IsOnnx(std::string_view first) {
  constexpr char kVersion = 0x08;
  if (first.size() < 3 || first[0] != kVersion || first[1] < 1 || first[1] > 31)
    return false;
  constexpr std::string_view kNext = "\x12\x1A\x22\x2A\x32\x3A\x42\x72"sv;
  return kNext.find(first[2]) != std::string_view::npos;
}

bool IsText(std::string_view first) {
  return std::all_of(first.begin(), first.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte >= 0x20 ? byte != 0x7F : std::strchr("\t\n\r\f", c) && c != 0;
  });
}

}  // namespace

const char kConvertHint[] =
    "convert it with tf.lite.TFLiteConverter to full integers (optimizations = "
    "[tf.lite.Optimize.DEFAULT], a representative_dataset, "
    "target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8])";

FileKind KindOfBytes(std::string_view bytes, std::string_view path) {
  const std::string_view first = bytes.substr(0, kFirstBytes);
  const auto begins = [&](std::string_view with) {
    return first.substr(0, with.size()) == with;
  };
  if (first.empty()) return FileKind::kEmpty;
  if (begins("SYSTOLE\x1A"sv)) return FileKind::kProgram;
  if (first.size() >= 8 && first.substr(4, 4) == "TFL3"sv)
    return FileKind::kTflite;
  if (begins("ML\xEFR"sv) || IsJaxExport(bytes)) return FileKind::kStableHlo;
  if (begins("\x93NUMPY"sv)) return FileKind::kNpy;
  if (begins("version https://git-lfs.github.com/"sv)) return FileKind::kGitLfs;
  if (begins("<!DOCTYPE html"sv) || begins("<!doctype html"sv) ||
      begins("<html"sv))
    return FileKind::kHtml;
  if (begins("PK\x03\x04"sv)) return KindOfZip(first, path);
  if (begins("\x89HDF\r\n\x1A\n"sv)) return FileKind::kHdf5;
  if (begins("\x89PNG\r\n\x1A\n"sv)) return FileKind::kPng;
  if (begins("\xFF\xD8\xFF"sv)) return FileKind::kJpeg;
  if (begins("\x1F\x8B"sv)) return FileKind::kGzip;
  // Protocol 2 or more.
  if (first.size() >= 2 && first[0] == '\x80' && first[1] >= 2 && first[1] <= 5)
    return FileKind::kPickle;
  // Eight bytes of length, below 4 GiB, then a JSON object.
  if (first.size() >= 9 && first[8] == '{' &&
      first.substr(4, 4) == "\0\0\0\0"sv) {
    return FileKind::kSafetensors;
  }
  if (Ends(path, ".onnx")) return FileKind::kOnnx;
  if (Ends(path, ".pb") || begins("\x08\x01\x12"sv))
    return FileKind::kSavedModel;
  if (IsOnnx(first)) return FileKind::kOnnx;
  if (!IsText(first)) return FileKind::kUnknown;
  return Ends(path, ".mlir") || begins("module @") || begins("#loc")
             ? FileKind::kMlirText
             : FileKind::kText;
}

absl::StatusOr<FileKind> KindOfFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (std::filesystem::exists(path + "/saved_model.pb", error))
      return FileKind::kSavedModel;
    return absl::UnavailableError(absl::StrCat(path, ": is a folder"));
  }
  const auto first = ReadFirst(path, kFirstBytes);
  if (!first.ok()) return first.status();
  return KindOfBytes(*first, path);
}

absl::Status WrongKind(const std::string& path, FileKind kind,
                       std::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is ", std::string(Name(kind)), ", not ",
                   std::string(wanted), Hint(kind)));
}

}  // namespace systole
