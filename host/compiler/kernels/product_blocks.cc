// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/product_blocks.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/geometry.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using compiler::CeilDiv;
using compiler::RoundUp;

// Of the first section, and of those behind it.
constexpr const char* kDrains[] = {"acc_sums", "acc_more_sums"};
constexpr int64_t kProductBlocks = 8, kShareOfRight = 4;
// Of the unified buffer, two blocks of lines that are made larger than they
// would be.
constexpr int64_t kShareOfLines = 2;
// Banks that neighbouring lines lie in at least; what may lie between lines, of
// the unified buffer; bytes of a line of the data setup.
constexpr int64_t kBanksOfLines = 4, kShareOfPitch = 32,
                  kMostLineBytes = 1 << 19;
// Of rows of the array: vectors that a tile of a panel serves at a time.
constexpr int64_t kLinesOfPanel = 2;

absl::StatusOr<const kernels::Image*> ImageOf(const Preset& preset) {
  static std::mutex mutex;
  static auto& images = *new std::map<std::string, kernels::Image>;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string name(preset.name);
  const auto found = images.find(name);
  if (found != images.end()) return &found->second;
  absl::StatusOr<kernels::Image> image = kernels::Assemble(preset);
  if (!image.ok()) return image.status();
  return &images.emplace(name, *std::move(image)).first->second;
}

}  // namespace

ProductBlocks::ProductBlocks(const ir::Node& node, const Preset& preset,
                             KernelBuilder& builder, int64_t columns)
    : preset_(preset),
      builder_(builder),
      transposed_(node.attr<ir::HloMatrixProductAttributes>().transposed),
      m_(node.type.shape[1]),
      k_(node.operands[1].type().shape[transposed_ ? 2 : 1]),
      lines_(node.type.shape[0] * m_),
      all_columns_(node.type.shape[2]),
      band_columns_(columns > 0 ? columns : all_columns_),
      n_(band_columns_),
      unit_(builder.Align(1)),
      bank_rows_(preset.acc_bank_rows()),
      n_tiles_(CeilDiv(n_, preset.cols)),
      walk_(node.attr<ir::HloMatrixProductAttributes>(), m_, k_, preset) {
  strips_ =
      transposed_ ? n_tiles_ : static_cast<int64_t>(walk_.depths().size());
  right_rows_ = transposed_ ? all_columns_ : k_;
  right_width_ = transposed_ ? k_ : all_columns_;
}

int64_t ProductBlocks::BlockLines(int64_t step) const {
  const int64_t block = RoundUp(std::min(lines_, 2 * bank_rows_), step);
  // While a block is computed, the next one is loaded and the one before is
  // stored; a tile serves enough lines to hide the load of the next tile.
  // Blocks end where a loop of the lines does.
  // More blocks of less lines where the right matrix can stay for all of them.
  const bool stays = 2 * k_ * n_ <= preset_.ub_bytes / kShareOfRight;
  const int64_t tiles = stays && walk_.Contiguous() ? 1 : 2;
  int64_t wanted =
      std::max(CeilDiv(lines_, kProductBlocks), tiles * preset_.rows);
  // Sections may have different numbers of passes: behind the last one of the
  // shortest, the chains of the others are not hidden by it.
  const int64_t hidden = CeilDiv(compiler::ArrayLatency(preset_), n_tiles_);
  if (walk_.sections().size() > 1 && wanted < hidden) {
    const int64_t more = CeilDiv(lines_, std::max<int64_t>(1, lines_ / hidden));
    const Run run = walk_.Needed(0, std::min(lines_, more), bank_rows_);
    if (kShareOfLines * 2 * 2 * run.size <= preset_.ub_bytes) wanted = more;
  }
  const int64_t whole =
      RoundUp(wanted, std::lcm(step, walk_.InnerLines(wanted)));
  return LoadedBy(whole) <= LoadedBy(block) * 5 / 4 ? std::min(block, whole)
                                                    : block;
}

Halves ProductBlocks::HalvesOf(int64_t block) const {
  // The weight loader is not always granted its banks.
  if (!walk_.Contiguous() || block / 2 < 2 * compiler::ShortestPass(preset_))
    return Halves::kNone;
  const auto passes = static_cast<int64_t>(walk_.depths().size()) * n_tiles_;
  const int64_t load = 2 * k_ * n_ / preset_.beat_bytes();
  return load * 3 / 2 < block / 2 * passes ? Halves::kBoth : Halves::kLast;
}

absl::Status ProductBlocks::Place(int64_t block) {
  block_ = block;
  const int64_t buffers = block_ < lines_ ? 2 : 1;
  a_bytes_ = 0;
  a_pitch_ = LinePitch(block);
  if (a_pitch_ != 0)
    a_bytes_ = builder_.Align(std::min(block, lines_) * a_pitch_);
  for (int64_t first = 0; a_pitch_ == 0 && first < lines_; first += block_) {
    const Run run =
        walk_.Needed(first, std::min(lines_, first + block_), bank_rows_);
    a_bytes_ = std::max(a_bytes_, Room(2 * run.size));
  }
  a_at_ = builder_.Place("lines", buffers * a_bytes_).at;
  const int64_t batches = lines_ / m_;
  const int64_t least = std::min<int64_t>(2, strips_ * batches);
  // As many that parts of single vectors hide their chains, and the next ones.
  const int64_t turns = 2 * CeilDiv(compiler::ArrayLatency(preset_),
                                    compiler::ShortestPass(preset_));
  const int64_t all = std::max(strips_ * std::min<int64_t>(2, batches),
                               std::min(strips_ * batches, turns));
  // As before any other attempt.
  panel_ = n_tiles_;
  pitch_ = StripPitch();
  strip_bytes_ = StripBytes();
  slots_ = std::clamp(builder_.Room() / strip_bytes_, least, all);
  // Strips that cannot stay are cut into panels of columns, of which all may.
  const int64_t panel =
      bank_rows_ / std::min(block_, kLinesOfPanel * preset_.rows);
  if (!transposed_ && slots_ < strips_ && panel < n_tiles_ &&
      2 * right_width_ % unit_ == 0 && 2 * panel * preset_.cols % unit_ == 0) {
    panel_ = panel;
    pitch_ = PitchOf(2 * panel_ * preset_.cols);
    strip_bytes_ = StripBytes();
    slots_ = std::clamp(builder_.Room() / strip_bytes_, least, 2 * strips_);
  }
  strips_at_ = builder_.Place("strips", slots_ * strip_bytes_).at;
  held_.assign(slots_, {-1, -1});
  return builder_.Fits();
}

absl::Status ProductBlocks::AddCode(std::vector<uint64_t>& words) {
  const absl::StatusOr<const kernels::Image*> image = ImageOf(preset_);
  if (!image.ok()) return image.status();
  image_ = *image;
  for (size_t i = 0; i < std::min<size_t>(2, walk_.sections().size()); ++i) {
    kernels::Image::Part part = image_->PartOf(kDrains[i]);
    moved_[i] = static_cast<int64_t>(words.size()) - part.pc;
    MoveCode(absl::MakeSpan(part.words), moved_[i]);
    words.insert(words.end(), part.words.begin(), part.words.end());
  }
  return absl::OkStatus();
}

// Elements of the left operand that all blocks together load.
int64_t ProductBlocks::LoadedBy(int64_t block) const {
  int64_t elements = 0;
  for (int64_t first = 0; first < lines_; first += block) {
    elements +=
        walk_.Needed(first, std::min(lines_, first + block), bank_rows_).size;
  }
  return elements;
}

// Loads `bytes` from this offset of an operand; returns their address in the
// unified buffer.
int64_t ProductBlocks::Load(int operand, int64_t offset, int64_t bytes,
                            int64_t at) {
  const int64_t before = offset % unit_;
  builder_.Load(operand, offset - before, at, bytes + before);
  return at + before;
}

void ProductBlocks::Block(int64_t first, int64_t end, int64_t to) {
  const int64_t buffer = block_ < lines_ ? blocks_++ % 2 : 0;
  const Run run = walk_.Needed(first, end, bank_rows_);
  int64_t a = a_at_ + buffer * a_bytes_;
  if (a_pitch_ != 0) {
    builder_.LoadRuns(left_, 2 * run.offset, a, 2 * k_,
                      {{end - first, 2 * k_, a_pitch_}});
    a -= a_pitch_ * first;
  } else {
    a = Load(left_, 2 * run.offset, 2 * run.size, a) - 2 * run.offset;
  }
  const int64_t c = to - 4 * n_ * first;
  std::vector<Part> parts;
  for (int64_t line = first; line < end;) {
    const int64_t stop = std::min(end, (line / m_ + 1) * m_);
    Batch(line, stop, a, c, parts);
    line = stop;
  }
  int64_t left = 0;
  for (const Part& part : parts) left += CyclesOf(part);
  for (const Part& part : parts) {
    Add(part, left);
    left -= CyclesOf(part);
  }
  MultiplyParts();
}

// The parts of lines of one batch. `a` and `c` are the addresses that element 0
// of the operands would have.
void ProductBlocks::Batch(int64_t first, int64_t end, int64_t a, int64_t c,
                          std::vector<Part>& parts) const {
  // Column tiles whose sums share a bank: if strips cannot stay, as many as a
  // strip has, as long as changing tiles does not slow the array down.
  const bool panels = panel_ < n_tiles_;
  const bool stay = transposed_ || slots_ >= strips_;
  const int64_t rows = stay ? end - first : std::min(end - first, preset_.rows);
  const int64_t group =
      panels ? panel_ : std::clamp<int64_t>(bank_rows_ / rows, 1, n_tiles_);
  const std::vector<Lines> all = walk_.LinesOf(first, end, bank_rows_ / group);
  const auto each = [&](int64_t tile, const Lines& lines) {
    const int64_t end = std::min(n_tiles_, tile + group);
    // A strip of columns holds one tile.
    const int64_t step = transposed_ ? 1 : end - tile;
    for (int64_t t = tile; t < end; t += step)
      for (size_t section = 0; section < walk_.sections().size(); ++section)
        parts.push_back(
            {lines, t, t + step, section,
             a + (a_pitch_ != 0 ? a_pitch_ * lines.line : 2 * lines.offset),
             c});
  };
  if (panels) {  // one stays for all lines
    for (int64_t tile = 0; tile < n_tiles_; tile += group)
      for (const Lines& lines : all) each(tile, lines);
    return;
  }
  for (const Lines& lines : all)
    for (int64_t tile = 0; tile < n_tiles_; tile += group) each(tile, lines);
}

void ProductBlocks::Add(Part part, int64_t left) {
  int64_t cycles = 0;
  for (const Part& other : parts_) cycles += CyclesOf(other);
  if (!parts_.empty() && (rows_ + part.rows() > bank_rows_ ||
                          (Hide(cycles) && Hide(left)) || !StripsStayFor(part)))
    MultiplyParts();
  part.sums = bank_ * bank_rows_ + rows_;
  rows_ += part.rows();
  parts_.push_back(part);
}

// Strips of columns are needed in all passes of the parts, and so must stay
// while this one is added to them.
bool ProductBlocks::StripsStayFor(const Part& part) const {
  if (!transposed_) return true;
  std::set<std::pair<int64_t, int64_t>> strips;
  for (const Part& other : parts_)
    strips.emplace(other.lines.line / m_, other.begin);
  strips.emplace(part.lines.line / m_, part.begin);
  return static_cast<int64_t>(strips.size()) <= slots_;
}

// Of a pass.
int64_t ProductBlocks::CyclesOf(const Part& part) const {
  return (part.end - part.begin) *
         std::max(part.lines.count(), compiler::ShortestPass(preset_));
}
bool ProductBlocks::Hide(int64_t cycles) const {
  return cycles >= compiler::ArrayLatency(preset_);
}

void ProductBlocks::MultiplyParts() {
  size_t most = 0;  // passes of a part
  for (const Part& part : parts_) {
    const auto& [first, end] = walk_.sections()[part.section];
    most = std::max(most, end - first);
  }
  for (size_t i = 0; i < most; ++i) {
    for (const Part& part : parts_) {
      const auto& [first, end] = walk_.sections()[part.section];
      if (first + i < end) PushAndMultiply(part, first + i);
    }
  }
  for (const Part& part : parts_) {
    const int64_t count = part.lines.count();
    for (int64_t t = part.begin; t < part.end; ++t) {
      Drain(part.section > 0 ? 1 : 0, part.sums + (t - part.begin) * count,
            count, part.to + 4 * (n_ * part.lines.line + t * preset_.cols),
            std::min(preset_.cols, n_ - t * preset_.cols));
    }
  }
  parts_.clear();
  rows_ = 0;
  bank_ ^= 1;
}

void ProductBlocks::PushAndMultiply(const Part& part, size_t i) {
  const int64_t batch = part.lines.line / m_;
  const Depth& depth = walk_.depths()[i];
  const auto multiply = [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      Multiply(part.lines, depth, i > walk_.sections()[part.section].first,
               part.from, part.sums + (t - part.begin) * part.lines.count());
    }
  };
  if (transposed_) {
    for (int64_t t = part.begin; t < part.end; ++t) {
      PushColumns(batch, t, depth);
      multiply(t, t + 1);
    }
    return;
  }
  // The last tile may be narrower.
  const int64_t whole = std::clamp(n_ / preset_.cols, part.begin, part.end);
  for (const auto& [first, last] :
       {std::pair(part.begin, whole), std::pair(whole, part.end)}) {
    if (first == last) continue;
    PushRows(batch, i, first, last);
    multiply(first, last);
  }
}

void ProductBlocks::Multiply(const Lines& lines, const Depth& depth,
                             bool accumulate, int64_t from, int64_t sums) {
  const int64_t origin = depth.runs[0].offset;
  isa::Matmul m;
  if (accumulate) m.header.flags |= isa::Matmul::kAccumulate;
  m.ub_base = static_cast<uint32_t>(from + 2 * origin);
  m.n = static_cast<uint32_t>(lines.n[0]);
  m.lines = m.ny = static_cast<uint32_t>(lines.n[1]);
  m.nx = static_cast<uint32_t>(lines.n[2]);
  m.img_pitch = static_cast<uint32_t>(2 * lines.step[0]);
  m.pitch = static_cast<uint32_t>(2 * lines.step[1]);
  m.sx = static_cast<uint32_t>(2 * lines.step[2]);
  m.sy = m.t0 = m.t1 = 1;
  m.acc = static_cast<uint32_t>(sums);
  int64_t bytes = 0;
  for (size_t s = 0; s < depth.runs.size(); ++s) {
    const Run& run = depth.runs[s];
    m.seg_dx[s] = static_cast<int32_t>(2 * (run.offset - origin));
    m.seg_len[s] = static_cast<uint32_t>(run.size);
    bytes = std::max(bytes, 2 * (run.offset - origin + run.size));
  }
  m.line_bytes =
      static_cast<uint32_t>(bytes + 2 * (lines.n[2] - 1) * lines.step[2]);
  if (a_pitch_ != 0) {
    const int64_t count = lines.count(), cuts = LinesOf(count, bytes);
    const int64_t nx = count / cuts;
    m.n = 1;
    m.lines = m.ny = static_cast<uint32_t>(cuts);
    m.nx = static_cast<uint32_t>(nx);
    m.img_pitch = 0;
    m.pitch = static_cast<uint32_t>(cuts > 1 ? nx * a_pitch_ : 0);
    m.sx = static_cast<uint32_t>(a_pitch_);
    m.line_bytes = static_cast<uint32_t>(bytes + (nx - 1) * a_pitch_);
  }
  builder_.Append(m);
}

// Lines of the data setup for `count` lines of the operand at their pitch: few
// enough positions each for the descriptor's fields.
int64_t ProductBlocks::LinesOf(int64_t count, int64_t bytes) const {
  int64_t lines = 1;
  while (count % lines != 0 ||
         bytes + (count / lines - 1) * a_pitch_ >= kMostLineBytes)
    ++lines;
  return lines;
}

// The distance of the lines of a block in the unified buffer. The data setup
// reads a line a cycle, before all other ports. If many lines in a row lie in
// one bank, a port that wants that bank waits until it is urgent and stops the
// setup. Neighbouring lines in different banks let the others pass.
int64_t ProductBlocks::LinePitch(int64_t block) const {
  const int64_t bytes = 2 * k_, word = 4 * preset_.cols;
  if (!walk_.Contiguous() || bytes % unit_ != 0 || bytes % word != 0 ||
      unit_ % word != 0)
    return 0;
  const int64_t banks =
      preset_.ub_banks / std::gcd(bytes / word, preset_.ub_banks);
  const int64_t more = 2 * std::min(block, lines_) * unit_;
  if (banks >= kBanksOfLines || more > preset_.ub_bytes / kShareOfPitch)
    return 0;
  return bytes + unit_;
}

void ProductBlocks::Drain(int which, int64_t sums, int64_t count, int64_t to,
                          int64_t cols) {
  kernels::Call call = image_->Run(kDrains[which], {{"acc", sums},
                                                    {"dst", to},
                                                    {"pitch", 4 * n_},
                                                    {"rows", count},
                                                    {"cols", cols}});
  call.run.pc = static_cast<uint32_t>(call.run.pc + moved_[which]);
  builder_.Append(call);
}

}  // namespace systole::lanes
