// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The cores of chips that links join (docs/link.md), opened together, and their
// programs, which run together. Each core has a thread that prepares its
// programs. Simulated time stands still while any of these threads works, and
// goes on once all of them wait for a program: then all programs start, and run
// to their ends. What the host reads and writes takes simulated time, and has
// an order too. So cycles do not depend on how the host schedules threads, and
// but for these accesses the host counts as infinitely fast.
//
//   Board board(options, 8);
//   // In the thread of a core:
//   board.Join();                         // works from here on
//   Board::Turn turn(board);              // to its end
//   auto device = board.Open(core);
//   board.Access(core, [&] { return (*device)->Write(address, bytes); });
//   auto stats = board.Run(core, program);
#ifndef SYSTOLE_HOST_RUNTIME_BOARD_H_
#define SYSTOLE_HOST_RUNTIME_BOARD_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/device.h"

namespace systole::runtime {

// As many columns as make it next to a square: four chips are 2 x 2.
Torus TorusOf(int chips);

// Thread-safe.
class Board {
 public:
  // cores: the first ones of as many chips as they need. `options` are those of
  // the chips, but for the torus.
  Board(std::string backend, DeviceOptions options, int cores);
  // Presets whose cores are opened so if there are several.
  static bool IsFor(const Preset& preset) {
    return preset.chip.link_bytes != 0;
  }

  const Torus& torus() const { return options_.torus; }
  // Opens all cores the first time. Errors: those of Device::OpenCores.
  absl::StatusOr<systole::Device*> Open(int core);

  // A thread of a core works, or no longer does: it has nothing to do for now,
  // or waits for another thread. Join waits while programs run.
  void Join(int threads = 1);
  void Leave();
  // What uses the core between programs, such as its memory: as soon as all
  // threads wait, for this, for a program or in a call, one after the other by
  // core. So cycles are the same in each run. A thread that has no Turn takes
  // part for that time.
  absl::Status Access(int core, const std::function<absl::Status()>& access);
  // Runs a program that is in memory. Only for threads that have joined.
  // Errors: those of Device::Start and Wait, with the core. If the core waits
  // in vain for one whose program failed, the error is that one's; if all wait
  // in vain, it says for what each does. All cores and links are reset before
  // the next programs start.
  absl::StatusOr<RunStats> Run(int core, const Program& program);
  // Sets of programs that have started together. While a thread works, the next
  // set stays the next one.
  int64_t rounds();
  // Simulated time since the last call: of programs that started together the
  // longest counts.
  uint64_t TakeCycles();

  // Of a thread that has joined: leaves at its end.
  class Turn {
   public:
    explicit Turn(Board& board);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Board& board_;
  };
  // The thread that has a turn calls something that may wait for other threads
  // that use the board, which goes on meanwhile but for programs.
  class Call {
   public:
    explicit Call(Board& board);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Board& board_;
  };

 private:
  struct Launch {
    int core;
    const Program* program;
    std::optional<absl::StatusOr<RunStats>> end;
  };
  struct Request {
    int core;
    const std::function<absl::Status()>* access;
    std::optional<absl::Status> end;
  };
  // With the lock held. Whether all threads wait; then the first access that is
  // asked for.
  bool AllWait() const;
  void ServeFirst(std::unique_lock<std::mutex>& lock);
  // Cycles of the longest.
  uint64_t RunAll(std::vector<Launch*> launches);
  absl::Status StartAll(const std::vector<Launch*>& launches);
  // Whether the program failed as it waits for a flag that another core posts.
  bool InVain(const Launch& launch) const;
  void Explain(const std::vector<Launch*>& launches);
  std::string NameOf(int core) const;

  const std::string backend_;
  DeviceOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<systole::Device>> devices_;
  int working_ = 0;                  // threads that have joined
  int calling_ = 0;                  // of them, that are in a call
  std::set<std::thread::id> turns_;  // that have a turn and are in no call
  bool running_ = false;
  bool failed_ = false;  // a program; nothing was reset since
  uint64_t cycles_ = 0;
  int64_t rounds_ = 0;
  std::vector<Launch*> launches_;  // that wait
  std::vector<Request*> requests_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_BOARD_H_
