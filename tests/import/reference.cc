// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/import/reference.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_format.h"

namespace systole::import {
namespace {

// SplitMix64.
uint64_t RandomWord(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

std::vector<int8_t> SeededValues(uint64_t seed, int64_t size) {
  constexpr int kAmplitudes[] = {128, 64, 32, 8};
  constexpr int kRuns[] = {1, 3, 16, 97};
  const uint64_t choice = RandomWord(seed, 0);
  const int amplitude = kAmplitudes[choice & 3];
  const int run = kRuns[choice >> 2 & 3];
  const int centre =
      amplitude == 128 ? 0 : static_cast<int>(choice >> 8 & 255) - 128;
  std::vector<int8_t> values(size);
  for (int64_t i = 0; i < size; ++i) {
    const auto noise = static_cast<int8_t>(RandomWord(seed, 1 + i / run));
    values[i] = static_cast<int8_t>(
        std::clamp(centre + (noise * amplitude >> 7), -128, 127));
  }
  return values;
}

std::string CrcText(uint32_t crc) { return absl::StrFormat("%08x", crc); }

uint32_t Crc32(const std::vector<uint8_t>& bytes, uint32_t crc) {
  return static_cast<uint32_t>(
      crc32(crc, bytes.data(), static_cast<uInt>(bytes.size())));
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

std::string ModelPath(const std::string& name) {
  const char* folder = std::getenv("SYSTOLE_MLPERF_TINY");
  std::vector<std::string> folders = {SYSTOLE_SOURCE_DIR "/models"};
  if (folder != nullptr) folders.push_back(folder);
  for (const std::string& candidate : folders) {
    const std::string path = candidate + "/" + name + ".tflite";
    if (std::ifstream(path)) return path;
  }
  return "";
}

nlohmann::json Reference(const std::string& name) {
  return nlohmann::json::parse(
      ReadBytes(SYSTOLE_SOURCE_DIR "/tests/data/tflite/" + name + ".json"));
}

}  // namespace systole::import
