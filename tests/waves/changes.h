// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a waveform shows, to be compared with another one.

#ifndef SYSTOLE_TESTS_WAVES_CHANGES_H_
#define SYSTOLE_TESTS_WAVES_CHANGES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "verif/waves/fst_file.h"

namespace systole::waves {

// Every change of every signal (its low 64 bits), by time and name.
using Changes = std::map<std::pair<uint64_t, std::string>, uint64_t>;

inline Changes AllChanges(const std::string& file) {
  Changes changes;
  auto fst = FstFile::Open(file);
  EXPECT_TRUE(fst.ok()) << fst.status();
  if (!fst.ok()) return changes;
  const auto signals = (*fst)->All();
  (*fst)->ForEachValue(signals, [&](uint64_t time, size_t s, uint64_t value) {
    changes[{time, signals[s]->full()}] = value;
  });
  return changes;
}

}  // namespace systole::waves

#endif  // SYSTOLE_TESTS_WAVES_CHANGES_H_
