// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Ibex, where scripts/setup.sh has put it, for the chips with a scalar unit: read behind systole.f (verilator -F, slang -F).
// Paths are relative to this file.
//
// INC_ASSERT: an assertion of ibex_core reads a signal of ibex_ex_block that exists where INC_ASSERT is defined. Ibex defines it in a file
// that ibex_ex_block.sv does not include, so a tool that reads each file by itself (slang) would miss the signal.

+incdir+../../.ibex/prim
+define+INC_ASSERT
../../.ibex/prim/prim_secded_pkg.sv
../../.ibex/rtl/ibex_pkg.sv
-y ../../.ibex/rtl
+libext+.sv
-y .
