#include <cstdio>
#include <map>
#include "systole/compiler.h"
#include "systole/loops.h"
#include "host/compiler/access.h"
#include "tests/compiler/sized_networks.h"
using namespace systole;
int main(int argc, char** argv) {
  const Preset& preset = *FindPreset(argv[1]);
  compiler::Options o; o.loops = atoi(argv[4]);
  std::string plan;
  o.observer = [&](const std::string& s, const std::function<std::string()>& t) { if (s == "memory-planning") plan = t(); };
  auto p = compiler::CompileNetwork(SizedNetwork(argv[2], atoi(argv[3]), atoi(argv[3])), preset, o);
  if (!p.ok()) { printf("%s\n", p.status().ToString().c_str()); return 1; }
  Program r = RollLoops(*p, 1u << 20);
  if (argc > 5) printf("%s\n%s\n", plan.c_str(), DisassembleProgram(r).c_str());
  std::map<int,int> flat, rolled, steps;
  for (auto& d : p->descriptors) flat[compiler::TagOf(d)]++;
  for (auto& d : r.descriptors) rolled[compiler::TagOf(d)]++;
  for (auto& s : r.steps) steps[compiler::TagOf(r.descriptors[s.descriptor])]++;
  auto cy = compiler::EstimateLayerCycles(*p, preset);
  for (auto& [t, n] : flat) printf("%8d layer %d %s %s: %d -> %d, %d steps  | %s\n", (int)cy[t], t, p->layers[t].name.c_str(), p->layers[t].shape.c_str(), n, rolled[t], steps[t], p->layers[t].tiling.c_str());
  for (auto& l : r.loops) printf("loop [%d, %d) x %d\n", l.begin, l.end, l.count);
}
