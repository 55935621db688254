// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/declaration.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::kernels {

absl::StatusOr<Declaration> Declaration::Parse(
    const std::vector<vpu::Code::Note>& notes,
    const std::map<std::string, int64_t>& constants,
    const std::map<std::string, int>& arguments) {
  Declaration made;
  bool cycles = false;
  vpu::Names names;
  names.constants = constants;
  names.arguments = arguments;
  names.whole = true;
  for (const vpu::Code::Note& note : notes) {
    const absl::string_view text = note.text;
    const auto bad = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(
          note.line, ": ", note.directive, " ", note.text, ": ", what));
    };
    if (note.directive == ".cycles") {
      absl::StatusOr<vpu::Expression> e = vpu::Expression::Parse(text, names);
      if (!e.ok()) return bad(e.status().message());
      if (cycles) return bad("declared twice");
      cycles = true;
      made.cycles_ = *std::move(e);
      continue;
    }
    Part part;
    part.text = absl::StrCat(note.directive, " ", note.text);
    part.write = note.directive == ".writes";
    const size_t open = text.find('[');
    part.accumulators = text.substr(0, open) == "acc";
    if ((!part.accumulators && text.substr(0, open) != "ub") ||
        open == text.npos || text.back() != ']')
      return bad("ub[...] or acc[...] wanted");
    const std::vector<absl::string_view> pieces = vpu::SplitOutsideParentheses(
        text.substr(open + 1, text.size() - open - 2), ",");
    if (pieces.size() < 2 || pieces.size() > 5)
      return bad("first place, length, and up to three count x stride wanted");
    for (size_t i = 0; i < pieces.size(); ++i) {
      // Behind the first two: count x stride.
      std::vector<absl::string_view> two = {pieces[i]};
      if (i >= 2) two = vpu::SplitOutsideParentheses(pieces[i], " x ");
      if (two.size() != (i >= 2 ? 2 : 1)) return bad("count x stride wanted");
      for (const absl::string_view one : two) {
        absl::StatusOr<vpu::Expression> e = vpu::Expression::Parse(one, names);
        if (!e.ok()) return bad(e.status().message());
        part.numbers.push_back(*std::move(e));
      }
    }
    made.parts_.push_back(std::move(part));
  }
  if (!cycles) {
    return absl::InvalidArgumentError(
        absl::StrCat(notes.empty() ? 0 : notes.back().line, ": no .cycles"));
  }
  return made;
}

absl::StatusOr<std::vector<Effect>> Declaration::Effects(
    absl::Span<const int64_t> arguments) const {
  std::vector<Effect> effects;
  for (const Part& part : parts_) {
    std::vector<int64_t> numbers;
    for (const vpu::Expression& number : part.numbers) {
      const absl::StatusOr<int64_t> value = number.Of(arguments);
      if (!value.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(part.text, ": ", value.status().message()));
      }
      numbers.push_back(*value);
    }
    Effect e;
    e.write = part.write;
    e.accumulators = part.accumulators;
    e.base = numbers[0];
    e.len = numbers[1];
    bool some = e.len > 0;
    for (size_t i = 2; i + 1 < numbers.size(); i += 2) {
      e.count[i / 2 - 1] = numbers[i];
      e.stride[i / 2 - 1] = numbers[i + 1];
      some = some && numbers[i] > 0;
    }
    if (some) effects.push_back(e);
  }
  return effects;
}

absl::StatusOr<int64_t> Declaration::Cycles(
    absl::Span<const int64_t> arguments) const {
  absl::StatusOr<int64_t> cycles = cycles_.Of(arguments);
  if (cycles.ok()) return cycles;
  return absl::InvalidArgumentError(
      absl::StrCat(".cycles: ", cycles.status().message()));
}

}  // namespace systole::kernels
