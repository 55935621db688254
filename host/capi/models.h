// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What to do about an RTL model that is not there.
#ifndef SYSTOLE_HOST_CAPI_MODELS_H_
#define SYSTOLE_HOST_CAPI_MODELS_H_

#include <string>

#include "absl/status/status.h"

namespace systole::capi {

// Of an error of opening a device: where the backend "rtl" has no model of the
// preset, says in which folder it was looked for, what there is, and what
// brings it. Other errors stay as they are.
absl::Status WhereModelsAre(const absl::Status& status,
                            const std::string& backend,
                            const std::string& preset);

}  // namespace systole::capi

#endif  // SYSTOLE_HOST_CAPI_MODELS_H_
