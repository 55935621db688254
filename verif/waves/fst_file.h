// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a view needs of an FST file: names of signals, and the values of a few.

#ifndef SYSTOLE_VERIF_WAVES_FST_FILE_H_
#define SYSTOLE_VERIF_WAVES_FST_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::waves {

struct Signal {
  std::string scope;  // "TOP.systole_top.u_chip"
  std::string name;   // "count_q", an element of an array "count_q[3]"
  std::string range;  // "[7:0]", a bit: nothing
  int width = 0;      // bits
  uint32_t handle = 0;

  std::string full() const { return scope + "." + name; }
};

class FstFile {
 public:
  // core: whose signals, of a chip with two. kUnavailable: not to be read as
  // FST; kNotFound: it has no chip's top.
  static absl::StatusOr<std::unique_ptr<FstFile>> Open(const std::string& file,
                                                       int core = 0);
  ~FstFile();
  FstFile(const FstFile&) = delete;
  FstFile& operator=(const FstFile&) = delete;

  // systole_top or systole_top_axi, by the memory; a core of two has HBM too.
  const std::string& top() const { return top_; }
  uint64_t begin() const { return begin_; }  // first time
  uint64_t end() const { return end_; }      // last time
  // By their path below the top; null: none.
  const Signal* Find(const std::string& path) const;
  // path with "[*]": all elements, by index.
  std::vector<const Signal*> FindAll(const std::string& path) const;

  std::vector<const Signal*> All() const;

  // Each value of the signals, in order of time, as numbers; of more than 64
  // bits the low ones.
  void ForEachValue(const std::vector<const Signal*>& signals,
                    const std::function<void(uint64_t time, size_t signal,
                                             uint64_t value)>& visit);

 private:
  explicit FstFile(void* reader) : reader_(reader) {}
  void ReadNames(const std::string& core);

  void* reader_;
  std::string top_;
  uint64_t begin_ = 0, end_ = 0;
  std::map<std::string, Signal> signals_;
};

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_FST_FILE_H_
