// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/npy/header.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "host/npy/npy.h"

namespace systole::npy {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 40;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Header> Parse() {
    if (!Take('{')) return Fail("'{'");
    std::set<std::string> keys;
    while (!Take('}')) {
      std::string key;
      if (!String(key)) return Fail("a key in quotes or '}'");
      if (!keys.insert(key).second) return Bad("key '", key, "' twice");
      if (!Take(':')) return Fail("':'");
      const absl::Status value = Value(key);
      if (!value.ok()) return value;
      if (!Take(',') && Peek() != '}') return Fail("',' or '}'");
    }
    if (Peek() != '\0') return Fail("the end");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (keys.count(key) == 0) return Bad("no key '", key, "'");
    }
    return header_;
  }

 private:
  template <typename... Parts>
  static absl::Status Bad(const Parts&... parts) {
    return absl::InvalidArgumentError(absl::StrCat("header: ", parts...));
  }
  absl::Status Fail(const char* expected) const {
    return Bad("expected ", expected, " at byte ", at_);
  }

  // The next character that is not blank, or '\0'.
  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                  text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    Peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool String(std::string& value) {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    value = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return true;
  }
  bool Number(int64_t& value) {
    Peek();
    value = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + (text_[at_++] - '0');
      if (value > kMaxSize) value = kMaxSize + 1;  // however many digits
    }
    return at_ > begin;
  }

  absl::Status Value(const std::string& key) {
    if (key == "descr") {
      if (Peek() == '[') {
        return absl::UnimplementedError("header: an array of records");
      }
      if (!String(header_.descr)) return Fail("a type in quotes");
      return absl::OkStatus();
    }
    if (key == "fortran_order") {
      header_.fortran_order = Word("True");
      if (!header_.fortran_order && !Word("False")) {
        return Fail("True or False");
      }
      return absl::OkStatus();
    }
    if (key == "shape") return Shape();
    return Bad("unknown key '", key, "'");
  }

  absl::Status Shape() {
    if (!Take('(')) return Fail("'('");
    bool comma = true;
    while (!Take(')')) {
      int64_t size;
      if (comma && Take('-')) {
        if (!Number(size)) return Fail("a size or ')'");
        return Bad("dimension ", header_.shape.size(), " of the shape is -",
                   size, ": 0 or more is needed");
      }
      if (!comma || !Number(size)) return Fail("a size or ')'");
      if (size > kMaxSize) {
        return Bad("dimension ", header_.shape.size(),
                   " of the shape is larger than ", kMaxSize);
      }
      if (header_.shape.size() == kMaxRank) {
        return Bad("more than ", kMaxRank, " dimensions");
      }
      header_.shape.push_back(size);
      comma = Take(',');
    }
    if (header_.shape.size() == 1 && !comma) return Fail("',' in (n,)");
    return absl::OkStatus();
  }

  std::string_view text_;
  size_t at_ = 0;
  Header header_;
};

}  // namespace

absl::StatusOr<Header> ParseHeader(std::string_view text) {
  return Parser(text).Parse();
}

}  // namespace systole::npy
