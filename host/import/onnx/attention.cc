// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Attention and rotary embeddings. Tensors are [batch, heads, steps, size].
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/import/onnx/indices.h"
#include "host/import/onnx/operators.h"
#include "host/import/onnx/products.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Splits heads: [batch, steps, heads * size] to [batch, heads, steps, size].
Value Heads(OnnxNode& n, const Value& x, int64_t heads) {
  HloBuilder& b = n.b;
  if (x.type().rank() == 4) return x;
  const Ints shape = x.type().shape;
  if (!n.Check(shape.size() == 3 && heads > 0 && shape[2] % heads == 0, heads,
               " heads of ", ir::TypeText(x.type())))
    return x;
  return b.Transpose(
      b.Reshape(x, {shape[0], shape[1], heads, shape[2] / heads}),
      {0, 2, 1, 3});
}

// Repeats each head of keys and values for the heads of queries that share it.
Value RepeatHeads(OnnxNode& n, const Value& x, int64_t heads) {
  HloBuilder& b = n.b;
  const Ints s = x.type().shape;
  if (s[1] == heads) return x;
  if (!n.Check(s[1] > 0 && heads % s[1] == 0, heads, " heads of queries for ",
               s[1]))
    return x;
  const Value wide =
      b.BroadcastInDim(x, {s[0], s[1], heads / s[1], s[2], s[3]}, {0, 1, 3, 4});
  return b.Reshape(wide, {s[0], heads, s[2], s[3]});
}

// The keys that each query may attend to, and what is added to its scores.
struct Mask {
  Value allowed, added;  // null: all keys, nothing
  void Allow(HloBuilder& b, const Value& more) {
    allowed =
        allowed.node == nullptr ? more : b.Binary(Op::kHloAnd, allowed, more);
  }
};

struct Sizes {
  int64_t batch, queries, keys;
};

// Query i has position i + offset among the keys. offset is a scalar, or has
// one value per batch.
void AllowByPlace(OnnxNode& n, const Sizes& s, const Value& offset,
                  Mask& mask) {
  HloBuilder& b = n.b;
  const bool causal = n.Int("is_causal", 0) != 0;
  const int64_t left = n.Int("left_window_size", -1);
  const int64_t right = n.Int("right_window_size", -1);
  const ir::Type plane{ElementType::kInt64, {1, 1, s.queries, s.keys}, {}};
  const Value key = b.Iota(plane, 3);
  const Value place = b.Binary(Op::kHloAdd, b.Iota(plane, 2), offset);
  if (causal) mask.Allow(b, b.Compare(Direction::kLe, key, place));
  if (right >= 0) {
    mask.Allow(
        b, b.Compare(Direction::kLe, key,
                     b.Binary(Op::kHloAdd, place, static_cast<double>(right))));
  }
  if (left >= 0) {
    mask.Allow(b, b.Compare(Direction::kGe, key,
                            b.Binary(Op::kHloSubtract, place,
                                     static_cast<double>(left))));
  }
}

Mask MaskOf(OnnxNode& n, const Sizes& s, int64_t past) {
  HloBuilder& b = n.b;
  Mask mask;
  if (n.Has(3)) {
    Value given = n.In(3);
    const bool truth = given.type().element == ElementType::kBool;
    const int64_t rank = given.type().rank();
    const int64_t missing =
        rank > 0 ? s.keys - given.type().shape[rank - 1] : 0;
    if (missing > 0 && (given.type().shape[rank - 1] > 1 || s.keys == 1)) {
      Ints low(rank, 0), high(rank, 0);
      high[rank - 1] = missing;
      given =
          b.Pad(given, b.Scalar(given.type().element, truth ? 0 : -kInfinity),
                low, high);
    }
    (truth ? mask.allowed : mask.added) = given;
  }
  Value offset = b.Scalar(ElementType::kInt64, static_cast<double>(past));
  if (n.Has(6)) {
    if (!n.Check(n.Shape(6) == Ints{s.batch}, "nonpad_kv_seqlen ",
                 ir::TypeText(n.In(6).type())))
      return mask;
    const Value lengths =
        b.Reshape(b.Convert(n.In(6), ElementType::kInt64), {s.batch, 1, 1, 1});
    offset =
        b.Binary(Op::kHloSubtract, lengths, static_cast<double>(s.queries));
    mask.Allow(
        b, b.Compare(Direction::kLt,
                     b.Iota({ElementType::kInt64, {1, 1, 1, s.keys}, {}}, 3),
                     lengths));
  }
  AllowByPlace(n, s, offset, mask);
  return mask;
}

// Softmax over the last dimension. A row without an allowed key gives 0.
Value Weights(HloBuilder& b, const Value& x) {
  const int64_t last = x.type().rank() - 1;
  const Value zero = b.Scalar(x.type().element, 0);
  const Value top = b.Reduce(Op::kHloMaximum, x, {last}, true);
  const Value none = b.Compare(Direction::kEq, top, -kInfinity);
  const Value e =
      b.Unary(Op::kHloExponential,
              b.Binary(Op::kHloSubtract, x, b.Select(none, zero, top)));
  const Value sum = b.Reduce(Op::kHloAdd, e, {last}, true);
  return b.Binary(Op::kHloDivide, e,
                  b.Select(none, b.Scalar(x.type().element, 1), sum));
}

Values Attention(OnnxNode& n) {
  HloBuilder& b = n.b;
  const int64_t q_heads = n.Int("q_num_heads", 0),
                kv_heads = n.Int("kv_num_heads", 0);
  const bool flat = n.Rank(0) == 3;
  const int64_t mode = n.Int("qk_matmul_output_mode", 0);
  const float softcap = n.Float("softcap", 0);
  const Value q = Heads(n, n.In(0), q_heads);
  Value k = Heads(n, n.In(1), kv_heads), v = Heads(n, n.In(2), kv_heads);
  if (!n.Check(q.type().rank() == 4 && k.type().rank() == 4 &&
                   v.type().rank() == 4 && n.Has(4) == n.Has(5) && mode >= 0 &&
                   mode <= 3,
               "inputs of other ranks than 3 and 4, or half of a past"))
    return {};
  int64_t past = 0;
  if (n.Has(4)) {
    if (n.Has(6)) return {n.Refuse("a past and nonpad_kv_seqlen")};
    if (!n.CheckRank(4, 4)) return {};
    past = n.Shape(4)[2];
    k = b.Concatenate({n.In(4), k}, 2);
    v = b.Concatenate({n.In(5), v}, 2);
    if (!b.ok()) return {};
  }
  const Value present_key = k, present_value = v;
  const int64_t heads = q.type().shape[1];
  k = RepeatHeads(n, k, heads);
  v = RepeatHeads(n, v, heads);
  if (!b.ok()) return {};
  const Sizes sizes{q.type().shape[0], q.type().shape[2], k.type().shape[2]};
  const ElementType element = q.type().element;
  const float given = n.Float("scale", 0);
  const double scale = std::sqrt(
      given != 0 ? given
                 : 1 / std::sqrt(static_cast<double>(q.type().shape[3])));
  const auto scaled = [&](const Value& x) {
    return b.Binary(Op::kHloMultiply, x, scale);
  };
  const Value raw = MatMul(b, scaled(q), b.Transpose(scaled(k), {0, 1, 3, 2}));
  Value scores = raw;
  if (softcap > 0) {
    scores = b.Binary(
        Op::kHloMultiply,
        b.Unary(Op::kHloTanh, b.Binary(Op::kHloDivide, scores, softcap)),
        softcap);
  }
  const Value capped = scores;
  const Mask mask = MaskOf(n, sizes, past);
  if (mask.added.node != nullptr)
    scores = b.Binary(Op::kHloAdd, scores, b.Convert(mask.added, element));
  if (mask.allowed.node != nullptr)
    scores = b.Select(mask.allowed, scores, b.Scalar(element, -kInfinity));
  if (!n.Check(scores.type() == raw.type(), "a mask for ",
               ir::TypeText(raw.type())))
    return {};
  const auto wide = n.HasAttribute("softmax_precision")
                        ? OnnxElement(n.Int("softmax_precision", 1))
                        : element;
  if (!wide.ok()) return {b.Fail(wide.status())};
  const Value weights =
      b.Convert(Weights(b, b.Convert(scores, *wide)), element);
  Value y = MatMul(b, weights, v);
  if (flat && b.ok()) {
    const Ints s = y.type().shape;
    y = b.Reshape(b.Transpose(y, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
  }
  return {y, present_key, present_value,
          mode == 0   ? raw
          : mode == 1 ? capped
          : mode == 2 ? scores
                      : weights};
}

// Rotates pairs of elements by the angle of their position.
Values RotaryEmbedding(OnnxNode& n) {
  HloBuilder& b = n.b;
  const bool flat = n.Rank(0) == 3;
  const Value x = Heads(n, n.In(0), n.Int("num_heads", 0));
  const bool interleaved = n.Int("interleaved", 0) != 0;
  if (!n.Check(x.type().rank() == 4, "input ", ir::TypeText(x.type())))
    return {};
  const Ints s = x.type().shape;
  int64_t turned = n.Int("rotary_embedding_dim", 0);
  if (turned == 0) turned = s[3];
  if (!n.Check(turned > 0 && turned <= s[3] && turned % 2 == 0,
               "rotary_embedding_dim ", turned, " of ", s[3]))
    return {};
  const int64_t half = turned / 2;
  const auto factors = [&](size_t i) {
    Value cache = n.In(i);
    if (n.Has(3)) {
      if (!n.Check(cache.type().rank() == 2, "a cache ",
                   ir::TypeText(cache.type())))
        return cache;
      cache = Take(b, cache, n.In(3), 0);
    }
    if (!n.Check(cache.type().shape == Ints({s[0], s[2], half}), "a cache ",
                 ir::TypeText(cache.type())))
      return cache;
    return b.Reshape(cache, {s[0], 1, s[2], half});
  };
  const Value cosine = factors(1), sine = factors(2);
  if (!b.ok()) return {};
  const Value first =
      interleaved ? b.SliceIn(x, 3, 0, turned, 2) : b.SliceIn(x, 3, 0, half);
  const Value second = interleaved ? b.SliceIn(x, 3, 1, turned, 2)
                                   : b.SliceIn(x, 3, half, turned);
  const auto times = [&](const Value& u, const Value& v) {
    return b.Binary(Op::kHloMultiply, u, v);
  };
  const Value real =
      b.Binary(Op::kHloSubtract, times(cosine, first), times(sine, second));
  const Value imaginary =
      b.Binary(Op::kHloAdd, times(sine, first), times(cosine, second));
  Value y;
  if (interleaved) {
    const Ints column = {s[0], s[1], s[2], half, 1};
    y = b.Reshape(
        b.Concatenate({b.Reshape(real, column), b.Reshape(imaginary, column)},
                      4),
        {s[0], s[1], s[2], turned});
  } else {
    y = b.Concatenate({real, imaginary}, 3);
  }
  if (turned < s[3]) y = b.Concatenate({y, b.SliceIn(x, 3, turned, s[3])}, 3);
  if (flat) {
    y = b.Reshape(b.Transpose(y, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
  }
  return {y};
}

}  // namespace

OnnxOperators AttentionOperators() {
  return {{"Attention", 3, 7, Attention},
          {"RotaryEmbedding", 3, 4, RotaryEmbedding}};
}

}  // namespace systole::import
