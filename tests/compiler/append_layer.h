// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_TESTS_COMPILER_APPEND_LAYER_H_
#define SYSTOLE_TESTS_COMPILER_APPEND_LAYER_H_

#include <utility>

#include "absl/strings/str_cat.h"
#include "systole/model.h"

namespace systole {

// Names a layer after its operation and place, and makes its output, a new
// tensor like `out`, the only one of the network. Returns the output's number.
inline int AppendLayer(model::Network& network, model::Layer layer,
                       model::Tensor out) {
  layer.name = absl::StrCat(model::OpName(layer.op), network.layers.size());
  out.name = layer.name + ".out";
  layer.output = static_cast<int>(network.tensors.size());
  network.tensors.push_back(std::move(out));
  network.layers.push_back(std::move(layer));
  network.outputs = {network.layers.back().output};
  return network.outputs[0];
}

}  // namespace systole

#endif  // SYSTOLE_TESTS_COMPILER_APPEND_LAYER_H_
