// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Verilator's FST writer looks at no result of what it writes. Compiled in
// fst.cc, it keeps the first failure of a thread here; and its temporary files
// are in memory, where no full disk ends the program.
//
//   views::fst_error = 0;
//   fst.open(name); ... fst.close();
//   if (views::fst_error != 0) return ErrnoToStatus(views::fst_error, name);

#ifndef SYSTOLE_VERIF_VIEWS_FST_H_
#define SYSTOLE_VERIF_VIEWS_FST_H_

namespace systole::views {

extern thread_local int fst_error;  // errno of the first failure, or 0

}  // namespace systole::views

#endif  // SYSTOLE_VERIF_VIEWS_FST_H_
