// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "host/compiler/blocks.h"
#include "host/compiler/plan.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

using Mode = InputPlacement::Mode;

class PlanVerifier {
 public:
  explicit PlanVerifier(const Plan& plan) : plan_(plan) {}

  absl::Status Run() {
    Connections();
    // A plan without layers describes only memory.
    if (!plan_.layers.empty() && !plan_.tiled()) return status_;
    for (size_t l = 0; l < plan_.layers.size() && status_.ok(); ++l) {
      at_ = static_cast<int>(l);
      Blocks();
      Inputs();
      Output();
      Fused();
      Joined();
      Groups();
    }
    if (status_.ok()) UnifiedBuffer();
    if (status_.ok()) Hbm();
    return status_;
  }

 private:
  const PlanLayer& layer() const { return plan_.layers[at_]; }

  template <class... Args>
  void Require(bool holds, const Args&... what) {
    if (!holds && status_.ok())
      status_ = absl::InternalError(absl::StrCat(what...));
  }
  template <class... Args>
  void RequireOfLayer(bool holds, const Args&... what) {
    if (!holds) Require(false, "layer ", layer().name, ": ", what...);
  }

  void Connections() {
    Require(plan_.batch >= 1, "a batch of ", plan_.batch);
    std::set<std::string> names;
    for (const PlanTensor& t : plan_.tensors)
      Require(names.insert(t.name).second, "two tensors %", t.name);
    std::set<int> known;
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].input) known.insert(static_cast<int>(t));
    }
    for (const PlanLayer& l : plan_.layers) {
      at_ = static_cast<int>(&l - plan_.layers.data());
      RequireOfLayer(model::TakesInputs(l.op, l.inputs.size()), l.inputs.size(),
                     " inputs");
      for (const int t : l.inputs)
        RequireOfLayer(known.count(t) > 0, "%", plan_.tensors[t].name,
                       " is not there yet");
      RequireOfLayer(known.insert(l.output).second, "%",
                     plan_.tensors[l.output].name, " is there already");
      RequireOfLayer(l.shape.kh > 0 && l.shape.kw > 0 && l.shape.sh > 0 &&
                         l.shape.sw > 0 && l.shape.dh > 0 && l.shape.dw > 0,
                     "a window of 0");
      RequireOfLayer(l.shape.groups > 0 &&
                         (l.shape.groups == 1 || l.op == model::Op::kConv2D) &&
                         l.shape.c % l.shape.groups == 0 &&
                         l.shape.oc % l.shape.groups == 0,
                     "has ", l.shape.groups, " groups");
      RequireOfLayer(l.g.columns == 1 || model::HasWeights(l.op),
                     "joins columns without weights");
    }
  }

  // The blocks cover every output position once, in the order of images, lines
  // and positions.
  void Blocks() {
    const Geometry& g = layer().g;
    RequireOfLayer(!layer().blocks.empty(), "is not tiled");
    std::vector<bool> seen(g.n * g.oh * g.ow);
    for (const Block& b : layer().blocks) {
      const bool inside = b.i0 >= 0 && b.y0 >= 0 && b.x0 >= 0 && b.ni > 0 &&
                          b.ny > 0 && b.nx > 0 && b.i0 + b.ni <= g.n &&
                          b.y0 + b.ny <= g.oh && b.x0 + b.nx <= g.ow;
      RequireOfLayer(inside, "a block leaves the output");
      RequireOfLayer(!model::HasWeights(layer().op) ||
                         b.rows() <= plan_.preset->acc_bank_rows(),
                     "a block of ", b.rows(), " rows; a bank has ",
                     plan_.preset->acc_bank_rows());
      if (!status_.ok()) return;
      for (int64_t i = b.i0; i < b.i0 + b.ni; ++i) {
        for (int64_t y = b.y0; y < b.y0 + b.ny; ++y) {
          for (int64_t x = b.x0; x < b.x0 + b.nx; ++x) {
            const int64_t position = (i * g.oh + y) * g.ow + x;
            RequireOfLayer(!seen[position], "two blocks have position ", x,
                           " of line ", y);
            seen[position] = true;
          }
        }
      }
    }
    RequireOfLayer(std::count(seen.begin(), seen.end(), false) == 0,
                   "positions that no block has");
    if (layer().stationary) Stationary(static_cast<int64_t>(seen.size()));
    if (layer().tile_row == 0 || !status_.ok()) return;
    RequireOfLayer(layer().tile_row == plan_.FreeRowsBefore(at_),
                   "has its tile from row ", layer().tile_row,
                   " of the one before on, which has room from ",
                   plan_.FreeRowsBefore(at_), " on, 0 for none");
  }

  // All blocks are in progress at the same time.
  void Stationary(int64_t rows) {
    RequireOfLayer(
        model::HasWeights(layer().op) && rows <= plan_.preset->acc_bank_rows(),
        "is stationary with ", rows, " rows");
    const PlanLayer* epilogue = plan_.EpilogueOf(at_);
    for (const PlanLayer* l : {&layer(), epilogue}) {
      if (l == nullptr) continue;
      for (const InputPlacement& in : l->in)
        RequireOfLayer(in.mode != Mode::kSlots, "is stationary and has slots");
      RequireOfLayer(l->out.resident, "is stationary and its result in slots");
    }
  }

  const PlanBuffer* Buffer(int number, int first, int last, const char* what) {
    if (number < 0 || number >= static_cast<int>(plan_.buffers.size())) {
      RequireOfLayer(false, what, " has no buffer");
      return nullptr;
    }
    const PlanBuffer& buffer = plan_.buffers[number];
    RequireOfLayer(buffer.first <= first && buffer.last >= last, what,
                   " is wanted from layer ", first, " to ", last, ", buffer &",
                   number, " lives from ", buffer.first, " to ", buffer.last);
    return &buffer;
  }

  void Whole(const PlanBuffer& buffer, const char* what, int64_t line,
             int64_t lines, int64_t pitch, int64_t img_pitch) {
    RequireOfLayer(pitch >= line && pitch % plan_.preset->beat_bytes() == 0,
                   what, ": a pitch of ", pitch, " for lines of ", line);
    RequireOfLayer(
        img_pitch >= lines * pitch && plan_.batch * img_pitch <= buffer.bytes,
        what, " does not fit its buffer of ", buffer.bytes);
  }

  void Inputs() {
    const Geometry& g = layer().g;
    RequireOfLayer(layer().in.size() == layer().inputs.size(), "places for ",
                   layer().in.size(), " inputs");
    for (size_t i = 0; i < layer().in.size() && status_.ok(); ++i) {
      const InputPlacement& in = layer().in[i];
      // The input of a joined layer from the layer before is not stored.
      if (layer().joined && layer().inputs[i] == plan_.layers[at_ - 1].output)
        continue;
      int first = at_;
      if (in.mode == Mode::kResident) {
        for (int l = 0; l < at_; ++l) {
          if (plan_.layers[l].output == layer().inputs[i]) {
            first = l;
            RequireOfLayer(plan_.layers[l].out.resident &&
                               plan_.layers[l].out.buffer == in.buffer,
                           "its input is not where ", plan_.layers[l].name,
                           " leaves it");
          }
        }
      } else {
        RequireOfLayer(plan_.tensors[layer().inputs[i]].in_hbm, "loads %",
                       plan_.tensors[layer().inputs[i]].name,
                       ", which is not in HBM");
      }
      const PlanBuffer* buffer = Buffer(in.buffer, first, at_, "input");
      if (buffer == nullptr) return;
      if (in.mode != Mode::kSlots) {
        const PlanTensor& tensor = plan_.tensors[layer().inputs[i]];
        const bool repeated = plan_.Repeated(layer(), i);
        const bool part = layer().op == model::Op::kConcat;
        Whole(*buffer, "input",
              repeated ? tensor.c
              : part   ? tensor.line_bytes()
                       : g.line_bytes(),
              repeated ? 1
              : part   ? tensor.h
                       : g.h,
              in.pitch, in.img_pitch);
        continue;
      }
      RequireOfLayer(kSlotCount * in.slot_bytes <= buffer->bytes,
                     "input slots of ", in.slot_bytes, " in a buffer of ",
                     buffer->bytes);
      for (const Block& b : layer().blocks) {
        Region r = plan_.RegionOf(layer(), i, b);
        if (in.channels > 0) {
          RequireOfLayer(in.channels == plan_.GroupOf(layer()), "groups of ",
                         in.channels, " channels");
          r.nb = r.nb / g.c * in.channels;
        }
        RequireOfLayer(
            in.pitch >= r.nb && r.ni * r.nl * in.pitch <= in.slot_bytes,
            "a region of ", r.ni, " x ", r.nl, " lines of ", r.nb,
            " bytes in a slot of ", in.slot_bytes);
      }
    }
  }

  void Output() {
    const OutputPlacement& out = layer().out;
    const int result = plan_.ResultOf(at_);
    const PlanTensor& tensor = plan_.tensors[result];
    const Geometry& g = layer().g;
    RequireOfLayer(tensor.in_hbm == out.stored,
                   tensor.in_hbm ? "its result is not stored"
                                 : "its result is stored and not in HBM");
    RequireOfLayer(out.stored || (out.resident && !tensor.output),
                   "its result is lost");
    const int last = out.resident ? std::max(at_, plan_.LastUse(result)) : at_;
    const PlanBuffer* buffer =
        Buffer(out.buffer, layer().fused ? at_ - 1 : at_, last, "output");
    if (buffer == nullptr || !status_.ok()) return;
    if (layer().joined) return;  // the layer before has the placement
    if (out.resident) {
      Whole(*buffer, "output", g.out_line_bytes(), g.oh, out.pitch,
            out.img_pitch);
      return;
    }
    TilingLimits limits;
    limits.beat = plan_.preset->beat_bytes();
    limits.group_bytes = out.channels * g.element_bytes;
    for (const Block& b : layer().blocks) {
      RequireOfLayer(OutputBytes(g, b, limits) <= out.slot_bytes &&
                         kSlotCount * out.slot_bytes <= buffer->bytes,
                     "output slots of ", out.slot_bytes, " for ",
                     OutputBytes(g, b, limits), " bytes");
    }
  }

  void Fused() {
    if (!layer().fused) return;
    RequireOfLayer(at_ > 0 && !model::HasWeights(layer().op) &&
                       model::HasWeights(plan_.layers[at_ - 1].op),
                   "is not behind a layer that it can be fused with");
    for (const InputPlacement& in : layer().in)
      RequireOfLayer(in.mode == Mode::kResident, "is fused and loads");
    RequireOfLayer(layer().out.resident, "is fused and its result in slots");
  }

  void Joined() {
    if (!layer().joined) return;
    RequireOfLayer(at_ > 0 && !layer().fused, "is joined with no layer");
    const PlanLayer& before = plan_.layers[at_ - 1];
    RequireOfLayer(model::HasWeights(before.op) && !before.joined &&
                       (layer().op == model::Op::kTable ||
                        (layer().op == model::Op::kAdd && layer().wide >= 0 &&
                         Target(*plan_.preset).residual_requantise())),
                   "is no epilogue of the layer before");
    RequireOfLayer(before.out.buffer == layer().out.buffer &&
                       before.out.stored == layer().out.stored,
                   "its result is not where the layer before writes it");
    const int between = before.output;
    RequireOfLayer(
        !plan_.tensors[between].output && plan_.LastUse(between) == at_ &&
            std::count(layer().inputs.begin(), layer().inputs.end(), between) ==
                1,
        "others read %", plan_.tensors[between].name);
  }

  // A tensor in groups of channels has one reader, which knows the groups.
  void Groups() {
    const Geometry& g = layer().g;
    const PlanTensor& out = plan_.tensors[layer().output];
    const int64_t in = plan_.tensors[layer().inputs[0]].group;
    for (const int t : layer().inputs)
      RequireOfLayer(plan_.tensors[t].group == g.in_group, "reads %",
                     plan_.tensors[t].name, " in groups of ",
                     plan_.tensors[t].group, " channels");
    RequireOfLayer(in == 0 || (layer().op == model::Op::kConv2D &&
                               g.taps() == 1 && g.columns == 1),
                   "cannot read groups of channels");
    RequireOfLayer(
        out.group == g.group &&
            (g.group == 0 ||
             (layer().op == model::Op::kDepthwise && !out.argument() &&
              g.multiplier == 1 && g.c % g.group == 0 &&
              g.columns * g.group == plan_.preset->cols)),
        "cannot write groups of ", out.group, " channels");
    for (const Block& b : layer().blocks)
      RequireOfLayer((g.group == 0 && in == 0) || b.nx == g.ow,
                     "groups of channels and a line in parts");
  }

  // Whether `late` is the result of an elementwise layer that is the last
  // reader of `early` and overwrites it value by value.
  bool WrittenInPlace(int early, int late) const {
    const PlanBuffer &a = plan_.buffers[early], &b = plan_.buffers[late];
    if (a.at != b.at || a.bytes != b.bytes) return false;
    for (size_t l = 0; l < plan_.layers.size(); ++l) {
      const PlanLayer& add = plan_.layers[l];
      if (!model::IsElementwise(add.op) || add.out.buffer != late) continue;
      for (const InputPlacement& in : add.in) {
        if (in.buffer != early || in.pitch != add.out.pitch ||
            in.img_pitch != add.out.img_pitch || a.last != static_cast<int>(l))
          continue;
        if (!add.fused && !add.joined) return true;
        // The layer whose blocks it runs between may write what it reads, but
        // not read it.
        const std::vector<InputPlacement>& before = plan_.layers[l - 1].in;
        return std::none_of(
            before.begin(), before.end(),
            [&](const InputPlacement& p) { return p.buffer == early; });
      }
    }
    return false;
  }

  void UnifiedBuffer() {
    const std::vector<PlanBuffer>& buffers = plan_.buffers;
    const bool placed = !buffers.empty() && buffers[0].at != kNowhere;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const PlanBuffer& b = buffers[i];
      Require((b.at != kNowhere) == placed, "buffer &", i, " (", b.name,
              ") has no address");
      if (!placed) continue;
      Require(b.at >= 0 && b.at % plan_.align() == 0 &&
                  b.at + b.bytes <= plan_.ub_bytes,
              "buffer &", i, " (", b.name, "): ", b.bytes, " bytes at ", b.at,
              " of ", plan_.ub_bytes);
      for (size_t j = 0; j < i; ++j) {
        const PlanBuffer& a = buffers[j];
        const bool apart = !a.alive(b.first, b.last) ||
                           a.at + a.bytes <= b.at || b.at + b.bytes <= a.at;
        Require(
            apart || WrittenInPlace(static_cast<int>(j), static_cast<int>(i)),
            "buffers &", j, " (", a.name, ") and &", i, " (", b.name,
            ") overlap");
      }
    }
  }

  void Hbm() {
    const auto capacity = static_cast<int64_t>(plan_.preset->memory_bytes());
    const int count = static_cast<int>(plan_.tensors.size());
    for (int i = 0; i < count; ++i) {
      const PlanTensor& a = plan_.tensors[i];
      if (a.hbm == kNowhere) continue;
      Require(a.in_hbm && a.hbm % plan_.preset->beat_bytes() == 0 &&
                  a.hbm + plan_.HbmBytes(i) <= capacity,
              "%", a.name, ": ", plan_.HbmBytes(i), " bytes at ", a.hbm,
              " of HBM");
      for (int j = 0; j < i; ++j) {
        const PlanTensor& b = plan_.tensors[j];
        const auto p = plan_.HbmLife(i), q = plan_.HbmLife(j);
        Require(b.hbm == kNowhere || p.first > q.second || q.first > p.second ||
                    b.hbm + plan_.HbmBytes(j) <= a.hbm ||
                    a.hbm + plan_.HbmBytes(i) <= b.hbm,
                "%", b.name, " and %", a.name, " overlap in HBM");
      }
    }
  }

  const Plan& plan_;
  int at_ = 0;
  absl::Status status_;
};

}  // namespace

absl::Status Verify(const Plan& plan) { return PlanVerifier(plan).Run(); }

}  // namespace systole::compiler
