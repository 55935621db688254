// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The C API as programs use it: through the shared library alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "systole.h"
#include "tests/capi/digits.h"
#include "tests/import/model_builder.h"

namespace {

using namespace systole::testing_capi;  // NOLINT
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CApi, VersionsAndNames) {
  EXPECT_EQ(std::to_string(SYSTOLE_VERSION_MAJOR) + "." +
                std::to_string(SYSTOLE_VERSION_MINOR) + "." +
                std::to_string(SYSTOLE_VERSION_PATCH),
            systole_version());
  EXPECT_EQ(systole_abi_version(), SYSTOLE_ABI_VERSION);
  EXPECT_STREQ(systole_status_name(SYSTOLE_ABORTED), "ABORTED");
  EXPECT_STREQ(systole_status_name(SYSTOLE_INTERNAL), "INTERNAL");
  EXPECT_STREQ(systole_status_name(static_cast<systole_status>(99)), "UNKNOWN");
  EXPECT_EQ(systole_type_size(SYSTOLE_FLOAT32), 4u);
  EXPECT_STREQ(systole_type_name(SYSTOLE_BFLOAT16), "bfloat16");
  EXPECT_EQ(systole_type_size(static_cast<systole_type>(-1)), 0u);
  EXPECT_EQ(systole_type_name(static_cast<systole_type>(12)), nullptr);
  systole_preset preset;
  ASSERT_EQ(systole_get_preset(0, &preset), SYSTOLE_OK);
  EXPECT_STREQ(preset.name, "nano");
  EXPECT_EQ(systole_get_preset(systole_num_presets(), &preset),
            SYSTOLE_OUT_OF_RANGE);
  EXPECT_EQ(systole_counter_name(systole_num_counters()), nullptr);
}

// Models take turns in the memory of one device; one that is closed leaves it.
TEST(CApi, ProgramsStayInTheDevice) {
  systole_program* one = Load(kDigits, "nano", 1);
  systole_program* two = Load(kDigits, "nano", 2);
  systole_device* device = Open("iss", "nano");
  std::vector<int8_t> pixels = RandomDigits(2);
  std::vector<int8_t> a, b;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(RunDigits(device, one, pixels, a), SYSTOLE_OK) << systole_error();
    ASSERT_EQ(RunDigits(device, two, pixels, b), SYSTOLE_OK) << systole_error();
    EXPECT_EQ(a, b);
    if (round == 1) {
      systole_program_close(one);
      one = Load(kDigits, "nano", 1);
    }
  }
  systole_program_close(one);
  systole_program_close(two);
  systole_device_close(device);
}

TEST(CApi, RtlAndSimulatorAgreeToTheBit) {
  systole_program* program = Load(kDigits, "nano", 2);
  systole_device* rtl = Open("rtl", "nano", true);
  systole_device* iss = Open("iss", "nano");
  std::vector<int8_t> pixels = RandomDigits(3), a, b;
  ASSERT_EQ(RunDigits(rtl, program, pixels, a), SYSTOLE_OK) << systole_error();
  ASSERT_EQ(RunDigits(iss, program, pixels, b), SYSTOLE_OK) << systole_error();
  EXPECT_EQ(a, b);

  systole_run_stats stats = SYSTOLE_RUN_STATS_INIT;
  ASSERT_EQ(systole_device_get_stats(rtl, &stats), SYSTOLE_OK);
  EXPECT_EQ(stats.images, 3);
  EXPECT_EQ(stats.runs, 2);
  std::vector<uint64_t> counters(systole_num_counters());
  ASSERT_EQ(
      systole_device_get_counters(rtl, counters.data(), systole_num_counters()),
      SYSTOLE_OK);
  EXPECT_STREQ(systole_counter_name(0), "cycles");
  EXPECT_EQ(counters[0], stats.cycles);
  EXPECT_GT(stats.cycles, 0u);

  // The layers fill the last batch; each event lies within it.
  int64_t layers = 0, events = 0;
  ASSERT_EQ(systole_device_num_layers(rtl, &layers), SYSTOLE_OK);
  EXPECT_EQ(layers, 5);
  uint64_t cycles = 0;
  for (int64_t i = 0; i < layers; ++i) {
    systole_layer layer;
    ASSERT_EQ(systole_device_layer(rtl, i, &layer), SYSTOLE_OK);
    cycles += layer.cycles;
  }
  // A refresh falls elsewhere in each batch.
  EXPECT_LE(cycles, stats.cycles / 2 * 101 / 100);
  EXPECT_GE(cycles, stats.cycles / 2 * 99 / 100);
  ASSERT_EQ(systole_device_num_events(rtl, &events), SYSTOLE_OK);
  EXPECT_GT(events, 100);
  for (int64_t i = 0; i < events; ++i) {
    systole_event event;
    ASSERT_EQ(systole_device_event(rtl, i, &event), SYSTOLE_OK);
    EXPECT_LE(event.head, event.start);
    EXPECT_LT(event.start, event.end);
    EXPECT_LE(event.end, cycles);
    EXPECT_GE(event.layer, 0);
  }
  const std::string page = testing::TempDir() + "capi_page.html";
  ASSERT_EQ(systole_device_write_profile(rtl, "html", page.c_str()),
            SYSTOLE_OK);
  EXPECT_THAT(ReadAll(page), HasSubstr("<html"));
  EXPECT_EQ(systole_device_write_profile(rtl, "pdf", page.c_str()),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_EQ(
      systole_device_write_profile(rtl, "html", "/no/such/folder/page.html"),
      SYSTOLE_NOT_FOUND);
  EXPECT_EQ(systole_device_num_layers(iss, &layers),
            SYSTOLE_FAILED_PRECONDITION);
  EXPECT_THAT(systole_error(), HasSubstr("profile"));
  for (systole_device* d : {rtl, iss})
    EXPECT_EQ(systole_device_close(d), SYSTOLE_OK);
  EXPECT_EQ(systole_program_close(program), SYSTOLE_OK);
}

TEST(CApi, SavesAndParses) {
  systole_program* program = Load(kDigits, "nano");
  const std::string path = testing::TempDir() + "capi_digits.tpu";
  ASSERT_EQ(systole_program_save(program, path.c_str()), SYSTOLE_OK);
  systole_program* again = Load(path);
  const std::string bytes = ReadAll(path);
  systole_program* parsed = nullptr;
  ASSERT_EQ(systole_program_parse(bytes.data(), bytes.size(), "memory", nullptr,
                                  &parsed),
            SYSTOLE_OK)
      << systole_error();
  systole_device* device = Open("iss", "nano");
  std::vector<int8_t> pixels = RandomDigits(1), a, b, c;
  EXPECT_EQ(RunDigits(device, program, pixels, a), SYSTOLE_OK);
  EXPECT_EQ(RunDigits(device, again, pixels, b), SYSTOLE_OK);
  EXPECT_EQ(RunDigits(device, parsed, pixels, c), SYSTOLE_OK);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
  EXPECT_EQ(systole_program_parse(bytes.data(), bytes.size() / 2, "half",
                                  nullptr, &parsed),
            SYSTOLE_DATA_LOSS);
  EXPECT_THAT(systole_error(), StartsWith("half"));
  systole_compile_options options = SYSTOLE_COMPILE_OPTIONS_INIT;
  options.preset = "edge";
  EXPECT_EQ(systole_program_load(path.c_str(), &options, &parsed),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_THAT(systole_error(), AllOf(HasSubstr("'nano'"), HasSubstr("'edge'")));
}

TEST(CApi, StableHloRunsOnBf16Presets) {
  systole_program* program = Load(kArtifacts + "matmul_highest.mlirbc");
  systole_program_info info = SYSTOLE_PROGRAM_INFO_INIT;
  ASSERT_EQ(systole_program_get_info(program, &info), SYSTOLE_OK);
  EXPECT_STREQ(info.preset, "");
  ASSERT_EQ(info.num_inputs, 2);
  systole_tensor tensor;
  ASSERT_EQ(systole_program_input(program, 1, &tensor), SYSTOLE_OK);
  EXPECT_EQ(tensor.type, SYSTOLE_FLOAT32);
  EXPECT_EQ(tensor.shape[0], 8);
  EXPECT_EQ(tensor.stacked, 0);
  EXPECT_EQ(systole_program_input(program, 2, &tensor), SYSTOLE_OUT_OF_RANGE);
  std::vector<float> a(32), b(40);
  for (int i = 0; i < 32; ++i) a[i] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < 40; ++i) b[i] = static_cast<float>(i % 5 - 2);
  const int64_t a_shape[] = {4, 8}, b_shape[] = {8, 5}, c_shape[] = {4, 5};
  const systole_array in[] = {{SYSTOLE_FLOAT32, 2, a_shape, a.data(), 128},
                              {SYSTOLE_FLOAT32, 2, b_shape, b.data(), 160}};
  for (const char* backend : {"iss", "rtl"}) {
    systole_device* device = Open(backend, "mini");
    std::vector<float> c(20);
    const systole_array out = {SYSTOLE_FLOAT32, 2, c_shape, c.data(), 80};
    ASSERT_EQ(systole_device_run(device, program, in, 2, &out, 1), SYSTOLE_OK)
        << systole_error();
    for (int i = 0; i < 20; ++i) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += a[i / 5 * 8 + k] * b[k * 5 + i % 5];
      EXPECT_EQ(c[i], sum) << backend << " " << i;
    }
    systole_run_stats stats = SYSTOLE_RUN_STATS_INIT;
    ASSERT_EQ(systole_device_get_stats(device, &stats), SYSTOLE_OK);
    EXPECT_GE(stats.runs, 1);  // a product, and kernels for its operands
    EXPECT_EQ(stats.cycles > 0, std::string(backend) == "rtl");
    EXPECT_EQ(systole_device_run(device, program, in, 1, &out, 1),
              SYSTOLE_INVALID_ARGUMENT);
    EXPECT_THAT(systole_error(), HasSubstr("1 inputs instead of 2"));
  }
  systole_device* device = Open("iss", "nano");
  EXPECT_EQ(systole_device_run(device, program, in, 2, nullptr, 0),
            SYSTOLE_INVALID_ARGUMENT);
  std::vector<float> c(20);
  const systole_array out = {SYSTOLE_FLOAT32, 2, c_shape, c.data(), 80};
  EXPECT_EQ(systole_device_run(device, program, in, 2, &out, 1),
            SYSTOLE_FAILED_PRECONDITION);
  EXPECT_EQ(systole_program_save(program, "/tmp/x.tpu"),
            SYSTOLE_FAILED_PRECONDITION);
}

// A dense layer of weights of 8 bits: what runs where, results, no file.
TEST(CApi, FloatModelsRunOnBf16Presets) {
  using systole::import::ModelBuilder;
  namespace tflite = systole::tflite;
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, tflite::TensorType_FLOAT32, {}, {});
  const int w = b.Tensor({2, 4}, tflite::TensorType_INT8, {0.5f}, {0},
                         b.Buffer({1, 2, 3, 4, 5, 6, 7, 8}));
  const int y = b.Tensor({1, 2}, tflite::TensorType_FLOAT32, {}, {});
  b.Operator(tflite::BuiltinOperator_FULLY_CONNECTED, {x, w, -1}, {y},
             tflite::Options_FullyConnectedOptions,
             tflite::CreateFullyConnectedOptions(b.fbb).Union());
  const std::string bytes = b.Model({x}, {y});
  systole_program* program = nullptr;
  ASSERT_EQ(systole_program_parse(bytes.data(), bytes.size(), "dense.tflite",
                                  nullptr, &program),
            SYSTOLE_OK)
      << systole_error();
  systole_program_info info = SYSTOLE_PROGRAM_INFO_INIT;
  ASSERT_EQ(systole_program_get_info(program, &info), SYSTOLE_OK);
  EXPECT_STREQ(info.name, "dense");
  EXPECT_STREQ(info.preset, "");
  EXPECT_THAT(info.placement, HasSubstr("1 products on the array"));
  const float values[] = {1, -2, 0.5f, 4};
  float results[2] = {};
  const int64_t in_shape[] = {1, 4}, out_shape[] = {1, 2};
  const systole_array in = {SYSTOLE_FLOAT32, 2, in_shape,
                            const_cast<float*>(values), 16};
  const systole_array out = {SYSTOLE_FLOAT32, 2, out_shape, results, 8};
  ASSERT_EQ(systole_device_run(Open("iss", "mini"), program, &in, 1, &out, 1),
            SYSTOLE_OK)
      << systole_error();
  EXPECT_EQ(results[0], 0.5f * (1 - 4 + 1.5f + 16));
  EXPECT_EQ(results[1], 0.5f * (5 - 12 + 3.5f + 32));
  EXPECT_EQ(systole_program_save(program, "/tmp/x.tpu"),
            SYSTOLE_FAILED_PRECONDITION);
  systole_compile_options options = SYSTOLE_COMPILE_OPTIONS_INIT;
  options.preset = "edge";
  EXPECT_EQ(systole_program_parse(bytes.data(), bytes.size(), "dense.tflite",
                                  &options, &program),
            SYSTOLE_INVALID_ARGUMENT);
  EXPECT_THAT(systole_error(),
              HasSubstr("dense.tflite: preset 'edge' has no bf16 cell; a float "
                        "model runs on mini, "));
}

TEST(CApi, AnInterruptedDeviceRunsAgain) {
  for (const char* backend : {"iss", "rtl"}) {
    systole_program* program = Load(kDigits, "nano", 1);
    systole_device_options options = SYSTOLE_DEVICE_OPTIONS_INIT;
    options.backend = backend;
    options.preset = "nano";
    int stop = 1;
    options.interrupt = [](void* user) {
      const int answer = *static_cast<int*>(user);
      if (answer == 2) throw std::runtime_error("from the callback");
      return answer;
    };
    options.user = &stop;
    systole_device* device = nullptr;
    ASSERT_EQ(systole_device_open(&options, &device), SYSTOLE_OK);
    std::vector<int8_t> pixels = RandomDigits(64), scores, expected;
    EXPECT_EQ(RunDigits(device, program, pixels, scores), SYSTOLE_CANCELLED)
        << backend;
    stop = 2;
    EXPECT_EQ(RunDigits(device, program, pixels, scores), SYSTOLE_INTERNAL);
    EXPECT_STREQ(systole_error(), "from the callback");
    stop = 0;
    pixels.resize(kPixels);
    EXPECT_EQ(RunDigits(device, program, pixels, scores), SYSTOLE_OK)
        << systole_error();
    systole_device* other = Open("iss", "nano");
    EXPECT_EQ(RunDigits(other, program, pixels, expected), SYSTOLE_OK);
    EXPECT_EQ(scores, expected);
    EXPECT_EQ(systole_device_close(device), SYSTOLE_OK);
  }
}

// Devices of both backends from threads of their own, one program for all, and
// a device of several threads.
TEST(CApi, ThreadsShareProgramsAndDevices) {
  systole_program* program = Load(kDigits, "nano");
  systole_device* shared = Open("iss", "nano");
  std::vector<int8_t> pixels = RandomDigits(1, 7), expected;
  ASSERT_EQ(RunDigits(shared, program, pixels, expected), SYSTOLE_OK);
  std::vector<std::thread> threads;
  std::vector<int> wrong(6);
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      systole_device* device =
          t % 3 == 0 ? shared : Open(t % 3 == 1 ? "rtl" : "iss", "nano");
      for (int run = 0; run < 2; ++run) {
        std::vector<int8_t> image = pixels, scores;
        wrong[t] += RunDigits(device, program, image, scores) != SYSTOLE_OK;
        wrong[t] += scores != expected;
      }
      // Each thread has its own error.
      systole_program* none = nullptr;
      const std::string name = "/no/" + std::to_string(t);
      wrong[t] += systole_program_load(name.c_str(), nullptr, &none) !=
                  SYSTOLE_NOT_FOUND;
      wrong[t] += std::string(systole_error()).find(name) != 0;
      if (device != shared) wrong[t] += systole_device_close(device);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(6));
}

}  // namespace
