// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// MLIR bytecode: what the reader sees in artifacts is what jaxlib sees, and
// damaged ones end in an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/import/mlir/byte_reader.h"
#include "host/import/mlir/bytecode.h"
#include "host/import/mlir/text.h"
#include "tests/stablehlo/artifacts.h"

namespace systole::mlir {
namespace {

using import::Artifact;
using import::ArtifactNames;
using ::testing::HasSubstr;

class ArtifactTest : public testing::TestWithParam<std::string> {};

TEST_P(ArtifactTest, IsReadAsJaxlibReadsIt) {
  const auto module = ReadBytecode(Artifact(GetParam()));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Dump(**module), import::ExpectedDump(GetParam()));
}

// A file that ends early is damaged, wherever it ends.
TEST_P(ArtifactTest, EndsEarly) {
  const std::string bytes = Artifact(GetParam());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto module = ReadBytecode(absl::string_view(bytes).substr(0, size));
    ASSERT_EQ(module.status().code(), absl::StatusCode::kDataLoss) << size;
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ArtifactTest, testing::ValuesIn(ArtifactNames()),
                         NameOf);

TEST(BytecodeTest, IsNotBytecode) {
  EXPECT_THAT(ReadBytecode("module {}").status().ToString(),
              HasSubstr("not MLIR bytecode"));
  EXPECT_FALSE(IsBytecode("ML"));
}

TEST(BytecodeTest, IsOfANewerVersion) {
  std::string bytes = Artifact("cond");
  bytes[4] = 7 << 1 | 1;
  const absl::Status status = ReadBytecode(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.ToString(), HasSubstr("version 7; 0 to 6"));
}

TEST(BytecodeTest, ErrorsNameTheOffset) {
  const std::string bytes = Artifact("cond");
  EXPECT_THAT(
      ReadBytecode(bytes.substr(0, bytes.size() / 2)).status().ToString(),
      HasSubstr("offset "));
}

TEST(BytecodeTest, LocationsNameTheSource) {
  const auto module = ReadBytecode(Artifact("unsupported"));
  ASSERT_TRUE(module.ok()) << module.status();
  const Region& body =
      (*module)->root.regions[0].blocks[0].operations[0].regions[0];
  EXPECT_EQ(SourceText(body.blocks[0].operations[0].location),
            "model.py:5:2 (sum)");
  EXPECT_EQ(SourceText(body.blocks[0].operations[1].location), "model.py:6:3");
  EXPECT_EQ(SourceText(nullptr), "");
}

TEST(ByteReaderTest, ReadsIntegersOfEveryLength) {
  // 7, 14 and 64 bits; the sign in the lowest bit.
  const std::string bytes(
      "\x0b\x06\x02\x00\x01\x02\x03\x04\x05\x06\x07\x08\x07", 13);
  ByteReader in(bytes);
  EXPECT_EQ(in.VarInt(), 5u);
  EXPECT_EQ(in.VarInt(), 129u);
  EXPECT_EQ(in.VarInt(), 0x0807060504030201u);
  EXPECT_EQ(in.SignedVarInt(), -2);
  EXPECT_TRUE(in.ok() && in.empty());
  EXPECT_EQ(in.VarInt(), 0u);
  EXPECT_THAT(in.status().ToString(), HasSubstr("offset 13: "));
}

TEST(ByteReaderTest, KeepsTheFirstError) {
  ByteReader in("\x15\x01");
  EXPECT_EQ(in.Count(), 0u);
  EXPECT_EQ(in.Byte(), 0);
  EXPECT_THAT(in.status().ToString(),
              HasSubstr("10 items where 1 bytes are left"));
}

}  // namespace
}  // namespace systole::mlir
