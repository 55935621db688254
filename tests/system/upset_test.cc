// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A sync flag that changes by itself while a program waits: a fault that names
// it, on the model that counts functional coverage. What else may turn:
// tests/rtl/sequencer, tests/faults.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <utility>

#include "systole/device.h"
#include "tests/system/programs.h"
#include "verilated.h"
#include "verilated_syms.h"

namespace systole {
namespace {

using ::systole::testing::SmallMatmul;

// Whether each flag is set: a bit each, of the model made last.
uint8_t* FlagsThatAreSet() {
  uint8_t* found = nullptr;
  const auto* scopes = Verilated::threadContextp()->scopeNameMap();
  if (scopes == nullptr) return nullptr;
  for (const auto& [unused, scope] : *scopes) {
    if (scope->varsp() == nullptr) continue;
    for (const auto& [name, variable] : *scope->varsp()) {
      if (std::string_view(name) != "set_q") continue;
      EXPECT_EQ(found, nullptr) << "two of them";
      found = static_cast<uint8_t*>(variable.datap());
    }
  }
  return found;
}

TEST(UpsetTest, AFlagThatTurnsIsAFaultOfItsName) {
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.checked = true;
  options.watchdog = 1000000;
  std::function<void()> turn;  // once, while a program runs
  options.stop = [&turn] {
    if (turn) std::exchange(turn, nullptr)();
    return false;
  };
  auto device = Device::Open("rtl", options);
  ASSERT_TRUE(device.ok()) << device.status();
  uint8_t* const set = FlagsThatAreSet();
  ASSERT_NE(set, nullptr);
  for (const int flag : {0, 7, 19, 31}) {
    SCOPED_TRACE(::testing::Message() << "flag " << flag);
    SmallMatmul waits(5);
    waits.store.header.wait_mask |= 1u << 30;  // of nobody
    waits.Assemble();
    ASSERT_TRUE((*device)->Load(waits.program).ok());
    ASSERT_TRUE((*device)->Start(waits.program).ok());
    turn = [set, flag] {
      set[flag / 8] ^= static_cast<uint8_t>(1u << flag % 8);
    };
    const absl::Status status = (*device)->Wait().status();
    ASSERT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    ASSERT_TRUE((*device)->fault().has_value());
    EXPECT_EQ((*device)->fault()->cause, isa::Fault::kParity) << status;
    EXPECT_EQ((*device)->fault()->address, 32u + static_cast<uint32_t>(flag));
    ASSERT_TRUE((*device)->Reset(ResetScope::kCore).ok());
    SmallMatmul good(6);
    EXPECT_TRUE((*device)->Run(good.program).ok());
  }
}

}  // namespace
}  // namespace systole
