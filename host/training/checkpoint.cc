// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/training/checkpoint.h"

#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/read_file.h"
#include "host/files/write_file.h"
#include "host/model/safetensors.h"

namespace systole::training {
namespace {

constexpr char kDescription[] = "systole.training";
constexpr char kChecksum[] = "systole.crc32";

// As in model files: of the description and the data.
std::string Checksum(const std::string& description, std::string_view data) {
  uLong crc = 0;
  for (std::string_view part : {std::string_view(description), data}) {
    crc =
        crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  return absl::StrFormat("%08x", crc);
}

absl::Status Named(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

absl::StatusOr<Checkpoint> Parse(std::string_view bytes,
                                 const std::vector<Layer>& layers) {
  const absl::StatusOr<model::Container> container =
      model::ParseContainer(bytes);
  if (!container.ok()) return container.status();
  const auto description = container->metadata.find(kDescription);
  const auto checksum = container->metadata.find(kChecksum);
  if (description == container->metadata.end() ||
      checksum == container->metadata.end()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "no checkpoint of a training: its metadata has no '%s'",
        description == container->metadata.end() ? kDescription : kChecksum));
  }
  const std::string found = Checksum(description->second, container->data);
  if (found != checksum->second) {
    return absl::DataLossError(
        absl::StrFormat("damaged: the CRC-32 is %s, the file says %s", found,
                        checksum->second));
  }
  Checkpoint checkpoint;
  checkpoint.description = description->second;
  checkpoint.state = EmptyState(layers);
  const std::vector<StateTensor> tensors = Tensors(layers, checkpoint.state);
  for (const StateTensor& t : tensors) {
    const auto stored = container->tensors.find(t.name);
    if (stored == container->tensors.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no tensor '", t.name, "'"));
    }
    if (stored->second.dtype != "F32" || stored->second.shape != t.shape) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", t.name, "' is ", stored->second.dtype, " ",
                       ShapeText(stored->second.shape), ", expected F32 ",
                       ShapeText(t.shape)));
    }
    std::memcpy(t.values->data(), stored->second.data.data(),
                stored->second.data.size());
  }
  if (container->tensors.size() != tensors.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d tensors, the network has %d",
                        container->tensors.size(), tensors.size()));
  }
  return checkpoint;
}

}  // namespace

bool IsCheckpoint(std::string_view bytes) {
  const auto container = model::ParseContainer(bytes);
  return container.ok() && container->metadata.count(kDescription) > 0;
}

absl::Status WriteCheckpoint(const std::string& path,
                             const std::vector<Layer>& layers,
                             Checkpoint checkpoint) {
  model::Container container;
  for (const StateTensor& t : Tensors(layers, checkpoint.state)) {
    container.tensors[t.name] = {
        "F32",
        t.shape,
        {reinterpret_cast<const char*>(t.values->data()),
         t.values->size() * sizeof(float)}};
  }
  container.metadata[kChecksum] =
      Checksum(checkpoint.description, model::DataSection(container.tensors));
  container.metadata[kDescription] = std::move(checkpoint.description);
  const std::string bytes = model::SerializeContainer(container);

  if (absl::Status s = MakeFolderOf(path); !s.ok()) return s;
  return WriteFile(bytes, path);
}

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path,
                                          const std::vector<Layer>& layers) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Checkpoint> checkpoint = Parse(*bytes, layers);
  if (!checkpoint.ok()) return Named(path, checkpoint.status());
  return checkpoint;
}

}  // namespace systole::training
