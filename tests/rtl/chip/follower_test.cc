// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The thread beside a simulation: each turn's work is done once and seen, after
// pauses, in copies of the process, and when several have one.

#include "verif/tb/follower.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace systole::tb {
namespace {

TEST(Follower, DoesEachTurnOnce) {
  int given = 0, taken = 0, turns = 0;
  Follower follower([&] {
    taken = given;
    ++turns;
  });
  for (int i = 1; i <= 20000; ++i) {
    given = i;
    follower.Start();
    follower.Join();
    ASSERT_EQ(taken, i);
  }
  EXPECT_EQ(turns, 20000);
}

TEST(Follower, WakesAfterPauses) {
  int turns = 0;
  Follower follower([&] { ++turns; });
  for (const int milliseconds : {0, 30, 1, 100, 0, 10}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    follower.Start();
    follower.Join();
  }
  EXPECT_EQ(turns, 6);
}

TEST(Follower, GoesAwayWithoutAndAfterATurn) {
  for (int turns = 0; turns < 3; ++turns) {
    int done = 0;
    {
      Follower follower([&] { ++done; });
      for (int i = 0; i < turns; ++i) {
        follower.Start();
        follower.Join();
      }
    }
    EXPECT_EQ(done, turns);
  }
}

TEST(Follower, SeveralSideBySide) {
  std::vector<int> turns(3);
  std::vector<std::unique_ptr<Follower>> followers;
  for (int& t : turns)
    followers.push_back(std::make_unique<Follower>([&t] { ++t; }));
  for (int i = 0; i < 1000; ++i) {
    for (auto& f : followers) f->Start();
    for (auto& f : followers) f->Join();
  }
  EXPECT_EQ(turns, std::vector<int>(3, 1000));
}

TEST(Follower, IsMadeAnewInACopyOfTheProcess) {
  int turns = 0;
  Follower follower([&] { ++turns; });
  const auto three = [&] {
    for (int i = 0; i < 3; ++i) {
      follower.Start();
      follower.Join();
    }
  };
  three();
  const pid_t copy = fork();
  ASSERT_GE(copy, 0);
  if (copy == 0) {
    alarm(20);
    three();
    _exit(turns);
  }
  three();
  EXPECT_EQ(turns, 6);
  int status = 0;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6);
}

}  // namespace
}  // namespace systole::tb
