// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The digits network through the C API.
#ifndef SYSTOLE_TESTS_CAPI_DIGITS_H_
#define SYSTOLE_TESTS_CAPI_DIGITS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "systole.h"

namespace systole::testing_capi {

inline const std::string kDigits =
    SYSTOLE_SOURCE_DIR "/models/mnist_cnn.tflite";
inline const std::string kArtifacts =
    SYSTOLE_SOURCE_DIR "/tests/data/stablehlo/";
inline constexpr int64_t kPixels = 28 * 28, kClasses = 10;

inline systole_program* Load(const std::string& path,
                             const char* preset = nullptr, int64_t batch = 0) {
  systole_compile_options options = SYSTOLE_COMPILE_OPTIONS_INIT;
  options.preset = preset;
  options.batch = batch;
  systole_program* program = nullptr;
  EXPECT_EQ(systole_program_load(path.c_str(), &options, &program), SYSTOLE_OK)
      << systole_error();
  return program;
}

inline systole_device* Open(const char* backend, const char* preset,
                            bool profile = false) {
  systole_device_options options = SYSTOLE_DEVICE_OPTIONS_INIT;
  options.backend = backend;
  options.preset = preset;
  options.profile = profile;
  systole_device* device = nullptr;
  EXPECT_EQ(systole_device_open(&options, &device), SYSTOLE_OK)
      << systole_error();
  return device;
}

inline std::vector<int8_t> RandomDigits(int64_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<int8_t> pixels(count * kPixels);
  for (int8_t& p : pixels) p = static_cast<int8_t>(random());
  return pixels;
}

inline systole_status RunDigits(systole_device* device,
                                systole_program* program,
                                std::vector<int8_t>& pixels,
                                std::vector<int8_t>& scores) {
  const auto count = static_cast<int64_t>(pixels.size()) / kPixels;
  scores.assign(count * kClasses, 0);
  const int64_t in_shape[] = {count, 28, 28, 1}, out_shape[] = {count, 10};
  const systole_array in = {SYSTOLE_INT8, 4, in_shape, pixels.data(),
                            pixels.size()};
  const systole_array out = {SYSTOLE_INT8, 2, out_shape, scores.data(),
                             scores.size()};
  return systole_device_run(device, program, &in, 1, &out, 1);
}

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace systole::testing_capi

#endif  // SYSTOLE_TESTS_CAPI_DIGITS_H_
