// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/scalar/tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"

namespace systole::scalar {
namespace {

// Behind what is there, and zeros up to a multiple of TABLE_ALIGN.
template <typename T>
void Append(const std::vector<T>& table, std::vector<uint8_t>* bytes) {
  const size_t at = bytes->size(), size = table.size() * sizeof(T);
  bytes->resize((at + size + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN);
  if (size != 0) std::memcpy(&(*bytes)[at], table.data(), size);
}

absl::StatusOr<uint32_t> Counts(const std::vector<patch>& patches,
                                const std::vector<loop>& loops) {
  if (patches.size() <= MAX_PATCHES && loops.size() <= MAX_LOOPS)
    return static_cast<uint32_t>(patches.size() | loops.size() << 16);
  return absl::InvalidArgumentError(
      absl::StrFormat("%d patches and %d loops, more than %d and %d",
                      patches.size(), loops.size(), MAX_PATCHES, MAX_LOOPS));
}

// What of a program with arguments is in a chapter.
class Cutter {
 public:
  Cutter(absl::Span<const Loop> loops, absl::Span<const Step> steps,
         std::vector<patch> arguments, uint32_t length)
      : loops_(loops),
        steps_(steps),
        arguments_(std::move(arguments)),
        length_(length) {}

  // Each as long as it may be.
  std::vector<Chapter> Run() const {
    std::vector<Chapter> chapters;
    uint32_t begin = 0;
    size_t first = 0;  // loop of the chapter
    for (size_t l = 0; l < loops_.size();) {
      size_t next = l + 1;
      while (next < loops_.size() && loops_[next].begin < loops_[l].end) ++next;
      if (loops_[l].begin > begin &&
          (next - first > MAX_LOOPS ||
           Patches(begin, loops_[l].end) > MAX_PATCHES)) {
        chapters.push_back(Make(begin, loops_[l].begin, first, l));
        begin = loops_[l].begin;
        first = l;
      }
      l = next;
    }
    chapters.push_back(Make(begin, length_, first, loops_.size()));
    return chapters;
  }

 private:
  const Step* FirstStep(uint32_t i) const {
    return std::lower_bound(
        steps_.begin(), steps_.end(), i,
        [](const Step& s, uint32_t at) { return s.descriptor < at; });
  }
  const patch* FirstArgument(uint32_t i) const {
    return std::lower_bound(
        arguments_.data(), arguments_.data() + arguments_.size(), i,
        [](const patch& p, uint32_t at) { return p.index < at; });
  }
  ptrdiff_t Patches(uint32_t begin, uint32_t end) const {
    return FirstStep(end) - FirstStep(begin) + FirstArgument(end) -
           FirstArgument(begin);
  }

  Chapter Make(uint32_t begin, uint32_t end, size_t first, size_t last) const {
    Chapter c;
    c.end = end;
    for (size_t l = first; l < last; ++l) {
      const Loop& from = loops_[l];
      c.loops.push_back({from.begin,
                         from.end,
                         from.count,
                         from.flag,
                         {static_cast<uint32_t>(from.word),
                          static_cast<uint32_t>(from.word >> 32)}});
    }
    c.patches.assign(FirstArgument(begin), FirstArgument(end));
    for (const Step* s = FirstStep(begin); s != FirstStep(end); ++s) {
      const auto step = static_cast<uint64_t>(s->add);
      const auto number = static_cast<uint32_t>(s->loop - first) + 1;
      c.patches.push_back(
          {s->descriptor,
           PATCH_FIELD(s->lsb, s->bits, number),
           {},
           {static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)}});
    }
    std::stable_sort(c.patches.begin(), c.patches.end(),
                     [](const patch& a, const patch& b) {
                       return std::make_pair(a.index, a.field & 0xFFFF) <
                              std::make_pair(b.index, b.field & 0xFFFF);
                     });
    return c;
  }

  absl::Span<const Loop> loops_;
  absl::Span<const Step> steps_;
  std::vector<patch> arguments_;
  uint32_t length_;
};

}  // namespace

void AddLoops(absl::Span<const Loop> loops, absl::Span<const Step> steps,
              Launch* launch) {
  std::vector<Chapter> chapters =
      Cutter(loops, steps, std::move(launch->patches), launch->length).Run();
  if (chapters.size() > 1) {
    launch->patches.clear();
    launch->chapters = std::move(chapters);
    return;
  }
  launch->patches = std::move(chapters[0].patches);
  launch->loops = std::move(chapters[0].loops);
}

absl::StatusOr<Tables> PackTables(const Launch& launch) {
  Tables tables;
  if (launch.chapters.empty()) {
    absl::StatusOr<uint32_t> counts = Counts(launch.patches, launch.loops);
    if (!counts.ok()) return counts.status();
    tables.counts = *counts;
    Append(launch.patches, &tables.bytes);
    Append(launch.loops, &tables.bytes);
    return tables;
  }
  if (!launch.patches.empty() || !launch.loops.empty())
    return absl::InvalidArgumentError(
        "a launch in chapters has patches and loops in these alone");
  tables.counts = COUNTS_CHAPTERS;
  uint32_t begin = 0;
  for (const Chapter& c : launch.chapters) {
    absl::StatusOr<uint32_t> counts = Counts(c.patches, c.loops);
    if (!counts.ok()) return counts.status();
    if (c.end <= begin)
      return absl::InvalidArgumentError(
          absl::StrFormat("a chapter from descriptor %d to %d", begin, c.end));
    begin = c.end;
    chapter record = {};
    record.end = c.end;
    record.counts = *counts;
    Append(std::vector<chapter>{record}, &tables.bytes);
    Append(c.patches, &tables.bytes);
    Append(c.loops, &tables.bytes);
  }
  if (begin != launch.length)
    return absl::InvalidArgumentError(
        absl::StrFormat("the chapters end at descriptor %d, the program at %d",
                        begin, launch.length));
  return tables;
}

}  // namespace systole::scalar
