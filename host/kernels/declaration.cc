// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/declaration.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace systole::kernels {

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text,
                   const std::map<std::string, int64_t>& constants,
                   const std::map<std::string, int>& arguments)
      : text_(text), constants_(constants), arguments_(arguments) {}

  absl::StatusOr<Expression> Run() {
    Sum();
    Skip();
    if (error_.empty() && at_ < text_.size()) Fail("an operator");
    if (error_.empty()) return std::move(made_);
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text_), "': ", error_));
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(Next()) != 0) ++at_;
  }
  unsigned char Next() const { return static_cast<unsigned char>(text_[at_]); }
  // The next of these characters, 0 if another one comes.
  char Take(std::string_view any) {
    Skip();
    if (at_ == text_.size() || any.find(text_[at_]) == any.npos) return 0;
    return text_[at_++];
  }
  void Fail(const std::string& wanted) {
    if (error_.empty())
      error_ = absl::StrCat(wanted, " wanted at character ", at_ + 1);
  }
  void Expect(const char* one) {
    if (Take(one) == 0) Fail(one);
  }
  void Push(char op, int64_t value = 0) { made_.steps_.push_back({op, value}); }

  void Sum() {
    Product();
    while (const char op = Take("+-")) {
      Product();
      Push(op);
    }
  }

  void Product() {
    Operand();
    while (const char op = Take("*/%")) {
      Operand();
      Push(op);
    }
  }

  void Operand() {
    if (Take("(") != 0) {
      Sum();
      return Expect(")");
    }
    Skip();
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(Next()) != 0 || Next() == '_'))
      ++at_;
    const std::string word(text_.substr(from, at_ - from));
    if (word.empty()) return Fail("a number or a name");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      char* end = nullptr;
      Push('n', std::strtoll(word.c_str(), &end, 10));
      if (*end != 0) Fail("a number");
    } else if (word == "min" || word == "max") {
      Expect("(");
      Sum();
      Expect(",");
      Sum();
      Expect(")");
      Push(word == "min" ? 'm' : 'M');
    } else if (const auto a = arguments_.find(word); a != arguments_.end()) {
      Push('a', a->second);
    } else if (const auto c = constants_.find(word); c != constants_.end()) {
      Push('n', c->second);
    } else {
      error_ = absl::StrCat("no argument or constant ", word);
    }
  }

  const std::string_view text_;
  const std::map<std::string, int64_t>& constants_;
  const std::map<std::string, int>& arguments_;
  size_t at_ = 0;
  std::string error_;
  Expression made_;
};

absl::StatusOr<Expression> Expression::Parse(
    std::string_view text, const std::map<std::string, int64_t>& constants,
    const std::map<std::string, int>& arguments) {
  return ExpressionParser(text, constants, arguments).Run();
}

int64_t Expression::Of(const std::vector<int64_t>& arguments) const {
  std::vector<int64_t> stack;
  for (const Step& step : steps_) {
    if (step.op == 'n') {
      stack.push_back(step.value);
      continue;
    }
    if (step.op == 'a') {
      stack.push_back(arguments[step.value]);
      continue;
    }
    const int64_t b = stack.back();
    stack.pop_back();
    int64_t& a = stack.back();
    switch (step.op) {
      case '+':
        a += b;
        break;
      case '-':
        a -= b;
        break;
      case '*':
        a *= b;
        break;
      case '/':
        a = b == 0 ? 0 : a / b;
        break;
      case '%':
        a = b == 0 ? 0 : a % b;
        break;
      case 'm':
        a = std::min(a, b);
        break;
      default:
        a = std::max(a, b);
        break;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

namespace {

// Cut where `separator` is outside all parentheses.
std::vector<std::string_view> Pieces(std::string_view text,
                                     std::string_view separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth > 0 || text.substr(i, separator.size()) != separator) continue;
    pieces.push_back(text.substr(from, i - from));
    from = i + separator.size();
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

}  // namespace

absl::StatusOr<Declaration> Declaration::Parse(
    const std::vector<vpu::Code::Note>& notes,
    const std::map<std::string, int64_t>& constants,
    const std::map<std::string, int>& arguments) {
  Declaration made;
  bool cycles = false;
  const auto expression = [&](std::string_view text) {
    return Expression::Parse(text, constants, arguments);
  };
  for (const vpu::Code::Note& note : notes) {
    const std::string_view text = note.text;
    const auto bad = [&](const std::string& what) {
      return absl::InvalidArgumentError(
          absl::StrCat(note.directive, " ", note.text, ": ", what));
    };
    if (note.directive == ".cycles") {
      absl::StatusOr<Expression> e = expression(text);
      if (!e.ok()) return bad(std::string(e.status().message()));
      if (cycles) return bad("declared twice");
      cycles = true;
      made.cycles_ = *std::move(e);
      continue;
    }
    Part part;
    part.write = note.directive == ".writes";
    const size_t open = text.find('[');
    part.accumulators = text.substr(0, open) == "acc";
    if ((!part.accumulators && text.substr(0, open) != "ub") ||
        open == text.npos || text.back() != ']')
      return bad("ub[...] or acc[...] wanted");
    const std::vector<std::string_view> pieces =
        Pieces(text.substr(open + 1, text.size() - open - 2), ",");
    if (pieces.size() < 2 || pieces.size() > 5)
      return bad("first place, length, and up to three count x stride wanted");
    for (size_t i = 0; i < pieces.size(); ++i) {
      // Behind the first two: count x stride.
      std::vector<std::string_view> two = {pieces[i]};
      if (i >= 2) two = Pieces(pieces[i], " x ");
      if (two.size() != (i >= 2 ? 2 : 1)) return bad("count x stride wanted");
      for (const std::string_view one : two) {
        absl::StatusOr<Expression> e = expression(one);
        if (!e.ok()) return bad(std::string(e.status().message()));
        part.numbers.push_back(*std::move(e));
      }
    }
    made.parts_.push_back(std::move(part));
  }
  if (!cycles) return absl::InvalidArgumentError("no .cycles");
  return made;
}

std::vector<Effect> Declaration::Effects(
    const std::vector<int64_t>& arguments) const {
  std::vector<Effect> effects;
  for (const Part& part : parts_) {
    Effect e;
    e.write = part.write;
    e.accumulators = part.accumulators;
    e.base = part.numbers[0].Of(arguments);
    e.len = part.numbers[1].Of(arguments);
    bool some = e.len > 0;
    for (size_t i = 2; i + 1 < part.numbers.size(); i += 2) {
      e.count[i / 2 - 1] = part.numbers[i].Of(arguments);
      e.stride[i / 2 - 1] = part.numbers[i + 1].Of(arguments);
      some = some && e.count[i / 2 - 1] > 0;
    }
    if (some) effects.push_back(e);
  }
  return effects;
}

}  // namespace systole::kernels
