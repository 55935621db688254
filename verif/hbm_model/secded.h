// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Check bits of 64 data bits as docs/hbm.md defines them, independent of
// rtl/cells/systole_secded.sv. A device model stores them for memory that its
// backdoor writes.

#ifndef SYSTOLE_VERIF_HBM_MODEL_SECDED_H_
#define SYSTOLE_VERIF_HBM_MODEL_SECDED_H_

#include <array>
#include <cstdint>
#include <cstring>

namespace systole::hbm {

// The check bits that cover each data bit. The columns are the bytes with three
// ones in ascending order, then 0x1F rotated left by 0 to 7.
constexpr std::array<uint8_t, 64> SecdedColumns() {
  std::array<uint8_t, 64> columns{};
  int n = 0;
  for (int byte = 0; byte < 256; ++byte) {
    int ones = 0;
    for (int bit = 0; bit < 8; ++bit) ones += byte >> bit & 1;
    if (ones == 3) columns[n++] = static_cast<uint8_t>(byte);
  }
  for (int turn = 0; turn < 8; ++turn)
    columns[n++] = static_cast<uint8_t>(0x1F << turn | 0x1F >> (8 - turn));
  return columns;
}

// The check bits of each value of each byte of a word.
constexpr std::array<std::array<uint8_t, 256>, 8> SecdedTable() {
  std::array<std::array<uint8_t, 256>, 8> table{};
  const std::array<uint8_t, 64> columns = SecdedColumns();
  for (int place = 0; place < 8; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      uint8_t check = 0;
      for (int bit = 0; bit < 8; ++bit)
        if (byte >> bit & 1) check ^= columns[place * 8 + bit];
      table[place][byte] = check;
    }
  }
  return table;
}

// Check bits of the 8 bytes at `word`.
inline uint8_t SecdedCheck(const uint8_t* word) {
  static constexpr auto kTable = SecdedTable();
  uint8_t check = 0;
  for (int place = 0; place < 8; ++place) check ^= kTable[place][word[place]];
  return check;
}

}  // namespace systole::hbm

#endif  // SYSTOLE_VERIF_HBM_MODEL_SECDED_H_
