// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/system/processes_test.h"
#include "verif/tb/core_module.h"

namespace systole {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSamplesALine = 256;
constexpr char kChips[] = "chips";

std::string ContentOf(const fs::path& file) {
  std::ifstream input(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(input),
          std::istreambuf_iterator<char>()};
}

// Processes whose command line has the address of one of this process's jobs.
std::vector<fs::path> RankFolders() {
  const std::string address = absl::StrCat("systole-chips-", getpid(), "-");
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string words = ContentOf(entry.path() / "cmdline");
    const std::string program = words.substr(0, words.find('\0'));
    if (words.find(address) != std::string::npos &&
        fs::path(program).filename() == kChips)
      folders.push_back(entry.path());
  }
  return folders;
}

uint64_t Mixed(uint64_t digest, uint64_t value) {
  digest = (digest ^ value) * 0x9e3779b97f4a7c15u;
  return digest ^ digest >> 29;
}

}  // namespace

bool HasProcesses() {
  return !tb::FindProgram(kChips).empty() &&
         std::system("mpirun --version > /dev/null 2>&1") == 0;
}

std::string DigestOf(absl::Span<const uint8_t> bytes) {
  uint64_t digest = bytes.size();
  for (const uint8_t byte : bytes) digest = Mixed(digest, byte);
  return absl::StrFormat("%016x", digest);
}

void SampleTrace::Mix(uint64_t value) { digest_ = Mixed(digest_, value); }

void SampleTrace::Sample(ProbeSample sample, uint64_t cycle) {
  Mix(sample.bits);
  Mix(sample.send);
  Mix(cycle);
  if (++samples_ % kSamplesALine == 0)
    lines_.push_back(absl::StrFormat("until cycle %d: %016x", cycle, digest_));
}

void SampleTrace::Command(const RowCommand& command) {
  for (const uint64_t value :
       {static_cast<uint64_t>(command.group), uint64_t{command.command},
        uint64_t{command.bank}, uint64_t{command.row}})
    Mix(value);
}

void SampleTrace::Links(const ChipLinkCounts& counts, uint64_t cycle) {
  for (const LinkCounts& link : counts) {
    Mix(link.bytes_sent);
    Mix(link.bytes_received);
    Mix(link.replays);
  }
  Mix(cycle);
}

void SampleTrace::Describe(int core, std::vector<std::string>& trace) const {
  for (const std::string& line : lines_)
    trace.push_back(absl::StrFormat("core %d, samples %s", core, line));
  trace.push_back(
      absl::StrFormat("core %d, %d samples: %016x", core, samples_, digest_));
}

ProcessesTest::ProcessesTest() {
  g_backend = "rtl";
  // Not for the comparison, which wants its own numbers.
  unsetenv("SYSTOLE_PROCESSES");
  unsetenv("SYSTOLE_MPIRUN");
}

void ProcessesTest::TearDown() {
  cores_.clear();
  EXPECT_EQ(Ranks(), 0) << "processes that nobody has ended";
}

void ProcessesTest::Describe(int core, const RunStats& stats,
                             std::vector<std::string>& trace) {
  for (const Retire& r : stats.retires) {
    trace.push_back(absl::StrFormat("core %d, queue %d, descriptor %d: %d",
                                    core, static_cast<int>(r.queue), r.index,
                                    r.cycle));
  }
  trace.push_back(absl::StrFormat("core %d, cycles %d", core, stats.cycles));
  trace.push_back(absl::StrFormat("core %d, counters %s", core,
                                  absl::StrJoin(stats.counters, " ")));
  for (size_t l = 0; l < stats.links.size(); ++l) {
    const LinkCounts& c = stats.links[l];
    trace.push_back(absl::StrFormat(
        "core %d, link %d: %s", core, l,
        absl::StrJoin({c.packets_sent, c.bytes_sent, c.packets_received,
                       c.bytes_received, c.replays, c.crc_errors,
                       c.credit_stalls, c.trainings, c.packets_lost},
                      " ")));
  }
}

std::string ProcessesTest::OpenError(const DeviceOptions& options) {
  const auto cores = Device::OpenCores("rtl", options);
  const std::string text(cores.status().message());
  EXPECT_FALSE(cores.ok());
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  return text;
}

std::string ProcessesTest::With(const std::string& mpirun,
                                const DeviceOptions& options) {
  setenv("SYSTOLE_MPIRUN", mpirun.c_str(), 1);
  std::string error = OpenError(options);
  unsetenv("SYSTOLE_MPIRUN");
  EXPECT_EQ(Ranks(), 0) << error;
  return error;
}

std::string ProcessesTest::Script(const std::string& text) {
  const std::string file =
      absl::StrCat(::testing::TempDir(), "mpirun_", getpid(), ".sh");
  std::ofstream(file) << "MPIRUN='mpirun --map-by :OVERSUBSCRIBE --bind-to none"
                      << (geteuid() == 0 ? " --allow-run-as-root'\n" : "'\n")
                      << text << "\n";
  return absl::StrCat("sh ", file);
}

std::string ProcessesTest::WithOtherStamp() {
  const fs::path program = tb::FindProgram(kChips);
  std::string content = ContentOf(program);
  const std::string stamp = tb::kCoreStamp;
  const size_t at = content.find(stamp);
  if (at == std::string::npos) return "";
  content[at] = stamp[0] == '0' ? '1' : '0';
  const std::string file =
      absl::StrCat(::testing::TempDir(), "chips_", getpid(), "/", kChips);
  fs::create_directories(fs::path(file).parent_path());
  std::ofstream(file, std::ios::binary) << content;
  chmod(file.c_str(), 0755);
  return file;
}

int ProcessesTest::Ranks() { return static_cast<int>(RankFolders().size()); }

void ProcessesTest::KillRank(int rank) {
  const std::string variable =
      absl::StrCat(std::string(1, '\0'), "OMPI_COMM_WORLD_RANK=", rank,
                   std::string(1, '\0'));
  for (const fs::path& folder : RankFolders()) {
    if (ContentOf(folder / "environ").find(variable) == std::string::npos)
      continue;
    const int pid = std::atoi(folder.filename().c_str());
    EXPECT_EQ(kill(pid, SIGKILL), 0);
    return;
  }
  ADD_FAILURE() << "no process of rank " << rank;
}

}  // namespace systole
