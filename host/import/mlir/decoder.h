// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the encodings of types and attributes have in common: references to
// strings, types and attributes by index, lists and numbers.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_DECODER_H_
#define SYSTOLE_HOST_IMPORT_MLIR_DECODER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "host/import/mlir/byte_reader.h"
#include "host/import/mlir/module.h"

namespace systole::mlir {

// Types and attributes that are referred to may not be decoded yet; types are
// decoded before attributes.
class Decoder {
 public:
  explicit Decoder(Module& module) : module_(module) {}

  Module& module() { return module_; }
  // Data of resources, in the order of their handles.
  std::vector<absl::string_view>& resources() { return resources_; }

  // Null after an error only.
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
  // The words of an integer, or of a float's bits, of that width; those of one
  // word have their sign extended.
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

// Decode what `in` has; a code that is not known leaves `out` opaque, with the
// rest of `in` unread.
void ReadBuiltinType(const Decoder& decoder, ByteReader& in, Type& out);
void ReadBuiltinAttribute(const Decoder& decoder, ByteReader& in,
                          Attribute& out);
void ReadVhloType(const Decoder& decoder, ByteReader& in, Type& out);
void ReadVhloAttribute(const Decoder& decoder, ByteReader& in, Attribute& out);
void ReadSdyAttribute(const Decoder& decoder, ByteReader& in, Attribute& out);

// Dense elements: i1 from bits to bytes, splats told apart; the size of the
// data is checked. For a type whose elements have no known size nothing is
// done.
absl::Status UnpackElements(Module& module, Attribute& elements);

// That types and attributes do not contain themselves, have the parts that
// their kind says, and are of bounded depth and size as a tree.
absl::Status CheckStructure(const Module& module);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_DECODER_H_
