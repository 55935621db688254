// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements of `systole bench`, a function a section. Each prints its
// table and returns its records. What is measured and the formulas:
// docs/benchmarks.md.
#ifndef HOST_TOOLS_BENCH_H_
#define HOST_TOOLS_BENCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/files/data_file.h"
#include "host/runtime/client.h"
#include "host/runtime/whole_program.h"
#include "host/tools/checker.h"
#include "host/tools/commands.h"
#include "host/tools/report.h"
#include "host/tools/workload.h"
#include "systole/compiler.h"
#include "systole/device.h"

namespace systole::tools {

struct BenchArgs {
  std::string backend = "rtl", reports = ResultPlace("build/reports", ""),
              model = DataFile("models/mnist_cnn.safetensors",
                               "models/mnist_cnn.safetensors");
  std::string digits = DataFile("tests/data/mnist", "digits");
  std::vector<std::string> sections;  // empty = all
  uint64_t seed = 1;
  int starts = 1;  // of each matrix product, at different times
  std::string training =
      DataFile("models/digits_training", "models/digits_training");
  std::string compare;  // records of an earlier run
  bool json = false, quiet = false;
};

// One measured operation.
struct Measurement {
  CheckedRun run;
  int64_t macs = 0, ideal_cycles = 0;
  int64_t expected_cycles = 0;  // of the compiler's cost model
  std::vector<int64_t> starts;  // cycles of each start
};

// What the counters grew by, and the cycles in which they did.
struct CounterDelta {
  int64_t cycles = 0;
  CounterValues counters = {};
  int64_t operator[](csr::Counter c) const {
    return static_cast<int64_t>(counters[static_cast<int>(c)]);
  }
};

// Between two cycles of a run, interpolated between its samples.
inline constexpr uint64_t kSampleCycles = 500;  // that are taken for it
CounterDelta Between(const RunStats& stats, uint64_t from, uint64_t to);

class Bench {
 public:
  Bench(const BenchArgs& args, Progress& progress)
      : args_(args), progress_(progress) {}

  absl::StatusOr<std::vector<Record>> Matmuls();  // edge: HBM to HBM
  absl::StatusOr<std::vector<Record>>
  Convolutions();  // edge: utilisation against the ideal of the shape
  absl::StatusOr<std::vector<Record>>
  Nvdla();  // nano: side by side with nv_small
  absl::StatusOr<std::vector<Record>>
  HbmStreaming();  // each preset: reads and writes against the peak
  absl::StatusOr<std::vector<Record>>
  FloatMatmuls();  // bf16 products, HBM to HBM
  absl::StatusOr<std::vector<Record>>
  TrainingSteps();  // v2, lite: a step of the digits network
  absl::StatusOr<std::vector<Record>>
  Hlo();  // v2, lite: StableHLO programs against their bound
  absl::StatusOr<std::vector<Record>>
  Elementwise();  // passes of the programmable vector unit
  absl::StatusOr<std::vector<Record>>
  Speed();  // each preset: simulated cycles and MACs a host CPU second

 private:
  absl::StatusOr<Device*> Open(const std::string& preset);
  // A bf16 product, checked to the bit.
  absl::StatusOr<Measurement> MeasureFloat(const std::string& preset, int64_t m,
                                           int64_t k, int64_t n,
                                           const std::string& name);
  // Starts the loaded program again at times that differ in where refreshes of
  // the HBM fall: by reads of different lengths between.
  absl::Status StartAgain(Device& device, const Program& program,
                          Measurement& m);
  // The least and the most cycles of the starts, for a table; "" of one start
  // or without cycles.
  static std::string StartsText(const Measurement& m);
  absl::StatusOr<Record> MeasurePass(const std::string& preset, int pass);
  absl::StatusOr<std::unique_ptr<runtime::Client>> OpenClient(
      const std::string& preset) const;
  // A run against the golden model and the bound, as a row of the table too.
  // macs: nothing: those of the products on the array. unread: bytes of
  // operands that do not count.
  absl::StatusOr<Record> MeasureProgram(const std::string& section,
                                        runtime::Client& client,
                                        const std::string& name,
                                        const runtime::WholeProgram& program,
                                        const std::vector<ir::Literal>& inputs,
                                        std::optional<int64_t> macs,
                                        int64_t unread, Table& table);
  absl::StatusOr<Measurement> Measure(const std::string& preset,
                                      const std::string& name,
                                      const model::Network& network,
                                      const Program& program,
                                      const std::vector<int8_t>& input,
                                      bool raw);
  absl::StatusOr<Measurement> MeasureMatmul(const std::string& preset,
                                            const compiler::MatmulSpec& spec,
                                            const std::string& name);
  absl::StatusOr<Measurement> MeasureConv(const std::string& preset,
                                          const ConvSpec& spec, int64_t batch);
  absl::StatusOr<std::vector<Record>> DemoConvolutions(Table& table,
                                                       double& sum, int& count);
  Record MakeRecord(const std::string& section, const std::string& preset,
                    const std::string& name, const Measurement& m) const;
  // What every record of a run has: cycles, counters, HBM bytes, utilisation.
  Record RunRecord(const std::string& section, const Preset& preset,
                   const std::string& name, const RunStats& stats,
                   int64_t macs) const;
  // `note`: a line below the table.
  void Print(const std::string& title, const Table& table,
             const std::string& note = "") const;

  const BenchArgs& args_;
  Progress& progress_;
  std::map<std::string, std::unique_ptr<Device>> devices_;
};

// Where the cycles beyond the ideal went, from the counters, largest first:
// "start and end 310, weights 120".
std::string CauseOfShortfall(const CounterDelta& run, int64_t ideal_cycles);
inline std::string CauseOfShortfall(const RunStats& stats,
                                    int64_t ideal_cycles) {
  return CauseOfShortfall({static_cast<int64_t>(stats.cycles), stats.counters},
                          ideal_cycles);
}

nlohmann::ordered_json ToJson(const CounterValues& counters);

// Whether the file is one of records.
absl::Status CheckRecords(const std::string& path);

// Prints which counts (cycles, bytes, products) are other than in the file, by
// their ratio. kFailedPrecondition if one is; records that are new are none.
absl::Status CompareRecords(const std::vector<Record>& records,
                            const std::string& path);

}  // namespace systole::tools

#endif  // HOST_TOOLS_BENCH_H_
