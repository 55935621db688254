// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules that infer the types of an operation's results from its operands. As
// rules of the verifier they check that the node has these types.
//
//   {Op::kHloNot, "hlo.not", 1, 1, 0, NoAttributes{},
//   CheckInferred<InferUnary>,
//    ...}
#ifndef SYSTOLE_HOST_IR_INFER_H_
#define SYSTOLE_HOST_IR_INFER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "host/ir/module.h"

namespace systole::ir {

using Types = absl::StatusOr<std::vector<Type>>;
using Infer = Types (*)(const Node& node);

template <Infer kInfer>
absl::Status CheckInferred(const Node& node) {
  const Types types = kInfer(node);
  if (!types.ok()) return types.status();
  if (static_cast<int>(types->size()) != node.results()) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.results(), " results, but the operation has ", types->size()));
  }
  for (int i = 0; i < node.results(); ++i) {
    if (node.result_type(i) == (*types)[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("result ", i, " is ", TypeText(node.result_type(i)),
                     ", but the operands make ", TypeText((*types)[i])));
  }
  return absl::OkStatus();
}

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_INFER_H_
