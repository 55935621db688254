// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/describe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/ir/type.h"
#include "host/tools/checker.h"
#include "host/tools/report.h"
#include "systole/compiler.h"

namespace systole::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string Signed(uint64_t value) {
  return Thousands(static_cast<int64_t>(value));
}

const char* RoleOf(const TensorInfo& tensor) {
  return tensor.is_input ? "input" : tensor.is_output ? "output" : "-";
}

std::string InputName(const ir::Node& node) {
  const std::string& name = node.attr<ir::ParameterAttributes>().name;
  return name.empty() ? node.name : name;
}

struct Traffic {
  std::vector<LayerRun> layers;
  std::vector<int64_t> expected;
};

Traffic TrafficOf(const Program& program, const Preset& preset) {
  Traffic traffic;
  traffic.layers.resize(program.layers.size());
  CountBytes(program, preset, traffic.layers);
  traffic.expected = compiler::EstimateLayerCycles(program, preset);
  return traffic;
}

Json ValueJson(const std::string& name, const ir::Type& type) {
  Json json = {{"name", name},
               {"element", ir::ElementTypeName(type.element)},
               {"shape", type.shape},
               {"scale", nullptr},
               {"zero_point", nullptr}};
  if (type.quantization) {
    json["scale"] = type.quantization->scale();
    json["zero_point"] = type.quantization->zero_point;
  }
  return json;
}

Json TensorJson(const TensorInfo& t) {
  return {{"name", t.name},
          {"element", ElementTypeName(t.type)},
          {"shape", {t.n, t.h, t.w, t.channels}},
          {"role", RoleOf(t)},
          {"hbm_addr", t.hbm_addr},
          {"pitch", t.pitch},
          {"image_pitch", t.img_pitch},
          {"scale", t.scale},
          {"zero_point", t.zero_point}};
}

}  // namespace

Extent ExtentOf(const compiler::Access& access) {
  Extent span{access.base, access.base + access.len};
  for (int d = 0; d < 3; ++d) {
    const int64_t reach = (access.count[d] - 1) * access.stride[d];
    (reach < 0 ? span.low : span.high) += reach;
  }
  return span;
}

absl::Status CheckAccesses(const Program& program, const Preset& preset) {
  constexpr int64_t kMostRuns = int64_t{1} << 24;
  const auto memory =
      static_cast<int64_t>(preset.memory_bytes()) * preset.chip.cores;
  for (uint32_t i = 0; i < program.descriptors.size(); ++i) {
    const Reach reach = ReachOf(program.loops, program.steps, i);
    for (const compiler::Access& access :
         compiler::AccessesOf(program.descriptors[i], preset)) {
      if (access.count[0] * access.count[1] * access.count[2] > kMostRuns) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "descriptor %d makes %d x %d x %d accesses, too many to estimate "
            "its cycles; `systole disasm` prints the program",
            i, access.count[2], access.count[1], access.count[0]));
      }
      const Extent span = ExtentOf(access);
      if (access.space == compiler::Space::kHbm &&
          (span.low + reach.least < 0 || span.high + reach.most > memory)) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "descriptor %d %s HBM from 0x%x to 0x%x, the memory has 0x%x "
            "bytes; `systole disasm` prints the program",
            i, access.write ? "writes" : "reads", span.low, span.high, memory));
      }
    }
  }
  return absl::OkStatus();
}

std::string PlacementText(const std::vector<lower::Placement>& placements) {
  const bool several =
      std::any_of(placements.begin(), placements.end(),
                  [](const lower::Placement& p) { return p.step > 2; });
  Table table(several ? std::vector<std::string>{"step", "operator",
                                                 "operation", "runs on", "why"}
                      : std::vector<std::string>{"operator", "operation",
                                                 "runs on", "why"});
  for (const lower::Placement& p : placements) {
    std::vector<std::string> row = {p.node, p.op, p.unit, p.reason};
    if (several) row.insert(row.begin(), absl::StrCat(p.step));
    table.Add(row);
  }
  Table shares({"runs on", "operators", "MACs", "bytes of results"});
  for (const Share& s : SharesOf(placements)) {
    shares.Add(
        {s.unit, absl::StrCat(s.operators),
         absl::StrCat(Thousands(s.macs), " (", Percent(s.macs_share), ")"),
         absl::StrCat(Thousands(s.bytes), " (", Percent(s.bytes_share), ")")});
  }
  return absl::StrCat(table.ToString(), "\n", shares.ToString());
}

std::vector<Share> SharesOf(const std::vector<lower::Placement>& placements) {
  std::vector<Share> shares;
  for (const char* unit : {"array", "vector unit", "host", "nowhere"}) {
    Share share;
    share.unit = unit;
    int64_t macs = 0, bytes = 0;
    for (const lower::Placement& p : placements) {
      macs += p.macs;
      bytes += p.bytes;
      if (p.unit != unit) continue;
      ++share.operators;
      share.macs += p.macs;
      share.bytes += p.bytes;
    }
    if (share.operators == 0) continue;
    const auto part = [](int64_t a, int64_t all) {
      return all > 0 ? static_cast<double>(a) / static_cast<double>(all) : 0.0;
    };
    share.macs_share = part(share.macs, macs);
    share.bytes_share = part(share.bytes, bytes);
    shares.push_back(share);
  }
  return shares;
}

std::string TilingText(const Program& program) {
  Table table({"layer", "tiling"});
  for (const LayerInfo& layer : program.layers)
    table.Add({layer.name, layer.tiling});
  return table.ToString();
}

std::string MemoryText(const Program& program) {
  Table buffers({"unified buffer", "from", "to", "bytes", "layers"});
  std::vector<BufferInfo> sorted = program.buffers;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const BufferInfo& a, const BufferInfo& b) {
                     return a.first_layer < b.first_layer;
                   });
  for (const BufferInfo& b : sorted) {
    buffers.Add({b.name, absl::StrFormat("0x%x", b.ub_addr),
                 absl::StrFormat("0x%x", b.ub_addr + b.bytes), Signed(b.bytes),
                 absl::StrCat(b.first_layer, "..", b.last_layer)});
  }
  Table tensors({"tensor in HBM", "type", "shape", "address", "line pitch",
                 "image pitch", "role"});
  for (const TensorInfo& t : program.tensors) {
    tensors.Add({t.name, std::string(ElementTypeName(t.type)),
                 absl::StrFormat("%dx%dx%dx%d", t.n, t.h, t.w, t.channels),
                 absl::StrFormat("0x%x", t.hbm_addr), Thousands(t.pitch),
                 Thousands(t.img_pitch), RoleOf(t)});
  }
  Table segments({"data in HBM", "address", "bytes"});
  for (const DataSegment& s : program.segments) {
    segments.Add(
        {s.name, absl::StrFormat("0x%x", s.hbm_addr), Signed(s.data.size())});
  }
  segments.Add({"descriptors", absl::StrFormat("0x%x", program.prog_addr),
                Signed(program.descriptors.size() * isa::kDescriptorBytes)});
  return absl::StrCat(program.buffers.empty() ? "" : buffers.ToString() + "\n",
                      tensors.ToString(), "\n", segments.ToString());
}

std::string LayerText(const Program& program, const Preset& preset) {
  const Traffic traffic = TrafficOf(program, preset);
  Table table({"layer", "operation", "shape", "MACs", "ideal cycles",
               "expected cycles", "HBM read", "HBM written", "least"});
  for (size_t l = 0; l < program.layers.size(); ++l) {
    const LayerInfo& info = program.layers[l];
    table.Add({info.name, info.op, info.shape, Thousands(info.macs),
               Thousands(info.ideal_cycles), Thousands(traffic.expected[l]),
               Signed(traffic.layers[l].hbm_read_bytes),
               Signed(traffic.layers[l].hbm_write_bytes),
               Signed(LeastBytes(program, l))});
  }
  return table.ToString();
}

std::string SignatureText(const runtime::CompiledModel& model) {
  Table table({"", "name", "type"});
  for (const ir::Node* input : model.inputs())
    table.Add({"input", InputName(*input), ir::TypeText(input->type)});
  for (const ir::Output& output : model.outputs())
    table.Add({"output", output.name, ir::TypeText(output.node->type)});
  for (const auto& v : model.variables())
    table.Add(
        {"variable", InputName(*v.parameter), ir::TypeText(v.parameter->type)});
  return table.ToString();
}

Json InfoJson(const Program& program, const Preset& preset) {
  const Traffic traffic = TrafficOf(program, preset);
  Json json;
  json["preset"] = program.preset;
  json["descriptors"] = program.descriptors.size();
  json["hbm_bytes"] = program.hbm_bytes;
  json["expected_cycles"] = compiler::EstimateCycles(program, preset);
  json["layers"] = Json::array();
  for (size_t l = 0; l < program.layers.size(); ++l) {
    const LayerInfo& info = program.layers[l];
    json["layers"].push_back(
        {{"name", info.name},
         {"operation", info.op},
         {"shape", info.shape},
         {"inputs", info.inputs},
         {"output", info.output},
         {"macs", info.macs},
         {"ideal_cycles", info.ideal_cycles},
         {"expected_cycles", traffic.expected[l]},
         {"hbm_read_bytes", traffic.layers[l].hbm_read_bytes},
         {"hbm_write_bytes", traffic.layers[l].hbm_write_bytes},
         {"least_hbm_bytes", LeastBytes(program, l)},
         {"tiling", info.tiling}});
  }
  json["unified_buffer"] = Json::array();
  for (const BufferInfo& b : program.buffers) {
    json["unified_buffer"].push_back({{"name", b.name},
                                      {"address", b.ub_addr},
                                      {"bytes", b.bytes},
                                      {"first_layer", b.first_layer},
                                      {"last_layer", b.last_layer}});
  }
  json["tensors"] = Json::array();
  for (const TensorInfo& t : program.tensors)
    json["tensors"].push_back(TensorJson(t));
  json["data"] = Json::array();
  for (const DataSegment& s : program.segments) {
    json["data"].push_back(
        {{"name", s.name}, {"hbm_addr", s.hbm_addr}, {"bytes", s.data.size()}});
  }
  return json;
}

Json PlacementJson(const runtime::CompiledModel& model) {
  Json json;
  json["model"] = model.name;
  json["inputs"] = Json::array();
  for (const ir::Node* input : model.inputs())
    json["inputs"].push_back(ValueJson(InputName(*input), input->type));
  json["outputs"] = Json::array();
  for (const ir::Output& output : model.outputs())
    json["outputs"].push_back(ValueJson(output.name, output.node->type));
  json["variables"] = Json::array();
  for (const auto& v : model.variables())
    json["variables"].push_back(
        ValueJson(InputName(*v.parameter), v.parameter->type));
  json["operators"] = Json::array();
  for (const lower::Placement& p : model.placements) {
    json["operators"].push_back({{"name", p.node},
                                 {"operation", p.op},
                                 {"runs_on", p.unit},
                                 {"why", p.reason},
                                 {"step", p.step},
                                 {"macs", p.macs},
                                 {"bytes", p.bytes}});
  }
  json["shares"] = Json::array();
  for (const Share& s : SharesOf(model.placements)) {
    json["shares"].push_back({{"runs_on", s.unit},
                              {"operators", s.operators},
                              {"macs", s.macs},
                              {"macs_share", s.macs_share},
                              {"bytes", s.bytes},
                              {"bytes_share", s.bytes_share}});
  }
  return json;
}

Json InfoJson(const runtime::CompiledModel& model, const Preset& preset) {
  Json json = PlacementJson(model);
  json["images_a_run"] = model.batch();
  if (model.programs.size() == 1) {
    json.update(InfoJson(model.programs[0], preset));
    return json;
  }
  json["preset"] = model.preset();
  json["hbm_bytes"] = model.hbm_bytes();
  json["programs"] = Json::array();
  int64_t cycles = 0;
  for (const Program& program : model.programs) {
    json["programs"].push_back(InfoJson(program, preset));
    cycles += compiler::EstimateCycles(program, preset);
  }
  json["expected_cycles"] = cycles;
  return json;
}

}  // namespace systole::tools
