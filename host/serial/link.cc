// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Up to kWindow requests are on their way. The board executes them in order and
// once; an answer that is lost is asked for again with the same request.

#include "host/serial/link.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"

namespace systole::serial {
namespace {

constexpr size_t kWindow = 4;
constexpr int kStrange = 16;          // refusals that fit no request
constexpr uint64_t kLong = 64 << 10;  // bytes of a transfer that reports

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::Status LostSession() {
  return absl::AbortedError(
      "the board lost the session: it was reset, or another process talks to "
      "it");
}

}  // namespace

absl::StatusOr<BoardInfo> Link::Hello() {
  // Not the number that an earlier process may have ended with.
  next_number_ = static_cast<uint8_t>(std::random_device()());
  std::vector<uint8_t> data(9);
  std::vector<Request> requests(1);
  requests[0].op = Op::kHello;
  requests[0].read = absl::MakeSpan(data);
  // Ends what an interrupted process left in the board's receiver.
  const uint8_t flags[] = {kFlag, kFlag};
  if (absl::Status s = port_->Write(flags); !s.ok()) return s;
  if (absl::Status s = Execute(requests); !s.ok()) return s;
  BoardInfo info;
  info.version = data[0];
  info.max_data = data[3] | data[4] << 8;
  uint32_t khz = 0;
  for (int i = 0; i < 4; ++i) khz |= uint32_t{data[5 + i]} << (8 * i);
  info.clock_mhz = khz / 1000.0;
  if (info.version != kVersion)
    return absl::FailedPreconditionError(absl::StrFormat(
        "the board speaks version %d of the link, this program version %d",
        info.version, kVersion));
  return info;
}

absl::StatusOr<uint32_t> Link::ReadRegister(uint32_t offset) {
  uint8_t data[4];
  std::vector<Request> requests(1);
  requests[0].op = Op::kReadRegister;
  requests[0].address = offset;
  requests[0].read = absl::MakeSpan(data);
  if (absl::Status s = Execute(requests); !s.ok()) return s;
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= uint32_t{data[i]} << (8 * i);
  return value;
}

absl::Status Link::WriteRegister(uint32_t offset, uint32_t value) {
  uint8_t data[4];
  for (int i = 0; i < 4; ++i) data[i] = static_cast<uint8_t>(value >> (8 * i));
  std::vector<Request> requests(1);
  requests[0].op = Op::kWriteRegister;
  requests[0].address = offset;
  requests[0].write = data;
  return Execute(requests);
}

absl::Status Link::ReadMemory(uint64_t address, absl::Span<uint8_t> bytes) {
  std::vector<Request> requests;
  for (size_t done = 0; done < bytes.size(); done += kMaxData) {
    Request request;
    request.op = Op::kReadMemory;
    request.address = address + done;
    request.read = bytes.subspan(done, kMaxData);
    requests.push_back(request);
  }
  return Transfer(std::move(requests), bytes.size());
}

absl::Status Link::WriteMemory(uint64_t address,
                               absl::Span<const uint8_t> bytes) {
  std::vector<Request> requests;
  for (size_t done = 0; done < bytes.size(); done += kMaxData) {
    Request request;
    request.op = Op::kWriteMemory;
    request.address = address + done;
    request.write = bytes.subspan(done, kMaxData);
    requests.push_back(request);
  }
  return Transfer(std::move(requests), bytes.size());
}

// In pieces, so that a long transfer can be told of and stopped.
absl::Status Link::Transfer(std::vector<Request> requests, uint64_t bytes) {
  constexpr size_t kPiece = 16;
  for (size_t i = 0; i < requests.size(); i += kPiece) {
    std::vector<Request> piece(
        requests.begin() + i,
        requests.begin() + std::min(requests.size(), i + kPiece));
    if (absl::Status s = Execute(piece); !s.ok()) return s;
    if (options_.progress && bytes >= kLong)
      options_.progress(std::min(bytes, (i + kPiece) * kMaxData), bytes);
    if (options_.stop && options_.stop())
      return absl::CancelledError("the transfer was stopped");
  }
  return absl::OkStatus();
}

absl::Status Link::Send(const Request& request) {
  std::vector<uint8_t> wire;
  AppendFrame(MakeRequest(request.op, request.number, request.address,
                          request.read.size(), request.write),
              &wire);
  return port_->Write(wire);
}

absl::Status Link::Resend(std::vector<Request>& requests, size_t from,
                          size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (requests[i].done) continue;
    ++stats_.repeated;
    if (absl::Status s = Send(requests[i]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// The board lacks the request of that number: it and those after it go again,
// once for as many refusals as there are.
absl::Status Link::Refused(uint8_t wanted, std::vector<Request>& requests,
                           Progress& at) {
  if (at.resent_for == wanted) return absl::OkStatus();
  for (size_t i = at.first; i < at.next; ++i) {
    if (requests[i].number != wanted) continue;
    at.resent_for = wanted;
    return Resend(requests, at.first, at.next);
  }
  // It has all of them: their answers come, or are asked for at the time-out.
  if (at.next < requests.size() && requests[at.next].number == wanted)
    return absl::OkStatus();
  if (requests[at.first].op == Op::kHello || next_number_ == wanted)
    return absl::OkStatus();
  // It may be an old refusal; many of them are not.
  if (++at.strange < kStrange) return absl::OkStatus();
  return LostSession();
}

absl::Status Link::Handle(const std::vector<uint8_t>& answer,
                          std::vector<Request>& requests, Progress& at) {
  if (at.first == requests.size() || answer.size() < 3 ||
      (answer[0] & kResponseBit) == 0)
    return absl::OkStatus();
  const auto status = static_cast<Answer>(answer.back() & ~kWriteFailedBit);
  if (static_cast<Op>(answer[0] & ~kResponseBit) == Op::kNone)
    ++stats_.bad_frames;
  if (status == Answer::kOrder) return Refused(answer[1], requests, at);
  // Before a hello's answer it may be one of an earlier process.
  if (status == Answer::kSession)
    return requests[at.first].op == Op::kHello ? absl::OkStatus()
                                               : LostSession();
  for (size_t i = at.first; i < at.next; ++i) {
    Request& request = requests[i];
    if (request.done || request.number != answer[1] ||
        static_cast<Op>(answer[0] & ~kResponseBit) != request.op)
      continue;
    if (status == Answer::kBus || (answer.back() & kWriteFailedBit) != 0)
      return absl::OutOfRangeError(absl::StrFormat(
          "the chip refused an access at or before 0x%x", request.address));
    if (status != Answer::kOk || answer.size() - 3 != request.read.size())
      return absl::InternalError(absl::StrFormat(
          "the board did not understand operation %d (answer of %d bytes, "
          "status %d)",
          static_cast<int>(request.op), answer.size(),
          static_cast<int>(status)));
    std::copy(answer.begin() + 2, answer.end() - 1, request.read.begin());
    request.done = true;
    ++stats_.requests;
    at.resent_for = -1;
    at.strange = 0;
    // Answers come in order: those before it were lost.
    return Resend(requests, at.first, i);
  }
  return absl::OkStatus();
}

absl::Status Link::Execute(std::vector<Request>& requests) {
  for (Request& request : requests) request.number = next_number_++;
  Progress at;
  int silent = 0;
  std::vector<uint8_t> buffer(4096);
  double heard = Seconds();
  const uint64_t bad_before = reader_.bad_frames();
  while (at.first < requests.size()) {
    while (at.next < requests.size() && at.next - at.first < kWindow) {
      if (absl::Status s = Send(requests[at.next]); !s.ok()) return s;
      ++at.next;
    }
    const double wait = std::max(0.0, heard + options_.timeout - Seconds());
    auto size = port_->Read(absl::MakeSpan(buffer), wait);
    if (!size.ok()) return size.status();
    if (*size == 0 && Seconds() >= heard + options_.timeout) {
      ++stats_.timeouts;
      if (++silent >= options_.attempts)
        return absl::UnavailableError(absl::StrFormat(
            "the board does not answer (%d requests of %.1f s each): is it "
            "programmed, and is this its port?",
            silent, options_.timeout));
      at.resent_for = -1;
      heard = Seconds();
      if (absl::Status s = Resend(requests, at.first, at.next); !s.ok())
        return s;
      continue;
    }
    for (size_t i = 0; i < *size; ++i) {
      if (!reader_.Add(buffer[i])) continue;
      const size_t before = at.first;
      if (absl::Status s = Handle(reader_.content(), requests, at); !s.ok())
        return s;
      while (at.first < at.next && requests[at.first].done) ++at.first;
      if (at.first == before) continue;
      silent = 0;
      heard = Seconds();
    }
  }
  stats_.bad_frames += reader_.bad_frames() - bad_before;
  return absl::OkStatus();
}

}  // namespace systole::serial
