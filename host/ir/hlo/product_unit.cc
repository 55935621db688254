// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The host's multiplier. Chains of different results are independent: blocks
// of them are computed side by side, each in its own order. A narrow result is
// computed as its transpose, whose products are the same.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "host/ir/evaluate.h"

namespace systole::ir {
namespace {

constexpr int kRows = 6;
constexpr int kColumns = 64;

float Widened(uint16_t bits) { return FromBits(uint32_t{bits} << 16); }

// rows x kColumns results; `b` is a panel of k lines of kColumns.
template <int kBlockRows>
void Block(int64_t k, const float* a, int64_t line, const float* b, float* c) {
  float sums[kBlockRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    const float* row = b + p * kColumns;
    for (int r = 0; r < kBlockRows; ++r) {
      const float value = a[r * line + p];
      for (int j = 0; j < kColumns; ++j) {
        sums[r][j] = std::fma(value, row[j], sums[r][j]);
      }
    }
  }
  std::memcpy(c, sums, sizeof(sums));
}

using BlockFunction = void (*)(int64_t, const float*, int64_t, const float*,
                               float*);
constexpr BlockFunction kBlocks[kRows] = {Block<1>, Block<2>, Block<3>,
                                          Block<4>, Block<5>, Block<6>};

class Host : public ProductUnit {
 public:
  absl::Status Multiply(int64_t m, int64_t k, int64_t n, const uint16_t* a,
                        const uint16_t* b, float* c) override {
    const auto left = [&](int64_t i, int64_t p) {
      return Widened(a[i * k + p]);
    };
    const auto right = [&](int64_t p, int64_t j) {
      return Widened(b[p * n + j]);
    };
    if (n >= kColumns / 4 || n >= m) {
      Blocked(
          m, k, n, left, right,
          [&](int64_t i, int64_t j) { return c + i * n + j; }, 1);
    } else {
      Blocked(
          n, k, m, [&](int64_t i, int64_t p) { return right(p, i); },
          [&](int64_t p, int64_t j) { return left(j, p); },
          [&](int64_t i, int64_t j) { return c + j * n + i; }, n);
    }
    return absl::OkStatus();
  }

 private:
  // The result's columns are `step` apart.
  template <typename Left, typename Right, typename Place>
  static void Blocked(int64_t m, int64_t k, int64_t n, Left left, Right right,
                      Place place, int64_t step) {
    std::vector<float> panel(k * kColumns);
    std::vector<float> rows(m * k);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = 0; p < k; ++p) rows[i * k + p] = left(i, p);
    }
    float sums[kRows * kColumns];
    for (int64_t j = 0; j < n; j += kColumns) {
      const int64_t columns = std::min<int64_t>(kColumns, n - j);
      for (int64_t p = 0; p < k; ++p) {
        float* line = panel.data() + p * kColumns;
        for (int64_t q = 0; q < columns; ++q) line[q] = right(p, j + q);
        std::fill(line + columns, line + kColumns, 0.0f);
      }
      for (int64_t i = 0; i < m; i += kRows) {
        const int64_t count = std::min<int64_t>(kRows, m - i);
        kBlocks[count - 1](k, rows.data() + i * k, k, panel.data(), sums);
        for (int64_t r = 0; r < count; ++r) {
          float* to = place(i + r, j);
          for (int64_t q = 0; q < columns; ++q) {
            to[q * step] = sums[r * kColumns + q];
          }
        }
      }
    }
  }
};

}  // namespace

ProductUnit& HostProducts() {
  static auto& host = *new Host;
  return host;
}

}  // namespace systole::ir
