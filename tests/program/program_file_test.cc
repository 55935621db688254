// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The program file: round trip, every truncation, every flipped byte, illegal
// contents under a right CRC, files.

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "systole/gen/isa.h"
#include "systole/program.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

Program Sample() {
  Program p;
  p.preset = "edge";
  p.prog_addr = 0x1000;
  p.hbm_bytes = 0x20000;
  isa::Load load;
  load.header.post_mask = 1;
  load.hbm_addr = 0x4000;
  load.len = 33;
  load.n1 = load.n2 = 1;
  p.descriptors.push_back(load.Encode());
  p.descriptors.push_back(isa::Halt{}.Encode());
  p.memory = {{MemoryUse::kCode, 0x1000, 0x100},
              {MemoryUse::kConstants, 0x4000, 0x200},
              {MemoryUse::kArguments, 0x8000, 0x9000}};
  p.relocations = {{0, 1}};
  p.segments.push_back({"conv1.weights", 0x4000, {1, 2, 3, 4, 5, 6, 7}});
  p.segments.push_back(
      {"conv1.params", 0x4040, std::vector<uint8_t>(300, 0xA5)});
  TensorInfo t;
  t.name = "image";
  t.n = 2, t.h = 28, t.w = 28, t.channels = 1;
  t.hbm_addr = 0x8000;
  t.pitch = 64, t.img_pitch = 28 * 64;
  t.scale = 0.00390625f, t.zero_point = -128;
  t.is_input = true;
  p.tensors.push_back(t);
  t.name = "logits", t.type = ElementType::kInt32;
  t.h = t.w = 1, t.channels = 10, t.hbm_addr = 0x10000, t.img_pitch = 64;
  t.is_input = false, t.is_output = true;
  p.tensors.push_back(t);
  p.layers.push_back({"conv1",
                      "conv2d",
                      "28x28x1 * 3x3 s1 -> 28x28x12",
                      {"image"},
                      "logits",
                      "2 blocks of 14x28 positions",
                      84672,
                      784,
                      204});
  p.buffers.push_back({"image (loaded)", 0, 2048, 0, 0});
  p.buffers.push_back({"logits", 0x800, 64, 0, 0});
  p.sections.push_back({"model", 1, {9, 8, 7}});
  p.sections.push_back({"notes", 3, {}});
  return p;
}

void ExpectSame(const Program& a, const Program& b) {
  EXPECT_EQ(a.preset, b.preset);
  EXPECT_EQ(a.prog_addr, b.prog_addr);
  EXPECT_EQ(a.hbm_bytes, b.hbm_bytes);
  EXPECT_EQ(a.descriptors, b.descriptors);
  ASSERT_EQ(a.memory.size(), b.memory.size());
  for (size_t i = 0; i < a.memory.size(); ++i) {
    EXPECT_EQ(a.memory[i].use, b.memory[i].use);
    EXPECT_EQ(a.memory[i].hbm_addr, b.memory[i].hbm_addr);
    EXPECT_EQ(a.memory[i].bytes, b.memory[i].bytes);
  }
  ASSERT_EQ(a.relocations.size(), b.relocations.size());
  for (size_t i = 0; i < a.relocations.size(); ++i) {
    EXPECT_EQ(a.relocations[i].descriptor, b.relocations[i].descriptor);
    EXPECT_EQ(a.relocations[i].segment, b.relocations[i].segment);
  }
  ASSERT_EQ(a.segments.size(), b.segments.size());
  for (size_t i = 0; i < a.segments.size(); ++i) {
    EXPECT_EQ(a.segments[i].name, b.segments[i].name);
    EXPECT_EQ(a.segments[i].hbm_addr, b.segments[i].hbm_addr);
    EXPECT_EQ(a.segments[i].data, b.segments[i].data);
  }
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const TensorInfo &x = a.tensors[i], &y = b.tensors[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.is_input, y.is_input);
    EXPECT_EQ(x.is_output, y.is_output);
    EXPECT_EQ(x.n, y.n);
    EXPECT_EQ(x.h, y.h);
    EXPECT_EQ(x.w, y.w);
    EXPECT_EQ(x.channels, y.channels);
    EXPECT_EQ(x.hbm_addr, y.hbm_addr);
    EXPECT_EQ(x.pitch, y.pitch);
    EXPECT_EQ(x.img_pitch, y.img_pitch);
    EXPECT_EQ(x.scale, y.scale);
    EXPECT_EQ(x.zero_point, y.zero_point);
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].name, b.layers[i].name);
    EXPECT_EQ(a.layers[i].op, b.layers[i].op);
    EXPECT_EQ(a.layers[i].shape, b.layers[i].shape);
    EXPECT_EQ(a.layers[i].output, b.layers[i].output);
    EXPECT_EQ(a.layers[i].macs, b.layers[i].macs);
    EXPECT_EQ(a.layers[i].ideal_cycles, b.layers[i].ideal_cycles);
    EXPECT_EQ(a.layers[i].inputs, b.layers[i].inputs);
    EXPECT_EQ(a.layers[i].tiling, b.layers[i].tiling);
    EXPECT_EQ(a.layers[i].parameter_bytes, b.layers[i].parameter_bytes);
  }
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    const BufferInfo &x = a.buffers[i], &y = b.buffers[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.ub_addr, y.ub_addr);
    EXPECT_EQ(x.bytes, y.bytes);
    EXPECT_EQ(x.first_layer, y.first_layer);
    EXPECT_EQ(x.last_layer, y.last_layer);
  }
  ASSERT_EQ(a.sections.size(), b.sections.size());
  for (size_t i = 0; i < a.sections.size(); ++i) {
    EXPECT_EQ(a.sections[i].name, b.sections[i].name);
    EXPECT_EQ(a.sections[i].version, b.sections[i].version);
    EXPECT_EQ(a.sections[i].bytes, b.sections[i].bytes);
  }
}

// The four last bytes made right again after the others were changed.
void FixCrc(std::vector<uint8_t>* bytes) {
  const uint32_t crc = crc32(0, bytes->data(), bytes->size() - 4);
  for (int i = 0; i < 4; ++i)
    (*bytes)[bytes->size() - 4 + i] = static_cast<uint8_t>(crc >> (8 * i));
}

TEST(ProgramFile, RoundTrip) {
  const std::vector<uint8_t> bytes = SerializeProgram(Sample());
  absl::StatusOr<Program> p = ParseProgram(bytes, "x.tpu");
  ASSERT_TRUE(p.ok()) << p.status();
  ExpectSame(*p, Sample());
  EXPECT_EQ(SerializeProgram(*p), bytes);
  ASSERT_NE(p->FindTensor("logits"), nullptr);
  EXPECT_EQ(p->FindTensor("logits")->channels, 10);
  EXPECT_EQ(p->FindTensor("nothing"), nullptr);
  ASSERT_NE(p->FindSection("model"), nullptr);
  EXPECT_EQ(p->FindSection("model")->bytes.size(), 3u);
  EXPECT_EQ(p->FindSection("nothing"), nullptr);
}

TEST(ProgramFile, EveryTruncationIsDataLoss) {
  const std::vector<uint8_t> bytes = SerializeProgram(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees a read beyond it.
    absl::StatusOr<Program> p = ParseProgram(
        std::vector<uint8_t>(bytes.begin(), bytes.begin() + size), "cut.tpu");
    ASSERT_EQ(p.status().code(), absl::StatusCode::kDataLoss) << size;
    ASSERT_THAT(std::string(p.status().message()),
                HasSubstr("cut.tpu: truncated"))
        << size;
  }
}

TEST(ProgramFile, EveryFlippedByteIsAnError) {
  const std::vector<uint8_t> bytes = SerializeProgram(Sample());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (uint8_t flip : {0x01, 0x80, 0xFF}) {
      std::vector<uint8_t> bad = bytes;
      bad[at] ^= flip;
      absl::StatusOr<Program> p = ParseProgram(bad, "bad.tpu");
      ASSERT_FALSE(p.ok()) << "byte " << at;
      ASSERT_THAT(std::string(p.status().message()), HasSubstr("bad.tpu: "))
          << at;
    }
  }
}

// Even with a CRC that is right, no change of bytes makes the parser crash;
// what it accepts is self-consistent.
TEST(ProgramFile, ChangedBytesUnderARightCrc) {
  const std::vector<uint8_t> bytes = SerializeProgram(Sample());
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bad = bytes;
    for (int n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % (bad.size() - 4);
      bad[at] = random() % 3 == 0 ? 0xFF : static_cast<uint8_t>(random());
    }
    FixCrc(&bad);
    absl::StatusOr<Program> p = ParseProgram(bad, "bad.tpu");
    if (!p.ok()) {
      ++refused;
      continue;
    }
    EXPECT_EQ(SerializeProgram(*p).size(), bad.size());
    EXPECT_TRUE(ParseProgram(SerializeProgram(*p), "again").ok());
  }
  EXPECT_GT(refused, 5000);
}

TEST(ProgramFile, OtherFilesAndVersions) {
  const auto parse = [](const std::string& text) {
    return ParseProgram(std::vector<uint8_t>(text.begin(), text.end()), "f")
        .status();
  };
  EXPECT_EQ(parse("hello, this is no program at all").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(parse("").code(), absl::StatusCode::kDataLoss);
  std::vector<uint8_t> bytes = SerializeProgram(Sample());
  bytes[8] = 9;
  FixCrc(&bytes);
  absl::Status s = ParseProgram(bytes, "f").status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("format version 9"));
  bytes[8] = 2;  // had no parts of the memory
  FixCrc(&bytes);
  EXPECT_THAT(std::string(ParseProgram(bytes, "f").status().message()),
              HasSubstr("f: a program of format version 2, this program reads "
                        "version 4: compile its model again"));
  bytes = SerializeProgram(Sample());
  bytes[12] = 7;
  FixCrc(&bytes);
  s = ParseProgram(bytes, "f").status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("ISA version 7"));
}

TEST(ProgramFile, IllegalContents) {
  const struct {
    const char* message;
    std::function<void(Program&)> spoil;
  } kCases[] = {
      {"unknown preset 'huge'", [](Program& p) { p.preset = "huge"; }},
      {"not a multiple of 128", [](Program& p) { p.prog_addr = 0x1040; }},
      {"bytes of HBM; edge has",
       [](Program& p) { p.hbm_bytes = uint64_t{1} << 40; }},
      {"last descriptor is not a halt",
       [](Program& p) { p.descriptors.pop_back(); }},
      {"last descriptor is not a halt",
       [](Program& p) { p.descriptors.clear(); }},
      {"list of descriptors at", [](Program& p) { p.prog_addr = 0x20000; }},
      {"list of descriptors at",
       [](Program& p) { p.prog_addr = ~uint64_t{0} << 7; }},
      {"data segment 'conv1.params' at",
       [](Program& p) { p.segments[1].hbm_addr = 0x1FFC0; }},
      {"data segment 'conv1.params' at",
       [](Program& p) { p.segments[1].hbm_addr = ~uint64_t{63}; }},
      {"is not at a multiple of 64",
       [](Program& p) { p.segments[1].hbm_addr = 0x4041; }},
      {"overlap", [](Program& p) { p.segments[1].hbm_addr = 0x4000; }},
      {"list of descriptors and data segment 'conv1.params' overlap",
       [](Program& p) { p.segments[1].hbm_addr = 0x1040; }},
      {"a tensor has no name", [](Program& p) { p.tensors[0].name = ""; }},
      {"tensor 'image' is there twice",
       [](Program& p) { p.tensors[1].name = "image"; }},
      {"is not at a multiple of 64",
       [](Program& p) { p.tensors[0].hbm_addr = 0x8001; }},
      {"has the scale", [](Program& p) { p.tensors[0].scale = 0; }},
      {"has the scale", [](Program& p) { p.tensors[0].scale = 0.0f / 0.0f; }},
      {"has the zero point", [](Program& p) { p.tensors[0].zero_point = 128; }},
      {"has an impossible shape", [](Program& p) { p.tensors[0].n = 0; }},
      {"has an impossible shape", [](Program& p) { p.tensors[0].w = -1; }},
      {"has an impossible shape",
       [](Program& p) {
         p.tensors[0].w = p.tensors[0].h = p.tensors[0].channels = int64_t{1}
                                                                   << 36;
       }},
      {"has an impossible pitch",
       [](Program& p) { p.tensors[0].pitch = int64_t{1} << 62; }},
      {"has lines that overlap", [](Program& p) { p.tensors[0].pitch = 27; }},
      {"has images that overlap",
       [](Program& p) { p.tensors[0].img_pitch = 27 * 64 + 27; }},
      {"tensor 'image' ends above",
       [](Program& p) { p.tensors[0].hbm_addr = 0x1F800; }},
      {"unknown element type 4",
       [](Program& p) { p.tensors[0].type = static_cast<ElementType>(4); }},
      {"layer 'conv1' has negative work",
       [](Program& p) { p.layers[0].macs = -1; }},
      {"layer 'conv1' has negative work",
       [](Program& p) { p.layers[0].parameter_bytes = -1; }},
      {"buffer 'logits' ends above the unified buffer's 524288 bytes",
       [](Program& p) { p.buffers[1].ub_addr = 524288 - 63; }},
      {"buffer 'logits' ends above",
       [](Program& p) { p.buffers[1].bytes = ~uint64_t{0}; }},
      {"buffer 'logits' lives in layers that are not there",
       [](Program& p) { p.buffers[1].last_layer = 1; }},
      {"buffer 'logits' lives in layers that are not there",
       [](Program& p) { p.buffers[1].first_layer = 1; }},
      {"a part of the memory has the unknown use 4",
       [](Program& p) { p.memory[1].use = static_cast<MemoryUse>(4); }},
      {"memory for arguments ends above the program's",
       [](Program& p) { p.memory[2].bytes = 0x20000; }},
      {"memory for constants, 512 bytes at 0x4080, is not at a multiple of 256",
       [](Program& p) { p.memory[1].hbm_addr = 0x4080; }},
      {"tensor 'logits' is in no part of the memory",
       [](Program& p) { p.memory[2].bytes = 0x8000; }},
      {"data segment 'conv1.params' is in no part of the memory",
       [](Program& p) { p.memory[1].bytes = 0x100; }},
      {"the descriptors are in no part of the memory",
       [](Program& p) { p.memory[0].hbm_addr = 0x2000; }},
      {"descriptor 0 leaves the memory for arguments",
       [](Program& p) { p.relocations[0].segment = 2; }},
      {"descriptor 0 has no relocation",
       [](Program& p) { p.relocations.clear(); }},
      {"a relocation of descriptor 1, which has no HBM address",
       [](Program& p) {
         p.relocations.push_back({1, 1});
       }},
      {"section 'model' is there twice",
       [](Program& p) { p.sections[1].name = "model"; }},
  };
  for (const auto& c : kCases) {
    Program p = Sample();
    c.spoil(p);
    absl::Status s = ParseProgram(SerializeProgram(p), "f.tpu").status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << c.message;
    EXPECT_THAT(std::string(s.message()), HasSubstr(c.message));
    EXPECT_THAT(std::string(s.message()), HasSubstr("f.tpu: "));
  }
}

class ProgramFileOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/program_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    ASSERT_EQ(system(("rm -rf '" + folder_ + "'").c_str()), 0);
  }
  std::string folder_;
};

TEST_F(ProgramFileOnDisk, WriteAndRead) {
  const std::string path = folder_ + "/a.tpu";
  ASSERT_TRUE(WriteProgram(Sample(), path).ok());
  absl::StatusOr<Program> p = ReadProgram(path);
  ASSERT_TRUE(p.ok()) << p.status();
  ExpectSame(*p, Sample());
  Program other = Sample();
  other.prog_addr = other.memory[0].hbm_addr = 0x2000;
  ASSERT_TRUE(WriteProgram(other, path).ok());
  EXPECT_EQ(ReadProgram(path)->prog_addr, 0x2000u);
  // Nothing is left beside the file.
  EXPECT_EQ(system(("test \"$(ls '" + folder_ + "')\" = a.tpu").c_str()), 0);
}

TEST_F(ProgramFileOnDisk, ErrorsNameTheFile) {
  absl::Status s = ReadProgram(folder_ + "/none.tpu").status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()), HasSubstr("none.tpu"));
  EXPECT_FALSE(ReadProgram(folder_).ok());  // a folder
  s = WriteProgram(Sample(), folder_ + "/nowhere/a.tpu");
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()), HasSubstr("nowhere/a.tpu"));
  const std::string path = folder_ + "/short.tpu";
  const std::vector<uint8_t> bytes = SerializeProgram(Sample());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), bytes.size() / 2);
  s = ReadProgram(path).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(s.message()), HasSubstr("short.tpu: truncated"));
}

// What cannot be read back is not written, and what was there stays.
TEST_F(ProgramFileOnDisk, RefusesToWriteWhatItWouldNotRead) {
  const std::string path = folder_ + "/a.tpu";
  ASSERT_TRUE(WriteProgram(Sample(), path).ok());
  Program bad = Sample();
  bad.prog_addr = 1;
  EXPECT_EQ(WriteProgram(bad, path).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(ReadProgram(path).ok());
  // A device without room: the temporary file cannot be written, the target
  // stays.
  if (access("/dev/full", W_OK) == 0) {
    EXPECT_FALSE(WriteProgram(Sample(), "/dev/full/a.tpu").ok());
  }
}

}  // namespace
}  // namespace systole
