// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Compiled models: what a program file keeps of them, running them in batches,
// and the check against the golden model, which has to see every seeded fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/runtime/build.h"
#include "host/runtime/model_section.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "host/tools/tensor_io.h"

namespace systole::runtime {
namespace {

using testing::HasSubstr;

constexpr char kText[] = R"(module @m {
  %x = f32[1,4,4,2] parameter(), name="picture"
  %q = i8[1,4,4,2]{scale=0.0078125} quantize(%x)
  %w = i8[3,3,3,2]{scale=0.02} constant(), data=x"0102030405060708090a0b0c0d0e0f101112f1f2f3f4f5f6f7f8f9fafbfcfdfeff0011223344556677881234567890aabbccdd010203"
  %c = i8[1,4,4,3]{scale=0.03, zero=5} conv2d(%q, %w), padding=[1, 1, 1, 1]
  %p = i8[1,2,2,3]{scale=0.03, zero=5} max_pool(%c), kernel=[2, 2], stride=[2, 2]
  %r = i8[1,12]{scale=0.03, zero=5} reshape(%p)
  %s = i8[1,12]{scale=0.00390625, zero=-128} softmax(%r)
  return %s as "classes", %p as "features"
}
)";

Source MakeSource() {
  auto module = ir::Parse(kText);
  EXPECT_TRUE(module.ok()) << module.status();
  auto source = SourceOf(*std::move(module));
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

CompiledModel Compiled(const Source& source, int64_t batch = 1) {
  compiler::Options options;
  options.batch = batch;
  options.keep_intermediates = true;
  auto model = Build(source, *FindPreset("nano"), options);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

std::unique_ptr<Device> OpenIss() {
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.check_races = true;
  return *Device::Open("iss", options);
}

TEST(CompiledModel, RoundTrip) {
  const Source source = MakeSource();
  const CompiledModel model = Compiled(source, 2);
  const Program program = ToProgram(model);
  const auto parsed = ParseProgram(SerializeProgram(program), "m.tpu");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto again = FromProgram(*parsed, "m.tpu");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->name, "m");
  EXPECT_EQ(again->batch(), 2);
  ASSERT_EQ(again->parts.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(ir::Equal(*again->parts[i], *model.parts[i]));
  }
  ASSERT_EQ(again->placements.size(), model.placements.size());
  for (size_t i = 0; i < model.placements.size(); ++i) {
    EXPECT_EQ(again->placements[i].node, model.placements[i].node);
    EXPECT_EQ(again->placements[i].op, model.placements[i].op);
    EXPECT_EQ(again->placements[i].unit, model.placements[i].unit);
    EXPECT_EQ(again->placements[i].reason, model.placements[i].reason);
  }
  EXPECT_EQ(SerializeProgram(ToProgram(*again)), SerializeProgram(program));
}

TEST(CompiledModel, RunsBatchesAndTheirParts) {
  const Source source = MakeSource();
  const CompiledModel model = Compiled(source, 3);
  const auto device = OpenIss();
  Runner runner(*device, model);
  const ir::Literal inputs = tools::RandomValues(model.inputs()[0]->type, 3, 1);
  std::vector<ir::Literal> first;
  for (const int64_t images : {3, 1, 2}) {
    const std::vector<ir::Literal> batch = {inputs.Slice(0, 32 * images)};
    const auto run = runner.Run(batch);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(run->outputs.size(), 2u);
    EXPECT_EQ(run->outputs[0].size(), 12 * images);
    tools::ModelCheck check(source);
    ASSERT_EQ(check.Compare(model, batch, *run), absl::OkStatus());
    EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
    // Two layers, two outputs.
    EXPECT_EQ(check.tensors().size(), 4u);
    if (first.empty()) first = run->outputs;
    EXPECT_EQ(run->outputs[0], first[0].Slice(0, 12 * images));
  }
  const auto error = [&](const std::vector<ir::Literal>& values) {
    return std::string(runner.Run(values).status().message());
  };
  EXPECT_THAT(error({}), HasSubstr("m: 0 inputs instead of 1"));
  EXPECT_THAT(error({inputs.Slice(0, 31)}),
              HasSubstr("input 'x': 31 values of f32 are not 1 to 3 times"));
  EXPECT_THAT(error({tools::RandomValues(model.inputs()[0]->type, 4, 1)}),
              HasSubstr("128 values"));
  EXPECT_THAT(error({ir::Literal(std::vector<int8_t>(32))}),
              HasSubstr("values of i8"));
}

// Three programs with the host between them; the third reads what the first
// one gave.
constexpr char kTurns[] = R"(module @turns {
  %x = i8[1,4,4,2]{scale=0.5} parameter(), name="x"
  %p = i8[1,2,2,2]{scale=0.5} max_pool(%x), kernel=[2, 2], stride=[2, 2]
  %t = i8[1,2,2,2]{scale=0.00390625, zero=-128} softmax(%p)
  %m = i8[1,2,2,2]{scale=0.5} add(%p, %t)
  %l = i8[1,2,2,2]{scale=0.00390625, zero=-128} softmax(%m)
  %y = i8[1,2,2,2]{scale=0.25} add(%l, %p)
  return %y as "y"
}
)";

Source TurnsSource() {
  auto module = ir::Parse(kTurns);
  EXPECT_TRUE(module.ok()) << module.status();
  auto source = SourceOf(*std::move(module));
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

TEST(CompiledModel, DeviceAndHostTakeTurns) {
  const Source source = TurnsSource();
  const auto model = FromProgram(
      *ParseProgram(SerializeProgram(ToProgram(Compiled(source, 2))),
                    "turns.tpu"),
      "turns.tpu");
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->programs.size(), 3u);
  const auto device = OpenIss();
  Runner runner(*device, *model);
  const std::vector<ir::Literal> inputs = {
      tools::RandomValues(model->inputs()[0]->type, 2, 5)};
  for (int round = 0; round < 3; ++round) {
    const auto run = runner.Run(inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->runs.size(), 3u);
    tools::ModelCheck check(source);
    ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
    EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
    EXPECT_EQ(check.tensors().size(), 4u);  // p, m, y, output y
    BatchRun bad = *run;
    bad.tensors["m"][9] ^= 1;  // of the second program
    tools::ModelCheck second(source);
    ASSERT_EQ(second.Compare(*model, inputs, bad), absl::OkStatus());
    EXPECT_EQ(second.mismatches().size(), 1u);
  }
}

TEST(CompiledModel, RefusesProgramsThatDoNotFit) {
  const Source source = TurnsSource();
  const struct {
    const char* message;
    std::function<void(CompiledModel&)> spoil;
  } kCases[] = {
      {"program 1 of the model has fixed addresses",
       [](CompiledModel& m) {
         m.programs[1].memory.clear();
         m.programs[1].relocations.clear();
       }},
      {"of program 1 is in the memory for temporaries",
       [](CompiledModel& m) {
         for (MemorySegment& part : m.programs[1].memory) {
           if (part.use == MemoryUse::kArguments)
             part.use = MemoryUse::kTemporaries;
         }
       }},
      {"4 parts of the host for 2 programs",
       [](CompiledModel& m) { m.programs.pop_back(); }},
      {"nothing gives 'p', an input of the host's part",
       [](CompiledModel& m) {
         for (TensorInfo& t : m.programs[0].tensors) t.is_output = false;
       }},
      {"tensor 'p' is another in program",
       [](CompiledModel& m) {
         for (TensorInfo& t : m.programs[2].tensors) {
           if (t.name == "p") t.zero_point = 3;
         }
       }},
  };
  for (const auto& c : kCases) {
    CompiledModel model = Compiled(source);
    c.spoil(model);
    EXPECT_THAT(
        std::string(FromProgram(ToProgram(model), "m").status().message()),
        HasSubstr(c.message));
  }
}

TEST(Source, HostOperatorsCanBeRefused) {
  const absl::Status status =
      RefuseHostOperators(TurnsSource().lowered.placements);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the host would run:\n"
            "  't' (softmax): the device has no such operation\n"
            "  'l' (softmax): the device has no such operation");
  const auto network =
      ReadSource(SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors");
  ASSERT_TRUE(network.ok());
  EXPECT_EQ(RefuseHostOperators(network->lowered.placements), absl::OkStatus());
}

// A program that computes something else, and values changed on their way.
TEST(ModelCheck, SeesSeededFaults) {
  const Source source = MakeSource();
  const CompiledModel good = Compiled(source);
  const std::vector<ir::Literal> inputs = {
      tools::RandomValues(good.inputs()[0]->type, 1, 1)};
  const auto device = OpenIss();
  const auto run = Runner(*device, good).Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto mismatches = [&](const CompiledModel& model,
                              const BatchRun& result) {
    tools::ModelCheck check(source);
    EXPECT_EQ(check.Compare(model, inputs, result), absl::OkStatus());
    return check.mismatches();
  };
  ASSERT_TRUE(mismatches(good, *run).empty());
  for (const std::string tensor : {"c", "p"}) {
    BatchRun bad = *run;
    bad.tensors[tensor][3] ^= 1;
    const auto found = mismatches(good, bad);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0], HasSubstr("(1 of"));
  }
  for (const size_t output : {0, 1}) {
    BatchRun bad = *run;
    bad.outputs[output].values<int8_t>()[7] ^= 1;
    const auto found = mismatches(good, bad);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0], HasSubstr("element 7 is not what"));
  }
  CompiledModel other = Compiled(source);
  for (DataSegment& segment : other.programs[0].segments) {
    if (segment.name == "c.tiles") segment.data[0] ^= 0x40;
  }
  const auto wrong = Runner(*device, other).Run(inputs);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_FALSE(mismatches(other, *wrong).empty());
}

TEST(CompiledModel, RefusesPartsThatDoNotFit) {
  const Source source = MakeSource();
  const struct {
    const char* message;
    std::function<void(CompiledModel&)> spoil;
  } kCases[] = {
      {"nothing gives the program's input 'q'",
       [](CompiledModel& m) { m.parts[0]->outputs[0].name = "other"; }},
      {"tensor 'q' of the program is no i8[1,4,4,2]{scale=0.0078125, zero=9}",
       [](CompiledModel& m) {
         m.parts[0]->outputs[0].node->type.quantization->zero_point = 9;
       }},
      {"nothing gives 'other', an input of the host's part",
       [](CompiledModel& m) {
         m.parts[1]->inputs()[0]->attr<ir::ParameterAttributes>().name =
             "other";
       }},
      {"has 2 images, others 1",
       [](CompiledModel& m) {
         for (TensorInfo& t : m.programs[0].tensors) {
           if (t.is_output) t.n = 2;
         }
       }},
      {"section 'model': part 1 of the host: ",
       [](CompiledModel& m) {
         m.parts[1]->outputs[0].node->type.shape = {1, 13};
       }},
  };
  for (const auto& c : kCases) {
    CompiledModel model = Compiled(source);
    c.spoil(model);
    const absl::Status status = FromProgram(ToProgram(model), "m.tpu").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr("m.tpu: "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
  const auto bare = FromProgram(Compiled(source).programs[0], "m.tpu");
  EXPECT_EQ(bare.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(bare.status().message()),
              HasSubstr("m.tpu: a program without a model"));
}

TEST(ModelSection, NoBytesCrashTheReader) {
  const Source source = MakeSource();
  const CompiledModel model = Compiled(source);
  const Section good = ToSection(model);
  for (size_t size = 0; size < good.bytes.size(); ++size) {
    CompiledModel read;
    Section cut = good;
    cut.bytes.resize(size);
    ASSERT_FALSE(ParseSection(cut, read).ok()) << size;
  }
  Section later = good;
  later.version = 3;
  CompiledModel read;
  EXPECT_THAT(std::string(ParseSection(later, read).message()),
              HasSubstr("has version 3, this program reads version 2"));
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Program program = ToProgram(model);
    std::vector<uint8_t>& bytes = program.sections.back().bytes;
    for (int n = 1 + random() % 3; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    const auto result = FromProgram(std::move(program), "m.tpu");
    refused += !result.ok();
    if (!result.ok()) continue;
    for (const auto& part : result->parts) {
      EXPECT_EQ(ir::Verify(*part), absl::OkStatus());
    }
  }
  EXPECT_GT(refused, 1500);
}

TEST(Source, NetworksOfTheProject) {
  const auto source =
      ReadSource(SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors");
  ASSERT_TRUE(source.ok()) << source.status();
  const auto model = Build(*source, *FindPreset("edge"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(FromProgram(ToProgram(*model), "m").ok());
  EXPECT_EQ(model->inputs()[0]->type.shape, (ir::Ints{1, 28, 28, 1}));
  EXPECT_EQ(ReadSource("none.tflite").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace systole::runtime
