// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/bytecode.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/mlir/operations.h"

namespace systole::mlir {
namespace {

constexpr absl::string_view kMagic = "ML\xefR";
constexpr uint64_t kNewestVersion = 6;

// The format version that introduced each feature.
constexpr uint64_t kDialectVersions = 1;
constexpr uint64_t kCountOfNames = 4;
constexpr uint64_t kRegisteredFlags = 5;

enum SectionId {
  kStrings = 0,
  kDialects = 1,
  kTypes = 2,  // and attributes
  kTypeOffsets = 3,
  kOperations = 4,
  kResources = 5,
  kResourceOffsets = 6,
  kVersions = 7,
  kProperties = 8,
  kSections = 9,
};

class FileReader {
 public:
  explicit FileReader(Module& module) : module_(module), decoder_(module) {}

  absl::Status Read() {
    ByteReader in(module_.bytes);
    ReadSections(in);
    if (!in.ok()) return in.status();
    using Step = absl::Status (FileReader::*)();
    for (const Step step : {&FileReader::ReadStrings, &FileReader::ReadDialects,
                            &FileReader::ReadResources, &FileReader::ReadTypes,
                            &FileReader::ReadProperties}) {
      const absl::Status status = (this->*step)();
      if (!status.ok()) return status;
    }
    return ReadOperations(decoder_, tables_, sections_[kOperations], module_);
  }

 private:
  ByteReader Part(SectionId id) const {
    return ByteReader(module_.bytes, sections_[id]);
  }

  void ReadSections(ByteReader& in) {
    in.Bytes(kMagic.size());
    tables_.version = in.VarInt();
    module_.producer = in.Text();
    sections_.fill(absl::string_view(module_.bytes).substr(0, 0));
    while (in.ok() && !in.empty()) {
      const Section section = ReadSection(in);
      if (!in.ok()) return;
      if (section.id >= kSections) {
        in.Fail("section ", section.id, " is not known");
      } else if (found_[section.id]) {
        in.Fail("section ", section.id, " is there twice");
      } else {
        found_[section.id] = true;
        sections_[section.id] = section.data;
      }
    }
    for (const int id :
         {kStrings, kDialects, kTypes, kTypeOffsets, kOperations}) {
      if (!found_[id]) in.Fail("section ", id, " is missing");
    }
  }

  // The section has the lengths in reverse order, then all texts, each followed
  // by a zero byte.
  absl::Status ReadStrings() {
    ByteReader in = Part(kStrings);
    std::vector<uint64_t> sizes(in.Count());
    uint64_t sum = 0;
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      *size = in.VarInt();
      if (*size == 0 || *size > in.remaining()) in.Fail("length of a string");
      sum += *size;
    }
    if (in.ok() && sum != in.remaining()) in.Fail("lengths of strings");
    for (const uint64_t size : sizes) {
      const absl::string_view text = in.Bytes(size);
      if (in.ok()) module_.strings.push_back(text.substr(0, size - 1));
    }
    return in.status();
  }

  absl::Status ReadDialects() {
    ByteReader in = Part(kDialects);
    for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
      uint64_t word = in.VarInt();
      bool versioned = false;
      if (tables_.version >= kDialectVersions) {
        versioned = (word & 1) != 0;
        word >>= 1;
      }
      const size_t name = in.CheckIndex(word, module_.strings.size(), "string");
      if (in.ok()) dialects_.push_back(module_.strings[name]);
      if (versioned) ReadSection(in);
    }
    if (tables_.version >= kCountOfNames) in.Count();
    while (in.ok() && !in.empty()) {
      const absl::string_view dialect = DialectAt(in);
      for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
        uint64_t word = in.VarInt();
        bool registered = true;
        if (tables_.version >= kRegisteredFlags) {
          registered = (word & 1) != 0;
          word >>= 1;
        }
        const size_t name =
            in.CheckIndex(word, module_.strings.size(), "string");
        if (!in.ok()) break;
        const std::string& full = module_.storage.emplace_back(
            absl::StrCat(dialect, ".", module_.strings[name]));
        tables_.names.push_back({full, registered});
      }
    }
    return in.status();
  }

  absl::string_view DialectAt(ByteReader& in) const {
    const size_t index = in.Index(dialects_.size(), "dialect");
    return in.ok() ? dialects_[index] : absl::string_view();
  }

  // The groups of external resources come first; nothing refers to them. The
  // groups of the dialects follow.
  absl::Status ReadResources() {
    if (!found_[kResourceOffsets]) return absl::OkStatus();
    ByteReader in = Part(kResourceOffsets);
    ByteReader data = Part(kResources);
    for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
      decoder_.String(in);
      ReadResourceGroup(in, data, false);
    }
    while (in.ok() && data.ok() && !in.empty()) {
      DialectAt(in);
      ReadResourceGroup(in, data, true);
    }
    return in.ok() ? data.status() : in.status();
  }

  void ReadResourceGroup(ByteReader& in, ByteReader& data, bool referred) {
    constexpr uint8_t kBlob = 0;
    for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
      decoder_.String(in);
      const uint64_t size = in.VarInt();
      const uint8_t kind = in.Byte();
      absl::string_view bytes = data.Bytes(size);
      if (!data.ok()) return;
      if (kind == kBlob && size > 0) {
        ByteReader blob(module_.bytes, bytes);
        const uint64_t alignment = blob.VarInt();
        const uint64_t length = blob.VarInt();
        blob.Align(alignment);
        bytes = blob.Bytes(length);
        in.Absorb(blob);
      }
      if (referred) decoder_.resources().push_back(bytes);
    }
  }

  // Attributes come before types. A list of sizes, grouped by dialect, gives
  // the position of each.
  absl::Status ReadTypes() {
    ByteReader in = Part(kTypeOffsets);
    ByteReader data = Part(kTypes);
    const size_t attributes = in.Count();
    const size_t types = in.Count();
    if (!in.ok()) return in.status();
    std::vector<Entry> attribute_entries = ReadEntries(in, data, attributes);
    const std::vector<Entry> type_entries = ReadEntries(in, data, types);
    if (in.ok() && !in.empty()) in.Fail("bytes behind the offsets of types");
    if (!in.ok()) return in.status();
    if (!data.ok()) return data.status();
    module_.attributes.resize(attributes);
    module_.types.resize(types);
    for (size_t i = 0; i < types; ++i) {
      const absl::Status status = Decode(type_entries[i], module_.types[i]);
      if (!status.ok()) return status;
    }
    for (size_t i = 0; i < attributes; ++i) {
      const absl::Status status =
          Decode(attribute_entries[i], module_.attributes[i]);
      if (!status.ok()) return status;
    }
    absl::Status status = CheckStructure(module_);
    for (size_t i = 0; i < attributes && status.ok(); ++i) {
      Attribute& attribute = module_.attributes[i];
      if (attribute.kind != Attribute::Kind::kElements) continue;
      status = UnpackElements(module_, attribute);
      if (!status.ok()) {
        ByteReader at(module_.bytes, attribute_entries[i].data);
        at.Fail(status.message());
        return at.status();
      }
    }
    return status;
  }

  struct Entry {
    absl::string_view dialect;
    absl::string_view data;
    bool as_text = false;
  };

  std::vector<Entry> ReadEntries(ByteReader& in, ByteReader& data,
                                 size_t count) {
    std::vector<Entry> entries;
    while (in.ok() && data.ok() && entries.size() < count) {
      const absl::string_view dialect = DialectAt(in);
      const size_t group = in.Count();
      if (group > count - entries.size()) in.Fail("too many types");
      for (size_t left = group; left > 0 && in.ok() && data.ok(); --left) {
        const uint64_t word = in.VarInt();
        entries.push_back({dialect, data.Bytes(word >> 1), (word & 1) == 0});
      }
    }
    return entries;
  }

  void DecodeByDialect(const Entry& entry, ByteReader& in, Type& out) {
    if (entry.dialect == "builtin") return ReadBuiltinType(decoder_, in, out);
    if (entry.dialect == "vhlo") return ReadVhloType(decoder_, in, out);
  }

  void DecodeByDialect(const Entry& entry, ByteReader& in, Attribute& out) {
    if (entry.dialect == "builtin") {
      return ReadBuiltinAttribute(decoder_, in, out);
    }
    if (entry.dialect == "vhlo") return ReadVhloAttribute(decoder_, in, out);
    if (entry.dialect == "sdy") return ReadSdyAttribute(decoder_, in, out);
  }

  template <typename T>
  absl::Status Decode(const Entry& entry, T& out) {
    out.dialect = entry.dialect;
    ByteReader in(module_.bytes, entry.data);
    if (entry.as_text) {
      out.text = in.Text();
      return in.status();
    }
    DecodeByDialect(entry, in, out);
    if (out.kind == T::Kind::kOpaque) {
      KeepData(entry.data, out);
    } else if (!in.empty()) {
      in.Fail("a type or attribute of another size");
    }
    return in.status();
  }

  static void KeepData(absl::string_view, Type&) {}
  static void KeepData(absl::string_view data, Attribute& out) {
    out.data = data;
  }

  absl::Status ReadProperties() {
    if (!found_[kProperties]) return absl::OkStatus();
    ByteReader in = Part(kProperties);
    for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
      const uint64_t size = in.VarInt();
      tables_.properties.push_back(in.Bytes(size));
    }
    if (!in.empty()) in.Fail("bytes behind the properties");
    return in.status();
  }

  Module& module_;
  Decoder decoder_;
  Tables tables_;
  std::array<absl::string_view, kSections> sections_;
  std::array<bool, kSections> found_ = {};
  std::vector<absl::string_view> dialects_;
};

}  // namespace

bool IsBytecode(absl::string_view file) {
  return file.substr(0, kMagic.size()) == kMagic;
}

absl::StatusOr<std::unique_ptr<Module>> ReadBytecode(absl::string_view file) {
  if (!IsBytecode(file)) return absl::DataLossError("not MLIR bytecode");
  auto module = std::make_unique<Module>();
  module->bytes = std::string(file);
  ByteReader in(module->bytes);
  in.Bytes(kMagic.size());
  const uint64_t version = in.VarInt();
  if (version > kNewestVersion) {
    return absl::UnimplementedError(
        absl::StrCat("MLIR bytecode of version ", version, "; 0 to ",
                     kNewestVersion, " can be read"));
  }
  const absl::Status status = FileReader(*module).Read();
  if (!status.ok()) return status;
  return module;
}

}  // namespace systole::mlir
