// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/expected_posts.h"

#include <array>

namespace systole::compiler {

std::vector<std::vector<int>> ExpectedPosts(const std::vector<Step>& steps) {
  std::array<std::vector<int>, isa::kNumFlags> posts;
  std::array<size_t, isa::kNumFlags> waits = {};
  std::vector<std::vector<int>> expected(steps.size());
  const auto count = static_cast<int>(steps.size());
  for (int i = 0; i < count; ++i) {
    const uint32_t posted = SharedPostsOf(steps[i].descriptor);
    for (int flag = isa::kFirstLinkFlag; flag < isa::kNumFlags; ++flag)
      if (posted >> flag & 1) posts[flag].push_back(i);
  }
  for (int i = 0; i < count; ++i) {
    const uint32_t waited = SharedWaitsOf(steps[i].descriptor);
    for (int flag = isa::kFirstLinkFlag; flag < isa::kNumFlags; ++flag) {
      if ((waited >> flag & 1) == 0) continue;
      // The n-th wait is for the n-th post.
      const size_t number = waits[flag]++;
      if (number < posts[flag].size() && posts[flag][number] < i)
        expected[i].push_back(posts[flag][number]);
    }
  }
  return expected;
}

}  // namespace systole::compiler
