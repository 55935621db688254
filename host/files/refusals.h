// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What stands in the way of a model: in one line, and one by one.
#ifndef SYSTOLE_HOST_FILES_REFUSALS_H_
#define SYSTOLE_HOST_FILES_REFUSALS_H_

#include <string>
#include <string_view>
#include <vector>

namespace systole {

struct Refusal {
  std::string what;   // "TOPK_V2"
  std::string where;  // "operator 3 TOPK_V2(i8[4]) -> i8[2]"
  std::string why;
};

// "3 operators stand in the way: TOPK_V2 (2): why; CONV_2D: why" and a list:
// "\n  where: why" each. Of a single one "where: why". All printable.
std::string RefusalText(const std::vector<Refusal>& refusals,
                        std::string_view noun);

// `what` by what has the same reason: "TOPK_V2 (2), UNIQUE: why; CONV_2D: why".
std::string ReasonsText(const std::vector<Refusal>& refusals);

// The first line, and what shows the others, of a text with such a list. A
// short list stays if the first line needs it, as it ends in a colon.
std::string WithoutList(const std::string& text);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_REFUSALS_H_
