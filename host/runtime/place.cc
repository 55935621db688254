// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/place.h"

#include <vector>

namespace systole::runtime {

using ir::Literal;

PlacedValue OnHost(Literal literal) {
  auto value = std::make_shared<Place>();
  value->bytes = literal.size() * ir::ElementBytes(literal.element());
  value->SetHost(std::move(literal));
  return value;
}

bool Place::on_host() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return host_.has_value();
}

void Place::SetHost(Literal literal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  host_ = std::move(literal);
}

// Without the lock while it reads: who waits for the lock would keep the device
// from serving the read.
absl::StatusOr<Literal> Place::Fetch(ir::ElementType preferred, Core& core) {
  std::optional<Literal> host;
  std::vector<Piece> from;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    host = host_;
    from = pieces;
    if (device != nullptr) from = {{&core, device}};
  }
  if (host) return *host;
  if (from.empty() && bytes != 0) {
    return absl::FailedPreconditionError(
        "a value whose memory was given to another program");
  }
  Literal read = Literal::Zeros(preferred, bytes / ir::ElementBytes(preferred));
  const size_t each = from.empty() ? 0 : bytes / from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    absl::Status s = from[i].core->Read(from[i].memory->address(),
                                        {read.data() + i * each, each});
    if (!s.ok()) return s;
  }
  SetHost(read);
  return read;
}

absl::StatusOr<Literal> Place::Host(const ir::Type& type, Core& core) {
  const absl::StatusOr<Literal> host = Fetch(type.element, core);
  if (!host.ok() || host->element() == type.element) return host;
  return Literal::FromBytes(type.element, type.elements(), host->data());
}

std::shared_ptr<Place> Place::Taken() {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto taken = std::make_shared<Place>();
  taken->bytes = bytes;
  taken->device = std::move(device);
  taken->part = std::move(part);
  taken->pieces = std::exchange(pieces, {});
  taken->host_ = host_;
  return taken;
}

}  // namespace systole::runtime
