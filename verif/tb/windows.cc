// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/windows.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace systole::tb {

Windows::Windows(const ChipsOptions& options, const Preset& preset,
                 std::vector<std::unique_ptr<ClockedChip>> chips,
                 Others* others)
    : wires_(options.chips(),
             options.cables.empty() ? TorusCables(options.columns, options.rows)
                                    : options.cables,
             options.wire_cycles),
      chips_(std::move(chips)),
      states_(chips_.size()),
      others_(others) {
  wires_.SetErrors(static_cast<int>(preset.chip.link_bytes),
                   options.wire_errors, options.seed);
  uint64_t begin = 0;  // all chips have come through the same reset
  for (size_t i = 0; i < chips_.size(); ++i) {
    if (chips_[i] == nullptr) continue;
    chips_[i]->Connect(&wires_, static_cast<int>(i));
    chips_[i]->StopAtInterrupt(ClockedChip::kNone);
    begin = chips_[i]->core().cycles();
  }
  for (ChipState& state : states_) state.cycles = begin;
  for (int t = 1; t < options.threads; ++t)
    followers_.push_back(std::make_unique<Follower>([this] { RunDue(); }));
}

bool Windows::AnyFailed() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const ChipState& state) { return state.failed; });
}

Outcome Windows::Serve(const ChipRequest& request) {
  if (AnyFailed()) return Outcome::kFailed;
  ChipState& state = states_[request.chip];
  const bool interrupt = request.kind == ChipRequest::Kind::kInterrupt;
  if (interrupt && state.irq[request.core]) return Outcome::kDone;
  state.answered = state.refused = false;
  const bool own = chips_[request.chip] != nullptr;
  if (own) Begin(request);
  while (!state.answered && !AnyFailed()) Round(request);
  if (own) End(request);
  if (AnyFailed()) return Outcome::kFailed;
  if (!state.refused) return Outcome::kDone;
  return interrupt ? Outcome::kNoInterrupt : Outcome::kRefused;
}

void Windows::Begin(const ChipRequest& request) {
  ClockedChip& chip = *chips_[request.chip];
  switch (request.kind) {
    case ChipRequest::Kind::kRegister:
      if (request.write) {
        uint32_t word = 0;
        std::memcpy(&word, request.data, sizeof word);
        chip.lite().StartWrite(static_cast<uint16_t>(request.addr), word);
      } else {
        chip.lite().StartRead(static_cast<uint16_t>(request.addr));
      }
      break;
    case ChipRequest::Kind::kMemory:
      chip.axi().Start(request.write, request.addr, request.data,
                       request.bytes);
      break;
    case ChipRequest::Kind::kInterrupt:
      chip.StopAtInterrupt(request.core);
      // At least one cycle, so that repeated requests advance time.
      if (request.bytes != 0) {
        chip.StopAt(chip.core().cycles() +
                    std::max<uint64_t>(request.bytes - 1, 1));
      }
      break;
  }
}

void Windows::End(const ChipRequest& request) {
  ClockedChip& chip = *chips_[request.chip];
  chip.StopAtInterrupt(ClockedChip::kNone);
  chip.StopAt(0);
  if (request.kind != ChipRequest::Kind::kRegister || request.write) return;
  const uint32_t word = chip.lite().data();
  std::memcpy(request.data, &word, sizeof word);
}

// The chips that are furthest behind run to the end of their window.
void Windows::Round(const ChipRequest& request) {
  const uint64_t from =
      std::min_element(states_.begin(), states_.end(),
                       [](const ChipState& a, const ChipState& b) {
                         return a.cycles < b.cycles;
                       })
          ->cycles;
  due_.clear();
  own_due_.clear();
  for (int i = 0; i < chips(); ++i) {
    if (states_[i].cycles != from) continue;
    due_.push_back(i);
    if (chips_[i] != nullptr) own_due_.push_back(i);
  }
  taken_ = 0;
  const size_t helpers =
      own_due_.empty() ? 0 : std::min(followers_.size(), own_due_.size() - 1);
  for (size_t t = 0; t < helpers; ++t) followers_[t]->Start();
  RunDue();
  for (size_t t = 0; t < helpers; ++t) followers_[t]->Join();
  for (const int i : own_due_) Update(i, request);
  if (others_ != nullptr) others_->Exchange(from, due_);
}

void Windows::RunDue() {
  const auto window = static_cast<uint64_t>(wires_.cycles());
  for (size_t i; (i = taken_++) < own_due_.size();) {
    ChipState& state = states_[own_due_[i]];
    state.cycles += chips_[own_due_[i]]->Run(
        static_cast<int>(window - state.cycles % window));
  }
}

void Windows::Update(int i, const ChipRequest& request) {
  const ClockedChip::Events events = chips_[i]->TakeEvents();
  const ClockedChip& chip = *chips_[i];
  ChipState& state = states_[i];
  state.failed = chip.core().failed().has_value();
  for (int c = 0; c < chip.cores(); ++c) state.irq[c] = chip.irq(c);
  if (on_progress && events.progress != 0) on_progress(i, events.progress);
  if (i != request.chip) return;
  switch (request.kind) {
    case ChipRequest::Kind::kRegister:
      state.answered = events.lite_ended;
      state.refused = chips_[i]->lite().response() != Response::kOkay;
      break;
    case ChipRequest::Kind::kMemory:
      state.answered = events.axi_ended;
      state.refused = chips_[i]->axi().response() != Response::kOkay;
      break;
    case ChipRequest::Kind::kInterrupt:
      state.refused = !state.irq[request.core];
      state.answered = !state.refused || events.at_reached;
      break;
  }
}

}  // namespace systole::tb
