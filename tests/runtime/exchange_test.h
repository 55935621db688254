// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of kernels and collectives on eight devices, against the golden
// model.
#ifndef SYSTOLE_TESTS_RUNTIME_EXCHANGE_TEST_H_
#define SYSTOLE_TESTS_RUNTIME_EXCHANGE_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/runtime/devices.h"
#include "tests/runtime/random_collective.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::runtime {

// A chain of products, from %x0 to %x<count>.
inline std::string Products(int count) {
  std::string text = "%x0 = f32[64,64] parameter(), name=\"x\"\n";
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, "%p", i, " = f32[64,64] hlo.dot_general(%x", i,
                    ", %x", i,
                    "), lhs_contracting=[1], rhs_contracting=[0]\n%x", i + 1,
                    " = f32[64,64] hlo.minimum(%p", i, ", %x0)\n");
  }
  return text;
}

class ExchangeTest : public testing::Test {
 protected:
  // Runs on devices, the first four unless others are given, and compares with
  // the golden model. Returns the cycles of one of them.
  uint64_t Check(const std::string& text, const std::string& outputs,
                 int programs, const std::vector<int>& devices = {0, 1, 2, 3}) {
    const auto processes = static_cast<int>(devices.size());
    const auto module = Module(text, outputs);
    if (module == nullptr) return 0;
    std::vector<ir::Literals> inputs(processes);
    for (ir::Literals& own : inputs) {
      for (const ir::Node* input : module->inputs())
        own.push_back(Random(rng_, input->type));
    }
    const auto wanted = golden::RunHlo(*module, 1, processes, inputs);
    EXPECT_TRUE(wanted.ok()) << wanted.status();
    const auto executable = client_->Compile(module->Clone(), {1, processes});
    EXPECT_TRUE(executable.ok()) << executable.status();
    if (!wanted.ok() || !executable.ok()) return 0;
    for (int d = 0; d < 8; ++d) client_->device(d).TakeWork();
    const auto got = RunOn(*client_, **executable, inputs, devices);
    EXPECT_TRUE(got.ok()) << got.status();
    if (!got.ok()) return 0;
    EXPECT_EQ(*got, *wanted);
    const CoreWork work = client_->device(devices[0]).TakeWork();
    if (Links()) EXPECT_EQ(work.programs, programs);
    return work.stats.cycles;
  }

  std::mt19937_64 rng_{21};
  const std::unique_ptr<Client> client_ = MakeClient(8);
};

}  // namespace systole::runtime

#endif  // SYSTOLE_TESTS_RUNTIME_EXCHANGE_TEST_H_
