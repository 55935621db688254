// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Additions and tables that the requantise of the layer before does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/passes/epilogue_joining.h"
#include "host/compiler/passes/tiling.h"
#include "tests/compiler/plan_text.h"

namespace systole::compiler {
namespace {

using testing::HasSubstr;
using testing::Not;

// A sum and a table behind layers with weights; `more` behind them.
std::string Epilogues(const char* sum, const char* table) {
  return absl::StrCat(
      "plan @m on nano, batch=1, ub=65536 {\n"
      "  %x = 8x8x8, input\n  %p = 8x8x8\n  %a = 8x8x8\n  %b = 8x8x8\n  %s = "
      "8x8x8\n"
      "  %c = 8x8x8\n  %y = 8x8x8, output\n"
      "  conv0: %p = conv2d(%x)\n  conv1: %a = conv2d(%x)\n  conv2: %b = "
      "conv2d(%a)\n"
      "  sum: %s = add(%b, %p)",
      sum, "\n  conv3: %c = conv2d(%s)\n  swish: %y = table(%c)", table,
      "\n}\n");
}

TEST(EpilogueJoining, MarksWhatTheRequantiseCanDo) {
  EXPECT_EQ(After<EpilogueJoining>(Epilogues(", wide=1", "")),
            Epilogues(", wide=1, joined", ", joined"));
}

TEST(EpilogueJoining, LeavesAlone) {
  // Neither factor is a half.
  EXPECT_EQ(After<EpilogueJoining>(Epilogues("", "")),
            Epilogues("", ", joined"));
  // A core without the unit for it.
  const std::string board = absl::StrReplaceAll(Epilogues(", wide=0", ""),
                                                {{"on nano", "on board8"}});
  EXPECT_THAT(After<EpilogueJoining>(board), Not(HasSubstr("wide=0, joined")));
  // The result of conv3 is wanted: by a caller, by another layer.
  const std::string text = Epilogues(", wide=0", "");
  EXPECT_THAT(After<EpilogueJoining>(absl::StrReplaceAll(
                  text, {{"%c = 8x8x8", "%c = 8x8x8, output"}})),
              Not(HasSubstr("table(%c), joined")));
  EXPECT_THAT(After<EpilogueJoining>(
                  absl::StrReplaceAll(text, {{"add(%b, %p)", "add(%b, %b)"}})),
              Not(HasSubstr("wide=0, joined")));
  EXPECT_EQ(After<EpilogueJoining>(absl::StrReplaceAll(
                text, {{"ub=65536", "ub=65536, keep_intermediates"}})),
            absl::StrReplaceAll(
                text, {{"ub=65536", "ub=65536, keep_intermediates"}}));
}

TEST(EpilogueJoining, TheResultIsWrittenByTheLayerBefore) {
  const std::string tiled =
      After<Tiling>(Epilogues(", wide=1, joined", ", joined"));
  // Nothing of the tensors between lies anywhere.
  EXPECT_THAT(tiled, Not(HasSubstr("\"b\"")));
  EXPECT_THAT(tiled, Not(HasSubstr("\"c\"")));
  EXPECT_THAT(tiled, HasSubstr("\"s\""));
  EXPECT_THAT(tiled, HasSubstr("\"swish (parameters)\""));
  // The sum may take the place of the operand that it reads for the last time.
  EXPECT_THAT(tiled, HasSubstr("over=[&"));
  EXPECT_THAT(
      std::string(Verify(Parsed(absl::StrReplaceAll(tiled, {{"wide=1, ", ""}})))
                      .message()),
      HasSubstr("layer sum: is no epilogue of the layer before"));
  // Without its turn the sum is a layer of its own.
  const std::string apart = After<Tiling>(Epilogues(", wide=1", ""));
  EXPECT_THAT(apart, HasSubstr("\"b\""));
}

// A second operand that went through HBM comes block by block.
TEST(EpilogueJoining, LoadsTheOperand) {
  const std::string text =
      absl::StrReplaceAll(Epilogues(", wide=1, joined", ""),
                          {{"ub=65536", "ub=65536, nothing_resident"}});
  EXPECT_THAT(After<Tiling>(text), HasSubstr("\"p (input slots)\""));
}

}  // namespace
}  // namespace systole::compiler
