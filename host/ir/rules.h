// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Helpers of the rules of single operations. Messages do not name the node; the
// verifier adds its name in front.
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

absl::Status CheckParameter(const Node& node);
absl::Status CheckConstant(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_RULES_H_
