// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/presets.yaml by scripts/generate.py: edit the source.

// Stops the elaboration of an illegal configuration and says what would be legal. No hardware.

module systole_cfg_check
  import systole_presets_pkg::*;
#(
    parameter chip_cfg_t Cfg = preset(PresetNano)
) ();
  localparam int unsigned Broken = broken_rule(Cfg);

  if (Broken == 1) $fatal(1, "illegal configuration: wanted: Rows is a power of two in 8..256 and Cols equals it");
  if (Broken == 2) $fatal(1, "illegal configuration: wanted: Cell is one of the cells");
  if (Broken == 3) $fatal(1, "illegal configuration: wanted: an int8 cell has 1 or 2 stages");
  if (Broken == 4) $fatal(1, "illegal configuration: wanted: a cell has 1 to 5 stages");
  if (Broken == 5) $fatal(1, "illegal configuration: wanted: Multipliers is at most Rows * Cols, and that in a bf16 array");
  if (Broken == 6) $fatal(1, "illegal configuration: wanted: UbBytes is a whole number of words in each of UbBanks banks, a power of two");
  if (Broken == 7) $fatal(1, "illegal configuration: wanted: the unified buffer is at most 32 MiB, what descriptors address");
  if (Broken == 8) $fatal(1, "illegal configuration: wanted: AccRows is a power of two in 4..8192");
  if (Broken == 9) $fatal(1, "illegal configuration: wanted: WfifoTiles is a power of two from 2 on");
  if (Broken == 10) $fatal(1, "illegal configuration: wanted: VectorLanes is a power of two up to Cols");
  if (Broken == 11) $fatal(1, "illegal configuration: wanted: the vector unit of a bf16 core has VectorLanes equal to Cols");
  if (Broken == 12) $fatal(1, "illegal configuration: wanted: Residual is 0 or 1, and 0 in a bf16 core");
  if (Broken == 13) $fatal(1, "illegal configuration: wanted: BeatBytes is a power of two in 16..512");
  if (Broken == 14) $fatal(1, "illegal configuration: wanted: there are 1 to 4 segments, what descriptors have");
  if (Broken == 15) $fatal(1, "illegal configuration: wanted: UbBanks suffice for all segments without conflict");
  if (Broken == 16) $fatal(1, "illegal configuration: wanted: a queue holds at least 2 descriptors");
  if (Broken == 17) $fatal(1, "illegal configuration: wanted: Parity is 0 or 1");
  if (Broken == 18) $fatal(1, "illegal configuration: wanted: Cores is 1, or 2 with a stack of HBM each, of which addresses reach both");
  if (Broken == 19) $fatal(1, "illegal configuration: wanted: Memory is one of the memories");
  if (Broken == 20) $fatal(1, "illegal configuration: wanted: HbmPcs is a power of two from 2 on and a beat 16 bytes of each");
  if (Broken == 21) $fatal(1, "illegal configuration: wanted: a chip with HBM has no DramBytes");
  if (Broken == 22) $fatal(1, "illegal configuration: wanted: a chip with AXI4 memory has no HbmPcs");
  if (Broken == 23) $fatal(1, "illegal configuration: wanted: a beat is a data width of AXI4, at most 128 bytes");
  if (Broken == 24) $fatal(1, "illegal configuration: wanted: SmemBytes is 0 or a power of two in 8192..1048576");
  if (Broken == 25) $fatal(1, "illegal configuration: wanted: a chip with a scalar unit has HBM");
  if (Broken == 26) $fatal(1, "illegal configuration: wanted: Ecc is 0 or 1, and 0 without HBM");
  if (Broken == 27) $fatal(1, "illegal configuration: wanted: DramBytes is a multiple of 4096");
endmodule
