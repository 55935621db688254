// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/product_lowering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/kernels/product_nodes.h"
#include "host/compiler/kernels/product_walk.h"
#include "host/ir/hlo/products.h"
#include "host/ir/hlo/window.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr int64_t kShortRow = 32;  // elements of a move

// Inserts operations before a product and replaces the product with their
// result.
class Product : private ProductNodes {
 public:
  Product(ir::Module& module, Node& node, const Preset& preset)
      : ProductNodes(module, node),
        module_(module),
        node_(node),
        preset_(preset) {}

  void Lower() {
    const Type& left = node_.operands[0].type();
    const Type& right = node_.operands[1].type();
    if (node_.type.elements() == 0) return;
    const ElementType to = node_.type.element;
    for (const ElementType e : {left.element, right.element, to})
      if (!ir::IsFloat(e) && !ir::IsProductInDigits(e)) return;
    if (left.elements() == 0 || right.elements() == 0) {
      return Replace(Number(to, 0, node_.type.shape));  // nothing to sum
    }
    if (!ir::IsFloat(to)) return Digits();
    passes_ = ir::PassesOf(left.element, right.element, Precision());
    Replace(Convert(Sums(), to));
  }

 private:
  ir::Precision Precision() const {
    return node_.op == Op::kHloDotGeneral
               ? node_.attr<ir::HloDotAttributes>().precision
               : node_.attr<ir::HloConvolutionAttributes>().precision;
  }

  // Integers: a product of each pair of digits of base 256, exact in f32.
  void Digits() {
    const ElementType left = node_.operands[0].type().element;
    const ElementType right = node_.operands[1].type().element;
    const ElementType to = node_.type.element;
    if (ir::IsFloat(left) || ir::IsFloat(right)) return;
    terms_ = ir::MostDigitTerms(left, right);
    const int bytes = ir::ElementBytes(to);
    const ElementType word = bytes == 4 ? to : ElementType::kInt32;
    Value total;
    for (int p = 0; p < ir::ElementBytes(left); ++p) {
      for (int q = 0; q < ir::ElementBytes(right) && p + q < bytes; ++q) {
        passes_ = {{p, q}};
        Value sum = Convert(Convert(Sums(), ElementType::kInt32), word);
        const Ints shape = sum.type().shape;
        if (p + q > 0) {
          sum = Make(Op::kHloShiftLeft, {word, shape, {}},
                     {sum, Number(word, 8 * (p + q), shape)});
        }
        total = p + q == 0 ? sum
                           : Make(Op::kHloAdd, {word, shape, {}}, {total, sum});
      }
    }
    total = Convert(total, to);
    Replace(total);
  }
  // The parts of an operand, each laid out by `form` and concatenated along a
  // dimension of that layout.
  template <typename Form>
  Value Parts(int side, int64_t along, Form form) {
    std::vector<Value> made(4), passes;
    for (const auto& pass : passes_) {
      const int part = side == 0 ? pass.first : pass.second;
      if (made[part].node == nullptr)
        made[part] = form(terms_ > 0 ? Digit(node_.operands[side], part)
                                     : Part(node_.operands[side], part));
      passes.push_back(made[part]);
    }
    if (passes.size() == 1) return passes[0];
    Type type = passes[0].type();
    type.shape[along] *= static_cast<int64_t>(passes.size());
    return Make(Op::kHloConcatenate, type, passes,
                ir::HloDimensionAttributes{along});
  }

  // Whether two strips of columns of a right matrix, and lines, fit.
  bool ColumnsFit(int64_t depth, int64_t columns) const {
    return 2 * 2 * std::min(preset_.cols, columns) * depth <=
           preset_.ub_bytes / 4 * 3;
  }

  // Sums as the array computes them, with one sign of zero and one NaN. The
  // batch and `lines` dimensions of the left walk are lines.
  Value Multiply(Value left, Walk walk, size_t lines, Value right,
                 bool transposed, const Ints& shape) {
    const int64_t depth = right.type().shape[transposed ? 2 : 1];
    if (terms_ > 0 && depth > terms_) {
      left = Walked(left, walk);
      return InChunks(left, right, transposed, shape);
    }
    if (!Walkable(walk, 1 + lines, shape[2], preset_)) {
      left = Walked(left, walk);
      walk.strides = ir::StridesOf(walk.sizes);
    }
    const Type type{kF32, shape, {}};
    return Make(
        Op::kHloMatrixProduct, type, {left, right},
        ir::HloMatrixProductAttributes{
            walk.sizes, walk.strides, static_cast<int64_t>(lines), transposed});
  }
  // Adds as many digits at a time as f32 can sum exactly; chunks are added in
  // i32.
  Value InChunks(Value left, Value right, bool transposed, const Ints& shape) {
    const int along = transposed ? 2 : 1;
    const int64_t depth = right.type().shape[along];
    const int64_t batch = shape[0], m = shape[1];
    const Type type{ElementType::kInt32, shape, {}};
    Value total;
    for (int64_t first = 0; first < depth; first += terms_) {
      const int64_t size = std::min(terms_, depth - first);
      Type part = right.type();
      ir::HloSliceAttributes slice{{0, 0, 0}, part.shape, {1, 1, 1}};
      part.shape[along] = size;
      slice.start[along] = first;
      slice.limit[along] = first + size;
      const Walk columns = {{batch, m, size}, {m * depth, depth, 1}, first};
      const Walk dense = {columns.sizes, ir::StridesOf(columns.sizes), 0};
      const Value sums =
          Convert(Multiply(Walked(left, columns), dense, 1,
                           Make(Op::kHloSlice, part, {right}, slice),
                           transposed, shape),
                  type.element);
      total = first == 0 ? sums : Make(Op::kHloAdd, type, {total, sums});
    }
    return total;
  }
  // The sums in the node's shape; i32 with chunks, otherwise f32.
  Value Sums() {
    return Reshape(node_.op == Op::kHloDotGeneral ? Dot() : Convolution(),
                   node_.type.shape);
  }

  Value Dot() {
    const auto& a = node_.attr<ir::HloDotAttributes>();
    const Ints left = node_.operands[0].type().shape;
    const Ints right = node_.operands[1].type().shape;
    const ir::DotShape dot = ir::DotShapeOf(node_);
    const Ints &rows = dot.rows, &columns = dot.columns;
    const int64_t batch = dot.batch, m = dot.m, k = dot.k, n = dot.n;
    const auto passes = static_cast<int64_t>(passes_.size());
    // The batch is one dimension of the walk, so it must be contiguous in
    // memory.
    Walk walk = Ordered(left, {a.lhs_batching, rows, a.lhs_contracting});
    const bool dense = walk.Dense();
    const Walk straight =
        Ordered(right, {a.rhs_batching, a.rhs_contracting, columns});
    const Walk across =
        Ordered(right, {a.rhs_batching, columns, a.rhs_contracting});
    const bool transposed =
        !straight.Dense() && across.Dense() && ColumnsFit(passes * k, n);
    const bool as_it_is =
        passes == 1 && a.lhs_batching.size() <= 1 && !dense &&
        Walkable(walk, a.lhs_batching.size() + rows.size(), n, preset_);
    const Value matrix = Parts(0, 2, [&](Value v) {
      return as_it_is ? v : Reshape(Walked(v, walk), {batch, m, k});
    });
    const Value other = Parts(1, transposed ? 2 : 1, [&](Value v) {
      return transposed ? Reshape(Walked(v, across), {batch, n, k})
                        : Reshape(Walked(v, straight), {batch, k, n});
    });
    size_t lines = rows.size();
    if (!as_it_is) {
      walk = {{batch, m, passes * k}, {m * passes * k, passes * k, 1}, 0};
      lines = 1;
    } else if (a.lhs_batching.empty()) {
      walk.sizes.insert(walk.sizes.begin(), 1);
      walk.strides.insert(walk.strides.begin(), 0);
    }
    return Multiply(matrix, walk, lines, other, transposed, {batch, m, n});
  }

  // By how much the dimension before the features should be longer, so that
  // taps of a window do not meet in a bank of the unified buffer.
  template <typename WindowsOf>
  int64_t Spread(const Ints& padded, size_t lines, int64_t columns,
                 const WindowsOf& windows_of) const {
    Ints sizes = padded;
    int64_t& size = sizes[sizes.size() - 2];
    const int64_t turn = preset_.word_bytes() * preset_.ub_banks / 2;
    int64_t best = 0, least = INT64_MAX;
    for (int64_t more = 0; more * sizes.back() <= turn; ++more) {
      size = padded[padded.size() - 2] + more;
      const Walk walk = windows_of(sizes);
      if (!Walkable(walk, 1 + lines, columns, preset_)) return 0;
      const ir::HloMatrixProductAttributes attributes{
          walk.sizes, walk.strides, static_cast<int64_t>(lines), false};
      const auto middle = walk.sizes.begin() + static_cast<int64_t>(1 + lines);
      const ProductWalk product(
          attributes, SizeOf(Ints(walk.sizes.begin() + 1, middle)),
          SizeOf(Ints(middle, walk.sizes.end())), preset_);
      const int64_t stalls = product.Stalls();
      // It is stored, and loaded again.
      const int64_t cost = stalls + 4 * SizeOf(sizes) / preset_.beat_bytes();
      if (cost < least) {
        least = cost;
        best = more;
      }
      if (stalls == 0) break;
    }
    return best;
  }

  Value Convolution() {
    const auto& a = node_.attr<ir::HloConvolutionAttributes>();
    const Ints input = node_.operands[0].type().shape;
    const Ints kernel = node_.operands[1].type().shape;
    const size_t spatial = a.stride.size();
    const int64_t groups = a.feature_group_count * a.batch_group_count;
    const int64_t features = kernel[a.kernel_input_feature];
    const int64_t outputs = kernel[a.kernel_output_feature] / groups;
    const int64_t batch = input[a.input_batch] / a.batch_group_count;
    const auto passes = static_cast<int64_t>(passes_.size());
    // In memory, the features of each pass come last. Other dimensions keep
    // their order; but where features must be moved and are short runs, images
    // come first, so that taps along a line are one run. So they do if the
    // operand is large, for a block of lines then needs a part of it.
    Ints order, place(input.size());
    const auto last = static_cast<int64_t>(input.size()) - 1;
    const bool moves = a.input_feature != last &&
                       (features * preset_.segments < preset_.rows ||
                        2 * SizeOf(input) * passes > preset_.ub_bytes / 2);
    if (moves) order.push_back(a.input_batch);
    for (int64_t d = 0; d <= last; ++d) {
      if (d != a.input_feature && !(moves && d == a.input_batch))
        order.push_back(d);
    }
    order.push_back(a.input_feature);
    Ints padded;
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<int64_t>(i);
      padded.push_back(input[order[i]]);
    }
    const Ints none(order.size(), 0);
    ir::HloPadAttributes pad{none, none, none};
    Ints positions, taps;
    bool pads = false;
    for (size_t i = 0; i < spatial; ++i) {
      const ir::WindowDimension window = {input[a.input_spatial[i]],
                                          kernel[a.kernel_spatial[i]],
                                          a.stride[i],
                                          a.lhs_dilation[i],
                                          a.rhs_dilation[i],
                                          a.low[i],
                                          a.high[i]};
      const int64_t at = place[a.input_spatial[i]];
      padded[at] = window.padded();
      positions.push_back(window.positions());
      taps.push_back(window.window);
      pad.low[at] = a.low[i];
      pad.high[at] = a.high[i];
      pad.interior[at] = a.lhs_dilation[i] - 1;
      pads = pads || padded[at] != window.size || a.low[i] != 0;
    }

    const auto windows_of = [&](const Ints& sizes) {
      Ints stored = sizes;
      stored.back() *= passes;
      const Ints step = ir::StridesOf(stored);
      Walk walk;
      const int64_t of_batch = step[place[a.input_batch]];
      walk.Add(groups, a.batch_group_count > 1 ? batch * of_batch : features);
      walk.Add(batch, of_batch);
      for (size_t i = 0; i < spatial; ++i)
        walk.Add(positions[i], a.stride[i] * step[place[a.input_spatial[i]]]);
      walk.Add(passes, sizes.back());
      for (size_t i = 0; i < spatial; ++i)
        walk.Add(taps[i], a.rhs_dilation[i] * step[place[a.input_spatial[i]]]);
      walk.Add(features, 1);
      return walk;
    };
    if (pads) {
      const int64_t more = Spread(padded, 1 + spatial, outputs, windows_of);
      pad.high[padded.size() - 2] += more;
      padded[padded.size() - 2] += more;
    }
    const Walk windows = windows_of(padded);

    const Ints of_kernel = ir::StridesOf(kernel);
    const int64_t output_step = of_kernel[a.kernel_output_feature];
    Walk weights;
    weights.Add(groups, outputs * output_step);
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t stride = of_kernel[a.kernel_spatial[i]];
      if (a.reversal[i]) weights.offset += (taps[i] - 1) * stride;
      weights.Add(taps[i], a.reversal[i] ? -stride : stride);
    }
    weights.Add(features, of_kernel[a.kernel_input_feature]);
    Walk across = weights;
    weights.Add(outputs, output_step);
    across.sizes.insert(across.sizes.begin() + 1, outputs);
    across.strides.insert(across.strides.begin() + 1, output_step);
    const int64_t places = SizeOf(positions), depth = SizeOf(taps) * features;
    // In columns that lie so, or are longer lines than rows.
    const bool transposed =
        !weights.Dense() && ColumnsFit(passes * depth, outputs) &&
        (across.Dense() || (outputs < kShortRow && features >= kShortRow));
    const auto rank = static_cast<int64_t>(order.size());
    const Value matrix = Parts(0, rank - 1, [&](Value v) {
      v = Walked(v, Ordered(input, {order}));
      return pads ? Make(Op::kHloPad, {kBf16, padded, {}},
                         {v, Number(kBf16, 0, {})}, pad)
                  : v;
    });
    const Value other = Parts(1, transposed ? 2 : 1, [&](Value v) {
      return transposed ? Reshape(Walked(v, across), {groups, outputs, depth})
                        : Reshape(Walked(v, weights), {groups, depth, outputs});
    });
    const Value sums = Multiply(matrix, windows, 1 + spatial, other, transposed,
                                {groups, batch * places, outputs});

    // From groups, batch, positions, outputs to the result's order.
    Ints made = {groups, batch};
    made.insert(made.end(), positions.begin(), positions.end());
    made.push_back(outputs);
    const Ints from = ir::StridesOf(made);
    Walk result;
    for (int64_t d = 0; d < node_.type.rank(); ++d) {
      if (d == a.output_batch) {
        result.Add(batch, from[1]);
      } else if (d == a.output_feature) {
        result.Add(groups, from[0]);
        result.Add(outputs, 1);
      } else {
        const auto i =
            std::find(a.output_spatial.begin(), a.output_spatial.end(), d) -
            a.output_spatial.begin();
        result.Add(positions[i], from[2 + i]);
      }
    }
    return Walked(sums, result);
  }

  void Replace(Value value) { module_.ReplaceUses(Value(&node_), value); }

  ir::Module& module_;
  Node& node_;
  const Preset& preset_;
  ir::ProductPasses passes_;
  int64_t terms_ = 0;  // terms that f32 can sum exactly; 0: no digits
};

}  // namespace

bool IsProduct(const Node& node) {
  return node.op == Op::kHloDotGeneral || node.op == Op::kHloConvolution;
}

void LowerProduct(ir::Module& module, Node& node, const Preset& preset) {
  Product(module, node, preset).Lower();
}

}  // namespace systole::lanes
