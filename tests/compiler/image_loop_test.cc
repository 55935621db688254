// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A network's program for one image in a loop over a batch: its length stays,
// its results are those of the images one by one, and nothing races.

#include "host/program/image_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <vector>

#include "host/runtime/build.h"
#include "systole/device.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

class ImageLoop : public ::testing::TestWithParam<const char*> {
 protected:
  static Program Digits(int64_t batch) {
    const Preset& preset = *FindPreset(GetParam());
    auto source = runtime::ReadSource(
        SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors", nullptr, &preset);
    EXPECT_TRUE(source.ok()) << source.status();
    compiler::Options options;
    options.batch = batch;
    auto model = runtime::Build(*source, preset, options);
    EXPECT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->programs.size(), 1u);
    return model->programs.front();
  }
  static std::vector<uint8_t> Run(const Program& program,
                                  const std::vector<uint8_t>& images) {
    DeviceOptions options;
    options.preset = GetParam();
    options.simulation.check_races = true;
    auto device = Device::Open("iss", options);
    EXPECT_TRUE(device.ok()) << device.status();
    EXPECT_TRUE((*device)->Load(program).ok());
    std::vector<uint8_t> results;
    for (const TensorInfo& t : program.tensors) {
      if (!t.is_input) continue;
      EXPECT_EQ(static_cast<size_t>(t.elements()), images.size());
      EXPECT_TRUE((*device)->WriteTensor(t, images).ok());
    }
    auto stats = (*device)->Run(program);
    EXPECT_TRUE(stats.ok()) << stats.status();
    for (const TensorInfo& t : program.tensors) {
      if (!t.is_output) continue;
      auto bytes = (*device)->ReadTensor(t);
      EXPECT_TRUE(bytes.ok()) << bytes.status();
      if (bytes.ok())
        results.insert(results.end(), bytes->begin(), bytes->end());
    }
    return results;
  }
};

TEST_P(ImageLoop, IsTheImagesOneByOne) {
  const Program one = Digits(1);
  const size_t pixels = 28 * 28;
  std::mt19937 rng(3);
  std::vector<uint8_t> images, want;
  for (int i = 0; i < 5; ++i) {
    std::vector<uint8_t> image(pixels);
    for (uint8_t& p : image) p = static_cast<uint8_t>(rng());
    const std::vector<uint8_t> result = Run(one, image);
    want.insert(want.end(), result.begin(), result.end());
    images.insert(images.end(), image.begin(), image.end());
  }
  for (const Program& body : {one, RollLoops(one, 1u << 20)}) {
    auto batch = LoopOverImages(body, 5);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_TRUE(CheckRelocations(*batch).ok());
    EXPECT_EQ(batch->descriptors.size(), body.descriptors.size() + 3);
    auto flat = UnrollLoops(*batch);
    ASSERT_TRUE(flat.ok()) << flat.status();
    EXPECT_EQ(Run(*flat, images), want);
  }
}

TEST_P(ImageLoop, StaysAsLongAsItIs) {
  const Program one = Digits(1);
  for (const int64_t batch : {1, 4, 16}) {
    auto looped = LoopOverImages(RollLoops(one, 1u << 20), batch);
    ASSERT_TRUE(looped.ok()) << looped.status();
    const Program straight = Digits(batch);
    std::printf("[ figure   ] %s, batch %d: %d descriptors, as a loop %d\n",
                GetParam(), static_cast<int>(batch),
                static_cast<int>(straight.descriptors.size()),
                static_cast<int>(looped->descriptors.size()));
    EXPECT_EQ(looped->descriptors.size(),
              RollLoops(one, 1u << 20).descriptors.size() + 3);
  }
}

// What would race, or has no room.
TEST_P(ImageLoop, WhatCannotBeABody) {
  const Program one = Digits(1);
  const auto error = [](const Program& p, int64_t passes = 4) {
    return std::string(LoopOverImages(p, passes).status().message());
  };
  Program p = one;
  p.memory.clear();
  EXPECT_THAT(error(p), HasSubstr("it has fixed addresses"));
  EXPECT_THAT(error(one, 0), HasSubstr("0 passes"));
  EXPECT_THAT(error(one, int64_t{1} << 31), HasSubstr("have no room"));
  p = one;  // a flag that nobody takes
  isa::PutBits(p.descriptors[0], 64, 32,
               isa::GetBits(p.descriptors[0], 64, 32) | 1u << 27);
  EXPECT_THAT(error(p), HasSubstr("flag 27 is posted 1 times"));
  p = one;  // the last store does not wait
  for (isa::Descriptor& d : p.descriptors) {
    isa::PutBits(d, 32, 32, 0);
    isa::PutBits(d, 64, 32, 0);
  }
  EXPECT_THAT(error(p), HasSubstr("wait for"));
}

INSTANTIATE_TEST_SUITE_P(Presets, ImageLoop, ::testing::Values("nano", "edge"));

}  // namespace
}  // namespace systole
