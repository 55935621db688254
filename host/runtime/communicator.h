// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the processes of a run exchange values in collectives: through the host's
// memory, or by programs that send over the links between the chips.
//
//   LinkCommunicator communicator(groups, grid.count(), board, preset);
//   // In the thread of each process, for each collective that it comes to:
//   auto results = communicator.Exchange(node, process, operands, device);
//   communicator.Leave(process, status);  // at its end
#ifndef SYSTOLE_HOST_RUNTIME_COMMUNICATOR_H_
#define SYSTOLE_HOST_RUNTIME_COMMUNICATOR_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "host/runtime/core.h"
#include "host/runtime/place.h"
#include "host/runtime/rendezvous.h"

namespace systole::runtime {

// A process's own device.
class ProcessDevice {
 public:
  virtual ~ProcessDevice() = default;
  virtual Core& core() = 0;
  virtual absl::StatusOr<ir::Literal> ToHost(Place& value,
                                             const ir::Type& type) = 0;
  virtual absl::Status ToDevice(Place& value) = 0;
  // Puts a program of a collective into memory and runs it.
  virtual absl::Status Run(Program& program) = 0;
};

// Through the host's memory: the last process that comes computes the results
// of all. Thread-safe.
class Communicator {
 public:
  // `groups`, and the board that the devices are of, if any, must outlive the
  // communicator.
  Communicator(const CollectiveGroups& groups, int processes,
               Board* board = nullptr)
      : groups_(groups), rendezvous_(groups, processes, board) {}
  virtual ~Communicator() = default;

  // Gives the operands of a collective and waits for the process's results.
  // Every process calls it in its program's order. Errors: those of
  // Rendezvous::Meet, of the collective and of the device.
  virtual absl::StatusOr<PlacedValues> Exchange(const ir::Node& node,
                                                int process,
                                                const PlacedValues& operands,
                                                ProcessDevice& device) {
    return ThroughHost(node, process, operands, device);
  }
  absl::StatusOr<PlacedValues> ThroughHost(const ir::Node& node, int process,
                                           const PlacedValues& operands,
                                           ProcessDevice& device);
  // An all_gather whose result stays in parts, one on each member's device.
  absl::StatusOr<PlacedValues> InParts(const ir::Node& node, int process,
                                       Place& own, ProcessDevice& device);
  // See Rendezvous.
  absl::Status Start(int process, int core) {
    return rendezvous_.Start(process, core);
  }
  const std::vector<int>& cores() const { return rendezvous_.cores(); }
  // Gives addresses to all other processes, which come to the same collective,
  // and returns those of all by process. Errors: those of Rendezvous::Meet.
  absl::StatusOr<std::vector<std::vector<uint64_t>>> Share(
      const ir::Node& node, int process, std::vector<uint64_t> own);
  // Every process calls it once, when it takes part in nothing more.
  void Leave(int process, const absl::Status& status) {
    rendezvous_.Leave(process, status);
  }

 protected:
  const CollectiveGroups& groups_;
  Rendezvous rendezvous_;
};
struct LinkCollective;

// Over the links of a board, where LinkCollectivesOf has a way; the operands
// and results stay on the devices. Everything else goes through the host.
class LinkCommunicator : public Communicator {
 public:
  LinkCommunicator(const CollectiveGroups& groups, int processes, Board& board,
                   const Preset& preset)
      : Communicator(groups, processes, &board),
        board_(board),
        preset_(preset) {}

  absl::StatusOr<PlacedValues> Exchange(const ir::Node& node, int process,
                                        const PlacedValues& operands,
                                        ProcessDevice& device) override;

 private:
  struct Member;
  absl::Status Compile(const ir::Node& node,
                       const std::vector<LinkCollective>& collectives,
                       Rendezvous::Given& given) const;

  Board& board_;
  const Preset& preset_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COMMUNICATOR_H_
