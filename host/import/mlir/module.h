// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A tree of generic operations as in MLIR bytecode: names, operands, results,
// attributes and regions of any dialect, without knowledge of the operations'
// meaning.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_MODULE_H_
#define SYSTOLE_HOST_IMPORT_MLIR_MODULE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace systole::mlir {

struct Attribute;

// A dimension of unknown size.
constexpr int64_t kDynamic = INT64_MIN;

struct Type {
  enum class Kind {
    kOpaque,   // `text` if it was written as text
    kBoolean,  // in vhlo; builtin uses an integer of width 1
    kInteger,  // `width`, `is_unsigned`
    kIndex,
    kFloat,    // `width`, `name`
    kComplex,  // elements[0]
    kTensor,   // `shape`, elements[0], `encoding` or null
    kUnrankedTensor,
    kBuffer,
    kFunction,  // elements: `inputs` of them, then the results
    kTuple,     // elements
    kFuture,
    kQuantized,  // elements: storage, expressed
    kToken,
    kNone,
    kWitness,
  };
  Kind kind = Kind::kOpaque;
  absl::string_view dialect;
  absl::string_view name;  // "f32", "ui8", "tensor": without a version
  int width = 0;           // bits
  bool is_unsigned = false;
  std::vector<int64_t> shape;
  std::vector<const Type*> elements;
  size_t inputs = 0;
  const Attribute* encoding = nullptr;
  absl::string_view text;
};

struct Attribute {
  enum class Kind {
    kOpaque,  // encoding in `data`, or text in `text`
    kUnit,
    kBoolean,     // integers[0]
    kInteger,     // `type`, integers[0]; words of 64 bits if it is wider
    kFloat,       // `type`; integers[0] has the bits
    kString,      // `text`; `type` or null
    kEnum,        // `name`, integers[0], `text` is the case
    kType,        // `type`
    kArray,       // elements
    kDictionary,  // elements: name, value, name, value
    kSymbol,      // elements: the name, then a symbol for each inner one
    kElements,    // of a tensor `type`; see `data` below
    kStruct,      // `name`; integers, elements and text as in the dialect
    // Locations.
    kUnknownLocation,
    kFileLocation,      // elements[0] is the name; integers: line, column and,
                        // for a range, end column or end line and end column
    kNameLocation,      // elements: name, location
    kCallSiteLocation,  // elements: callee, caller
    kFusedLocation,     // elements
  };
  Kind kind = Kind::kOpaque;
  absl::string_view dialect;
  absl::string_view name;  // "comparison_direction", "sharding"
  const Type* type = nullptr;
  std::vector<const Attribute*> elements;
  std::vector<int64_t> integers;
  absl::string_view text;
  // Little-endian, row-major, i1 as bytes of 0 and 1. A splat (is_splat) has
  // only one element.
  absl::string_view data;
  bool is_splat = false;

  // Finds an entry of a dictionary; null if there is none of that name.
  const Attribute* Find(absl::string_view key) const;
};

using ValueId = uint32_t;

struct Value {
  const Type* type = nullptr;
  const Attribute* location = nullptr;  // a result has its operation's
};

struct Region;

struct Operation {
  absl::string_view name;  // "vhlo.add_v1"
  const Attribute* location = nullptr;
  // Properties and other attributes by name.
  std::vector<std::pair<absl::string_view, const Attribute*>> attributes;
  // Encoding of the properties if the operation is unknown; otherwise empty.
  absl::string_view opaque_properties;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Region> regions;

  // Null if there is no attribute of that name.
  const Attribute* Find(absl::string_view attribute) const;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Operation> operations;
};

struct Region {
  std::vector<Block> blocks;
};

// Types and attributes refer to each other; all live as long as the module.
struct Module {
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::string bytes;  // the file: names and data are views of it
  std::deque<std::string> storage;
  absl::string_view producer;  // "StableHLO_v1.13.7"
  std::vector<absl::string_view> strings;
  std::vector<Type> types;
  std::vector<Attribute> attributes;
  std::vector<Value> values;  // by id, in the order of definition
  Operation root;
};

// Number of elements of the tensor; -1 if a dimension is unknown or negative,
// or if there are more than 2^62.
int64_t NumElements(const Type& tensor);
// Bytes of an element in the data of dense elements; 0 if unknown.
int ElementBytes(const Type& element);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_MODULE_H_
