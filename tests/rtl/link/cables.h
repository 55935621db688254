// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Links of each width with their other end, and what must have arrived.

#ifndef SYSTOLE_TESTS_RTL_LINK_CABLES_H_
#define SYSTOLE_TESTS_RTL_LINK_CABLES_H_

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "VLink16.h"
#include "VLink4.h"
#include "VLink64.h"
#include "gtest/gtest.h"
#include "tests/rtl/link/model_end.h"
#include "tests/rtl/link/rtl_end.h"

namespace systole::link_test {

inline std::unique_ptr<End> Rtl(int width, uint64_t seed) {
  switch (width) {
    case 4:
      return std::make_unique<RtlEnd<VLink4>>(Width{16, 1}, seed);
    case 16:
      return std::make_unique<RtlEnd<VLink16>>(Width{16, 4}, seed);
    default:
      return std::make_unique<RtlEnd<VLink64>>(Width{64, 16}, seed);
  }
}
inline Width WidthOf(int width) {
  return width == 4 ? Width{16, 1} : width == 16 ? Width{16, 4} : Width{64, 16};
}

inline Cable Connect(int width, bool model, uint64_t seed, int delay) {
  const Width w = WidthOf(width);
  std::unique_ptr<End> other;
  if (model) {
    other = std::make_unique<ModelEnd>(w, seed);
  } else {
    other = Rtl(width, seed + 1);
  }
  return Cable(Rtl(width, seed), std::move(other), w, delay);
}

inline std::string Errors(const Cable& c) {
  std::string text;
  for (const End* end : {c.a.get(), c.b.get()}) {
    for (const std::string& error : end->errors) text += error + "\n";
  }
  return text;
}

// Each channel's packets, in order.
inline void ExpectDelivered(const std::vector<Packet>& given,
                            const std::vector<Packet>& received) {
  for (int v = 0; v < link::kVcs; ++v) {
    std::vector<const Packet*> want, have;
    for (const Packet& p : given) {
      if (p.vc == v) want.push_back(&p);
    }
    for (const Packet& p : received) {
      if (p.vc == v) have.push_back(&p);
    }
    ASSERT_EQ(want.size(), have.size()) << "vc " << v;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(*want[i] == *have[i])
          << "vc " << v << ", packet " << i << ": " << want[i]->Name()
          << "; came " << have[i]->Name();
    }
  }
}

// Parameter: bytes of the link, and whether the other end is the model.
class CableTest : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  int width() const { return std::get<0>(GetParam()); }
  bool model() const { return std::get<1>(GetParam()); }
};

inline std::string CableName(
    const ::testing::TestParamInfo<std::tuple<int, bool>>& info) {
  return "bytes" + std::to_string(std::get<0>(info.param)) +
         (std::get<1>(info.param) ? "_model" : "_rtl");
}

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_CABLES_H_
