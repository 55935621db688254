// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the rules of single operations are made of. Messages do not name the
// node; the verifier puts that in front.
#ifndef SYSTOLE_HOST_IR_RULES_H_
#define SYSTOLE_HOST_IR_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "host/ir/module.h"

namespace systole::ir {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Returns early with an error.
#define SYSTOLE_IR_CHECK(condition, ...)           \
  do {                                             \
    if (!(condition)) return Invalid(__VA_ARGS__); \
  } while (false)
#define SYSTOLE_IR_RETURN_IF_ERROR(expression)       \
  do {                                               \
    const absl::Status status_of_rule = expression;  \
    if (!status_of_rule.ok()) return status_of_rule; \
  } while (false)

// An int8 value with one scale.
absl::Status CheckActivation(const Type& type, const std::string& what);
// Equal scale (within 1e-6) and zero point.
absl::Status CheckSameQuantization(const Type& a, const Type& b);
absl::Status CheckShape(const Type& type, const std::vector<int64_t>& shape);
absl::Status CheckClamp(const Ints& clamp);
// A factor that a fixed-point multiplier can stand for.
absl::Status CheckFactor(double factor);
// Weights of zero point 0, one scale or one an index of `axis`; bias, if it is
// there, of the products' scale.
absl::Status CheckWeights(const Node& node, int axis);

// The rules of one operation or of a few alike.
absl::Status CheckConvolution(const Node& node);
absl::Status CheckDepthwise(const Node& node);
absl::Status CheckFullyConnected(const Node& node);
absl::Status CheckPool(const Node& node);
absl::Status CheckBinary(const Node& node);
absl::Status CheckMean(const Node& node);
absl::Status CheckTable(const Node& node);  // softmax, logistic, tanh
absl::Status CheckHardSwish(const Node& node);
absl::Status CheckRelu(const Node& node);
absl::Status CheckQuantize(const Node& node);
absl::Status CheckReshape(const Node& node);
absl::Status CheckPad(const Node& node);
absl::Status CheckConcatenate(const Node& node);
absl::Status CheckTranspose(const Node& node);
absl::Status CheckSlice(const Node& node);
absl::Status CheckResize(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_RULES_H_
