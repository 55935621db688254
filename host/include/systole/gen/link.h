// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/link.yaml by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_LINK_H_
#define SYSTOLE_GEN_LINK_H_

#include <cstdint>

namespace systole::link {

inline constexpr int kSliceBytes = 16;  // bytes of a slice; a flit is one or more slices, each with a CRC of its own
inline constexpr int kCrcBytes = 4;  // bytes of a CRC, the last ones of a slice in the last flit of a packet
inline constexpr int kPayloadFlits = 16;  // flits of payload at most: 256 bytes in flits of 16
inline constexpr int kPacketFlits = 17;  // flits of a packet at most: head and CRC take as many bytes as a slice
inline constexpr int kLanes = 4;  // lanes a direction; training uses 4, 2 or 1 of them
inline constexpr int kVcs = 2;  // virtual channels of a link
inline constexpr int kPorts = 5;  // ports of a router: local, X+, X-, Y+, Y-
inline constexpr int kMaxReplays = 8;  // replays without progress until the link trains again with fewer lanes
inline constexpr int kMaxRetrains = 3;  // trainings without progress until the link is given up
inline constexpr int kTrainSets = 16;  // sets without an error in a row after which a lane is good
inline constexpr int kSettleSets = 8;  // sets that a decision of training waits for the other lanes, or for the other end
inline constexpr int kQuietCycles = 32;  // cycles without a signal after which the link trains again
inline constexpr int kHeadBytes = 12;
inline constexpr uint32_t kCrcPolynomial = 0x82F63B78u;  // reflected
inline constexpr uint32_t kCrcStart = 0xFFFFFFFFu;  // XORed with the slice's number

enum class Kind : uint8_t {
  kNone = 0,  // not a packet
  kWrite = 1,  // length bytes for the destination core's memory
  kPost = 2,  // sets a flag of the destination core
  kPoison = 3,  // to the source of a packet that may not have arrived: a link on its way is down
  kCtrl = 4,  // credits, ack and nack of the other direction; link by link, not numbered
};

enum class Tag : uint8_t {
  kQuiet = 0,  // no signal
  kData = 1,  // a flit that goes on with a packet
  kStart = 2,  // a packet's first flit
  kTrain = 3,  // a symbol of a training set, or a fill: what is sent when there is no flit
};

enum class Cause : uint8_t {
  kNone = 0,  // the link is not down
  kNoProgress = 1,  // trainings without progress
  kPeerReset = 2,  // the other end was reset while it held state of this one
};

inline constexpr uint8_t kComma = 0xBC;  // a set's first symbol
inline constexpr uint8_t kFill = 0x4A;  // a fill's symbols
inline constexpr uint8_t kMark = 0xA5;  // XORed with info in a set's last symbol

// A field: its lowest bit and its bits, bit 0 the lowest of byte 0.
struct Field {
  int lsb, bits;
};
namespace head {
inline constexpr Field kKind = {0, 3};  // kind of packet
inline constexpr Field kVc = {3, 1};  // virtual channel of the link that the packet is on; each router sets it
inline constexpr Field kTie = {4, 1};  // of two directions as short, 0: the positive one, 1: the negative one
inline constexpr Field kLength = {5, 11};  // bytes of payload; the last flit's tail mask follows from it
inline constexpr Field kDstX = {16, 5};  // destination, column
inline constexpr Field kDstY = {21, 5};  // destination, row
inline constexpr Field kDstCore = {26, 1};  // destination, core of the chip
inline constexpr Field kSrcX = {27, 5};  // source, column
inline constexpr Field kSrcY = {32, 5};  // source, row
inline constexpr Field kSrcCore = {37, 1};  // source, core of the chip
inline constexpr Field kAddress = {38, 36};  // WRITE: byte address, a multiple of 16; POST: number of the flag; POISON: the lost packet's
inline constexpr Field kSeq = {74, 8};  // number of the packet on the link that it is on; each link sets it
}  // namespace head
namespace send {
inline constexpr Field kKind = {0, 3};  // kind of packet
inline constexpr Field kTie = {3, 1};  // of two directions as short, 0: the positive one, 1: the negative one
inline constexpr Field kLength = {4, 11};  // bytes of payload; the last flit's tail mask follows from it
inline constexpr Field kDstX = {15, 5};  // destination, column
inline constexpr Field kDstY = {20, 5};  // destination, row
inline constexpr Field kDstCore = {25, 1};  // destination, core of the chip
inline constexpr Field kSrcCore = {26, 1};  // source, core of the chip
inline constexpr Field kAddress = {27, 36};  // WRITE: byte address, a multiple of 16; POST: number of the flag; POISON: the lost packet's
}  // namespace send
namespace control {
inline constexpr Field kKind = {0, 3};  // kind of packet: CTRL
inline constexpr Field kAck = {3, 8};  // number of the next packet that is expected: all before it have arrived
inline constexpr Field kNack = {11, 4};  // count of requests to replay from ack on
inline constexpr Field kSeen = {15, 4};  // the other direction's nack that was acted upon: what is sent from here on is the replay
inline constexpr Field kLimit0 = {19, 12};  // flits that may have been sent on virtual channel 0 since the start, in all
inline constexpr Field kLimit1 = {31, 12};  // the same of virtual channel 1
inline constexpr Field kIdentity = {43, 18};  // who says so: number of the chip (15:0), link of that chip (17:16; 0 X+, 1 X-, 2 Y+, 3 Y-)
}  // namespace control
namespace info {
inline constexpr Field kLanes = {0, 4};  // CONFIG: the lanes that this end wants to receive on
inline constexpr Field kChosen = {4, 1};  // 0 POLL: this end tests lanes; 1 CONFIG: it has chosen
inline constexpr Field kDrop = {5, 1};  // this end's packets got no further: an end that has seen errors leaves a lane out
inline constexpr Field kClean = {6, 1};  // this end has neither sent nor accepted a numbered packet since its reset
inline constexpr Field kOne = {7, 1};  // 1
}  // namespace info
namespace events {
inline constexpr Field kPoison = {0, 1};  // a packet was given up, as the link is down
inline constexpr Field kRetrain = {1, 1};  // a training began
inline constexpr Field kCreditStall = {2, 1};  // a packet waits for credits of the other end, or for the replay buffer
inline constexpr Field kCrcError = {3, 1};  // a packet with a wrong CRC or length came, or a flit without a packet
inline constexpr Field kReplay = {4, 1};  // packets are sent again from the oldest that is not acknowledged
inline constexpr Field kBytesReceived = {5, 11};  // payload of the packet that was accepted
inline constexpr Field kPacketReceived = {16, 1};  // a numbered packet was accepted
inline constexpr Field kBytesSent = {17, 11};  // payload of the packet that goes to the lanes
inline constexpr Field kPacketSent = {28, 1};  // a numbered packet goes to the lanes, replays included
}  // namespace events

}  // namespace systole::link

#endif  // SYSTOLE_GEN_LINK_H_
