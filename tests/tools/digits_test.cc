// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace systole::tools {
namespace {

using testing::HasSubstr;

class DigitsFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    Write("test-images-idx3-ubyte",
          {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 128, 255, 1});
    Write("test-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 2, 7, 3});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::vector<uint8_t>& bytes) {
    std::ofstream file(folder_ + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  const std::string folder_ = testing::TempDir() + "/digits_test";
};

TEST_F(DigitsFile, Reads) {
  const auto digits = ReadDigits(folder_);
  ASSERT_TRUE(digits.ok()) << digits.status();
  EXPECT_EQ(digits->count, 2);
  EXPECT_THAT(digits->labels, testing::ElementsAre(7, 3));
  EXPECT_THAT(digits->Quantised(0, 2),
              testing::ElementsAre(-128, 0, 127, -127));
  EXPECT_THAT(digits->Quantised(1, 1), testing::ElementsAre(127, -127));
}

TEST_F(DigitsFile, MissingFolder) {
  const auto digits = ReadDigits(folder_ + "/none");
  EXPECT_EQ(digits.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(digits.status().message()),
              HasSubstr("none: no such folder"));
}

TEST_F(DigitsFile, Truncated) {
  Write("test-images-idx3-ubyte",
        {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 128, 255});
  EXPECT_THAT(std::string(ReadDigits(folder_).status().message()),
              HasSubstr("3 bytes of data, the header says 4"));
}

TEST_F(DigitsFile, OtherFormat) {
  Write("test-labels-idx1-ubyte", {1, 2, 3});
  EXPECT_EQ(ReadDigits(folder_).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DigitsFile, LabelsThatDoNotMatch) {
  Write("test-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 1, 7});
  EXPECT_THAT(std::string(ReadDigits(folder_).status().message()),
              HasSubstr("2 images, 1 labels"));
}

}  // namespace
}  // namespace systole::tools
