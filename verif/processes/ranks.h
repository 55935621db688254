// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The processes of an MPI job that have the chips of a device, rank by rank.
// After each round of Windows, each process whose chips have run sends their
// states to all others and, along links, what they have sent. Rank 0 also
// gathers reports for the host.

#ifndef SYSTOLE_VERIF_PROCESSES_RANKS_H_
#define SYSTOLE_VERIF_PROCESSES_RANKS_H_

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "verif/tb/chips.h"
#include "verif/tb/reports.h"
#include "verif/tb/windows.h"

namespace systole::tb {

enum class Tag : int { kCommand, kFrame, kReports, kStatus, kData };

class Ranks : public Windows::Others {
 public:
  Ranks();

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Bytes of any length, from one process to another.
  void Send(int to, Tag tag, absl::string_view bytes);
  std::string Receive(int from, Tag tag);

  // Before the first request. logs: by chip, null where it is another
  // process's. In rank 0, on_reports gets reports of all processes, and
  // on_progress the cycles now and then.
  void Join(const ChipsOptions& options, int link_bytes, Windows* windows,
            std::vector<ReportLog*> logs);
  std::function<void(absl::string_view)> on_reports;
  std::function<void(uint64_t)> on_progress;

  void Exchange(uint64_t from, const std::vector<int>& due) override;
  // Brings all reports to rank 0. All processes call it at the same place.
  void GatherReports();

  int OwnerOf(int chip) const { return owners_[chip]; }
  // Of all processes, as far as is known.
  double cpu_seconds() const;

 private:
  void PutFrame(int to, uint64_t from, const std::vector<int>& due,
                Packer& packer);
  void GetFrame(int rank, uint64_t from, const std::vector<int>& due,
                absl::string_view bytes);
  // Tests until all are complete.
  void Await(std::vector<MPI_Request>& requests);
  // Between two tests, of which `tests` were in vain.
  void Pause(int tests) const;

  int rank_ = 0, size_ = 1;
  int spins_ = 0;  // tests without a pause
  Windows* windows_ = nullptr;
  std::vector<ReportLog*> logs_;
  std::vector<int> owners_;  // by chip
  int link_words_ = 0;
  size_t frame_bytes_ = 0;  // at most
  std::vector<Packer> frames_;
  std::vector<std::string> received_;
  std::vector<double> cpu_seconds_;  // by rank
  uint64_t gathered_ = 0;            // cycle
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_PROCESSES_RANKS_H_
