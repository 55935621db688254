// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/waves/fst_file.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#ifdef SYSTOLE_FST_API
#include SYSTOLE_FST_API
#endif

namespace systole::waves {

const Signal* FstFile::Find(const std::string& path) const {
  const auto found = signals_.find(path);
  return found == signals_.end() ? nullptr : &found->second;
}

std::vector<const Signal*> FstFile::FindAll(const std::string& path) const {
  const size_t mark = path.find("[*]");
  if (mark == std::string::npos) {
    const Signal* signal = Find(path);
    return signal == nullptr ? std::vector<const Signal*>()
                             : std::vector<const Signal*>{signal};
  }
  const std::string front = path.substr(0, mark + 1);
  // The indices of this dimension. Further dimensions may follow, so an index
  // may occur several times.
  std::set<int> indices;
  for (auto s = signals_.lower_bound(front);
       s != signals_.end() && absl::StartsWith(s->first, front); ++s) {
    const std::string& name = s->first;
    const size_t close = name.find(']', front.size());
    int index = 0;
    if (close != std::string::npos &&
        absl::SimpleAtoi(name.substr(front.size(), close - front.size()),
                         &index))
      indices.insert(index);
  }
  std::vector<const Signal*> signals;
  for (const int index : indices) {
    for (const Signal* signal :
         FindAll(absl::StrCat(front, index, path.substr(mark + 2))))
      signals.push_back(signal);
  }
  return signals;
}

std::vector<const Signal*> FstFile::All() const {
  std::vector<const Signal*> all;
  for (const auto& [path, signal] : signals_) all.push_back(&signal);
  return all;
}

#ifdef SYSTOLE_FST_API

absl::StatusOr<std::unique_ptr<FstFile>> FstFile::Open(const std::string& file,
                                                       int core) {
  void* const reader = fstReaderOpen(file.c_str());
  if (reader == nullptr)
    return absl::UnavailableError(
        absl::StrCat(file, ": cannot be read as an FST waveform"));
  std::unique_ptr<FstFile> fst(new FstFile(reader));
  fst->begin_ = fstReaderGetStartTime(reader);
  fst->end_ = fstReaderGetEndTime(reader);
  fst->ReadNames(core);
  if (fst->found_) return fst;
  return absl::NotFoundError(
      absl::StrCat(file, ": has no signals of a systole_node"));
}

FstFile::~FstFile() { fstReaderClose(reader_); }

// A chip's node is u_node in gen_node[core] or, if the core is a model of its
// own, u_node below core<core>.
void FstFile::ReadNames(int core) {
  const std::string model = absl::StrCat("core", core),
                    place = absl::StrCat("gen_node[", core, "]");
  std::vector<std::string> scopes;
  size_t top = 0;  // scopes down to the node, or 0
  while (const fstHier* h = fstReaderIterateHier(reader_)) {
    if (h->htyp == FST_HT_SCOPE) {
      const size_t above = scopes.size();
      scopes.emplace_back(h->u.scope.name);
      if (top == 0 && scopes.back() == "u_node" && above > 1 &&
          (scopes[above - 1] == place || scopes[above - 2] == model)) {
        top = scopes.size();
        found_ = true;
      }
    } else if (h->htyp == FST_HT_UPSCOPE) {
      scopes.pop_back();
      if (scopes.size() < top) top = 0;
    } else if (h->htyp == FST_HT_VAR && top != 0) {
      const std::string name = h->u.var.name;
      const size_t blank = name.find(' ');
      Signal signal;
      signal.scope = absl::StrJoin(scopes, ".");
      signal.name = name.substr(0, blank);
      if (blank != std::string::npos) signal.range = name.substr(blank + 1);
      signal.width = static_cast<int>(h->u.var.length);
      signal.handle = h->u.var.handle;
      std::string path;
      // Since Verilator 5.03x, an array is a scope, and its elements repeat the
      // array's name.
      const bool element = absl::StartsWith(signal.name, scopes.back() + "[");
      for (size_t i = top; i + (element ? 1 : 0) < scopes.size(); ++i)
        absl::StrAppend(&path, scopes[i], ".");
      signals_.emplace(path + signal.name, std::move(signal));
    }
  }
}

void FstFile::ForEachValue(
    const std::vector<const Signal*>& signals,
    const std::function<void(uint64_t time, size_t signal, uint64_t value)>&
        visit) {
  struct Visitor {
    std::map<uint32_t, size_t> numbers;
    decltype(visit)& call;
  } visitor{{}, visit};
  fstReaderClrFacProcessMaskAll(reader_);
  for (size_t i = 0; i < signals.size(); ++i) {
    visitor.numbers[signals[i]->handle] = i;
    fstReaderSetFacProcessMask(reader_, signals[i]->handle);
  }
  fstReaderIterBlocks(
      reader_,
      [](void* data, uint64_t time, fstHandle handle,
         const unsigned char* digits) {
        auto& v = *static_cast<Visitor*>(data);
        uint64_t value = 0;
        for (; *digits != 0; ++digits) value = value << 1 | (*digits == '1');
        v.call(time, v.numbers[handle], value);
      },
      &visitor, nullptr);
}

#else  // this Verilator has no reader

absl::StatusOr<std::unique_ptr<FstFile>> FstFile::Open(const std::string& file,
                                                       int) {
  return absl::UnavailableError(absl::StrCat(
      file,
      ": this build reads no waveforms, for its Verilator brings no library "
      "for that: run `scripts/setup.sh fst` and build again"));
}
FstFile::~FstFile() = default;
void FstFile::ForEachValue(
    const std::vector<const Signal*>&,
    const std::function<void(uint64_t, size_t, uint64_t)>&) {}

#endif

}  // namespace systole::waves
