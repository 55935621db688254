// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The files of host/profile/page, which the build puts into the library.
#ifndef SYSTOLE_HOST_PROFILE_EMBEDDED_H_
#define SYSTOLE_HOST_PROFILE_EMBEDDED_H_

#include <string>
#include <vector>

namespace systole::profile {

struct Text {
  std::string name;  // "style.css"
  std::string text;
};
const std::vector<Text>& EmbeddedTexts();

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_EMBEDDED_H_
