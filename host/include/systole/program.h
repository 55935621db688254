// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A compiled program: descriptors, the data that must lie in HBM before it
// starts, where its tensors are, and what its layers are. File format (.tpu):
// docs/program_file.md.
//
//   absl::StatusOr<systole::Program> program = systole::ReadProgram("cnn.tpu");
//   // The error names the file and what is wrong with it.
//   if (!program.ok()) return program.status();
#ifndef SYSTOLE_PROGRAM_H_
#define SYSTOLE_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/isa.h"
#include "systole/loops.h"

namespace systole {

enum class ElementType : uint8_t {
  kInt8 = 0,
  kInt32 = 1,
  kBf16 = 2,
  kFloat32 = 3
};
inline constexpr int kNumElementTypes = 4;
std::string_view ElementTypeName(ElementType type);
int64_t ElementBytes(ElementType type);

// Where a tensor lies in HBM. Element (i, y, x, c) of n x h x w x c is at
//   hbm_addr + i*img_pitch + y*pitch + (x*channels + c)*element size.
// A matrix of M x K is n = 1, h = M, w = 1, channels = K.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::kInt8;
  int64_t n = 1, h = 1, w = 1, channels = 1;
  uint64_t hbm_addr = 0;  // bytes; multiple of the beat
  int64_t pitch = 0;      // bytes from a line (y) to the next
  int64_t img_pitch = 0;  // bytes from an image to the next
  float scale = 1.0f;     // real = scale * (value - zero_point)
  int32_t zero_point = 0;
  bool is_input = false;
  bool is_output = false;

  int64_t element_bytes() const { return ElementBytes(type); }
  int64_t line_bytes() const { return w * channels * element_bytes(); }
  int64_t elements() const { return n * h * w * channels; }
};

// Bytes that must be in HBM before the program starts (weight tiles, parameter
// blocks).
struct DataSegment {
  std::string name;
  uint64_t hbm_addr = 0;  // multiple of the beat
  std::vector<uint8_t> data;
};

// A layer; descriptors carry its index as their tag.
struct LayerInfo {
  std::string name;
  std::string op;     // conv2d, dense, matmul, maxpool, avgpool, add
  std::string shape;  // for people: "28x28x1 * 3x3 s1 -> 28x28x12"
  std::vector<std::string> inputs;  // names of the tensors it reads
  std::string output;               // name of the tensor it produces
  std::string tiling;               // for people: blocks, passes, placement
  int64_t macs = 0;                 // of the layer, padding included
  int64_t ideal_cycles = 0;         // ceil(K/Rows) * ceil(N/Cols) * M
  int64_t parameter_bytes = 0;      // of weights, biases and factors, dense
};

// A buffer that the program uses in the unified buffer, and the layers between
// which it is alive (both included).
struct BufferInfo {
  std::string name;
  uint64_t ub_addr = 0, bytes = 0;
  uint32_t first_layer = 0, last_layer = 0;
};

// What another part of the software keeps in the file: host/runtime has the
// model's part that the host runs.
struct Section {
  std::string name;  // unique
  uint32_t version = 1;
  std::vector<uint8_t> bytes;
};

// What a part of a program's memory is for.
enum class MemoryUse : uint8_t {
  kArguments = 0,    // inputs and outputs: written before, read after a run
  kTemporaries = 1,  // values between layers: nobody needs them between runs
  kConstants = 2,    // weights, tables, parameters: as they were loaded
  kCode = 3,         // the descriptors
};
inline constexpr int kNumMemoryUses = 4;
const char* MemoryUseName(MemoryUse use);  // "arguments", ...

// A part of HBM that can be anywhere, whatever the others do. Parts begin at
// multiples of kMemoryAlignment and of the beat, and are apart.
struct MemorySegment {
  MemoryUse use = MemoryUse::kArguments;
  uint64_t hbm_addr = 0;
  uint64_t bytes = 0;
};
inline constexpr uint64_t kMemoryAlignment = 256;

// The HBM address in a descriptor moves with a part of the memory.
struct Relocation {
  uint32_t descriptor = 0;
  uint32_t segment = 0;  // of Program::memory
};

struct Program {
  std::string
      preset;  // "edge"; a program runs only on the preset it was made for
  uint64_t prog_addr = 0;  // where the descriptors go; multiple of 128
  uint64_t hbm_bytes =
      0;  // the program touches nothing at or above this address
  // Empty: the program can only be where it is. Otherwise all of the below lies
  // in these parts, and PlaceProgram moves them.
  std::vector<MemorySegment> memory;
  std::vector<Relocation> relocations;       // by descriptor
  std::vector<isa::Descriptor> descriptors;  // the last one is the halt
  std::vector<Loop> loops;                   // of descriptors: systole/loops.h
  std::vector<Step> steps;
  std::vector<DataSegment> segments;
  std::vector<TensorInfo> tensors;
  std::vector<LayerInfo> layers;
  std::vector<BufferInfo> buffers;
  std::vector<Section> sections;

  const Section* FindSection(const std::string& name) const;
  const TensorInfo* FindTensor(const std::string& name) const;
};

// Sets the relocations that the memory's parts ask for: of each descriptor with
// an HBM address to the part that it lies in. Errors: Internal, which names the
// descriptor that is in none, or leaves its own.
absl::Status AddRelocations(Program& program);

// That data, tensors, descriptors and all that these touch lie in the memory's
// parts, and that every address moves with its part. Errors: InvalidArgument.
absl::Status CheckRelocations(const Program& program);

// The program with the parts of its memory at other addresses, but without the
// bytes of its data segments. Errors: FailedPrecondition (it cannot be moved),
// InvalidArgument (misaligned, or parts that overlap), OutOfRange (beyond the
// preset's memory).
absl::StatusOr<Program> PlaceProgram(const Program& program,
                                     absl::Span<const uint64_t> addresses);

// Serialised form, with a CRC-32 over the whole. Parse checks everything it
// reads: magic, version, preset, sizes, CRC. Errors: kDataLoss (truncated,
// corrupted), kInvalidArgument (not a program file, other version, illegal
// contents).
std::vector<uint8_t> SerializeProgram(const Program& program);
absl::StatusOr<Program> ParseProgram(const std::vector<uint8_t>& bytes,
                                     const std::string& name);

// Writes to a temporary file beside `path` and renames it, so that a full disk
// loses nothing.
absl::Status WriteProgram(const Program& program, const std::string& path);
absl::StatusOr<Program> ReadProgram(const std::string& path);

// Text form: one descriptor a line, "opcode field=value ... wait=f,f post=f,f
// flags tag=n"; comments with '#'; loops: docs/program_file.md.
// Assemble(Disassemble(d)) == d. Errors name the line; Assemble, for
// descriptors alone, refuses loops.
std::string Disassemble(const isa::Descriptor& descriptor);
std::string DisassembleProgram(const Program& program);
absl::StatusOr<std::vector<isa::Descriptor>> Assemble(const std::string& text,
                                                      const std::string& name);
absl::StatusOr<Code> AssembleCode(const std::string& text,
                                  const std::string& name);

}  // namespace systole

#endif  // SYSTOLE_PROGRAM_H_
