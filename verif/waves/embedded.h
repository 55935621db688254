// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The files of the view that the build embeds.

#ifndef SYSTOLE_VERIF_WAVES_EMBEDDED_H_
#define SYSTOLE_VERIF_WAVES_EMBEDDED_H_

#include <string_view>
#include <vector>

namespace systole::waves {

struct Text {
  std::string_view name, text;
};

const std::vector<Text>& EmbeddedTexts();

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_EMBEDDED_H_
