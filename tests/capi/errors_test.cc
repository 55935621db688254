// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the C API answers to bad handles, arrays, options and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "systole.h"
#include "tests/capi/digits.h"

namespace {

using namespace systole::testing_capi;  // NOLINT
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CApi, ClosedAndForeignHandlesAreErrors) {
  systole_program* program = Load(kDigits, "nano");
  systole_device* device = Open("iss", "nano");
  std::vector<int8_t> pixels = RandomDigits(1), scores;
  EXPECT_EQ(RunDigits(nullptr, program, pixels, scores),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_STREQ(systole_error(), "the device is NULL");
  // A program is no device.
  EXPECT_EQ(systole_device_close(reinterpret_cast<systole_device*>(program)),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_EQ(systole_program_close(program), SYSTOLE_OK);
  EXPECT_EQ(systole_program_close(program), SYSTOLE_INVALID_ARGUMENT);
  EXPECT_EQ(RunDigits(device, program, pixels, scores),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_STREQ(systole_error(), "the program is closed, or was never open");
  EXPECT_EQ(systole_device_close(device), SYSTOLE_OK);
  EXPECT_EQ(systole_device_close(device), SYSTOLE_INVALID_ARGUMENT);
}

TEST(CApi, BadArraysNameWhatIsWrong) {
  systole_program* program = Load(kDigits, "nano");
  systole_device* device = Open("iss", "nano");
  std::vector<uint8_t> in(8 * kPixels), out(kClasses);
  const int64_t shape[] = {1, 28, 28, 1}, other[] = {28, 27}, bad[] = {-1, 28},
                result[] = {1, 10}, huge[] = {1, int64_t{1} << 62, 28, 1};
  const systole_array good = {SYSTOLE_INT8, 4, shape, in.data(), kPixels};
  const systole_array good_out = {SYSTOLE_INT8, 2, result, out.data(), 10};
  const auto error = [&](systole_array input, systole_array output) {
    EXPECT_EQ(systole_device_run(device, program, &input, 1, &output, 1),
              SYSTOLE_INVALID_ARGUMENT);
    return std::string(systole_error());
  };
  EXPECT_THAT(error({SYSTOLE_INT8, 2, other, in.data(), 28 * 27}, good_out),
              AllOf(HasSubstr("input 0 'image'"), HasSubstr("(28, 27)")));
  EXPECT_THAT(
      error({SYSTOLE_INT64, 4, shape, in.data(), 8 * kPixels}, good_out),
      HasSubstr("int64 (1, 28, 28, 1)"));
  EXPECT_THAT(
      error({SYSTOLE_BFLOAT16, 4, shape, in.data(), 2 * kPixels}, good_out),
      HasSubstr("bfloat16"));
  EXPECT_THAT(
      error({static_cast<systole_type>(77), 4, shape, in.data(), 1}, good_out),
      HasSubstr("77"));
  EXPECT_THAT(error({SYSTOLE_INT8, 4, shape, in.data(), kPixels - 1}, good_out),
              HasSubstr("783 bytes"));
  EXPECT_THAT(error({SYSTOLE_INT8, 4, shape, nullptr, kPixels}, good_out),
              HasSubstr("data is NULL"));
  EXPECT_THAT(error({SYSTOLE_INT8, 2, bad, in.data(), 0}, good_out),
              HasSubstr("-1"));
  EXPECT_THAT(error({SYSTOLE_INT8, 4, huge, in.data(), 0}, good_out),
              HasSubstr("shape is"));
  EXPECT_THAT(error({SYSTOLE_INT8, 99, shape, in.data(), 0}, good_out),
              HasSubstr("rank"));
  EXPECT_THAT(
      error(good, {SYSTOLE_FLOAT32, 2, result, in.data(), 40}),
      AllOf(HasSubstr("output 0"), HasSubstr("wanted is int8 (1, 10)")));
  EXPECT_EQ(systole_device_run(device, program, &good, 1, &good_out, 1),
            SYSTOLE_OK);
  EXPECT_EQ(systole_device_run(device, program, &good, -1, &good_out, 1),
            SYSTOLE_INVALID_ARGUMENT);
}

TEST(CApi, BadOptionsNameWhatThereIs) {
  systole_program* program = nullptr;
  systole_compile_options compile = SYSTOLE_COMPILE_OPTIONS_INIT;
  compile.preset = "v2";
  EXPECT_EQ(systole_program_load(kDigits.c_str(), &compile, &program),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_THAT(systole_error(), HasSubstr("nano, edge"));
  compile = SYSTOLE_COMPILE_OPTIONS_INIT;
  compile.batch = -3;
  EXPECT_EQ(systole_program_load(kDigits.c_str(), &compile, &program),
            SYSTOLE_INVALID_ARGUMENT);
  compile = {};
  EXPECT_EQ(systole_program_load(kDigits.c_str(), &compile, &program),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_THAT(systole_error(), HasSubstr("struct_size is 0"));
  EXPECT_EQ(systole_program_load("/no/such.tflite", nullptr, &program),
            SYSTOLE_NOT_FOUND);
  EXPECT_THAT(systole_error(), StartsWith("/no/such.tflite"));
  EXPECT_NE(systole_program_load(SYSTOLE_SOURCE_DIR, nullptr, &program),
            SYSTOLE_OK);
  EXPECT_NE(
      systole_program_load(SYSTOLE_SOURCE_DIR "/Makefile", nullptr, &program),
      SYSTOLE_OK);
  EXPECT_THAT(systole_error(), HasSubstr("StableHLO"));
  EXPECT_EQ(systole_program_load(nullptr, nullptr, &program),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_EQ(program, nullptr);

  systole_device* device = nullptr;
  systole_device_options options = SYSTOLE_DEVICE_OPTIONS_INIT;
  options.backend = "gpu";
  EXPECT_EQ(systole_device_open(&options, &device), SYSTOLE_INVALID_ARGUMENT);
  options.backend = "iss";
  options.preset = "big";
  EXPECT_EQ(systole_device_open(&options, &device), SYSTOLE_INVALID_ARGUMENT);
  EXPECT_THAT(systole_error(), HasSubstr("'big'"));
  options.preset = "nano";
  options.profile = 1;
  EXPECT_EQ(systole_device_open(&options, &device), SYSTOLE_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);

  // A newer header: what the library does not know must be 0.
  struct {
    systole_device_options known = SYSTOLE_DEVICE_OPTIONS_INIT;
    uint64_t later = 0;
  } newer;
  newer.known.struct_size = sizeof(newer);
  ASSERT_EQ(systole_device_open(&newer.known, &device), SYSTOLE_OK);
  EXPECT_EQ(systole_device_close(device), SYSTOLE_OK);
  newer.later = 1;
  EXPECT_EQ(systole_device_open(&newer.known, &device), SYSTOLE_UNIMPLEMENTED);
}

// As a program that was built with the first version of the header has it.
TEST(CApi, OlderStructuresOfOptionsAreShorter) {
  systole_compile_options options = SYSTOLE_COMPILE_OPTIONS_INIT;
  options.struct_size = offsetof(systole_compile_options, model_options);
  options.preset = "edge";
  options.model_options = "is not there";
  systole_program* program = nullptr;
  EXPECT_EQ(systole_program_load(kDigits.c_str(), &options, &program),
            SYSTOLE_OK)
      << systole_error();
  EXPECT_EQ(systole_program_close(program), SYSTOLE_OK);
  options.struct_size = sizeof(options);
  EXPECT_EQ(systole_program_load(kDigits.c_str(), &options, &program),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_THAT(systole_error(), HasSubstr("model_options are for ONNX models"));
  options.struct_size = 8;
  EXPECT_EQ(systole_program_load(kDigits.c_str(), &options, &program),
            SYSTOLE_INVALID_ARGUMENT);
}

TEST(CApi, ProgramOfAnotherPreset) {
  systole_program* program = Load(kDigits, "edge");
  systole_device* device = Open("rtl", "nano");
  std::vector<int8_t> pixels = RandomDigits(1), scores;
  EXPECT_EQ(RunDigits(device, program, pixels, scores),
            SYSTOLE_FAILED_PRECONDITION);
  EXPECT_THAT(systole_error(), AllOf(HasSubstr("'edge'"), HasSubstr("'nano'")));
  systole_run_stats stats = SYSTOLE_RUN_STATS_INIT;
  EXPECT_EQ(systole_device_get_stats(device, &stats),
            SYSTOLE_FAILED_PRECONDITION);
  EXPECT_EQ(systole_device_close(device), SYSTOLE_OK);
}

}  // namespace
