// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs on tiles against the same programs on whole arrays, both by the
// golden model. Floats are small whole numbers, so that every order of a sum
// gives the same bits: what differs is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/partition/partitioner.h"
#include "host/partition/tiles.h"
#include "tests/partition/programs.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::partition {
namespace {

using ir::Literal;
using ir::Literals;
using testing::HasSubstr;

Literal RandomOf(const ir::Type& type, std::mt19937_64& rng) {
  return ir::WithElement(type.element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values(type.elements());
    for (T& value : values) {
      const int number = static_cast<int>(rng() % 7);
      if constexpr (std::is_same_v<T, ir::Bool>) {
        value = ir::Bool(number % 2 != 0);
      } else if constexpr (ir::IsFloat(ir::ElementOf<T>::kType)) {
        value = T(static_cast<float>(number - 3));
      } else {
        value = static_cast<T>(number);
      }
    }
    return Literal(std::move(values));
  });
}

// The digits of 8 or 12 positions, each along some dimension or none; half of
// them whether they divide its size or not.
Sharding RandomSharding(const std::vector<int64_t>& shape, int devices,
                        std::mt19937_64& rng) {
  Sharding sharding = Sharding::Replicated(shape.size());
  if (shape.empty()) return sharding;
  const std::vector<int64_t> digits = devices == 8
                                          ? std::vector<int64_t>{2, 2, 2}
                                          : std::vector<int64_t>{3, 2, 2};
  std::vector<Part> parts;
  int64_t before = 1;
  for (const int64_t size : digits) {
    parts.push_back({before, size});
    before *= size;
  }
  std::shuffle(parts.begin(), parts.end(), rng);
  for (const Part& part : parts) {
    if (rng() % 3 == 0) continue;
    sharding.dims[rng() % shape.size()].push_back(part);
  }
  if (rng() % 5 == 0) {
    for (int d = 0; d < devices; ++d) sharding.devices.push_back(d);
    std::shuffle(sharding.devices.begin(), sharding.devices.end(), rng);
  }
  return rng() % 2 == 0 ? Normalised(sharding) : Fitted(sharding, shape);
}

void Suggest(const ir::Module& module, GlobalProgram& program,
             std::mt19937_64& rng) {
  for (const auto& node : module.nodes()) {
    for (const auto& region : node->regions) {
      // Regions of scalars say nothing.
      if (node->op == ir::Op::kHloWhile || node->op == ir::Op::kHloIf)
        Suggest(*region, program, rng);
    }
    if (rng() % 3 == 0) continue;
    for (int r = 0; r < node->results(); ++r) {
      program.suggested[node.get()].push_back(
          RandomSharding(node->result_type(r).shape, program.devices, rng));
    }
  }
}

// Whether the devices' outputs are the tiles of the whole program's.
void Check(const GlobalProgram& program, const Literals& inputs,
           const std::string& text) {
  const auto whole = golden::RunHlo(*program.module, inputs);
  ASSERT_TRUE(whole.ok()) << whole.status() << text;
  const auto local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status() << text;
  std::vector<Literals> tiles(program.devices);
  for (int d = 0; d < program.devices; ++d) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      tiles[d].push_back(TileOf(inputs[i], program.module->inputs()[i]->type,
                                local->inputs[i], d, program.devices));
    }
  }
  const auto outputs =
      golden::RunHlo(*local->module, 1, program.devices, tiles);
  ASSERT_TRUE(outputs.ok()) << outputs.status() << ir::Print(*local->module);
  for (int d = 0; d < program.devices; ++d) {
    for (size_t i = 0; i < whole->size(); ++i) {
      const Literal wanted =
          TileOf((*whole)[i], program.module->outputs[i].node.type(),
                 local->outputs[i], d, program.devices);
      EXPECT_EQ((*outputs)[d][i], wanted)
          << "device " << d << ", output " << i << " of "
          << HloText(local->outputs[i], program.devices) << "\n"
          << text << ir::Print(*local->module);
    }
  }
}

// Parts of a sum: what two devices have is added where a value is needed. Marks
// hand the parts to tiles and back as they are.
TEST(PartitionTest, PartsOfSums) {
  for (const bool given_back : {false, true}) {
    GlobalProgram program;
    program.module = ModuleOf(
        "module @m {\n%x = f32[8,4] parameter(), name=\"x\"\n"
        "%t = f32[4,4] hlo.custom_call(%x), target=\"SPMDFullToShardShape\"\n"
        "%n = f32[4,4] hlo.negate(%t)\n"
        "%w = f32[8,4] hlo.custom_call(%n), target=\"SPMDShardToFullShape\"\n"
        "%y = f32[8,4] hlo.multiply(%w, %x)\nreturn %y as \"y\"\n}");
    program.devices = 8;
    // Devices 0 to 3 and 4 to 7 have a tile, even and odd ones its two parts.
    const Sharding parts{{{{1, 2}}, {}}, {}, {{4, 2}}};
    program.inputs = {parts};
    program.outputs = {given_back ? parts : Sharding{{{{1, 2}}, {}}, {}}};
    for (const auto& node : program.module->nodes())
      if (node->op == ir::Op::kHloCustomCall) program.marks[node.get()] = parts;
    const auto local = Partition(program);
    ASSERT_TRUE(local.ok()) << local.status();
    std::mt19937_64 rng(1);
    const ir::Type tile{ir::ElementType::kFloat32, {4, 4}, {}};
    std::vector<Literals> inputs(8);
    for (int d = 0; d < 8; ++d)
      inputs[d] = {d % 4 < 2 ? RandomOf(tile, rng) : inputs[d - 2][0]};
    const auto outputs = golden::RunHlo(*local->module, 1, 8, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (int d = 0; d < 8; ++d) {
      const std::vector<float>& even = inputs[d - d % 2][0].values<float>();
      const std::vector<float>& odd = inputs[d - d % 2 + 1][0].values<float>();
      std::vector<float> wanted(16);
      for (size_t i = 0; i < 16; ++i) {
        const float sum = even[i] + odd[i];
        wanted[i] = given_back && d % 2 == 1 ? 0 : -sum * sum;
      }
      EXPECT_EQ((*outputs)[d][0].values<float>(), wanted) << d;
    }
  }
}

class EveryOperation : public testing::TestWithParam<TestProgram> {};

TEST_P(EveryOperation, OnTilesIsThatOnWholeArrays) {
  std::mt19937_64 rng(7);
  const std::string text = TextOf(GetParam());
  int64_t divided = 0;
  for (int round = 0; round < 40; ++round) {
    GlobalProgram program = ProgramOf(text, round % 4 == 0 ? 12 : 8);
    Literals inputs;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const ir::Type& type = program.module->inputs()[i]->type;
      inputs.push_back(RandomOf(type, rng));
      if (rng() % 6 != 0)
        program.inputs[i] = RandomSharding(type.shape, program.devices, rng);
      if (program.inputs[i] && !program.inputs[i]->replicated()) ++divided;
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      if (rng() % 2 == 0)
        program.outputs[i] = RandomSharding(
            program.module->outputs[i].node.type().shape, program.devices, rng);
    }
    if (round % 2 == 0) Suggest(*program.module, program, rng);
    Check(program, inputs, text);
    if (HasFailure()) return;
  }
  EXPECT_GT(divided, 10);
}

INSTANTIATE_TEST_SUITE_P(Partition, EveryOperation,
                         testing::ValuesIn(TestPrograms()),
                         [](const auto& program) {
                           return std::string(program.param.name);
                         });

// What is divided stays divided: no values of other devices are needed.
TEST(PartitionTest, NothingIsExchangedWithoutNeed) {
  const auto collectives = [](const std::string& name, size_t input,
                              const Sharding& sharding) {
    for (const TestProgram& test : TestPrograms()) {
      if (test.name != name) continue;
      GlobalProgram program = ProgramOf(TextOf(test), 8);
      program.inputs[input] = sharding;
      const auto local = Partition(program);
      EXPECT_TRUE(local.ok()) << local.status();
      int count = 0;
      for (const auto& node : local->module->nodes())
        count += ir::IsCollective(node->op) ? 1 : 0;
      return count;
    }
    ADD_FAILURE() << name;
    return -1;
  };
  const Part all{1, 8}, four{1, 4};
  EXPECT_EQ(collectives("elementwise", 0, {{{all}, {}}, {}}), 0);
  EXPECT_EQ(collectives("product", 0, {{{all}, {}}, {}}), 0);
  EXPECT_EQ(collectives("product", 0, {{{}, {four}}, {}}), 1);
  EXPECT_EQ(collectives("reduce", 0, {{{all}, {}}, {}}), 1);
  EXPECT_EQ(collectives("convolution", 0, {{{all}, {}, {}, {}}, {}}), 0);
  EXPECT_EQ(collectives("loop", 0, {{{all}, {}}, {}}), 0);
  EXPECT_EQ(collectives("scatter_add", 2, {{{all}, {}}, {}}), 1);
  // Rows that are looked up where they are.
  EXPECT_EQ(collectives("gather", 0, {{{all}, {}}, {}}), 1);
  EXPECT_EQ(collectives("scatter", 0, {{{all}, {}}, {}}), 0);
}

void CheckRandom(const GlobalProgram& program) {
  std::mt19937_64 rng(1);
  Literals inputs;
  for (const ir::Node* input : program.module->inputs())
    inputs.push_back(RandomOf(input->type, rng));
  Check(program, inputs, "");
}

// A product's parts stay parts through additions, until they are needed.
TEST(PartitionTest, SumsAreLeftForLater) {
  GlobalProgram program = ProgramOf(
      "module @m {\n%x = f32[4,8] parameter(), name=\"x\"\n"
      "%w = f32[8,4] parameter(), name=\"w\"\n"
      "%s = f32[4,4] parameter(), name=\"s\"\n"
      "%p = f32[4,4] hlo.dot_general(%x, %w), lhs_contracting=[1], "
      "rhs_contracting=[0]\n%a = f32[4,4] hlo.add(%p, %s)\n"
      "%b = f32[4,4] hlo.add(%a, %a)\n%y = f32[4,4] hlo.multiply(%b, %s)\n"
      "return %y as \"y\"\n}",
      8);
  program.inputs[0] = Sharding{{{}, {{1, 8}}}, {}};
  const Sharding parts{{{}, {}}, {}, {{1, 8}}};
  for (const auto& node : program.module->nodes()) {
    if (node->op == ir::Op::kHloDotGeneral || node->op == ir::Op::kHloAdd)
      program.suggested[node.get()] = {parts};
  }
  CheckRandom(program);
  const auto local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status();
  std::vector<ir::Op> order;
  for (const auto& node : local->module->nodes()) {
    if (node->op == ir::Op::kHloAllReduce || node->op == ir::Op::kHloAdd)
      order.push_back(node->op);
  }
  EXPECT_THAT(order, testing::ElementsAre(ir::Op::kHloAdd, ir::Op::kHloAdd,
                                          ir::Op::kHloAllReduce));
}

// Transposes and reshapes that alone read a sum come before it; one that others
// read too stays.
TEST(PartitionTest, SumsComeBehindMoves) {
  for (const bool others : {false, true}) {
    GlobalProgram program = ProgramOf(
        absl::StrCat(
            "module @m {\n%x = f32[4,8] parameter(), name=\"x\"\n"
            "%w = f32[8,6] parameter(), name=\"w\"\n"
            "%p = f32[4,6] hlo.dot_general(%x, %w), lhs_contracting=[1], "
            "rhs_contracting=[0]\n"
            "%t = f32[6,4] hlo.transpose(%p), permutation=[1, 0]\n"
            "%r = f32[3,8] hlo.reshape(%t)\n",
            others ? "%n = f32[4,6] hlo.negate(%p)\n" : "",
            "return %r as \"r\"", others ? ", %n as \"n\"" : "", "\n}"),
        8);
    program.inputs[0] = Sharding{{{}, {{1, 8}}}, {}};
    CheckRandom(program);
    const auto local = Partition(program);
    ASSERT_TRUE(local.ok()) << local.status();
    const ir::Op last = local->module->outputs[0].node->op;
    EXPECT_EQ(last, others ? ir::Op::kHloReshape : ir::Op::kHloAllReduce);
  }
}

// A maximum has no parts of a sum, whatever is suggested.
TEST(PartitionTest, MaximaAreNotLeft) {
  for (const TestProgram& test : TestPrograms()) {
    if (test.name != "maximum") continue;
    GlobalProgram program = ProgramOf(TextOf(test), 8);
    program.inputs[0] = Sharding{{{}, {{1, 8}}}, {}};
    for (const auto& node : program.module->nodes()) {
      if (node->op == ir::Op::kHloReduce)
        program.suggested[node.get()] = {Sharding{{{}}, {}, {{1, 8}}}};
    }
    std::mt19937_64 rng(1);
    Check(program, {RandomOf(program.module->inputs()[0]->type, rng)}, "");
    const auto local = Partition(program);
    ASSERT_TRUE(local.ok()) << local.status();
    EXPECT_TRUE(local->outputs[0].replicated());
  }
}

// Inside of marks, tiles of other axes stay divided.
TEST(PartitionTest, TilesWithinTiles) {
  GlobalProgram program = ProgramOf(
      "module @m {\n%x = f32[8,8] parameter(), name=\"x\"\n"
      "%t = f32[4,8] hlo.custom_call(%x), target=\"SPMDFullToShardShape\"\n"
      "%n = f32[4,8] hlo.negate(%t)\n"
      "%y = f32[8,8] hlo.custom_call(%n), target=\"SPMDShardToFullShape\"\n"
      "return %y as \"y\"\n}",
      8);
  program.inputs[0] = Sharding{{{{1, 2}}, {{2, 4}}}, {}};
  for (const auto& node : program.module->nodes()) {
    if (node->op == ir::Op::kHloCustomCall)
      program.marks[node.get()] = Sharding{{{{1, 2}}, {}}, {}};
  }
  const auto local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_EQ(local->outputs[0], *program.inputs[0]);
  EXPECT_EQ(local->module->nodes().size(), 2u);
  // Axes of the mark itself, and those that do not divide its tiles.
  program.inputs[0] = Sharding{{{{1, 8}}, {}}, {}};
  const auto other = Partition(program);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->outputs[0], (Sharding{{{{1, 2}}, {}}, {}}));
}

// Sizes that are no multiples of the tiles: in fewer tiles, or whole.
TEST(PartitionTest, SaysWhatIsUneven) {
  GlobalProgram program = ProgramOf(
      "module @m {\n%x = f32[6,7] parameter(), name=\"x\"\n"
      "%n = f32[6,7] hlo.negate(%x)\n"
      "%m = f32[6,7] hlo.custom_call(%n), target=\"Sharding\"\n"
      "%t = f32[7,6] hlo.transpose(%m), permutation=[1, 0]\n"
      "%y = f32[21,2] hlo.reshape(%t)\nreturn %y as \"y\"\n}",
      8);
  program.inputs[0] = Sharding{{{{1, 2}, {2, 2}}, {}}, {}};
  for (const auto& node : program.module->nodes()) {
    if (node->op == ir::Op::kHloCustomCall)
      program.marks[node.get()] = Sharding{{{}, {{1, 8}}}, {}};
    if (node->op == ir::Op::kHloTranspose)
      program.suggested[node.get()] = {Sharding{{{{1, 2}}, {{2, 2}}}, {}}};
  }
  program.outputs[0] = Sharding{{{{1, 2}}, {{2, 2}}}, {}};
  CheckRandom(program);
  const auto local = Partition(program);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_THAT(local->whole,
              testing::ElementsAre(testing::Pair("hlo.reshape", 1)));
  EXPECT_THAT(local->uneven,
              testing::ElementsAre(testing::Pair("hlo.negate", 1),
                                   testing::Pair("hlo.reshape", 1),
                                   testing::Pair("hlo.transpose", 1),
                                   testing::Pair("parameter", 1)));
  EXPECT_EQ(local->inputs[0], (Sharding{{{{1, 2}}, {}}, {}}));
  EXPECT_EQ(local->outputs[0], (Sharding{{{}, {{2, 2}}}, {}}));
}

}  // namespace
}  // namespace systole::partition
