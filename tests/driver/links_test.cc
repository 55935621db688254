// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Chips find their places by the cables: tori of all sizes whose chips the host
// numbers as it likes, and cables that are wrong.

#include "host/driver/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "systole/gen/csr.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

// number[place]: of the chip there.
Peers Torus2(int columns, int rows, const std::vector<int>& number) {
  Peers peers(number.size());
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const int chip = number[y * columns + x];
      const int right = number[y * columns + (x + 1) % columns];
      const int below = number[(y + 1) % rows * columns + x];
      if (columns > 1) {
        peers[chip][0] = LinkEnd{right, 1};
        peers[right][1] = LinkEnd{chip, 0};
      }
      if (rows > 1) {
        peers[chip][2] = LinkEnd{below, 3};
        peers[below][3] = LinkEnd{chip, 2};
      }
    }
  }
  return peers;
}

std::vector<int> Numbers(int chips) {
  std::vector<int> numbers(chips);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(FindPlaces, ToriOfAnySizeAndOrder) {
  std::mt19937 random(1);
  for (int columns = 1; columns <= 9; ++columns) {
    for (int rows = 1; rows <= 9; ++rows) {
      std::vector<int> numbers = Numbers(columns * rows);
      for (int round = 0; round < 6; ++round) {
        const auto places = FindPlaces(Torus2(columns, rows, numbers));
        ASSERT_TRUE(places.ok()) << places.status();
        EXPECT_EQ(places->torus.columns, columns);
        EXPECT_EQ(places->torus.rows, rows);
        // From chip 0 on.
        const auto at = static_cast<int>(
            std::find(numbers.begin(), numbers.end(), 0) - numbers.begin());
        for (int y = 0; y < rows; ++y) {
          for (int x = 0; x < columns; ++x) {
            EXPECT_EQ(places->chip_at[y * columns + x],
                      numbers[(at / columns + y) % rows * columns +
                              (at % columns + x) % columns]);
          }
        }
        std::shuffle(numbers.begin(), numbers.end(), random);
      }
    }
  }
}

std::string Wrong(const Peers& peers) {
  return std::string(FindPlaces(peers).status().message());
}

TEST(FindPlaces, SaysWhatIsInTheWay) {
  const Peers right = Torus2(4, 3, Numbers(12));
  Peers wrong = right;
  wrong[5][1].reset();
  EXPECT_THAT(Wrong(wrong), HasSubstr("link X+ of chip 4 leads to link X- of "
                                      "chip 5, which hears nothing"));
  wrong = right;
  wrong[5][2].reset();
  wrong[9][3].reset();
  EXPECT_THAT(Wrong(wrong), HasSubstr("link Y+ of chip 5 hears nothing: is"));
  wrong = right;
  wrong[2][0] = LinkEnd{3, 3};
  EXPECT_EQ(Wrong(wrong),
            "link X+ of chip 2 leads to link Y- of chip 3: it has to lead to a "
            "link X-");
  wrong = right;
  wrong[2][0] = LinkEnd{77, 1};
  EXPECT_THAT(Wrong(wrong), HasSubstr("a chip with number 77, which the host "
                                      "has not: it has chips 0 to 11"));
  // Two cables between rows exchanged: 5 to 6 and 9 to 10.
  wrong = right;
  std::swap(wrong[5][0], wrong[9][0]);
  std::swap(wrong[6][1], wrong[10][1]);
  EXPECT_EQ(Wrong(wrong),
            "the cables form no torus of 4 x 3 chips: link Y+ of chip 2, at "
            "column 2 of row 0, leads to chip 6, and has to lead to chip 10");
  // A row that is two rings.
  wrong = right;
  wrong[5][0] = LinkEnd{4, 1};
  wrong[4][1] = LinkEnd{5, 0};
  wrong[7][0] = LinkEnd{6, 1};
  wrong[6][1] = LinkEnd{7, 0};
  EXPECT_THAT(Wrong(wrong), HasSubstr("the cables form no torus of 4 x 3"));
  // Two devices of six chips.
  Peers two = Torus2(3, 2, Numbers(6));
  for (auto of_chip : Torus2(3, 2, Numbers(6))) {
    for (auto& end : of_chip) end->chip += 6;
    two.push_back(of_chip);
  }
  EXPECT_EQ(Wrong(two),
            "no link leads to chip 6: chip 0 is in a torus of 3 x 2 without "
            "it");
}

// Two cables' ends exchanged, anywhere: an error, or a torus once more.
TEST(FindPlaces, AnyTwoCables) {
  std::mt19937 random(2);
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    const int columns = 1 + static_cast<int>(random() % 5),
              rows = 1 + static_cast<int>(random() % 5);
    if (columns * rows == 1) continue;
    Peers peers = Torus2(columns, rows, Numbers(columns * rows));
    const auto draw = [&] {
      while (true) {
        const LinkEnd end{static_cast<int>(random() % peers.size()),
                          static_cast<int>(random() % 4)};
        if (peers[end.chip][end.link]) return end;
      }
    };
    const auto at = [&](const LinkEnd& end) -> std::optional<LinkEnd>& {
      return peers[end.chip][end.link];
    };
    const LinkEnd a = draw(), b = draw();
    const LinkEnd c = *at(a), d = *at(b);
    if (a == b || a == d) continue;
    at(a) = d;
    at(d) = a;
    at(b) = c;
    at(c) = b;
    const auto places = FindPlaces(peers);
    if (!places.ok()) {
      ++errors;
      continue;
    }
    std::vector<int> chips = places->chip_at;
    std::sort(chips.begin(), chips.end());
    EXPECT_EQ(chips, Numbers(columns * rows));
    for (int k = 0; k < places->torus.chips(); ++k) {
      const auto [w, h] = places->torus;
      const int chip = places->chip_at[k], x = k % w, y = k / w;
      if (w > 1)
        EXPECT_EQ(peers[chip][0]->chip, places->chip_at[y * w + (x + 1) % w]);
      if (h > 1)
        EXPECT_EQ(peers[chip][2]->chip, places->chip_at[(y + 1) % h * w + x]);
    }
  }
  EXPECT_GT(errors, 1000);
}

// Registers of chips whose links need some reads to train.
class Chips : public LinkRegisters {
 public:
  explicit Chips(Peers peers) : peers_(std::move(peers)) {
    registers_.resize(peers_.size());
  }
  int chips() const override { return static_cast<int>(peers_.size()); }
  absl::StatusOr<uint32_t> Read(int chip, uint32_t offset) override {
    if (offset != csr::kLinksPeer) return registers_[chip][offset];
    const uint32_t link = registers_[chip][csr::kLinksSelect] >> 8;
    const auto& peer = peers_[chip][link];
    if (++reads_ < 100 || !peer ||
        (registers_[chip][csr::kLinksEnable] >> link & 1) == 0)
      return 0;
    // The other end says what was written there.
    const uint32_t number = registers_[peer->chip][csr::kLinksPlace] >> 16;
    return 1u << 31 | static_cast<uint32_t>(peer->link) << 16 | number;
  }
  absl::Status Write(int chip, uint32_t offset, uint32_t value) override {
    if (offset == csr::kLinksPlace &&
        (registers_[chip][csr::kLinksEnable] & 15) != 0)
      EXPECT_EQ(registers_[chip][offset] >> 16, value >> 16)
          << "a link in use is told another number";
    registers_[chip][offset] = value;
    return absl::OkStatus();
  }
  uint32_t value(int chip, uint32_t offset) { return registers_[chip][offset]; }

 private:
  Peers peers_;
  std::vector<std::map<uint32_t, uint32_t>> registers_;
  int reads_ = 0;
};

TEST(StartLinks, TellsEachChipItsPlace) {
  const std::vector<int> numbers = {0, 4, 2, 5, 1, 3};
  Chips chips(Torus2(3, 2, numbers));
  const auto places = StartLinks(chips, {3, 2});
  ASSERT_TRUE(places.ok()) << places.status();
  EXPECT_EQ(places->chip_at, numbers);
  for (uint32_t at = 0; at < 6; ++at) {
    const int chip = numbers[at];
    EXPECT_EQ(chips.value(chip, csr::kLinksPlace),
              static_cast<uint32_t>(chip) << 16 | at / 3 << 8 | at % 3);
    EXPECT_EQ(chips.value(chip, csr::kLinksTorus), 0x203u);
    EXPECT_EQ(chips.value(chip, csr::kLinksEnable), 15u);
  }
}

TEST(StartLinks, LinksOfRingsOfOneAreLeftOut) {
  Chips chips(Torus2(1, 3, Numbers(3)));
  ASSERT_TRUE(StartLinks(chips, {1, 3}).ok());
  EXPECT_EQ(chips.value(2, csr::kLinksEnable), 12u);
  EXPECT_EQ(chips.value(2, csr::kLinksTorus), 0x301u);
}

TEST(StartLinks, AnotherTorus) {
  Chips chips(Torus2(2, 3, Numbers(6)));
  EXPECT_EQ(StartLinks(chips, {3, 2}).status().message(),
            "the cables form a torus of 2 x 3 chips, asked was for 3 x 2");
  Chips apart(Peers(2));
  EXPECT_EQ(StartLinks(apart, {2, 1}).status().message(),
            "no link leads to chip 1: chip 0 is in a torus of 1 x 1 without "
            "it");
}

}  // namespace
}  // namespace systole
