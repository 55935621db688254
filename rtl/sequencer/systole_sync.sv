// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sync flags: counters that descriptors wait for and post to. Each queue may take from any set of flags and post to any set in one
// cycle, the sequencer's halt (the last agent) may take; the new values are seen in the next cycle. Cleared by the reset.
// Docs: docs/sequencer.md, docs/isa.md. Test: tests/rtl/sequencer.

module systole_sync
  import systole_isa_pkg::*;
(
    input  logic                               clk_i,
    input  logic                               rst_ni,

    input  logic [NumQueues:0][NumFlags-1:0]   wait_i,    // flags that the agent's next descriptor needs, 0 if it has none
    output logic [NumQueues:0][NumFlags-1:0]   unmet_o,   // those of them that it cannot take now
    input  logic [NumQueues:0]                 take_i,    // subtract 1 from each flag of wait_i; only while unmet_o is 0
    input  logic [NumQueues-1:0][NumFlags-1:0] post_i,    // add 1 to each

    output logic [NumQueues-1:0]               overflow_o,       // the queue posted to a flag at its maximum
    output logic [$clog2(NumFlags)-1:0]        overflow_flag_o   // the lowest such flag of the lowest such queue
);
  localparam logic [FlagBits-1:0] MaxCount = '1;
  localparam int unsigned PostBits = $clog2(NumQueues + 1);  // posts to a flag in a cycle

  logic [FlagBits-1:0] count_q [NumFlags];
  logic [FlagBits-1:0] count_d [NumFlags];
  logic [NumFlags-1:0] set_q;      // the count is not 0
  logic [NumFlags-1:0] touched;    // something changes

  // Where two agents want the same flag the lower one goes first, so that no count is ever taken twice. Legal programs never do.
  always_comb begin
    logic [NumFlags-1:0] lower;
    lower = '0;
    for (int unsigned a = 0; a <= NumQueues; a++) begin
      unmet_o[a] = wait_i[a] & ~(set_q & ~lower);
      lower |= wait_i[a];
    end
  end

  always_comb begin
    touched = '0;
    for (int unsigned a = 0; a < NumQueues; a++) touched |= post_i[a];
    for (int unsigned a = 0; a <= NumQueues; a++) if (take_i[a]) touched |= wait_i[a];
  end

  // A cycle's posts to a flag come before its take, of which there is one at most. A post overflows when the count and the posts of
  // lower queues reach the maximum; the count then stays there.
  always_comb begin
    logic [NumQueues-1:0][NumFlags-1:0] over;
    logic [FlagBits-1:0]                room;  // posts until the maximum
    logic [PostBits-1:0]                posts;
    logic                               take;
    logic [FlagBits:0]                  sum;
    over  = '0;
    room  = '0;
    posts = '0;
    take  = 1'b0;
    sum   = '0;
    for (int unsigned f = 0; f < NumFlags; f++) count_d[f] = count_q[f];
    if (touched != '0) begin
      for (int unsigned f = 0; f < NumFlags; f++) begin
        room  = ~count_q[f];
        posts = '0;
        take  = 1'b0;
        for (int unsigned a = 0; a < NumQueues; a++) begin
          over[a][f] = post_i[a][f] && room <= FlagBits'(posts);
          posts      = posts + PostBits'(post_i[a][f]);
        end
        for (int unsigned a = 0; a <= NumQueues; a++) take |= take_i[a] && wait_i[a][f];
        sum        = {1'b0, count_q[f]} + (FlagBits + 1)'(posts) - (FlagBits + 1)'(take);
        count_d[f] = sum[FlagBits] ? MaxCount : sum[FlagBits-1:0];
      end
    end
    overflow_o      = '0;
    overflow_flag_o = '0;
    for (int unsigned a = NumQueues - 1; a < NumQueues; a--) begin
      overflow_o[a] = over[a] != '0;
      if (over[a] != '0) begin
        for (int unsigned f = NumFlags - 1; f < NumFlags; f--) if (over[a][f]) overflow_flag_o = ($clog2(NumFlags))'(f);
      end
    end
  end

  for (genvar f = 0; f < NumFlags; f++) begin : gen_flag
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q[f] <= '0;
        set_q[f]   <= 1'b0;
      end else if (touched[f]) begin
        count_q[f] <= count_d[f];
        set_q[f]   <= count_d[f] != '0;
      end
    end
  end

  // Nothing is taken that is not there.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int unsigned a = 0; a <= NumQueues; a++) begin
        a_take : assert (!take_i[a] || unmet_o[a] == '0);
      end
    end
  end
endmodule
