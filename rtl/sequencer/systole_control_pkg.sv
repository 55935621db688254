// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types of the program control. Docs: docs/sequencer.md.

package systole_control_pkg;

  // Which descriptor of a queue a fault is about.
  typedef enum logic [1:0] {
    PlaceOldest = 2'd0,  // in flight; the newest if nothing is
    PlaceNewest = 2'd1,  // started last
    PlaceHead   = 2'd2,  // not started
    PlacePosted = 2'd3   // whose posts overflowed a flag
  } place_e;

  // What the sequencer does.
  typedef struct packed {
    logic running;  // until the halt; also when stopped by a fault
    logic active;   // it is neither idle nor stopped
    logic pending;  // a descriptor is looked at, and may move
  } seq_state_t;

endpackage
