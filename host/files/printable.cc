// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/printable.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace systole {
namespace {

bool IsContinuation(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

// Bytes of the character at the beginning of the text, and its number; 0: the
// bytes are not UTF-8.
size_t Decode(std::string_view text, uint32_t& code) {
  const auto first = static_cast<uint8_t>(text[0]);
  code = first;
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  code = first & (0xFF >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(text[i])) return 0;
    code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

// Beyond ASCII: C1, separators of lines, marks and overrides of direction.
bool IsHidden(uint32_t code) {
  return (code >= 0x80 && code < 0xA0) || code == 0x61C ||
         (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string Escaped(std::string_view text, bool lines) {
  std::string out;
  while (!text.empty()) {
    uint32_t code;
    const size_t size = Decode(text, code);
    const char c = text[0];
    if (size == 0 || (size == 1 && (code < 0x20 || code == 0x7F))) {
      if (c == '\n' && lines)
        out += c;
      else if (c == '\n' || c == '\t' || c == '\r')
        out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
      else
        absl::StrAppendFormat(&out, "\\x%02x", static_cast<uint8_t>(c));
      text.remove_prefix(1);
      continue;
    }
    if (IsHidden(code))
      absl::StrAppendFormat(&out, "\\u%04x", code);
    else
      out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

std::string Printable(std::string_view text) { return Escaped(text, false); }

std::string PrintableLines(std::string_view text) {
  return Escaped(text, true);
}

std::string PrintableList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts)
    absl::StrAppend(&list, "\n  ", Printable(text));
  return list;
}

std::string Counted(int64_t count, std::string_view noun) {
  const bool hisses =
      !noun.empty() && (noun.back() == 'h' || noun.back() == 's');
  return absl::StrCat(count, " ", std::string(noun),
                      count == 1 ? ""
                      : hisses   ? "es"
                                 : "s");
}

size_t Columns(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(
                           text.begin(), text.end(), IsContinuation));
}

}  // namespace systole
