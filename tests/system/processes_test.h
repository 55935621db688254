// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fixture: the chips of a torus in threads or processes, what is recorded of
// them, and jobs that go wrong.

#ifndef SYSTOLE_TESTS_SYSTEM_PROCESSES_TEST_H_
#define SYSTOLE_TESTS_SYSTEM_PROCESSES_TEST_H_

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/system/torus_test.h"

namespace systole {

inline constexpr int kSkipped = 77;  // exit code, for ctest

// Whether this build has the program of the processes, and mpirun is there.
bool HasProcesses();

std::string DigestOf(absl::Span<const uint8_t> bytes);

// Digests of a core's samples, of 256 cycles each.
class SampleTrace : public ProbeSink {
 public:
  void Sample(ProbeSample sample, uint64_t cycle) override;
  void Command(const RowCommand& command) override;
  void Links(const ChipLinkCounts& counts, uint64_t cycle) override;
  void Describe(int core, std::vector<std::string>& trace) const;

 private:
  void Mix(uint64_t value);
  uint64_t digest_ = 0, samples_ = 0;
  std::vector<std::string> lines_;
};

class ProcessesTest : public TorusTest {
 protected:
  struct How {
    int threads, processes;
    std::string Name() const {
      return absl::StrFormat("%d threads, %d processes", threads, processes);
    }
  };
  ProcessesTest();
  void TearDown() override;

  // A run of all cores, as lines of text.
  std::vector<std::string> Run(const How& how);
  static void Describe(int core, const RunStats& stats,
                       std::vector<std::string>& trace);
  // Of OpenCores, which is to fail.
  static std::string OpenError(const DeviceOptions& options);
  // With that SYSTOLE_MPIRUN.
  static std::string With(const std::string& mpirun,
                          const DeviceOptions& options);
  // A shell script that gets `-n N program address`.
  static std::string Script(const std::string& text);
  // A copy of the processes' program that says it is of other sources.
  static std::string WithOtherStamp();
  // The processes of this one's jobs: how many; one of them is killed.
  static int Ranks();
  static void KillRank(int rank);
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_SYSTEM_PROCESSES_TEST_H_
