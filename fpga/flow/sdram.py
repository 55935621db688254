# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Generates a board's DRAM controller with LiteDRAM: python sdram.py --module MT48LC16M16 --clock 60e6 --out systole_sdram.v

The module systole_sdram has an AXI4 slave of 16-byte beats and the pins of a 16-bit SDRAM; LiteDRAM converts the width. It runs LiteDRAM's
own power-up sequence for the device by itself, through the port that the controller has for that; ready_o is high from then on.
Pads are registers at the pins (ECP5's input and output flip-flops) with the data bus as three signals.
"""

import argparse
import pathlib
import re

from litedram import modules
from litedram.core import ControllerSettings, LiteDRAMCore
from litedram.frontend.axi import LiteDRAMAXI2Native, LiteDRAMAXIPort
from litedram.init import get_sdram_phy_init_sequence
from litedram.phy import GENSDRPHY
from litex.build.io import InferedSDRIO, SDRTristate
from litex.build.lattice.common import lattice_ecp5_special_overrides
from litex.gen.fhdl import verilog
from migen import Case, ClockDomain, FSM, If, Instance, Module, NextState, NextValue, Signal

BEAT_BYTES = 16
ID_BITS = 1


class Pads:
    """Pins of the device; the data bus in three parts."""

    def __init__(self, rows, banks, bits):
        for name, width in (("a", rows), ("ba", banks), ("dm", bits // 8), ("ras_n", 1), ("cas_n", 1), ("we_n", 1), ("cs_n", 1), ("cke", 1)):
            setattr(self, name, Signal(width, name_override=f"sdram_{name}_o"))
        self.dq = Signal(bits, name_override="sdram_dq")
        self.dq_i = Signal(bits, name_override="sdram_dq_i")
        self.dq_o = Signal(bits, name_override="sdram_dq_o")
        self.dq_t = Signal(bits, name_override="sdram_dq_t_o")

    def outputs(self):
        return {self.a, self.ba, self.dm, self.ras_n, self.cas_n, self.we_n, self.cs_n, self.cke, self.dq_o, self.dq_t}


class SplitTristate(Module):
    """A data pin as registers beside the pin, in place of a tristate driver."""

    def __init__(self, pads, pad):
        bit = pad.io.start
        self.specials += [
            Instance("OFS1P3BX", i_SCLK=pad.clk, i_PD=0, i_SP=1, i_D=pad.o, o_Q=pads.dq_o[bit]),
            Instance("IFS1P3BX", i_SCLK=pad.clk, i_PD=0, i_SP=1, i_D=pads.dq_i[bit], o_Q=pad.i)]
        # As LiteX has it: the enable's register is one of the fabric.
        self.submodules += InferedSDRIO(~pad.oe, pads.dq_t[bit], pad.clk)


class PowerUp(Module):
    """Runs a power-up sequence, one DFI command and its wait after the other; `done` from then on."""

    def __init__(self, dfi, sequence, clock):
        self.done = Signal()
        # A command's wait is of the sequence, in cycles, and at least that of a refresh.
        wait = Signal(max=max(20000, int(200e-6 * clock), *(step[4] for step in sequence)) + 64, reset=max(20000, int(200e-6 * clock)))
        step = Signal(max=len(sequence) + 1)
        phase = dfi.phases[0]
        commands = {}
        for number, (_, address, bank, command, cycles) in enumerate(sequence):
            commands[number] = [phase.address.eq(address), phase.bank.eq(bank), NextValue(wait, cycles + 16)]
            if "CONTROL" not in command:
                commands[number] += [phase.cs_n.eq(0), phase.ras_n.eq("RAS" not in command), phase.cas_n.eq("CAS" not in command),
                                     phase.we_n.eq("WE" not in command)]
        self.comb += [phase.cke.eq(1), phase.reset_n.eq(1)]
        self.submodules.fsm = fsm = FSM(reset_state="WAIT")
        fsm.act("WAIT", If(wait != 0, NextValue(wait, wait - 1)).Elif(step == len(sequence), NextState("DONE")).Else(NextState("STEP")))
        fsm.act("STEP", Case(step, commands), NextValue(step, step + 1), NextState("WAIT"))
        fsm.act("DONE", self.done.eq(1))


class Sdram(Module):
    """Controller, PHY and AXI4 port."""

    def __init__(self, module_name, clock):
        self.clock_domains.cd_sys = ClockDomain("sys")
        self.cd_sys.clk.name_override = "clk_i"
        self.cd_sys.rst.name_override = "rst_i"
        module = getattr(modules, module_name)(clock, "1:1")
        self.pads = pads = Pads(module.geom_settings.rowbits, module.geom_settings.bankbits, 16)
        self.submodules.phy = phy = GENSDRPHY(pads, clock)
        self.submodules.core = core = LiteDRAMCore(phy, module.geom_settings, module.timing_settings, clock,
                                                   controller_settings=ControllerSettings(cmd_buffer_buffered=True))
        sequence, _ = get_sdram_phy_init_sequence(phy.settings, module.timing_settings)
        self.submodules.power_up = power_up = PowerUp(core.dfii.ext_dfi, sequence, clock)
        # The registers of software control are not on any bus.
        self.comb += [core.dfii.ext_dfi_sel.eq(~power_up.done), core.dfii._control.storage.eq(1)]
        self.ready = Signal(name_override="ready_o")
        self.comb += self.ready.eq(power_up.done)

        self.bytes = 2 * 2 ** (module.geom_settings.bankbits + module.geom_settings.rowbits + module.geom_settings.colbits)
        port = core.crossbar.get_port(mode="both", data_width=8 * BEAT_BYTES)
        self.axi = axi = LiteDRAMAXIPort(data_width=8 * BEAT_BYTES, address_width=(self.bytes - 1).bit_length(), id_width=ID_BITS)
        self.submodules.bridge = LiteDRAMAXI2Native(axi, port)

    def ports(self):
        """Named as the project names ports. Responses carry no error."""
        ports = {self.cd_sys.clk, self.cd_sys.rst, self.ready, *self.pads.outputs(), self.pads.dq_i}
        fields = {"aw": ("addr", "len", "size", "burst", "id"), "w": ("data", "strb", "last"), "b": ("resp", "id"),
                  "ar": ("addr", "len", "size", "burst", "id"), "r": ("data", "resp", "last", "id")}
        for channel, payload in fields.items():
            stream = getattr(self.axi, channel)
            forward, back = ("i", "o") if channel in ("aw", "w", "ar") else ("o", "i")
            for field in ("valid", *payload):
                signal = {"last": stream.last, "valid": stream.valid}.get(field) if field in ("last", "valid") else getattr(stream, field)
                signal.name_override = f"axi_{channel}{field}_{forward}"
                ports.add(signal)
            stream.ready.name_override = f"axi_{channel}ready_{back}"
            ports.add(stream.ready)
        return ports


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", required=True, help="the device, as litedram.modules names it")
    parser.add_argument("--clock", required=True, type=float, help="Hz")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    args = parser.parse_args()
    sdram = Sdram(args.module, args.clock)

    class Tristate:
        """What LiteDRAM's data pins become."""

        @staticmethod
        def lower(pad):
            return SplitTristate(sdram.pads, pad)

    text = str(verilog.convert(sdram, ios=sdram.ports(), name="systole_sdram", special_overrides={**lattice_ecp5_special_overrides, SDRTristate: Tristate}))
    # No dates: the same input yields the same file. No module else has a time scale.
    text = re.sub(r"(?m)^(//|`timescale).*$\n", "", text)
    # The front end takes for a memory what says so, and makes flip-flops of all else.
    text, memories = re.subn(r"(?m)^(?=reg *(\[[^]]*\])? *\w+\[0:\d+\];)", '(* ram_style = "distributed" *) ', text)
    if memories == 0:
        raise RuntimeError("no memories found in what LiteDRAM wrote")
    args.out.write_text(text)
    print(f"{sdram.bytes} bytes")


if __name__ == "__main__":
    main()
