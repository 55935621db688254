# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A host of the chip on its buses: registers by AXI4-Lite, memory by the AXI4 window, a RAM behind the chip's own AXI4 master.

What it does with the registers is what the driver does (docs/host.md), so it is a start for a driver or a bench of one's own.
"""

import logging
import pathlib
import warnings

import cocotb
import numpy as np
import registers
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, First, RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster, AxiRam, AxiResp

PERIOD = 10  # ns
MEMORY_BYTES = 32 << 20  # DramBytes of board8 and board
warnings.filterwarnings("ignore", category=DeprecationWarning, module="cocotbext")  # it calls cocotb 2 by the names of cocotb 1


class BusError(Exception):
    """An answer other than OKAY."""


class Chip:
    def __init__(self, dut):
        def bus(kind, prefix):
            return kind.from_prefix(dut, prefix), dut.clk, dut.rst_n, False  # reset is active when low

        for prefix in ("axil", "axi", "dram"):  # a line for each burst otherwise
            logging.getLogger(f"cocotb.{dut._name}.{prefix}").setLevel(logging.WARNING)
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, PERIOD, "ns").start())
        self.lite = AxiLiteMaster(*bus(AxiLiteBus, "axil"))
        self.window = AxiMaster(*bus(AxiBus, "axi"))
        self.ram = AxiRam(*bus(AxiBus, "dram"), size=MEMORY_BYTES)
        self.beat = len(dut.axi_wdata) // 8
        self.offsets, self.masks = registers.read(pathlib.Path(cocotb.plusargs["registers"]))

    async def reset(self):
        self.dut.rst_n.value = 0
        await ClockCycles(self.dut.clk, 5)
        self.dut.rst_n.value = 1
        await ClockCycles(self.dut.clk, 5)

    # Registers, by name.

    async def read(self, name):
        answer = await self.lite.read(self.offsets[name], 4)
        if answer.resp != AxiResp.OKAY:
            raise BusError(f"read of {name}: {answer.resp.name}")
        return int.from_bytes(answer.data, "little")

    async def write(self, name, value):
        answer = await self.lite.write(self.offsets[name], value.to_bytes(4, "little"))
        if answer.resp != AxiResp.OKAY:
            raise BusError(f"write of {name}: {answer.resp.name}")

    async def write64(self, name, value):
        await self.write(f"{name}_lo", value & 0xFFFFFFFF)
        await self.write(f"{name}_hi", value >> 32)

    async def counter(self, name):
        """Reading the low half keeps the high half for the next read."""
        low = await self.lite.read(self.offsets[f"counters.{name}"], 4)
        high = await self.lite.read(self.offsets[f"counters.{name}"] + 4, 4)
        return int.from_bytes(low.data + high.data, "little")

    async def is_set(self, field):
        return await self.read(field.split(".")[0]) & self.masks[field] != 0

    # Memory, through the window. Every address here is a multiple of the beat, as the window wants it.

    async def write_memory(self, address, data):
        answer = await self.window.write(address, bytes(data))
        if answer.resp != AxiResp.OKAY:
            raise BusError(f"write of {len(data)} bytes at 0x{address:x}: {answer.resp.name}")

    async def read_memory(self, address, size):
        answer = await self.window.read(address, size)
        if answer.resp != AxiResp.OKAY:
            raise BusError(f"read of {size} bytes at 0x{address:x}: {answer.resp.name}")
        return answer.data

    async def write_tensor(self, tensor, array):
        array = array.astype(tensor.type, casting="safe").reshape(tensor.shape)
        for address, n, h in tensor.lines():
            await self.write_memory(address, array[n, h].tobytes())

    async def read_tensor(self, tensor):
        lines = [await self.read_memory(address, tensor.line_bytes) for address, _, _ in tensor.lines()]
        return np.frombuffer(b"".join(lines), tensor.type).reshape(tensor.shape)

    # Programs.

    async def load(self, program):
        for _, address, data in program.data:
            await self.write_memory(address, data)
        await self.write_memory(program.address, program.descriptors)

    async def start(self, address, length, memory_bytes):
        await self.write("irq_enable", self.masks["irq.done"] | self.masks["irq.fault"])
        await self.write64("prog_addr", address)
        await self.write("prog_len", length)
        await self.write64("hbm_limit", memory_bytes)
        await self.write("ctrl", self.masks["ctrl.start"])

    async def wait(self, cycles):
        """The value of irq that raises the interrupt line, which is then acknowledged."""
        if not self.dut.irq.value:
            await First(RisingEdge(self.dut.irq), ClockCycles(self.dut.clk, cycles))
        if not self.dut.irq.value:
            raise TimeoutError(f"no interrupt within {cycles:,} cycles")
        cause = await self.read("irq")
        await self.write("irq", cause)
        if self.dut.irq.value:
            await FallingEdge(self.dut.irq)
        return cause

    async def soft_reset(self):
        await self.write("ctrl", self.masks["ctrl.reset"])
        while await self.is_set("status.resetting"):
            pass
