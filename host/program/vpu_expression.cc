// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/program/vpu_expression.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "systole/gen/vpu.h"

namespace systole::vpu {
namespace {

using absl::string_view;

// A literal: decimal, 0x hexadecimal, or fp32 (its bits) when there is a point
// or an exponent.
std::optional<int64_t> ParseLiteral(string_view s) {
  if (s.empty() || !(absl::ascii_isdigit(s[0]) || s[0] == '.'))
    return std::nullopt;
  if (absl::StartsWith(s, "0x") || absl::StartsWith(s, "0X")) {
    uint64_t v;
    if (!absl::SimpleHexAtoi(s, &v) || v > UINT32_MAX) return std::nullopt;
    return static_cast<int64_t>(v);
  }
  if (s.find_first_of(".eE") != string_view::npos) {
    float f;
    uint32_t bits;
    if (!absl::SimpleAtof(s, &f)) return std::nullopt;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
  }
  int64_t v;
  if (!absl::SimpleAtoi(s, &v) || v > UINT32_MAX) return std::nullopt;
  return v;
}

constexpr uint32_t kSignBit = uint32_t{1} << 31;

}  // namespace

// A recursive descent.
class ExpressionParser {
 public:
  ExpressionParser(string_view text, const Names& names)
      : text_(text), names_(names) {}

  absl::StatusOr<Expression> Run() {
    Sum();
    Skip();
    if (!text_.empty()) Fail(absl::StrCat("unexpected '", text_, "'"));
    if (!error_.empty()) return absl::InvalidArgumentError(error_);
    return std::move(made_);
  }

 private:
  using Op = Expression::Op;

  static constexpr int kMaxDepth = 50;

  // The first thing that is wrong stays; nothing of the text is left.
  void Fail(const std::string& what) {
    if (error_.empty()) error_ = what;
    text_ = {};
  }
  void Skip() { text_ = absl::StripLeadingAsciiWhitespace(text_); }
  bool Take(char c) {
    Skip();
    return absl::ConsumePrefix(&text_, string_view(&c, 1));
  }
  void Expect(char c) {
    if (!Take(c)) Fail(absl::StrCat("'", string_view(&c, 1), "' is missing"));
  }
  void Push(Op op, int64_t value = 0) { made_.steps_.push_back({op, value}); }

  void Sum() {
    Product();
    while (true) {
      if (Take('+')) {
        Product();
        Push(Op::kAdd);
      } else if (Take('-')) {
        Product();
        Push(Op::kSubtract);
      } else {
        return;
      }
    }
  }

  void Product() {
    Factor();
    while (true) {
      if (Take('*')) {
        Factor();
        Push(Op::kMultiply);
      } else if (Take('/')) {
        Factor();
        Push(Op::kDivide);
      } else if (Take('%')) {
        Factor();
        Push(Op::kRemainder);
      } else {
        return;
      }
    }
  }

  void Factor() {
    const bool negative = Take('-');
    if (Take('(')) {
      Nested([this] { Sum(); });
    } else {
      Skip();
      const string_view token = Token();
      if ((token == "min" || token == "max") && Take('(')) {
        Nested([this] {
          Sum();
          Expect(',');
          Sum();
        });
        Push(token == "min" ? Op::kMin : Op::kMax);
      } else if (const std::optional<int64_t> literal = ParseLiteral(token)) {
        Literal(token, *literal, negative);
        return;
      } else {
        Name(std::string(token));
      }
    }
    if (negative) Push(Op::kNegate);
  }

  template <typename Inside>
  void Nested(Inside inside) {
    if (++depth_ > kMaxDepth) return Fail("too many parentheses");
    inside();
    --depth_;
    Expect(')');
  }

  void Literal(string_view token, int64_t value, bool negative) {
    const bool is_float = !absl::StartsWithIgnoreCase(token, "0x") &&
                          token.find_first_of(".eE") != string_view::npos;
    if (is_float && names_.whole)
      return Fail(absl::StrCat("'", token, "' is not a whole number"));
    if (negative) value = is_float ? value ^ kSignBit : -value;
    Push(Op::kNumber, value);
  }

  void Name(const std::string& name) {
    if (const auto c = names_.constants.find(name);
        c != names_.constants.end()) {
      Push(Op::kNumber, c->second);
    } else if (const auto l = names_.labels.find(name);
               l != names_.labels.end()) {
      Push(Op::kNumber, l->second);
    } else if (const auto a = names_.arguments.find(name);
               a != names_.arguments.end()) {
      Push(Op::kArgument, a->second);
    } else {
      Fail(absl::StrCat("'", name, "' is not a number"));
    }
  }

  string_view Token() {
    size_t n = 0;
    const auto is_exponent_sign = [&](size_t i) {
      return (text_[i] == '-' || text_[i] == '+') && i > 0 &&
             (text_[i - 1] == 'e' || text_[i - 1] == 'E') &&
             (absl::ascii_isdigit(text_[0]) || text_[0] == '.') &&
             !absl::StartsWithIgnoreCase(text_, "0x");
    };
    while (n < text_.size() &&
           (absl::ascii_isalnum(text_[n]) || text_[n] == '_' ||
            text_[n] == '.' || is_exponent_sign(n))) {
      ++n;
    }
    if (n == 0) {
      Fail(text_.empty() ? "a number is missing"
                         : absl::StrCat("'", text_, "' is not a number"));
    }
    const string_view token = text_.substr(0, n);
    text_.remove_prefix(n);
    return token;
  }

  string_view text_;
  const Names& names_;
  int depth_ = 0;
  std::string error_;
  Expression made_;
};

absl::StatusOr<Expression> Expression::Parse(string_view text,
                                             const Names& names) {
  return ExpressionParser(text, names).Run();
}

absl::StatusOr<int64_t> Expression::Of(
    absl::Span<const int64_t> arguments) const {
  std::vector<int64_t> stack;
  for (const Step& step : steps_) {
    int64_t b = 0;
    if (step.op > Op::kNegate) {  // of two operands
      b = stack.back();
      stack.pop_back();
    }
    if (step.op == Op::kNumber) {
      stack.push_back(step.value);
    } else if (step.op == Op::kArgument) {
      if (step.value >= static_cast<int64_t>(arguments.size())) {
        return absl::InvalidArgumentError(
            absl::StrCat("argument ", step.value, " is missing"));
      }
      stack.push_back(arguments[step.value]);
    }
    int64_t& a = stack.back();
    switch (step.op) {
      case Op::kNumber:
      case Op::kArgument:
        break;
      case Op::kNegate:
        a = -a;
        break;
      case Op::kAdd:
        a += b;
        break;
      case Op::kSubtract:
        a -= b;
        break;
      case Op::kMultiply:
        a *= b;
        break;
      case Op::kDivide:
      case Op::kRemainder:
        if (b == 0) return absl::InvalidArgumentError("division by 0");
        a = step.op == Op::kDivide ? a / b : a % b;
        break;
      case Op::kMin:
        a = std::min(a, b);
        break;
      case Op::kMax:
        a = std::max(a, b);
        break;
    }
    // So that the next step cannot overflow.
    if (a > int64_t{UINT32_MAX} || a < -int64_t{UINT32_MAX})
      return absl::InvalidArgumentError("a value does not fit in 32 bits");
  }
  return stack.empty() ? 0 : stack.back();
}

std::optional<Register> ParseRegister(absl::string_view s) {
  int number;
  if (s.size() < 2 || (s[0] != 's' && s[0] != 'v') ||
      !absl::ascii_isdigit(s[1]) || !absl::SimpleAtoi(s.substr(1), &number))
    return std::nullopt;
  const bool is_vector = s[0] == 'v';
  if (number >= (is_vector ? kVectorRegs : kScalarRegs)) return std::nullopt;
  return Register{is_vector, number};
}

std::string ParseExpression(absl::string_view text, const Names& names,
                            int64_t* value) {
  const absl::StatusOr<Expression> parsed = Expression::Parse(text, names);
  if (!parsed.ok()) return std::string(parsed.status().message());
  const absl::StatusOr<int64_t> v = parsed->Of({});
  if (!v.ok()) return std::string(v.status().message());
  *value = *v;
  return "";
}

std::vector<string_view> SplitOutsideParentheses(string_view text,
                                                 string_view separator) {
  std::vector<string_view> pieces;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth > 0 || !absl::StartsWith(text.substr(i), separator)) continue;
    pieces.push_back(text.substr(from, i - from));
    from = i + separator.size();
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

}  // namespace systole::vpu
