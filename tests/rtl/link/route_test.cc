// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_link_route on whole tori: every way from every place to every place.
// Ways are as short as can be, go along X and then along Y, and change the
// virtual channel only at the dateline or where they begin on a ring. A
// channel (a link's virtual channel) depends on the one that a packet on it
// asks for next: without a cycle in that graph no set of packets can wait for
// each other (Dally and Seitz, 1987).

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "VLinkRoute.h"
#include "gtest/gtest.h"
#include "verilated.h"

namespace systole::link_test {
namespace {

using Channel = std::tuple<int, int, int, int>;  // x, y, port, vc

constexpr int kOpposite[] = {0, 2, 1, 4, 3};

class RouteTest : public ::testing::Test {
 protected:
  struct Hop {
    int port, vc;
  };
  Hop At(int x, int y, int columns, int rows, int from, int vc, int dst_x,
         int dst_y, int tie) {
    route_->x_i = x;
    route_->y_i = y;
    route_->columns_i = columns;
    route_->rows_i = rows;
    route_->from_i = from;
    route_->vc_i = vc;
    route_->dst_x_i = dst_x;
    route_->dst_y_i = dst_y;
    route_->tie_i = tie;
    route_->eval();
    return {route_->port_o, route_->vc_o};
  }

  // The channels of a way, after checking it.
  std::vector<Channel> Way(int x, int y, int columns, int rows, int dst_x,
                           int dst_y, int tie) {
    const auto distance = [](int a, int b, int k) {
      const int d = (b - a + k) % k;
      return std::min(d, k - d);
    };
    const int shortest = distance(x, dst_x, columns) + distance(y, dst_y, rows);
    std::vector<Channel> way;
    int from = 0, vc = 0;
    while (true) {
      const Hop hop = At(x, y, columns, rows, from, vc, dst_x, dst_y, tie);
      if (hop.port == 0) break;
      const bool along_x = hop.port <= 2;
      EXPECT_FALSE(along_x && from >= 3) << "from Y to X";
      EXPECT_NE(hop.port, from) << "back";
      // The dateline, or a beginning on a ring.
      const bool turn = from == 0 || (from <= 2) != along_x;
      const int here = along_x ? x : y, k = along_x ? columns : rows;
      const bool positive = hop.port % 2 == 1;
      const bool wraps = positive ? here == k - 1 : here == 0;
      EXPECT_EQ(hop.vc, wraps || (!turn && vc)) << "virtual channel";
      if (2 * distance(here, along_x ? dst_x : dst_y, k) == k) {
        if (turn) {
          EXPECT_EQ(positive, tie == 0) << "both ways are as long";
        }
      }
      way.emplace_back(x, y, hop.port, hop.vc);
      int& place = along_x ? x : y;
      place = (place + (positive ? 1 : k - 1)) % k;
      from = kOpposite[hop.port];
      vc = hop.vc;
      if (static_cast<int>(way.size()) > shortest) break;
    }
    EXPECT_EQ(static_cast<int>(way.size()), shortest);
    EXPECT_TRUE(x == dst_x && y == dst_y);
    return way;
  }

  void CheckTorus(int columns, int rows) {
    SCOPED_TRACE(testing::Message() << columns << " x " << rows);
    std::map<Channel, std::set<Channel>> next;
    for (int x = 0; x < columns; ++x) {
      for (int y = 0; y < rows; ++y) {
        for (int dst_x = 0; dst_x < columns; ++dst_x) {
          for (int dst_y = 0; dst_y < rows; ++dst_y) {
            for (int tie = 0; tie < 2; ++tie) {
              const auto way = Way(x, y, columns, rows, dst_x, dst_y, tie);
              if (HasFailure()) return;
              for (size_t i = 0; i < way.size(); ++i) {
                std::set<Channel>& after = next[way[i]];
                if (i + 1 < way.size()) after.insert(way[i + 1]);
              }
            }
          }
        }
      }
    }
    // Channels that depend on none that is left go, until none goes.
    size_t before = 0;
    while (next.size() != before) {
      before = next.size();
      for (auto it = next.begin(); it != next.end();) {
        const auto& after = it->second;
        const bool ends =
            std::none_of(after.begin(), after.end(),
                         [&](const Channel& c) { return next.count(c) != 0; });
        it = ends ? next.erase(it) : std::next(it);
      }
    }
    EXPECT_TRUE(next.empty()) << next.size() << " channels form a cycle";
  }

  VerilatedContext context_;
  std::unique_ptr<VLinkRoute> route_ = std::make_unique<VLinkRoute>(&context_);
};

TEST_F(RouteTest, SquareTori) {
  for (int k = 1; k <= 8; ++k) CheckTorus(k, k);
}

TEST_F(RouteTest, Rings) {
  for (int k = 2; k <= 32; ++k) {
    CheckTorus(k, 1);
    CheckTorus(1, k);
  }
}

TEST_F(RouteTest, OtherTori) {
  CheckTorus(2, 4);
  CheckTorus(4, 2);
  CheckTorus(5, 3);
  CheckTorus(3, 7);
}

}  // namespace
}  // namespace systole::link_test
