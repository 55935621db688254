// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs that ask for a format or a size that the preset lacks: the driver
// says so, and where it cannot know, the core faults. A core whose HBM was
// changed behind the driver's back faults too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/program/vpu_asm.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "systole/float_matmul.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* preset;
  isa::Fault cause;
  isa::Descriptor descriptor;
  // Words of the vector unit's instructions, of a vrun.
  std::vector<uint64_t> code = {};
};

template <class Op, class F>
isa::Descriptor Make(F edit) {
  Op op;
  edit(op);
  return op.Encode();
}
template <class Op>
isa::Descriptor Make() {
  return Op{}.Encode();
}

isa::Matmul PlainMatmul() {
  isa::Matmul m;
  m.pitch = 64, m.lines = m.ny = 4, m.line_bytes = 16;
  m.n = m.nx = m.sy = m.t0 = m.t1 = 1;
  m.seg_len[0] = 8;
  return m;
}

// Opcodes of the other cell.
std::vector<Case> Foreign() {
  const auto opcode = isa::Fault::kIllegalOpcode;
  return {
      {"RequantOnBf16", "mini", opcode, Make<isa::Requant>()},
      {"PoolOnBf16", "mini", opcode, Make<isa::Pool>()},
      {"AddOnBf16", "mini", opcode, Make<isa::Add>()},
      {"TilesOnInt8", "nano", opcode, Make<isa::Tiles>()},
      {"VloadOnInt8", "nano", opcode, Make<isa::Vload>()},
      {"VrunOnInt8", "nano", opcode, Make<isa::Vrun>()},
  };
}

// Legal on a larger preset, or for the other cell.
std::vector<Case> TooMuch() {
  const auto illegal = isa::Fault::kIllegalDescriptor;
  const auto matmul = [](auto edit) {
    isa::Matmul m = PlainMatmul();
    edit(m);
    return m.Encode();
  };
  const isa::Descriptor far_load = Make<isa::Load>(
      [](isa::Load& l) { l.ub_addr = 8 << 20, l.len = 64, l.n1 = l.n2 = 1; });
  return {
      {"RowsOfV1", "nano", illegal,
       matmul([](isa::Matmul& m) { m.seg_len[0] = 128; })},
      {"RowsOfV2", "mini", illegal,
       matmul([](isa::Matmul& m) { m.seg_len[0] = 128; })},
      {"TileOfV2", "mini", illegal, Make<isa::Tiles>([](isa::Tiles& t) {
         t.rows = t.cols = 128, t.tiles = 1, t.pitch = 256;
       })},
      {"PaddingOfInt8", "mini", illegal,
       matmul([](isa::Matmul& m) { m.pad = 1; })},
      {"TransposeOnInt8", "nano", illegal, matmul([](isa::Matmul& m) {
         m.header.flags = isa::Matmul::kTranspose;
       })},
      {"TransposedTilesOnInt8", "nano", illegal,
       Make<isa::Weights>([](isa::Weights& w) {
         w.tiles = 1, w.header.flags = isa::Weights::kTranspose;
       })},
      {"AccumulatorsOfV2", "mini", isa::Fault::kAccRange,
       matmul([](isa::Matmul& m) { m.acc = 4000; })},
      {"AccumulatorsOfV1", "nano", isa::Fault::kAccRange,
       matmul([](isa::Matmul& m) { m.acc = 4000; })},
      {"BufferOfV2", "mini", isa::Fault::kUbRange, far_load},
      {"BufferOfV1", "nano", isa::Fault::kUbRange, far_load},
      {"LanesOfV2", "mini", isa::Fault::kVectorProgram, Make<isa::Vrun>(),
       vpu::Assemble("li s1, 128\nlanes s1\nhalt\n", "lanes")->words},
  };
}

class FormatTest : public ::testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<Device> Open(const char* preset) {
    DeviceOptions options;
    options.preset = preset;
    options.simulation.checked = true;
    options.watchdog = 3000;
    auto device = Device::Open(GetParam(), options);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }

  // The descriptor between others, with code for the vector unit.
  static Program ProgramOf(const Case& c) {
    Program p;
    p.preset = c.preset;
    p.prog_addr = 0x4000;
    p.hbm_bytes = 0x8000;
    isa::Load load;
    load.len = 64, load.n1 = load.n2 = 1;
    p.descriptors.push_back(load.Encode());
    if (!c.code.empty()) {
      p.segments.push_back(vpu::Segment("code", 0, c.code));
      vpu::CodeLoad in =
          vpu::LoadCode(0, 0, static_cast<int64_t>(c.code.size()), 0);
      in.load.header.post_mask = in.vload.header.wait_mask = 1;
      p.descriptors.push_back(in.load.Encode());
      p.descriptors.push_back(in.vload.Encode());
    }
    p.descriptors.push_back(c.descriptor);
    p.descriptors.push_back(isa::Halt{}.Encode());
    return p;
  }

  static void ExpectFault(const Device& device, const absl::Status& status,
                          const Case& c, size_t index) {
    ASSERT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    ASSERT_TRUE(device.fault().has_value());
    EXPECT_EQ(device.fault()->cause, c.cause) << status;
    EXPECT_EQ(device.fault()->index, index) << status;
    EXPECT_THAT(
        status.message(),
        HasSubstr(std::string(isa::kFaults[static_cast<int>(c.cause)].name)));
  }
};

TEST_P(FormatTest, TheDriverRefusesOperationsOfTheOtherCell) {
  for (const Case& c : Foreign()) {
    SCOPED_TRACE(c.name);
    const auto device = Open(c.preset);
    ASSERT_NE(device, nullptr);
    const absl::Status status = device->Load(ProgramOf(c));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    const uint8_t opcode =
        static_cast<uint8_t>(isa::GetBits(c.descriptor, 0, 8));
    EXPECT_THAT(
        status.message(),
        HasSubstr(absl::StrFormat(
            "descriptor 1: preset '%s' has the %s cell, whose cores lack '%s'",
            c.preset, FindPreset(c.preset)->cell_name(),
            isa::FindOp(opcode)->name)));
  }
}

// The program is changed in HBM after the driver has looked at it.
TEST_P(FormatTest, TheCoreFaultsOnOperationsOfTheOtherCell) {
  for (const Case& c : Foreign()) {
    SCOPED_TRACE(c.name);
    const auto device = Open(c.preset);
    ASSERT_NE(device, nullptr);
    Program program = ProgramOf(c);
    program.descriptors[1] = isa::Halt{}.Encode();
    ASSERT_TRUE(device->Load(program).ok());
    std::vector<uint8_t> bytes(isa::kDescriptorBytes);
    std::memcpy(bytes.data(), c.descriptor.data(), bytes.size());
    ASSERT_TRUE(
        device->Write(program.prog_addr + isa::kDescriptorBytes, bytes).ok());
    ASSERT_TRUE(device->Start(program).ok());
    ExpectFault(*device, device->Wait().status(), c, 1);
  }
}

TEST_P(FormatTest, TheCoreFaultsOnSizesThatThePresetLacks) {
  for (const Case& c : TooMuch()) {
    SCOPED_TRACE(c.name);
    const auto device = Open(c.preset);
    ASSERT_NE(device, nullptr);
    const Program program = ProgramOf(c);
    const absl::Status status = device->Run(program).status();
    ExpectFault(*device, status, c, program.descriptors.size() - 2);
    // And is usable again.
    ASSERT_TRUE(device->Reset(ResetScope::kCore).ok());
    Program good = program;
    good.descriptors = {isa::Halt{}.Encode()};
    EXPECT_TRUE(device->Run(good).ok());
  }
}

TEST_P(FormatTest, TheDriverRefusesProgramsOfAnotherPreset) {
  for (const auto& [preset, other] :
       {std::make_pair("mini", "v2"), std::make_pair("mini", "nano"),
        std::make_pair("nano", "lite")}) {
    const auto device = Open(preset);
    ASSERT_NE(device, nullptr);
    Program program;
    program.preset = other;
    program.hbm_bytes = 0x1000;
    program.descriptors = {isa::Halt{}.Encode()};
    for (const absl::Status& status :
         {device->Load(program), device->Start(program),
          device->Run(program).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(),
                  HasSubstr(absl::StrCat("program made for preset '", other,
                                         "', device is '", preset, "'")));
    }
  }
}

TEST(Format, CompilersRefuseTheOtherCell) {
  compiler::MatmulSpec int8;
  int8.m = int8.k = int8.n = 8;
  int8.raw = true;
  int8.weights.resize(64);
  const absl::Status wrong =
      compiler::CompileMatmul(int8, *FindPreset("v2"), {}).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(wrong.message(), HasSubstr("preset 'v2' has the bf16 cell"));
  const absl::Status other =
      compiler::CompileFloatMatmul({8, 8, 8, std::vector<uint16_t>(64)},
                                   *FindPreset("v1"))
          .status();
  EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(other.message(), HasSubstr("preset 'v1' has the int8 cell"));
}

INSTANTIATE_TEST_SUITE_P(Backends, FormatTest, ::testing::Values("iss", "rtl"));

}  // namespace
}  // namespace systole
