// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/compiler/layer_work.h"
#include "host/compiler/plan.h"
#include "host/ir/reader.h"

namespace systole::compiler {
namespace {

using Mode = InputPlacement::Mode;
using Pair = std::pair<int64_t, int64_t>;

constexpr Mode kModes[] = {Mode::kResident, Mode::kWhole, Mode::kSlots};
constexpr model::Op kOps[] = {
    model::Op::kConv2D,  model::Op::kDepthwise,   model::Op::kDense,
    model::Op::kMaxPool, model::Op::kAveragePool, model::Op::kMean,
    model::Op::kAdd,     model::Op::kMul,         model::Op::kTable,
    model::Op::kConcat,  model::Op::kSums,        model::Op::kSlice};

class PlanParser : private ir::Reader {
 public:
  explicit PlanParser(std::string_view text) : Reader(text) {}

  absl::StatusOr<Plan> ReadPlan() {
    Header();
    Expect("{");
    while (ok() && !Accept("}")) {
      if (Accept("%")) {
        Tensor();
      } else if (Accept("&")) {
        Buffer();
      } else {
        Layer();
      }
    }
    if (ok() && !AtEnd()) Fail("text behind the plan");
    if (!ok()) return status();
    return std::move(plan_);
  }

 private:
  void Header() {
    Expect("plan");
    Expect("@");
    plan_.name = Name();
    Expect("on");
    const std::string preset = Word();
    plan_.preset = FindPreset(preset);
    if (plan_.preset == nullptr) Fail(absl::StrCat("no preset '", preset, "'"));
    if (!ok()) return;
    plan_.ub_bytes = plan_.preset->ub_bytes;
    while (Accept(",")) {
      const std::string key = Word();
      if (key == "batch") {
        plan_.batch = Value();
      } else if (key == "ub") {
        plan_.ub_bytes = Value();
      } else if (key == "keep_intermediates") {
        plan_.keep_intermediates = true;
      } else if (key == "nothing_resident") {
        plan_.allow_resident = false;
      } else if (key == "loops") {
        plan_.loops = true;
      } else {
        Unknown(key);
      }
    }
  }

  void Tensor() {
    PlanTensor tensor;
    tensor.name = Name();
    Expect("=");
    // Sizes are separated by x; reading numbers alone would swallow it (0x...).
    const std::string_view shape =
        Run([](char c) { return (c >= '0' && c <= '9') || c == 'x'; });
    if (std::sscanf(std::string(shape).c_str(), "%ldx%ldx%ld", &tensor.h,
                    &tensor.w, &tensor.c) != 3 ||
        std::min({tensor.h, tensor.w, tensor.c}) < 1) {
      Fail("a shape wanted: height x width x channels");
    }
    while (ok() && Accept(",")) {
      const std::string key = Word();
      if (key == "raw") {
        tensor.element_bytes = 4;
      } else if (key == "bf16") {
        tensor.element_bytes = 2;
      } else if (key == "input") {
        tensor.input = true;
      } else if (key == "output") {
        tensor.output = true;
      } else if (key == "group") {
        tensor.group = Value();
      } else if (key == "in_hbm") {
        tensor.in_hbm = true;
      } else if (key == "hbm") {
        tensor.hbm = Value();
      } else {
        Unknown(key);
      }
    }
    if (ok()) plan_.tensors.push_back(std::move(tensor));
  }

  void Buffer() {
    if (Integer() != static_cast<int64_t>(plan_.buffers.size()))
      Fail(absl::StrCat("&", plan_.buffers.size(), " is next"));
    Expect("=");
    PlanBuffer buffer;
    buffer.name = String();
    while (ok() && Accept(",")) {
      const std::string key = Word();
      if (key == "bytes") {
        buffer.bytes = Value();
      } else if (key == "layers") {
        Expect("=");
        const Pair layers = ReadPair();
        buffer.first = static_cast<int>(layers.first);
        buffer.last = static_cast<int>(layers.second);
      } else if (key == "over") {
        Expect("=");
        List([&] { buffer.over.push_back(BufferNumber()); });
      } else if (key == "anywhere") {
        buffer.anywhere = true;
      } else if (key == "at") {
        buffer.at = Value();
      } else {
        Unknown(key);
      }
    }
    if (ok()) plan_.buffers.push_back(std::move(buffer));
  }

  void Layer() {
    PlanLayer layer;
    layer.name = Name();
    Expect(":");
    layer.output = TensorNumber();
    Expect("=");
    const std::string name = Word();
    const auto* op =
        std::find_if(std::begin(kOps), std::end(kOps),
                     [&](model::Op o) { return name == model::OpName(o); });
    if (op == std::end(kOps)) {
      Fail(absl::StrCat("no operation '", name, "'"));
    } else {
      layer.op = *op;
    }
    Expect("(");
    do {
      layer.inputs.push_back(TensorNumber());
    } while (ok() && Accept(","));
    Expect(")");
    if (!ok()) return;
    Geometry& s = layer.shape;
    const PlanTensor &in = plan_.tensors[layer.inputs[0]],
                     &out = plan_.tensors[layer.output];
    s.n = plan_.batch;
    std::tie(s.h, s.w, s.c) = std::tie(in.h, in.w, in.c);
    s.c *= in.element_bytes;
    std::tie(s.oh, s.ow, s.oc) = std::tie(out.h, out.w, out.c);
    s.element_bytes = out.element_bytes;
    if (layer.op == model::Op::kSums) {
      s.element_bytes = 4;
      s.oc /= s.element_bytes;
    }
    if (layer.op == model::Op::kConcat) JoinInputs(s);
    int64_t columns = 1;
    while (ok() && Accept(",")) Attribute(layer, columns);
    if (columns < 1 || s.ow % columns != 0)
      Fail(absl::StrCat(columns, " columns do not divide ", s.ow));
    if (s.groups < 1 || s.c % s.groups != 0 || s.oc % s.groups != 0)
      Fail(absl::StrCat(s.groups, " groups of ", s.c, " channels"));
    if (!ok()) return;
    layer.g = JoinedGeometry(s, columns, out.group);
    layer.g.in_group = in.group;
    plan_.layers.push_back(std::move(layer));
  }

  void Attribute(PlanLayer& layer, int64_t& columns) {
    Geometry& s = layer.shape;
    const std::string key = Word();
    const auto pair = [&](int64_t& a, int64_t& b) {
      Expect("=");
      std::tie(a, b) = ReadPair();
    };
    if (key == "kernel") {
      pair(s.kh, s.kw);
    } else if (key == "stride") {
      pair(s.sh, s.sw);
    } else if (key == "dilation") {
      pair(s.dh, s.dw);
    } else if (key == "padding") {
      pair(s.pad_top, s.pad_left);
    } else if (key == "multiplier") {
      s.multiplier = Value();
    } else if (key == "groups") {
      s.groups = Value();
    } else if (key == "planes") {
      layer.planes = static_cast<int>(Value());
    } else if (key == "columns") {
      columns = Value();
    } else if (key == "fused") {
      layer.fused = true;
    } else if (key == "wide") {
      layer.wide = static_cast<int>(Value());
    } else if (key == "joined") {
      layer.joined = true;
    } else if (key == "stationary") {
      layer.stationary = true;
    } else if (key == "tile_row") {
      layer.tile_row = Value();
    } else if (key == "from") {
      From(layer);
    } else if (key == "to") {
      To(layer.out);
    } else if (key == "channels") {
      layer.out.channels = Value();
    } else if (key == "stored") {
      layer.out.stored = true;
    } else if (key == "parameters") {
      layer.params.whole = Accept("whole");
      if (!layer.params.whole) Expect("turns");
      Expect("(");
      layer.params.buffer = BufferNumber();
      Expect(",");
      layer.params.slots = Integer();
      Expect(")");
    } else if (key == "blocks") {
      Expect("=");
      List([&] {
        Block b;
        int64_t* fields[] = {&b.i0, &b.ni, &b.y0, &b.ny, &b.x0, &b.nx};
        size_t n = 0;
        List([&] {
          const int64_t value = Integer();
          if (n < std::size(fields)) *fields[n] = value;
          ++n;
        });
        if (n != std::size(fields)) Fail("a block has six numbers");
        layer.blocks.push_back(b);
      });
    } else {
      Unknown(key);
    }
  }

  void From(PlanLayer& layer) {
    InputPlacement in;
    const std::string name = Word();
    const auto* mode =
        std::find_if(std::begin(kModes), std::end(kModes),
                     [&](Mode m) { return name == ModeName(m); });
    if (mode == std::end(kModes)) {
      Unknown(name);
      return;
    }
    in.mode = *mode;
    Expect("(");
    in.buffer = BufferNumber();
    Expect(",");
    in.pitch = Integer();
    Expect(",");
    (in.mode == Mode::kSlots ? in.slot_bytes : in.img_pitch) = Integer();
    if (Accept(",")) in.channels = Integer();
    Expect(")");
    layer.in.push_back(in);
  }

  void To(OutputPlacement& out) {
    out.resident = Accept("resident");
    if (!out.resident) Expect("slots");
    Expect("(");
    out.buffer = BufferNumber();
    Expect(",");
    (out.resident ? out.pitch : out.slot_bytes) = Integer();
    if (out.resident) {
      Expect(",");
      out.img_pitch = Integer();
    }
    Expect(")");
  }

  int64_t Value() {
    Expect("=");
    return Integer();
  }
  Pair ReadPair() {
    Expect("[");
    const int64_t a = Integer();
    Expect(",");
    const int64_t b = Integer();
    Expect("]");
    return {a, b};
  }
  int BufferNumber() {
    Expect("&");
    const int64_t number = Integer();
    if (number < 0 || number >= static_cast<int64_t>(plan_.buffers.size()))
      Fail(absl::StrCat("no buffer &", number));
    return static_cast<int>(number);
  }
  int TensorNumber() {
    Expect("%");
    const std::string name = Name();
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].name == name) return static_cast<int>(t);
    }
    Fail(absl::StrCat("no tensor %", name));
    return 0;
  }
  void Unknown(const std::string& key) {
    Fail(absl::StrCat("'", key, "' is not known here"));
  }

  Plan plan_;
};

}  // namespace

absl::StatusOr<Plan> ParsePlan(std::string_view text) {
  return PlanParser(text).ReadPlan();
}

}  // namespace systole::compiler
