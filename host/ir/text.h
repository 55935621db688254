// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The textual form of a module. Parse(Print(m)) equals m exactly.
//
//   module @twice {
//     %x = i8[1,4]{scale=0.5, zero=-3} parameter(), name="input"
//     %w = i8[2,4]{scale=0.25} constant(), data=[1, 2, 3, 4, 5, 6, 7, 8]
//     %y = i8[1,2]{scale=2} fully_connected(%x, %w), clamp=[0, 127]
//     return %y as "output"
//   }
//
// Several results have their types in brackets, and %y#1 is the second one of
// them. Regions follow the attributes; their parameters and outputs have no
// names for callers:
//
//     %s = (f32[], i32[]) hlo.reduce(%x, %i, %a, %b), dimensions=[0] {
//       %p = f32[] parameter()
//       ...
//       return %m, %n
//     }
//
// One statement a line; `//` starts a comment. Attributes that have their
// default value are left out. Names that are not made of letters, digits and
// `_ . / -` are quoted: %"a b". Small constants are lists, others hexadecimal
// little-endian bytes: data=x"00ff".
#ifndef SYSTOLE_HOST_IR_TEXT_H_
#define SYSTOLE_HOST_IR_TEXT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

struct PrintOptions {
  // Large constants as size and digest, which cannot be parsed again.
  bool elide_constants = false;
};

std::string Print(const Module& module, const PrintOptions& options = {});
// One line and those of its regions, without the last end of line.
std::string Print(const Node& node, const PrintOptions& options = {});

// Checks the syntax only, and that operands are defined before they are used;
// Verify checks the rest. Errors: InvalidArgument, which names the line.
absl::StatusOr<std::unique_ptr<Module>> Parse(std::string_view text);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_TEXT_H_
