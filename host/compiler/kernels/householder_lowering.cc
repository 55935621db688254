// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// An iteration works on whole matrices [batch, m, n] and selects the elements
// that a reflection changes.
#include "host/compiler/kernels/householder_lowering.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/text.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

// $B, $M, $N: the sizes; $K: number of columns that are reflected.
constexpr char kLoop[] = R"(module @m {
  %given = f32[$B,$M,$N] parameter(), name="a"
  %a = f32[$B,$M,$N] hlo.maximum(%given, %given)
  %k = i32[] constant(), data=[0]
  %nothing = f32[] constant(), data=[0.0]
  %t = f32[$B,$K] hlo.broadcast_in_dim(%nothing), dimensions=[]
  %r = (i32[], f32[$B,$M,$N], f32[$B,$K]) hlo.while(%k, %a, %t) {
    %k = i32[] parameter()
    %a = f32[$B,$M,$N] parameter()
    %t = f32[$B,$K] parameter()
    %end = i32[] constant(), data=[$K]
    %more = i1[] hlo.compare(%k, %end), direction=LT
    return %more
  } {
    %k = i32[] parameter()
    %a = f32[$B,$M,$N] parameter()
    %t = f32[$B,$K] parameter()
    %start = i32[] constant(), data=[0]
    %next = i32[] constant(), data=[1]
    %zero = f32[] constant(), data=[0.0]
    %none = f32[$B] hlo.broadcast_in_dim(%zero), dimensions=[]
    %zeros = f32[$B,$M] hlo.broadcast_in_dim(%zero), dimensions=[]
    %one = f32[] constant(), data=[1.0]
    %ones = f32[$B,$M] hlo.broadcast_in_dim(%one), dimensions=[]
    %slice = f32[$B,$M,1] hlo.dynamic_slice(%a, %start, %start, %k), sizes=[$B,$M,1]
    %c = f32[$B,$M] hlo.reshape(%slice)
    %element = f32[$B,1] hlo.dynamic_slice(%c, %start, %k), sizes=[$B,1]
    %alpha = f32[$B] hlo.reshape(%element)
    %row = i32[$B,$M] hlo.iota(), dimension=1
    %kr = i32[$B,$M] hlo.broadcast_in_dim(%k), dimensions=[]
    %below = i1[$B,$M] hlo.compare(%row, %kr), direction=GT
    %at = i1[$B,$M] hlo.compare(%row, %kr), direction=EQ
    %from = i1[$B,$M] hlo.compare(%row, %kr), direction=GE
    %size = f32[$B,$M] hlo.abs(%c)
    %tail = f32[$B,$M] hlo.select(%below, %size, %zeros)
    %largest = f32[$B] hlo.reduce(%tail, %zero), dimensions=[1] {
      %p = f32[] parameter()
      %q = f32[] parameter()
      %s = f32[] hlo.maximum(%p, %q)
      return %s
    }
    %first = f32[$B] hlo.abs(%alpha)
    %big = f32[$B] hlo.maximum(%largest, %first)
    %bigs = f32[$B,$M] hlo.broadcast_in_dim(%big), dimensions=[0]
    %quotient = f32[$B,$M] hlo.divide(%c, %bigs)
    %scaled = f32[$B,$M] hlo.select(%from, %quotient, %zeros)
    %squares = f32[$B,$M] hlo.multiply(%scaled, %scaled)
    %sum = f32[$B] hlo.reduce(%squares, %zero), dimensions=[1] {
      %p = f32[] parameter()
      %q = f32[] parameter()
      %s = f32[] hlo.add(%p, %q)
      return %s
    }
    %length = f32[$B] hlo.sqrt(%sum)
    %norm = f32[$B] hlo.multiply(%big, %length)
    %minus = f32[$B] hlo.negate(%norm)
    %negative = i1[$B] hlo.compare(%alpha, %none), direction=LT
    %beta = f32[$B] hlo.select(%negative, %norm, %minus)
    %there = f32[$B] hlo.subtract(%beta, %alpha)
    %share = f32[$B] hlo.divide(%there, %beta)
    %stays = i1[$B] hlo.compare(%largest, %none), direction=EQ
    %tau = f32[$B] hlo.select(%stays, %none, %share)
    %back = f32[$B] hlo.subtract(%alpha, %beta)
    %backs = f32[$B,$M] hlo.broadcast_in_dim(%back), dimensions=[0]
    %rest = f32[$B,$M] hlo.divide(%c, %backs)
    %lower = f32[$B,$M] hlo.select(%below, %rest, %zeros)
    %v = f32[$B,$M] hlo.select(%at, %ones, %lower)
    %betas = f32[$B,$M] hlo.broadcast_in_dim(%beta), dimensions=[0]
    %under = f32[$B,$M] hlo.select(%below, %rest, %c)
    %column = f32[$B,$M] hlo.select(%at, %betas, %under)
$REFLECT
    %here3 = i1[$B,$M,$N] hlo.compare(%number, %k3), direction=EQ
    %columns = f32[$B,$M,$N] hlo.broadcast_in_dim(%column), dimensions=[0,1]
    %right = i1[$B,$M,$N] hlo.compare(%number, %k3), direction=GT
    %change = i1[$B,$M,$N] hlo.and(%from3, %right)
    %a1 = f32[$B,$M,$N] hlo.select(%change, %less, %a)
    %a2 = f32[$B,$M,$N] hlo.select(%here3, %columns, %a1)
    %stays3 = i1[$B,$M,$N] hlo.broadcast_in_dim(%stays), dimensions=[0]
    %result = f32[$B,$M,$N] hlo.select(%stays3, %a, %a2)
    %which = i32[$B,$K] hlo.iota(), dimension=1
    %kt = i32[$B,$K] hlo.broadcast_in_dim(%k), dimensions=[]
    %this = i1[$B,$K] hlo.compare(%which, %kt), direction=EQ
    %taus = f32[$B,$K] hlo.broadcast_in_dim(%tau), dimensions=[0]
    %factors = f32[$B,$K] hlo.select(%this, %taus, %t)
    %j = i32[] hlo.add(%k, %next)
    return %j, %result, %factors
  }
  return %r#1 as "a", %r#2 as "t"
}
)";

// %less: a - v * (tau * (v^T a)).
constexpr char kReflect[] = R"(
    %k3 = i32[$B,$M,$N] hlo.broadcast_in_dim(%k), dimensions=[]
    %line = i32[$B,$M,$N] hlo.iota(), dimension=1
    %number = i32[$B,$M,$N] hlo.iota(), dimension=2
    %from3 = i1[$B,$M,$N] hlo.compare(%line, %k3), direction=GE
    %zeros3 = f32[$B,$M,$N] hlo.broadcast_in_dim(%zero), dimensions=[]
    %v3 = f32[$B,$M,$N] hlo.broadcast_in_dim(%v), dimensions=[0,1]
    %products = f32[$B,$M,$N] hlo.multiply(%v3, %a)
    %terms = f32[$B,$M,$N] hlo.select(%from3, %products, %zeros3)
    %w = f32[$B,$N] hlo.reduce(%terms, %zero), dimensions=[1] {
      %p = f32[] parameter()
      %q = f32[] parameter()
      %s = f32[] hlo.add(%p, %q)
      return %s
    }
    %tau2 = f32[$B,$N] hlo.broadcast_in_dim(%tau), dimensions=[0]
    %part = f32[$B,$N] hlo.multiply(%tau2, %w)
    %part3 = f32[$B,$M,$N] hlo.broadcast_in_dim(%part), dimensions=[0,2]
    %taken = f32[$B,$M,$N] hlo.multiply(%v3, %part3)
    %less = f32[$B,$M,$N] hlo.subtract(%a, %taken))";

constexpr char kProduct[] = R"(module @m {
  %vectors = f32[$B,$M,$N] parameter(), name="v"
  %t = f32[$B,$K] parameter(), name="t"
  %row = i32[$B,$M,$N] hlo.iota(), dimension=1
  %across = i32[$B,$M,$N] hlo.iota(), dimension=2
  %diagonal = i1[$B,$M,$N] hlo.compare(%row, %across), direction=EQ
  %a = f32[$B,$M,$N] hlo.convert(%diagonal)
  %k = i32[] constant(), data=[$LAST]
  %r = (i32[], f32[$B,$M,$N]) hlo.while(%k, %a, %vectors, %t) {
    %k = i32[] parameter()
    %a = f32[$B,$M,$N] parameter()
    %vectors = f32[$B,$M,$N] parameter()
    %t = f32[$B,$K] parameter()
    %end = i32[] constant(), data=[0]
    %more = i1[] hlo.compare(%k, %end), direction=GE
    return %more
  } {
    %k = i32[] parameter()
    %a = f32[$B,$M,$N] parameter()
    %vectors = f32[$B,$M,$N] parameter()
    %t = f32[$B,$K] parameter()
    %start = i32[] constant(), data=[0]
    %next = i32[] constant(), data=[-1]
    %zero = f32[] constant(), data=[0.0]
    %zeros = f32[$B,$M] hlo.broadcast_in_dim(%zero), dimensions=[]
    %one = f32[] constant(), data=[1.0]
    %ones = f32[$B,$M] hlo.broadcast_in_dim(%one), dimensions=[]
    %slice = f32[$B,$M,1] hlo.dynamic_slice(%vectors, %start, %start, %k), sizes=[$B,$M,1]
    %c = f32[$B,$M] hlo.reshape(%slice)
    %factor = f32[$B,1] hlo.dynamic_slice(%t, %start, %k), sizes=[$B,1]
    %tau = f32[$B] hlo.reshape(%factor)
    %row = i32[$B,$M] hlo.iota(), dimension=1
    %kr = i32[$B,$M] hlo.broadcast_in_dim(%k), dimensions=[]
    %below = i1[$B,$M] hlo.compare(%row, %kr), direction=GT
    %at = i1[$B,$M] hlo.compare(%row, %kr), direction=EQ
    %lower = f32[$B,$M] hlo.select(%below, %c, %zeros)
    %v = f32[$B,$M] hlo.select(%at, %ones, %lower)
$REFLECT
    %result = f32[$B,$M,$N] hlo.select(%from3, %less, %a)
    %j = i32[] hlo.add(%k, %next)
    return %j, %result
  }
  return %r#1 as "q"
}
)";

bool IsProductOfReflections(const Node& node) {
  return node.attr<ir::HloCustomCallAttributes>().target ==
         "ProductOfElementaryHouseholderReflectors";
}

class Householder : private ProductNodes {
 public:
  Householder(ir::Module& module, Node& node)
      : ProductNodes(module, node), module_(module), node_(node) {}

  void Lower() {
    const bool product = IsProductOfReflections(node_);
    const Type &matrix = node_.type, &factors = product
                                                    ? node_.operands[1].type()
                                                    : node_.result_type(1);
    const Ints& shape = matrix.shape;
    const int64_t m = shape[shape.size() - 2], n = shape.back();
    const int64_t batch = matrix.elements() / (m * n), k = factors.shape.back();
    std::string text = product ? kProduct : kLoop;
    text = absl::StrReplaceAll(text, {{"$REFLECT", kReflect}});
    text = absl::StrReplaceAll(text, {{"$B", absl::StrCat(batch)},
                                      {"$M", absl::StrCat(m)},
                                      {"$N", absl::StrCat(n)},
                                      {"$LAST", absl::StrCat(k - 1)},
                                      {"$K", absl::StrCat(k)}});
    const auto loop = ir::Parse(text);
    if (!loop.ok()) std::abort();  // the text above is wrong
    std::vector<Value> operands = {Reshape(node_.operands[0], {batch, m, n})};
    if (product) operands.push_back(Reshape(node_.operands[1], {batch, k}));
    const std::vector<Value> results = Inlined(**loop, operands);
    for (size_t i = 0; i < results.size(); ++i) {
      const int r = static_cast<int>(i);
      module_.ReplaceUses(Value(&node_, r),
                          Reshape(results[i], node_.result_type(r).shape));
    }
  }

 private:
  ir::Module& module_;
  Node& node_;
};

}  // namespace

bool IsHouseholder(const Node& node) {
  if (node.op != Op::kHloCustomCall) return false;
  const bool product = IsProductOfReflections(node);
  if (!product && node.attr<ir::HloCustomCallAttributes>().target != "Qr")
    return false;
  if (node.operands.size() != (product ? 2u : 1u) ||
      node.results() != (product ? 1 : 2))
    return false;
  const Type &matrix = node.type, &operand = node.operands[0].type();
  const Type& factors = product ? node.operands[1].type() : node.result_type(1);
  for (const Type* type : {&matrix, &operand, &factors}) {
    if (type->element != ir::ElementType::kFloat32 || type->elements() == 0)
      return false;
  }
  const Ints& shape = matrix.shape;
  if (shape.size() < 2 || operand.shape != shape) return false;
  const int64_t least = std::min(shape[shape.size() - 2], shape.back());
  Ints expected(shape.begin(), shape.end() - 2);
  expected.push_back(product ? factors.shape.back() : least);
  return factors.shape == expected && expected.back() <= least;
}

void LowerHouseholder(ir::Module& module, Node& node) {
  Householder(module, node).Lower();
}

}  // namespace systole::lanes
