// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Events, streams, buffers and executables of the client; its array against the
// host, to the bit.
#include "host/runtime/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <random>
#include <string>
#include <thread>

#include "absl/strings/str_format.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using testing::HasSubstr;

std::unique_ptr<ir::Module> Module(const std::string& text) {
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

std::unique_ptr<Client> MakeClient(const std::string& preset, int devices = 1) {
  ClientOptions options;
  options.preset = preset;
  options.devices = devices;
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return client.ok() ? *std::move(client) : nullptr;
}

constexpr char kSum[] = R"(module @sum {
  %x = f32[3] parameter(), name="x"
  %y = f32[3] parameter(), name="y"
  %z = f32[3] hlo.add(%x, %y)
  return %z as "z"
}
)";

Literal Floats(std::vector<float> values) { return Literal(std::move(values)); }

std::shared_ptr<Buffer> Put(Device& device, std::vector<int64_t> shape,
                            Literal value) {
  ir::Type type;
  type.element = value.element();
  type.shape = std::move(shape);
  return std::make_shared<Buffer>(device, type, std::move(value));
}

TEST(EventTest, IsReadyOnceAndCallsBack) {
  Event event;
  std::vector<std::string> seen;
  event.OnReady(
      [&](const absl::Status& s) { seen.push_back("a" + s.ToString()); });
  EXPECT_FALSE(event.ready());
  std::thread waiter([&] { EXPECT_EQ(event.Await().message(), "broken"); });
  event.Set(absl::InternalError("broken"));
  event.Set(absl::OkStatus());
  waiter.join();
  event.OnReady(
      [&](const absl::Status& s) { seen.push_back("b" + s.ToString()); });
  EXPECT_THAT(seen,
              testing::ElementsAre("aINTERNAL: broken", "bINTERNAL: broken"));
}

TEST(StreamTest, DoesAllInOrderBeforeItEnds) {
  std::vector<int> done;
  {
    Stream stream;
    for (int i = 0; i < 100; ++i)
      stream.Enqueue([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[i], i);
}

TEST(ClientTest, ExecutesWhatIsThereLater) {
  const auto client = MakeClient("mini", 2);
  const auto sum = client->Compile(Module(kSum));
  ASSERT_TRUE(sum.ok()) << sum.status();
  ir::Type type = (*sum)->parameters()[0];
  auto later = std::make_shared<Buffer>(client->device(1), type);
  const auto x = Put(client->device(0), {3}, Floats({1, 2, 3}));
  auto first = (*sum)->Execute({x, later}, client->device(0));
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = (*sum)->Execute({x, first->results[0]}, client->device(1));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(second->done->ready());
  later->Set(Floats({10, 20, 30}));
  const auto result = second->results[0]->Await();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->values<float>(), testing::ElementsAre(12, 24, 36));
  EXPECT_EQ(&second->results[0]->device(), &client->device(1));
}

// A donated argument's memory becomes the result's, if it is not kept; whoever
// still has the argument has its value.
TEST(ClientTest, DonatedArguments) {
  const auto client = MakeClient("mini");
  const auto update = client->Compile(Module(R"(module @update {
  %x = f32[8,64] parameter(), name="x", donated=true
  %u = f32[1,64] parameter(), name="u"
  %n = i32[] parameter(), name="n"
  %o = i32[] constant(), data=[0]
  %r = f32[8,64] hlo.dynamic_update_slice(%x, %u, %n, %o)
  return %r as "r"
}
)"));
  ASSERT_TRUE(update.ok()) << update.status();
  Device& device = client->device(0);
  std::vector<float> before(512);
  for (size_t i = 0; i < before.size(); ++i) before[i] = static_cast<float>(i);
  const auto u = Put(device, {1, 64}, Floats(std::vector<float>(64, -1.0f)));
  auto x = Put(device, {8, 64}, Floats(before));
  const auto run = [&](int32_t line, const std::vector<size_t>& kept) {
    device.TakeWork();
    const auto n = Put(device, {}, Literal(std::vector<int32_t>{line}));
    auto execution = (*update)->Execute({x, u, n}, device, kept);
    EXPECT_TRUE(execution.ok()) << execution.status();
    const auto result = execution->results[0]->Await();
    EXPECT_TRUE(result.ok()) << result.status();
    std::vector<float> expected = before;
    std::fill_n(expected.begin() + 64 * line, 64, -1.0f);
    EXPECT_EQ(result->values<float>(), expected);
    EXPECT_EQ(x->Await()->values<float>(), before);
    execution->done->Await().IgnoreError();
    x = execution->results[0];
    before = expected;
    return device.TakeWork().programs;
  };
  EXPECT_EQ(run(2, {}), 1);
  EXPECT_EQ(run(5, {}), 1);
  EXPECT_EQ(run(7, {0}), 2);  // a copy comes first
  const auto again = x;
  EXPECT_EQ(run(0, {}), 1);
  x = again;  // which was donated
  before = x->Await()->values<float>();
  EXPECT_EQ(run(1, {}), 1);
}

TEST(ClientTest, AnErrorGoesOnToWhatWaitsForIt) {
  const auto client = MakeClient("mini");
  const auto sum = client->Compile(Module(kSum));
  ASSERT_TRUE(sum.ok());
  auto broken =
      std::make_shared<Buffer>(client->device(0), (*sum)->parameters()[0]);
  auto first = (*sum)->Execute({broken, broken}, client->device(0));
  auto second = (*sum)->Execute({first->results[0], broken}, client->device(0));
  broken->Set(absl::DataLossError("gone"));
  EXPECT_EQ(second->results[0]->Await().status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(second->done->Await().message(), first->done->Await().message());
}

TEST(ClientTest, CountsBytes) {
  const auto client = MakeClient("mini");
  Device& device = client->device(0);
  {
    const auto a = Put(device, {3}, Floats({1, 2, 3}));
    const auto b = Put(device, {1}, Floats({1}));
    EXPECT_EQ(device.bytes_in_use(), 16);
  }
  EXPECT_EQ(device.bytes_in_use(), 0);
  EXPECT_EQ(device.peak_bytes(), 16);
}

TEST(ClientTest, Errors) {
  const auto message = [](ClientOptions options) {
    return std::string(Client::Create(options).status().message());
  };
  ClientOptions options;
  options.preset = "edge";
  EXPECT_THAT(message(options),
              HasSubstr("preset 'edge' has no bf16 cell; those with the bf16 "
                        "cell are mini, v2, lite"));
  options.preset = "huge";
  EXPECT_THAT(message(options), HasSubstr("'huge' does not exist"));
  options = {};
  options.backend = "gpu";
  EXPECT_THAT(message(options), HasSubstr("there are iss, rtl"));
  options = {};
  options.devices = 0;
  EXPECT_THAT(message(options), HasSubstr("0 devices"));
  const auto client = MakeClient("mini");
  const auto sum = client->Compile(Module(kSum));
  const auto x = Put(client->device(0), {3}, Floats({1, 2, 3}));
  const auto y = Put(client->device(0), {2}, Floats({1, 2}));
  EXPECT_THAT((*sum)->Execute({x}, client->device(0)).status().message(),
              HasSubstr("sum: 1 arguments instead of 2"));
  EXPECT_THAT((*sum)->Execute({x, y}, client->device(0)).status().message(),
              HasSubstr("argument 1 is f32[2], the program takes f32[3]"));
}

// The host's memory ends as a program starts, or as it has run.
struct Exhausted : CoreListener {
  bool starting = false, ending = false;
  void Starts(const Program&) override {
    if (starting) throw std::bad_alloc();
  }
  void Ended(const RunStats&) override {
    if (ending) throw std::bad_alloc();
  }
};

TEST(ClientTest, OutlivesMemoryThatRunsOut) {
  Exhausted exhausted;
  ClientOptions options;
  options.preset = "mini";
  options.listener = &exhausted;
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  Device& device = (*client)->device(0);
  const auto sum = (*client)->Compile(Module(kSum));
  ASSERT_TRUE(sum.ok()) << sum.status();
  const auto x = Put(device, {3}, Floats({1, 2, 3}));
  const auto y = Put(device, {3}, Floats({10, 20, 30}));
  for (bool* const when : {&exhausted.starting, &exhausted.ending}) {
    *when = true;
    const auto failed = (*sum)->Execute({x, y}, device);
    ASSERT_TRUE(failed.ok()) << failed.status();
    const absl::Status status = failed->done->Await();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(status.message(), "sum: no memory left on the host");
    EXPECT_EQ(failed->results[0]->Await().status(), status);
    *when = false;
    const auto execution = (*sum)->Execute({x, y}, device);
    ASSERT_TRUE(execution.ok()) << execution.status();
    const auto value = execution->results[0]->Await();
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(value->values<float>(), (std::vector<float>{11, 22, 33}));
  }
}

TEST(ClientTest, TellsAndRefusesWhatRunsOnTheHost) {
  const std::string text = R"(module @p {
  %x = f32[4,8] parameter(), name="x"
  %y = f32[8,2] parameter(), name="y"
  %z = f32[4,2] hlo.dot_general(%x, %y), lhs_contracting=[1], rhs_contracting=[0]
  %n = f32[4,2] hlo.negate(%z)
  %c = i64[4,2] hlo.convert(%n)
  return %c as "c"
}
)";
  ClientOptions options;
  options.preset = "mini";
  auto client = Client::Create(options);
  auto compiled = (*client)->Compile(Module(text));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ((*compiled)->placement().array.macs, 64);
  // Both operands in bf16, and the negation.
  EXPECT_EQ((*compiled)->placement().vector.operations, 3);
  EXPECT_EQ((*compiled)->placement().host.operations, 1);
  options.host_operators = false;
  client = Client::Create(options);
  EXPECT_THAT((*client)->Compile(Module(text)).status().message(),
              HasSubstr("p: 1 operation would run on the host, which is not "
                        "allowed: hlo.convert 1"));
}

// A line of 100,000 values is more than the unified buffer of mini holds.
TEST(ClientTest, WhatDoesNotFitRunsOnTheHostOrIsRefused) {
  const std::string text = R"(module @long {
  %x = f32[1,100000] parameter(), name="x"
  %z = f32[1,1] hlo.dot_general(%x, %x), lhs_contracting=[1], rhs_contracting=[1]
  return %z as "z"
}
)";
  for (const bool allowed : {true, false}) {
    ClientOptions options;
    options.preset = "mini";
    options.host_operators = allowed;
    const auto client = Client::Create(options);
    const auto compiled = (*client)->Compile(Module(text));
    if (!allowed) {
      EXPECT_THAT(compiled.status().message(),
                  HasSubstr("long: 1 operation would run on the host, which "
                            "is not allowed: hlo.matrix_product 1"));
      continue;
    }
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    auto run =
        (*compiled)->Execute({Put((*client)->device(0), {1, 100000},
                                  Floats(std::vector<float>(100000, 1.0f)))},
                             (*client)->device(0));
    const auto result = run->results[0]->Await();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_THAT(result->values<float>(), testing::ElementsAre(100000.0f));
  }
}

// The array's products and the host's are the same bits: any shape, special
// values, all precisions.
TEST(ClientTest, TheArrayIsTheHostToTheBit) {
  const auto client = MakeClient("mini");
  std::mt19937_64 rng(1);
  for (int round = 0; round < 60; ++round) {
    const int m = 1 + rng() % 40, k = 1 + rng() % 40, n = 1 + rng() % 40;
    const char* precision = round % 3 == 0   ? "DEFAULT"
                            : round % 3 == 1 ? "HIGH"
                                             : "HIGHEST";
    const auto random = [&](int count) {
      std::vector<float> values(count);
      for (float& v : values) {
        const uint32_t bits = rng() % 50 == 0
                                  ? static_cast<uint32_t>(rng())
                                  : static_cast<uint32_t>(rng() & 0x807FFFFF) |
                                        (120 + rng() % 10) << 23;
        std::memcpy(&v, &bits, 4);
      }
      return Literal(values);
    };
    const Literal x = random(m * k), y = random(k * n);
    const auto module = Module(absl::StrFormat(R"(module @p {
  %%x = f32[%d,%d] parameter(), name="x"
  %%y = f32[%d,%d] parameter(), name="y"
  %%z = f32[%d,%d] hlo.dot_general(%%x, %%y), lhs_contracting=[1], rhs_contracting=[0], precision=%s
  return %%z as "z"
}
)",
                                               m, k, k, n, m, n, precision));
    ASSERT_NE(module, nullptr);
    const auto host = ir::EvaluateModule(*module, {x, y});
    ASSERT_TRUE(host.ok()) << host.status();
    const auto compiled = client->Compile(module->Clone());
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    auto run = (*compiled)->Execute(
        {Put(client->device(0), {m, k}, x), Put(client->device(0), {k, n}, y)},
        client->device(0));
    ASSERT_TRUE(run.ok()) << run.status();
    const auto array = run->results[0]->Await();
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(*array, (*host)[0])
        << m << "x" << k << "x" << n << " " << precision;
  }
}

}  // namespace
}  // namespace systole::runtime
