// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Verilator's FST writers ignore the results of their writes. fst.cc compiles
// the writer of the Verilator in use and detects its failures. The writer of
// older releases gets replacement functions that record the first failure, and
// memory for its temporary files, so that a full disk does not end the program.
// A file of the writer of newer releases is checked when it is complete.
//
//   views::BeginFst();
//   fst.open(name); ... fst.close();
//   if (int error = views::EndFst(name)) return ErrnoToStatus(error, name);
//
// Each thread may have one waveform at a time.

#ifndef SYSTOLE_VERIF_VIEWS_FST_H_
#define SYSTOLE_VERIF_VIEWS_FST_H_

#include <string>

namespace systole::views {

void BeginFst();
// errno of the first failure, or 0.
int EndFst(const std::string& file);

}  // namespace systole::views

#endif  // SYSTOLE_VERIF_VIEWS_FST_H_
