// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The command-line tool: exit codes, error texts, reports. Runs the built
// program on the simulator.
#include "tests/tools/cli.h"

#include <fstream>

#include "nlohmann/json.hpp"

namespace systole::tools {
namespace {

using testing::HasSubstr;

class Cli : public CliTest {};

TEST_F(Cli, HelpEverywhere) {
  for (const char* command :
       {"", "run ", "bench ", "compile ", "asm ", "disasm ", "info "}) {
    const Outcome o = Run(std::string(command) + "--help");
    EXPECT_EQ(o.code, 0) << command;
    EXPECT_THAT(o.text, HasSubstr("Usage: systole"));
  }
}

TEST_F(Cli, RunPrintsTheTableAndWritesTheReport) {
  const Outcome o = Run(
      "run --backend iss --images 5 --batch 3 --checked --quiet --reports " +
      folder_);
  EXPECT_EQ(o.code, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("accuracy: 5 of 5"));
  std::ifstream file(folder_ + "/run.json");
  const nlohmann::json records = nlohmann::json::parse(file);
  ASSERT_EQ(records.size(), 6u);
  for (const nlohmann::json& r : records) {
    for (const char* key :
         {"name", "preset", "cycles", "macs", "peak_macs_per_cycle",
          "utilisation", "ideal_utilisation", "hbm_read_bytes",
          "hbm_write_bytes", "bit_exact", "host_cpu_seconds"}) {
      EXPECT_TRUE(r.contains(key)) << key;
    }
    EXPECT_EQ(r["bit_exact"], true);
  }
  EXPECT_EQ(records[5]["macs"], 5 * 5455504);
}

TEST_F(Cli, WrongArguments) {
  ExpectError("", 2, "subcommand is required");
  ExpectError("fly", 2, "");
  ExpectError("run --images many", 2, "--images");
  ExpectError("bench everything", 2, "everything");
}

TEST_F(Cli, BadValues) {
  ExpectError("run --backend iss --images 5000", 1, "has 2000");
  ExpectError("run --backend iss --preset huge", 1,
              "unknown preset 'huge'; there are nano, edge, v1");
  ExpectError("run --backend paper", 1, "paper");
}

TEST_F(Cli, BadFiles) {
  ExpectError("run --backend iss --model none.safetensors", 1,
              "none.safetensors");
  ExpectError("run --backend iss --digits " + folder_, 1,
              "test-images-idx3-ubyte");
  std::ofstream(folder_ + "/bad.safetensors") << "no model";
  ExpectError("run --backend iss --model " + folder_ + "/bad.safetensors", 1,
              "bad.safetensors");
  ExpectError("info " + folder_ + "/bad.safetensors", 1, "bad.safetensors");
  ExpectError("disasm none.tpu", 1, "none.tpu");
  ExpectError("asm none.txt", 1, "none.txt");
  ExpectError("compile -o " + folder_ + "/no/such/folder.tpu", 1, "folder.tpu");
}

TEST_F(Cli, CompileInfoDisassembleAssemble) {
  const std::string program = folder_ + "/cnn.tpu", text = folder_ + "/cnn.txt",
                    again = folder_ + "/again.tpu";
  ASSERT_EQ(Run("compile --batch 2 -o " + program).code, 0);
  EXPECT_THAT(Run("info " + program).text, HasSubstr("conv3"));
  ASSERT_EQ(Run("disasm " + program + " > " + text).code, 0);
  const Outcome o = Run("asm " + text + " -o " + again);
  ASSERT_EQ(o.code, 0) << o.text;
  // The descriptors, without comments, are the same.
  EXPECT_EQ(Run("disasm " + program + " | grep -v '^#' | sed 's/ *#.*//'").text,
            Run("disasm " + again + " | grep -v '^#' | sed 's/ *#.*//'").text);
  std::ofstream(text) << "load hbm_addr=0\nfly\n";
  ExpectError("asm " + text, 1, "cnn.txt:2");
}

}  // namespace
}  // namespace systole::tools
