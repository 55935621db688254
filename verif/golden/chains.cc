// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Compiled for the host's vector instructions. It does not use Eigen, whose
// types differ between files that are compiled for different machines.
#include "verif/golden/chains.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace systole::golden {
namespace {

// Keeps Rows x Columns chains in registers. Columns from `columns` on are
// computed from arbitrary values of b and discarded.
template <int Rows, int Columns>
void ExtendTile(int64_t length, StridedOperand a, const float* b, float* sum,
                int64_t pitch, int columns) {
  float tile[Rows][Columns] = {};
  for (int i = 0; i < Rows; ++i) {
    std::copy_n(sum + i * pitch, columns, tile[i]);
  }
  for (int64_t k = 0; k < length; ++k, b += Columns) {
    for (int i = 0; i < Rows; ++i) {
      const float x = a.data[i * a.row + k * a.step];
#pragma clang loop vectorize_width(16) unroll(full)
      for (int j = 0; j < Columns; ++j) {
        tile[i][j] = std::fma(x, b[j], tile[i][j]);
      }
    }
  }
  for (int i = 0; i < Rows; ++i) {
    std::copy_n(tile[i], columns, sum + i * pitch);
  }
}

// `panel` holds Columns columns of b.
template <int Columns>
void ExtendPanel(int64_t rows, int64_t length, StridedOperand a,
                 const float* panel, float* sum, int64_t pitch, int columns) {
  constexpr int kRows = 128 / Columns;
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows) {
    ExtendTile<kRows, Columns>(length, {a.data + i * a.row, a.row, a.step},
                               panel, sum + i * pitch, pitch, columns);
  }
  for (; i < rows; ++i) {
    ExtendTile<1, Columns>(length, {a.data + i * a.row, a.row, a.step}, panel,
                           sum + i * pitch, pitch, columns);
  }
}

}  // namespace

void ExtendChains(int64_t rows, int64_t columns, int64_t length,
                  StridedOperand a, const float* b, float* sum) {
  std::vector<float> panel;
  for (int64_t first = 0; first < columns;) {
    const int64_t left = columns - first;
    const int width = left > 16 ? 32 : 16;
    const int used = static_cast<int>(std::min<int64_t>(left, width));
    panel.assign(length * width, 0.0f);
    for (int64_t k = 0; k < length; ++k) {
      std::copy_n(b + k * columns + first, used, panel.data() + k * width);
    }
    if (width == 32) {
      ExtendPanel<32>(rows, length, a, panel.data(), sum + first, columns,
                      used);
    } else {
      ExtendPanel<16>(rows, length, a, panel.data(), sum + first, columns,
                      used);
    }
    first += used;
  }
}

void FillUpChains(int64_t count, float* sum) {
  for (int64_t i = 0; i < count; ++i) sum[i] = std::fma(0.0f, 0.0f, sum[i]);
}

}  // namespace systole::golden
