// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/profile/join.h"

#include <algorithm>

#include "systole/gen/isa.h"

namespace systole::profile {
namespace {

// Their cycles are counted from the start of the piece.
void Append(const Recording& piece, uint64_t first, uint32_t descriptors,
            Recording& all) {
  for (DescriptorTimes times : piece.descriptors) {
    if (times.end != 0) {
      times.head += first;
      times.start += first;
      times.end += first;
    }
    for (FlagWait& wait : times.waits) {
      wait.poster += descriptors;
      wait.posted += first;
    }
    all.descriptors.push_back(std::move(times));
  }
  for (int u = 0; u < kNumUnits; ++u) {
    for (Span span : piece.spans[u]) {
      span.start += first;
      std::vector<Span>& spans = all.spans[u];
      if (spans.empty() || spans.back().cause != span.cause ||
          spans.back().at != span.at)
        spans.push_back(span);
    }
    for (int c = 0; c < kNumCauses; ++c) all.totals[u][c] += piece.totals[u][c];
  }
  for (RowEvent row : piece.rows) {
    row.cycle += first;
    all.rows.push_back(row);
  }
  // A piece's periods begin within one of all.
  for (size_t i = 0; i < piece.traffic.size(); ++i) {
    const size_t period =
        (first + i * Recording::kTrafficCycles) / Recording::kTrafficCycles;
    if (all.traffic.size() <= period) all.traffic.resize(period + 1);
    for (int c = 0; c < 4; ++c)
      all.traffic[period][c] = static_cast<uint8_t>(
          std::min(255, all.traffic[period][c] + piece.traffic[i][c]));
  }
  all.cycles = first + piece.cycles;
}

// That of a piece, whose layers are `number` and the next ones, from cycle
// `first` on.
void Append(const Piece& piece, int number, uint64_t first, Analysis& all) {
  Analysis analysis = Analyse(*piece.program, *piece.recording);
  if (analysis.layers.size() == 1)
    analysis.layers[0].cycles = piece.recording->cycles;
  for (LayerCycles& layer : analysis.layers) {
    if (piece.at && layer.last == 0 && piece.recording->cycles > 0)
      layer.last = piece.recording->cycles - 1;  // it only moves values
    layer.first += first;
    layer.last += first;
    all.layers.push_back(layer);
  }
  const bool one = analysis.layers.size() == 1;
  for (Finding finding : analysis.findings) {
    finding.layer = one                 ? number
                    : finding.layer < 0 ? -1
                                        : number + finding.layer;
    if (finding.root_layer >= 0) finding.root_layer += number;
    all.findings.push_back(finding);
  }
}

// No program runs up to cycle `to`.
void AppendIdle(uint64_t to, Joined& joined) {
  Recording& all = joined.recording;
  if (all.cycles >= to) return;
  const uint64_t cycles = to - all.cycles;
  constexpr auto kIdle = static_cast<uint8_t>(Cause::kIdle);
  for (int u = 0; u < kNumUnits; ++u) {
    std::vector<Span>& spans = all.spans[u];
    if (spans.empty() || spans.back().cause != kIdle)
      spans.push_back({all.cycles, kIdle, 0});
    all.totals[u][kIdle] += cycles;
  }
  Finding idle;
  idle.unit = idle.root_unit = Unit::kSequencer;
  idle.cause = idle.root_cause = Cause::kIdle;
  idle.cycles = cycles;
  joined.analysis.findings.push_back(idle);
  all.cycles = to;
}

}  // namespace

Joined Join(const std::vector<Piece>& pieces, uint64_t cycles) {
  Joined joined;
  for (const Piece& piece : pieces) {
    if (piece.at) AppendIdle(*piece.at, joined);
    const uint64_t first = joined.recording.cycles;
    joined.starts.push_back(first);
    joined.program.preset = piece.program->preset;
    Append(*piece.recording, first,
           static_cast<uint32_t>(joined.program.descriptors.size()),
           joined.recording);
    for (isa::Descriptor descriptor : piece.program->descriptors) {
      isa::PutBits(
          descriptor, 16, 16,
          joined.program.layers.size() + isa::GetBits(descriptor, 16, 16));
      joined.program.descriptors.push_back(descriptor);
    }
    Append(piece, static_cast<int>(joined.program.layers.size()), first,
           joined.analysis);
    joined.program.layers.insert(joined.program.layers.end(),
                                 piece.program->layers.begin(),
                                 piece.program->layers.end());
  }
  AppendIdle(cycles, joined);
  std::stable_sort(
      joined.analysis.findings.begin(), joined.analysis.findings.end(),
      [](const Finding& a, const Finding& b) { return a.cycles > b.cycles; });
  return joined;
}

}  // namespace systole::profile
