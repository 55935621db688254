// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Verilator's FST writers look at no result of what they write. fst.cc compiles
// the one of the Verilator in use and finds its failures: the writer of older
// releases is given functions that keep the first failure, and memory for its
// temporary files, so that a full disk does not end the program. What the
// writer of newer ones leaves is checked when it is complete.
//
//   views::BeginFst();
//   fst.open(name); ... fst.close();
//   if (int error = views::EndFst(name)) return ErrnoToStatus(error, name);
//
// One waveform at a time for each thread.

#ifndef SYSTOLE_VERIF_VIEWS_FST_H_
#define SYSTOLE_VERIF_VIEWS_FST_H_

#include <string>

namespace systole::views {

void BeginFst();
// errno of the first failure, or 0.
int EndFst(const std::string& file);

}  // namespace systole::views

#endif  // SYSTOLE_VERIF_VIEWS_FST_H_
