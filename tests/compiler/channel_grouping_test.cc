// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise layers whose column tiles hold several outputs of few channels.
#include "host/compiler/passes/channel_grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/passes/tiling.h"
#include "tests/compiler/plan_text.h"

namespace systole::compiler {
namespace {

using testing::HasSubstr;

// A depthwise layer and the 1x1 convolution that reads it; `joined`, `reader`:
// of their lines.
std::string Separable(const char* width, const char* group, const char* joined,
                      const char* reader = "") {
  return absl::StrCat("plan @m on edge, batch=1, ub=524288 {\n  %x = 28x",
                      width, "x192, input\n  %a = 28x", width, "x192", group,
                      "\n  %y = 28x", width,
                      "x32, output\n"
                      "  dw: %a = depthwise(%x), kernel=[3, 3], padding=[1, 1],"
                      " multiplier=1",
                      joined, "\n  pw: %y = conv2d(%a)", reader, "\n}\n");
}

TEST(ChannelGrouping, SeveralOutputsOfFewChannels) {
  EXPECT_EQ(After<ChannelGrouping>(Separable("28", "", "")),
            Separable("28", ", group=8", ", columns=4"));
  // Two of 14 are what a line divides by.
  EXPECT_EQ(After<ChannelGrouping>(Separable("14", "", "")),
            Separable("14", ", group=16", ", columns=2"));
}

TEST(ChannelGrouping, LeavesAlone) {
  for (const std::string& text :
       {Separable("27", "", ""),          // 27 is odd
        Separable("28", ", output", ""),  // channels in their order are wanted
        absl::StrReplaceAll(
            Separable("28", "", ""),
            {{"conv2d(%a)", "conv2d(%a), kernel=[3, 3], padding=[1, 1]"}}),
        absl::StrReplaceAll(Separable("28", "", ""),
                            {{"  %y = ", "  %z = 28x28x32, output\n  %y = "},
                             {"\n}\n", "\n  more: %z = conv2d(%a)\n}\n"}})})
    EXPECT_EQ(After<ChannelGrouping>(text), text);
}

TEST(ChannelGrouping, IsVerified) {
  const auto error = [](const std::string& text) {
    return std::string(Verify(Parsed(text)).message());
  };
  const std::string tiled =
      After<Tiling>(Separable("28", ", group=8", ", columns=4"));
  EXPECT_EQ(error(tiled), "");
  EXPECT_THAT(error(absl::StrReplaceAll(
                  tiled, {{"conv2d(%a)", "conv2d(%a), columns=2"}})),
              HasSubstr("layer pw: "));
  EXPECT_THAT(error(absl::StrReplaceAll(tiled, {{"group=8", "group=4"}})),
              HasSubstr("layer dw: cannot write groups of 4 channels"));
}

}  // namespace
}  // namespace systole::compiler
