// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef SYSTOLE_TESTS_ISS_FAULT_FIXTURE_H_
#define SYSTOLE_TESTS_ISS_FAULT_FIXTURE_H_

#include <functional>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/iss/pipeline.h"

namespace systole::iss {

inline constexpr isa::Fault kIllegal = isa::Fault::kIllegalDescriptor,
                            kMisaligned = isa::Fault::kMisaligned,
                            kUb = isa::Fault::kUbRange,
                            kAcc = isa::Fault::kAccRange,
                            kHbm = isa::Fault::kHbmRange;

inline constexpr uint32_t kSequencer = 7;
inline constexpr uint64_t kLimit = 0x20000;

// One simulator of the `nano` preset and programs of a few descriptors.
class FaultTest : public ::testing::Test {
 protected:
  FaultTest() : iss_(*FindPreset("nano"), 11) {}

  Iss::Event Run(const std::vector<isa::Descriptor>& descriptors,
                 uint64_t address = Pipeline::kProgram,
                 uint64_t limit = kLimit) {
    if (address % 8 == 0) WriteDescriptors(descriptors, address, &iss_.state());
    iss_.Start({address, static_cast<uint32_t>(descriptors.size()), limit});
    Iss::Event event;
    do {
      event = iss_.Step();
    } while (event == Iss::Event::kRetired);
    return event;
  }

  // The descriptor faults as the second of a program, after a halt-free first
  // one.
  void ExpectFault(const isa::Descriptor& d, isa::Fault cause, uint32_t queue,
                   uint64_t address) {
    SCOPED_TRACE(Disassemble(d));
    isa::Load first;
    first.len = first.n1 = first.n2 = 1;
    ASSERT_EQ(Run({first.Encode(), d, isa::Halt{}.Encode()}),
              Iss::Event::kFaulted);
    EXPECT_EQ(iss_.fault()->cause, cause)
        << isa::kFaults[static_cast<int>(iss_.fault()->cause)].name;
    EXPECT_EQ(iss_.fault()->queue, queue);
    EXPECT_EQ(iss_.fault()->index, 1u);
    EXPECT_EQ(iss_.fault()->address, address);
    EXPECT_EQ(iss_.Step(), Iss::Event::kFaulted) << "frozen";
    iss_.Reset();
    EXPECT_FALSE(iss_.fault());
  }

  template <typename D>
  void ExpectFaults(
      const D& good, isa::Queue queue,
      std::vector<std::tuple<isa::Fault, uint64_t, std::function<void(D*)>>>
          cases) {
    ASSERT_EQ(Run({good.Encode(), isa::Halt{}.Encode()}), Iss::Event::kHalted);
    for (const auto& [cause, address, spoil] : cases) {
      D d = good;
      spoil(&d);
      ASSERT_TRUE(d.Fits());
      ExpectFault(d.Encode(), cause, static_cast<uint32_t>(queue), address);
    }
  }

  Iss iss_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_FAULT_FIXTURE_H_
