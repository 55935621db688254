// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Streams between the parts of the HBM front end (systole_hbm). Docs: docs/hbm.md.

package systole_hbm_front_pkg;
  import systole_hbm_pkg::*;

  localparam int unsigned Slots = 128;    // per group: unanswered reads, and beats of write data; a power of two
  localparam int unsigned TagBits = $clog2(Slots);
  localparam int unsigned BufDepth = 64;  // writes in the write buffer; a power of two
  localparam int unsigned ClientBits = 4;

  typedef logic [BeatBits-1:0]   beat_t;
  typedef logic [ClientBits-1:0] client_t;  // read client; the number after the last one: systole_hbm_partial
  typedef logic [TagBits-1:0]    tag_t;     // slot of a beat in the data memory of its group
  typedef logic [BufDepth-1:0]   marks_t;   // a bit for each entry of the write buffer

  // An accepted read.
  typedef struct packed {
    client_t client;
    beat_t   beat;
  } read_t;

  // A request to the controllers.
  typedef struct packed {
    logic write;
    tag_t tag;    // of a write; the group gives a read its tag
    loc_t loc;
  } request_t;

  // Commands of a group in a cycle.
  typedef struct packed {
    row_cmd_e            row;
    logic [BankBits-1:0] row_bank;
    logic [RowBits-1:0]  row_addr;
    col_cmd_e            col;
    logic [BankBits-1:0] col_bank;
    logic [ColBits-1:0]  col_addr;
  } command_t;

  // What a group did in this cycle, for the counters.
  typedef struct packed {
    logic rd;       // issued RD
    logic wr;       // issued WR
    logic act;      // issued ACT
    logic refresh;  // requests wait for a bank in refresh
  } events_t;
endpackage
