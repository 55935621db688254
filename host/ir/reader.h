// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the textual forms of the graph, of plans and of sequences: blanks, `//`
// comments, tokens, names, numbers and lists. The first error is kept. After it
// all reads return nothing, so a grammar needs no checks between tokens.
#ifndef SYSTOLE_HOST_IR_READER_H_
#define SYSTOLE_HOST_IR_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace systole::ir {

// A name in the textual forms: plain or quoted.
std::string NameText(const std::string& name);

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ok() const { return status_.ok(); }
  // InvalidArgument, which names the line.
  const absl::Status& status() const { return status_; }
  void Fail(const std::string& message);

  // Whether only blanks are left.
  bool AtEnd();
  // The next character after the blanks, 0 at the end.
  char Peek();
  // Consumes the token if it is next.
  bool Accept(std::string_view token);
  void Expect(std::string_view token);

  std::string Word();  // letters, digits and _
  std::string Name();  // `_ . / -` too, or a quoted string
  std::string String();
  int64_t Integer();  // decimal, or hexadecimal with 0x
  uint64_t Unsigned();
  float Float();
  // Up to the character or the end of the line.
  std::string_view Until(char end);

  // The longest run of characters for which `accept` is true.
  template <typename Accepts>
  std::string_view Run(Accepts accepts) {
    if (!ok()) return "";
    SkipBlanks();
    const size_t begin = at_;
    while (at_ < text_.size() && accepts(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // "[a, b, ...]", each read by `item`.
  template <typename Item>
  void List(Item item) {
    Expect("[");
    if (Accept("]")) return;
    do {
      item();
    } while (ok() && Accept(","));
    Expect("]");
  }

 private:
  void SkipBlanks();
  std::string_view NumberText();

  std::string_view text_;
  size_t at_ = 0;
  absl::Status status_;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_READER_H_
