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

// Programs of two cores on two chips, and their errors.
class HangTest : public BoardTest {
 protected:
  Program Waits(int flag) const {
    Program program = halt_;
    isa::Halt halt;
    halt.header.wait_mask = 1u << flag;
    program.descriptors = {halt.Encode()};
    return program;
  }
  // Posts a flag of a core.
  Program Posts(int core, int flag) const {
    Program program = halt_;
    isa::Send send;
    send.header.flags = isa::Send::kLinkPost | isa::Send::kEmpty;
    send.link_flag = static_cast<uint32_t>(flag - isa::kFirstLinkFlag);
    send.dst_x = static_cast<uint32_t>(core / 2);
    send.dst_core = static_cast<uint32_t>(core % 2);
    program.descriptors = {send.Encode(), isa::Halt().Encode()};
    program.hbm_bytes = 2 * isa::kDescriptorBytes;
    return program;
  }
  std::vector<absl::Status> RunAll(const std::vector<Program>& programs) {
    board_.Join(static_cast<int>(programs.size()));
    std::vector<absl::Status> ends(programs.size());
    std::vector<std::thread> threads;
    for (size_t core = 0; core < programs.size(); ++core) {
      threads.emplace_back([&, core] {
        const Board::Turn turn(board_);
        const int number = static_cast<int>(core);
        ends[core] = board_.Access(number, [&]() -> absl::Status {
          const auto device = board_.Open(number);
          return device.ok() ? (*device)->Load(programs[core])
                             : device.status();
        });
        if (ends[core].ok())
          ends[core] = board_.Run(number, programs[core]).status();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return ends;
  }
};

constexpr int kFlag = isa::kFirstLinkFlag + 3;

// The error of all is that of the core that waits for no other one.
TEST_F(HangTest, TheCoreThatHangsIsNamed) {
  const auto ends = RunAll({Waits(kFlag), Waits(kFlag), Waits(5), halt_});
  EXPECT_TRUE(ends[3].ok());
  for (int core = 0; core < 3; ++core) {
    const std::string text(ends[core].message());
    EXPECT_EQ(text.rfind("core 2 (chip 1 at column 1 of row 0, core 0): iss: "
                         "fault watchdog",
                         0),
              0u)
        << text;
    EXPECT_NE(text.find("\n  core 1 (chip 0 at column 0 of row 0, core 1): "
                        "flag 23, descriptor 0"),
              std::string::npos)
        << text;
  }
  // What one has posted and nobody has taken is gone, and nothing is frozen.
  for (const absl::Status& end : RunAll({halt_, halt_, halt_, halt_}))
    EXPECT_TRUE(end.ok()) << end;
}

TEST_F(HangTest, FlagsOfAFailedRunAreGone) {
  const auto first = RunAll({Waits(5), Posts(0, kFlag)});
  EXPECT_FALSE(first[0].ok());
  EXPECT_TRUE(first[1].ok());
  const auto second = RunAll({Waits(kFlag), halt_});
  EXPECT_FALSE(second[0].ok());
  EXPECT_TRUE(second[1].ok());
  const auto third = RunAll({Waits(kFlag), Posts(0, kFlag)});
  EXPECT_TRUE(third[0].ok()) << third[0];
  EXPECT_TRUE(third[1].ok());
}

TEST_F(HangTest, CoresThatWaitForEachOtherAreListed) {
  const auto ends = RunAll({Waits(kFlag), Waits(kFlag + 1)});
  for (const absl::Status& end : ends) {
    const std::string text(end.message());
    EXPECT_NE(text.find("cores that wait:\n  core 0"), std::string::npos);
    EXPECT_NE(text.find(": flag 24, descriptor 0"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace systole::runtime
