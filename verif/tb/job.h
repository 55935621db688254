// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The processes that simulate the chips of a device (verif/processes), as an
// MPI job that this process starts and ends. Its first process talks to this
// one through a socket.
//
//   auto job = Job::Start(4);
//   (*job)->Send(MessageKind::kOpen, bytes);
//   absl::StatusOr<Message> answer = (*job)->Receive();

#ifndef SYSTOLE_VERIF_TB_JOB_H_
#define SYSTOLE_VERIF_TB_JOB_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "verif/tb/messages.h"

namespace systole::tb {

class Job {
 public:
  // Runs `mpirun -n PROCESSES chips`, with options, or what the environment
  // variable SYSTOLE_MPIRUN has in the place of mpirun and its options.
  // kFailedPrecondition: Open MPI is not there, or was not when this was built.
  // kUnavailable: the processes did not start; the message says why.
  static absl::StatusOr<std::unique_ptr<Job>> Start(int processes);
  // Tells the processes to end, and waits for that.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // kUnavailable: the processes have ended; the message says why.
  absl::Status Send(MessageKind kind, absl::string_view bytes);
  absl::StatusOr<Message> Receive();

 private:
  Job() = default;
  absl::Status Spawn(int processes, const std::string& program,
                     const std::string& address);
  absl::Status Accept(int listening);
  // What Open MPI says about the end of its processes.
  absl::Status Lost();
  // Waits until mpirun has ended; kills it after some seconds.
  void AwaitEnd(int milliseconds);
  bool HasEnded();

  pid_t owner_ = 0;    // the process that started the job; not a copy of it
  pid_t mpirun_ = -1;  // -1: none, or it has ended
  int exit_status_ = 0;
  int socket_ = -1;
  int errors_ = -1;  // file in memory with what the job writes to stderr
  std::string command_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_JOB_H_
