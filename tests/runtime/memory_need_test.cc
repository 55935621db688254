// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What is said of a program's memory, against what a run of it allocates.
#include "host/runtime/memory_need.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/runtime/client.h"

namespace systole::runtime {
namespace {

constexpr int64_t kMatrix = 256 * 256 * 4;
constexpr int kTurns = 3;

// M: the type of a matrix of 256 x 256; DOT: the attributes of a product.
struct Case {
  const char* name;
  const char* text;
  int64_t arguments, results, aliases;
  int64_t least, most;  // temporaries
  bool constants = false;
};
void PrintTo(const Case& c, std::ostream* to) { *to << c.name; }

constexpr char kLoop[] = R"(hlo.while(%z, %x, %n) {
    %i = i32[] parameter()
    %v = M parameter()
    %m = i32[] parameter()
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %v = M parameter()
    %m = i32[] parameter()
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %w = M hlo.dot_general(%v, %v), DOT
    return %j, %w
  })";

std::string TextOf(const Case& c) {
  const std::string text = absl::StrReplaceAll(c.text, {{"LOOP", kLoop}});
  return absl::StrReplaceAll(
      "module @m {\n" + text + "\n}\n",
      {{"DOT",
        "lhs_batching=[], rhs_batching=[], lhs_contracting=[1], "
        "rhs_contracting=[0], precision=DEFAULT"},
       {"M ", "f32[256,256] "},
       {"M,", "f32[256,256],"},
       {"M)", "f32[256,256])"}});
}

class MemoryNeedTest : public testing::TestWithParam<Case> {};

TEST_P(MemoryNeedTest, IsWhatARunAllocates) {
  const Case& c = GetParam();
  ClientOptions options;
  options.preset = "lite";
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  auto module = ir::Parse(TextOf(c));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = (*client)->Compile(*std::move(module));
  ASSERT_TRUE(program.ok()) << program.status();
  const MemoryNeed& need = (*program)->memory_need();
  EXPECT_EQ(need.arguments, c.arguments);
  EXPECT_EQ(need.results, c.results);
  EXPECT_EQ(need.aliases, c.aliases);
  EXPECT_GE(need.temporaries, c.least);
  EXPECT_LE(need.temporaries, c.most);
  EXPECT_GT(need.code, c.constants ? kMatrix / 2 : 0);  // of bf16
  // Descriptors of three products, each for its blocks of lines.
  EXPECT_LT(need.code, (c.constants ? kMatrix : 0) + 3 * 50000);

  Device& device = (*client)->device(0);
  std::vector<std::shared_ptr<Buffer>> arguments;
  for (const ir::Type& type : (*program)->parameters()) {
    arguments.push_back(std::make_shared<Buffer>(
        device, type,
        type.element == ir::ElementType::kInt32
            ? ir::Literal(std::vector<int32_t>{kTurns})
            : ir::Literal::Zeros(type.element, type.elements())));
  }
  const auto execution = (*program)->Execute(arguments, device);
  ASSERT_TRUE(execution.ok()) << execution.status();
  ASSERT_EQ(execution->done->Await(), absl::OkStatus());
  // Code comes to the device when it is first needed, and each turn of a loop
  // has descriptors for other addresses. Pieces are rounded up to a beat.
  const int64_t allocated = device.peak_memory();
  EXPECT_GE(allocated, need.peak);
  EXPECT_LE(allocated, need.peak + kTurns * need.code + 100 * 64);
}

INSTANTIATE_TEST_SUITE_P(
    All, MemoryNeedTest,
    testing::Values(Case{"elementwise", R"(
  %x = M parameter(), name="x"
  %y = M hlo.tanh(%x)
  return %y as "y")",
                         kMatrix, kMatrix, 0, 0, 0},
                    Case{"products", R"(
  %x = M parameter(), name="x"
  %y = M hlo.dot_general(%x, %x), DOT
  %z = M hlo.dot_general(%y, %x), DOT
  %w = M hlo.dot_general(%z, %y), DOT
  return %w as "w")",
                         kMatrix, kMatrix, 0, kMatrix, 3 * kMatrix},
                    Case{"update", R"(
  %x = M parameter(), name="x"
  %u = f32[1,256] parameter(), name="u"
  %n = i32[] parameter(), name="n"
  %o = i32[] constant(), data=[0]
  %r = M hlo.dynamic_update_slice(%x, %u, %n, %o)
  return %r as "r")",
                         kMatrix + 1028, kMatrix, 0, 0, 0},
                    Case{"donated", R"(
  %x = M parameter(), name="x", donated=true
  %u = f32[1,256] parameter(), name="u"
  %n = i32[] parameter(), name="n"
  %o = i32[] constant(), data=[0]
  %r = M hlo.dynamic_update_slice(%x, %u, %n, %o)
  return %r as "r")",
                         kMatrix + 1028, kMatrix, kMatrix, 0, 0},
                    Case{"constant", R"(
  %x = M parameter(), name="x"
  %n = i32[256,256] hlo.iota(), dimension=0
  %f = M hlo.convert(%n)
  %k = M hlo.sine(%f)
  %y = M hlo.dot_general(%x, %k), DOT
  return %y as "y")",
                         kMatrix, kMatrix, 0, 0, 2 * kMatrix, true},
                    Case{"loop", R"(
  %x = M parameter(), name="x"
  %n = i32[] parameter(), name="n"
  %z = i32[] constant(), data=[0]
  %r = (i32[], M) LOOP
  %s = M hlo.negate(%r#1)
  return %s as "s")",
                         // With the counters of two turns.
                         kMatrix + 4, kMatrix, 0, kMatrix, 3 * kMatrix + 8},
                    Case{"turns", R"(
  %x = M parameter(), name="x"
  %n = i32[] constant(), data=[3]
  %z = i32[] constant(), data=[0]
  %r = (i32[], M) LOOP
  %s = M hlo.negate(%r#1)
  return %s as "s")",
                         kMatrix, kMatrix, 0, 2 * kMatrix, 6 * kMatrix},
                    Case{"choice", R"(
  %x = M parameter(), name="x"
  %n = i32[] parameter(), name="n"
  %y = M hlo.case(%n, %x) {
    %v = M parameter()
    return %v
  } {
    %v = M parameter()
    %w = M hlo.dot_general(%v, %v), DOT
    return %w
  }
  %z = M hlo.add(%y, %x)
  return %z as "z")",
                         kMatrix + 4, kMatrix, 0, kMatrix, 2 * kMatrix}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace systole::runtime
