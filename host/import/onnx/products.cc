// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/products.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "host/import/onnx/operators.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

Values ConvertMatMul(OnnxNode& n) {
  if (!n.CheckRank(0, 1) || !n.CheckRank(1, 1)) return {};
  return {MatMul(n.b, n.In(0), n.In(1))};
}

Values Gemm(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), y = n.In(1);
  const float alpha = n.Float("alpha", 1), beta = n.Float("beta", 1);
  const bool left = n.Int("transA", 0) != 0, right = n.Int("transB", 0) != 0;
  if (!n.Check(x.type().rank() == 2 && y.type().rank() == 2, "no matrices: ",
               ir::TypeText(x.type()), ", ", ir::TypeText(y.type())))
    return {};
  ir::HloDotAttributes how;
  how.lhs_contracting = {left ? 0 : 1};
  how.rhs_contracting = {right ? 1 : 0};
  Value result = b.DotGeneral(x, y, how);
  if (alpha != 1) result = b.Binary(Op::kHloMultiply, result, alpha);
  if (!n.Has(2) || beta == 0) return {result};
  Value bias = n.In(2);
  if (beta != 1) bias = b.Binary(Op::kHloMultiply, bias, beta);
  const Ints shape = result.type().shape;
  result = b.Binary(Op::kHloAdd, result, bias);
  n.Check(result.type().shape == shape, "C of shape ",
          ir::ShapeText(n.Shape(2)), " for ", ir::ShapeText(shape));
  return {result};
}

// Einsum. Labels are letters; the dimensions of an ellipsis are labelled 1, 2
// and so on from the right.
using Labels = std::string;

bool Has(const Labels& labels, char label) {
  return labels.find(label) != Labels::npos;
}

absl::Status ReadTerm(const std::string& term, int64_t ellipsis,
                      Labels& labels) {
  labels.clear();
  for (size_t i = 0; i < term.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels += term[i];
    } else if (term.substr(i, 3) == "..." && ellipsis >= 0) {
      for (int64_t k = ellipsis; k > 0; --k) labels += static_cast<char>(k);
      i += 2;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("equation term '", term, "'"));
    }
  }
  return absl::OkStatus();
}

// An operand of an Einsum: a value with a label per dimension.
struct Term {
  Value value;
  Labels labels;
};

// Keeps the diagonal of dimensions with the same label.
void TakeDiagonals(HloBuilder& b, Term& term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const size_t k = term.labels.find(term.labels[i], i + 1);
    if (k == Labels::npos || !b.ok()) continue;
    const ir::Type places{ir::ElementType::kInt32, term.value.type().shape, {}};
    const Value same =
        b.Compare(ir::Direction::kEq, b.Iota(places, static_cast<int64_t>(i)),
                  b.Iota(places, static_cast<int64_t>(k)));
    term.value = b.Reduce(
        Op::kHloAdd,
        b.Select(same, term.value, b.Scalar(term.value.type().element, 0)),
        {static_cast<int64_t>(k)}, false);
    term.labels.erase(k, 1);
    --i;
  }
}

void SumOut(HloBuilder& b, Term& term, const Labels& kept) {
  Ints axes;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (Has(kept, term.labels[i])) {
      left += term.labels[i];
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  term.value = b.Reduce(Op::kHloAdd, term.value, axes, false);
  term.labels = left;
}

Value Arranged(HloBuilder& b, const Term& term, const Labels& wanted) {
  Ints order;
  for (const char label : wanted)
    order.push_back(static_cast<int64_t>(term.labels.find(label)));
  return b.Transpose(term.value, order);
}

// Multiplies two terms. Of the dimensions that both have, it keeps those that
// are needed later and sums over the others.
Term Multiply(HloBuilder& b, const Term& x, const Term& y,
              const Labels& needed) {
  ir::HloDotAttributes how;
  Labels labels;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    const size_t k = y.labels.find(x.labels[i]);
    if (k == Labels::npos) continue;
    const bool batch = Has(needed, x.labels[i]);
    (batch ? how.lhs_batching : how.lhs_contracting)
        .push_back(static_cast<int64_t>(i));
    (batch ? how.rhs_batching : how.rhs_contracting)
        .push_back(static_cast<int64_t>(k));
    if (batch) labels += x.labels[i];
  }
  for (const char label : x.labels)
    if (!Has(y.labels, label)) labels += label;
  for (const char label : y.labels)
    if (!Has(x.labels, label)) labels += label;
  return {b.DotGeneral(x.value, y.value, how), labels};
}

Values ConvertEinsum(OnnxNode& n) {
  return {Einsum(n, n.Text("equation", ""), n.All())};
}

}  // namespace

Value MatMul(HloBuilder& b, const Value& x, const Value& y) {
  const int64_t left = x.type().rank(), right = y.type().rank();
  if (!b.ok() || left == 0 || right == 0)
    return b.Fail(absl::InvalidArgumentError("a product with a scalar"));
  ir::HloDotAttributes how;
  how.lhs_contracting = {left - 1};
  how.rhs_contracting = {std::max<int64_t>(right - 2, 0)};
  if (right <= 2) return b.DotGeneral(x, y, how);
  Ints x_batch(x.type().shape.begin(),
               x.type().shape.end() - std::min<int64_t>(left, 2)),
      y_batch(y.type().shape.begin(), y.type().shape.end() - 2);
  const auto batch = ir::BroadcastShape(x_batch, y_batch);
  if (!batch) {
    return b.Fail(absl::InvalidArgumentError(
        absl::StrCat("matrices of ", ir::TypeText(x.type()), " and ",
                     ir::TypeText(y.type()))));
  }
  const auto stretched = [&](const Value& value) {
    Ints shape = *batch;
    const int64_t rank = value.type().rank();
    shape.insert(shape.end(),
                 value.type().shape.end() - std::min<int64_t>(rank, 2),
                 value.type().shape.end());
    if (rank == 1)
      return b.BroadcastInDim(value, shape,
                              {static_cast<int64_t>(shape.size()) - 1});
    return b.BroadcastTo(value, shape);
  };
  const auto rank = static_cast<int64_t>(batch->size());
  how.lhs_batching = how.rhs_batching = Range(0, rank);
  how.lhs_contracting = {rank + std::min<int64_t>(left, 2) - 1};
  how.rhs_contracting = {rank};
  return b.DotGeneral(stretched(x), stretched(y), how);
}

Value Einsum(OnnxNode& n, const std::string& equation, Values operands) {
  HloBuilder& b = n.b;
  std::string text;
  for (const char c : equation)
    if (c != ' ') text += c;
  const size_t arrow = text.find("->");
  std::vector<std::string> terms(1);
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (!n.Check(terms.size() == operands.size(), "equation '", equation,
               "' for ", operands.size(), " operands"))
    return b.Fail({});
  std::vector<Term> all;
  int64_t widest = 0;
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < terms.size(); ++i) {
    const int64_t letters =
        std::count_if(terms[i].begin(), terms[i].end(),
                      [](unsigned char c) { return std::isalpha(c); });
    const int64_t more = operands[i].type().rank() - letters;
    Term term{operands[i], {}};
    const absl::Status read = ReadTerm(terms[i], more, term.labels);
    if (!read.ok()) return b.Fail(read);
    if (!n.Check(
            static_cast<int>(term.labels.size()) == operands[i].type().rank(),
            "term '", terms[i], "' for ", ir::TypeText(operands[i].type())))
      return b.Fail({});
    if (terms[i].find("...") != std::string::npos)
      widest = std::max(widest, more);
    for (size_t k = 0; k < term.labels.size(); ++k) {
      int64_t& size = sizes[term.labels[k]];
      size = std::max(size, operands[i].type().shape[k]);
    }
    all.push_back(term);
  }
  Labels result;
  if (arrow == std::string::npos) {
    for (int64_t k = widest; k > 0; --k) result += static_cast<char>(k);
    for (const auto& [label, size] : sizes) {
      int64_t times = 0;
      for (const Term& term : all)
        times += std::count(term.labels.begin(), term.labels.end(), label);
      if (times == 1 && std::isalpha(static_cast<unsigned char>(label)))
        result += label;
    }
  } else {
    const absl::Status read = ReadTerm(text.substr(arrow + 2), widest, result);
    if (!read.ok()) return b.Fail(read);
  }
  for (const char label : result) {
    if (!n.Check(sizes.count(label) > 0 &&
                     std::count(result.begin(), result.end(), label) == 1,
                 "the result of equation '", equation, "'"))
      return b.Fail({});
  }
  for (Term& term : all) {
    // Broadcasts sizes of 1, which the dimensions of an ellipsis may have.
    Ints shape;
    for (const char label : term.labels) shape.push_back(sizes[label]);
    term.value = b.BroadcastTo(term.value, shape);
    TakeDiagonals(b, term);
  }
  Term product = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    Labels needed = result;
    for (size_t k = i + 1; k < all.size(); ++k) needed += all[k].labels;
    SumOut(b, product, needed + all[i].labels);
    SumOut(b, all[i], needed + product.labels);
    product = Multiply(b, product, all[i], needed);
  }
  SumOut(b, product, result);
  return b.ok() ? Arranged(b, product, result) : product.value;
}

OnnxOperators ProductOperators() {
  return {{"Einsum", 1, kAnyNumber, ConvertEinsum},
          {"Gemm", 2, 3, Gemm},
          {"MatMul", 2, 2, ConvertMatMul}};
}

}  // namespace systole::import
