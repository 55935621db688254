// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/reader.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace systole::ir {
namespace {

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '/' || c == '-';
}

}  // namespace

std::string NameText(const std::string& name) {
  const bool plain =
      !name.empty() && std::all_of(name.begin(), name.end(), IsNameCharacter);
  return plain ? name : absl::StrCat("\"", absl::CEscape(name), "\"");
}

void Reader::Fail(const std::string& message) {
  if (!ok()) return;
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<int64_t>(at_),
                     '\n');
  status_ =
      absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", message));
}

void Reader::SkipBlanks() {
  while (at_ < text_.size()) {
    if (absl::ascii_isspace(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool Reader::AtEnd() { return Peek() == 0; }

char Reader::Peek() {
  SkipBlanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Reader::Accept(std::string_view token) {
  if (!ok()) return false;
  SkipBlanks();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

void Reader::Expect(std::string_view token) {
  if (!Accept(token)) Fail(absl::StrCat("'", std::string(token), "' wanted"));
}

std::string Reader::Word() {
  return std::string(
      Run([](char c) { return absl::ascii_isalnum(c) || c == '_'; }));
}

std::string Reader::Name() {
  if (!ok()) return "";
  if (Peek() == '"') return String();
  const std::string_view name = Run(IsNameCharacter);
  if (name.empty()) Fail("a name wanted");
  return std::string(name);
}

std::string Reader::String() {
  Expect("\"");
  if (!ok()) return "";
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    at_ += text_[at_] == '\\' ? 2 : 1;
  }
  at_ = std::min(at_, text_.size());
  std::string value, error;
  if (!absl::CUnescape(absl::string_view(text_.data() + begin, at_ - begin),
                       &value, &error)) {
    Fail(error);
  }
  Expect("\"");
  return value;
}

std::string_view Reader::NumberText() {
  return Run([](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '+';
  });
}

int64_t Reader::Integer() {
  const std::string number(NumberText());
  int64_t value = 0;
  const bool hexadecimal = number.size() > 2 && number.compare(0, 2, "0x") == 0;
  if (ok() && !(hexadecimal ? absl::SimpleHexAtoi(number, &value)
                            : absl::SimpleAtoi(number, &value))) {
    Fail(absl::StrCat("an integer wanted, not '", number, "'"));
  }
  return value;
}

uint64_t Reader::Unsigned() {
  const std::string number(NumberText());
  uint64_t value = 0;
  if (ok() && !absl::SimpleAtoi(number, &value)) {
    Fail(absl::StrCat("an unsigned integer wanted, not '", number, "'"));
  }
  return value;
}

float Reader::Float() {
  const std::string number(NumberText());
  float value = 0;
  if (ok() && !absl::SimpleAtof(number, &value)) {
    Fail(absl::StrCat("a number wanted, not '", number, "'"));
  }
  return value;
}

std::string_view Reader::Until(char end) {
  return Run([end](char c) { return c != end && c != '\n'; });
}

}  // namespace systole::ir
