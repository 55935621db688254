// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Verilator's FST writers ignore the results of their writes. fst.cc compiles
// the writer of the Verilator in use and detects its failures. For the writer
// of older releases, it replaces functions: they record the first failure and
// keep temporary files in memory, so that a full disk does not end the program.
// For the writer of newer releases, it checks the file when it is complete.
//
//   views::BeginFst();
//   fst.open(name);
//   ...
//   fst.close();
//   if (int error = views::EndFst(name)) return ErrnoToStatus(error, name);
//
// Each thread may write one waveform at a time.

#ifndef SYSTOLE_VERIF_VIEWS_FST_H_
#define SYSTOLE_VERIF_VIEWS_FST_H_

#include <string>

namespace systole::views {

void BeginFst();
// errno of the first failure, or 0.
int EndFst(const std::string& file);

}  // namespace systole::views

#endif  // SYSTOLE_VERIF_VIEWS_FST_H_
