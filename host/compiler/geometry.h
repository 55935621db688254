// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The shape of an operation as lowering sees it, and the input that a part of
// its output needs.
#ifndef HOST_COMPILER_GEOMETRY_H_
#define HOST_COMPILER_GEOMETRY_H_

#include <cstdint>
#include <string>

#include "systole/model.h"

namespace systole::compiler {

inline int64_t RoundUp(int64_t v, int64_t m) { return (v + m - 1) / m * m; }
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Every operation is a window. A dense layer is a window over its whole input;
// an addition is a 1x1 window; a matrix product M x K x N is a 1x1 convolution
// of M lines of one position.
struct Geometry {
  int64_t n = 1, h = 1, w = 1,
          c = 1;  // input: images, lines, positions, channels
  int64_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1, pad_top = 0,
          pad_left = 0;
  int64_t oh = 1, ow = 1, oc = 1;  // output
  // Outputs per input channel of a depthwise convolution; 0 where an output
  // reads all channels.
  int64_t multiplier = 0;
  // Groups of channels between which a convolution's weights are 0.
  int64_t groups = 1;
  // Outputs of a line that count as one position with as many times the
  // channels (layer_work.h).
  int64_t columns = 1;
  // Channels per group of the output and of the input; 0 = no groups. The
  // layout is line, group, position, channel.
  int64_t group = 0, in_group = 0;
  // Of the output; 4 for raw accumulators.
  int64_t element_bytes = 1;

  int64_t taps() const { return kh * kw; }
  int64_t line_bytes() const { return w * c; }
  // Bytes from one input position to the next.
  int64_t position_bytes() const { return in_group > 0 ? in_group : c; }
  int64_t out_line_bytes() const { return ow * oc * element_bytes; }
  std::string ToString() const;  // "28x28x12 * 6x6 s2 -> 14x14x24"
};

// Turns the geometry of the first input into that of the concatenation. If the
// inputs are joined along the width, a whole line counts as one position; along
// the height, the lines of all inputs count.
void JoinInputs(Geometry& g);

// TileChannels: the most input channels that a column tile of `cols` outputs
// reads. FirstChannel: the first one that tile `tile` reads. A depthwise output
// reads one channel, and one of a grouped convolution those of its group, so a
// tile contracts only its own channels; the others would meet zero weights.
int64_t TileChannels(const Geometry& g, int64_t cols);
int64_t FirstChannel(const Geometry& g, int64_t cols, int64_t tile);

// The groups of a convolution of which an array of that size gains.
int64_t GroupsOf(const model::Layer& layer, Geometry g, int64_t rows,
                 int64_t cols);

Geometry GeometryOf(const model::Network& network, const model::Layer& layer,
                    int64_t batch);

// A part of the output: images, lines and positions, with all channels.
struct Block {
  int64_t i0 = 0, ni = 1, y0 = 0, ny = 1, x0 = 0, nx = 1;
  int64_t rows() const { return ni * ny * nx; }
};

// A part of a tensor: images, lines, and bytes of each line.
struct Region {
  int64_t i0 = 0, ni = 0, l0 = 0, nl = 0, b0 = 0, nb = 0;
};

// The input that a block needs, clipped to the image; never empty. A block of
// whole lines needs whole lines. The first byte is rounded down to `beat`.
Region InputRegion(const Geometry& g, const Block& block, int64_t beat);

// Window rows and columns that are inside the image for at least one output of
// the block; never empty.
struct Taps {
  int64_t ky0 = 0, ky1 = 1, kx0 = 0, kx1 = 1;
  bool operator<(const Taps& o) const;
};
Taps ValidTaps(const Geometry& g, const Block& block);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_GEOMETRY_H_
