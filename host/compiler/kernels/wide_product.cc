// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/wide_product.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/product_blocks.h"

namespace systole::lanes {
namespace {

using compiler::CeilDiv;
using compiler::RoundUp;

// Of the unified buffer, one for what is rounded up.
constexpr int64_t kParts = 8;
// Lines of a block, in rows of the array.
constexpr int64_t kLines = 2;

class WideProduct {
 public:
  WideProduct(const ir::Node& node, const Preset& preset, int64_t origin)
      : node_(node), preset_(preset), builder_(preset, origin) {}

  absl::StatusOr<KernelProgram> Compile() {
    const auto& a = node_.attr<ir::HloMatrixProductAttributes>();
    const int64_t all = node_.type.shape[2],
                  lines = node_.type.elements() / all;
    const int64_t depth = node_.operands[1].type().shape[a.transposed ? 2 : 1];
    // Columns of whole tiles and of whole beats, in both matrices.
    const int64_t beat = preset_.beat_bytes();
    const int64_t unit =
        std::lcm(preset_.cols, beat / std::gcd<int64_t>(beat, 2));
    if (4 * all % beat != 0) return Refused();
    // As many that the band fits beside two blocks of results and two of the
    // left matrix: longer runs are faster.
    const int64_t block = std::min(lines, kLines * preset_.rows);
    const int64_t room =
        static_cast<int64_t>(preset_.ub_bytes) / kParts * (kParts - 1) -
        2 * 2 * block * depth;
    const int64_t columns = room / (2 * depth + 2 * 4 * block) / unit * unit;
    if (columns <= 0 || columns >= all) return Refused();
    ProductBlocks product(node_, preset_, builder_, columns);
    constexpr int64_t slots = 2;
    const int64_t result_bytes = builder_.Align(block * columns * 4);
    const int64_t results = builder_.Place("result", slots * result_bytes).at;
    if (absl::Status s = product.Place(block); !s.ok()) return s;
    std::vector<uint64_t> words;
    if (absl::Status s = product.AddCode(words); !s.ok()) return s;
    const int left = builder_.AddOperand(node_.operands[0].type().bytes());
    const int right = builder_.AddOperand(node_.operands[1].type().bytes());
    const int result = builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    product.SetOperands(left, right);
    int64_t slot = 0;
    for (int64_t column = 0; column < all; column += columns) {
      product.BeginBand(column);
      const int64_t bytes = 4 * product.columns();
      for (int64_t first = 0; first < lines; first += block) {
        const int64_t end = std::min(lines, first + block);
        const int64_t at = results + slot * result_bytes;
        product.Block(first, end, at);
        builder_.StoreRuns(result, 4 * (first * all + column), at, bytes,
                           {{end - first, 4 * all, bytes}});
        slot = (slot + 1) % slots;
      }
    }
    return builder_.Finish();
  }

 private:
  static absl::Status Refused() {
    return absl::ResourceExhaustedError("there are no bands of columns");
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileWideProduct(const ir::Node& node,
                                                 const Preset& preset,
                                                 int64_t origin) {
  return WideProduct(node, preset, origin).Compile();
}

}  // namespace systole::lanes
