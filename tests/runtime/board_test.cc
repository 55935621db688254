// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Threads on a board: what they do to its cores has the same order, however the
// host schedules them.
#include "host/runtime/board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <thread>
#include <utility>

namespace systole::runtime {
namespace {

constexpr int kCores = 4;

void Sleep(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

class BoardTest : public testing::Test {
 protected:
  BoardTest() : board_("iss", Options(), kCores) {
    halt_.preset = "minichip";
    halt_.descriptors = {isa::Halt().Encode()};
    halt_.hbm_bytes = isa::kDescriptorBytes;
  }
  static DeviceOptions Options() {
    DeviceOptions options;
    options.preset = "minichip";
    return options;
  }
  // Loads a program that ends at once.
  absl::Status Load(int core) {
    return board_.Access(core, [&]() -> absl::Status {
      const auto device = board_.Open(core);
      if (!device.ok()) return device.status();
      return (*device)->Load(halt_);
    });
  }

  Board board_;
  Program halt_;
};

TEST_F(BoardTest, AccessesComeByCoreThenPrograms) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<std::pair<int, int64_t>> order;  // core, rounds before
    board_.Join(kCores);
    const int64_t before = board_.rounds();
    std::vector<std::thread> threads;
    for (int core = 0; core < kCores; ++core) {
      threads.emplace_back([&, core] {
        std::mt19937 random(seed * kCores + core);
        const Board::Turn turn(board_);
        EXPECT_EQ(Load(core), absl::OkStatus());
        for (int round = 0; round < 3; ++round) {
          for (int i = 0; i < 2; ++i) {
            Sleep(static_cast<int>(random() % 300));
            EXPECT_EQ(board_.Access(core,
                                    [&] {
                                      order.emplace_back(
                                          core, board_.rounds() - before);
                                      return absl::OkStatus();
                                    }),
                      absl::OkStatus());
          }
          EXPECT_EQ(board_.Run(core, halt_).status(), absl::OkStatus());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<std::pair<int, int64_t>> expected;
    for (int64_t round = 0; round < 3; ++round) {
      for (int core = 0; core < kCores; ++core)
        for (int i = 0; i < 2; ++i) expected.emplace_back(core, round);
    }
    EXPECT_EQ(order, expected) << "seed " << seed;
  }
}

TEST_F(BoardTest, ProgramsWaitForACallAndAccessesDoNot) {
  board_.Join(2);
  std::promise<void> read;
  std::thread caller([&] {
    const Board::Turn turn(board_);
    {
      const Board::Call call(board_);
      read.get_future().wait();  // for another thread, which uses the board
      // So does who is called.
      EXPECT_EQ(board_.Access(0, [] { return absl::OkStatus(); }),
                absl::OkStatus());
      Sleep(20000);
      EXPECT_EQ(board_.rounds(), 0);
    }
    EXPECT_EQ(Load(0), absl::OkStatus());
    EXPECT_EQ(board_.Run(0, halt_).status(), absl::OkStatus());
  });
  std::thread runner([&] {
    const Board::Turn turn(board_);
    EXPECT_EQ(Load(1), absl::OkStatus());
    EXPECT_EQ(board_.Run(1, halt_).status(), absl::OkStatus());
  });
  // This thread has no turn.
  EXPECT_EQ(board_.Access(2,
                          [&] {
                            const auto device = board_.Open(2);
                            if (!device.ok()) return device.status();
                            uint8_t byte = 0;
                            return (*device)->Read(0, {&byte, 1});
                          }),
            absl::OkStatus());
  read.set_value();
  caller.join();
  runner.join();
  EXPECT_EQ(board_.rounds(), 1);
}

TEST_F(BoardTest, AnAccessThatFailsIsItsOwn) {
  board_.Join(2);
  std::vector<std::thread> threads;
  for (int core = 0; core < 2; ++core) {
    threads.emplace_back([&, core] {
      const Board::Turn turn(board_);
      const absl::Status s = board_.Access(core, [&] {
        return core == 0 ? absl::DataLossError("two wrong bits")
                         : absl::OkStatus();
      });
      EXPECT_EQ(absl::IsDataLoss(s), core == 0) << s;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace systole::runtime
