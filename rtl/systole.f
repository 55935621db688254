// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The design, for every tool (verilator -F, slang -F): packages in dependency order, then the folders in
// which a module is found by its name (module x is in x.sv). Paths are relative to this file.

gen/systole_presets_pkg.sv
gen/systole_isa_pkg.sv
gen/systole_csr_pkg.sv
gen/systole_csr_regs_pkg.sv
gen/systole_scalar_regs_pkg.sv
gen/systole_hbm_pkg.sv
gen/systole_link_pkg.sv
gen/systole_sfu_pkg.sv
gen/systole_vpu_pkg.sv
chip/systole_bus_pkg.sv
fp/systole_fp_pkg.sv
mxu/systole_mxu_pkg.sv
vector/systole_vector_pkg.sv
vpu/systole_vpu_types_pkg.sv
vpu/systole_vpu_fp_pkg.sv
sequencer/systole_control_pkg.sv
scalar/systole_scalar_pkg.sv
hbm/systole_hbm_front_pkg.sv

+libext+.sv
-y gen
-y prim
-y cells
-y unified_buffer
-y fp
-y mxu
-y accumulators
-y vector
-y vpu
-y dma
-y sequencer
-y scalar
-y hbm
-y link
-y host
-y chip
