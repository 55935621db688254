// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The host's multiplier. Chains of different results are independent, so blocks
// of them are computed together, each chain in its own order. A narrow result
// is computed as its transpose, which has the same products.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "host/ir/evaluate.h"

namespace systole::ir {
namespace {

float Widened(uint16_t bits) { return FromBits(uint32_t{bits} << 16); }

// Computes kRows x kColumns results. `a` has lines of k elements, `b` has k
// lines of kColumns.
template <int kRows, int kColumns>
void Block(int64_t k, const float* a, const float* b, float* c) {
  float sums[kRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    const float* row = b + p * kColumns;
    for (int r = 0; r < kRows; ++r) {
      const float value = a[r * k + p];
      for (int j = 0; j < kColumns; ++j) {
        sums[r][j] = std::fma(value, row[j], sums[r][j]);
      }
    }
  }
  std::memcpy(c, sums, sizeof(sums));
}

// Blocks whose sums fit in the registers of a vector unit of 512 bits.
struct Shape {
  int64_t rows, columns;
  void (*block)(int64_t k, const float* a, const float* b, float* c);
};
constexpr Shape kShapes[] = {
    {16, 16, Block<16, 16>}, {12, 32, Block<12, 32>}, {6, 64, Block<6, 64>}};
constexpr int64_t kMostRows = 16;
constexpr int64_t kMostColumns = 64;
constexpr int64_t kMostSums = 12 * 32;

// The narrowest shape with at least that many columns.
const Shape& ShapeFor(int64_t columns) {
  for (const Shape& shape : kShapes) {
    if (columns <= shape.columns) return shape;
  }
  return kShapes[2];
}

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
    if (n >= kMostRows || n >= m) {
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
  // `step`: the distance in memory between neighbouring columns of the result.
  template <typename Left, typename Right, typename Place>
  static void Blocked(int64_t m, int64_t k, int64_t n, Left left, Right right,
                      Place place, int64_t step) {
    std::vector<float> panel(k * kMostColumns);
    // Lines of zeros pad the last block.
    std::vector<float> rows((m + kMostRows) * k);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = 0; p < k; ++p) rows[i * k + p] = left(i, p);
    }
    float sums[kMostSums];
    for (int64_t j = 0; j < n;) {
      const Shape& shape = ShapeFor(n - j);
      const int64_t columns = std::min(shape.columns, n - j);
      for (int64_t p = 0; p < k; ++p) {
        float* line = panel.data() + p * shape.columns;
        for (int64_t q = 0; q < columns; ++q) line[q] = right(p, j + q);
        std::fill(line + columns, line + shape.columns, 0.0f);
      }
      for (int64_t i = 0; i < m; i += shape.rows) {
        shape.block(k, rows.data() + i * k, panel.data(), sums);
        for (int64_t r = 0; r < std::min(shape.rows, m - i); ++r) {
          float* to = place(i + r, j);
          for (int64_t q = 0; q < columns; ++q) {
            to[q * step] = sums[r * shape.columns + q];
          }
        }
      }
      j += columns;
    }
  }
};

}  // namespace

ProductUnit& HostProducts() {
  static auto& host = *new Host;
  return host;
}

}  // namespace systole::ir
