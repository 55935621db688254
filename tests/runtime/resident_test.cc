// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What stays in a device's memory from program to program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "host/ir/text.h"
#include "host/runtime/client.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using testing::HasSubstr;

// Values, programs and their code stay on the device; what is small comes with
// the program.
TEST(ResidentTest, ResultsStayOnTheDevice) {
  ClientOptions options;
  options.preset = "mini";
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  auto module = ir::Parse(R"(module @twice {
  %x = f32[64,64] parameter(), name="x", donated=true
  %y = f32[64,64] hlo.add(%x, %x)
  %z = f32[] constant(), data=[0]
  %s = f32[] hlo.reduce(%x, %z), dimensions=[0,1] {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.add(%a, %b)
    return %c
  }
  return %y as "y", %x as "same", %s as "s"
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto twice = (*client)->Compile(*std::move(module));
  ASSERT_TRUE(twice.ok()) << twice.status();
  Device& device = (*client)->device(0);
  const auto x =
      std::make_shared<Buffer>(device, (*twice)->parameters()[0],
                               Literal(std::vector<float>(4096, 1.0f)));
  const auto run = [&](const std::shared_ptr<Buffer>& argument,
                       const std::vector<size_t>& kept) {
    const auto execution = (*twice)->Execute({argument}, device, kept);
    EXPECT_TRUE(execution.ok()) << execution.status();
    EXPECT_EQ(execution->done->Await(), absl::OkStatus());
    return execution->results;
  };
  const auto first = run(x, {});
  CoreWork work = device.TakeWork();
  EXPECT_EQ(work.upload_bytes, 64 * 64 * 4 + 4);  // and the zero
  EXPECT_EQ(work.download_bytes, 4);
  EXPECT_EQ(first[2]->Await()->values<float>()[0], 4096.0f);
  auto last = first;
  for (int i = 0; i < 12; ++i) {
    if (i == 10) device.TakeWork();
    last = run(last[0], {0});
  }
  work = device.TakeWork();
  EXPECT_EQ(work.programs, 2);
  EXPECT_EQ(work.upload_bytes, 0);
  EXPECT_EQ(work.program_bytes, 0);
  EXPECT_EQ(work.download_bytes, 2 * 4);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(last[0]->Await()->values<float>()[9], 8192.0f);
  EXPECT_EQ(device.TakeWork().download_bytes, 64 * 64 * 4);
  // What another buffer has too is not taken.
  last = run(last[0], {});
  const auto shared = run(last[0], {0});
  const auto after = run(shared[1], {});
  EXPECT_EQ(after[0]->Await()->values<float>()[9], 32768.0f);
  EXPECT_EQ(last[0]->Await()->values<float>()[9], 16384.0f);
  // What is taken is gone, unless the host has it.
  const auto end = run(after[0], {});
  EXPECT_EQ(after[0]->Await()->values<float>()[9], 32768.0f);
  run(end[0], {});
  EXPECT_THAT(end[0]->Await().status().message(),
              HasSubstr("whose memory was given to another program"));
}

}  // namespace
}  // namespace systole::runtime
