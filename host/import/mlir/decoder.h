// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Common code for the encodings of types and attributes: references by index to
// strings, types and attributes, lists and numbers.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_DECODER_H_
#define SYSTOLE_HOST_IMPORT_MLIR_DECODER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "host/import/mlir/byte_reader.h"
#include "host/import/mlir/module.h"

namespace systole::mlir {

// A referenced type or attribute may not be decoded yet. Types are decoded
// before attributes.
class Decoder {
 public:
  explicit Decoder(Module& module) : module_(module) {}

  Module& module() { return module_; }
  // Data of resources, in the order of their handles.
  std::vector<absl::string_view>& resources() { return resources_; }

  // Null only after an error.
  const Attribute* AttributeAt(ByteReader& in) const {
    return At(module_.attributes, in.VarInt(), in, "attribute");
  }
  const Type* TypeAt(ByteReader& in) const {
    return At(module_.types, in.VarInt(), in, "type");
  }
  const Type* TypeAt(uint64_t index, ByteReader& in) const {
    return At(module_.types, index, in, "type");
  }
  // Null if there is none.
  const Attribute* OptionalAttributeAt(ByteReader& in) const;
  absl::string_view String(ByteReader& in) const;
  absl::string_view Resource(ByteReader& in) const;

  std::vector<const Attribute*> Attributes(ByteReader& in) const;
  std::vector<const Type*> Types(ByteReader& in) const;
  std::vector<int64_t> SignedIntegers(ByteReader& in) const;
  // The words of an integer, or of the bits of a float, of that width. A single
  // word is sign-extended.
  std::vector<int64_t> Words(ByteReader& in, int width) const;

 private:
  template <typename T>
  const T* At(const std::vector<T>& items, uint64_t index, ByteReader& in,
              const char* what) const {
    const size_t checked = in.CheckIndex(index, items.size(), what);
    return in.ok() ? &items[checked] : nullptr;
  }

  Module& module_;
  std::vector<absl::string_view> resources_;
};

// Decode the contents of `in`. An unknown code leaves `out` opaque and the rest
// of `in` unread.
void ReadBuiltinType(const Decoder& decoder, ByteReader& in, Type& out);
void ReadBuiltinAttribute(const Decoder& decoder, ByteReader& in,
                          Attribute& out);
void ReadVhloType(const Decoder& decoder, ByteReader& in, Type& out);
void ReadVhloAttribute(const Decoder& decoder, ByteReader& in, Attribute& out);
void ReadSdyAttribute(const Decoder& decoder, ByteReader& in, Attribute& out);

// Unpacks dense elements: i1 from bits to bytes, and splats are marked. The
// size of the data is checked. Types whose elements have no known size are
// skipped.
absl::Status UnpackElements(Module& module, Attribute& elements);

// Checks that no type or attribute contains itself, that each has the parts of
// its kind, and that depth and tree size are bounded.
absl::Status CheckStructure(const Module& module);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_DECODER_H_
