// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A quantised network as the compiler and the golden model see it, and its
// file. The file is a safetensors container; docs/network.md has the schema,
// docs/numerics.md what the numbers mean.
#ifndef SYSTOLE_MODEL_H_
#define SYSTOLE_MODEL_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace systole::model {

// Largest height, width, channels, kernel, stride, dilation and padding.
constexpr int kMaxDimension = 1 << 20;

enum class Op {
  kConv2D,
  kDepthwise,
  kDense,
  kSums,  // of products alone: the bytes of int32 sums, the lowest first
  kMaxPool,
  kAveragePool,
  kMean,  // a pool: the requantised sum of a window
  kAdd,
  kMul,
  kTable,   // any function of one value
  kConcat,  // inputs side by side in channels, width or height
  kSlice,   // a part of the input
};

// "conv2d", "depthwise", "dense", "sums", "maxpool", "avgpool", "mean", "add",
// "mul", "table", "concat", "slice".
const char* OpName(Op op);
// Whether a layer can have so many inputs: a concatenation any number,
// additions and products two.
bool TakesInputs(Op op, size_t count);
// Each value of the output comes from one of each input.
bool IsElementwise(Op op);
bool IsPool(Op op);
// Convolutions of both kinds, dense layers and sums.
bool HasWeights(Op op);
// Whether channels have bias and factor: all that has weights but sums.
bool HasRequant(Op op);

enum class Rounding { kDouble, kSingle };

// One activation tensor of one image: int8, height x width x channels, the
// channel fastest. A value q stands for scale * (q - zero_point).
struct Tensor {
  std::string name;
  int height = 1;
  int width = 1;
  int channels = 1;
  float scale = 1.0f;
  int zero_point = 0;  // -128..127

  int64_t size() const { return int64_t{1} * height * width * channels; }
};

// Geometry of a sliding window. All in elements of the input.
struct Window {
  int kernel_h = 1;
  int kernel_w = 1;
  int stride_h = 1;
  int stride_w = 1;
  int dilation_h = 1;  // always 1 for pools
  int dilation_w = 1;
  int pad_top = 0;
  int pad_left = 0;
  int pad_bottom = 0;
  int pad_right = 0;
};

// A fixed-point factor: multiplier / 2^31 * 2^shift.
struct Requant {
  int32_t multiplier = 0;  // 0 or 2^30 .. 2^31-1
  int8_t shift = 0;        // -31..30, positive shifts left
};

struct Layer {
  std::string name;
  Op op = Op::kConv2D;
  // Indices in Network::tensors; any number for kConcat, whose inputs have the
  // output's height and zero point, and either its width or its
  // channels; two for kAdd and kMul. Their second one may
  // be 1x1xC: it is repeated over all positions.
  std::vector<int> inputs;
  int output = 0;  // index in Network::tensors
  Window window;   // 1x1 for kDense, unused where IsElementwise
  int clamp_min = -128;
  int clamp_max = 127;
  Rounding rounding = Rounding::kDouble;  // unused by max, average,
                                          // table, concat, slice and sums

  // kConv2D: [out][kernel_h][kernel_w][in]. kDepthwise: [out][kernel_h]
  // [kernel_w], output channel c reads input channel c / (out / in). kDense:
  // [out][in], `in` being the input tensor flattened as it lies (height, width,
  // channel). kSums: [out][in] of each position; the zero point does not count.
  std::vector<int8_t> weights;
  // A weight w stands for w - weight_zero_point. Of kSums 0.
  int weight_zero_point = 0;
  std::vector<int32_t> bias;     // [out], zero point of the input not folded
  std::vector<Requant> requant;  // [out]; kMul, kMean: one
  std::vector<int8_t> table;     // kTable: of -128, -127, ..., 127
  // kAdd: first input, second input, output. The multiplier of an input may be
  // below 0: a difference.
  std::array<Requant, 3> add;
  // kSlice: the height, width and channel that comes first. Lines and positions
  // are window.stride_h and stride_w apart.
  std::array<int, 3> begin = {0, 0, 0};
};

// Layers are in an order that can be executed: each input of a layer is an
// input of the network or the output of an earlier layer.
struct Network {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;
  std::vector<int> inputs = {0};   // indices in tensors
  std::vector<int> outputs = {0};  // indices in tensors, results of layers

  const Tensor& in(const Layer& layer, int i = 0) const {
    return tensors[layer.inputs[i]];
  }
  const Tensor& out(const Layer& layer) const { return tensors[layer.output]; }
  const Tensor& input(int i = 0) const { return tensors[inputs[i]]; }
  const Tensor& output(int i = 0) const { return tensors[outputs[i]]; }
  bool IsInput(int tensor) const;
  bool IsOutput(int tensor) const;
};

// Filters of a layer with weights: the output's channels, of kSums a quarter.
int Filters(const Network& network, const Layer& layer);

// Number of output positions along one axis, or 0 if the window does not fit:
// floor((size + pads - dilation * (kernel - 1) - 1) / stride) + 1.
int OutputSize(int size, int kernel, int stride, int dilation, int pad_before,
               int pad_after);

// Multiply-accumulates for one image, taps in the padding included; 0 for
// pools and adds.
int64_t Macs(const Network& network, const Layer& layer);

// Checks every rule of docs/network.md; the message names layer and tensor.
absl::Status Validate(const Network& network);

// Reads and validates a model file. Errors: NotFound, DataLoss (truncated or
// corrupt), InvalidArgument (breaks the schema); the message names the file
// and, where there is one, the tensor.
//
//   absl::StatusOr<Network> net = ReadNetwork("models/mnist_cnn.safetensors");
//   if (!net.ok()) return net.status();
absl::StatusOr<Network> ReadNetwork(const std::string& path);

// The same on bytes in memory; `name` stands for the file in messages.
absl::StatusOr<Network> ParseNetwork(std::string_view bytes,
                                     const std::string& name);

// The bytes of a model file. Validates first.
absl::StatusOr<std::string> SerializeNetwork(const Network& network);

absl::Status WriteNetwork(const Network& network, const std::string& path);

}  // namespace systole::model

#endif  // SYSTOLE_MODEL_H_
