// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "Vhbm4.h"
#include "Vhbm8.h"
#include "tests/hbm/hbm_cases.h"

namespace systole::hbm {

template <>
struct Pcs<Vhbm4> {
  static constexpr int kValue = 4;
};

template <>
struct Pcs<Vhbm8> {
  static constexpr int kValue = 8;
};

namespace {

using Models = testing::Types<Vhbm4, Vhbm8>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pcs, HbmTest, Models);

}  // namespace
}  // namespace systole::hbm
