// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/random_lowering.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "host/compiler/kernels/product_nodes.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;
using Values = std::vector<Value>;

constexpr ElementType kU32 = ElementType::kUint32;

class RandomBits : private ProductNodes {
 public:
  RandomBits(ir::Module& module, Node& node)
      : ProductNodes(module, node),
        module_(module),
        node_(node),
        type_(node.result_type(1)),
        wide_(ir::ElementBytes(type_.element) == 8) {}

  void Lower() {
    const Value state = node_.operands[0];
    const int64_t words = state.type().shape[0];
    const Value parts =
        Make(Op::kHloBitcastConvert, {kU32, {words, 2}, {}}, {state});
    for (int64_t i = 0; i < words; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        const Value part =
            Make(Op::kHloSlice, {kU32, {1, 1}, {}}, {parts},
                 ir::HloSliceAttributes{{i, j}, {i + 1, j + 1}, {1, 1}});
        state_.push_back(Reshape(part, {}));
      }
    }
    const auto algorithm = node_.attr<ir::HloRngBitsAttributes>().algorithm;
    const Value bits = algorithm == ir::RngAlgorithm::kThreeFry ? ThreeFryBits()
                                                                : PhiloxBits();
    module_.ReplaceUses(Value(&node_, 1), bits);
    for (Value& part : state_) part = Reshape(part, {1});
    const Value joined = Make(Op::kHloConcatenate, {kU32, {2 * words}, {}},
                              state_, ir::HloDimensionAttributes{0});
    module_.ReplaceUses(Value(&node_, 0),
                        Make(Op::kHloBitcastConvert, state.type(),
                             {Reshape(joined, {words, 2})}));
  }

 private:
  Value Two(Op op, Value a, Value b) {
    return Make(op, {kU32, a.type().shape, {}}, {a, b});
  }
  Value With(Op op, Value a, uint32_t number) {
    return Two(op, a,
               Number(kU32, static_cast<int32_t>(number), a.type().shape));
  }
  Value Add(Value a, Value b) { return Two(Op::kHloAdd, a, b); }
  Value Xor(Value a, Value b) { return Two(Op::kHloXor, a, b); }
  // 1 where a sum is smaller than its addend: the carry.
  Value Carry(Value sum, Value part) {
    const Value below =
        Make(Op::kHloCompare, {ElementType::kBool, sum.type().shape, {}},
             {sum, part},
             ir::HloCompareAttributes{ir::Direction::kLt,
                                      ir::CompareType::kUnsigned});
    return Convert(below, kU32);
  }
  Value Everywhere(Value scalar, int64_t count) {
    return Make(Op::kHloBroadcastInDim, {kU32, {count}, {}}, {scalar},
                ir::HloDimensionsAttributes{});
  }
  // Adds `added` to the number whose words are words[first] and the following
  // ones.
  void AddTo(Values& words, size_t first, size_t count, Value added) {
    for (size_t i = 0; i < count; ++i) {
      const Value sum = Add(words[first + i], added);
      added = Carry(sum, added);
      words[first + i] = sum;
    }
  }
  // `count` counters, starting at the state's; returns their words.
  Values Counters(Values words, int64_t count) {
    for (Value& word : words) word = Everywhere(word, count);
    const Value number = Make(Op::kHloIota, {kU32, {count}, {}}, {},
                              ir::HloDimensionAttributes{0});
    AddTo(words, 0, words.size(), number);
    return words;
  }

  // The upper half of x * m.
  Value High(Value x, uint32_t m) {
    const auto low = [&](Value v) { return With(Op::kHloAnd, v, 0xFFFF); };
    const auto high = [&](Value v) {
      return With(Op::kHloShiftRightLogical, v, 16);
    };
    const auto times = [&](Value v, uint32_t n) {
      return With(Op::kHloMultiply, v, n);
    };
    const Value x0 = low(x), x1 = high(x);
    const uint32_t m0 = m & 0xFFFF, m1 = m >> 16;
    const Value middle = Add(times(x1, m0), high(times(x0, m0)));
    const Value other = Add(times(x0, m1), low(middle));
    return Add(times(x1, m1), Add(high(middle), high(other)));
  }

  Values Philox(Values x, int64_t count) {
    std::array<Value, 2> key = {Everywhere(state_[0], count),
                                Everywhere(state_[1], count)};
    for (int round = 0; round < 10; ++round) {
      constexpr uint32_t kA = 0xD2511F53, kB = 0xCD9E8D57;
      x = {Xor(Xor(High(x[2], kB), x[1]), key[0]),
           With(Op::kHloMultiply, x[2], kB),
           Xor(Xor(High(x[0], kA), x[3]), key[1]),
           With(Op::kHloMultiply, x[0], kA)};
      key = {With(Op::kHloAdd, key[0], 0x9E3779B9),
             With(Op::kHloAdd, key[1], 0xBB67AE85)};
    }
    return x;
  }

  // A 128-bit counter gives four words. If the state has two numbers, the key
  // is the counter's upper half, which is not incremented.
  Value PhiloxBits() {
    const int64_t words = (wide_ ? 2 : 1) * type_.elements();
    const int64_t count = (words + 3) / 4;
    Values counter(state_.begin() + 2, state_.end());
    if (counter.size() == 2)
      counter.insert(counter.end(), state_.begin(), state_.begin() + 2);
    const Values x = Philox(Counters(counter, count), count);
    const Value all = Reshape(Side(x, {count, 1}, 1), {4 * count});
    AddTo(state_, 2, state_.size() - 2,
          Number(kU32, static_cast<int32_t>(count), {}));
    const Value used = First(all, 0, words);
    if (!wide_) return Convert(Reshape(used, type_.shape), type_.element);
    return Wide(used);
  }

  std::array<Value, 2> ThreeFry(const Values& x, int64_t count) {
    constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const Value last = With(Op::kHloXor, Xor(state_[0], state_[1]), 0x1BD11BDA);
    const Value keys[3] = {Everywhere(state_[0], count),
                           Everywhere(state_[1], count),
                           Everywhere(last, count)};
    Value a = Add(x[0], keys[0]), b = Add(x[1], keys[1]);
    for (uint32_t group = 1; group <= 5; ++group) {
      for (const int rotation : kRotations[(group - 1) % 2]) {
        a = Add(a, b);
        const Value left = With(Op::kHloShiftLeft, b, rotation);
        const Value right = With(Op::kHloShiftRightLogical, b, 32 - rotation);
        b = Xor(Two(Op::kHloOr, left, right), a);
      }
      a = Add(a, keys[group % 3]);
      b = With(Op::kHloAdd, Add(b, keys[(group + 1) % 3]), group);
    }
    return {a, b};
  }

  // A 64-bit counter gives two words: a 64-bit number, or neighbours along a
  // dimension of even size, otherwise along the longest dimension.
  Value ThreeFryBits() {
    const Ints& shape = type_.shape;
    int64_t outer = 1, length = 1, inner = 1;
    if (!wide_ && !shape.empty()) {
      auto split = std::find_if(shape.begin(), shape.end(),
                                [](int64_t size) { return size % 2 == 0; });
      if (split == shape.end())
        split = std::max_element(shape.begin(), shape.end());
      length = *split;
      outer = SizeOf({shape.begin(), split});
      inner = SizeOf({split + 1, shape.end()});
    }
    const int64_t half = (length + 1) / 2;
    const int64_t count = wide_ ? type_.elements() : outer * half * inner;
    const auto [a, b] =
        ThreeFry(Counters({state_[2], state_[3]}, count), count);
    AddTo(state_, 2, 2, Number(kU32, static_cast<int32_t>(count), {}));
    if (wide_) return Wide(Reshape(Side({a, b}, {count, 1}, 1), {2 * count}));
    const Value lines = Reshape(Side({a, b}, {outer, half, 1, inner}, 2),
                                {outer, 2 * half, inner});
    return Convert(Reshape(First(lines, 1, length), shape), type_.element);
  }

  // Concatenates values of this shape along a dimension of size 1.
  Value Side(Values values, Ints shape, int64_t along) {
    for (Value& value : values) value = Reshape(value, shape);
    shape[along] = static_cast<int64_t>(values.size());
    return Make(Op::kHloConcatenate, {kU32, shape, {}}, values,
                ir::HloDimensionAttributes{along});
  }
  Value First(Value value, int64_t along, int64_t count) {
    Type type = value.type();
    if (type.shape[along] == count) return value;
    type.shape[along] = count;
    const Ints ones(type.shape.size(), 1), zeros(type.shape.size(), 0);
    return Make(Op::kHloSlice, type, {value},
                ir::HloSliceAttributes{zeros, type.shape, ones});
  }
  Value Wide(Value words) {
    Ints shape = type_.shape;
    shape.push_back(2);
    return Make(Op::kHloBitcastConvert, type_, {Reshape(words, shape)});
  }

  ir::Module& module_;
  Node& node_;
  const Type type_;  // type of the bits
  const bool wide_;
  Values state_;  // words, the lower half of a number first
};

class RandomNumbers : private ProductNodes {
 public:
  RandomNumbers(ir::Module& module, Node& node)
      : ProductNodes(module, node),
        module_(module),
        node_(node),
        type_(node.type),
        word_{kU32, {type_.elements()}, {}} {}

  // `number`: calls before this one.
  void Lower(uint64_t number) {
    const Value state = module_.InsertBefore(
        &node_,
        ir::MakeConstant(module_.UniqueName(node_.name + ".state"),
                         {ElementType::kUint64, {3}, {}},
                         ir::Literal(std::vector<uint64_t>{0, 0, number})));
    Node bits{module_.UniqueName(node_.name + ".bits"),
              Op::kHloRngBitGenerator,
              state.type(),
              {state},
              ir::HloRngBitsAttributes{ir::RngAlgorithm::kPhilox}};
    bits.more_types = {{kU32, {type_.elements(), 2}, {}}};
    const Value made = module_.InsertBefore(&node_, std::move(bits));
    const Value v = Word(made, 0), u = Word(made, 1);
    const Value result =
        ir::IsFloat(type_.element) ? OfFloats(u, v) : OfIntegers(u);
    module_.ReplaceUses(&node_, Reshape(result, type_.shape));
    LowerRandomBits(module_, *made.node);
  }

 private:
  Value Word(Value bits, int64_t which) {
    const int64_t count = type_.elements();
    const Value part =
        Make(Op::kHloSlice, {kU32, {count, 1}, {}}, {Value(bits.node, 1)},
             ir::HloSliceAttributes{{0, which}, {count, which + 1}, {1, 1}});
    return Reshape(part, word_.shape);
  }
  Value Two(Op op, Value a, Value b) { return Make(op, a.type(), {a, b}); }
  Value Compare(Value a, Value b, ir::Direction direction) {
    return Make(Op::kHloCompare, {ElementType::kBool, a.type().shape, {}},
                {a, b}, ir::HloCompareAttributes{direction, {}});
  }
  // A limit, broadcast to the shape, with this type.
  Value Limit(size_t operand, ElementType element) {
    const Value scalar = Convert(node_.operands[operand], element);
    return Make(Op::kHloBroadcastInDim, {element, word_.shape, {}}, {scalar},
                ir::HloDimensionsAttributes{});
  }
  Value Float(float value) {
    const Value one = module_.InsertBefore(
        &node_, ir::MakeConstant(module_.UniqueName(node_.name + ".number"),
                                 {ElementType::kFloat32, {}, {}},
                                 ir::Literal(std::vector<float>{value})));
    return Make(Op::kHloBroadcastInDim,
                {ElementType::kFloat32, word_.shape, {}}, {one},
                ir::HloDimensionsAttributes{});
  }
  Value Fraction(Value word) {
    const Value upper =
        Two(Op::kHloShiftRightLogical, word, Number(kU32, 8, word_.shape));
    return Two(Op::kHloMultiply, Convert(upper, ElementType::kFloat32),
               Float(0x1p-24f));
  }
  Value One(Op op, Value a) { return Make(op, a.type(), {a}); }

  Value OfFloats(Value u, Value v) {
    const Value a = Limit(0, ElementType::kFloat32),
                b = Limit(1, ElementType::kFloat32);
    const Value r = Fraction(u);
    if (node_.attr<ir::HloRngAttributes>().distribution ==
        ir::RngDistribution::kNormal) {
      const Value log = One(Op::kHloLogPlusOne, One(Op::kHloNegate, r));
      const Value size =
          One(Op::kHloSqrt, Two(Op::kHloMultiply, Float(-2), log));
      const Value turn = One(Op::kHloCosine, Two(Op::kHloMultiply, Fraction(v),
                                                 Float(6.28318548f)));
      const Value wave = Two(Op::kHloMultiply, size, turn);
      return Convert(Two(Op::kHloAdd, a, Two(Op::kHloMultiply, b, wave)),
                     type_.element);
    }
    const Value span = Two(Op::kHloSubtract, b, a);
    const Value value = Convert(
        Two(Op::kHloAdd, a, Two(Op::kHloMultiply, span, r)), type_.element);
    const Value beyond =
        Compare(Convert(value, ElementType::kFloat32), b, ir::Direction::kGe);
    const Value range = Compare(b, a, ir::Direction::kGt);
    const Value least = Limit(0, type_.element);
    return Make(Op::kHloSelect, value.type(),
                {Two(Op::kHloAnd, beyond, range), least, value});
  }

  Value OfIntegers(Value u) {
    const Value a = Limit(0, kU32);
    const Value range = Two(Op::kHloSubtract, Limit(1, kU32), a);
    const Value none = Number(kU32, 0, word_.shape);
    const Value more = Make(Op::kHloSelect, word_,
                            {Compare(range, none, ir::Direction::kEq), none,
                             Two(Op::kHloRemainder, u, range)});
    return Convert(Two(Op::kHloAdd, a, more), type_.element);
  }

  ir::Module& module_;
  Node& node_;
  const Type type_, word_;
};

bool HasGenerators(const ir::Module& module) {
  return std::any_of(
      module.nodes().begin(), module.nodes().end(), [](const auto& node) {
        return node->op == Op::kHloRng ||
               std::any_of(node->regions.begin(), node->regions.end(),
                           [](const auto& r) { return HasGenerators(*r); });
      });
}

}  // namespace

void LowerRandomNumbers(ir::Module& module) {
  std::vector<Node*> generators;
  for (const auto& node : module.nodes()) {
    for (const auto& region : node->regions) {
      if (HasGenerators(*region)) return;
    }
    if (node->op == Op::kHloRng) generators.push_back(node.get());
  }
  for (const Node* node : generators) {
    const bool wide = ir::ElementBytes(node->type.element) == 8;
    if (wide || node->type.elements() == 0) return;
  }
  uint64_t number = 0;
  for (Node* node : generators) RandomNumbers(module, *node).Lower(number++);
  if (!generators.empty()) module.RemoveUnused();
}

bool IsRandomBits(const Node& node) {
  return node.op == Op::kHloRngBitGenerator &&
         node.result_type(1).elements() > 0;
}

void LowerRandomBits(ir::Module& module, Node& node) {
  RandomBits(module, node).Lower();
}

}  // namespace systole::lanes
