// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Traces in the formats of the open DRAM simulators: what the device got is in
// the file, the check of the file finds what is wrong with it, and bad files
// and full disks end in an error.

#include "verif/hbm_model/trace.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "Vhbm2.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hbm/bandwidth.h"

namespace systole::hbm {
namespace {

std::string Prefix() { return testing::TempDir() + "/systole_hbm_trace"; }

std::string Slurp(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::StatusOr<TraceVerdict> CheckText(const std::string& text) {
  const std::string path = Prefix() + "_edited.cmd";
  std::ofstream(path) << text;
  return CheckCommandTrace(path, Timing{});
}

TEST(TraceTest, WhatTheDeviceGotIsLegal) {
  Bench<Vhbm2> bench(2, 5);
  auto trace = TraceWriter::Create(Prefix(), 2);
  ASSERT_TRUE(trace.ok()) << trace.status();
  bench.device().set_trace(trace->get());
  bench.Run({Linear(0, 1000), Random(3, 0, 1u << kBeatBits, 300)},
            {Linear(5000, 700)}, 0, 20000);
  bench.device().set_trace(nullptr);
  ASSERT_TRUE((*trace)->Close().ok());
  EXPECT_TRUE(bench.Clean()) << bench.Report();

  auto verdict = CheckCommandTrace(Prefix() + ".cmd", Timing{});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->log.count(), 0) << verdict->log.violations()[0].text;
  EXPECT_EQ(verdict->pcs, 2);
  int64_t columns = 0, activates = 0;
  for (int pc = 0; pc < 2; ++pc) {
    const Device::Counters& c = bench.device().counters(pc);
    columns += c.reads + c.writes;
    activates += c.activates;
  }
  EXPECT_EQ(columns, 2000);
  EXPECT_GT(verdict->commands, columns + activates);

  // As many requests; the first of the linear reader is there.
  const std::string requests = Slurp(Prefix() + ".trace");
  EXPECT_EQ(std::count(requests.begin(), requests.end(), '\n'), columns);
  EXPECT_THAT(requests, testing::HasSubstr("0x0 READ "));
  EXPECT_THAT(requests, testing::HasSubstr(" WRITE "));

  // A checker with a longer time finds the file wrong.
  Timing longer;
  ++longer.tRCDRD;
  verdict = CheckCommandTrace(Prefix() + ".cmd", longer);
  ASSERT_TRUE(verdict.ok());
  ASSERT_GT(verdict->log.count(), 0);
  EXPECT_EQ(verdict->log.violations()[0].rule, "tRCDRD");
}

TEST(TraceTest, WrongCommandsAreFound) {
  auto verdict = CheckText(
      "10, ACT, 0, 1, 2, 3, 77, -1\n24, RDA, 0, 1, 2, 3, 77, 4\n"
      "57, REFsb, 0, 1, 2, 3, -1, -1\n");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  ASSERT_EQ(verdict->log.count(), 1);
  EXPECT_EQ(verdict->log.violations()[0].rule, "tRC");
  EXPECT_EQ(verdict->log.violations()[0].bank, 11);
}

TEST(TraceTest, BadFilesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"10, ACT, 0, 1, 2, 3, 77\n", ":1: 7 fields, not 8"},
      {"10, ACT, 0, 1, 2, 3, 77, -1\n11, HUG, 0, 0, 0, 0, 0, 0\n",
       ":2: no command 'HUG'"},
      {"10, ACT, 0, 1, two, 3, 77, -1\n", ":1: 'two' is not a number"},
      {"10, ACT, 0, 1, 4, 3, 77, -1\n", ":1: no such place"},
      {"10, PRE, 0, 1, 0, 3, -1, -1\n9, PRE, 0, 1, 0, 3, -1, -1\n",
       ":2: cycles go back"},
  };
  for (const auto& [text, error] : cases) {
    auto verdict = CheckText(text);
    ASSERT_FALSE(verdict.ok()) << text;
    EXPECT_THAT(std::string(verdict.status().message()),
                testing::HasSubstr(error));
  }
  EXPECT_THAT(
      std::string(
          CheckCommandTrace("/nowhere/x.cmd", Timing{}).status().message()),
      testing::HasSubstr("/nowhere/x.cmd: cannot open"));
  EXPECT_FALSE(TraceWriter::Create("/nowhere/x", 2).ok());
}

TEST(TraceTest, AFullDiskIsToldOf) {
  // /dev/full takes nothing.
  const std::string prefix = Prefix() + "_full";
  std::remove((prefix + ".cmd").c_str());
  ASSERT_EQ(symlink("/dev/full", (prefix + ".cmd").c_str()), 0);
  auto trace = TraceWriter::Create(prefix, 2);
  ASSERT_TRUE(trace.ok()) << trace.status();
  (*trace)->Row(5, 0, RowCmd::kPrea, 0, 0);
  EXPECT_THAT(std::string((*trace)->Close().message()),
              testing::HasSubstr(".cmd: cannot write"));
  std::remove((prefix + ".cmd").c_str());
}

}  // namespace
}  // namespace systole::hbm
