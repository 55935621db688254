// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules that infer the result types of hlo/. ops.cc assigns a rule to each
// operation. Messages do not name the node.
#ifndef SYSTOLE_HOST_IR_HLO_RULES_H_
#define SYSTOLE_HOST_IR_HLO_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/infer.h"
#include "host/ir/module.h"
#include "host/ir/rules.h"

namespace systole::ir {

// Checks that the dimensions are distinct and exist in that rank.
absl::Status CheckDimensions(const Ints& dimensions, int64_t rank,
                             const char* what);
absl::Status CheckLength(const Ints& values, int64_t length, const char* what);
// Checks that a region takes `parameters`, followed by the node's operands from
// `captured` on, and returns `outputs`.
absl::Status CheckRegion(const Node& node, int region,
                         const std::vector<Type>& parameters,
                         const std::vector<Type>& outputs, int captured);

Types InferBinary(const Node& node);
Types InferUnary(const Node& node);
Types InferIsFinite(const Node& node);
Types InferReducePrecision(const Node& node);
Types InferCompare(const Node& node);
Types InferSelect(const Node& node);
Types InferClamp(const Node& node);
Types InferConvert(const Node& node);
Types InferBitcastConvert(const Node& node);
Types InferIota(const Node& node);
Types InferBroadcastInDim(const Node& node);
Types InferReshape(const Node& node);
Types InferTranspose(const Node& node);
Types InferStrided(const Node& node);
// Checks that a strided walk that begins at `offset` stays inside.
absl::Status CheckWalk(const Type& from, const Ints& sizes, const Ints& strides,
                       int64_t offset);
Types InferSlice(const Node& node);
Types InferDynamicSlice(const Node& node);
Types InferDynamicUpdateSlice(const Node& node);
Types InferConcatenate(const Node& node);
Types InferPad(const Node& node);
Types InferReverse(const Node& node);
Types InferGather(const Node& node);
Types InferScatter(const Node& node);
Types InferDotGeneral(const Node& node);
Types InferConvolution(const Node& node);
Types InferMatrixProduct(const Node& node);
Types InferReduce(const Node& node);
Types InferReduceWindow(const Node& node);
Types InferSelectAndScatter(const Node& node);
Types InferSort(const Node& node);
Types InferMap(const Node& node);
Types InferWhile(const Node& node);
Types InferIf(const Node& node);
Types InferCase(const Node& node);
Types InferSame(const Node& node);
Types InferRngBitGenerator(const Node& node);
Types InferRng(const Node& node);
Types InferBatchNorm(const Node& node);
Types InferCholesky(const Node& node);
Types InferTriangularSolve(const Node& node);
Types InferCollective(const Node& node);
Types InferDeviceId(const Node& node);
Types InferShard(const Node& node);
Types InferCustomCall(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_RULES_H_
