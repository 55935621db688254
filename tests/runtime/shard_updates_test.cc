// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Parts of what all processes have: updates of weights, and views.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/runtime/devices.h"
#include "tests/runtime/random_collective.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::runtime {
namespace {

using ir::Literals;

// An optimiser's step: all processes have the same weights, and each changes
// its part of those that are large enough and divide evenly.
std::string Update(int64_t elements) {
  const std::string type = absl::StrCat("f32[", elements, "]");
  return absl::StrReplaceAll(
      "%w = T parameter(), name=\"w\", replicated=true\n"
      "%m = T parameter(), name=\"m\", replicated=true\n"
      "%rate = f32[] parameter(), name=\"rate\", replicated=true\n"
      "%x = T parameter(), name=\"x\"\n"
      "%g = T hlo.all_reduce(%x), group_size=1, channel=1, "
      "use_global_device_ids=true ADD\n"
      "%decay = f32[] constant(), data=[0.9]\n"
      "%d = T hlo.broadcast_in_dim(%decay)\n"
      "%md = T hlo.multiply(%m, %d)\n"
      "%gg = T hlo.multiply(%g, %g)\n"
      "%m2 = T hlo.add(%md, %gg)\n"
      "%root = T hlo.sqrt(%m2)\n"
      "%q = T hlo.divide(%g, %root)\n"
      "%e = T hlo.exponential(%q)\n"
      "%r = T hlo.broadcast_in_dim(%rate)\n"
      "%s = T hlo.divide(%e, %r)\n"
      "%w2 = T hlo.subtract(%w, %s)\n"
      "%f = T hlo.reverse(%w), dimensions=[0]\n",  // needs all of it
      {{"T", type}});
}

TEST(ShardsTest, UpdatesAreSharded) {
  std::mt19937_64 rng(9);
  const auto client = MakeClient(8);
  // The last ones are too small, or not divided evenly.
  for (const int64_t elements : {16384, 8192, 1024, 16640 + 64}) {
    for (const int processes : {2, 8}) {
      const auto module =
          Module(Update(elements), "%w2 as \"w\", %m2 as \"m\", %f as \"f\"");
      ASSERT_NE(module, nullptr);
      Literals same;
      for (const ir::Node* input : module->inputs())
        same.push_back(Random(rng, input->type));
      std::vector<Literals> inputs;
      for (int p = 0; p < processes; ++p) {
        inputs.push_back(same);
        inputs[p][3] = Random(rng, module->inputs()[3]->type);
      }
      const auto wanted = golden::RunHlo(*module, 1, processes, inputs);
      ASSERT_TRUE(wanted.ok()) << wanted.status();
      const auto executable = client->Compile(module->Clone(), {1, processes});
      ASSERT_TRUE(executable.ok()) << executable.status();
      const auto got = RunOn(*client, **executable, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(*got, *wanted) << elements << " of " << processes;
      const auto& linked = (*executable)->placement().linked_operations;
      const bool shards = Links() && elements % 8192 == 0;
      for (const char* op : {"hlo.all_gather", "hlo.reduce_scatter"}) {
        EXPECT_EQ(linked.count(op), shards ? 1 : 0)
            << op << " of " << elements << " on " << processes;
      }
      if (Links()) EXPECT_EQ(linked.count("hlo.all_reduce"), shards ? 0 : 1);
    }
  }
}

// Parts of the moments stay where they are from step to step; the host, and a
// program that needs the whole, get it all the same.
TEST(ShardsTest, MomentsStayInParts) {
  constexpr int kProcesses = 4, kElements = 16384, kSteps = 3;
  std::mt19937_64 rng(11);
  const auto client = MakeClient(kProcesses);
  const auto step =
      Module(Update(kElements), "%w2 as \"w\", %m2 as \"m\", %f as \"f\"");
  const auto whole = Module(absl::StrCat("%x = f32[", kElements,
                                         "] parameter(), name=\"x\", "
                                         "donated=true\n%y = f32[",
                                         kElements, "] hlo.add(%x, %x)"));
  ASSERT_TRUE(step != nullptr && whole != nullptr);
  const auto executable = client->Compile(step->Clone(), {1, kProcesses});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto doubles = client->Compile(whole->Clone(), {1, 1});
  ASSERT_TRUE(doubles.ok()) << doubles.status();
  Literals same;
  for (const ir::Node* input : step->inputs())
    same.push_back(Random(rng, input->type));
  std::vector<Literals> values(kProcesses, same);
  std::vector<Device*> devices;
  std::vector<Arguments> arguments;
  for (int p = 0; p < kProcesses; ++p) {
    devices.push_back(&client->device(p));
    arguments.push_back(Put(*devices[p], *step, values[p]));
  }
  for (int i = 0; i < kSteps; ++i) {
    for (int p = 0; p < kProcesses; ++p) {
      values[p][3] = Random(rng, step->inputs()[3]->type);
      arguments[p][3] = std::make_shared<Buffer>(
          *devices[p], step->inputs()[3]->type, values[p][3]);
    }
    const auto wanted = golden::RunHlo(*step, 1, kProcesses, values);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    for (Device* device : devices) device->TakeWork();
    const auto executions = (*executable)->ExecuteAll(arguments, devices);
    ASSERT_TRUE(executions.ok()) << executions.status();
    for (int p = 0; p < kProcesses; ++p) {
      const Execution& execution = (*executions)[p];
      ASSERT_EQ(execution.done->Await(), absl::OkStatus());
      for (int r = 0; r < 2; ++r) {
        // Of the moments, not what only the next step needs.
        if (r == 0 || i == 1) {
          EXPECT_EQ(*execution.results[r]->Await(), (*wanted)[p][r])
              << "step " << i << ", process " << p << ", result " << r;
        }
        arguments[p][r] = execution.results[r];
        values[p][r] = (*wanted)[p][r];
      }
      // Of later steps, new are the gradients alone.
      if (Links() && i > 0)
        EXPECT_EQ(devices[p]->TakeWork().upload_bytes, 4 * kElements);
    }
  }
  // On other devices each process needs another part than its device has.
  std::rotate(arguments.begin(), arguments.begin() + 1, arguments.end());
  std::rotate(devices.begin(), devices.begin() + 1, devices.end());
  std::rotate(values.begin(), values.begin() + 1, values.end());
  const auto rotated = golden::RunHlo(*step, 1, kProcesses, values);
  ASSERT_TRUE(rotated.ok()) << rotated.status();
  const auto executions = (*executable)->ExecuteAll(arguments, devices);
  ASSERT_TRUE(executions.ok()) << executions.status();
  for (int p = 0; p < kProcesses; ++p) {
    const Execution& execution = (*executions)[p];
    ASSERT_EQ(execution.done->Await(), absl::OkStatus());
    EXPECT_EQ(*execution.results[0]->Await(), (*rotated)[p][0]) << p;
    if (p != 1) EXPECT_EQ(*execution.results[1]->Await(), (*rotated)[p][1]);
  }
  // Takes what is in parts alone.
  const auto twice =
      (*doubles)->Execute({(*executions)[1].results[1]}, *devices[1]);
  ASSERT_TRUE(twice.ok()) << twice.status();
  const auto y = twice->results[0]->Await();
  ASSERT_TRUE(y.ok()) << y.status();
  const auto wanted = golden::RunHlo(*whole, 1, 1, {{(*rotated)[1][1]}});
  ASSERT_TRUE(wanted.ok());
  EXPECT_EQ(*y, (*wanted)[0][0]);
}

// A process's rows of what all have are a part of their memory. The last entry
// of the table is that of the last two processes.
TEST(ShardsTest, PartsOfWhatAllHaveAreViews) {
  std::mt19937_64 rng(10);
  const auto client = MakeClient(4);
  for (const int64_t rows : {256, 252}) {  // The second one's are not aligned.
    const auto module = Module(absl::StrReplaceAll(
        "%x = f32[ROWS, 36] parameter(), name=\"x\"\n"
        "%id = u32[] hlo.partition_id()\n"
        "%p = i32[] hlo.convert(%id)\n"
        "%table = i32[3] constant(), data=[A, B, C]\n"
        "%own = i32[1] hlo.dynamic_slice(%table, %p), sizes=[1]\n"
        "%start = i32[] hlo.reshape(%own)\n"
        "%zero = i32[] constant(), data=[0]\n"
        "%part = f32[PART, 36] hlo.dynamic_slice(%x, %start, %zero), "
        "sizes=[PART, 36]\n"
        "%y = f32[PART, 36] hlo.add(%part, %part)",
        {{"ROWS", absl::StrCat(rows)},
         {"PART", absl::StrCat(rows / 4)},
         {"A", absl::StrCat(rows / 4)},
         {"B", absl::StrCat(rows / 4 * 3)},
         {"C", absl::StrCat(rows / 4 * 2)}}));
    ASSERT_NE(module, nullptr);
    std::vector<Literals> inputs;
    for (int p = 0; p < 4; ++p)
      inputs.push_back({Random(rng, module->inputs()[0]->type)});
    const auto wanted = golden::RunHlo(*module, 1, 4, inputs);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    const auto executable = client->Compile(module->Clone(), {1, 4});
    ASSERT_TRUE(executable.ok()) << executable.status();
    const auto got = RunOn(*client, **executable, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, *wanted) << rows;
    const auto& nodes = (*executable)->module().nodes();
    EXPECT_EQ(std::any_of(nodes.begin(), nodes.end(),
                          [](const auto& node) {
                            return node->op == ir::Op::kHloShard;
                          }),
              rows == 256);
  }
}

}  // namespace
}  // namespace systole::runtime
