// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of several processes: the devices against the golden model to the
// bit, and processes that never come together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/runtime/client.h"
#include "tests/runtime/devices.h"
#include "tests/runtime/random_collective.h"
#include "tests/testing/options.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using ir::Literals;
using ir::ProcessGrid;
using testing::HasSubstr;

Literal Floats(std::vector<float> values) { return Literal(std::move(values)); }

// Random programs: as many as take some seconds.
int Rounds() { return !Links() ? 300 : g_backend == "iss" ? 120 : 12; }

TEST(DevicesTest, AreTheGoldenModelToTheBit) {
  std::mt19937_64 rng(1);
  const auto client = MakeClient(8);
  int64_t linked = 0, on_host = 0, exchanges = 0;
  for (int round = 0; round < Rounds(); ++round) {
    const ProcessGrid grids[] = {{1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 8},
                                 {2, 2}, {2, 4}, {7, 1}, {1, 1}, {4, 2}};
    const ProcessGrid grid = grids[rng() % 10];
    const auto module =
        RandomProgram(rng, grid, Links() && round % 4 != 0 ? 16 : 1);
    ASSERT_NE(module, nullptr);
    std::vector<Literals> inputs;
    for (int p = 0; p < grid.count(); ++p)
      inputs.push_back({Random(rng, module->inputs()[0]->type)});
    const auto wanted =
        golden::RunHlo(*module, grid.replicas, grid.partitions, inputs);
    ASSERT_TRUE(wanted.ok()) << wanted.status() << ir::Print(*module);
    const auto executable = client->Compile(module->Clone(), grid);
    ASSERT_TRUE(executable.ok()) << executable.status() << ir::Print(*module);
    const auto got = RunOn(*client, **executable, inputs);
    ASSERT_TRUE(got.ok()) << got.status() << ir::Print(*module);
    EXPECT_EQ(*got, *wanted) << ir::Print(*module);
    linked += (*executable)->placement().linked.operations;
    on_host += (*executable)->placement().collectives.operations;
    for (int p = 0; p < 8; ++p)
      exchanges += client->device(p).TakeWork().exchanges;
  }
  EXPECT_EQ(linked > 0, Links());
  if (Rounds() < 100) return;  // Few programs may have none.
  EXPECT_GT(on_host, 0);
  EXPECT_EQ(exchanges > 0, Links());
}

// Sums over all cores of what fills many pieces, whose members are not where
// their numbers say, several at once, and whose results go on.
TEST(DevicesTest, LargeSums) {
  std::mt19937_64 rng(5);
  const auto client = MakeClient(8);
  for (const char* const groups :
       {"group_size=1", "replica_groups=[4, 5, 0, 1, 6, 7, 2, 3], group_size=8",
        "replica_groups=[0, 2, 4, 6, 1, 3, 5, 7], group_size=4",
        "replica_groups=[3, 2, 1, 0, 7, 6, 5, 4], group_size=2"}) {
    const auto module = Module(
        absl::StrCat("%x = f32[5000] parameter(), name=\"x\"\n"
                     "%a = (f32[5000], f32[5000]) hlo.all_reduce(%x, %x), ",
                     groups, ", channel=1, use_global_device_ids=true ADD\n",
                     "%y = f32[5000] hlo.multiply(%a, %a#1)"));
    ASSERT_NE(module, nullptr);
    std::vector<Literals> inputs;
    for (int p = 0; p < 8; ++p)
      inputs.push_back({Random(rng, module->inputs()[0]->type)});
    const auto wanted = golden::RunHlo(*module, 1, 8, inputs);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    const auto executable = client->Compile(module->Clone(), {1, 8});
    ASSERT_TRUE(executable.ok()) << executable.status();
    std::vector<uint64_t> cycles;
    for (int run = 0; run < 2; ++run) {
      const auto got = RunOn(*client, **executable, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(*got, *wanted) << groups;
      CoreWork work;
      for (int p = 0; p < 8; ++p) work.Add(client->device(p).TakeWork());
      EXPECT_EQ(work.exchanges + work.exchanges_beside, Links() ? 8 : 0);
      cycles.push_back(work.stats.cycles);
    }
    RecordProperty("cycles", static_cast<int>(cycles[0]));
  }
}

// Sums of one value to a few: the halves of an odd number of elements.
TEST(DevicesTest, SumsOfFewElements) {
  std::mt19937_64 rng(3);
  const auto client = MakeClient(8);
  for (const int count : {3, 5, 6, 7, 8}) {
    for (int size = 1; size < 8; ++size) {
      const std::string type = absl::StrCat("f32[", size, "]");
      const auto module = Module(
          absl::StrCat("%x = ", type, " parameter(), name=\"x\"\n%y = ", type,
                       " hlo.all_reduce(%x), group_size=1, channel=1, "
                       "use_global_device_ids=true ADD"));
      std::vector<Literals> inputs;
      for (int p = 0; p < count; ++p) {
        std::vector<float> values(size);
        for (float& v : values)
          v = static_cast<float>(static_cast<int>(rng() % 2001) - 1000) / 7;
        inputs.push_back({Floats(values)});
      }
      const auto wanted = golden::RunHlo(*module, 1, count, inputs);
      ASSERT_TRUE(wanted.ok()) << wanted.status();
      const auto executable = client->Compile(module->Clone(), {1, count});
      ASSERT_TRUE(executable.ok()) << executable.status();
      const auto got = RunOn(*client, **executable, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(*got, *wanted) << count << " processes, " << size;
    }
  }
}

// A loop whose body sums over the devices, in each as often as in the others;
// a loop of its own length in each; and a sum in one branch for the devices
// that take it.
constexpr char kLoops[] = R"(
  %x = f32[4] parameter(), name="x"
  %zero = i32[] constant(), data=[0]
  %l = (i32[], f32[4]) hlo.while(%zero, %x) {
    %i = i32[] parameter()
    %v = f32[4] parameter()
    %five = i32[] constant(), data=[5]
    %r = i1[] hlo.compare(%i, %five), direction=LT
    return %r
  } {
    %i = i32[] parameter()
    %v = f32[4] parameter()
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %s = f32[4] hlo.all_reduce(%v), group_size=1, channel=1, use_global_device_ids=true ADD
    %half = f32[] constant(), data=[0.3]
    %h = f32[4] hlo.broadcast_in_dim(%half)
    %w = f32[4] hlo.multiply(%s, %h)
    return %j, %w
  }
  %id = u32[] hlo.partition_id()
  %own = i32[] hlo.convert(%id)
  %m = (i32[], f32[4]) hlo.while(%zero, %l#1, %own) {
    %i = i32[] parameter()
    %v = f32[4] parameter()
    %n = i32[] parameter()
    %r = i1[] hlo.compare(%i, %n), direction=LT
    return %r
  } {
    %i = i32[] parameter()
    %v = f32[4] parameter()
    %n = i32[] parameter()
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %w = f32[4] hlo.add(%v, %v)
    return %j, %w
  }
  %two = i32[] constant(), data=[2]
  %low = i1[] hlo.compare(%own, %two), direction=LT
  %y = f32[4] hlo.if(%low, %m#1) {
    %v = f32[4] parameter()
    %s = f32[4] hlo.all_reduce(%v), replica_groups=[0, 1, 2, 3], group_size=2, channel=1, use_global_device_ids=true ADD
    return %s
  } {
    %v = f32[4] parameter()
    %s = f32[4] hlo.sine(%v)
    %e = f32[4] hlo.exponential(%s)
    return %e
  }
)";

TEST(DevicesTest, LoopsAndBranches) {
  const auto module = Module(kLoops);
  const auto client = MakeClient(4);
  const ProcessGrid grid{1, 4};
  std::mt19937_64 rng(2);
  std::vector<Literals> inputs;
  for (int p = 0; p < 4; ++p) {
    std::vector<float> values(4);
    for (float& v : values) v = static_cast<float>(rng() % 1000) / 300;
    inputs.push_back({Floats(values)});
  }
  const auto wanted = golden::RunHlo(*module, 1, 4, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_NE((*wanted)[2], (*wanted)[3]);
  const auto executable = client->Compile(module->Clone(), grid);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->placement().collectives.operations, Links() ? 0 : 2);
  EXPECT_EQ((*executable)->placement().linked.operations, Links() ? 2 : 0);
  EXPECT_EQ((*executable)->placement().host.operations, 0);
  for (int round = 0; round < 5; ++round) {
    const auto got = RunOn(*client, **executable, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, *wanted);
  }
}

// Devices 0 and 1 sum in one branch, 2 and 3 in the other: over all.
TEST(DevicesTest, ProcessesThatNeverMeetAreAnError) {
  const std::string all =
      "%s = f32[4] hlo.all_reduce(%v), group_size=1, channel=1, "
      "use_global_device_ids=true ADD\n";
  for (const bool other : {false, true}) {
    const auto module = Module(
        "%x = f32[4] parameter(), name=\"x\"\n"
        "%id = u32[] hlo.partition_id()\n%two = u32[] constant(), data=[2]\n"
        "%low = i1[] hlo.compare(%id, %two), direction=LT\n"
        "%y = f32[4] hlo.if(%low, %x) {\n%v = f32[4] parameter()\n" +
        all + "return %s\n} {\n%v = f32[4] parameter()\n" +
        (other ? all : "%s = f32[4] hlo.tanh(%v)\n") + "return %s\n}");
    const std::vector<Literals> inputs(4, {Floats({1, 2, 3, 4})});
    EXPECT_THAT(golden::RunHlo(*module, 1, 4, inputs).status().message(),
                HasSubstr("2 of a group of 4 come to it"));
    const auto client = MakeClient(4);
    const auto executable = client->Compile(module->Clone(), {1, 4});
    ASSERT_TRUE(executable.ok()) << executable.status();
    const auto got = RunOn(*client, **executable, inputs);
    EXPECT_THAT(got.status().message(),
                HasSubstr("of its group never comes to this hlo.all_reduce"));
    EXPECT_EQ(got.status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

constexpr char kSum[] =
    "%x = f32[3] parameter(), name=\"x\"\n"
    "%y = f32[3] hlo.all_reduce(%x), group_size=1, channel=1, "
    "use_global_device_ids=true ADD";

// An argument with an error on one device ends the run on all of them.
TEST(DevicesTest, AnErrorOfOneEndsAll) {
  const auto client = MakeClient(3);
  const auto sum = client->Compile(Module(kSum), {1, 3});
  ASSERT_TRUE(sum.ok()) << sum.status();
  std::vector<Arguments> arguments;
  std::vector<Device*> devices;
  for (int p = 0; p < 3; ++p) {
    devices.push_back(&client->device(p));
    arguments.push_back(
        {std::make_shared<Buffer>(client->device(p), (*sum)->parameters()[0])});
    if (p != 1) arguments[p][0]->Set(Floats({1, 2, 3}));
  }
  const auto executions = (*sum)->ExecuteAll(arguments, devices);
  ASSERT_TRUE(executions.ok()) << executions.status();
  arguments[1][0]->Set(absl::DataLossError("gone"));
  for (int p = 0; p < 3; ++p) {
    const absl::Status status = (*executions)[p].done->Await();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.message(),
                HasSubstr(p == 1 ? "gone" : "process 1: gone"));
  }
  const auto again =
      RunOn(*client, **sum,
            {{Floats({1, 2, 3})}, {Floats({1, 2, 3})}, {Floats({1, 2, 3})}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)[2][0].values<float>(), (std::vector<float>{3, 6, 9}));
}

// Processes that are started one by one join the runs in their order.
TEST(DevicesTest, ProcessesStartedOneByOne) {
  const auto client = MakeClient(2);
  const auto sum = client->Compile(Module(kSum), {1, 2});
  ASSERT_TRUE(sum.ok()) << sum.status();
  std::vector<std::vector<Execution>> executions(2);
  for (int p = 0; p < 2; ++p) {
    for (int run = 0; run < 3; ++run) {
      const auto value = static_cast<float>(run * 10 + p);
      auto execution =
          (*sum)->ExecuteProcess(p,
                                 Put(client->device(p), (*sum)->module(),
                                     {Floats({value, value, value})}),
                                 client->device(p));
      ASSERT_TRUE(execution.ok()) << execution.status();
      executions[p].push_back(*std::move(execution));
    }
  }
  for (int run = 0; run < 3; ++run) {
    for (int p = 0; p < 2; ++p) {
      const auto value = executions[p][run].results[0]->Await();
      ASSERT_TRUE(value.ok()) << value.status();
      EXPECT_EQ(value->values<float>()[0], static_cast<float>(20 * run + 1));
    }
  }
}

TEST(DevicesTest, Errors) {
  const auto client = MakeClient(2);
  const auto error = [&](const std::string& attributes, ProcessGrid grid) {
    const auto module = Module(
        "%x = f32[1] parameter(), name=\"x\"\n"
        "%y = f32[1] hlo.all_reduce(%x), " +
        attributes + " ADD");
    return std::string(
        client->Compile(module->Clone(), grid).status().message());
  };
  EXPECT_THAT(error("replica_groups=[0, 1], group_size=2", {1, 2}),
              HasSubstr("m: node 'y': hlo.all_reduce of 1 replicas of 2 "
                        "partitions: number 1 in its groups; there are 1"));
  EXPECT_THAT(error("replica_groups=[0, 0], group_size=2, channel=1, "
                    "use_global_device_ids=true",
                    {1, 2}),
              HasSubstr("number 0 is twice in its groups"));
  EXPECT_THAT(error("replica_groups=[1], group_size=1, channel=1, "
                    "use_global_device_ids=true",
                    {1, 2}),
              HasSubstr("number 0 is in none of its groups"));
  const auto gather = Module(
      "%x = f32[1] parameter(), name=\"x\"\n"
      "%y = f32[3] hlo.all_gather(%x), group_size=1, channel=1, "
      "use_global_device_ids=true");
  EXPECT_THAT(client->Compile(gather->Clone(), {1, 2}).status().message(),
              HasSubstr("a group of 2 does not make f32[3] of f32[1]"));
  const auto permute = Module(
      "%x = f32[1] parameter(), name=\"x\"\n"
      "%y = f32[1] hlo.collective_permute(%x), channel=1, group_size=2, "
      "replica_groups=[0, 1, 1, 1]");
  EXPECT_THAT(client->Compile(permute->Clone(), {1, 2}).status().message(),
              HasSubstr("two pairs to 1"));
  const auto sum = client->Compile(Module(kSum), {1, 2});
  const Arguments x =
      Put(client->device(0), (*sum)->module(), {Floats({1, 2, 3})});
  EXPECT_THAT((*sum)->Execute(x, client->device(0)).status().message(),
              HasSubstr("arguments of one device for a program of 2"));
  Device* const same[] = {&client->device(0), &client->device(0)};
  EXPECT_THAT((*sum)->ExecuteAll({x, x}, same).status().message(),
              HasSubstr("two processes of a program on one device"));
}

}  // namespace
}  // namespace systole::runtime

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"preset", &systole::runtime::g_preset},
       {"backend", &systole::runtime::g_backend}});
}
