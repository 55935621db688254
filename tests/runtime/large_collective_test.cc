// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "host/ir/text.h"
#include "host/runtime/client.h"

namespace systole::runtime {
namespace {

using ir::Literal;

// Vectors for which the memory has room, but not for what comes over links: the
// host does it.
TEST(LargeCollectiveTest, SumsWithoutRoomForWhatComes) {
  ClientOptions options;
  options.preset = "minichip";
  options.devices = 2;
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  // Also between kernels.
  const auto run = [&](int64_t count, bool kernels) {
    const std::string type = absl::StrCat("f32[", count, "]");
    auto module = ir::Parse(absl::StrCat(
        "module @sum {\n%x = ", type, " parameter(), name=\"x\"\n%v = ", type,
        kernels ? " hlo.negate(%x)" : " hlo.reshape(%x)", "\n%y = ", type,
        " hlo.all_reduce(%v), replica_groups=[0, 1], group_size=2, channel=1, "
        "use_global_device_ids=true { %a = f32[] parameter()\n"
        "%b = f32[] parameter()\n%c = f32[] hlo.add(%a, %b)\nreturn %c }\n"
        "return %y as \"y\"\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto executable = (*client)->Compile(*std::move(module), {1, 2});
    ASSERT_TRUE(executable.ok()) << executable.status();
    std::vector<Arguments> arguments;
    std::vector<Device*> devices;
    for (int d = 0; d < 2; ++d) {
      devices.push_back(&(*client)->device(d));
      arguments.push_back({std::make_shared<Buffer>(
          *devices[d], (*executable)->parameters()[0],
          Literal(std::vector<float>(count, static_cast<float>(d + 1))))});
    }
    const auto executions = (*executable)->ExecuteAll(arguments, devices);
    ASSERT_TRUE(executions.ok()) << executions.status();
    for (const Execution& execution : *executions) {
      const auto sum = execution.results[0]->Await();
      ASSERT_TRUE(sum.ok()) << sum.status();
      EXPECT_TRUE(*sum == Literal(std::vector<float>(count, kernels ? -3 : 3)));
    }
  };
  for (const bool kernels : {false, true}) {
    run(1000, kernels);
    CoreWork work = (*client)->device(0).TakeWork();
    EXPECT_EQ(work.exchanges, kernels ? 0 : 1);
    EXPECT_EQ(work.exchanges_beside, kernels ? 1 : 0);
    run(static_cast<int64_t>((*client)->preset().memory_bytes()) / 8 / 4,
        kernels);
    work = (*client)->device(0).TakeWork();
    EXPECT_EQ(work.exchanges + work.exchanges_beside, 0);
  }
}

}  // namespace
}  // namespace systole::runtime
