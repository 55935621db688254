// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Simulator and RTL of an int8 core on changed programs: rtl_fault_fixture.h.

#include "tests/iss/pipeline.h"
#include "tests/iss/rtl_fault_fixture.h"

namespace systole::iss {
namespace {

class Int8FaultTest : public RtlFaultTest {
 protected:
  Int8FaultTest() : RtlFaultTest("nano") {}

  // Any byte may end as a shift of a parameter block, and those have a range.
  std::vector<uint8_t> Memory() override {
    std::vector<uint8_t> memory(Pipeline::kHbmBytes);
    for (uint8_t& b : memory) b = static_cast<uint8_t>(Draw(41) - 20);
    return memory;
  }
  std::vector<isa::Descriptor> Descriptors() override {
    return Pipeline().descriptors;
  }
  uint64_t ProgramAddress() const override { return Pipeline::kProgram; }
  // Another parameter block or shift may be one that docs/numerics.md gives no
  // meaning.
  bool HasMeaning(const std::string& what) const override {
    if (what.rfind("params", 0) == 0 || what.rfind("shift", 0) == 0)
      return false;
    const uint8_t* shifts = &iss_->iss().state().ub[Pipeline::kParamBlock + 64];
    return std::all_of(shifts, shifts + 8, [](uint8_t s) {
      return std::abs(static_cast<int8_t>(s)) <= 20;
    });
  }
};

TEST_F(Int8FaultTest, RandomChanges) {
  RandomChanges({isa::Fault::kIllegalOpcode, isa::Fault::kIllegalDescriptor,
                 isa::Fault::kMisaligned, isa::Fault::kUbRange,
                 isa::Fault::kAccRange, isa::Fault::kHbmRange});
}

}  // namespace
}  // namespace systole::iss
