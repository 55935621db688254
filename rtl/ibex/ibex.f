// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Ibex, where scripts/setup.sh has put it, for the chips with a scalar unit: read behind systole.f (verilator -F, slang -F).
// Paths are relative to this file.

+incdir+../../.ibex/prim
../../.ibex/prim/prim_secded_pkg.sv
../../.ibex/rtl/ibex_pkg.sv
-y ../../.ibex/rtl
+libext+.sv
-y .
