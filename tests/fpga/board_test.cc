// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The board whole: its top with serial port, LiteDRAM's controller and the
// SDRAM's model runs in a process of its own (verif/board/board_sim.cc), and
// the driver talks to it through a pseudo-terminal. SYSTOLE_BOARD_SIM names
// another program, that of the board's netlist.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/compiler/schedule_builder.h"
#include "host/serial/serial_device.h"
#include "host/tools/checker.h"
#include "host/tools/digits.h"
#include "systole/compiler.h"
#include "systole/model.h"
#include "tests/testing/last_layer.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

constexpr char kPreset[] = "board8";

// A process of board_sim.
class Board {
 public:
  explicit Board(std::vector<std::string> options = {}) {
    int out[2];
    if (pipe(out) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      close(out[0]);
      const char* const other = std::getenv("SYSTOLE_BOARD_SIM");
      const std::string path =
          other != nullptr ? other : SYSTOLE_BINARY_DIR "/bin/board_sim";
      std::vector<char*> argv = {const_cast<char*>(path.c_str())};
      for (std::string& option : options) argv.push_back(option.data());
      argv.push_back(nullptr);
      execv(path.c_str(), argv.data());
      _exit(127);
    }
    close(out[1]);
    std::FILE* const file = fdopen(out[0], "r");
    char line[256] = "";
    if (std::fgets(line, sizeof line, file) != nullptr &&
        std::string(line).rfind("port ", 0) == 0) {
      port_ = std::string(line).substr(5);
      port_.erase(port_.find_last_not_of('\n') + 1);
    }
    std::fclose(file);
  }
  ~Board() { EXPECT_EQ(Stop(), 0) << "the board's simulation failed"; }
  // Its exit code.
  int Stop() {
    if (pid_ <= 0) return 0;
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  std::string backend(double timeout = 20) const {
    return absl::StrFormat("serial:%s,timeout=%g", port_, timeout);
  }

 private:
  pid_t pid_ = -1;
  std::string port_;
};

absl::StatusOr<std::unique_ptr<Device>> Open(const Board& board,
                                             const std::string& preset,
                                             double timeout = 20) {
  DeviceOptions options;
  options.preset = preset;
  return Device::Open(board.backend(timeout), options);
}

std::vector<uint8_t> Random(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

// Runs the digits and compares each tensor that reaches memory: of each layer,
// or the network's output. Returns how many digits are right.
int RunDigits(Device& device, int images, bool each_layer) {
  const std::string source = SYSTOLE_SOURCE_DIR;
  const auto network =
      model::ReadNetwork(source + "/models/mnist_cnn.safetensors");
  const auto digits = tools::ReadDigits(source + "/tests/data/mnist");
  EXPECT_TRUE(network.ok() && digits.ok());
  if (!network.ok() || !digits.ok()) return -1;
  compiler::Options compile;
  compile.keep_intermediates = each_layer;
  compile.batch = images;
  const auto program =
      compiler::CompileNetwork(*network, device.preset(), compile);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return -1;
  const std::vector<int8_t> input = digits->Quantised(0, images);
  const auto expected = tools::GoldenTensors(*network, input, /*raw=*/false);
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (!expected.ok()) return -1;
  const auto run =
      tools::RunChecked(device, *program, *network, input, *expected);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return -1;
  EXPECT_THAT(run->mismatches(), testing::IsEmpty());
  EXPECT_GT(run->stats.cycles, 0u);
  int compared = 0, right = 0;
  for (const tools::LayerRun& layer : run->layers)
    compared += layer.bit_exact.has_value();
  if (each_layer) {
    EXPECT_EQ(compared, static_cast<int>(run->layers.size()));
  }
  EXPECT_GE(compared, 1);
  std::printf("%d images: %llu cycles\n", images,
              static_cast<unsigned long long>(run->stats.cycles));
  const std::vector<uint8_t>& scores = run->output();
  const size_t classes = scores.size() / static_cast<size_t>(images);
  for (int i = 0; i < images; ++i) {
    const auto* s = reinterpret_cast<const int8_t*>(&scores[i * classes]);
    right += std::max_element(s, s + classes) - s == digits->labels[i];
  }
  return right;
}

TEST(Board, MemoryAndRegisters) {
  Board board;
  auto device = Open(board, kPreset);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->preset().name, kPreset);
  EXPECT_EQ((*device)->simulator(), nullptr);
  // Bounds of banks, rows and the memory; odd addresses and lengths.
  const uint64_t capacity = (*device)->preset().memory_bytes();
  for (const auto& [address, size] : std::vector<std::pair<uint64_t, size_t>>{
           {0, 16}, {5, 3}, {1009, 100}, {4090, 20}, {capacity - 33, 33}}) {
    const std::vector<uint8_t> bytes =
        Random(size, static_cast<uint32_t>(size));
    ASSERT_TRUE((*device)->Write(address, bytes).ok());
    std::vector<uint8_t> got(size);
    ASSERT_TRUE((*device)->Read(address, absl::MakeSpan(got)).ok());
    EXPECT_EQ(got, bytes) << address;
  }
  std::vector<uint8_t> beyond(2);
  EXPECT_TRUE(absl::IsOutOfRange(
      (*device)->Read(capacity - 1, absl::MakeSpan(beyond))));
}

TEST(Board, TheWrongPresetIsOneClearError) {
  Board board;
  const auto device = Open(board, "edge");
  EXPECT_TRUE(absl::IsFailedPrecondition(device.status()));
  EXPECT_THAT(std::string(device.status().message()),
              HasSubstr("the board has preset 'board8', asked was 'edge'"));
  EXPECT_EQ((*Open(board, ""))->preset().name, kPreset);
}

TEST(Board, AnUnpluggedCableIsOneClearError) {
  auto board = std::make_unique<Board>();
  auto device = Open(*board, kPreset);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(board->Stop(), 0);
  std::vector<uint8_t> bytes(16);
  const absl::Status status = (*device)->Read(0, absl::MakeSpan(bytes));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("is gone"));
  DeviceOptions options;
  EXPECT_THAT(
      std::string(
          Device::Open("serial:/dev/no_such_port", options).status().message()),
      HasSubstr("cannot open /dev/no_such_port"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Device::Open("serial:/dev/null,speed=9", options).status()));
}

TEST(Board, FaultsOnTheLineAreRecovered) {
  // 1 in 2500 bytes, both ways.
  Board board({"--lost", "130", "--flipped", "130", "--doubled", "140"});
  auto device = Open(board, kPreset, 2);
  ASSERT_TRUE(device.ok()) << device.status();
  const std::vector<uint8_t> bytes = Random(10000, 7);
  ASSERT_TRUE((*device)->Write(12345, bytes).ok());
  std::vector<uint8_t> got(bytes.size());
  ASSERT_TRUE((*device)->Read(12345, absl::MakeSpan(got)).ok());
  EXPECT_EQ(got, bytes);
  const auto& link = static_cast<serial::SerialDevice&>(**device).link_stats();
  EXPECT_GT(link.repeated, 0u);
}

// A network's weights take minutes over the line, lines in another order
// seconds.
TEST(Board, AProgramRuns) {
  constexpr uint32_t kLines = 8, kBytes = 64;
  Board board;
  auto device = Open(board, kPreset);
  ASSERT_TRUE(device.ok()) << device.status();
  const std::vector<uint8_t> bytes = Random(kLines * kBytes, 11);
  ASSERT_TRUE((*device)->Write(0, bytes).ok());
  compiler::ScheduleBuilder builder((*device)->preset());
  for (uint32_t i = 0; i < kLines; ++i) {
    isa::Load load;
    load.hbm_addr = i * kBytes, load.ub_addr = (kLines - 1 - i) * kBytes;
    load.len = kBytes, load.n1 = load.n2 = 1;
    builder.Append(load);
  }
  isa::Store store;
  store.hbm_addr = 0x1000, store.len = kLines * kBytes;
  store.n1 = store.n2 = 1;
  builder.Append(store);
  const auto schedule = builder.Finish();
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Program program;
  program.preset = kPreset;
  program.prog_addr = 0x2000;
  program.hbm_bytes = 0x4000;
  program.descriptors = schedule->descriptors;
  const auto stats = (*device)->Run(program);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GT(stats->cycles, 0u);
  std::vector<uint8_t> got(bytes.size());
  ASSERT_TRUE((*device)->Read(0x1000, absl::MakeSpan(got)).ok());
  for (uint32_t i = 0; i < kLines; ++i) {
    EXPECT_TRUE(std::equal(bytes.begin() + i * kBytes,
                           bytes.begin() + (i + 1) * kBytes,
                           got.begin() + (kLines - 1 - i) * kBytes))
        << "line " << i;
  }
}

// How many values of the smallest layer's result are wrong; -1: it did not run.
int RunLastLayer(Board& board) {
  auto device = Open(board, kPreset);
  EXPECT_TRUE(device.ok()) << device.status();
  const auto layer = testing_options::LastLayer();
  EXPECT_TRUE(layer.ok()) << layer.status();
  if (!device.ok() || !layer.ok()) return -1;
  const auto& [network, input] = *layer;
  const auto program =
      compiler::CompileNetwork(network, (*device)->preset(), {});
  const auto expected = tools::GoldenTensors(network, input, /*raw=*/false);
  EXPECT_TRUE(program.ok() && expected.ok());
  if (!program.ok() || !expected.ok()) return -1;
  const auto run =
      tools::RunChecked(**device, *program, network, input, *expected);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return -1;
  EXPECT_GT(run->stats.cycles, 0u);
  std::printf("%llu cycles of the program\n",
              static_cast<unsigned long long>(run->stats.cycles));
  return static_cast<int>(run->mismatches().size());
}

TEST(Board, TheSmallestLayer) {
  Board board;
  EXPECT_EQ(RunLastLayer(board), 0);
}

// Of the netlist: a lookup table in front of the accumulators is wrong.
TEST(Board, DISABLED_AFaultInTheNetlistIsSeen) {
  Board board({"+fault"});
  EXPECT_GT(RunLastLayer(board), 0);
}

TEST(Board, TheDigitsBitForBit) {
  Board board;
  auto device = Open(board, kPreset);
  ASSERT_TRUE(device.ok()) << device.status();
  // The layers between go over the line too, which takes its time.
  EXPECT_EQ(RunDigits(**device, 1, /*each_layer=*/true), 1);
  EXPECT_EQ(RunDigits(**device, 32, /*each_layer=*/false), 32);
}

}  // namespace
}  // namespace systole
