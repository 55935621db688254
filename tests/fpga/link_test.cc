// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Both sides of the host link: the RTL between buses with random latencies and
// the host's library, over lines that lose, flip and double bytes.
#include "host/serial/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/fpga/link_bench.h"
#include "tests/testing/seeds.h"

namespace systole::serial {
namespace {

using ::testing::HasSubstr;

TEST(Frames, RoundTripOfAnyContent) {
  std::mt19937_64 random(1);
  FrameReader reader;
  for (size_t size = 1; size < 300; ++size) {
    const std::vector<uint8_t> content = Random(size, random);
    std::vector<uint8_t> wire;
    AppendFrame(content, &wire);
    int frames = 0;
    for (uint8_t byte : wire) frames += reader.Add(byte);
    ASSERT_EQ(frames, 1);
    ASSERT_EQ(reader.content(), content);
  }
  EXPECT_EQ(reader.bad_frames(), 0u);
}

TEST(Frames, AnyFlippedBitIsSeen) {
  std::mt19937_64 random(2);
  const std::vector<uint8_t> content = Random(40, random);
  std::vector<uint8_t> wire;
  AppendFrame(content, &wire);
  for (size_t bit = 8; bit < 8 * (wire.size() - 1); ++bit) {
    std::vector<uint8_t> bad = wire;
    bad[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    FrameReader reader;
    for (uint8_t byte : bad) EXPECT_FALSE(reader.Add(byte)) << bit;
  }
}

TEST(Link, HelloSaysWhatTheBoardIs) {
  Session s;
  auto info = s.link->Hello();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version, kVersion);
  EXPECT_EQ(info->max_data, kMaxData);
  EXPECT_EQ(info->clock_mhz, 60);
}

TEST(Link, RegistersAndMemory) {
  Session s;
  ASSERT_TRUE(s.link->Hello().ok());
  s.board.registers[0x10] = 0x12345678;
  auto value = s.link->ReadRegister(0x10);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, 0x12345678u);
  ASSERT_TRUE(s.link->WriteRegister(0xffc, 0xa57e7d01).ok());
  EXPECT_EQ(s.board.registers[0xffc], 0xa57e7d01u);

  std::mt19937_64 random(3);
  for (const auto& [address, size] :
       std::vector<std::pair<uint64_t, size_t>>{{0, 1},
                                                {15, 1},
                                                {15, 2},
                                                {16, 16},
                                                {3, 13},
                                                {3, 14},
                                                {7, 5000},
                                                {kMemoryBytes - 1, 1},
                                                {1000, kMaxData},
                                                {1001, kMaxData + 1}}) {
    const std::vector<uint8_t> before = s.board.memory();
    const std::vector<uint8_t> bytes = Random(size, random);
    ASSERT_TRUE(s.link->WriteMemory(address, bytes).ok()) << address;
    std::vector<uint8_t> wanted = before;
    std::copy(bytes.begin(), bytes.end(), wanted.begin() + address);
    ASSERT_EQ(s.board.memory(), wanted) << address << " " << size;
    std::vector<uint8_t> got(size);
    ASSERT_TRUE(s.link->ReadMemory(address, absl::MakeSpan(got)).ok());
    ASSERT_EQ(got, bytes) << address << " " << size;
  }
  EXPECT_EQ(s.link->stats().repeated, 0u);
}

TEST(Link, ErrorsOfTheBusAreReported) {
  Session s;
  ASSERT_TRUE(s.link->Hello().ok());
  std::vector<uint8_t> bytes(40);
  absl::Status status =
      s.link->ReadMemory(kMemoryBytes - 20, absl::MakeSpan(bytes));
  EXPECT_THAT(std::string(status.message()), HasSubstr("refused an access"));
  status = s.link->WriteMemory(kMemoryBytes, bytes);
  EXPECT_THAT(std::string(status.message()), HasSubstr("refused an access"));
  // Until the next session: a write that failed is not forgotten.
  EXPECT_FALSE(s.link->ReadRegister(0).ok());
  ASSERT_TRUE(s.link->Hello().ok());
  EXPECT_TRUE(s.link->ReadRegister(0).ok());
}

TEST(Link, UnknownRequestsAreRefusedAndTheNextOnesServed) {
  Session s;
  ASSERT_TRUE(s.link->Hello().ok());
  FrameReader reader;
  const auto ask = [&](const std::vector<uint8_t>& request) {
    return Ask(s.board, request);
  };
  const std::vector<uint8_t> hello = ask(MakeRequest(Op::kHello, 7, 0, 0, {}));
  ASSERT_EQ(hello.size(), 12u);
  const std::vector<uint8_t> four = {1, 2, 3, 4}, three = {1, 2, 3};
  // Operation, data: an unknown one, a write without data, one with too few
  // bytes, a read with data.
  uint8_t number = 8;
  for (const auto& request :
       {MakeRequest(static_cast<Op>(9), number, 0, 0, {}),
        MakeRequest(Op::kWriteMemory, static_cast<uint8_t>(number + 1), 0, 0,
                    {}),
        MakeRequest(Op::kWriteRegister, static_cast<uint8_t>(number + 2), 0, 0,
                    three),
        MakeRequest(Op::kReadRegister, static_cast<uint8_t>(number + 3), 0, 0,
                    four)}) {
    const std::vector<uint8_t> answer = ask(request);
    ASSERT_EQ(answer.size(), 3u);
    EXPECT_EQ(answer[1], request[1]);
    EXPECT_EQ(answer[2], static_cast<uint8_t>(Answer::kRequest));
  }
  EXPECT_TRUE(s.board.register_writes.empty());
  // Ahead of what is missing: refused, with the number that is wanted.
  std::vector<uint8_t> answer =
      ask(MakeRequest(Op::kWriteRegister, 14, 4, 0, four));
  EXPECT_EQ(answer[1], 12);
  EXPECT_EQ(answer[2], static_cast<uint8_t>(Answer::kOrder));
  // In its turn executed, and again only answered.
  for (int i = 0; i < 3; ++i) {
    answer = ask(MakeRequest(Op::kWriteRegister, 12, 4, 0, four));
    EXPECT_EQ(answer[2], static_cast<uint8_t>(Answer::kOk));
  }
  EXPECT_EQ(s.board.register_writes.size(), 1u);
  // A garbled frame is told of at once.
  for (uint8_t b : {0x7e, 1, 2, 3, 0x7e}) s.board.to_board.push_back(b);
  for (int i = 0; i < 300; ++i) s.board.Cycle();
  int frames = 0;
  for (uint8_t b : s.board.from_board) frames += reader.Add(b);
  ASSERT_EQ(frames, 1);
  EXPECT_EQ(reader.content()[0], 0x80);
  EXPECT_EQ(reader.content()[1], 13);
  EXPECT_EQ(s.board.bad_frames, 1);
}

TEST(Link, SurvivesFaultsOnTheLine) {
  uint64_t injected = 0, repeated = 0;
  for (const uint64_t seed : systole::testing_options::Seeds(24)) {
    const int rate = 8 << seed % 4;  // up to 1 in 1024 bytes
    Faults faults;
    (seed % 3 == 0   ? faults.lost
     : seed % 3 == 1 ? faults.flipped
                     : faults.doubled) = rate;
    if (seed % 8 == 0) faults = {rate / 3, rate / 3, rate / 3};
    Session s(faults, seed);
    auto info = s.link->Hello();
    ASSERT_TRUE(info.ok()) << seed << ": " << info.status();
    std::mt19937_64 random(seed);
    std::vector<uint8_t> memory = s.board.memory();
    for (int i = 0; i < 40; ++i) {
      const size_t size = 1 + random() % 3000;
      const uint64_t address = random() % (kMemoryBytes - size);
      if (random() % 3 == 0) {
        const std::vector<uint8_t> bytes = Random(size, random);
        ASSERT_TRUE(s.link->WriteMemory(address, bytes).ok()) << seed;
        std::copy(bytes.begin(), bytes.end(), memory.begin() + address);
      } else if (random() % 2 == 0) {
        std::vector<uint8_t> got(size);
        const absl::Status status =
            s.link->ReadMemory(address, absl::MakeSpan(got));
        ASSERT_TRUE(status.ok()) << seed << ": " << status;
        ASSERT_TRUE(
            std::equal(got.begin(), got.end(), memory.begin() + address))
            << seed;
      } else {
        const uint32_t value = static_cast<uint32_t>(random());
        s.board.register_writes.clear();
        ASSERT_TRUE(s.link->WriteRegister(4, value).ok());
        ASSERT_EQ(s.board.register_writes.size(), 1u) << "not exactly once";
        ASSERT_EQ(s.board.register_writes[0].second, value);
      }
    }
    ASSERT_EQ(s.board.memory(), memory) << seed;
    injected += s.line->injected;
    repeated += s.link->stats().repeated;
  }
  EXPECT_GT(injected, 200u);
  EXPECT_GT(repeated, 100u);
}

TEST(Link, NoiseBetweenFramesDoesNoHarm) {
  Session s;
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i)
    s.board.to_board.push_back(static_cast<uint8_t>(random()));
  for (int i = 0; i < 60000; ++i) s.board.Cycle();
  auto info = s.link->Hello();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_TRUE(s.link->WriteRegister(0, 1).ok());
}

TEST(Link, ADeadBoardIsAnError) {
  Session s({65536, 0, 0});
  const auto info = s.link->Hello();
  EXPECT_TRUE(absl::IsUnavailable(info.status()));
  EXPECT_THAT(std::string(info.status().message()),
              HasSubstr("does not answer"));
}

// Wherever the sequence numbers of the session, which begins anywhere, stand
// to those of a board after its reset.
TEST(Link, AResetOfTheBoardIsAnError) {
  for (int before = 1; before < 256; before += 30) {
    Session s;
    ASSERT_TRUE(s.link->Hello().ok());
    for (int i = 0; i < before; ++i)
      ASSERT_TRUE(s.link->WriteRegister(0, 1).ok());
    s.board.Reset();
    s.board.register_writes.clear();
    const absl::Status status = s.link->WriteRegister(0, 2);
    EXPECT_TRUE(absl::IsAborted(status)) << before << ": " << status;
    EXPECT_TRUE(s.board.register_writes.empty());
    uint8_t byte = 0;
    EXPECT_TRUE(
        absl::IsAborted(s.link->ReadMemory(0, absl::MakeSpan(&byte, 1))));
    ASSERT_TRUE(s.link->Hello().ok());
    EXPECT_TRUE(s.link->WriteRegister(0, 3).ok());
    EXPECT_EQ(s.board.register_writes.size(), 1u);
  }
}

uint8_t AnswerOf(const std::vector<uint8_t>& response) {
  return response.back();
}

TEST(Link, NothingIsExecutedBeforeAHello) {
  Board board(3);
  const std::vector<uint8_t> four = {1, 2, 3, 4};
  for (int number = 0; number < 256; number += 17) {
    const auto answer =
        Ask(board, MakeRequest(Op::kWriteRegister, static_cast<uint8_t>(number),
                               4, 0, four));
    EXPECT_EQ(AnswerOf(answer), static_cast<uint8_t>(Answer::kSession));
    EXPECT_EQ(answer[1], 0);  // what it expects
  }
  EXPECT_TRUE(board.register_writes.empty());
  // A hello has no data.
  EXPECT_EQ(AnswerOf(Ask(board, MakeRequest(Op::kHello, 5, 0, 0, four))),
            static_cast<uint8_t>(Answer::kRequest));
  EXPECT_EQ(board.good_frames, 17);
  EXPECT_EQ(board.bad_frames, 0);
}

// The first frame after a reset needs no flag before it.
TEST(Link, TheFirstFrameBeginsAtTheReset) {
  for (int seed = 1; seed < 20; ++seed) {
    Board board(seed);
    std::vector<uint8_t> wire;
    AppendFrame(MakeRequest(Op::kHello, 7, 0, 0, {}), &wire);
    board.to_board.assign(wire.begin() + 1, wire.end());
    for (int i = 0; i < 1000; ++i) board.Cycle();
    EXPECT_EQ(board.good_frames, 1);
    EXPECT_EQ(board.bad_frames, 0);
    FrameReader reader;
    int frames = 0;
    for (uint8_t b : board.from_board) frames += reader.Add(b);
    ASSERT_EQ(frames, 1);
    EXPECT_EQ(reader.content().size(), 12u);
    EXPECT_EQ(AnswerOf(reader.content()), static_cast<uint8_t>(Answer::kOk));
  }
}

// A frame that is dropped leaves the memory and the state of the line as they
// were: the next one is served.
TEST(Link, DroppedFramesLeaveNothingBehind) {
  std::mt19937_64 random(4);
  std::vector<uint8_t> wrong, right;
  AppendFrame(Random(30, random), &wrong);
  wrong[5] ^= 1;
  // Longer than the memory of the frames, and as such good.
  std::vector<uint8_t> huge;
  AppendFrame(Random(5000, random), &huge);
  std::vector<uint8_t> full;
  AppendFrame(Random(2048 - 4, random), &full);
  const std::vector<std::vector<uint8_t>> dropped = {
      wrong,
      {kFlag, kEscape, kFlag},
      {kFlag, 1, 2, 3, kEscape, kFlag},
      {kFlag, 1, kFlag},
      huge,
      full};
  for (size_t i = 0; i < dropped.size(); ++i) {
    for (const int before : {0, 1}) {
      SCOPED_TRACE(::testing::Message()
                   << "frame " << i << " after " << before);
      Board board(10 * i + before);
      if (before != 0) {
        Ask(board, MakeRequest(Op::kHello, 7, 0, 0, {}));
      }
      board.to_board.assign(dropped[i].begin(), dropped[i].end());
      for (size_t c = 0; c < 8 * dropped[i].size() + 500; ++c) board.Cycle();
      EXPECT_EQ(board.bad_frames, 1);
      EXPECT_EQ(board.good_frames, before);
      FrameReader reader;
      int frames = 0;
      for (uint8_t b : board.from_board) frames += reader.Add(b);
      board.from_board.clear();
      ASSERT_EQ(frames, 1);  // at once, without a request
      EXPECT_EQ(reader.content()[0], kResponseBit);
      EXPECT_EQ(AnswerOf(reader.content()),
                static_cast<uint8_t>(Answer::kOrder));
      const auto answer = Ask(board, MakeRequest(Op::kHello, 9, 0, 0, {}));
      ASSERT_EQ(answer.size(), 12u);
      EXPECT_EQ(answer[1], 9);
      EXPECT_EQ(board.good_frames, before + 1);
    }
  }
}

// Whatever a reset cuts off, nothing of it is seen behind it: a board without a
// session, that takes one, and then works. Bytes go on in the reset.
TEST(Link, ResetsInTheMiddleOfTraffic) {
  std::mt19937_64 random(6);
  const std::vector<uint8_t> data = Random(37, random), four = {1, 2, 3, 4};
  std::vector<uint8_t> wire;
  uint8_t number = 0;
  for (const auto& request :
       {MakeRequest(Op::kHello, 0, 0, 0, {}),
        MakeRequest(Op::kWriteMemory, 1, 9, 0, data),
        MakeRequest(Op::kReadMemory, 2, 9, data.size(), {}),
        MakeRequest(Op::kWriteRegister, 3, 8, 0, four),
        MakeRequest(Op::kReadRegister, 4, 8, 0, {}),
        MakeRequest(Op::kWriteMemory, 5, kMemoryBytes, 0, data)}) {
    AppendFrame(request, &wire);
  }
  wire.insert(wire.end(), {1, 2, 3, kFlag, 1, 2, kEscape, kFlag});
  for (int cycles = 1; cycles < 8 * static_cast<int>(wire.size()) &&
                       !::testing::Test::HasFailure();
       ++cycles) {
    SCOPED_TRACE(::testing::Message() << "a reset after " << cycles);
    Board board(cycles);
    board.to_board.assign(wire.begin(), wire.end());
    for (int i = 0; i < cycles; ++i) board.Cycle();
    board.Reset();
    board.to_board.clear();
    board.from_board.clear();
    board.register_writes.clear();
    board.good_frames = board.bad_frames = 0;
    auto answer =
        Ask(board, MakeRequest(Op::kWriteRegister, number++, 4, 0, four));
    EXPECT_EQ(AnswerOf(answer), static_cast<uint8_t>(Answer::kSession));
    EXPECT_EQ(answer[1], 0);
    answer = Ask(board, MakeRequest(Op::kHello, number, 0, 0, {}));
    EXPECT_EQ(answer.size(), 12u);
    EXPECT_EQ(AnswerOf(answer), static_cast<uint8_t>(Answer::kOk));
    EXPECT_TRUE(board.register_writes.empty());
    answer =
        Ask(board, MakeRequest(Op::kWriteMemory,
                               static_cast<uint8_t>(number + 1), 35, 0, data));
    EXPECT_EQ(AnswerOf(answer), static_cast<uint8_t>(Answer::kOk));
    EXPECT_TRUE(
        std::equal(data.begin(), data.end(), board.memory().begin() + 35));
    board.registers[12] = 0x04030201;
    answer =
        Ask(board, MakeRequest(Op::kReadRegister,
                               static_cast<uint8_t>(number + 2), 12, 0, {}));
    ASSERT_EQ(answer.size(), 7u);
    EXPECT_TRUE(std::equal(four.begin(), four.end(), answer.begin() + 2));
    EXPECT_EQ(board.good_frames, 4);
    EXPECT_EQ(board.bad_frames, 0);
  }
}

}  // namespace
}  // namespace systole::serial
