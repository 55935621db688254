// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The parts of an FST file that a view needs: the names of signals, and the
// values of a few.

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
  std::string scope;  // "core0.systole_node_pins.u_node"
  std::string name;   // "count_q", an element of an array "count_q[3]"
  std::string range;  // "[7:0]"; empty for a single bit
  int width = 0;      // bits
  uint32_t handle = 0;

  std::string full() const { return scope + "." + name; }
};

class FstFile {
 public:
  // core: the core whose signals are read, in a chip with two. kUnavailable:
  // the file cannot be read as FST. kNotFound: it has no node of a chip.
  static absl::StatusOr<std::unique_ptr<FstFile>> Open(const std::string& file,
                                                       int core = 0);
  ~FstFile();
  FstFile(const FstFile&) = delete;
  FstFile& operator=(const FstFile&) = delete;

  uint64_t begin() const { return begin_; }  // first time
  uint64_t end() const { return end_; }      // last time
  // Finds a signal by its path below the node; null: none.
  const Signal* Find(const std::string& path) const;
  // Finds signals by path. "[*]" stands for all elements, sorted by index, and
  // may occur several times.
  std::vector<const Signal*> FindAll(const std::string& path) const;

  std::vector<const Signal*> All() const;

  // Visits all values of the signals as numbers, in order of time. Of a value
  // with more than 64 bits, it visits the low ones.
  void ForEachValue(const std::vector<const Signal*>& signals,
                    const std::function<void(uint64_t time, size_t signal,
                                             uint64_t value)>& visit);

 private:
  explicit FstFile(void* reader) : reader_(reader) {}
  void ReadNames(int core);

  void* reader_;
  bool found_ = false;  // a node was found
  uint64_t begin_ = 0, end_ = 0;
  std::map<std::string, Signal> signals_;
};

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_FST_FILE_H_
