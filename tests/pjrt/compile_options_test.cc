// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/compile_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace systole::pjrt {
namespace {

// CompileOptionsProto: build options in field 3, with replicas (4), partitions
// (5) and, in 9, the devices; as jaxlib writes them.
std::string Message(const std::string& inner) {
  std::string out("\x1A");
  out.push_back(static_cast<char>(inner.size()));
  return "\x90\x07\x05" + out + inner;
}
const char kThreeByTwo[] =
    "\x20\x03\x28\x02\x4A\x0E\x08\x03\x10\x02\x1A\x05\x0A\x03\x00\x02\x04\x1A"
    "\x05\x0A\x03\x01\x03\x05";

std::string ThreeByTwo() {
  std::string inner(kThreeByTwo, sizeof(kThreeByTwo) - 1);
  inner[5] = static_cast<char>(inner.size() - 6);
  return Message(inner);
}

TEST(CompileOptions, Read) {
  const auto options = ParseCompileOptions(ThreeByTwo());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->replicas, 3);
  EXPECT_EQ(options->partitions, 2);
  EXPECT_EQ(options->devices,
            (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(CompileOptions, ReadsWhatItWrites) {
  const auto options = ParseCompileOptions(ThreeByTwo());
  ASSERT_TRUE(options.ok());
  const std::string devices = SerializeDevices(*options);
  std::string inner("\x20\x03\x28\x02\x4A");
  inner.push_back(static_cast<char>(devices.size()));
  const auto again = ParseCompileOptions(Message(inner + devices));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->devices, options->devices);
}

TEST(CompileOptions, OneOfEachWithoutWord) {
  const auto options = ParseCompileOptions("");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->replicas, 1);
  EXPECT_EQ(options->partitions, 1);
  EXPECT_TRUE(options->devices.empty());
}

TEST(CompileOptions, DevicesMustBeAsManyAsSaid) {
  std::string inner(kThreeByTwo, sizeof(kThreeByTwo) - 1);
  inner[5] = static_cast<char>(inner.size() - 6);
  inner[1] = 4;
  EXPECT_EQ(ParseCompileOptions(Message(inner)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CompileOptions, OptionsThatAreNoneOfXla) {
  const auto with = [](const std::string& name) {
    const std::string entry =
        std::string("\x0A") + static_cast<char>(name.size()) + name;
    return ParseCompileOptions(ThreeByTwo() + "\x3A" +
                               static_cast<char>(entry.size()) + entry);
  };
  EXPECT_TRUE(with("xla_embed_ir_in_executable").ok());
  EXPECT_THAT(
      with("fast").status().message(),
      testing::HasSubstr("No such compile option: 'fast'; those of XLA"));
}

TEST(CompileOptions, AnyBytesAreReadOrRefused) {
  std::mt19937_64 rng(1);
  const std::string whole = ThreeByTwo();
  int refused = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string bytes = whole.substr(0, rng() % (whole.size() + 1));
    for (int k = rng() % 4; k > 0 && !bytes.empty(); --k)
      bytes[rng() % bytes.size()] = static_cast<char>(rng());
    refused += !ParseCompileOptions(bytes).ok();
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace systole::pjrt
