// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models side by side in one device, run in any order, and where their programs
// lie. --backend=iss|rtl
#include "host/runtime/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/str_format.h"
#include "host/ir/text.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "host/tools/tensor_io.h"
#include "tests/testing/options.h"

namespace systole::runtime {
namespace {

using testing::HasSubstr;

std::string g_backend = "iss";

// A convolution; a host operator between two programs.
constexpr char kConvolution[] = R"(module @convolution {
  %x = i8[1,9,9,5]{scale=0.0078125} parameter(), name="x"
  %w = i8[3,1,1,5]{scale=0.02} constant(), data=x"0102030405f1f2f3f4f57f80017f80"
  %c = i8[1,9,9,3]{scale=0.0005, zero=5} conv2d(%x, %w)
  %p = i8[1,4,4,3]{scale=0.0005, zero=5} max_pool(%c), kernel=[2, 2], stride=[2, 2]
  return %p as "features"
}
)";
constexpr char kTurns[] = R"(module @turns {
  %x = i8[1,4,4,2]{scale=0.5} parameter(), name="x"
  %p = i8[1,2,2,2]{scale=0.5} max_pool(%x), kernel=[2, 2], stride=[2, 2]
  %t = i8[1,2,2,2]{scale=0.00390625, zero=-128} softmax(%p)
  %m = i8[1,2,2,2]{scale=0.5} add(%p, %t)
  return %m as "sum", %t as "shares"
}
)";

struct Sample {
  Source source;
  CompiledModel model;
};

Sample Make(const char* text, int64_t batch, bool keep = true) {
  auto module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status();
  auto source = SourceOf(*std::move(module));
  EXPECT_TRUE(source.ok()) << source.status();
  compiler::Options options;
  options.batch = batch;
  options.keep_intermediates = keep;
  auto model = Build(*source, *FindPreset("nano"), options);
  EXPECT_TRUE(model.ok()) << model.status();
  return {*std::move(source), *std::move(model)};
}

std::unique_ptr<Device> OpenNano() {
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, options);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

void RunAndCheck(const Sample& sample, Runner& runner, int seed) {
  const std::vector<ir::Literal> inputs = {tools::RandomValues(
      sample.model.inputs()[0]->type, sample.model.batch(), seed)};
  const auto run = runner.Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  tools::ModelCheck check(sample.source);
  ASSERT_EQ(check.Compare(sample.model, inputs, *run), absl::OkStatus());
  EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
  EXPECT_GE(check.tensors().size(), 3u);
}

TEST(Loader, TwoModelsRunInTurnsOnOneDevice) {
  const Sample a = Make(kConvolution, 2), b = Make(kTurns, 3);
  const auto device = OpenNano();
  Loader loader(*device);
  Runner first(loader, a.model), second(loader, b.model);
  for (int round = 0; round < 3; ++round) {
    RunAndCheck(a, first, round);
    RunAndCheck(b, second, round + 10);
  }
  RunAndCheck(b, second, 20);
}

// Without a loader in common, models lie on each other, and the check above
// sees it.
TEST(Loader, ModelsThatOverlapAreSeen) {
  const Sample a = Make(kConvolution, 2), b = Make(kTurns, 3);
  const auto device = OpenNano();
  Runner first(*device, b.model), second(*device, a.model);
  RunAndCheck(b, first, 1);
  RunAndCheck(a, second, 2);
  const std::vector<ir::Literal> inputs = {
      tools::RandomValues(b.model.inputs()[0]->type, 3, 3)};
  const auto run = first.Run(inputs);
  if (!run.ok()) return;  // its descriptors were overwritten
  tools::ModelCheck check(b.source);
  ASSERT_EQ(check.Compare(b.model, inputs, *run), absl::OkStatus());
  EXPECT_FALSE(check.mismatches().empty());
}

TEST(Loader, MemoryComesBack) {
  const Sample a = Make(kConvolution, 2);
  const auto device = OpenNano();
  Loader loader(*device);
  std::vector<std::unique_ptr<LoadedModel>> loaded;
  for (int i = 0; i < 3; ++i) {
    auto one = loader.Load(a.model);
    ASSERT_TRUE(one.ok()) << one.status();
    loaded.push_back(*std::move(one));
  }
  const uint64_t middle = loaded[1]->programs()[0].prog_addr;
  EXPECT_LT(loaded[0]->programs()[0].hbm_bytes, middle);
  EXPECT_LT(middle, loaded[2]->programs()[0].prog_addr);
  loaded[1].reset();
  const auto again = loader.Load(a.model);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->programs()[0].prog_addr, middle);
}

TEST(Loader, ProgramsOfAModelShareArgumentsAndTemporaries) {
  const Sample b = Make(kTurns, 3);
  ASSERT_EQ(b.model.programs.size(), 2u);
  const auto device = OpenNano();
  Loader loader(*device);
  const auto loaded = loader.Load(b.model);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<Program>& programs = (*loaded)->programs();
  uint64_t end = 0;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(programs[i].memory[0].use, MemoryUse::kArguments);
    EXPECT_EQ(programs[i].memory[0].hbm_addr, 0u);
    EXPECT_EQ(CheckRelocations(programs[i]), absl::OkStatus());
    end = std::max(end, programs[i].hbm_bytes);
  }
  EXPECT_EQ(end, b.model.hbm_bytes());
  EXPECT_LT(programs[0].prog_addr, programs[1].prog_addr);
}

TEST(Loader, NoRoomNamesTheModel) {
  Sample a = Make(kConvolution, 1);
  a.model.programs[0].memory.back().bytes = 400 << 20;  // of 1 GiB
  const auto device = OpenNano();
  Loader loader(*device);
  std::vector<std::unique_ptr<LoadedModel>> loaded;
  absl::Status status;
  while (status.ok() && loaded.size() < 10) {
    auto one = loader.Load(a.model);
    status = one.status();
    if (one.ok()) loaded.push_back(*std::move(one));
  }
  EXPECT_EQ(loaded.size(), 2u);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("convolution: "));
  loaded.pop_back();
  EXPECT_TRUE(loader.Load(a.model).ok());
}

TEST(PlaceProgram, RefusesPlacesThatAreNone) {
  const Sample a = Make(kConvolution, 1);
  const Program& program = a.model.programs[0];
  const auto error = [&](const std::vector<uint64_t>& addresses) {
    return std::string(PlaceProgram(program, addresses).status().message());
  };
  ASSERT_EQ(program.memory.size(), 4u);
  EXPECT_THAT(error({0}), HasSubstr("1 addresses for 4 parts"));
  EXPECT_THAT(error({0, 65536, 131072, 200000}),
              HasSubstr("not at a multiple of 256"));
  EXPECT_THAT(error({0, 65536, 131072, 131072}), HasSubstr("overlap at"));
  EXPECT_THAT(error({0, 65536, 131072, FindPreset("nano")->memory_bytes()}),
              HasSubstr("memory for code"));
  // Parts in any order.
  const auto placed = PlaceProgram(program, {1 << 20, 65536, 1 << 22, 0});
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(CheckRelocations(*placed), absl::OkStatus());
  EXPECT_EQ(placed->prog_addr, 0u);
  EXPECT_NE(placed->descriptors, program.descriptors);
}

// Each relocation is wanted, and goes with the part that it names.
TEST(CheckRelocations, SeesSeededFaults) {
  const Sample a = Make(kConvolution, 1);
  const Program good = a.model.programs[0];
  ASSERT_EQ(CheckRelocations(good), absl::OkStatus());
  ASSERT_GT(good.relocations.size(), 3u);
  const auto error = [&](const std::function<void(Program&)>& spoil) {
    Program bad = good;
    spoil(bad);
    return std::string(CheckRelocations(bad).message());
  };
  for (size_t i = 0; i < good.relocations.size(); ++i) {
    EXPECT_THAT(error([&](Program& p) {
                  p.relocations.erase(p.relocations.begin() + i);
                }),
                HasSubstr("has no relocation"));
    EXPECT_THAT(error([&](Program& p) {
                  p.relocations[i].segment = (p.relocations[i].segment + 1) % 4;
                }),
                HasSubstr("leaves the memory for"));
  }
  EXPECT_THAT(error([](Program& p) { p.relocations[0].segment = 4; }),
              HasSubstr("part 4 of the memory, of 4"));
  EXPECT_THAT(error([](Program& p) {
                p.relocations.push_back({1 << 20, 0});
              }),
              HasSubstr("out of order"));
  EXPECT_THAT(error([](Program& p) { p.memory[1].bytes += 1; }),
              HasSubstr("overlap"));
  EXPECT_THAT(error([](Program& p) { p.memory[3].bytes -= 256; }),
              HasSubstr("no part of the memory"));
  EXPECT_THAT(error([](Program& p) { p.memory.clear(); }),
              HasSubstr("without parts"));
}

}  // namespace
}  // namespace systole::runtime

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv, {{"backend", &systole::runtime::g_backend}});
}
