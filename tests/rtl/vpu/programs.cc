// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/vpu/programs.h"

#include <cstring>

#include "gtest/gtest.h"
#include "host/program/vpu_asm.h"

namespace systole::vpu_test {

LoadedProgram PlaceProgram(Unit* unit, const std::string& text,
                           const std::vector<uint32_t>& args, int at) {
  LoadedProgram p;
  const auto code =
      vpu::Assemble(text, "test", {{"L", unit->preset().cols}}, at);
  EXPECT_TRUE(code.ok()) << code.status() << "\n" << text;
  if (!code.ok()) return p;
  p.vload.ub_addr = static_cast<uint32_t>(unit->preset().ub_bytes / 2) - 16384;
  p.vload.addr = static_cast<uint32_t>(at);
  p.vload.count = static_cast<uint32_t>(code->words.size());
  std::memcpy(&unit->memories().ub[p.vload.ub_addr], code->words.data(),
              8 * code->words.size());
  p.vrun.pc = static_cast<uint32_t>(at);
  for (size_t i = 0; i < args.size(); ++i) p.vrun.args[i] = args[i];
  return p;
}

RunResult RunProgram(Unit* unit, const std::string& text,
                     const std::vector<uint32_t>& args, const Stalls& stalls,
                     int at) {
  const LoadedProgram p = PlaceProgram(unit, text, args, at);
  const RunResult loaded = unit->Run({p.vload.Encode()}, {});
  EXPECT_EQ(loaded.done.size(), 1u);
  return unit->Run({p.vrun.Encode()}, stalls);
}

}  // namespace systole::vpu_test
