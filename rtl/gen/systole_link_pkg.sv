// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/link.yaml by scripts/generate.py: edit the source.

package systole_link_pkg;

  localparam int unsigned SliceBytes = 16;  // bytes of a slice; a flit is one or more slices, each with a CRC of its own
  localparam int unsigned CrcBytes = 4;  // bytes of a CRC, the last ones of a slice in the last flit of a packet
  localparam int unsigned PayloadFlits = 16;  // flits of payload at most: 256 bytes in flits of 16
  localparam int unsigned PacketFlits = 17;  // flits of a packet at most: head and CRC take as many bytes as a slice
  localparam int unsigned Lanes = 4;  // lanes a direction; training uses 4, 2 or 1 of them
  localparam int unsigned Vcs = 2;  // virtual channels of a link
  localparam int unsigned Ports = 5;  // ports of a router: local, X+, X-, Y+, Y-
  localparam int unsigned MaxReplays = 8;  // replays without progress until the link trains again with fewer lanes
  localparam int unsigned MaxRetrains = 3;  // trainings without progress until the link is given up
  localparam int unsigned TrainSets = 16;  // sets without an error in a row after which a lane is good
  localparam int unsigned SettleSets = 8;  // sets that a decision of training waits for the other lanes, or for the other end
  localparam int unsigned QuietCycles = 32;  // cycles without a signal after which the link trains again
  localparam int unsigned LengthBits = 11;
  localparam int unsigned CoordinateBits = 5;
  localparam int unsigned AddressBits = 36;
  localparam int unsigned SeqBits = 8;
  localparam int unsigned NackBits = 4;
  localparam int unsigned CreditBits = 12;
  localparam int unsigned IdentityBits = 18;
  localparam int unsigned HeadBits = 96;

  typedef enum logic [2:0] {
    KindNone = 3'd0,  // not a packet
    KindWrite = 3'd1,  // length bytes for the destination core's memory
    KindPost = 3'd2,  // sets a flag of the destination core
    KindPoison = 3'd3,  // to the source of a packet that may not have arrived: a link on its way is down
    KindCtrl = 3'd4  // credits, ack and nack of the other direction; link by link, not numbered
  } kind_e;

  typedef enum logic [1:0] {
    TagQuiet = 2'd0,  // no signal
    TagData = 2'd1,  // a flit that goes on with a packet
    TagStart = 2'd2,  // a packet's first flit
    TagTrain = 2'd3  // a symbol of a training set, or a fill: what is sent when there is no flit
  } tag_e;

  typedef enum logic [1:0] {
    CauseNone = 2'd0,  // the link is not down
    CauseNoProgress = 2'd1,  // trainings without progress
    CausePeerReset = 2'd2  // the other end was reset while it held state of this one
  } cause_e;

  localparam logic [7:0] CodeComma = 8'hBC;  // a set's first symbol
  localparam logic [7:0] CodeFill = 8'h4A;  // a fill's symbols
  localparam logic [7:0] CodeMark = 8'hA5;  // XORed with info in a set's last symbol

  typedef struct packed {
    logic [13:0] zero;
    logic [7:0] seq;  // [74+:8] number of the packet on the link that it is on; each link sets it
    logic [35:0] address;  // [38+:36] WRITE: byte address, a multiple of 16; POST: number of the flag; POISON: the lost packet's
    logic src_core;  // [37+:1] source, core of the chip
    logic [4:0] src_y;  // [32+:5] source, row
    logic [4:0] src_x;  // [27+:5] source, column
    logic dst_core;  // [26+:1] destination, core of the chip
    logic [4:0] dst_y;  // [21+:5] destination, row
    logic [4:0] dst_x;  // [16+:5] destination, column
    logic [10:0] length;  // [5+:11] bytes of payload; the last flit's tail mask follows from it
    logic tie;  // [4+:1] of two directions as short, 0: the positive one, 1: the negative one
    logic vc;  // [3+:1] virtual channel of the link that the packet is on; each router sets it
    kind_e kind;  // [0+:3] kind of packet
  } head_t;

  typedef struct packed {
    logic [34:0] zero;
    logic [17:0] identity;  // [43+:18] who says so: number of the chip (15:0), link of that chip (17:16; 0 X+, 1 X-, 2 Y+, 3 Y-)
    logic [11:0] limit1;  // [31+:12] the same of virtual channel 1
    logic [11:0] limit0;  // [19+:12] flits that may have been sent on virtual channel 0 since the start, in all
    logic [3:0] seen;  // [15+:4] the other direction's nack that was acted upon: what is sent from here on is the replay
    logic [3:0] nack;  // [11+:4] count of requests to replay from ack on
    logic [7:0] ack;  // [3+:8] number of the next packet that is expected: all before it have arrived
    kind_e kind;  // [0+:3] kind of packet: CTRL
  } control_t;

  typedef struct packed {
    logic one;  // [7+:1] 1
    logic clean;  // [6+:1] this end has neither sent nor accepted a numbered packet since its reset
    logic drop;  // [5+:1] this end's packets got no further: an end that has seen errors leaves a lane out
    logic chosen;  // [4+:1] 0 POLL: this end tests lanes; 1 CONFIG: it has chosen
    logic [3:0] lanes;  // [0+:4] CONFIG: the lanes that this end wants to receive on
  } info_t;

  // What a core says of a packet that it sends; the rest of the head is the router's and the link's.
  typedef struct packed {
    logic [35:0] address;  // [27+:36] WRITE: byte address, a multiple of 16; POST: number of the flag; POISON: the lost packet's
    logic src_core;  // [26+:1] source, core of the chip
    logic dst_core;  // [25+:1] destination, core of the chip
    logic [4:0] dst_y;  // [20+:5] destination, row
    logic [4:0] dst_x;  // [15+:5] destination, column
    logic [10:0] length;  // [4+:11] bytes of payload; the last flit's tail mask follows from it
    logic tie;  // [3+:1] of two directions as short, 0: the positive one, 1: the negative one
    kind_e kind;  // [0+:3] kind of packet
  } send_t;

  // What happened on a link this cycle, for the performance counters.
  typedef struct packed {
    logic packet_sent;  // [28+:1] a numbered packet goes to the lanes, replays included
    logic [10:0] bytes_sent;  // [17+:11] payload of the packet that goes to the lanes
    logic packet_received;  // [16+:1] a numbered packet was accepted
    logic [10:0] bytes_received;  // [5+:11] payload of the packet that was accepted
    logic replay;  // [4+:1] packets are sent again from the oldest that is not acknowledged
    logic crc_error;  // [3+:1] a packet with a wrong CRC or length came, or a flit without a packet
    logic credit_stall;  // [2+:1] a packet waits for credits of the other end, or for the replay buffer
    logic retrain;  // [1+:1] a training began
    logic poison;  // [0+:1] a packet was given up, as the link is down
  } events_t;

  // CRC-32C of a slice: bit i becomes the XOR of the bits in row i of the slice, whose lowest bits are XORed with the CRC so far.
  localparam logic [31:0] CrcStart = 32'hFFFFFFFF;
  localparam logic [31:0] CrcResidue = 32'hB798B438;  // after a slice's own CRC
  localparam logic [31:0][127:0] CrcRows = {
    128'h8FC8E57B_1C379612_EF13A98C_0CAA668F,
    128'h47E472BD_8E1BCB09_7789D4C6_06553347,
    128'h23F2395E_C70DE584_BBC4EA63_032A99A3,
    128'h11F91CAF_6386F2C2_5DE27531_81954CD1,
    128'h08FC8E57_B1C37961_2EF13A98_C0CAA668,
    128'h047E472B_D8E1BCB0_97789D4C_60655334,
    128'h8DF7C6EE_F047484A_A4AFE72A_3C98CF15,
    128'h46FBE377_7823A425_5257F395_1E4C678A,
    128'hACB514C0_A0264400_46385046_838C554A,
    128'hD9926F1B_4C24B412_CC0F81AF_4D6C4C2A,
    128'hE301D2F6_BA25CC1B_8914695B_AA1C409A,
    128'hFE480C00_4125701F_2B999D21_D9A446C2,
    128'h7F240600_2092B80F_95CCCE90_ECD22361,
    128'hB05AE67B_0C7ECA15_25F5CEC4_7AC3773F,
    128'hD7E59646_9A08F318_7DE94EEE_31CBDD10,
    128'h6BF2CB23_4D04798C_3EF4A777_18E5EE88,
    128'h35F96591_A6823CC6_1F7A53BB_8C72F744,
    128'h1AFCB2C8_D3411E63_0FBD29DD_C6397BA2,
    128'h82B6BC1F_75971923_68CD3D62_EFB6DB5E,
    128'hCE93BB74_A6FC1A83_5B75373D_7B710B20,
    128'hE88138C1_4F499B53_42A93212_B112E31F,
    128'h74409C60_A7A4CDA9_A1549909_5889718F,
    128'hB5E8AB4B_4FE5F0C6_3FB9E508_A0EEDE48,
    128'hD53CB0DE_BBC56E71_F0CF5B08_5CDD09AB,
    128'h6A9E586F_5DE2B738_F867AD84_2E6E84D5,
    128'hBA87C94C_B2C6CD8E_93207F4E_1B9D24E5,
    128'hD28B01DD_4554F0D5_A683962B_0164F4FD,
    128'hE68D6595_BE9DEE78_3C526299_8C181CF1,
    128'hFC8E57B1_C379612E_F13A98C0_CAA668F7,
    128'h7E472BD8_E1BCB097_789D4C60_6553347B,
    128'h3F2395EC_70DE584B_BC4EA630_32A99A3D,
    128'h1F91CAF6_386F2C25_DE275318_1954CD1E
  };

endpackage
