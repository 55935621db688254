# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Digilent Arty A7-100T with Vivado: vivado -mode batch -source build.tcl. Not run here.
set root [file normalize [file dirname [info script]]/../../..]
set here [file normalize [file dirname [info script]]]

# rtl/systole.f: packages first, then the folders.
set packages {}
set folders {}
set list [open $root/rtl/systole.f]
foreach line [split [read $list] "\n"] {
  if {[regexp {^-y (\S+)} $line -> folder]} {
    lappend folders $folder
  } elseif {[regexp {^(\w\S*\.sv)} $line -> file]} {
    lappend packages $root/rtl/$file
  }
}
close $list
read_verilog -sv $packages
read_verilog -sv $root/fpga/common/systole_serial_pkg.sv
foreach folder $folders {
  foreach file [glob -nocomplain $root/rtl/$folder/*.sv] {
    if {[lsearch $packages $file] < 0} { read_verilog -sv $file }
  }
}
foreach file {systole_uart systole_serial_receive systole_serial_send systole_serial systole_board} {
  read_verilog -sv $root/fpga/common/$file.sv
}
read_verilog -sv [glob $here/*.sv]
read_xdc $here/arty_a7_100.xdc

synth_design -top arty_a7_100 -part xc7a100tcsg324-1 -verilog_define SYNTHESIS
opt_design
place_design
phys_opt_design
route_design
report_utilization -hierarchical -file utilization.rpt
report_timing_summary -max_paths 5 -file timing.rpt
write_bitstream -force arty_a7_100.bit
