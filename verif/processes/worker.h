// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One of the processes that simulate the chips of a device. Rank 0 takes the
// host's messages from a socket and passes them on to all others; each carries
// out those that are of its chips, and all of them serve requests together.

#ifndef SYSTOLE_VERIF_PROCESSES_WORKER_H_
#define SYSTOLE_VERIF_PROCESSES_WORKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "verif/processes/ranks.h"
#include "verif/tb/messages.h"

namespace systole::tb {

class Worker {
 public:
  // socket: to the host, in rank 0; -1 in others.
  Worker(Ranks* ranks, int socket);

  // Until the host ends the job or is gone.
  void Run();

 private:
  // The host's next message, in all processes.
  Message Next();
  // Each returns the answer of this process.
  absl::Status Open(Unpacker& message);
  void Serve(Unpacker& message);
  absl::Status Execute(MessageKind kind, int chip, Unpacker& message);

  // In rank 0: the answer to the host.
  void Answer(const absl::Status& status, Outcome outcome = Outcome::kDone,
              absl::string_view data = "");
  void Tell(MessageKind kind, absl::string_view bytes);
  // Ends the job if the host is gone.
  void CheckHost();

  Ranks* ranks_;
  int socket_;
  std::vector<std::unique_ptr<MemoryModel>> memories_;  // by chip
  std::vector<std::unique_ptr<ReportLog>> logs_;
  std::unique_ptr<Windows> windows_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_PROCESSES_WORKER_H_
