// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a chip has around the program control of a core: the issue port and the
// sync flags of its scalar unit, another core, which sends each post that it
// gets back, and a network, whose packets post link flags. So programs are what
// they are in a core alone, but for the time that such a flag takes.
#ifndef SYSTOLE_TESTS_RTL_SEQUENCER_CHIP_H_
#define SYSTOLE_TESTS_RTL_SEQUENCER_CHIP_H_

#include <array>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/rtl/sequencer/world.h"

namespace systole::sequencer_test {

class Chip {
 public:
  // Flags between cores are the last ones; those of packets come before.
  static constexpr int kFirstPeer = isa::kFirstPeerFlag;
  static constexpr int kPeer = isa::kNumFlags - kFirstPeer;
  static constexpr int kLink = isa::kNumLinkFlags;
  static constexpr int kOwn = isa::kFirstLinkFlag;

  template <typename Model>
  void Reset(Model& m, const World& world) {
    m.peer_rst_ni = world.keep_peer;
    m.issue_i = world.issue;
    m.isolated_i = world.isolated;
    m.issue_valid_i = 0;
    m.peer_post_i = m.peer_take_i = m.link_post_i = 0;
    m.scalar_post_i = m.scalar_want_i = 0;
    if (!world.keep_peer) {
      left_ = {};
      echo_.clear();
    }
    next_ = 0;
    posted_ = absent_ = {};
    taken_ = issued_ = false;
    posts_ = world.scalar_posts;
    wants_ = world.scalar_wants;
    peer_times_ = world.peer_times;
    link_left_ = world.link_posts;
    quiet_ = 0;
  }

  // Others post also in a cycle of a reset that their flags live through.
  template <typename Model>
  static void InReset(Model& m, const World& world, std::vector<int>& flags) {
    m.peer_post_i = world.reset_posts >> kFirstPeer;
    m.link_post_i = world.reset_posts >> kOwn & ((1 << kLink) - 1);
    for (int f = kOwn; f < isa::kNumFlags; ++f)
      flags[f] += world.reset_posts >> f & 1;
  }

  // Before a cycle.
  template <typename Model>
  std::vector<std::string> Drive(Model& m, const World& world,
                                 const std::vector<isa::Descriptor>& program,
                                 int64_t cycle, std::mt19937_64& random) {
    std::vector<std::string> errors;
    const auto chance = [&random](int in_256) {
      return static_cast<int>(random() & 255) < in_256;
    };
    // From registers: the outputs are this cycle's.
    m.peer_take_i = m.peer_post_i = 0;
    for (int f = 0; f < kPeer; ++f) {
      const bool posted = m.peer_posted_o >> f & 1;
      if (posted && left_[f] == 0)
        errors.push_back(
            absl::StrFormat("nobody posted flag %d", kFirstPeer + f));
      // A core that is frozen counts no posts.
      if (quiet_ > 3 && !m.frozen_o && posted != (left_[f] > 0))
        errors.push_back(
            absl::StrFormat("posts of flag %d are lost", kFirstPeer + f));
      if (!posted || left_[f] == 0 || chance(world.hold_peer)) continue;
      m.peer_take_i |= 1 << f;
      --left_[f];
      quiet_ = 0;
      echo_.push_back({cycle + 1 + static_cast<int64_t>(random() % 8), f});
    }
    ++quiet_;
    for (auto e = echo_.begin(); e != echo_.end();) {
      const bool due = e->first <= cycle && !(m.peer_post_i >> e->second & 1);
      if (due) m.peer_post_i |= 1 << e->second;
      e = due ? echo_.erase(e) : e + 1;
    }
    m.link_post_i = 0;
    for (int f = 0; f < kLink; ++f) {
      if (link_left_[f] == 0 || cycle == 0 || chance(world.hold_link)) continue;
      m.link_post_i |= 1 << f;
      --link_left_[f];
    }
    if (cycle > 20 && peer_times_ > 0) {
      m.peer_post_i |= world.peer_posts >> kFirstPeer;
      m.link_post_i |= world.peer_posts >> kOwn & ((1 << kLink) - 1);
      --peer_times_;
    }
    // The scalar unit.
    m.scalar_post_i = 0;
    if (posts_ > 0 && cycle > 0 && !chance(world.hold_scalar)) {
      m.scalar_post_i = world.scalar_post;
      --posts_;
    }
    if (wants_ > 0 && m.scalar_want_i == 0 && !chance(world.hold_scalar))
      m.scalar_want_i = world.scalar_want;
    // What is offered stays until it is taken.
    if (world.issue && !m.issue_valid_i && next_ < program.size() &&
        cycle > 0 && !chance(world.hold_issue)) {
      m.issue_valid_i = 1;
    }
    for (int w = 0; w < 16; ++w) {
      m.issue_desc_i[w] =
          m.issue_valid_i
              ? static_cast<uint32_t>(program[next_][w / 2] >> w % 2 * 32)
              : static_cast<uint32_t>(random());
    }
    return errors;
  }

  // In a cycle, after the queues have been looked at: flags have what was
  // posted in it.
  template <typename Model>
  std::vector<std::string> Check(Model& m, const World& world,
                                 std::vector<int>& flags) {
    std::vector<std::string> errors;
    const uint32_t own = Posted(m.scalar_post_i);
    for (int f = 0; f < isa::kNumFlags; ++f) flags[f] += own >> f & 1;
    if (m.scalar_taken_o) {
      if (m.scalar_want_i == 0) errors.push_back("nobody wants what is taken");
      for (int f = 0; f < isa::kNumFlags; ++f) {
        if ((m.scalar_want_i >> f & 1) != 0 && --flags[f] < 0)
          errors.push_back(absl::StrFormat("flag %d is not there", f));
      }
      taken_ = true;
    }
    // What was posted is there, unless a queue has taken it for later.
    for (int f = 0; f < isa::kNumFlags; ++f) {
      const bool there = m.scalar_there_o >> f & 1;
      posted_[f] = flags[f] > 0 ? posted_[f] + 1 : 0;
      absent_[f] = flags[f] > 0 ? 0 : absent_[f] + 1;
      if (there && absent_[f] > 8)
        errors.push_back(absl::StrFormat("flag %d is there", f));
      if (!there && posted_[f] > 8 && (world.scalar_want >> f & 1) != 0)
        errors.push_back(absl::StrFormat("flag %d is gone", f));
    }
    for (int f = 0; f < kPeer; ++f)
      flags[kFirstPeer + f] += m.peer_post_i >> f & 1;
    for (int f = 0; f < kLink; ++f) flags[kOwn + f] += m.link_post_i >> f & 1;
    if (m.issue_valid_i && m.issue_ready_o) {
      ++next_;
      issued_ = true;
    }
    if (m.issue_ready_o && !m.issue_valid_i)
      errors.push_back("takes what is not offered");
    if (!world.issue && m.issue_ready_o)
      errors.push_back("takes from the port");
    return errors;
  }

  // After the edge that ends a cycle.
  template <typename Model>
  void Next(Model& m) {
    if (std::exchange(taken_, false)) {
      m.scalar_want_i = 0;
      --wants_;
    }
    if (std::exchange(issued_, false)) m.issue_valid_i = 0;
  }

  // What of a queue's, or the scalar unit's, posts stays in this core; those to
  // the other core are to leave.
  uint32_t Posted(uint32_t post) {
    for (int f = 0; f < kPeer; ++f) {
      if ((post >> (kFirstPeer + f) & 1) == 0) continue;
      ++left_[f];
      quiet_ = 0;
    }
    return post & ((1u << kOwn) - 1);
  }

  std::vector<std::string> AtEnd(const World& world) const {
    std::vector<std::string> errors;
    if (posts_ > 0 || wants_ > 0)
      errors.push_back("the scalar unit waits at the end");
    for (int f = 0; f < kPeer; ++f) {
      if (left_[f] > 0 && world.hold_peer < 256)
        errors.push_back(
            absl::StrFormat("flag %d has not left", kFirstPeer + f));
    }
    return errors;
  }

 private:
  std::array<int, kPeer> left_ = {};          // posts that have not left
  std::deque<std::pair<int64_t, int>> echo_;  // cycle, flag
  std::array<int, isa::kNumFlags> posted_ = {}, absent_ = {};  // cycles
  std::array<int, kLink> link_left_ = {};  // posts that have not come
  int peer_times_ = 0;
  size_t next_ = 0;  // descriptor of the issue port
  int posts_ = 0, wants_ = 0, quiet_ = 0;
  bool taken_ = false, issued_ = false;
};

}  // namespace systole::sequencer_test

#endif  // SYSTOLE_TESTS_RTL_SEQUENCER_CHIP_H_
