# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bench of the program control sees faults: changes one line of the RTL at a time, builds it with beats of 64 bytes and
expects a failure. Those of CHIP are built as a chip with a scalar unit, another core and links has it, with beats of 32 bytes. Each
entry: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

SYNC = "sequencer/systole_sync.sv"
QUEUE = "sequencer/systole_unit_queue.sv"
RAM = "sequencer/systole_queue_ram.sv"
FAULT = "sequencer/systole_fault.sv"
SEQUENCER = "sequencer/systole_sequencer.sv"
FETCH = "sequencer/systole_fetch.sv"
CONTROL = "sequencer/systole_control.sv"

MUTANTS = [
    # Sync flags.
    (SYNC, "delta = take[f] ? '1 : '0;", "delta = '0;"),
    (SYNC, "touched = (last | take | peer_last)", "touched = (last | peer_last)"),
    (SYNC, "some[f] = above[f] || count[f] != '0;", "some[f] = 1'b1;"),
    (SYNC, "assign overflow = over_q != '0 || peer_over;", "assign overflow = 1'b0;"),
    (SYNC, "if (!overflow) before_q <= posted_q;", "before_q <= posted_q;"),
    (SYNC, "if (count_q[f][FlagBits-1]) high_q <= 1'b1;", ""),
    (SYNC, "if (find_agent_i == 3'(a) && want[a]) waits", "if (find_agent_i == 3'(a)) waits"),
    (SYNC, "waits[find_flag_i] && !set[find_flag_i]", "waits[find_flag_i]"),
    # Heads and lists.
    (QUEUE, "granted_q && !full && !freeze_i", "granted_q && !full"),
    (QUEUE, "granted_q && !full && !freeze_i", "granted_q && !freeze_i"),
    (QUEUE, "if (fill_i) granted_q <= fill_free_i;", "if (fill_i) granted_q <= 1'b1;"),
    (QUEUE, "PlaceOldest: place = flights == '0 ? in_ptr_q - 1'b1 : out_ptr_q;", "PlaceOldest: place = in_ptr_q - 1'b1;"),
    (QUEUE, "PlaceNewest: place = in_ptr_q - 1'b1;", "PlaceNewest: place = in_ptr_q;"),
    (QUEUE, "PlacePosted: place = posted2_q;", "PlacePosted: place = posted_q;"),
    (QUEUE, "if (!posted_hold_i) posted2_q <= posted_q;", "posted2_q <= posted_q;"),
    (QUEUE, "assign idle_o    = !head_valid_q && flights == '0;", "assign idle_o    = flights == '0;"),
    # Descriptors that wait.
    (RAM, "(avail_q[q] != '0 || commit[q])", "(held_q[q] != '0)"),
    (RAM, "held_q[q] != count_t'(Depth);", "1'b1;"),
    (RAM, "want[q] && !fill_q[q] &&", "want[q] &&"),
    (RAM, "|= {QueueBits'(q), rd_ptr_q[q]}", "|= {QueueBits'(0), rd_ptr_q[q]}"),
    (RAM, "empty_o[q] = held_q[q] == '0;", "empty_o[q] = avail_q[q] == '0;"),
    # Faults.
    (FAULT, "assign unit_stop_o = unit_valid_q;", "assign unit_stop_o = '0;"),
    (FAULT, "unit_valid_q & (~unit_valid_q + 1'b1);", "unit_valid_q;"),
    (FAULT, "if (state_q == Watch && !any) cycle_q", "if (state_q == Watch) cycle_q"),
    (FAULT, "newest = unit_newest_q[q];", "newest = !unit_newest_q[q];"),
    (FAULT, "(overflow_i || seq_code_q == FaultWatchdog) ? Find : Look", "overflow_i ? Find : Look"),
    (FAULT, "if (found || find_last) state_q <= Look;", "if (found) state_q <= Look;"),
    (FAULT, "if (found_agent_q != AgentHalt) queue_q <= found_agent_q;", "queue_q <= found_agent_q;"),
    (FAULT, "PlacePosted : PlaceHead;", "PlacePosted : PlaceNewest;"),
    (FAULT, "if (any || freeze_i) freeze_q <= '1;", "if (state_q == Look || freeze_i) freeze_q <= '1;"),
    (FAULT, "if (any || freeze_i) freeze_q <= '1;", "if (any) freeze_q <= '1;"),
    # Sequencer.
    (SEQUENCER, "state_q == Run && !bad ? written_q : '0", "state_q == Run ? written_q : '0"),
    (SEQUENCER, "!fault_valid && active && !at_end) fault_pc_q", "active && !at_end) fault_pc_q"),
    (SEQUENCER, "!fault_valid && active && !at_end) fault_pc_q", "!fault_valid && active) fault_pc_q"),
    (SEQUENCER, "(!flag_high_i || idle_q == '1)", "1'b1"),
    (SEQUENCER, "(state_d == Stopped && halting_q)", "1'b0"),
    (SEQUENCER, "queue_idle_i == '1 && fetch_idle &&", "queue_idle_i == '1 &&"),
    (SEQUENCER, "running: state_q != Idle || done_o,", "running: active,"),
    # Fetch.
    (FETCH, "signed'(limit_t'(addr_q)) <= signed'(next_end_q)", "1'b1"),
    (FETCH, "signed'(limit_t'(prog_addr_i)) <= signed'(first_end_q)", "1'b1"),
    (FETCH, "more_q     <= left_q > PcBits'(DescsPerBeat);", "more_q     <= 1'b1;"),
    (FETCH, "more_q     <= prog_len_i != '0;", "more_q     <= 1'b1;"),
    (CONTROL, ".freeze_i(freeze_queue[q] || unit_stop[q])", ".freeze_i(freeze_queue[q])"),
    # What wakes the clock.
    (CONTROL, "events || seq_state.pending || flag_met", "events || flag_met"),
    (CONTROL, "(~head_valid & ~none) != '0 || !running", "!running"),
    (CONTROL, "!= '0 || !running)", "!= '0)"),
    (CONTROL, "freeze_sequencer || expired_q ||", "freeze_sequencer ||"),
    (CONTROL, "mem_error_i.valid || rd_rsp_valid_i ||", "mem_error_i.valid ||"),
    (CONTROL, "(starts | done | unit_fault) != '0", "(starts | unit_fault) != '0"),
    (CONTROL, "(starts | done | unit_fault) != '0", "(done | unit_fault) != '0"),
    # Sends without links.
    (SEQUENCER, "known_q  <= has_opcode(header.opcode, Cell, Links);", "known_q  <= has_opcode(header.opcode, Cell, 1'b1);"),
]
CHIP = [
    # Flags that others post.
    (SYNC, "peer_rst_ni && Links ? peer.link : '0;", "rst_ni && Links ? '0 : '0;"),
    (SYNC, "+ 4'(peer_last[Own+f]);", "+ 4'(peer_last[FirstPeer+f%PeerFlags]);"),
    (SYNC, "mask_t'(left_over_q) << FirstPeer", "mask_t'(left_over_q) << Own"),
    (SYNC, "posted_q[a][FirstPeer+f]", "posted_q[a][Own+f]"),
    (SYNC, "scalar_post_q[FirstPeer+f]", "scalar_post_q[Own+f]"),
    (SYNC, "peer_over     = came_over_q != '0 || left_over_q != '0;", "peer_over     = left_over_q != '0;"),
    (SYNC, "      if (!peer_rst_ni) begin", "      if (!rst_ni) begin"),
    # What programs may not do.
    (SEQUENCER, "(Links && (header.post_mask & LinkMask) != '0)", "1'b0"),
    (SEQUENCER, "(Links && header.opcode == OpSend)", "1'b0"),
    (SEQUENCER, "(Links ? LinkMask : '0)", "'0"),
    # The queue of sends.
    (CONTROL, ".freeze_i(freeze_queue[QueueSend] || unit_stop[QueueSend])", ".freeze_i(freeze_queue[QueueSend])"),
    (CONTROL, ".fill_i(fill[QueueSend])", ".fill_i(fill[QueueStore])"),
    (CONTROL, "(Peer && (!peer_rst_ni || peer_req_i != '0))", "(Peer && (!peer_rst_ni || peer_req_i.post != '0 || peer_req_i.take != '0))"),
]

BENCHES = [mutation.Bench("sequencer_bench", "Vsequencer_edge", "tests/rtl/sequencer/sequencer_bench.sv", ("-GD=64", "-GCell=0"), "SequencerTest/1.*"),
           mutation.Bench("sequencer_bench", "Vsequencer_chip", "tests/rtl/sequencer/sequencer_bench.sv",
                          ("-GD=32", "-GIssue=1", "-GPeer=1", "-GLinks=1"), "SequencerChipTest.*")]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS + CHIP, BENCHES, lambda mutant: int(mutant in CHIP)))
