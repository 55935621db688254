// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts elements between memory and words, as lanes hold them
// (lane_lowering.h), within the unified buffer.
//
//   WordCopies copies(preset);
//   copies.AddCode(words, {ElementType::kInt8});
//   copies.ToWords(builder, ElementType::kInt8, from, to, count);
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WORD_COPIES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WORD_COPIES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/type.h"

namespace systole::lanes {

class WordCopies {
 public:
  explicit WordCopies(const Preset& preset) : preset_(preset) {}

  // Whether elements of the type are words already.
  static bool AreWords(ir::ElementType type);
  // Adds code for those of the types that are not words.
  absl::Status AddCode(std::vector<uint64_t>& words,
                       const std::vector<ir::ElementType>& types);
  // Converts `count` elements, dense on both sides.
  void ToWords(KernelBuilder& builder, ir::ElementType type,
               const KernelBuilder::Bytes& from, const KernelBuilder::Bytes& to,
               int64_t count) const;
  void FromWords(KernelBuilder& builder, ir::ElementType type,
                 const KernelBuilder::Bytes& from,
                 const KernelBuilder::Bytes& to, int64_t count) const;

 private:
  void Dense(KernelBuilder& builder, int pc, const KernelBuilder::Bytes& from,
             int64_t from_size, const KernelBuilder::Bytes& to, int64_t to_size,
             int64_t count) const;

  const Preset& preset_;
  std::map<ir::ElementType, int> to_words_, from_words_;  // entries of the code
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WORD_COPIES_H_
