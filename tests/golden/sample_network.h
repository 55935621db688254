// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_TESTS_GOLDEN_SAMPLE_NETWORK_H_
#define SYSTOLE_TESTS_GOLDEN_SAMPLE_NETWORK_H_

#include "systole/model.h"

namespace systole::model {

// A small valid network with one layer of each operation, random contents:
// conv (6x5x2 to 6x5x3), maxpool, avgpool, add of the two, dense to 4.
Network SampleNetwork();

}  // namespace systole::model

#endif  // SYSTOLE_TESTS_GOLDEN_SAMPLE_NETWORK_H_
