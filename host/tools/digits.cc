// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/digits.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "absl/strings/str_format.h"

namespace systole::tools {
namespace {

struct GzClose {
  void operator()(gzFile file) const { gzclose(file); }
};

// zlib reads plain files as they are.
absl::StatusOr<std::vector<uint8_t>> ReadAll(const std::string& path) {
  const std::unique_ptr<gzFile_s, GzClose> file(gzopen(path.c_str(), "rb"));
  if (!file)
    return absl::NotFoundError(absl::StrFormat("%s: cannot be opened: %s", path,
                                               std::strerror(errno)));
  std::vector<uint8_t> bytes;
  uint8_t buffer[65536];
  int got;
  while ((got = gzread(file.get(), buffer, sizeof(buffer))) > 0)
    bytes.insert(bytes.end(), buffer, buffer + got);
  if (got < 0)
    return absl::DataLossError(absl::StrFormat("%s: damaged gzip data", path));
  return bytes;
}

// The sizes of the dimensions, and the data behind the header.
absl::StatusOr<std::vector<uint8_t>> ReadIdx(const std::string& folder,
                                             const std::string& name,
                                             std::vector<int>& sizes) {
  std::string path = folder + "/" + name;
  if (!std::filesystem::exists(path)) path += ".gz";
  absl::StatusOr<std::vector<uint8_t>> bytes = ReadAll(path);
  if (!bytes.ok()) return bytes;
  const auto word = [&](size_t at) {
    return int64_t{(*bytes)[at]} << 24 | (*bytes)[at + 1] << 16 |
           (*bytes)[at + 2] << 8 | (*bytes)[at + 3];
  };
  const size_t header = 4 + 4 * sizes.size();
  if (bytes->size() < header ||
      word(0) != static_cast<int64_t>(0x800 + sizes.size())) {
    return absl::DataLossError(absl::StrFormat(
        "%s: no IDX file of bytes in %d dimensions", path, sizes.size()));
  }
  int64_t total = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = word(4 + 4 * d);
    if (size < 1 || size > (1 << 24))
      return absl::DataLossError(
          absl::StrFormat("%s: dimension %d is %d", path, d, size));
    sizes[d] = static_cast<int>(size);
    total *= size;
  }
  if (static_cast<int64_t>(bytes->size() - header) != total) {
    return absl::DataLossError(
        absl::StrFormat("%s: %d bytes of data, the header says %d", path,
                        bytes->size() - header, total));
  }
  bytes->erase(bytes->begin(), bytes->begin() + static_cast<int64_t>(header));
  return bytes;
}

}  // namespace

std::vector<int8_t> Digits::Quantised(int first, int images) const {
  const int64_t size = int64_t{1} * height * width;
  std::vector<int8_t> values(size * images);
  for (int64_t i = 0; i < size * images; ++i)
    values[i] = static_cast<int8_t>(pixels[first * size + i] - 128);
  return values;
}

absl::StatusOr<Digits> ReadDigits(const std::string& folder,
                                  const std::string& part) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error))
    return absl::NotFoundError(absl::StrFormat("%s: no such folder", folder));
  if (!std::filesystem::is_directory(folder, error))
    return absl::NotFoundError(absl::StrFormat("%s: is not a folder", folder));
  std::vector<int> image_sizes(3), label_sizes(1);
  absl::StatusOr<std::vector<uint8_t>> pixels =
      ReadIdx(folder, part + "-images-idx3-ubyte", image_sizes);
  if (!pixels.ok()) return pixels.status();
  absl::StatusOr<std::vector<uint8_t>> labels =
      ReadIdx(folder, part + "-labels-idx1-ubyte", label_sizes);
  if (!labels.ok()) return labels.status();
  if (image_sizes[0] != label_sizes[0]) {
    return absl::DataLossError(absl::StrFormat(
        "%s: %d images, %d labels", folder, image_sizes[0], label_sizes[0]));
  }
  Digits digits;
  digits.count = image_sizes[0];
  digits.height = image_sizes[1];
  digits.width = image_sizes[2];
  digits.pixels = *std::move(pixels);
  digits.labels = *std::move(labels);
  return digits;
}

}  // namespace systole::tools
