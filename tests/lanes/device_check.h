// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Modules of op set hlo on a device, by the host's evaluation and by the golden
// model: equal to the bit.
#ifndef SYSTOLE_TESTS_LANES_DEVICE_CHECK_H_
#define SYSTOLE_TESTS_LANES_DEVICE_CHECK_H_

#include <random>
#include <string>
#include <vector>

#include "host/ir/module.h"
#include "host/runtime/client.h"

namespace systole::lanes {

// Values of a type: of every size, small whole ones, and special ones; or
// `moderate` ones only, of which sums are finite.
ir::Literal RandomValues(const ir::Type& type, std::mt19937_64& random,
                         bool moderate = false);

// Runs modules on cores that stay open.
class DeviceCheck {
 public:
  explicit DeviceCheck(const std::string& preset,
                       const std::string& backend = "iss");

  // A test fails unless the device's results for random values are the golden
  // model's and the host's; for moderate ones too, if the others make most
  // results infinite or NaN.
  // `host_operations`: how many the host may compute at most.
  void Check(const std::string& text, uint64_t seed, int host_operations = 0);
  void Check(std::unique_ptr<ir::Module> module, uint64_t seed,
             int host_operations = 0);
  // The first element in which they differ as text, "" if none.
  std::string Difference(std::unique_ptr<ir::Module> module, uint64_t seed,
                         int host_operations = 0);

 private:
  using Inputs = std::vector<ir::Literal>;
  // As above, for these inputs. `results`: the golden model's.
  std::string Difference(const ir::Module& source,
                         runtime::Executable& executable, const Inputs& inputs,
                         std::vector<ir::Literal>& results);

  std::unique_ptr<runtime::Client> client_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_TESTS_LANES_DEVICE_CHECK_H_
