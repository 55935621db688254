// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "Vhbm2.h"
#include "tests/hbm/hbm_cases.h"

namespace systole::hbm {

template <>
struct Pcs<Vhbm2> {
  static constexpr int kValue = 2;
};

namespace {

using Models = testing::Types<Vhbm2>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pcs, HbmTest, Models);

}  // namespace
}  // namespace systole::hbm
