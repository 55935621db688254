// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/program/vpu_expression.h"

#include <cstring>

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

// A recursive descent.
class Expression {
 public:
  Expression(string_view text, const Names& names)
      : text_(text), names_(names) {}

  // "" or what is wrong.
  std::string Parse(int64_t* value) {
    *value = Sum();
    Skip();
    if (error_.empty() && !text_.empty())
      error_ = absl::StrCat("unexpected '", text_, "'");
    return error_;
  }

 private:
  void Skip() { text_ = absl::StripLeadingAsciiWhitespace(text_); }
  bool Take(char c) {
    Skip();
    return absl::ConsumePrefix(&text_, string_view(&c, 1));
  }
  int64_t Sum() {
    int64_t v = Product();
    while (error_.empty()) {
      if (Take('+')) {
        v = Bound(v + Product());
      } else if (Take('-')) {
        v = Bound(v - Product());
      } else {
        break;
      }
    }
    return v;
  }
  int64_t Product() {
    int64_t v = Factor();
    while (error_.empty()) {
      if (Take('*')) {
        v = Bound(v * Factor());
      } else if (Take('/')) {
        const int64_t divisor = Factor();
        if (divisor == 0 && error_.empty()) error_ = "division by 0";
        v = error_.empty() ? v / divisor : 0;
      } else {
        break;
      }
    }
    return v;
  }
  // Keeps every value far from overflow.
  int64_t Bound(int64_t v) {
    if (v > int64_t{UINT32_MAX} || v < -int64_t{UINT32_MAX}) {
      if (error_.empty()) error_ = "a value does not fit in 32 bits";
      return 0;
    }
    return v;
  }
  int64_t Factor() {
    const bool negative = Take('-');
    if (Take('(')) {
      if (++depth_ > kMaxDepth) {
        error_ = "too many parentheses";
        return 0;
      }
      const int64_t v = Sum();
      --depth_;
      if (error_.empty() && !Take(')')) error_ = "')' is missing";
      return negative ? -v : v;
    }
    Skip();
    const string_view token = Token();
    if (!error_.empty()) return 0;
    if (const std::optional<int64_t> literal = ParseLiteral(token)) {
      const bool is_float = !absl::StartsWithIgnoreCase(token, "0x") &&
                            token.find_first_of(".eE") != string_view::npos;
      if (is_float && negative) return *literal ^ kSignBit;
      return negative ? -*literal : *literal;
    }
    const std::string name(token);
    int64_t v;
    if (const auto c = names_.constants.find(name);
        c != names_.constants.end()) {
      v = Bound(c->second);
    } else if (const auto l = names_.labels.find(name);
               l != names_.labels.end()) {
      v = l->second;
    } else {
      error_ = absl::StrCat("'", name, "' is not a number");
      return 0;
    }
    return negative ? -v : v;
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
    if (n == 0 && error_.empty()) {
      error_ = text_.empty() ? "a number is missing"
                             : absl::StrCat("'", text_, "' is not a number");
    }
    const string_view token = text_.substr(0, n);
    text_.remove_prefix(n);
    return token;
  }

  string_view text_;
  static constexpr int kMaxDepth = 50;

  const Names& names_;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

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
  return Expression(text, names).Parse(value);
}

}  // namespace systole::vpu
