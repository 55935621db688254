// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/training/step_module.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/verifier.h"

namespace systole::training {
namespace {

using ir::Op;
using ir::Type;
using ir::Value;
using Shape = std::vector<int64_t>;

Type Bf16(Shape shape) {
  return {ir::ElementType::kBfloat16, std::move(shape), {}};
}
Type F32(Shape shape) {
  return {ir::ElementType::kFloat32, std::move(shape), {}};
}

// [top, left, bottom, right] of windows that make so many positions.
ir::Ints PaddingOf(int64_t sy, int64_t sx, int64_t kh, int64_t kw, int64_t top,
                   int64_t left, int64_t h, int64_t w, int64_t oh, int64_t ow) {
  return {top, left, std::max<int64_t>(0, (oh - 1) * sy + kh - h - top),
          std::max<int64_t>(0, (ow - 1) * sx + kw - w - left)};
}

ir::TrainProductAttributes ProductOf(const Layer& l, int64_t rows) {
  ir::TrainProductAttributes a;
  a.rows = rows;
  if (l.dense) return a;
  a.kernel = {l.kh, l.kw};
  a.stride = {l.stride, l.stride};
  a.padding = PaddingOf(l.stride, l.stride, l.kh, l.kw, l.pad_top, l.pad_left,
                        l.h, l.w, l.oh, l.ow);
  return a;
}

ir::TrainWindowAttributes WindowOfPool(const Layer& l) {
  const PoolWindow& p = l.pool.window;
  return {{p.h, p.w},
          {p.stride_y, p.stride_x},
          PaddingOf(p.stride_y, p.stride_x, p.h, p.w, l.pool.pad_top,
                    l.pool.pad_left, l.oh, l.ow, l.pool.oh, l.pool.ow)};
}

class ModuleBuilder {
 public:
  ModuleBuilder(const std::vector<Layer>& layers, const StepOptions& options,
                int64_t rows)
      : layers_(layers),
        options_(options),
        rows_(rows),
        parts_(layers.size()),
        module_(std::make_unique<ir::Module>(options.forward_only ? "forward"
                                                                  : "step")) {}

  absl::StatusOr<std::unique_ptr<ir::Module>> Build() {
    if (absl::Status s = CheckGraph(); !s.ok()) return s;
    const Layer& first = layers_.front();
    images_ = Parameter(
        "images",
        Bf16(first.dense ? Shape{options_.batch, first.ci}
                         : Shape{options_.batch, first.h, first.w, first.ci}));
    labels_ = Parameter("labels", Bf16({options_.batch, layers_.back().co}));
    powers_ = Parameter("powers", F32({2}));
    rate_ = Parameter("rate", F32({}));
    for (size_t i = 0; i < layers_.size(); ++i) Parameters(i);
    for (size_t i = 0; i < layers_.size(); ++i) Forward(static_cast<int>(i));
    if (!options_.forward_only) Learn();
    if (absl::Status s = ir::Verify(*module_); !s.ok()) return s;
    return std::move(module_);
  }

 private:
  struct Part {
    Value weights, first, second, working;
    Value offset, offset_first, offset_second, mean, var;  // running
    Value in, z, norm, out;
    Value a;  // in front of the pool
    Value doffset, dw;
    std::vector<Value> gradients;  // of `out`, as they come
  };

  int last() const { return static_cast<int>(layers_.size()) - 1; }
  std::string Name(int i, const char* what) const {
    return absl::StrCat(layers_[i].name, ".", what);
  }

  absl::Status CheckGraph() const {
    std::vector<bool> read(layers_.size());
    for (int i = 0; i <= last(); ++i) {
      const Layer& l = layers_[i];
      if (l.name.empty() || l.name.find('.') != std::string::npos) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", l.name, "' is no name of a layer"));
      }
      for (const int from : {InputOf(layers_, i), l.plus}) {
        if (from >= i) {
          return absl::InvalidArgumentError(absl::StrCat(l.name,
                                                         " reads layer ", from,
                                                         ", which is not "
                                                         "before it"));
        }
        if (from >= 0) read[from] = true;
      }
      if (i == last() && l.plus != kNothing) {
        return absl::InvalidArgumentError(
            absl::StrCat(l.name, ": nothing is added to the classes"));
      }
    }
    for (int i = 0; i < last(); ++i) {
      if (!read[i]) {
        return absl::InvalidArgumentError(
            absl::StrCat("nothing reads ", layers_[i].name));
      }
    }
    return absl::OkStatus();
  }

  Value Parameter(const std::string& name, Type type) {
    return module_->Add({name,
                         Op::kParameter,
                         std::move(type),
                         {},
                         ir::ParameterAttributes{name}});
  }
  ir::Node* Make(const std::string& name, Op op, std::vector<Type> types,
                 std::vector<Value> operands,
                 ir::Attributes attributes = ir::NoAttributes{}) {
    ir::Node node{name, op, types[0], std::move(operands),
                  std::move(attributes)};
    node.more_types.assign(types.begin() + 1, types.end());
    return module_->Add(std::move(node));
  }
  void Put(const Value& parameter, const Value& value) {
    module_->outputs.push_back({parameter->name, value});
  }
  Value Reshaped(const std::string& name, Value value, const Type& type) {
    if (value.type() == type) return value;
    return Make(name, Op::kHloReshape, {type}, {value});
  }

  void Parameters(size_t index) {
    const int i = static_cast<int>(index);
    const Layer& l = layers_[i];
    Part& p = parts_[i];
    const Shape shape =
        l.dense ? Shape{l.ci, l.co} : Shape{l.kh, l.kw, l.ci, l.co};
    p.weights = Parameter(Name(i, "weights"), F32(shape));
    p.first = Parameter(Name(i, "weights.first"), F32(shape));
    p.second = Parameter(Name(i, "weights.second"), F32(shape));
    p.working = Parameter(Name(i, "working"), Bf16(shape));
    p.offset = Parameter(Name(i, "offset"), F32({l.co}));
    p.offset_first = Parameter(Name(i, "offset.first"), F32({l.co}));
    p.offset_second = Parameter(Name(i, "offset.second"), F32({l.co}));
    if (!l.normed) return;
    p.mean = Parameter(Name(i, "running_mean"), F32({l.co}));
    p.var = Parameter(Name(i, "running_var"), F32({l.co}));
  }

  void Forward(int i) {
    const Layer& l = layers_[i];
    Part& p = parts_[i];
    const int64_t n = options_.batch;
    const int from = InputOf(layers_, i);
    p.in = Reshaped(Name(i, "in"), from < 0 ? images_ : parts_[from].out,
                    Bf16(l.dense ? Shape{n, l.ci} : Shape{n, l.h, l.w, l.ci}));
    const Type out =
        Bf16(l.dense ? Shape{n, l.co} : Shape{n, l.oh, l.ow, l.co});
    const Type row = F32({l.co});
    if (i == last()) {
      ir::Node* classify =
          Make(Name(i, "dz"), Op::kTrainClassify, {out, F32({}), F32({})},
               {p.in, p.working, p.offset, labels_},
               ir::TrainArrayAttributes{rows_});
      p.z = classify;
      module_->outputs.push_back({"loss", {classify, 1}});
      module_->outputs.push_back({"right", {classify, 2}});
      return;
    }
    p.z = Make(Name(i, "z"), Op::kTrainProduct, {out}, {p.in, p.working},
               ProductOf(l, rows_));
    const std::vector<Value> operands = {p.z, p.offset, p.mean, p.var};
    if (options_.forward_only) {
      p.norm = Make(Name(i, "a"), Op::kTrainNormInference, {out}, operands);
    } else {
      p.norm = Make(Name(i, "a"), Op::kTrainNorm, {out, row, row, row, row},
                    operands);
      Put(p.mean, {p.norm, 3});
      Put(p.var, {p.norm, 4});
    }
    p.a = p.out = p.norm;
    if (l.pooled()) {
      const bool max = l.pool.kind == PoolKind::kMax;
      p.out = Make(
          Name(i, "pooled"), max ? Op::kTrainMaxPool : Op::kTrainAveragePool,
          {Bf16({n, l.pool.oh, l.pool.ow, l.co})}, {p.a}, WindowOfPool(l));
    }
    if (l.plus != kNothing) {
      p.out = Make(Name(i, "sum"), Op::kTrainAdd, {p.out.type()},
                   {p.out, parts_[l.plus].out});
    }
  }

  // The sum of what the layers that read the output give it.
  Value GradientOf(int i) {
    const std::vector<Value>& all = parts_[i].gradients;
    Value sum = all[0];
    for (size_t g = 1; g < all.size(); ++g) {
      sum = Make(absl::StrCat(Name(i, "dout"), g), Op::kTrainAdd, {sum.type()},
                 {sum, all[g]});
    }
    return sum;
  }

  Value ThroughPool(int i, Value dpooled) {
    const Layer& l = layers_[i];
    const Part& p = parts_[i];
    const Type type = p.a.type();
    if (!l.pooled()) return dpooled;
    if (l.pool.kind == PoolKind::kAverage) {
      return Make(Name(i, "da"), Op::kTrainAveragePoolGradient, {type},
                  {dpooled}, WindowOfPool(l));
    }
    const Value pooled = UserOf(*module_, p.a, {Op::kTrainMaxPool});
    return Make(Name(i, "da"), Op::kTrainMaxPoolGradient, {type},
                {p.a, pooled, dpooled}, WindowOfPool(l));
  }

  void Backward(int i) {
    const Layer& l = layers_[i];
    Part& p = parts_[i];
    const Type row = F32({l.co});
    Value dz = p.z;
    if (i == last()) {
      p.doffset = Make(Name(i, "doffset"), Op::kTrainBiasGradient, {row}, {dz});
    } else {
      const Value dout = GradientOf(i);
      if (l.plus != kNothing) parts_[l.plus].gradients.push_back(dout);
      ir::Node* gradient =
          Make(Name(i, "dz"), Op::kTrainNormGradient, {p.z.type(), row},
               {p.z, p.offset, {p.norm, 1}, {p.norm, 2}, ThroughPool(i, dout)});
      dz = gradient;
      p.doffset = {gradient, 1};
    }
    p.dw = Make(Name(i, "dw"), Op::kTrainWeightGradient, {p.weights.type()},
                {p.in, dz}, ProductOf(l, rows_));
    const int from = InputOf(layers_, i);
    if (from < 0) return;
    const Value dx = Make(Name(i, "dx"), Op::kTrainInputGradient, {p.in.type()},
                          {dz, p.working}, ProductOf(l, rows_));
    parts_[from].gradients.push_back(
        Reshaped(Name(i, "dx.out"), dx, parts_[from].out.type()));
  }

  // w, first, second and, unless null, the working weights.
  void Update(const std::string& name, Value w, Value first, Value second,
              Value gradient, Value working) {
    if (options_.replicas > 1) {
      gradient = Make(absl::StrCat(name, ".both"), Op::kTrainSumCores,
                      {gradient.type()}, {gradient});
    }
    std::vector<Type> types = {w.type(), w.type()};
    const bool adam = options_.optimiser == OptimiserKind::kAdam;
    if (adam) types.push_back(w.type());
    if (working.node != nullptr) types.push_back(working.type());
    ir::Node* update =
        adam ? Make(name, Op::kTrainAdam, types,
                    {w, first, second, gradient, stepped_, rate_}, Adam())
             : Make(name, Op::kTrainSgd, types, {w, first, gradient, rate_},
                    ir::TrainSgdAttributes{
                        static_cast<float>(options_.momentum)});
    int result = 0;
    Put(w, {update, result++});
    Put(first, {update, result++});
    if (adam) Put(second, {update, result++});
    if (working.node != nullptr) Put(working, {update, result});
  }

  void Optimise(int i) {
    const Part& p = parts_[i];
    Update(Name(i, "offset.update"), p.offset, p.offset_first, p.offset_second,
           p.doffset, {});
    Update(Name(i, "update"), p.weights, p.first, p.second, p.dw, p.working);
  }

  ir::TrainAdamAttributes Adam() const {
    return {static_cast<float>(options_.beta1),
            static_cast<float>(options_.beta2),
            static_cast<float>(1 - options_.beta1),
            static_cast<float>(1 - options_.beta2)};
  }

  void Learn() {
    if (options_.optimiser == OptimiserKind::kAdam) {
      stepped_ = Make("powers.update", Op::kTrainAdamPowers, {powers_.type()},
                      {powers_}, Adam());
      Put(powers_, stepped_);
    }
    for (int i = last(); i >= 0; --i) {
      Backward(i);
      if (options_.replicas == 1) Optimise(i);
    }
    for (int i = last(); i >= 0 && options_.replicas > 1; --i) Optimise(i);
  }

  const std::vector<Layer>& layers_;
  const StepOptions& options_;
  const int64_t rows_;
  std::vector<Part> parts_;
  std::unique_ptr<ir::Module> module_;
  Value images_, labels_, powers_, rate_, stepped_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ir::Module>> StepModule(
    const std::vector<Layer>& layers, const StepOptions& options,
    int64_t rows) {
  return ModuleBuilder(layers, options, rows).Build();
}

std::string LayerNameOf(const ir::Node& node) {
  return node.name.substr(0, node.name.find('.'));
}

Phase PhaseOf(const ir::Node& node) {
  switch (node.op) {
    case Op::kTrainAdd:
    case Op::kHloReshape:
      return PhaseOf(*node.operands.back());
    case Op::kTrainNormGradient:
    case Op::kTrainMaxPoolGradient:
    case Op::kTrainAveragePoolGradient:
      return Phase::kNormBackward;
    case Op::kTrainBiasGradient:
    case Op::kTrainWeightGradient:
      return Phase::kWeightGradient;
    case Op::kTrainInputGradient:
      return Phase::kInputGradient;
    case Op::kTrainSumCores:
    case Op::kTrainAdam:
    case Op::kTrainSgd:
      return Phase::kOptimiser;
    default:
      return Phase::kForward;
  }
}

ir::Node* UserOf(const ir::Module& module, ir::Value value,
                 std::initializer_list<ir::Op> ops) {
  for (const auto& node : module.nodes()) {
    if (std::count(ops.begin(), ops.end(), node->op) > 0 &&
        std::count(node->operands.begin(), node->operands.end(), value) > 0)
      return node.get();
  }
  return nullptr;
}

}  // namespace systole::training
