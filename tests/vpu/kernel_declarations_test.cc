// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the kernels of firmware/vpu declare above their labels, against what
// they do: every kernel with random arguments. On the simulator what it reads
// and writes, on the RTL how long it takes.
//   --backend=iss|rtl
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/kernels/kernels.h"
#include "host/program/vpu_asm.h"
#include "sim/iss/iss_device.h"
#include "systole/device.h"
#include "tests/testing/long.h"
#include "tests/testing/options.h"
#include "tests/vpu/kernel_arguments.h"

namespace systole {
namespace {

using kernels::Effect;

std::string g_backend = "iss";

constexpr int64_t kCode = 120000;   // in the unified buffer
constexpr int64_t kCodeHbm = 4096;  // of memory

// Rounds of the kernel, by itself.
Program ProgramOf(const kernels::Image& image, const Preset& preset,
                  const std::string& kernel, const isa::Vrun& run, int rounds) {
  const kernels::Image::Part part = image.PartOf(kernel);
  vpu::CodeLoad code =
      vpu::LoadCode(kCodeHbm, kCode / 128 * 128,
                    static_cast<int64_t>(part.words.size()), part.pc);
  code.load.header.post_mask = code.vload.header.wait_mask = 1;
  Program program;
  program.preset = preset.name;
  program.segments.push_back(vpu::Segment("kernels", kCodeHbm, part.words));
  program.descriptors = {code.load.Encode(), code.vload.Encode()};
  program.descriptors.insert(program.descriptors.end(), rounds, run.Encode());
  program.descriptors.push_back(isa::Halt{}.Encode());
  program.prog_addr = 65536;
  program.hbm_bytes = 131072;
  return program;
}

// Bytes, or accumulator rows, of all effects that count.
std::set<int64_t> Covered(const std::vector<Effect>& effects, bool accumulators,
                          bool writes_only) {
  std::set<int64_t> covered;
  for (const Effect& e : effects) {
    if (e.accumulators != accumulators || (writes_only && !e.write)) continue;
    for (int64_t k = 0; k < e.count[2]; ++k) {
      for (int64_t j = 0; j < e.count[1]; ++j) {
        for (int64_t i = 0; i < e.count[0]; ++i) {
          const int64_t at =
              e.base + i * e.stride[0] + j * e.stride[1] + k * e.stride[2];
          for (int64_t b = at; b < at + e.len; ++b) covered.insert(b);
        }
      }
    }
  }
  return covered;
}

// What a run touched that is not declared; empty: nothing.
std::string Undeclared(const iss::VrunLog& log,
                       const std::vector<Effect>& effects) {
  const auto check = [](const iss::Ranges& ranges, const char* what,
                        const std::set<int64_t>& covered) -> std::string {
    for (const iss::Range& r : ranges) {
      for (uint64_t at = r.begin; at < r.end; ++at) {
        if (covered.count(static_cast<int64_t>(at)) == 0)
          return absl::StrCat(what, " ", at);
      }
    }
    return "";
  };
  std::string found =
      check(log.reads.All(), "reads byte", Covered(effects, false, false));
  if (found.empty())
    found =
        check(log.writes.All(), "writes byte", Covered(effects, false, true));
  if (found.empty())
    found = check(log.acc_reads.All(), "reads accumulator row",
                  Covered(effects, true, false));
  return found;
}

class Declarations : public testing::Test {
 protected:
  Declarations()
      : preset_(*FindPreset("mini")), image_(*kernels::Assemble(preset_)) {}

  std::unique_ptr<Device> Open() {
    DeviceOptions options;
    options.preset = "mini";
    options.simulation.check_races = g_backend == "iss";
    auto device = Device::Open(g_backend, options);
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }

  const Preset& preset_;
  const kernels::Image image_;
};

TEST_F(Declarations, AreWhatKernelsTouchAndNoMore) {
  if (g_backend != "iss") GTEST_SKIP() << "the simulator knows";
  const auto device = Open();
  auto* simulator = dynamic_cast<iss::IssDevice*>(device.get());
  ASSERT_NE(simulator, nullptr);
  const std::vector<std::string> kernels = image_.Kernels();
  EXPECT_EQ(kernels.size(), 6u);
  int faults = 0;
  for (const std::string& kernel : kernels) {
    std::set<std::string> wrong, found;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const auto args = KernelArguments(preset_, seed).Of(kernel);
      const kernels::Call call = image_.Run(kernel, args);
      const auto run =
          device->Run(ProgramOf(image_, preset_, kernel, call.run, 1));
      EXPECT_TRUE(run.ok()) << kernel << ": " << run.status();
      const iss::VrunLog& log = simulator->iss().state().vrun_log;
      EXPECT_EQ(Undeclared(log, call.effects), "") << kernel << " " << seed;
      // Each of these would be wrong.
      for (size_t e = 0; e < call.effects.size(); ++e) {
        const auto broken = [&](const char* what,
                                const std::function<void(Effect&)>& make) {
          std::vector<Effect> effects = call.effects;
          make(effects[e]);
          const std::string name =
              absl::StrCat(effects.size(), " effects, ", e, ": ", what);
          wrong.insert(name);
          if (!Undeclared(log, effects).empty()) found.insert(name);
        };
        broken("one byte too few", [](Effect& x) { --x.len; });
        broken("one byte too late", [](Effect& x) { ++x.base, --x.len; });
        for (int d = 0; d < 3; ++d) {
          if (call.effects[e].count[d] > 1)
            broken(d == 0   ? "one row too few"
                   : d == 1 ? "one line too few"
                            : "one image too few",
                   [d](Effect& x) { --x.count[d]; });
        }
        if (call.effects[e].write)
          broken("no write", [](Effect& x) { x.write = false; });
      }
    }
    faults += static_cast<int>(wrong.size());
    for (const std::string& name : wrong)
      EXPECT_EQ(found.count(name), 1u) << kernel << ": " << name;
  }
  EXPECT_GT(faults, 30);
}

TEST_F(Declarations, CyclesAreAbout) {
  if (g_backend != "rtl") GTEST_SKIP() << "the simulator has no time";
  const auto device = Open();
  const auto seeds = testing_options::Sized<uint64_t>(3, 6);
  constexpr int kMore = 16;
  for (const std::string& kernel : image_.Kernels()) {
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      const auto args = KernelArguments(preset_, seed).Of(kernel);
      const kernels::Call call = image_.Run(kernel, args);
      int64_t cycles[2];
      for (const int more : {0, 1}) {
        const auto run = device->Run(
            ProgramOf(image_, preset_, kernel, call.run, 1 + kMore * more));
        ASSERT_TRUE(run.ok()) << kernel << ": " << run.status();
        cycles[more] = static_cast<int64_t>(run->cycles);
      }
      const int64_t measured = (cycles[1] - cycles[0]) / kMore;
      EXPECT_LE(call.cycles, 3 * measured / 2 + 20)
          << kernel << ": " << measured << " measured";
      EXPECT_GE(3 * call.cycles / 2 + 20, measured)
          << kernel << ": declares " << call.cycles;
      if (seed == 0)
        std::printf("%-24s %6d declared, %6d measured\n", kernel.c_str(),
                    static_cast<int>(call.cycles), static_cast<int>(measured));
    }
  }
}

// What the text may not say.
TEST(DeclarationText, Errors) {
  const std::map<std::string, int64_t> constants = {{"ROW", 32}};
  const std::map<std::string, int> arguments = {{"a", 0}, {"n", 1}};
  const auto error = [&](const std::vector<vpu::Code::Note>& notes) {
    return std::string(kernels::Declaration::Parse(notes, constants, arguments)
                           .status()
                           .message());
  };
  EXPECT_EQ(error({{".cycles", "1"}}), "");
  EXPECT_EQ(error({{".reads", "ub[a, n]", 7}}), "7: no .cycles");
  for (const auto& [directive, text, what] :
       std::vector<std::array<std::string, 3>>{
           {".cycles", "1 +", "a number is missing"},
           {".cycles", "(n", "')' is missing"},
           {".cycles", "n n", "unexpected 'n'"},
           {".cycles", "b", "'b' is not a number"},
           {".cycles", "1.5*n", "'1.5' is not a whole number"},
           {".cycles", "min(n)", "',' is missing"},
           {".cycles", "min(n, 1, 2)", "')' is missing"},
           {".cycles", "4294967296", "'4294967296' is not a number"},
           {".cycles", std::string(100000, '('), "too many parentheses"},
           {".reads", "hbm[a, n]", "ub[...] or acc[...] wanted"},
           {".reads", "ub[a]", "first place, length"},
           {".reads", "ub[a, n + ]", "a number is missing"},
           {".writes", "ub[a, n, 4]", "count x stride wanted"}}) {
    EXPECT_EQ(error({{directive, text, 3}}),
              "3: " + directive + " " + text + ": " +
                  (what[0] == 'f' ? what + ", and up to three count x stride "
                                           "wanted"
                                  : what));
  }
  EXPECT_EQ(error({{".cycles", "1"}, {".cycles", "2", 8}}),
            "8: .cycles 2: declared twice");
}

TEST(DeclarationText, Numbers) {
  const auto made = kernels::Declaration::Parse(
      {{".writes", "ub[a + 2*ROW, min(n, 1)*8, max(n, 3) x -(-ROW)]"},
       {".cycles", "(n + 7)/8*2 - n%3"}},
      {{"ROW", 32}}, {{"a", 0}, {"n", 1}});
  ASSERT_TRUE(made.ok()) << made.status();
  const auto effects = made->Effects({100, 5});
  ASSERT_TRUE(effects.ok()) << effects.status();
  ASSERT_EQ(effects->size(), 1u);
  EXPECT_EQ((*effects)[0].base, 164);
  EXPECT_EQ((*effects)[0].len, 8);
  EXPECT_EQ((*effects)[0].count[0], 5);
  EXPECT_EQ((*effects)[0].stride[0], 32);
  EXPECT_EQ(*made->Cycles({100, 9}), 4);
  EXPECT_TRUE(made->Effects({100, 0})->empty());
}

// What the arguments may not be; never a value that was not computed.
TEST(DeclarationText, NumbersWithoutAValue) {
  const auto made = kernels::Declaration::Parse(
      {{".reads", "ub[a*a, 8/n]"}, {".cycles", "a % (n - 1)"}}, {},
      {{"a", 0}, {"n", 1}});
  ASSERT_TRUE(made.ok()) << made.status();
  const auto message = [](const auto& value) {
    return std::string(value.status().message());
  };
  EXPECT_EQ(message(made->Effects({65535, 2})), "");
  EXPECT_EQ(message(made->Effects({65536, 2})),
            ".reads ub[a*a, 8/n]: a value does not fit in 32 bits");
  EXPECT_EQ(message(made->Effects({INT64_MIN, 2})),
            ".reads ub[a*a, 8/n]: a value does not fit in 32 bits");
  EXPECT_EQ(message(made->Effects({2, 0})),
            ".reads ub[a*a, 8/n]: division by 0");
  EXPECT_EQ(message(made->Effects({2})),
            ".reads ub[a*a, 8/n]: argument 1 is missing");
  EXPECT_EQ(*made->Cycles({-7, 4}), -1);
  EXPECT_EQ(message(made->Cycles({7, 1})), ".cycles: division by 0");
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend}});
}
