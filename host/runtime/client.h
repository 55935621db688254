// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Devices that execute modules of float and integer operations (op set hlo),
// asynchronously, as the APIs of array frameworks want it.
//
//   absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
//   absl::StatusOr<std::shared_ptr<Executable>> executable =
//       (*client)->Compile(std::move(module));
//   absl::StatusOr<Execution> execution =
//       (*executable)->Execute(arguments, (*client)->device(0));
//   absl::StatusOr<ir::Literal> result =
//       execution->results[0]->Await();
//
// The array of a device computes the products; what else a module holds runs on
// the host, which Executable::placement() tells.
#ifndef SYSTOLE_HOST_RUNTIME_CLIENT_H_
#define SYSTOLE_HOST_RUNTIME_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/ir/module.h"
#include "host/runtime/core.h"
#include "host/runtime/event.h"
#include "host/runtime/placement.h"
#include "host/runtime/stream.h"
#include "systole/device.h"
#include "systole/gen/presets.h"

namespace systole::runtime {

class ArrayProducts;
class Client;
struct Place;

struct ClientOptions : CoreOptions {
  int devices = 1;
  bool host_operators = true;  // false: a module that needs the host is refused
};

// A core of its own, with the work that waits for it.
class Device {
 public:
  Device(Client& client, int id);
  ~Device();

  Client& client() const { return client_; }
  int id() const { return id_; }
  Stream& stream() { return stream_; }
  // Bytes of values that are alive on the device, and the most that were.
  int64_t bytes_in_use() const { return bytes_; }
  int64_t peak_bytes() const { return peak_; }
  void Count(int64_t bytes);
  // Since the last call, while no execution is under way.
  CoreWork TakeWork();

 private:
  friend class Executable;
  Client& client_;
  const int id_;
  std::atomic<int64_t> bytes_{0}, peak_{0};
  // Used by the stream alone.
  std::unique_ptr<Core> core_;
  std::unique_ptr<ArrayProducts> products_;
  Stream stream_;  // ends before what it uses
};

// A value on a device, there now or later.
class Buffer {
 public:
  // A value that is there.
  Buffer(Device& device, ir::Type type, ir::Literal value);
  // One that Set will bring.
  Buffer(Device& device, ir::Type type);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Device& device() const { return device_; }
  const ir::Type& type() const { return type_; }
  const std::shared_ptr<Event>& ready() const { return ready_; }
  void Set(absl::StatusOr<ir::Literal> value);
  void SetPlaced(
      absl::StatusOr<std::shared_ptr<Place>> value);  // on the host too
  // Waits. Errors: what the execution ended with.
  absl::StatusOr<ir::Literal> Await() const;

 private:
  Device& device_;
  const ir::Type type_;
  friend class Executable;
  std::shared_ptr<Place> value_;  // once ready
  std::shared_ptr<Event> ready_;
};

struct Execution {
  std::vector<std::shared_ptr<Buffer>> results;
  std::shared_ptr<Event> done;
};

// A compiled module, for any device of its client.
class Executable : public std::enable_shared_from_this<Executable> {
 public:
  const ir::Module& module() const { return *module_; }
  const ModulePlacement& placement() const { return placement_; }
  const std::vector<ir::Type>& parameters() const { return parameters_; }
  const std::vector<ir::Type>& results() const { return results_; }
  // Of the module's text: equal for equal modules.
  const std::string& fingerprint() const { return fingerprint_; }

  // Enqueues. Errors: InvalidArgument names the argument. Errors of the
  // execution itself are those of the results and of `done`.
  absl::StatusOr<Execution> Execute(
      absl::Span<const std::shared_ptr<Buffer>> arguments, Device& device);

 private:
  friend class Client;
  Executable(std::unique_ptr<ir::Module> module, const Preset& preset);
  absl::StatusOr<std::vector<std::shared_ptr<Place>>> Evaluate(
      std::vector<std::shared_ptr<Buffer>> arguments, Device& device);
  // The plan's, of a device.
  std::vector<std::shared_ptr<Place>> Constants(const Device& device);

  std::unique_ptr<ir::Module> module_;
  lanes::DevicePlan plan_;
  std::vector<ir::Type> parameters_, results_;
  ModulePlacement placement_;
  std::string fingerprint_;
  std::mutex mutex_;
  std::map<int, std::vector<std::shared_ptr<Place>>> constants_;  // by device
};

class Client {
 public:
  // Errors: InvalidArgument (a backend, preset or number of devices that does
  // not exist). Cores are opened when their first product comes.
  static absl::StatusOr<std::unique_ptr<Client>> Create(
      const ClientOptions& options);

  const ClientOptions& options() const { return options_; }
  const Preset& preset() const { return *preset_; }
  int devices() const { return static_cast<int>(devices_.size()); }
  Device& device(int id) { return *devices_[id]; }

  // Errors: what the verifier finds; FailedPrecondition if operations would run
  // on the host that must not.
  absl::StatusOr<std::shared_ptr<Executable>> Compile(
      std::unique_ptr<ir::Module> module);

 private:
  Client(const ClientOptions& options, const Preset& preset);

  const ClientOptions options_;
  const Preset* preset_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CLIENT_H_
