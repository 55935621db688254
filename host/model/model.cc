// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "systole/model.h"

#include <algorithm>

namespace systole::model {

const char* OpName(Op op) {
  switch (op) {
    case Op::kConv2D:
      return "conv2d";
    case Op::kDepthwise:
      return "depthwise";
    case Op::kDense:
      return "dense";
    case Op::kSums:
      return "sums";
    case Op::kMaxPool:
      return "maxpool";
    case Op::kAveragePool:
      return "avgpool";
    case Op::kMean:
      return "mean";
    case Op::kAdd:
      return "add";
    case Op::kMul:
      return "mul";
    case Op::kTable:
      return "table";
    case Op::kConcat:
      return "concat";
    case Op::kSlice:
      return "slice";
  }
  return "unknown";
}

bool Network::IsInput(int tensor) const {
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

bool Network::IsOutput(int tensor) const {
  return std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
}

bool HasWeights(Op op) { return HasRequant(op) || op == Op::kSums; }

bool HasRequant(Op op) {
  return op == Op::kConv2D || op == Op::kDepthwise || op == Op::kDense;
}

bool TakesInputs(Op op, size_t count) {
  if (op == Op::kConcat) return count >= 1;
  return count == (op == Op::kAdd || op == Op::kMul ? 2 : 1);
}

bool IsElementwise(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kTable;
}

bool IsPool(Op op) {
  return op == Op::kMaxPool || op == Op::kAveragePool || op == Op::kMean;
}

int Filters(const Network& network, const Layer& layer) {
  const int channels = network.out(layer).channels;
  return layer.op == Op::kSums ? channels / 4 : channels;
}

int OutputSize(int size, int kernel, int stride, int dilation, int pad_before,
               int pad_after) {
  const int64_t room = int64_t{size} + pad_before + pad_after -
                       int64_t{dilation} * (kernel - 1) - 1;
  return room < 0 ? 0 : static_cast<int>(room / stride + 1);
}

int64_t Macs(const Network& network, const Layer& layer) {
  if (layer.op == Op::kDense) {
    return network.in(layer).size() * network.out(layer).size();
  }
  if (!HasWeights(layer.op)) return 0;
  const int64_t taps = network.out(layer).size() /
                       (layer.op == Op::kSums ? 4 : 1) * layer.window.kernel_h *
                       layer.window.kernel_w;
  return layer.op == Op::kDepthwise ? taps : taps * network.in(layer).channels;
}

}  // namespace systole::model
