// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/presets.yaml by scripts/generate.py: edit the source.

package systole_presets_pkg;

  localparam int unsigned AddrBits = 36;  // memory byte address
  localparam int unsigned UbAddrBits = 25;  // unified buffer byte address
  localparam int unsigned AccAddrBits = 13;  // accumulator row
  localparam int unsigned PcBits = 32;  // descriptor index

  // Cell: values.
  localparam int unsigned CellInt8 = 0;  // int8 x int8 + int32; the quantising vector unit; inference
  localparam int unsigned CellBf16 = 1;  // bf16 x bf16 + fp32, one rounding; the programmable fp32 vector unit; training

  // Memory: values.
  localparam int unsigned MemoryHbm = 0;  // HBM stacks behind controllers of the chip; a PHY port a pseudo-channel
  localparam int unsigned MemoryAxi = 1;  // a board's DRAM behind one AXI4 master port of a beat's width

  // One configuration of a core. Derived sizes come from the functions below.
  typedef struct packed {
    int unsigned Rows;  // array rows: contraction elements a pass (power of two, 8..256)
    int unsigned Cols;  // array columns: output channels a pass; equals Rows
    int unsigned Cell;  // number format of the array, of the weights and activations
    int unsigned CellStages;  // pipeline stages of a cell of the array (int8: 1 or 2)
    int unsigned Multipliers;  // int8: cells of the array with a multiplier block, evenly spread; the others multiply in logic (all: Rows * Cols)
    int unsigned UbBytes;  // unified buffer size in bytes
    int unsigned UbBanks;  // unified buffer banks, each one read and one write port of one word
    int unsigned AccRows;  // accumulator rows of Cols 32-bit lanes, in two banks of half the rows each
    int unsigned WfifoTiles;  // weight FIFO capacity in tiles of Rows x Cols elements
    int unsigned LoadBuses;  // blocks of a tile along a row and along a column; all are loaded at once, a row of each a cycle
    int unsigned VectorLanes;  // results a cycle of the vector unit (power of two up to Cols; bf16: Cols)
    int unsigned Sublanes;  // bf16: rows of a vector register that each ALU and the cross unit take in a cycle, an eighth of its rows; int8: 1
    int unsigned Residual;  // int8: 1 if the vector unit adds a second operand to what it requantises; else 0
    int unsigned BeatBytes;  // bytes of a beat: what memory reads or writes in one cycle at most; DMA alignment
    int unsigned Segments;  // read windows of the systolic data setup: kernel tap runs packed into one pass
    int unsigned QueueDepth;  // descriptors a unit queue holds
    int unsigned Parity;  // 1 if descriptors that wait and sync flags have parity, checked in each cycle; else 0
  } core_cfg_t;

  // One configuration of a chip.
  typedef struct packed {
    core_cfg_t Core;
    int unsigned Cores;  // cores, each with a memory, registers and a scalar unit of its own; 2: joined by the crossbar
    int unsigned Memory;  // kind of memory
    int unsigned HbmPcs;  // hbm: pseudo-channels of 16 bytes a cycle each, together a beat (even); axi: 0
    int unsigned DramBytes;  // axi: bytes of memory; hbm: 0, the pseudo-channels say it
    int unsigned SmemBytes;  // bytes of the scalar unit's memory; 0: no scalar unit, the host's registers start programs
    int unsigned LinkBytes;  // bytes a cycle and direction of each of four links to other chips; 0: no links
    int unsigned Ecc;  // hbm: 1 if 8 check bits correct one wrong bit of each 64 and find two; else 0
  } chip_cfg_t;

  localparam int unsigned PresetNano = 0;  // unit tests, random programs; 64 MACs
  localparam int unsigned PresetEdge = 1;  // the demo, Edge-TPU-class inference
  localparam int unsigned PresetV1 = 2;  // TPUv1-class inference
  localparam int unsigned PresetMini = 3;  // unit tests, random programs, small training runs of the bf16 core; 64 MACs
  localparam int unsigned PresetV2 = 4;  // TPUv2-class training
  localparam int unsigned PresetLite = 5;  // training in RTL simulation
  localparam int unsigned PresetBoard8 = 6;  // FPGA boards of 85 thousand logic cells; 64 MACs
  localparam int unsigned PresetBoard = 7;  // FPGA boards of 85 thousand logic cells; 256 MACs
  localparam int unsigned PresetMinichip = 8;  // two cores as mini's, each with a scalar unit, whose firmware runs the programs; links to other chips
  localparam int unsigned PresetV2chip = 9;  // TPUv2-class training, two cores of v2; links to other chips
  localparam int unsigned PresetEdgechip = 10;  // edge with a scalar unit, whose firmware runs the programs
  localparam int unsigned PresetLitechip = 11;  // two cores as lite's, chips of a device: training on several chips in RTL simulation

  function automatic logic is_preset(int unsigned id);
    return id == PresetNano || id == PresetEdge || id == PresetV1 || id == PresetMini || id == PresetV2 || id == PresetLite || id == PresetBoard8 || id == PresetBoard || id == PresetMinichip || id == PresetV2chip || id == PresetEdgechip || id == PresetLitechip;
  endfunction

  // If there is no such preset, another one: tops check is_preset, and that alone fails then.
  function automatic chip_cfg_t preset(int unsigned id);
    chip_cfg_t c;
    c = '0;
    case (id)
      PresetEdge: begin
        c.Core.Rows = 32;
        c.Core.Cols = 32;
        c.Core.Cell = CellInt8;
        c.Core.CellStages = 1;
        c.Core.Multipliers = 1024;
        c.Core.UbBytes = 524288;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 1024;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 32;
        c.Core.Sublanes = 1;
        c.Core.Residual = 1;
        c.Core.BeatBytes = 64;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 4;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 0;
      end
      PresetV1: begin
        c.Core.Rows = 256;
        c.Core.Cols = 256;
        c.Core.Cell = CellInt8;
        c.Core.CellStages = 1;
        c.Core.Multipliers = 65536;
        c.Core.UbBytes = 25165824;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 4096;
        c.Core.WfifoTiles = 4;
        c.Core.LoadBuses = 1;
        c.Core.VectorLanes = 256;
        c.Core.Sublanes = 1;
        c.Core.Residual = 1;
        c.Core.BeatBytes = 128;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 8;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 0;
      end
      PresetMini: begin
        c.Core.Rows = 8;
        c.Core.Cols = 8;
        c.Core.Cell = CellBf16;
        c.Core.CellStages = 3;
        c.Core.Multipliers = 64;
        c.Core.UbBytes = 131072;
        c.Core.UbBanks = 16;
        c.Core.AccRows = 512;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 8;
        c.Core.Sublanes = 2;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 32;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 2;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 1;
      end
      PresetV2: begin
        c.Core.Rows = 128;
        c.Core.Cols = 128;
        c.Core.Cell = CellBf16;
        c.Core.CellStages = 3;
        c.Core.Multipliers = 16384;
        c.Core.UbBytes = 16777216;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 4096;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 128;
        c.Core.Sublanes = 4;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 512;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 32;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 1;
      end
      PresetLite: begin
        c.Core.Rows = 32;
        c.Core.Cols = 32;
        c.Core.Cell = CellBf16;
        c.Core.CellStages = 3;
        c.Core.Multipliers = 1024;
        c.Core.UbBytes = 1048576;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 1024;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 32;
        c.Core.Sublanes = 2;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 128;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 8;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 1;
      end
      PresetBoard8: begin
        c.Core.Rows = 8;
        c.Core.Cols = 8;
        c.Core.Cell = CellInt8;
        c.Core.CellStages = 2;
        c.Core.Multipliers = 64;
        c.Core.UbBytes = 65536;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 1024;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 1;
        c.Core.VectorLanes = 2;
        c.Core.Sublanes = 1;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 16;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 0;
        c.Cores = 1;
        c.Memory = MemoryAxi;
        c.HbmPcs = 0;
        c.DramBytes = 33554432;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 0;
      end
      PresetBoard: begin
        c.Core.Rows = 16;
        c.Core.Cols = 16;
        c.Core.Cell = CellInt8;
        c.Core.CellStages = 2;
        c.Core.Multipliers = 145;
        c.Core.UbBytes = 131072;
        c.Core.UbBanks = 4;
        c.Core.AccRows = 1024;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 1;
        c.Core.VectorLanes = 2;
        c.Core.Sublanes = 1;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 16;
        c.Core.Segments = 2;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 0;
        c.Cores = 1;
        c.Memory = MemoryAxi;
        c.HbmPcs = 0;
        c.DramBytes = 33554432;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 0;
      end
      PresetMinichip: begin
        c.Core.Rows = 8;
        c.Core.Cols = 8;
        c.Core.Cell = CellBf16;
        c.Core.CellStages = 3;
        c.Core.Multipliers = 64;
        c.Core.UbBytes = 131072;
        c.Core.UbBanks = 16;
        c.Core.AccRows = 512;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 8;
        c.Core.Sublanes = 2;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 32;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 2;
        c.Memory = MemoryHbm;
        c.HbmPcs = 2;
        c.DramBytes = 0;
        c.SmemBytes = 32768;
        c.LinkBytes = 4;
        c.Ecc = 1;
      end
      PresetV2chip: begin
        c.Core.Rows = 128;
        c.Core.Cols = 128;
        c.Core.Cell = CellBf16;
        c.Core.CellStages = 3;
        c.Core.Multipliers = 16384;
        c.Core.UbBytes = 16777216;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 4096;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 128;
        c.Core.Sublanes = 4;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 512;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 2;
        c.Memory = MemoryHbm;
        c.HbmPcs = 32;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 64;
        c.Ecc = 1;
      end
      PresetEdgechip: begin
        c.Core.Rows = 32;
        c.Core.Cols = 32;
        c.Core.Cell = CellInt8;
        c.Core.CellStages = 1;
        c.Core.Multipliers = 1024;
        c.Core.UbBytes = 524288;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 1024;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 32;
        c.Core.Sublanes = 1;
        c.Core.Residual = 1;
        c.Core.BeatBytes = 64;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 4;
        c.DramBytes = 0;
        c.SmemBytes = 32768;
        c.LinkBytes = 0;
        c.Ecc = 0;
      end
      PresetLitechip: begin
        c.Core.Rows = 32;
        c.Core.Cols = 32;
        c.Core.Cell = CellBf16;
        c.Core.CellStages = 3;
        c.Core.Multipliers = 1024;
        c.Core.UbBytes = 1048576;
        c.Core.UbBanks = 8;
        c.Core.AccRows = 1024;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 2;
        c.Core.VectorLanes = 32;
        c.Core.Sublanes = 2;
        c.Core.Residual = 0;
        c.Core.BeatBytes = 128;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 2;
        c.Memory = MemoryHbm;
        c.HbmPcs = 8;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 16;
        c.Ecc = 1;
      end
      default: begin
        c.Core.Rows = 8;
        c.Core.Cols = 8;
        c.Core.Cell = CellInt8;
        c.Core.CellStages = 1;
        c.Core.Multipliers = 64;
        c.Core.UbBytes = 65536;
        c.Core.UbBanks = 16;
        c.Core.AccRows = 512;
        c.Core.WfifoTiles = 8;
        c.Core.LoadBuses = 1;
        c.Core.VectorLanes = 8;
        c.Core.Sublanes = 1;
        c.Core.Residual = 1;
        c.Core.BeatBytes = 32;
        c.Core.Segments = 4;
        c.Core.QueueDepth = 8;
        c.Core.Parity = 1;
        c.Cores = 1;
        c.Memory = MemoryHbm;
        c.HbmPcs = 2;
        c.DramBytes = 0;
        c.SmemBytes = 0;
        c.LinkBytes = 0;
        c.Ecc = 0;
      end
    endcase
    return c;
  endfunction

  function automatic core_cfg_t core_preset(int unsigned id);
    chip_cfg_t c;
    c = preset(id);
    return c.Core;
  endfunction

  // Bytes of a beat: what memory reads or writes in one cycle at most.
  function automatic int unsigned beat_bytes(core_cfg_t c);
    return c.BeatBytes;
  endfunction

  // Bytes of a beat of the host's AXI4 port: a beat, as far as AXI4 has such widths.
  function automatic int unsigned axi_bytes(core_cfg_t c);
    return beat_bytes(c) < 128 ? beat_bytes(c) : 128;
  endfunction

  // Bytes of a weight or activation.
  function automatic int unsigned element_bytes(core_cfg_t c);
    return c.Cell == CellBf16 ? 2 : 1;
  endfunction

  // Bytes of a unified buffer word and of a window: a vector of int8 activations, or a row of fp32 lanes.
  function automatic int unsigned word_bytes(core_cfg_t c);
    return c.Cell == CellBf16 ? 4 * c.Cols : c.Rows;
  endfunction

  // Bytes of a weight tile.
  function automatic int unsigned tile_bytes(core_cfg_t c);
    return c.Rows * c.Cols * element_bytes(c);
  endfunction

  // Read windows of the weight loader (bf16), one for each row of a tile in a beat.
  function automatic int unsigned tile_windows(core_cfg_t c);
    return c.Cell == CellBf16 ? c.BeatBytes / (2 * c.Cols) : 1;
  endfunction

  // Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).
  function automatic int unsigned num_windows(core_cfg_t c);
    return c.Cell == CellBf16 ? c.Segments + 2 + tile_windows(c) : c.Segments + 1;
  endfunction

  // Bytes of a flit of the links: four cycles of a link, as far as a packet's length has bits; chips without links: 16.
  function automatic int unsigned flit_bytes(chip_cfg_t c);
    return c.LinkBytes == 0 ? 16 : c.LinkBytes > 16 ? 64 : 4 * c.LinkBytes;
  endfunction

  // Bytes of a core's own memory.
  function automatic logic [AddrBits:0] memory_bytes(chip_cfg_t c);
    return c.Memory == MemoryAxi ? (AddrBits + 1)'(c.DramBytes) : (AddrBits + 1)'(c.Core.BeatBytes) << 25;
  endfunction

  function automatic logic pow2(int unsigned n);
    return n != 0 && (n & (n - 1)) == 0;
  endfunction
  function automatic int unsigned max(int unsigned a, int unsigned b);
    return a > b ? a : b;
  endfunction

  // The first rule that a configuration breaks (systole_cfg_check); 0: it is legal.
  function automatic int unsigned broken_rule(chip_cfg_t c);
    if (!((pow2(c.Core.Rows) && c.Core.Rows >= 8 && c.Core.Rows <= 256 && c.Core.Cols == c.Core.Rows))) return 1;
    if (!(c.Core.Cell == CellInt8 || c.Core.Cell == CellBf16)) return 2;
    if (!(c.Core.Cell != CellInt8 || c.Core.CellStages <= 2)) return 3;
    if (!((c.Core.CellStages >= 1 && c.Core.CellStages <= 5))) return 4;
    if (!((c.Core.Multipliers <= c.Core.Rows * c.Core.Cols && (c.Core.Cell == CellInt8) || c.Core.Multipliers == c.Core.Rows * c.Core.Cols))) return 5;
    if (!((pow2(c.Core.UbBanks) && c.Core.UbBytes != 0 && c.Core.UbBytes % (c.Core.UbBanks * word_bytes(c.Core)) == 0))) return 6;
    if (!(c.Core.UbBytes <= 33554432)) return 7;
    if (!((pow2(c.Core.AccRows) && c.Core.AccRows >= 4 && c.Core.AccRows <= 8192))) return 8;
    if (!((pow2(c.Core.WfifoTiles) && c.Core.WfifoTiles >= 2))) return 9;
    if (!((pow2(c.Core.LoadBuses) && 4 * c.Core.LoadBuses <= c.Core.Rows && c.Core.LoadBuses * c.Core.BeatBytes <= c.Core.Rows * c.Core.Cols))) return 10;
    if (!((pow2(c.Core.VectorLanes) && c.Core.VectorLanes <= c.Core.Cols))) return 11;
    if (!(c.Core.Cell != CellBf16 || c.Core.VectorLanes == c.Core.Cols)) return 12;
    if (!((pow2(c.Core.Sublanes) && c.Core.Sublanes <= 4 && (c.Core.Cell == CellBf16) || c.Core.Sublanes == 1))) return 13;
    if (!((c.Core.Residual <= 1 && (c.Core.Cell == CellInt8) || c.Core.Residual == 0))) return 14;
    if (!((pow2(c.Core.BeatBytes) && c.Core.BeatBytes >= 16 && c.Core.BeatBytes <= 512))) return 15;
    if (!(c.Core.Cell != CellBf16 || c.Core.BeatBytes >= 2 * c.Core.Cols)) return 16;
    if (!((c.Core.Segments >= 1 && c.Core.Segments <= 4))) return 17;
    if (!(c.Core.UbBanks * word_bytes(c.Core) >= c.Core.Segments * max(2 * word_bytes(c.Core), c.Core.BeatBytes))) return 18;
    if (!(c.Core.QueueDepth >= 2)) return 19;
    if (!(c.Core.Parity <= 1)) return 20;
    if (!(c.Cores == 1 || (c.Cores == 2 && c.Memory == MemoryHbm && c.Core.BeatBytes <= 1024))) return 21;
    if (!(c.Memory == MemoryHbm || c.Memory == MemoryAxi)) return 22;
    if (!(c.Memory != MemoryHbm || (pow2(c.HbmPcs) && c.HbmPcs >= 2 && c.Core.BeatBytes == 16 * c.HbmPcs))) return 23;
    if (!(c.Memory != MemoryHbm || c.DramBytes == 0)) return 24;
    if (!(c.Memory != MemoryAxi || c.HbmPcs == 0)) return 25;
    if (!(c.Memory != MemoryAxi || c.Core.BeatBytes <= 128)) return 26;
    if (!(c.SmemBytes == 0 || (pow2(c.SmemBytes) && c.SmemBytes >= 8192 && c.SmemBytes <= 1048576))) return 27;
    if (!(c.SmemBytes == 0 || c.Memory == MemoryHbm)) return 28;
    if (!(c.LinkBytes == 0 || (c.Cores == 2 && c.LinkBytes >= 4 && c.LinkBytes <= 64 && c.Core.BeatBytes == 8 * c.LinkBytes))) return 29;
    if (!((c.Ecc <= 1 && (c.Memory == MemoryHbm) || c.Ecc == 0))) return 30;
    if (!(c.Memory != MemoryAxi || (c.DramBytes != 0 && c.DramBytes % 4096 == 0))) return 31;
    return 0;
  endfunction

endpackage
