// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The process that suggests shardings: one that answers, one that ends, one
// whose answers are none, and none at all. In its place, scripts of a shell.
#include "host/pjrt/propagation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace systole::pjrt {
namespace {

using testing::HasSubstr;

// A command whose process reads messages of 4 bytes (12 with their length) and
// then does what the script says.
std::string Command(const std::string& name, const std::string& script) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name, ".sh");
  std::ofstream(path) << script;
  return absl::StrCat("/bin/sh\n", path, "\n/folder/a:/folder/b");
}

constexpr char kAnswers[] = R"sh(while [ "$(head -c 12 | tail -c 4)" = "abcd" ]
do printf '\003\000\000\000\000\000\000\000\000xyz'
done
)sh";

TEST(PropagationTest, AnswersEachArtifact) {
  Propagation propagation(Command("answers", kAnswers));
  for (int i = 0; i < 3; ++i) {
    const auto answer = propagation.Propagate("abcd");
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(*answer, "xyz");
  }
}

TEST(PropagationTest, AnswersSeveralThreads) {
  Propagation propagation(Command("threads", kAnswers));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(propagation.Propagate("abcd").value_or(""), "xyz");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PropagationTest, HasTheFoldersOfItsPackages) {
  Propagation propagation(Command("folders", R"sh(head -c 12 > /dev/null
text="$PYTHONPATH $JAX_PLATFORMS"
printf "\\0$(printf %o ${#text})\000\000\000\000\000\000\000\000$text"
)sh"));
  const auto answer = propagation.Propagate("abcd");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "/folder/a:/folder/b cpu");
}

TEST(PropagationTest, TellsWhatItSays) {
  Propagation propagation(Command("says", R"sh(head -c 12 > /dev/null
printf '\006\000\000\000\000\000\000\000\001broken'
)sh"));
  const auto answer = propagation.Propagate("abcd");
  EXPECT_EQ(answer.status(), absl::InternalError("broken"));
}

// Each call finds a new process; nothing of it ends this one.
TEST(PropagationTest, OutlivesItsProcess) {
  for (const char* script :
       {"exit 3", "kill -9 $$", "head -c 12 > /dev/null; kill -6 $$",
        "printf abc", "head -c 12; printf '\\377\\377\\377\\377\\377'",
        "printf '\\377\\377\\377\\377\\377\\377\\377\\377\\000'"}) {
    Propagation propagation(Command("ends", script));
    for (const size_t size : {size_t{4}, size_t{1} << 20, size_t{4}}) {
      const auto answer = propagation.Propagate(std::string(size, 'a'));
      // Garbage may say that it is an error.
      EXPECT_THAT(answer.status().code(),
                  testing::AnyOf(absl::StatusCode::kUnavailable,
                                 absl::StatusCode::kInternal))
          << script;
    }
  }
  // It starts anew as long as it can.
  const std::string mark = absl::StrCat(testing::TempDir(), "/ended_once");
  std::remove(mark.c_str());
  Propagation propagation(
      Command("once", absl::StrCat("if [ ! -e ", mark, " ]; then touch ", mark,
                                   "; exit; fi\n", kAnswers)));
  EXPECT_FALSE(propagation.Propagate("abcd").ok());
  EXPECT_EQ(propagation.Propagate("abcd").value_or(""), "xyz");
}

TEST(PropagationTest, SaysThatThereIsNone) {
  EXPECT_THAT(Propagation("").Propagate("abcd").status().message(),
              HasSubstr("the package systole_jax did not name it"));
  EXPECT_THAT(
      Propagation("/no/python\nx\ny").Propagate("abcd").status().message(),
      HasSubstr("/no/python: No such file or directory"));
}

// A child that was forked has a process of its own.
TEST(PropagationTest, IsNotSharedWithAFork) {
  // Answers with the number of its process.
  Propagation propagation(Command("fork", R"sh(number=$(printf %08d $$)
while [ "$(head -c 12 | tail -c 4)" = "abcd" ]
do printf "\010\000\000\000\000\000\000\000\000$number"
done
)sh"));
  const std::string number = propagation.Propagate("abcd").value_or("");
  EXPECT_EQ(number.size(), 8u);
  const pid_t child = fork();
  if (child == 0) {
    const auto own = propagation.Propagate("abcd");
    _exit(own.ok() && *own != number ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(propagation.Propagate("abcd").value_or(""), number);
}

}  // namespace
}  // namespace systole::pjrt
