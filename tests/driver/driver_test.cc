// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's API on the simulator: opening, buffers, tensors, programs,
// errors. tests/system/ runs programs on both backends.

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "systole/device.h"
#include "systole/gen/hbm.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Device> OpenIss(DeviceOptions options = {}) {
  if (options.preset == "edge") options.preset = "nano";
  absl::StatusOr<std::unique_ptr<Device>> device = Device::Open("iss", options);
  EXPECT_TRUE(device.ok()) << device.status();
  return std::move(*device);
}

// Copies 64 bytes from 0x400 to 0x800 through the unified buffer.
Program CopyProgram() {
  Program p;
  p.preset = "nano";
  p.prog_addr = 0x1000;
  p.hbm_bytes = 0x2000;
  isa::Load load;
  load.header.post_mask = 1;
  load.header.tag = 1;
  load.hbm_addr = 0x400, load.len = 64, load.n1 = load.n2 = 1;
  isa::Store store;
  store.header.wait_mask = 1;
  store.hbm_addr = 0x800, store.len = 64, store.n1 = store.n2 = 1;
  p.descriptors = {load.Encode(), store.Encode(), isa::Halt{}.Encode()};
  std::vector<uint8_t> data(64);
  std::iota(data.begin(), data.end(), 1);
  p.segments.push_back({"source", 0x400, data});
  p.layers.resize(2);
  p.layers[0].name = "first", p.layers[0].op = "copy";
  p.layers[1].name = "second", p.layers[1].op = "copy";
  return p;
}

TEST(Driver, OpenNamesWhatExists) {
  absl::Status s = Device::Open("fpga", {}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(s.message()),
      HasSubstr("unknown backend 'fpga'; there are rtl, iss, serial:PORT"));
  DeviceOptions options;
  options.preset = "mega";
  s = Device::Open("iss", options).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("unknown preset 'mega'; there are nano, edge, v1"));
  for (const Preset& preset : kPresets) {
    options.preset = std::string(preset.name);
    absl::StatusOr<std::unique_ptr<Device>> device =
        Device::Open("iss", options);
    ASSERT_TRUE(device.ok());
    EXPECT_EQ((*device)->preset().name, preset.name);
    EXPECT_EQ((*device)->backend(), "iss");
  }
}

TEST(Driver, MemoryRange) {
  auto device = OpenIss();
  const uint64_t capacity = hbm::CapacityBytes(2);
  std::vector<uint8_t> bytes = {1, 2, 3, 4}, back(4);
  EXPECT_TRUE(device->Write(capacity - 4, bytes).ok());
  EXPECT_TRUE(device->Read(capacity - 4, absl::MakeSpan(back)).ok());
  EXPECT_EQ(back, bytes);
  EXPECT_TRUE(device->Write(capacity, {}).ok());
  for (uint64_t address :
       {capacity - 3, capacity, capacity + 1, ~uint64_t{0}, ~uint64_t{0} - 3}) {
    EXPECT_EQ(device->Write(address, bytes).code(),
              absl::StatusCode::kOutOfRange)
        << address;
    EXPECT_EQ(device->Read(address, absl::MakeSpan(back)).code(),
              absl::StatusCode::kOutOfRange)
        << address;
  }
}

TEST(Driver, Allocate) {
  auto device = OpenIss();
  EXPECT_EQ(*device->Allocate(1), 0u);
  EXPECT_EQ(*device->Allocate(300), 128u);
  EXPECT_EQ(*device->Allocate(0), 512u);
  ASSERT_TRUE(device->Load(CopyProgram()).ok());
  EXPECT_EQ(*device->Allocate(5), 0x2000u) << "above the program";
  const uint64_t capacity = hbm::CapacityBytes(2);
  EXPECT_EQ(device->Allocate(capacity).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(device->Allocate(~uint64_t{0}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*device->Allocate(capacity - 0x2080), 0x2080u);
  EXPECT_EQ(device->Allocate(1).status().code(),
            absl::StatusCode::kResourceExhausted);
  device->FreeAll();
  EXPECT_EQ(*device->Allocate(1), 0u);
}

TEST(Driver, RunAProgram) {
  std::vector<uint64_t> progress;
  DeviceOptions options;
  options.simulation.check_races = true;
  options.progress = [&](uint64_t done) { progress.push_back(done); };
  auto device = OpenIss(options);
  absl::StatusOr<RunStats> stats = device->Run(CopyProgram());
  ASSERT_TRUE(stats.ok()) << stats.status();
  std::vector<uint8_t> out(64);
  ASSERT_TRUE(device->Read(0x800, absl::MakeSpan(out)).ok());
  EXPECT_EQ(out, CopyProgram().segments[0].data);
  EXPECT_EQ(stats->cycles, 0u);
  EXPECT_EQ(stats->counter(csr::Counter::kLoadBytes), 64u);
  EXPECT_EQ(stats->counter(csr::Counter::kStoreBytes), 64u);
  EXPECT_EQ(stats->counter(csr::Counter::kFetchBytes), 3 * 64u);
  ASSERT_EQ(stats->retires.size(), 2u);
  EXPECT_EQ(stats->retires[0].queue, isa::Queue::kLoad);
  EXPECT_EQ(stats->retires[1].queue, isa::Queue::kStore);
  EXPECT_EQ(stats->retires[1].index, 1u);
}

TEST(Driver, StopEndsAProgram) {
  DeviceOptions options;
  bool stop = true;
  options.stop = [&] { return stop; };
  auto device = OpenIss(options);
  const absl::Status status = device->Run(CopyProgram()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(status.message(),
            "iss: the program was stopped after 1 descriptors");
  stop = false;
  ASSERT_TRUE(device->Reset(ResetScope::kCore).ok());
  EXPECT_TRUE(device->Run(CopyProgram()).ok());
}

TEST(Driver, TheSimulatorBehindADevice) {
  auto device = OpenIss();
  Simulator* const simulator = device->simulator();
  ASSERT_NE(simulator, nullptr);
  EXPECT_EQ(simulator->runs(), 0);
  ASSERT_TRUE(device->Run(CopyProgram()).ok());
  EXPECT_EQ(simulator->runs(), 1);
  ASSERT_TRUE(simulator->Flip({0x803, 10}).ok());
  std::vector<uint8_t> bytes(8);
  ASSERT_TRUE(device->Read(0x800, absl::MakeSpan(bytes)).ok());
  EXPECT_EQ(bytes, std::vector<uint8_t>({1, 2 ^ 4, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(absl::IsUnimplemented(simulator->Links().status()));
  EXPECT_TRUE(absl::IsUnimplemented(simulator->Replay({}).status()));
  EXPECT_TRUE(absl::IsNotFound(simulator->waveform().status()));
}

TEST(Driver, OrderOfCalls) {
  auto device = OpenIss();
  EXPECT_EQ(device->Wait().status().code(),
            absl::StatusCode::kFailedPrecondition);
  const Program program = CopyProgram();
  ASSERT_TRUE(device->Load(program).ok());
  ASSERT_TRUE(device->Start(program).ok());
  EXPECT_EQ(device->Start(program).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(device->Wait().ok());
  EXPECT_EQ(device->Wait().status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(device->Start(program).ok())
      << "a second run needs no second load";
  ASSERT_TRUE(device->Reset(ResetScope::kCore).ok());
  EXPECT_EQ(device->Wait().status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "the reset ended it";
}

TEST(Driver, WrongPreset) {
  auto device = OpenIss();
  Program program = CopyProgram();
  program.preset = "v1";
  for (const absl::Status& s : {device->Load(program), device->Start(program),
                                device->Run(program).status()}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(s.message()),
                HasSubstr("program made for preset 'v1', device is 'nano'"));
  }
}

TEST(Driver, OperationOfAnotherCell) {
  auto device = OpenIss();
  Program program = CopyProgram();
  program.descriptors.insert(program.descriptors.begin() + 1,
                             isa::Vrun().Encode());
  const absl::Status s = device->Load(program);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("descriptor 1: preset 'nano' has the int8 cell, whose "
                        "cores lack 'vrun'"));
}

TEST(Driver, SegmentsBeyondTheMemory) {
  auto device = OpenIss();
  Program program = CopyProgram();
  program.segments[0].hbm_addr = hbm::CapacityBytes(2) - 32;
  absl::Status s = device->Load(program);
  EXPECT_EQ(s.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("data segment 'source': 64 bytes at"));
}

TEST(Driver, Tensors) {
  auto device = OpenIss();
  const std::vector<uint8_t> background(4096, 0xEE);
  for (const bool padded_lines : {false, true}) {
    for (const bool padded_images : {false, true}) {
      for (const ElementType type :
           {ElementType::kInt8, ElementType::kInt32, ElementType::kBf16,
            ElementType::kFloat32}) {
        TensorInfo t;
        t.name = "t", t.type = type;
        t.n = 2, t.h = 3, t.w = 2, t.channels = 5, t.hbm_addr = 0x400;
        t.pitch = t.line_bytes() + (padded_lines ? 7 : 0);
        t.img_pitch = t.h * t.pitch + (padded_images ? 9 : 0);
        ASSERT_TRUE(device->Write(0, background).ok());
        std::vector<uint8_t> dense(t.elements() * t.element_bytes());
        std::iota(dense.begin(), dense.end(), 1);
        ASSERT_TRUE(device->WriteTensor(t, dense).ok());
        absl::StatusOr<std::vector<uint8_t>> back = device->ReadTensor(t);
        ASSERT_TRUE(back.ok());
        EXPECT_EQ(*back, dense);
        // Where each byte is, and that no other was touched.
        std::vector<uint8_t> want = background, all(4096);
        for (int64_t i = 0, k = 0; i < t.n; ++i) {
          for (int64_t y = 0; y < t.h; ++y) {
            for (int64_t b = 0; b < t.line_bytes(); ++b)
              want[0x400 + i * t.img_pitch + y * t.pitch + b] = dense[k++];
          }
        }
        ASSERT_TRUE(device->Read(0, absl::MakeSpan(all)).ok());
        EXPECT_EQ(all, want);
        // Sizes.
        dense.push_back(0);
        absl::Status s = device->WriteTensor(t, dense);
        EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
        EXPECT_THAT(std::string(s.message()), HasSubstr("tensor 't' has"));
        t.hbm_addr = hbm::CapacityBytes(2);
        EXPECT_EQ(device->ReadTensor(t).status().code(),
                  absl::StatusCode::kOutOfRange);
      }
    }
  }
}

TEST(Driver, FaultsNameTheDescriptor) {
  auto device = OpenIss();
  Program program = CopyProgram();
  isa::Load load = isa::Load::Decode(program.descriptors[0]);
  load.ub_addr = 65536;
  program.descriptors[0] = load.Encode();
  absl::Status s = device->Run(program).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(std::string(s.message()),
            "iss: fault ub_range (an access outside the unified buffer) at "
            "descriptor 0 of 3 (layer 'second'): load "
            "hbm_addr=0x400 ub_addr=0x10000 len=64 n1=1 n2=1 post=0 tag=1; "
            "queue load, address 0x10000, cycle 0");
  ASSERT_TRUE(device->fault().has_value());
  EXPECT_EQ(device->fault()->cause, isa::Fault::kUbRange);
  EXPECT_EQ(device->Start(program).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(device->Reset(ResetScope::kCore).ok());
  EXPECT_FALSE(device->fault().has_value());
  EXPECT_TRUE(device->Run(CopyProgram()).ok()) << "usable again";

  program = CopyProgram();
  program.descriptors[0] = isa::Halt{}.Encode();
  isa::PutBits(program.descriptors[0], 0, 8, 0x33);
  s = device->Run(program).status();
  EXPECT_THAT(
      std::string(s.message()),
      HasSubstr("illegal_opcode (unknown opcode) at descriptor 0 of 3"));
  EXPECT_THAT(std::string(s.message()), HasSubstr("; sequencer, address 0x33"));
}

TEST(Driver, UnmetWaitSaysWhichFlag) {
  auto device = OpenIss();
  Program program = CopyProgram();
  isa::PutBits(program.descriptors[0], 64, 32, 0);
  absl::Status s = device->Run(program).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(s.message()), HasSubstr("fault watchdog"));
  EXPECT_THAT(
      std::string(s.message()),
      HasSubstr("it waits for sync flag 0, which nothing before it posts"));
}

TEST(Driver, RacesAreErrorsWhenChecked) {
  DeviceOptions options;
  options.simulation.check_races = true;
  auto device = OpenIss(options);
  Program program = CopyProgram();
  isa::PutBits(program.descriptors[1], 32, 32, 0);
  absl::Status s = device->Run(program).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("race on unified buffer bytes 0x0..0x3f"));
  EXPECT_THAT(std::string(s.message()), HasSubstr("#1, queue store: store"));
  EXPECT_TRUE(device->Run(CopyProgram()).ok()) << "no reset needed";
  EXPECT_TRUE(OpenIss()->Run(program).ok()) << "not checked unless asked for";
}

}  // namespace
}  // namespace systole
