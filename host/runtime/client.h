// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Devices that execute modules of float and integer operations (op set hlo)
// asynchronously, as the APIs of array frameworks need it.
//
//   absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
//   absl::StatusOr<std::shared_ptr<Executable>> executable =
//       (*client)->Compile(std::move(module));
//   absl::StatusOr<Execution> execution =
//       (*executable)->Execute(arguments, (*client)->device(0));
//   absl::StatusOr<ir::Literal> result =
//       execution->results[0]->Await();
//
// Executable::placement() says which operations run on the array, on the vector
// unit and on the host. A program of several processes runs on as many devices
// at once (ExecuteAll); its collectives go through a Communicator.
#ifndef SYSTOLE_HOST_RUNTIME_CLIENT_H_
#define SYSTOLE_HOST_RUNTIME_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/ir/evaluate.h"
#include "host/ir/hlo/process_groups.h"
#include "host/ir/module.h"
#include "host/runtime/board.h"
#include "host/runtime/core.h"
#include "host/runtime/event.h"
#include "host/runtime/memory_need.h"
#include "host/runtime/placement.h"
#include "host/runtime/plan_exchanges.h"
#include "host/runtime/stream.h"
#include "systole/device.h"
#include "systole/gen/presets.h"

namespace systole::runtime {

class ArrayProducts;
class Client;
class CollectiveGroups;
class Communicator;
struct Place;

struct ClientOptions : CoreOptions {
  int devices = 1;
  bool host_operators = true;  // false: reject modules that need the host
  ir::Caller caller;           // of the process that makes programs
  // By device; empty: `listener` is that of all.
  std::vector<CoreListener*> listeners;

  CoreOptions OfDevice(int id) const {
    CoreOptions core = *this;
    if (!listeners.empty()) core.listener = listeners[id];
    // Without links, each is a machine of its own.
    if (id != device.simulation.trace.core)
      core.device.simulation.trace.file.clear();
    core.device.simulation.trace.core = 0;
    return core;
  }
};

// One core and its queue of work.
class Device {
 public:
  Device(Client& client, int id);
  ~Device();

  Client& client() const { return client_; }
  int id() const { return id_; }
  Stream& stream() { return stream_; }
  // Bytes of values that are alive on the device, and their peak.
  int64_t bytes_in_use() const { return bytes_; }
  int64_t peak_bytes() const { return peak_; }
  void Count(int64_t bytes);
  // Work since the last call. Call only while no execution is in progress.
  CoreWork TakeWork();
  // The most memory at a time that values, programs and code had. Likewise.
  int64_t peak_memory() const {
    return static_cast<int64_t>(core_->peak_bytes());
  }
  // The core; null before the first program. Likewise.
  systole::Device* hardware() const;

 private:
  friend class Buffer;
  friend class Executable;
  Client& client_;
  const int id_;
  std::atomic<int64_t> bytes_{0}, peak_{0};
  // But for reads, used only by the stream's thread.
  std::unique_ptr<Core> core_;
  std::unique_ptr<ArrayProducts> products_;
  Stream stream_;  // declared last: destroyed before what it uses
};

// Where a value is while no program reads it: in the device's memory as well,
// or in the host's alone.
enum class Memory { kDevice, kHost };

// A value of a device, available now or later.
class Buffer {
 public:
  // An available value.
  Buffer(Device& device, ir::Type type, ir::Literal value,
         Memory memory = Memory::kDevice);
  // A value that Set will provide.
  Buffer(Device& device, ir::Type type, Memory memory = Memory::kDevice);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Device& device() const { return device_; }
  const ir::Type& type() const { return type_; }
  Memory memory() const { return memory_; }
  const std::shared_ptr<Event>& ready() const { return ready_; }
  void Set(absl::StatusOr<ir::Literal> value);
  // The value may also be on the host.
  void SetPlaced(absl::StatusOr<std::shared_ptr<Place>> value);
  // Waits for the value and brings it to the host. Errors: those of the
  // execution and of the device; FailedPrecondition: an execution has taken the
  // value's memory.
  absl::StatusOr<ir::Literal> Await() const;

 private:
  Device& device_;
  const ir::Type type_;
  const Memory memory_;
  friend class Executable;
  std::shared_ptr<Place> value_;  // valid once ready
  std::shared_ptr<Event> ready_;
};

struct Execution {
  std::vector<std::shared_ptr<Buffer>> results;
  std::shared_ptr<Event> done;
};

using Arguments = std::vector<std::shared_ptr<Buffer>>;

// A compiled module, for every device of its client. Its processes, replicas x
// partitions of them, are numbered as in host/ir/hlo/process_groups.h.
class Executable : public std::enable_shared_from_this<Executable> {
 public:
  ~Executable();
  const ir::Module& module() const { return *module_; }
  const ModulePlacement& placement() const { return placement_; }
  // Of each device.
  const MemoryNeed& memory_need() const { return memory_need_; }
  const std::vector<ir::Type>& parameters() const { return parameters_; }
  const std::vector<ir::Type>& results() const { return results_; }
  // Fingerprint of the module's text: equal for equal modules.
  const std::string& fingerprint() const { return fingerprint_; }
  ir::ProcessGrid grid() const { return grid_; }
  // Keeps something as long as it may run.
  void Keep(std::shared_ptr<void> kept) { kept_ = std::move(kept); }
  // Where results go, by number. Call before the first execution.
  void PlaceResults(std::vector<Memory> memories) {
    result_memories_ = std::move(memories);
  }

  // Enqueues an execution of a program of one process. Errors: InvalidArgument
  // names the argument. Errors of the execution itself are reported by the
  // results and by `done`. The device's memory of arguments for donated
  // parameters goes to the execution, unless other buffers share it; of these
  // arguments a copy on the host may remain. kept: numbers of arguments that
  // stay as they are.
  absl::StatusOr<Execution> Execute(
      absl::Span<const std::shared_ptr<Buffer>> arguments, Device& device,
      const std::vector<size_t>& kept = {});
  // Enqueues an execution of all processes, each on a device of its own, with
  // arguments and devices by process. Errors: likewise; nothing is enqueued.
  absl::StatusOr<std::vector<Execution>> ExecuteAll(
      absl::Span<const Arguments> arguments, absl::Span<Device* const> devices,
      const std::vector<size_t>& kept = {});
  // Enqueues one process; calls for the others complete the execution. The
  // n-th call for a process belongs to the n-th execution.
  absl::StatusOr<Execution> ExecuteProcess(
      int process, const Arguments& arguments, Device& device,
      const std::vector<size_t>& kept = {});

 private:
  friend class Client;
  // An execution of all processes.
  struct Run;

  // links: among the devices.
  Executable(std::unique_ptr<ir::Module> module, ir::ProcessGrid grid,
             const Preset& preset, bool links);
  absl::Status CheckArguments(
      absl::Span<const std::shared_ptr<Buffer>> arguments) const;
  std::shared_ptr<Run> NewRun(Client& client) const;
  // With the client's lock held, if there are other processes; without a run,
  // if there are none.
  Execution Enqueue(absl::Span<const std::shared_ptr<Buffer>> arguments,
                    Device& device, int process, std::shared_ptr<Run> run,
                    const std::vector<size_t>& kept);
  // Waits for the arguments and runs. An error has the module's name in front.
  // taken: by argument, whether its memory goes to the execution.
  absl::StatusOr<std::vector<std::shared_ptr<Place>>> Evaluate(
      Arguments arguments, const std::vector<bool>& taken, Device& device,
      int process, const Run* run);
  absl::StatusOr<std::vector<std::shared_ptr<Place>>> Compute(
      std::vector<std::shared_ptr<Place>> arguments, Device& device,
      int process, const Run* run);
  // Whether the program reads nothing of a parameter's value but the part that
  // the process's device has.
  bool NeedsPart(size_t parameter, const Place& value, int process) const;
  // Whether the cores of a run can do what the plan's programs exchange.
  bool FitsLinks(const std::vector<int>& cores);
  // For those that cannot: collectives apart from kernels.
  const lanes::DevicePlan& PlanApart();
  // A plan's constants on a device.
  std::vector<std::shared_ptr<Place>> Constants(const lanes::DevicePlan& plan,
                                                const Device& device);

  std::unique_ptr<ir::Module> module_;
  const ir::ProcessGrid grid_;
  std::unique_ptr<CollectiveGroups> groups_;
  std::unique_ptr<PlanExchanges> exchanges_;
  const Preset& preset_;
  lanes::DevicePlan plan_;
  std::optional<lanes::DevicePlan> apart_;
  std::map<std::vector<int>, bool> fit_;  // by cores of processes
  ExchangingPrograms programs_;
  std::vector<ir::Type> parameters_, results_;
  // By parameter: the nodes that take parts of it, if nothing else reads it.
  std::vector<std::vector<const ir::Node*>> shards_;
  std::vector<Memory> result_memories_;  // empty: all on the device
  ModulePlacement placement_;
  MemoryNeed memory_need_;
  std::string fingerprint_;
  std::shared_ptr<void> kept_;
  std::mutex mutex_;
  // By plan and device.
  std::map<std::pair<const lanes::DevicePlan*, int>,
           std::vector<std::shared_ptr<Place>>>
      constants_;
  // Runs that not all processes have joined, in their order.
  std::deque<std::shared_ptr<Run>> open_;
};

class Client {
 public:
  // Errors: InvalidArgument (the backend, the preset or that number of devices
  // does not exist). A core is opened when its first product arrives.
  static absl::StatusOr<std::unique_ptr<Client>> Create(
      const ClientOptions& options);

  const ClientOptions& options() const { return options_; }
  const Preset& preset() const { return *preset_; }
  int devices() const { return static_cast<int>(devices_.size()); }
  Device& device(int id) { return *devices_[id]; }
  // The cores as one device with links; null if there are none, or only one
  // core.
  Board* board() { return board_.get(); }

  // Errors, with the module's name in front: those of the verifier and of
  // CheckCollectives; FailedPrecondition if operations would have to run on the
  // host and may not.
  absl::StatusOr<std::shared_ptr<Executable>> Compile(
      std::unique_ptr<ir::Module> module, ir::ProcessGrid grid = {});

 private:
  friend class Executable;
  Client(const ClientOptions& options, const Preset& preset);

  const ClientOptions options_;
  const Preset* preset_;
  // Held while the processes of a run are enqueued, so that all devices have
  // runs in the same order: none waits for another's that is behind its own.
  std::mutex order_;
  std::unique_ptr<Board> board_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CLIENT_H_
