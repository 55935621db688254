// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/scalar/image.h"

#include <cstring>

#include "firmware/scalar/protocol.h"

namespace systole::scalar {

absl::StatusOr<std::vector<uint32_t>> MakeImage(
    const std::vector<uint32_t>& words, const ImageOptions& options) {
  std::vector<uint32_t> image = words;
  if (image.empty()) {
    return absl::UnimplementedError(
        "this build has no firmware for the scalar unit: run scripts/setup.sh "
        "and build again");
  }
  constexpr size_t kTurn = 8;  // words; the ROM adds up so many in a turn
  image.resize((image.size() + kTurn - 1) / kTurn * kTurn);
  image_header header;
  std::memcpy(&header, image.data(), sizeof header);
  const auto put = [](uint32_t(&words)[2], uint64_t addr) {
    words[0] = static_cast<uint32_t>(addr);
    words[1] = static_cast<uint32_t>(addr >> 32);
  };
  put(header.commands, options.commands);
  put(header.completions, options.completions);
  put(header.log, options.log);
  put(header.test_program, options.test_program);
  put(header.test_result, options.test_result);
  put(header.scrub_program, options.scrub_program);
  header.scrub_length = options.scrub_length;
  header.entries = options.entries;
  header.stride = options.stride;
  header.log_entries = options.log_entries;
  header.test_length = options.test_length;
  header.test_bytes = options.test_bytes;
  header.test_sum = options.test_sum;
  header.bytes = static_cast<uint32_t>(4 * image.size());
  header.sum = 0;
  std::memcpy(image.data(), &header, sizeof header);
  uint32_t sum = 0;
  for (const uint32_t word : image) sum += word;
  image[offsetof(image_header, sum) / 4] = 0 - sum;
  return image;
}

}  // namespace systole::scalar
