// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// On a core with a seeded fault an assertion fails: it says what, where and
// when, ends the run, and leaves its waveform.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "systole/device.h"
#include "tests/system/programs.h"
#include "verif/waves/fst_file.h"

namespace systole {
namespace {

using ::systole::testing::SmallMatmul;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Requants behind each other: one waits in the queue while another is its head.
SmallMatmul ManyRequants() {
  SmallMatmul m(1);
  m.program.layers.resize(1);
  m.program.layers[0].name = "product";
  std::vector<isa::Descriptor>& d = m.program.descriptors;
  isa::Requant again = m.requant;
  again.header.wait_mask = again.header.post_mask = 0;
  d.insert(d.begin() + 4, again.Encode());
  return m;
}

TEST(Assertion, SaysWhereAndLeavesItsWaveform) {
  const std::string folder = ::testing::TempDir() + "/waves_assertion";
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.snapshots = 1;
  options.simulation.waves = folder;
  auto device = Device::Open("rtl", options);
  ASSERT_TRUE(device.ok()) << device.status();
  const SmallMatmul m = ManyRequants();
  const absl::Status status = (*device)->Run(m.program).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("systole_unit_queue.sv:"), HasSubstr("a_fill"),
                    HasSubstr("in "
                              "TOP.systole_top.u_chip.gen_node[0].u_node.u_"
                              "core.u_control.gen_queue[3]."
                              "u_queue, cycle "),
                    HasSubstr("descriptor 3 (layer 'product'): requant")));

  const auto& waveform = (*device)->simulator()->waveform();
  ASSERT_TRUE(waveform.ok()) << waveform.status();
  auto fst = waves::FstFile::Open(waveform->file);
  ASSERT_TRUE(fst.ok()) << fst.status();
  // The last time is the cycle that the message names.
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("cycle ", (*fst)->end(), " of")));
  // Nothing goes on.
  EXPECT_EQ((*device)->Reset(ResetScope::kCore).code(),
            absl::StatusCode::kInternal);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace systole
