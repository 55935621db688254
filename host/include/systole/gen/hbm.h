// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/hbm.yaml by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_HBM_H_
#define SYSTOLE_GEN_HBM_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace systole::hbm {

inline constexpr int kBankGroups = 4;  // bank groups of a pseudo-channel
inline constexpr int kBanksPerGroup = 4;  // banks of a bank group
inline constexpr int kRows = 32768;  // rows of a bank
inline constexpr int kPageBytes = 1024;  // bytes of a row (page) of a pseudo-channel
inline constexpr int kBurstBytes = 32;  // bytes of a column command: burst length 4 on 64 data bits
inline constexpr int kBurstCycles = 2;  // cycles a burst occupies the data bus
inline constexpr int kPhyBytes = 16;  // bytes of a pseudo-channel's data bus in a cycle (both clock edges)
inline constexpr int kBanks = kBankGroups * kBanksPerGroup;
inline constexpr int kCols = kPageBytes / kBurstBytes;
inline constexpr int kBeatBits = 25;  // capacity is 2^kBeatBits beats
inline constexpr int kClockPs = 1000;

enum class RowCmd : uint8_t {
  kNop = 0,  // no command
  kAct = 1,  // open row_addr in row_bank
  kPre = 2,  // close row_bank (no effect on a closed bank)
  kPrea = 3,  // close all banks
  kRef = 4,  // refresh all banks, which must be closed
  kRefsb = 5,  // refresh row_bank, which must be closed
};

enum class ColCmd : uint8_t {
  kNop = 0,  // no command
  kRd = 1,  // read the burst col_addr of the open row of col_bank
  kWr = 2,  // write the burst col_addr of the open row of col_bank
  kRda = 3,  // rd, then close the bank as soon as tRTP and tRAS allow
  kWra = 4,  // wr, then close the bank as soon as tWR and tRAS allow
};

// Timing in cycles; the defaults are the table's values.
struct Timing {
  int tCL = 14;  // RD to the first read data
  int tCWL = 4;  // WR to the first write data
  int tRCDRD = 14;  // ACT to RD, same bank
  int tRCDWR = 14;  // ACT to WR, same bank
  int tRP = 14;  // PRE or PREA to ACT of the bank, or to REF
  int tRAS = 34;  // ACT to PRE, same bank
  int tRC = 48;  // ACT to ACT, same bank
  int tRRD_S = 4;  // ACT to ACT, any two banks
  int tRRD_L = 6;  // ACT to ACT, same bank group
  int tFAW = 15;  // ACT to the fourth ACT after it
  int tCCD_S = 2;  // RD to RD or WR to WR, any two banks
  int tCCD_L = 4;  // RD to RD or WR to WR, same bank group
  int tWTR_S = 6;  // end of write data to RD, any two banks
  int tWTR_L = 8;  // end of write data to RD, same bank group
  int tRTW = 14;  // RD to WR
  int tWR = 16;  // end of write data to PRE, same bank
  int tRTP = 6;  // RD to PRE, same bank
  int tRFC = 260;  // REF to ACT or REF
  int tREFI = 3900;  // average interval of the refreshes of a bank, by REF or REFSB
  int tRFCSB = 160;  // REFSB to ACT or REFSB of the bank, or to REF
  int tRREFD = 8;  // REFSB to ACT or REFSB, any two banks
};

struct TimingField {
  std::string_view name;
  int Timing::*value;
};
inline constexpr std::array<TimingField, 21> kTimingFields = {{
    {"tCL", &Timing::tCL},
    {"tCWL", &Timing::tCWL},
    {"tRCDRD", &Timing::tRCDRD},
    {"tRCDWR", &Timing::tRCDWR},
    {"tRP", &Timing::tRP},
    {"tRAS", &Timing::tRAS},
    {"tRC", &Timing::tRC},
    {"tRRD_S", &Timing::tRRD_S},
    {"tRRD_L", &Timing::tRRD_L},
    {"tFAW", &Timing::tFAW},
    {"tCCD_S", &Timing::tCCD_S},
    {"tCCD_L", &Timing::tCCD_L},
    {"tWTR_S", &Timing::tWTR_S},
    {"tWTR_L", &Timing::tWTR_L},
    {"tRTW", &Timing::tRTW},
    {"tWR", &Timing::tWR},
    {"tRTP", &Timing::tRTP},
    {"tRFC", &Timing::tRFC},
    {"tREFI", &Timing::tREFI},
    {"tRFCSB", &Timing::tRFCSB},
    {"tRREFD", &Timing::tRREFD},
}};
inline constexpr int kRefreshPostpone = 8;  // of a bank, owed or in advance

// Where a beat lives: `group` is the lower or upper half of the pseudo-channels, `bank` {bank group, bank}.
struct Location {
  uint32_t group, bank, row, col;
};

inline constexpr int BeatBytes(int pcs) { return kPhyBytes * pcs; }
inline constexpr uint64_t CapacityBytes(int pcs) {
  return static_cast<uint64_t>(BeatBytes(pcs)) << kBeatBits;
}

// Address map: k is the byte address divided by the bytes of a beat.
inline Location Locate(uint32_t k) {
  Location l;
  l.group = static_cast<uint32_t>(__builtin_parity(k & 0x003F109u));
  l.bank = static_cast<uint32_t>(__builtin_parity(k & 0x002F900u)) |
           (static_cast<uint32_t>(__builtin_parity(k & 0x029B200u)) << 1) |
           (static_cast<uint32_t>(__builtin_parity(k & 0x0232F02u)) << 2) |
           (static_cast<uint32_t>(__builtin_parity(k & 0x02084D0u)) << 3);
  l.row = (k >> 10 & 0x7FFFu);
  l.col = (k >> 2 & 0x1Fu);
  return l;
}

// The beat at a location: the inverse of Locate.
inline uint32_t BeatAt(const Location& l) {
  uint32_t k = l.col << 2 | l.row << 10;
  k |= static_cast<uint32_t>(__builtin_parity(l.col & 0x2u) ^
                             __builtin_parity(l.row & 0x42u) ^
                             __builtin_parity(l.group & 0x1u) ^
                             __builtin_parity(l.bank & 0x1u))
       << 0;
  k |= static_cast<uint32_t>(__builtin_parity(l.row & 0x219u) ^
                             __builtin_parity(l.bank & 0x7u))
       << 1;
  k |= static_cast<uint32_t>(__builtin_parity(l.col & 0x14u) ^
                             __builtin_parity(l.row & 0x821u) ^
                             __builtin_parity(l.bank & 0x8u))
       << 7;
  k |= static_cast<uint32_t>(__builtin_parity(l.row & 0xBEu) ^
                             __builtin_parity(l.bank & 0x1u))
       << 8;
  k |= static_cast<uint32_t>(__builtin_parity(l.row & 0xA6Cu) ^
                             __builtin_parity(l.bank & 0x2u))
       << 9;
  return k;
}

}  // namespace systole::hbm

#endif  // SYSTOLE_GEN_HBM_H_
