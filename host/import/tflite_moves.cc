// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that move values, built from reshapes, transposes, slices, pads and
// concatenations.
#include "host/import/tflite_operator.h"

namespace systole::import {
namespace {

using ir::Ints;
using ir::Op;

ir::Node* Reshaped(Importer& in, ir::Node* value, Ints shape) {
  if (!in.ok() || value->type.shape == shape) return value;
  ir::Type type = value->type;
  type.shape = std::move(shape);
  ir::Node* node = in.Emit(Op::kReshape, type, {value}, ir::NoAttributes{});
  in.Fold();
  return node;
}

// A slice along one axis from `begin` on, in steps of `stride`.
ir::Node* Sliced(Importer& in, ir::Node* value, int64_t axis, int64_t begin,
                 int64_t size, int64_t stride = 1) {
  if (!in.ok()) return nullptr;
  ir::Type type = value->type;
  ir::SliceAttributes a;
  a.begin.resize(type.shape.size(), 0);
  a.stride.resize(type.shape.size(), 1);
  a.begin[axis] = begin;
  a.stride[axis] = stride;
  type.shape[axis] = size;
  return in.Emit(Op::kStridedSlice, type, {value}, a);
}

ir::Node* Joined(Importer& in, const std::vector<ir::Value>& values,
                 int64_t axis) {
  if (!in.ok()) return nullptr;
  if (values.size() == 1) return values[0];
  ir::Type type = values[0]->type;
  type.shape[axis] = 0;
  for (const ir::Node* value : values) {
    type.shape[axis] += value->type.shape[axis];
  }
  return in.Emit(Op::kConcatenate, type, values, ir::AxisAttributes{axis});
}

ir::Node* Transposed(Importer& in, ir::Node* value, const Ints& permutation) {
  if (!in.ok()) return nullptr;
  ir::Type type = value->type;
  for (size_t i = 0; i < permutation.size(); ++i) {
    type.shape[i] = value->type.shape[permutation[i]];
  }
  return in.Emit(Op::kTranspose, type, {value},
                 ir::TransposeAttributes{permutation});
}

ir::Node* Repeated(Importer& in, ir::Node* value, int64_t axis, int64_t times) {
  constexpr int64_t kMaxTimes = 1 << 16;
  if (!in.ok()) return nullptr;
  if (times < 1 || times > kMaxTimes) {
    in.Fail(Invalid(times, " times"));
    return nullptr;
  }
  return Joined(in, std::vector<ir::Value>(times, value), axis);
}

// Makes a value of the right shape the output.
void Deliver(Importer& in, ir::Node* value) {
  if (!in.ok()) return;
  in.Emit(Op::kReshape, {value}, ir::NoAttributes{});
}

bool Fits(Importer& in, bool fits, const ir::Type& type) {
  if (in.ok() && !fits) {
    in.Fail(Invalid(ir::TypeText(type), " to ", ir::TypeText(in.type())));
  }
  return in.ok();
}

}  // namespace

void ImportSlice(Importer& in) {
  ir::Node* input = in.Value(0);
  ir::SliceAttributes a{in.Integers(1), {}};
  if (!in.ok()) return;
  a.stride.assign(a.begin.size(), 1);
  in.Emit(Op::kStridedSlice, {input}, a);
}

void ImportSplit(Importer& in, int value, int axis) {
  ir::Node* input = in.Value(value);
  const std::vector<int64_t> axes = in.Integers(axis);
  if (!in.ok()) return;
  const int rank = input->type.rank();
  if (!Fits(in, axes.size() == 1, input->type)) return;
  const int64_t along = AxisOf(in, axes[0], rank);
  ir::SliceAttributes a;
  a.begin.assign(rank, 0);
  a.stride.assign(rank, 1);
  for (int i = 0; in.ok() && i < in.outputs(); ++i) {
    if (!Fits(in, in.type().rank() == rank, input->type)) return;
    const int64_t size = in.type().shape[along];
    in.Emit(Op::kStridedSlice, {input}, a);
    a.begin[along] += size;
  }
  if (in.ok() && a.begin[along] != input->type.shape[along]) {
    in.Fail(Invalid("parts of ", a.begin[along], " of ",
                    ir::TypeText(input->type)));
  }
}

void ImportUnpack(Importer& in) {
  const auto* options = in.op().options_as_UnpackOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* input = in.Value(0);
  if (!in.ok()) return;
  const int64_t axis = AxisOf(in, options->axis(), input->type.rank());
  if (!in.ok()) return;
  Fits(in, input->type.shape[axis] == in.outputs(), input->type);
  for (int i = 0; in.ok() && i < in.outputs(); ++i) {
    Deliver(in, Sliced(in, input, axis, i, 1));
  }
}

void ImportReverse(Importer& in) {
  ir::Node* input = in.Value(0);
  const std::vector<int64_t> axes = in.Integers(1);
  if (!in.ok()) return;
  ir::SliceAttributes a;
  a.begin.assign(input->type.rank(), 0);
  a.stride.assign(input->type.rank(), 1);
  for (int64_t axis : axes) {
    const int64_t along = AxisOf(in, axis, input->type.rank());
    if (!in.ok()) return;
    a.begin[along] = input->type.shape[along] - 1;
    a.stride[along] = -1;
  }
  in.Emit(Op::kStridedSlice, {input}, a);
}

void ImportTile(Importer& in) {
  ir::Node* value = in.Value(0);
  const std::vector<int64_t> times = in.Integers(1);
  if (!in.ok()) return;
  if (!Fits(in, times.size() == value->type.shape.size(), value->type)) return;
  for (size_t i = times.size(); in.ok() && i-- > 0;) {
    value = Repeated(in, value, static_cast<int64_t>(i), times[i]);
  }
  Deliver(in, value);
}

// The numbers of repetitions follow from the result's shape.
void ImportBroadcast(Importer& in, int operand) {
  ir::Node* value = in.Value(operand);
  if (!in.ok()) return;
  const Ints& wanted = in.type().shape;
  Ints shape = value->type.shape;
  if (!Fits(in, shape.size() <= wanted.size(), value->type)) return;
  shape.insert(shape.begin(), wanted.size() - shape.size(), 1);
  value = Reshaped(in, value, shape);
  for (size_t i = wanted.size(); in.ok() && i-- > 0;) {
    if (shape[i] == wanted[i]) continue;
    if (!Fits(in, shape[i] == 1, value->type)) return;
    value = Repeated(in, value, static_cast<int64_t>(i), wanted[i]);
  }
  Deliver(in, value);
}

// The padding mirrors the values next to it.
void ImportMirrorPad(Importer& in) {
  const auto* options = in.op().options_as_MirrorPadOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* value = in.Value(0);
  const std::vector<int64_t> pads = in.Integers(1);
  if (!in.ok()) return;
  const size_t rank = value->type.shape.size();
  if (!Fits(in, pads.size() == 2 * rank, value->type)) return;
  // Whether the value at the border is repeated.
  const int border = options->mode() == tflite::MirrorPadMode_SYMMETRIC ? 0 : 1;
  for (size_t i = 0; in.ok() && i < rank; ++i) {
    const int64_t low = pads[2 * i], high = pads[2 * i + 1];
    const int64_t size = value->type.shape[i];
    if (!Fits(in,
              0 <= low && low + border <= size && 0 <= high &&
                  high + border <= size,
              value->type)) {
      return;
    }
    const auto axis = static_cast<int64_t>(i);
    std::vector<ir::Value> parts = {value};
    if (low > 0) {
      parts.insert(parts.begin(),
                   Sliced(in, value, axis, low - 1 + border, low, -1));
    }
    if (high > 0) {
      parts.push_back(Sliced(in, value, axis, size - 1 - border, high, -1));
    }
    value = Joined(in, parts, axis);
  }
  Deliver(in, value);
}

void ImportGather(Importer& in) {
  const auto* options = in.op().options_as_GatherOptions();
  const int64_t axis = options == nullptr ? 0 : options->axis();
  int64_t batch = options == nullptr ? 0 : options->batch_dims();
  ir::Node* input = in.Value(0);
  ir::Node* indices = in.Value(1);
  if (!in.ok()) return;
  if (batch < 0) batch += indices->type.rank();
  in.Emit(Op::kGather, {input, indices},
          ir::GatherAttributes{AxisOf(in, axis, input->type.rank()), batch});
}

void ImportLookup(Importer& in) {
  ir::Node* indices = in.Value(0);
  in.Emit(Op::kGather, {in.Value(1), indices}, ir::GatherAttributes{});
}

void ImportSpaceToDepth(Importer& in) {
  const auto* options = in.op().options_as_SpaceToDepthOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* value = in.Value(0);
  if (!in.ok()) return;
  const int64_t b = options->block_size();
  const Ints s = value->type.shape;
  if (!Fits(in, s.size() == 4 && b >= 1 && s[1] % b == 0 && s[2] % b == 0,
            value->type)) {
    return;
  }
  value = Reshaped(in, value, {s[0], s[1] / b, b, s[2] / b, b, s[3]});
  Deliver(in, Transposed(in, value, {0, 1, 3, 2, 4, 5}));
}

void ImportDepthToSpace(Importer& in) {
  const auto* options = in.op().options_as_DepthToSpaceOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* value = in.Value(0);
  if (!in.ok()) return;
  const int64_t b = options->block_size();
  const Ints s = value->type.shape;
  if (!Fits(in, s.size() == 4 && 1 <= b && b < (1 << 15) && s[3] % (b * b) == 0,
            value->type)) {
    return;
  }
  value = Reshaped(in, value, {s[0], s[1], s[2], b, b, s[3] / (b * b)});
  Deliver(in, Transposed(in, value, {0, 1, 3, 2, 4, 5}));
}

// Positions within a block become the outer part of the image dimension.
void ImportSpaceToBatch(Importer& in) {
  ir::Node* value = in.Value(0);
  const std::vector<int64_t> block = in.Integers(1), pads = in.Integers(2);
  if (!in.ok()) return;
  const size_t spatial = block.size();
  if (!Fits(in,
            (spatial == 1 || spatial == 2) && pads.size() == 2 * spatial &&
                value->type.shape.size() == spatial + 2 &&
                value->type.quantization,
            value->type)) {
    return;
  }
  ir::Type padded = value->type;
  ir::PadAttributes a;
  a.low.assign(spatial + 2, 0);
  a.high.assign(spatial + 2, 0);
  a.value = value->type.quantization->zero_point;
  for (size_t i = 0; i < spatial; ++i) {
    if (pads[2 * i] < 0 || pads[2 * i] > ir::kMaxElements ||
        pads[2 * i + 1] < 0 || pads[2 * i + 1] > ir::kMaxElements) {
      in.Fail(Invalid("paddings ", ir::ShapeText(pads)));
      return;
    }
    a.low[1 + i] = pads[2 * i];
    a.high[1 + i] = pads[2 * i + 1];
    padded.shape[1 + i] += pads[2 * i] + pads[2 * i + 1];
    if (!Fits(in, block[i] >= 1 && padded.shape[1 + i] % block[i] == 0,
              padded)) {
      return;
    }
  }
  value = in.Emit(Op::kPad, padded, {value}, a);
  Ints shape = {padded.shape[0]}, permutation;
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back(padded.shape[1 + i] / block[i]);
    shape.push_back(block[i]);
    permutation.push_back(static_cast<int64_t>(2 * i + 2));
  }
  shape.push_back(padded.shape.back());
  permutation.push_back(0);
  for (size_t i = 0; i < spatial; ++i) {
    permutation.push_back(static_cast<int64_t>(2 * i + 1));
  }
  permutation.push_back(static_cast<int64_t>(2 * spatial + 1));
  Deliver(in, Transposed(in, Reshaped(in, value, shape), permutation));
}

void ImportBatchToSpace(Importer& in) {
  ir::Node* value = in.Value(0);
  const std::vector<int64_t> block = in.Integers(1), crops = in.Integers(2);
  if (!in.ok()) return;
  const size_t spatial = block.size();
  const Ints s = value->type.shape;
  int64_t places = 1;
  for (int64_t b : block) {
    places *= std::clamp<int64_t>(b, 0, ir::kMaxElements);
    if (!Fits(in, 0 < places && places <= ir::kMaxElements, value->type)) {
      return;
    }
  }
  if (!Fits(in,
            (spatial == 1 || spatial == 2) && crops.size() == 2 * spatial &&
                s.size() == spatial + 2 && s[0] % places == 0,
            value->type)) {
    return;
  }
  Ints shape = block, permutation = {static_cast<int64_t>(spatial)};
  shape.push_back(s[0] / places);
  Ints whole = {s[0] / places};
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back(s[1 + i]);
    whole.push_back(s[1 + i] * block[i]);
    permutation.push_back(static_cast<int64_t>(spatial + 1 + i));
    permutation.push_back(static_cast<int64_t>(i));
  }
  shape.push_back(s.back());
  whole.push_back(s.back());
  permutation.push_back(static_cast<int64_t>(2 * spatial + 1));
  value = Transposed(in, Reshaped(in, value, shape), permutation);
  value = Reshaped(in, value, whole);
  ir::SliceAttributes a;
  a.begin.assign(s.size(), 0);
  a.stride.assign(s.size(), 1);
  for (size_t i = 0; in.ok() && i < spatial; ++i) {
    a.begin[1 + i] = crops[2 * i];
    const int64_t size = whole[1 + i] - crops[2 * i] - crops[2 * i + 1];
    Fits(in,
         in.type().rank() == value->type.rank() &&
             in.type().shape[1 + i] == size,
         value->type);
  }
  in.Emit(Op::kStridedSlice, {value}, a);
}

// Casts numbers as the file stores them; uint8 numbers are 128 above the
// graph's. Truth values become numbers as in a dequantisation, which may become
// part of a table.
void ImportCast(Importer& in) {
  using ir::ElementType;
  ir::Node* value = in.Value(0);
  if (!in.ok()) return;
  const ir::Type to = in.type();
  const bool from_uint8 = in.IsUint8(0), to_uint8 = in.IsUint8Result();
  if (from_uint8 == to_uint8 && value->type.element == to.element &&
      value->type.quantization == to.quantization) {
    in.Emit(Op::kReshape, {value}, ir::NoAttributes{});
    return;
  }
  const std::optional<ir::Quantization> truth({{1.0f}, 0, 0});
  if (to.element == ElementType::kFloat32 && !from_uint8 &&
      value->type.element == ElementType::kInt8 &&
      value->type.quantization == truth) {
    in.Emit(Op::kDequantize, {value}, ir::NoAttributes{});
    return;
  }
  const auto cast = [&](ir::Type type) {
    type.shape = to.shape;
    if (in.ok()) value = in.Emit(Op::kCast, type, {value}, ir::NoAttributes{});
  };
  const auto add = [&](int32_t number) {
    const ir::Type scalar{ElementType::kInt32, {}, std::nullopt};
    ir::Node* by =
        in.Constant(scalar, ir::Literal(std::vector<int32_t>{number}));
    if (in.ok())
      value =
          in.Emit(Op::kAdd, value->type, {value, by}, ir::ClampAttributes{});
  };
  const ir::Type wide{ElementType::kInt32, {}, std::nullopt};
  if (from_uint8) {
    cast(wide);
    add(128);
  }
  if (in.IsTruthResult()) cast({ElementType::kBool, {}, std::nullopt});
  if (to_uint8) {
    cast({ElementType::kUint8, {}, std::nullopt});
    cast(wide);
    add(-128);
  }
  in.Emit(Op::kCast, {value}, ir::NoAttributes{});
}

}  // namespace systole::import
