// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types of the program control. Docs: docs/sequencer.md.

package systole_control_pkg;

  // The descriptor of a queue that a fault is about.
  typedef enum logic [1:0] {
    PlaceOldest = 2'd0,  // oldest one in flight; if there is none, the newest one
    PlaceNewest = 2'd1,  // the last one started
    PlaceHead   = 2'd2,  // the head, not started yet
    PlacePosted = 2'd3   // the one whose posts overflowed a flag
  } place_e;

  // State of the sequencer.
  typedef struct packed {
    logic running;  // until the halt; stays high after a fault
    logic active;   // neither idle nor stopped
    logic pending;  // a descriptor is ready to move
  } seq_state_t;

endpackage
