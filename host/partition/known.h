// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PARTITION_KNOWN_H_
#define SYSTOLE_HOST_PARTITION_KNOWN_H_

#include <map>

#include "host/ir/module.h"

namespace systole::partition {

class Known {
 public:
  // Whether it is the same in every run: the compiler computes it. Numbers of
  // 64 bits stay so, for only the host computes with them: random numbers
  // begin with indices of 64 bits.
  bool Is(const ir::Node& node);

 private:
  std::map<const ir::Node*, bool> known_;
};

// Whether its result or an operand has numbers of 64 bits.
bool IsWide(const ir::Node& node);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_KNOWN_H_
