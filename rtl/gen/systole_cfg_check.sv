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

  if (Broken == 1) begin : gen_rule1
    $fatal(1, "illegal configuration: wanted: Rows is a power of two in 8..256 and Cols equals it");
  end
  if (Broken == 2) begin : gen_rule2
    $fatal(1, "illegal configuration: wanted: Cell is one of the cells");
  end
  if (Broken == 3) begin : gen_rule3
    $fatal(1, "illegal configuration: wanted: an int8 cell has 1 or 2 stages");
  end
  if (Broken == 4) begin : gen_rule4
    $fatal(1, "illegal configuration: wanted: a cell has 1 to 5 stages");
  end
  if (Broken == 5) begin : gen_rule5
    $fatal(1, "illegal configuration: wanted: Multipliers is at most Rows * Cols, and that in a bf16 array");
  end
  if (Broken == 6) begin : gen_rule6
    $fatal(1, "illegal configuration: wanted: UbBytes is a whole number of words in each of UbBanks banks, a power of two");
  end
  if (Broken == 7) begin : gen_rule7
    $fatal(1, "illegal configuration: wanted: the unified buffer is at most 32 MiB, what descriptors address");
  end
  if (Broken == 8) begin : gen_rule8
    $fatal(1, "illegal configuration: wanted: AccRows is a power of two in 4..8192");
  end
  if (Broken == 9) begin : gen_rule9
    $fatal(1, "illegal configuration: wanted: WfifoTiles is a power of two from 2 on");
  end
  if (Broken == 10) begin : gen_rule10
    $fatal(1, "illegal configuration: wanted: LoadBuses is a power of two, and a block has at least 4 rows and a beat of bytes in each block row");
  end
  if (Broken == 11) begin : gen_rule11
    $fatal(1, "illegal configuration: wanted: VectorLanes is a power of two up to Cols");
  end
  if (Broken == 12) begin : gen_rule12
    $fatal(1, "illegal configuration: wanted: the vector unit of a bf16 core has VectorLanes equal to Cols");
  end
  if (Broken == 13) begin : gen_rule13
    $fatal(1, "illegal configuration: wanted: Sublanes is 1, 2 or 4, and 1 in an int8 core");
  end
  if (Broken == 14) begin : gen_rule14
    $fatal(1, "illegal configuration: wanted: Residual is 0 or 1, and 0 in a bf16 core");
  end
  if (Broken == 15) begin : gen_rule15
    $fatal(1, "illegal configuration: wanted: BeatBytes is a power of two in 16..512");
  end
  if (Broken == 16) begin : gen_rule16
    $fatal(1, "illegal configuration: wanted: a beat of a bf16 core holds at least a row of a tile");
  end
  if (Broken == 17) begin : gen_rule17
    $fatal(1, "illegal configuration: wanted: there are 1 to 4 segments, what descriptors have");
  end
  if (Broken == 18) begin : gen_rule18
    $fatal(1, "illegal configuration: wanted: UbBanks suffice for all segments without conflict");
  end
  if (Broken == 19) begin : gen_rule19
    $fatal(1, "illegal configuration: wanted: a queue holds at least 2 descriptors");
  end
  if (Broken == 20) begin : gen_rule20
    $fatal(1, "illegal configuration: wanted: Parity is 0 or 1");
  end
  if (Broken == 21) begin : gen_rule21
    $fatal(1, "illegal configuration: wanted: Cores is 1, or 2 with a stack of HBM each, of which addresses reach both");
  end
  if (Broken == 22) begin : gen_rule22
    $fatal(1, "illegal configuration: wanted: Memory is one of the memories");
  end
  if (Broken == 23) begin : gen_rule23
    $fatal(1, "illegal configuration: wanted: HbmPcs is a power of two from 2 on and a beat 16 bytes of each");
  end
  if (Broken == 24) begin : gen_rule24
    $fatal(1, "illegal configuration: wanted: a chip with HBM has no DramBytes");
  end
  if (Broken == 25) begin : gen_rule25
    $fatal(1, "illegal configuration: wanted: a chip with AXI4 memory has no HbmPcs");
  end
  if (Broken == 26) begin : gen_rule26
    $fatal(1, "illegal configuration: wanted: a beat is a data width of AXI4, at most 128 bytes");
  end
  if (Broken == 27) begin : gen_rule27
    $fatal(1, "illegal configuration: wanted: SmemBytes is 0 or a power of two in 8192..1048576");
  end
  if (Broken == 28) begin : gen_rule28
    $fatal(1, "illegal configuration: wanted: a chip with a scalar unit has HBM");
  end
  if (Broken == 29) begin : gen_rule29
    $fatal(1, "illegal configuration: wanted: LinkBytes is 0 or, in a chip with two cores, an eighth of a beat and 4 to 64");
  end
  if (Broken == 30) begin : gen_rule30
    $fatal(1, "illegal configuration: wanted: Ecc is 0 or 1, and 0 without HBM");
  end
  if (Broken == 31) begin : gen_rule31
    $fatal(1, "illegal configuration: wanted: DramBytes is a multiple of 4096");
  end
endmodule
