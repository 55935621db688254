// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/scalar/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "firmware/scalar/boot.h"
#include "firmware/scalar/protocol.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"

namespace systole::scalar {
namespace {

constexpr uint64_t kTurn = 32;  // bytes; the ROM adds up so many in a turn
constexpr char kCompile[] =
    "compile it with riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32";
constexpr char kLink[] = "link it with link.ld of the firmware's sources";

absl::Status Wrong(const std::string& path, const std::string& what,
                   absl::string_view remedy) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", what, ": ", remedy, " (docs/firmware.md)"));
}

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "Arm";
    case EM_AARCH64:
      return "AArch64";
    default:
      return absl::StrCat("machine ", machine);
  }
}

// The header of a linked 32-bit RISC-V program.
absl::StatusOr<Elf32_Ehdr> ReadHeader(const std::string& path,
                                      const std::string& file) {
  if (file.size() < EI_NIDENT || file.compare(0, SELFMAG, ELFMAG) != 0)
    return WrongKind(path, KindOfBytes(file, path),
                     "an ELF file of firmware (docs/firmware.md)");
  const bool little = file[EI_DATA] == ELFDATA2LSB;
  Elf32_Ehdr header = {};
  std::memcpy(&header, file.data(), std::min(file.size(), sizeof header));
  if (little && file.size() >= offsetof(Elf32_Ehdr, e_version) &&
      header.e_machine != EM_RISCV) {
    return Wrong(path,
                 absl::StrCat("is an ELF file for ",
                              MachineName(header.e_machine), ", not RISC-V"),
                 kCompile);
  }
  if (!little)
    return Wrong(path, "is a big-endian ELF file, not one for RISC-V",
                 kCompile);
  if (file[EI_CLASS] != ELFCLASS32)
    return Wrong(path, "is a 64-bit ELF file, the scalar unit has 32 bits",
                 kCompile);
  if (file.size() < sizeof header) {
    return Wrong(path,
                 absl::StrFormat("ends after %d bytes, within the ELF header",
                                 file.size()),
                 "write the file again");
  }
  if (header.e_type != ET_EXEC) {
    return Wrong(path,
                 header.e_type == ET_REL ? "is an object file, not linked"
                                         : "is position-independent, no "
                                           "program with fixed addresses",
                 kLink);
  }
  if ((header.e_flags & EF_RISCV_FLOAT_ABI) != EF_RISCV_FLOAT_ABI_SOFT)
    return Wrong(path, "uses floating-point registers, which Ibex lacks",
                 kCompile);
  return header;
}

absl::StatusOr<std::vector<Elf32_Phdr>> ReadSegments(const std::string& path,
                                                     const std::string& file,
                                                     const Elf32_Ehdr& header) {
  std::vector<Elf32_Phdr> segments;
  if (header.e_phnum == 0 || header.e_phentsize < sizeof(Elf32_Phdr))
    return segments;
  const uint64_t end =
      header.e_phoff + uint64_t{header.e_phnum} * header.e_phentsize;
  if (end > file.size()) {
    return Wrong(path,
                 absl::StrFormat("its program headers end at byte %d, the file "
                                 "has %d bytes",
                                 end, file.size()),
                 "write the file again");
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf32_Phdr segment;
    std::memcpy(&segment, &file[header.e_phoff + i * header.e_phentsize],
                sizeof segment);
    if (segment.p_type == PT_LOAD && segment.p_memsz != 0)
      segments.push_back(segment);
  }
  return segments;
}

absl::Status CheckSegment(const std::string& path, size_t number,
                          const Elf32_Phdr& segment, size_t file_bytes,
                          uint64_t smem_bytes) {
  const std::string name = absl::StrFormat("loadable segment %d", number);
  if (segment.p_filesz > segment.p_memsz)
    return Wrong(path,
                 absl::StrFormat("%s has %d bytes in the file, but %d in SMEM",
                                 name, segment.p_filesz, segment.p_memsz),
                 "write the file again");
  const uint64_t end = uint64_t{segment.p_offset} + segment.p_filesz;
  if (end > file_bytes) {
    return Wrong(path,
                 absl::StrFormat("%s ends at byte %d, the file has %d bytes",
                                 name, end, file_bytes),
                 "write the file again");
  }
  // Where it is loaded, and where it is used, if start-up code moves it.
  for (const auto& [begin, bytes] :
       {std::pair<uint64_t, uint64_t>{segment.p_paddr, segment.p_filesz},
        std::pair<uint64_t, uint64_t>{segment.p_vaddr, segment.p_memsz}}) {
    if (bytes == 0 || begin + bytes <= smem_bytes) continue;
    return Wrong(
        path,
        absl::StrFormat("%s, from 0x%x to 0x%x, ends %d bytes beyond the %d "
                        "bytes of SMEM",
                        name, begin, begin + bytes, begin + bytes - smem_bytes,
                        smem_bytes),
        absl::StrCat("make the program smaller, and ", kLink));
  }
  return absl::OkStatus();
}

absl::Status CheckEntry(const std::string& path, uint32_t entry,
                        const std::vector<Elf32_Phdr>& segments) {
  const std::string what = absl::StrFormat("its entry point is 0x%x, ", entry);
  if (entry % 2 != 0)
    return Wrong(path, absl::StrCat(what, "an odd address"), kLink);
  for (const Elf32_Phdr& s : segments) {
    if ((s.p_flags & PF_X) != 0 && entry >= s.p_vaddr &&
        uint64_t{entry} - s.p_vaddr < s.p_filesz &&
        entry >= sizeof(image_header))
      return absl::OkStatus();
  }
  return Wrong(path, absl::StrCat(what, "where it has no code"),
               absl::StrCat("define _start as start.S does, and ", kLink));
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ReadFirmware(const std::string& path,
                                                   uint64_t smem_bytes) {
  const auto file = ReadFile(path);
  if (!file.ok()) return file.status();
  const auto header = ReadHeader(path, *file);
  if (!header.ok()) return header.status();
  const auto segments = ReadSegments(path, *file, *header);
  if (!segments.ok()) return segments.status();
  uint64_t bytes = 0;
  for (size_t i = 0; i < segments->size(); ++i) {
    const Elf32_Phdr& s = (*segments)[i];
    absl::Status status = CheckSegment(path, i, s, file->size(), smem_bytes);
    if (!status.ok()) return status;
    if (s.p_filesz != 0)
      bytes = std::max(bytes, uint64_t{s.p_paddr} + s.p_filesz);
    for (size_t j = 0; j < i; ++j) {
      const Elf32_Phdr& t = (*segments)[j];
      if (s.p_paddr < uint64_t{t.p_paddr} + t.p_filesz &&
          t.p_paddr < uint64_t{s.p_paddr} + s.p_filesz) {
        return Wrong(path,
                     absl::StrFormat("loadable segments %d and %d overlap at "
                                     "0x%x",
                                     j, i, std::max(s.p_paddr, t.p_paddr)),
                     kLink);
      }
    }
  }
  if (bytes == 0) return Wrong(path, "has no loadable segment", kLink);
  std::vector<uint32_t> image((bytes + kTurn - 1) / kTurn * kTurn / 4);
  auto* const to = reinterpret_cast<char*>(image.data());
  for (const Elf32_Phdr& s : *segments) {
    if (s.p_filesz != 0)
      std::memcpy(to + s.p_paddr, &(*file)[s.p_offset], s.p_filesz);
  }
  if (bytes < sizeof(image_header) || image[0] != IMAGE_MAGIC) {
    return Wrong(path,
                 absl::StrFormat("has no image header: %d bytes at address 0 "
                                 "that begin with 0x%08x",
                                 sizeof(image_header), IMAGE_MAGIC),
                 absl::StrCat("link start.S first, and ", kLink));
  }
  if (absl::Status s = CheckEntry(path, header->e_entry, *segments); !s.ok())
    return s;
  image[offsetof(image_header, entry) / 4] = header->e_entry;
  return image;
}

}  // namespace systole::scalar
