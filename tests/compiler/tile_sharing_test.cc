// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Layers whose only tile lies in rows that the tile before leaves free.
#include "host/compiler/passes/tile_sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/passes/tiling.h"
#include "tests/compiler/plan_text.h"

namespace systole::compiler {
namespace {

using testing::HasSubstr;

// A depthwise layer whose nine taps take four tiles and a half, and what stands
// in `behind`.
std::string Separable(const char* channels, const char* behind) {
  return After<Tiling>(
      absl::StrCat("plan @m on v1, batch=1, ub=25165824 {\n"
                   "  %x = 6x6x128, input\n"
                   "  %a = 6x6x128\n"
                   "  %y = 6x6x",
                   channels,
                   ", output\n"
                   "  spread: %a = depthwise(%x), kernel=[3, 3], "
                   "padding=[1, 1], multiplier=1\n"
                   "  mix: %y = conv2d(%a)",
                   behind, "\n}\n"));
}

TEST(TileSharing, TakesTheRowsThatAreLeft) {
  EXPECT_THAT(After<TileSharing>(Separable("128", "")),
              HasSubstr("mix: %y = conv2d(%a), tile_row=128,"));
  // All columns of the rows that are free.
  EXPECT_THAT(After<TileSharing>(Separable("256", "")),
              HasSubstr("mix: %y = conv2d(%a), tile_row=128,"));
}

TEST(TileSharing, LeavesAlone) {
  for (const std::string& text :
       {Separable("257", ""),  // two column tiles
        Separable("128", ", kernel=[3, 3], padding=[1, 1]"),
        absl::StrReplaceAll(Separable("128", ""), {{"v1", "edge"}})})
    EXPECT_EQ(After<TileSharing>(text), text);
}

TEST(TileSharing, AWrongRowIsSeen) {
  const std::string shared = After<TileSharing>(Separable("128", ""));
  for (const char* row : {"127", "129", "1"}) {
    const Plan plan = Parsed(absl::StrReplaceAll(
        shared, {{"tile_row=128", absl::StrCat("tile_row=", row)}}));
    EXPECT_THAT(std::string(Verify(plan).message()),
                HasSubstr("of the one before on, which has room from 128 on"));
  }
}

}  // namespace
}  // namespace systole::compiler
