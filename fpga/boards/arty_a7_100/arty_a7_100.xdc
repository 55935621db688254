# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Digilent Arty A7-100T. Pins: https://github.com/Digilent/digilent-xdc, Arty-A7-100-Master.xdc (revision 5d2f779: CLK100MHZ, btn[0],
# uart_txd_in, which the FPGA receives, uart_rxd_out, led[0] to led[3]). Not run here.
set_property -dict {PACKAGE_PIN E3 IOSTANDARD LVCMOS33} [get_ports clk_100mhz]
create_clock -period 10.000 [get_ports clk_100mhz]
set_property -dict {PACKAGE_PIN D9 IOSTANDARD LVCMOS33} [get_ports button]
set_property -dict {PACKAGE_PIN A9 IOSTANDARD LVCMOS33} [get_ports uart_rx]
set_property -dict {PACKAGE_PIN D10 IOSTANDARD LVCMOS33} [get_ports uart_tx]
set_property -dict {PACKAGE_PIN H5 IOSTANDARD LVCMOS33} [get_ports {led[0]}]
set_property -dict {PACKAGE_PIN J5 IOSTANDARD LVCMOS33} [get_ports {led[1]}]
set_property -dict {PACKAGE_PIN T9 IOSTANDARD LVCMOS33} [get_ports {led[2]}]
set_property -dict {PACKAGE_PIN T10 IOSTANDARD LVCMOS33} [get_ports {led[3]}]
set_false_path -from [get_ports {button uart_rx}]
set_false_path -to [get_ports {led[*] uart_tx}]
