# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Drives the chip over AXI: who it is, what it refuses, a compiled network to the bit, a fault. run.py builds and starts it."""

import json
import pathlib

import cocotb
import numpy as np
import program_file
from chip import MEMORY_BYTES, Chip
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiBurstType, AxiResp

MOST_CYCLES = 20_000_000  # of a program
ILLEGAL_OPCODE = 1  # docs/reference/isa.md, Faults


async def chip_of(dut):
    chip = Chip(dut)
    await chip.reset()
    return chip


def folder():
    return pathlib.Path(cocotb.plusargs["folder"])


@cocotb.test()
async def identity(dut):
    """The chip says which it is."""
    chip = await chip_of(dut)
    name = (await chip.read("id")).to_bytes(4, "big").decode()
    version, preset = await chip.read("version"), await chip.read("preset")
    dut._log.info("%s, ISA version %d, preset %d", name, version, preset)
    assert name == "SYST" and preset == int(cocotb.plusargs["preset"])
    assert not dut.irq.value and await chip.read("status") == 0


@cocotb.test()
async def refused_registers(dut):
    """An access that the register map does not have answers SLVERR and has no effect."""
    chip = await chip_of(dut)
    await chip.write("prog_len", 0x12345678)
    assert await chip.read("prog_len") == 0x12345678
    last = max(chip.offsets.values())
    for what, operation in (("read beyond the last one", chip.lite.read(last + 4, 4)),
                            ("write of a read-only one", chip.lite.write(chip.offsets["id"], bytes(4))),
                            ("read of a write-only one", chip.lite.read(chip.offsets["ctrl"], 4))):
        answer = await operation
        dut._log.info("%s: %s", what, answer.resp.name)
        assert answer.resp == AxiResp.SLVERR, what
    assert await chip.read("id") == 0x53595354 and await chip.read("prog_len") == 0x12345678


@cocotb.test()
async def refused_bursts(dut):
    """The window refuses what is not an INCR burst of whole aligned beats inside the memory, without effect."""
    chip = await chip_of(dut)
    size = chip.beat.bit_length() - 1
    kept = bytes(range(chip.beat)) * 4
    await chip.write_memory(0x1000, kept)
    for what, operation in (("read at the end of the memory", chip.window.read(MEMORY_BYTES, chip.beat)),
                            ("write at the end of the memory", chip.window.write(MEMORY_BYTES, bytes(chip.beat))),
                            ("narrow write", chip.window.write(0x1000, bytes(chip.beat), size=size - 1)),
                            ("FIXED write", chip.window.write(0x1000, bytes(chip.beat), burst=AxiBurstType.FIXED)),
                            ("unaligned write", chip.window.write(0x1004, bytes(4)))):
        answer = await operation
        dut._log.info("%s: %s", what, answer.resp.name)
        assert answer.resp == AxiResp.SLVERR, what
    assert await chip.read_memory(0x1000, len(kept)) == kept
    assert chip.ram.read(0x1000, len(kept)) == kept, "the RAM has something else than the window says"


@cocotb.test()
async def network(dut):
    """A compiled network: every tensor that reaches the memory is the instruction-set simulator's, to the bit."""
    chip = await chip_of(dut)
    program = program_file.read(folder() / "model.tpu")
    wanted = {entry["name"]: np.load(folder() / "tensors" / entry["file"]) for entry in json.loads((folder() / "tensors/index.json").read_text())}
    missing = [tensor.name for tensor in program.tensors if tensor.name not in wanted]
    assert not missing, f"the simulator has written no {', '.join(missing)}: is the model more than one program?"
    await chip.load(program)
    for tensor in program.tensors:
        if tensor.role & program_file.INPUT:
            await chip.write_tensor(tensor, wanted[tensor.name])
    await chip.start(program.address, program.length, program.memory_bytes)
    cause = await chip.wait(MOST_CYCLES)
    assert cause == chip.masks["irq.done"], f"irq is {cause}, fault cause {await chip.read('fault_cause')} at {await chip.read('fault_pc')}"
    assert await chip.read("status") == chip.masks["status.done"]
    assert await chip.counter("descriptors") == program.length
    dut._log.info("%d descriptors in %d cycles", program.length, await chip.counter("cycles"))
    outputs = 0
    for tensor in program.tensors:
        if tensor.role & program_file.INPUT:
            continue
        got = await chip.read_tensor(tensor)
        wrong = np.count_nonzero(got != wanted[tensor.name].reshape(tensor.shape))
        dut._log.info("%s: %d values, %d wrong", tensor.name, got.size, wrong)
        assert wrong == 0, f"{tensor.name}: {wrong} of {got.size} values are not the simulator's"
        if tensor.role & program_file.OUTPUT:
            outputs += 1
            dut._log.info("%s = %s", tensor.name, got.reshape(-1)[:16].tolist())
    assert outputs, "the program has no output"


@cocotb.test()
async def fault(dut):
    """A descriptor that there is not freezes the core and raises the interrupt of a fault; a soft reset ends that."""
    chip = await chip_of(dut)
    program = program_file.read(folder() / "model.tpu")
    halt = program.descriptors[-program_file.DESCRIPTOR_BYTES:]
    bad = b"\xff" + bytes(len(halt) - 1)
    await chip.write_memory(0, bad + halt)
    await chip.start(0, 2, len(bad + halt))
    assert await chip.wait(10_000) == chip.masks["irq.fault"]
    assert await chip.read("fault_cause") == ILLEGAL_OPCODE and await chip.read("fault_pc") == 0
    # The acknowledged interrupt leaves the fault, and a frozen core takes no start.
    assert await chip.read("status") == chip.masks["status.fault"]
    await chip.start(0, 2, len(bad + halt))
    await ClockCycles(dut.clk, 1000)
    assert not dut.irq.value and await chip.read("status") == chip.masks["status.fault"]
    await chip.soft_reset()
    assert await chip.read("status") == 0
    await chip.write_memory(0, halt)
    await chip.start(0, 1, len(halt))
    assert await chip.wait(10_000) == chip.masks["irq.done"]
