// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which stages of a fused kernel go by lines (line_graph.h).
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LINE_STAGES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LINE_STAGES_H_

#include "host/compiler/kernels/fused_kernel.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Lets stages of lanes go by lines where a reduction follows, of long lines,
// which they do themselves, or of columns, of which they do the first levels;
// and where an operand is one line that is repeated, which is then not written
// out. Whether there is such a stage.
bool GoByLines(FusedSpec& spec, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LINE_STAGES_H_
