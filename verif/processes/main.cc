// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A process that simulates chips of a device, started by Job (verif/tb/job.h):
//   mpirun -n N chips ADDRESS

#include <mpi.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "verif/processes/worker.h"

namespace {

// -1: the host is not there.
int Connect(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) return -1;
  name.copy(address.sun_path + 1, name.size());
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int host = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (host < 0 ||
      connect(host, reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return -1;
  return host;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr,
                 "systole chips: a part of a simulation, which starts it "
                 "(`systole run --processes`, docs/link.md)\n");
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns: short naps remain short
  MPI_Init(&argc, &argv);
  systole::tb::Ranks ranks;
  int host = -1;
  if (ranks.rank() == 0) {
    host = Connect(argv[1]);
    if (host < 0) {
      std::fprintf(stderr,
                   "systole chips: rank 0 does not reach its host: %s. They "
                   "must be on the same machine\n",
                   std::strerror(errno));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  systole::tb::Worker(&ranks, host).Run();
  MPI_Finalize();
  return 0;
}
