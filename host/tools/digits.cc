// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/digits.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace systole::tools {
namespace {

struct GzClose {
  void operator()(gzFile file) const { gzclose(file); }
};

constexpr int64_t kMostBytes = int64_t{1} << 32;  // of a set

// The next `most` bytes, or all there are, behind those in `bytes`. zlib reads
// plain files as they are.
absl::Status ReadMore(gzFile file, const std::string& path, int64_t most,
                      std::vector<uint8_t>& bytes) {
  uint8_t buffer[65536];
  while (most > 0) {
    const auto wanted = std::min<int64_t>(most, sizeof(buffer));
    const int got = gzread(file, buffer, static_cast<unsigned>(wanted));
    if (got < 0)
      return absl::DataLossError(
          absl::StrFormat("%s: damaged gzip data", path));
    if (got == 0) break;
    bytes.insert(bytes.end(), buffer, buffer + got);
    most -= got;
  }
  return absl::OkStatus();
}

// The sizes of the dimensions, and the data behind the header.
absl::StatusOr<std::vector<uint8_t>> ReadIdx(const std::string& folder,
                                             const std::string& name,
                                             std::vector<int>& sizes) {
  std::string path = folder + "/" + name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) path += ".gz";
  const std::unique_ptr<gzFile_s, GzClose> file(gzopen(path.c_str(), "rb"));
  if (!file)
    return absl::NotFoundError(absl::StrFormat("%s: cannot be opened: %s", path,
                                               std::strerror(errno)));
  const auto header = static_cast<int64_t>(4 + 4 * sizes.size());
  std::vector<uint8_t> bytes;
  absl::Status status = ReadMore(file.get(), path, header, bytes);
  if (!status.ok()) return status;
  const auto word = [&](size_t at) {
    return int64_t{bytes[at]} << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 |
           bytes[at + 3];
  };
  if (static_cast<int64_t>(bytes.size()) < header ||
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
    if (total > kMostBytes)
      return absl::DataLossError(absl::StrFormat(
          "%s: the header says more than %d bytes", path, kMostBytes));
  }
  bytes.clear();
  status = ReadMore(file.get(), path, total + 1, bytes);
  if (!status.ok()) return status;
  const auto size = static_cast<int64_t>(bytes.size());
  if (size != total) {
    return absl::DataLossError(
        absl::StrFormat("%s: %s bytes of data, the header says %d", path,
                        size > total ? "more" : absl::StrCat(size), total));
  }
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

namespace {

absl::StatusOr<Digits> ReadPart(const std::string& folder,
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

}  // namespace

absl::StatusOr<Digits> ReadDigits(const std::string& folder,
                                  const std::string& part) {
  auto digits = ReadPart(folder, part);
  if (!absl::IsNotFound(digits.status())) return digits;
  return absl::NotFoundError(absl::StrCat(
      digits.status().message(),
      part == "train"
          ? "; scripts/python scripts/train/fetch_digits.py FOLDER fetches the "
            "training digits, or name a folder of IDX files with --digits"
          : "; the project has the test digits in tests/data/mnist, an "
            "installation in share/systole/digits; --digits names the folder"));
}

}  // namespace systole::tools
