// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/presets.yaml by scripts/generate.py: edit the source.

package systole_presets_pkg;

  // Cells.
  localparam int unsigned CellInt8 = 0;  // int8 x int8 + int32; the quantising vector unit; inference
  localparam int unsigned CellBf16 = 1;  // bf16 x bf16 + fp32, one rounding; the programmable fp32 vector unit; training

  // One configuration of the core. Derived sizes come from the functions below.
  typedef struct packed {
    int unsigned Rows;  // array rows: contraction elements a pass (power of two, 8..256)
    int unsigned Cols;  // array columns: output channels a pass; equals Rows
    int unsigned Cell;  // number format of the array, of the weights and activations
    int unsigned CellStages;  // pipeline stages of a cell of the array (int8: 1)
    int unsigned UbBytes;  // unified buffer size in bytes
    int unsigned UbBanks;  // unified buffer banks, each one read and one write port of one word
    int unsigned AccRows;  // accumulator rows of Cols 32-bit lanes, in two banks of half the rows each
    int unsigned WfifoTiles;  // weight FIFO capacity in tiles of Rows x Cols elements
    int unsigned HbmPcs;  // HBM pseudo-channels of 16 bytes a cycle each (even)
    int unsigned Segments;  // read windows of the systolic data setup: kernel tap runs packed into one pass
    int unsigned QueueDepth;  // descriptors a unit queue holds
  } cfg_t;

  localparam int unsigned AddrBits = 36;  // HBM byte address
  localparam int unsigned UbAddrBits = 25;  // unified buffer byte address
  localparam int unsigned AccAddrBits = 13;  // accumulator row
  localparam int unsigned PcBits = 32;  // descriptor index

  localparam int unsigned PresetNano = 0;  // unit tests, random programs; 64 MACs
  localparam int unsigned PresetEdge = 1;  // the demo, FPGA boards, Edge-TPU-class inference
  localparam int unsigned PresetV1 = 2;  // TPUv1-class inference
  localparam int unsigned PresetMini = 3;  // unit tests, random programs, small training runs of the bf16 core; 64 MACs
  localparam int unsigned PresetV2 = 4;  // TPUv2-class training
  localparam int unsigned PresetLite = 5;  // training in RTL simulation, FPGA boards

  function automatic cfg_t preset(int unsigned id);
    cfg_t c;
    c = '0;
    case (id)
      PresetNano: begin
        c.Rows = 8;
        c.Cols = 8;
        c.Cell = CellInt8;
        c.CellStages = 1;
        c.UbBytes = 65536;
        c.UbBanks = 16;
        c.AccRows = 512;
        c.WfifoTiles = 8;
        c.HbmPcs = 2;
        c.Segments = 4;
        c.QueueDepth = 8;
      end
      PresetEdge: begin
        c.Rows = 32;
        c.Cols = 32;
        c.Cell = CellInt8;
        c.CellStages = 1;
        c.UbBytes = 524288;
        c.UbBanks = 8;
        c.AccRows = 1024;
        c.WfifoTiles = 8;
        c.HbmPcs = 4;
        c.Segments = 4;
        c.QueueDepth = 8;
      end
      PresetV1: begin
        c.Rows = 256;
        c.Cols = 256;
        c.Cell = CellInt8;
        c.CellStages = 1;
        c.UbBytes = 25165824;
        c.UbBanks = 8;
        c.AccRows = 4096;
        c.WfifoTiles = 4;
        c.HbmPcs = 8;
        c.Segments = 4;
        c.QueueDepth = 8;
      end
      PresetMini: begin
        c.Rows = 8;
        c.Cols = 8;
        c.Cell = CellBf16;
        c.CellStages = 3;
        c.UbBytes = 131072;
        c.UbBanks = 16;
        c.AccRows = 512;
        c.WfifoTiles = 8;
        c.HbmPcs = 2;
        c.Segments = 4;
        c.QueueDepth = 8;
      end
      PresetV2: begin
        c.Rows = 128;
        c.Cols = 128;
        c.Cell = CellBf16;
        c.CellStages = 3;
        c.UbBytes = 16777216;
        c.UbBanks = 8;
        c.AccRows = 4096;
        c.WfifoTiles = 4;
        c.HbmPcs = 32;
        c.Segments = 4;
        c.QueueDepth = 8;
      end
      PresetLite: begin
        c.Rows = 32;
        c.Cols = 32;
        c.Cell = CellBf16;
        c.CellStages = 3;
        c.UbBytes = 1048576;
        c.UbBanks = 8;
        c.AccRows = 1024;
        c.WfifoTiles = 4;
        c.HbmPcs = 8;
        c.Segments = 4;
        c.QueueDepth = 8;
      end
      default: c = '0;
    endcase
    return c;
  endfunction

  // Bytes of an HBM beat: the peak of all pseudo-channels in one cycle.
  function automatic int unsigned beat_bytes(cfg_t c);
    return 16 * c.HbmPcs;
  endfunction

  // Bytes of a beat of the host's AXI4 port: an HBM beat, as far as AXI4 has such widths.
  function automatic int unsigned axi_bytes(cfg_t c);
    return beat_bytes(c) < 128 ? beat_bytes(c) : 128;
  endfunction

  // Bytes of a weight or activation.
  function automatic int unsigned element_bytes(cfg_t c);
    return c.Cell == CellBf16 ? 2 : 1;
  endfunction

  // Bytes of a unified buffer word and of a window: a vector of int8 activations, or a row of fp32 lanes.
  function automatic int unsigned word_bytes(cfg_t c);
    return c.Cell == CellBf16 ? 4 * c.Cols : c.Rows;
  endfunction

  // Bytes of a weight tile.
  function automatic int unsigned tile_bytes(cfg_t c);
    return c.Rows * c.Cols * element_bytes(c);
  endfunction

  // Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).
  function automatic int unsigned num_windows(cfg_t c);
    return c.Cell == CellBf16 ? c.Segments + 3 : c.Segments + 1;
  endfunction

endpackage
