// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sync flags: counters that descriptors wait for and post to. Latency: a post is visible in the cycle in which it is
// made; the count and the overflow check follow one cycle later. A flag can be taken at most every two cycles. Reset
// clears all flags. With another core, posts to the last PeerFlags flags wait in their own counters until they are
// sent, and those flags count the posts received. With links, the LinkFlags flags before those count the posts of packets.
// Docs: docs/sequencer.md, docs/isa.md. Test: tests/rtl/sequencer.

module systole_sync
  import systole_isa_pkg::*;
#(
    parameter bit Issue = 1'b0,  // the core has a scalar unit
    parameter bit Peer = 1'b0,   // the chip has another core
    parameter bit Links = 1'b0,  // and links
    parameter bit Parity = 1'b0  // parity over the flags that this core posts to itself
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic                               peer_rst_ni,  // reset of the flags that others post, which keep their values between programs
    input  logic                               freeze_i,   // no more takes or posts

    // Agents: the queues and, last, the halt of the sequencer.
    input  logic [NumQueues:0]                 want_i,     // the agent waits for all flags of wait_i
    input  logic [NumQueues:0][NumFlags-1:0]   wait_i,     // stable until the cycle after met_o
    output logic [NumQueues:0]                 met_o,      // all flags are set and are taken: each count decreases by 1
    input  logic [NumQueues-1:0][NumFlags-1:0] post_i,     // each count increases by 1
    input  logic [NumQueues-1:0]               post_parity_i,

    // Scalar unit; without one the input is ignored and the output is 0.
    input  systole_bus_pkg::flag_req_t         scalar_i,
    output systole_bus_pkg::flag_rsp_t         scalar_o,

    // The other core; without one the input is ignored and the output is 0.
    input  systole_bus_pkg::peer_req_t         peer_i,
    output systole_bus_pkg::peer_rsp_t         peer_o,

    output logic                               high_o,     // a flag may overflow soon
    output logic                               overflow_o, // a post hit a flag at its maximum; sticky, and all counts stop
    output logic                               bad_o,      // bit flip found in a flag of the last cycle
    output logic [$clog2(NumFlags)-1:0]        bad_flag_o, // the lowest such flag
    output logic [NumQueues-1:0]               bad_post_o, // bit flip in posts, on their way here or in the last cycle

    // Lookup for a fault. Normally: does the agent wait for this flag, and is the flag not set? After an overflow: did
    // this flag overflow, and did the agent post to it?
    input  logic [2:0]                         find_agent_i,
    input  logic [$clog2(NumFlags)-1:0]        find_flag_i,
    output logic                               found_o
);
  localparam int unsigned FarFlags = Peer ? PeerFlags + (Links ? LinkFlags : 0) : 0;  // that others post
  localparam int unsigned Own = NumFlags - FarFlags;  // flags that this core posts to itself
  localparam int unsigned FirstPeer = NumFlags - PeerFlags;
  typedef logic [NumFlags-1:0] mask_t;
  typedef logic [FlagBits-1:0] count_t;
  localparam mask_t OwnMask = mask_t'({NumFlags{1'b1}} >> (NumFlags - Own));

  mask_t              set, over;  // the count is not 0; the count exceeded its maximum
  count_t             count_q [Own];
  logic [Own-1:0]     set_q, over_q;
  mask_t              posted_q [NumQueues];
  mask_t              before_q [NumQueues];  // posted_q one cycle earlier; after an overflow, the posts that caused it
  logic [NumQueues:0] taken_q;
  logic               high_q, overflow;
  mask_t              scalar_post_q, scalar_take_q;  // of the last cycle

  // Without links there is no queue of sends.
  logic [NumQueues:0]   want;
  mask_t                post [NumQueues];
  logic [NumQueues-1:0] post_parity;
  always_comb begin
    want        = want_i;
    post_parity = post_parity_i;
    for (int unsigned a = 0; a < NumQueues; a++) post[a] = post_i[a];
    if (!Links) begin
      want[QueueSend]        = 1'b0;
      post[QueueSend]        = '0;
      post_parity[QueueSend] = 1'b0;
    end
  end

  systole_bus_pkg::flag_req_t scalar;
  assign scalar = Issue ? scalar_i : '0;

  systole_bus_pkg::peer_req_t peer;
  logic [PeerFlags-1:0]       peer_post_q;  // of the last cycle
  logic [LinkFlags-1:0]       link_post_q;
  mask_t                      peer_last;
  assign peer      = Peer ? peer_i : '0;
  assign peer_last = {peer_post_q, link_post_q, (FirstPeer - LinkFlags)'(0)};

  // Posts of the last cycle and of this cycle; takes from the counts in this cycle.
  mask_t last, now, take;
  always_comb begin
    last = '0;
    now  = '0;
    take = '0;
    for (int unsigned a = 0; a < NumQueues; a++) begin
      last |= posted_q[a];
      now  |= post[a];
    end
    for (int unsigned a = 0; a <= NumQueues; a++) if (taken_q[a]) take |= wait_i[a];
    last |= scalar_post_q;
    now  |= scalar.post;
    take |= scalar_take_q;
  end

  // If two agents want the same flag, the lower one has priority, so no count is taken twice. Legal programs never do
  // this.
  logic stop;
  assign stop = freeze_i || overflow;
  always_comb begin
    mask_t free;
    free = (set | ((last | now) & OwnMask) | peer_last) & ~take;
    for (int unsigned a = 0; a < NumQueues; a++) begin
      met_o[a] = want[a] && !stop && (wait_i[a] & ~free) == '0;
      if (want[a]) free &= ~wait_i[a];
    end
    // The scalar unit comes after all queues, whether or not they were served.
    scalar_o.taken = scalar.want != '0 && scalar_take_q == '0 && !stop && (scalar.want & ~free) == '0;
    scalar_o.there = Issue ? set : '0;
    // The halt asks only when no queue wants, posts or has taken anything. A post of the scalar unit counts one cycle
    // later.
    met_o[NumQueues] = want[NumQueues] && !stop && (wait_i[NumQueues] & ~(set | (last & OwnMask) | peer_last)) == '0;
  end

  // Count update. A flag has up to seven posts and one take per cycle. An overflow stops all updates.
  logic touched, moved_q;  // counts changed in the last cycle
  assign touched = (last | take | peer_last) != '0 || peer.take != '0;

  always_ff @(posedge clk_i) begin
    automatic count_t         count [Own];
    automatic logic [Own-1:0] some, above;
    automatic logic [3:0]     delta;  // two's complement
    moved_q <= rst_ni && touched && !overflow;
    if (!rst_ni) begin
      count_q <= '{default: '0};
      set_q   <= '0;
      over_q  <= '0;
    end else if (touched && !overflow) begin
      for (int unsigned f = 0; f < Own; f++) begin
        delta = take[f] ? '1 : '0;
        for (int unsigned a = 0; a < NumQueues; a++) delta = delta + 4'(posted_q[a][f]);
        delta = delta + 4'(scalar_post_q[f]);
        {above[f], count[f]} = {1'b0, count_q[f]} + {{FlagBits - 3{delta[3]}}, delta};
        some[f] = above[f] || count[f] != '0;
      end
      count_q <= count;
      set_q   <= some;
      over_q  <= above;
    end
  end

  // Between the cores: counters of posts received, and counters of posts to the other core that wait to be sent.
  logic peer_over, peer_high;
  if (Peer) begin : gen_peer
    typedef logic [FarFlags-1:0]  far_t;
    typedef logic [PeerFlags-1:0] peer_t;
    count_t came_q [FarFlags], left_q [PeerFlags];
    far_t   came_set_q, came_over_q;
    peer_t  left_set_q, left_over_q;
    always_ff @(posedge clk_i) begin
      automatic count_t     came [FarFlags], left [PeerFlags];
      automatic far_t       came_above, came_some;
      automatic peer_t      left_above, left_some;
      automatic logic [3:0] delta;
      if (!peer_rst_ni) begin
        came_q      <= '{default: '0};
        left_q      <= '{default: '0};
        came_set_q  <= '0;
        left_set_q  <= '0;
        came_over_q <= '0;
        left_over_q <= '0;
      end else if (touched && !overflow) begin
        for (int unsigned f = 0; f < FarFlags; f++) begin
          delta = (take[Own+f] ? '1 : '0) + 4'(peer_last[Own+f]);
          {came_above[f], came[f]} = {1'b0, came_q[f]} + {{FlagBits - 3{delta[3]}}, delta};
          came_some[f] = came_above[f] || came[f] != '0;
        end
        for (int unsigned f = 0; f < PeerFlags; f++) begin
          delta = peer.take[f] ? '1 : '0;
          for (int unsigned a = 0; a < NumQueues; a++) delta = delta + 4'(posted_q[a][FirstPeer+f]);
          delta = delta + 4'(scalar_post_q[FirstPeer+f]);
          {left_above[f], left[f]} = {1'b0, left_q[f]} + {{FlagBits - 3{delta[3]}}, delta};
          left_some[f] = left_above[f] || left[f] != '0;
        end
        came_q      <= came;
        left_q      <= left;
        came_set_q  <= came_some;
        left_set_q  <= left_some;
        came_over_q <= came_above;
        left_over_q <= left_above;
      end
    end
    always_comb begin
      peer_high = 1'b0;
      for (int unsigned f = 0; f < FarFlags; f++) peer_high |= came_q[f][FlagBits-1];
      for (int unsigned f = 0; f < PeerFlags; f++) peer_high |= left_q[f][FlagBits-1];
    end
    assign set           = {came_set_q, set_q};
    assign over          = {came_over_q, over_q} | (mask_t'(left_over_q) << FirstPeer);
    assign peer_over     = came_over_q != '0 || left_over_q != '0;
    assign peer_o.posted = left_set_q;
  end else begin : gen_alone
    assign set           = set_q;
    assign over          = over_q;
    assign peer_over     = 1'b0;
    assign peer_high     = 1'b0;
    assign peer_o.posted = '0;
  end

  assign overflow = over_q != '0 || peer_over;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      posted_q      <= '{default: '0};
      taken_q       <= '0;
      high_q        <= 1'b0;
      scalar_post_q <= '0;
      scalar_take_q <= '0;
    end else begin
      scalar_post_q <= freeze_i ? '0 : scalar.post;
      scalar_take_q <= scalar_o.taken ? scalar.want : '0;
      for (int unsigned a = 0; a < NumQueues; a++) posted_q[a] <= freeze_i ? '0 : post[a];
      taken_q <= met_o;
      if (moved_q) begin
        for (int unsigned f = 0; f < Own; f++) if (count_q[f][FlagBits-1]) high_q <= 1'b1;
        if (peer_high) high_q <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    peer_post_q <= peer_rst_ni ? peer.post : '0;
    link_post_q <= peer_rst_ni && Links ? peer.link : '0;
  end
  always_ff @(posedge clk_i) if (!overflow) before_q <= posted_q;
  assign high_o     = high_q;
  assign overflow_o = overflow;

  // Parity: computed in the cycle after a count changes, compared in all other cycles.
  if (Parity) begin : gen_parity
    logic [Own-1:0] parity_q, changed_q, odd, some, bad_q;
    always_comb begin
      for (int unsigned f = 0; f < Own; f++) begin
        odd[f]  = ^count_q[f];
        some[f] = count_q[f] != '0;
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        parity_q  <= '0;
        changed_q <= '0;
        bad_q     <= '0;
      end else begin
        changed_q <= overflow ? '0 : Own'(last | take);
        parity_q  <= (parity_q & ~changed_q) | (odd & changed_q);
        bad_q     <= overflow ? '0 : ((odd ^ parity_q) & ~changed_q) | (some ^ set_q);
      end
    end
    logic [NumQueues-1:0] post_parity_q;
    always_ff @(posedge clk_i) begin
      post_parity_q <= rst_ni && !freeze_i ? post_parity : '0;
      for (int unsigned a = 0; a < NumQueues; a++) bad_post_o[a] <= rst_ni && (^posted_q[a] ^ post_parity_q[a]);
    end
    assign bad_o = bad_q != '0;
    always_comb begin
      bad_flag_o = '0;
      for (int unsigned f = Own; f > 0; f--) if (bad_q[f-1]) bad_flag_o = ($clog2(NumFlags))'(f - 1);
    end
  end else begin : gen_no_parity
    assign bad_o      = 1'b0;
    assign bad_flag_o = '0;
    assign bad_post_o = '0;
    logic unused;
    assign unused = &{1'b0, post_parity};
  end

  mask_t waits, posts;
  always_comb begin
    waits = '0;
    posts = '1;  // index after the queues: flags posted only by the scalar unit or the other core
    for (int unsigned a = 0; a <= NumQueues; a++) if (find_agent_i == 3'(a) && want[a]) waits = wait_i[a];
    for (int unsigned a = 0; a < NumQueues; a++) if (find_agent_i == 3'(a)) posts = before_q[a];
  end
  // Result one cycle after the request.
  always_ff @(posedge clk_i) found_o <= overflow ? posts[find_flag_i] && over[find_flag_i] : waits[find_flag_i] && !set[find_flag_i];

  // Checks: only set flags are taken, and no flag twice; the halt comes after all queues. The scalar unit may post
  // meanwhile.
  always_ff @(posedge clk_i) begin
    mask_t taken, twice;  // flags taken by an agent; by two agents
    mask_t posts_of_queues;
    posts_of_queues = '0;
    for (int unsigned a = 0; a < NumQueues; a++) posts_of_queues |= post[a];
    if (rst_ni && want[NumQueues]) a_halt : assert (want[NumQueues-1:0] == '0 && posts_of_queues == '0 && taken_q[NumQueues-1:0] == '0);
    if (rst_ni && !overflow && taken_q != '0) begin
      a_there : assert ((take & ~(set | (last & OwnMask) | peer_last)) == '0);
      {taken, twice} = '0;
      for (int unsigned a = 0; a <= NumQueues; a++) begin
        twice |= taken_q[a] ? taken & wait_i[a] : '0;
        taken |= taken_q[a] ? wait_i[a] : '0;
      end
      a_once : assert (twice == '0);
    end
  end
endmodule
