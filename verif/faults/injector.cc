// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/injector.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "verif/tb/core_module.h"

namespace systole::faults {
namespace {

constexpr uint64_t kEvery = 16;   // cycles from one digest to the next
constexpr uint64_t kOften = 64;   // cycles after a flip with all digests
constexpr uint64_t kSeldom = 64;  // later, only in multiples of these cycles
constexpr char kDied[] = "died";
constexpr char kEqual[] = "equal";

class InjectedCore : public tb::CoreModel {
 public:
  explicit InjectedCore(std::unique_ptr<tb::CoreModel> core)
      : core_(std::move(core)) {}
  void HardReset() override { core_->HardReset(); }
  void Cycle(tb::Pins* pins) override {
    Injector::Get().BeforeCycle(core_->cycles());
    core_->Cycle(pins);
    Injector::Get().AfterCycle(*pins);
  }
  uint64_t cycles() const override { return core_->cycles(); }
  const std::optional<tb::FailedAssertion>& failed() const override {
    return core_->failed();
  }
  absl::Status OpenTrace(const std::string& file, uint64_t zero) override {
    return core_->OpenTrace(file, zero);
  }
  void RecordTrace(uint64_t from, uint64_t to) override {
    core_->RecordTrace(from, to);
  }
  absl::Status CloseTrace() override { return core_->CloseTrace(); }
  absl::Status SetProbe(int core, ProbeSink* sink) override {
    return core_->SetProbe(core, sink);
  }

 private:
  std::unique_ptr<tb::CoreModel> core_;
};

std::unique_ptr<tb::CoreModel> Make(const tb::CoreOptions& options,
                                    tb::MemoryModel* memory) {
  Injector::Get().set_memory(memory);
  return std::make_unique<InjectedCore>(
      tb::FindCore("state", options.preset, false)(options, memory));
}

[[maybe_unused]] const bool registered =
    tb::RegisterCore("faults", "nano", false, Make) &&
    tb::RegisterCore("faults", "minichip", false, Make);

uint64_t Fold(uint64_t sum, const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  // Four lanes, so that the multiplications overlap.
  uint64_t lanes[4] = {sum, sum + 1, sum + 2, sum + 3};
  for (; bytes >= 32; bytes -= 32, from += 32) {
    uint64_t words[4];
    std::memcpy(words, from, 32);
    for (int i = 0; i < 4; ++i) {
      lanes[i] = (lanes[i] ^ words[i]) * 0x9E3779B97F4A7C15u;
      lanes[i] ^= lanes[i] >> 29;
    }
  }
  uint64_t rest[4] = {};
  std::memcpy(rest, from, bytes);
  for (int i = 0; i < 4; ++i) {
    sum = (sum ^ lanes[i] ^ rest[i]) * 0xBF58476D1CE4E5B9u;
    sum ^= sum >> 31;
  }
  return sum;
}

void Put(int pipe, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = write(pipe, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) _exit(1);
    done += static_cast<size_t>(put);
  }
}

absl::Status Died(const std::vector<size_t>& group, const std::string& text) {
  return absl::InternalError(
      absl::StrFormat("a copy of the process ended otherwise, of flip %d: %s",
                      group.front(), text));
}

// Starts a child process with a pipe; `end` is this process's end of it. pid <
// 0: see errno.
pid_t Fork(int* end) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int error = errno;
  close(ends[pid == 0 ? 0 : 1]);
  *end = ends[pid == 0 ? 1 : 0];
  if (pid < 0) close(*end);
  errno = error;
  return pid;
}

}  // namespace

Injector& Injector::Get() {
  static auto& injector = *new Injector;
  return injector;
}

// The child's text; "timeout" or kDied if it did not end normally.
std::string Injector::ReadAll(int pipe, pid_t pid) {
  std::string text;
  char buffer[4096];
  ssize_t got;
  while ((got = read(pipe, buffer, sizeof(buffer))) != 0) {
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  close(pipe);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) return "timeout";
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || text.empty())
    return absl::StrFormat("%s, status 0x%x", kDied, status);
  return text;
}

std::string Injector::ReadOne(int pipe, pid_t pid) {
  const std::string text = ReadAll(pipe, pid);
  ++counters_.copies;
  if (text != kEqual) return text;
  ++counters_.early;
  return kMasked;
}

absl::StatusOr<std::string> Injector::Rehearse(
    absl::Span<const absl::Span<const uint8_t>> state,
    const std::function<std::string()>& run) {
  plan_ = {};
  plan_.state.assign(state.begin(), state.end());
  digests_.clear();
  history_ = 0;
  begun_ = false;
  int end;
  const pid_t pid = Fork(&end);
  if (pid < 0) return absl::ErrnoToStatus(errno, "no copy of the process");
  if (pid == 0) {
    role_ = Role::kRehearsal;
    const std::string said = run();
    const uint64_t count = digests_.size();
    std::string text(reinterpret_cast<const char*>(&count), sizeof count);
    text.append(reinterpret_cast<const char*>(digests_.data()),
                count * sizeof count);
    Put(end, text + said);
    _exit(0);
  }
  const std::string text = ReadAll(end, pid);
  uint64_t count = 0;
  if (text.size() >= sizeof count)
    std::memcpy(&count, text.data(), sizeof count);
  if (absl::StartsWith(text, kDied) || text == "timeout" ||
      count > (text.size() - sizeof count) / sizeof count)
    return absl::InternalError("the rehearsal did not end: " + text);
  digests_.resize(count);
  std::memcpy(digests_.data(), text.data() + sizeof count,
              count * sizeof count);
  return text.substr((count + 1) * sizeof count);
}

void Injector::Arm(Plan plan) {
  plan_ = std::move(plan);
  said_.assign(plan_.injections.size(), "");
  next_ = 0;
  history_ = 0;
  status_ = absl::OkStatus();
  counters_ = {};
  begun_ = false;
  role_ = Role::kOriginal;
}

uint64_t Injector::Digest() const {
  uint64_t sum = history_;
  for (const auto& part : plan_.state)
    sum = Fold(sum, part.data(), part.size());
  for (int c = 0; memory_->hbm(0) != nullptr && c < tb::kMaxCores; ++c) {
    if (c > 0 && plan_.state.size() == 1) break;  // there is a model per core
    const uint64_t digest = memory_->hbm(c)->Digest();
    sum = Fold(sum, &digest, sizeof digest);
  }
  return sum;
}

void Injector::Step(uint64_t cycle) {
  if (!std::exchange(begun_, true)) zero_ = cycle;
  now_ = cycle - zero_;
  if (role_ == Role::kRehearsal) {
    if (now_ % kEvery == 0) digests_.push_back(Digest());
  } else if (role_ == Role::kCopy) {
    TurnDue();
    Compare();
    if (now_ > digests_.size() * kEvery + plan_.patience)
      Say("reported timeout");
  } else {
    while (next_ < plan_.groups.size() &&
           plan_.injections[plan_.groups[next_].front()].cycle <= now_) {
      if (StartNextGroup() || !status_.ok()) return;
    }
  }
}

// Hashes the history of the host's pins. It determines the driver's state.
void Injector::Watch(const tb::Pins& pins) {
  history_ = Fold(history_, &pins, sizeof pins);
}

bool Injector::StartNextGroup() {
  while (running_.size() >= static_cast<size_t>(plan_.jobs)) WaitForOne();
  const std::vector<size_t>& group = plan_.groups[next_++];
  int end;
  const pid_t pid = Fork(&end);
  if (pid < 0) {
    status_.Update(absl::ErrnoToStatus(errno, "no copy of the process"));
    role_ = Role::kIdle;
    return false;
  }
  if (pid > 0) {
    running_.push_back({pid, &group, end});
    return false;
  }
  for (const Running& other : running_) close(other.pipe);
  if (group.size() == 1) {
    pipe_ = end;
    BecomeCopy(group);
    return true;
  }
  counters_ = {};
  std::string said;
  if (Divide(group, &said)) return true;
  Put(end, absl::StrCat("copies ", counters_.copies, " ", counters_.early, "\n",
                        said));
  _exit(0);
}

// Runs a copy with the flips of all members. If it is not masked, divides them
// in halves. Appends a line "injection text" for each member to `said`.
bool Injector::Divide(absl::Span<const size_t> members, std::string* said) {
  int end;
  const pid_t pid = Fork(&end);
  if (pid < 0) _exit(1);
  if (pid == 0) {
    pipe_ = end;
    BecomeCopy(members);
    return true;
  }
  const std::string text = ReadOne(end, pid);
  if (members.size() == 1 || text == kMasked) {
    for (const size_t m : members) absl::StrAppend(said, m, " ", text, "\n");
    return false;
  }
  const size_t half = members.size() / 2;
  return Divide(members.first(half), said) ||
         Divide(members.subspan(half), said);
}

void Injector::BecomeCopy(absl::Span<const size_t> members) {
  role_ = Role::kCopy;
  due_.assign(members.rbegin(), members.rend());
  // Limits processor time, not elapsed time, because the machine may be busy.
  itimerval left = {};
  left.it_value.tv_sec = plan_.seconds;
  setitimer(ITIMER_PROF, &left, nullptr);
  TurnDue();
}

void Injector::TurnDue() {
  while (!due_.empty() && plan_.injections[due_.back()].cycle <= now_) {
    plan_.injections[due_.back()].turn();
    due_.pop_back();
    turned_ = now_;
  }
}

void Injector::Compare() {
  if (!due_.empty() || now_ % kEvery != 0 || now_ == turned_ ||
      now_ / kEvery >= digests_.size() ||
      (now_ - turned_ > kOften && now_ % kSeldom != 0))
    return;
  if (Digest() == digests_[now_ / kEvery]) Say(kEqual);
}

// Waits for the oldest copy. Meanwhile the text of the others stays in their
// pipes.
void Injector::WaitForOne() {
  const Running oldest = running_.front();
  running_.erase(running_.begin());
  if (oldest.group->size() == 1) {
    const std::string text = ReadOne(oldest.pipe, oldest.pid);
    said_[oldest.group->front()] = text;
    if (absl::StartsWith(text, kDied))
      status_.Update(Died(*oldest.group, text));
    return;
  }
  const std::string text = ReadAll(oldest.pipe, oldest.pid);
  size_t lines = 0;
  const std::vector<std::string> said =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  for (const std::string& line : said) {
    uint64_t first = 0, second = 0;
    if (std::sscanf(line.c_str(), "copies %lu %lu", &first, &second) == 2) {
      counters_.copies += first;
      counters_.early += second;
      continue;
    }
    const size_t space = line.find(' ');
    size_t index = 0;
    if (space == std::string::npos ||
        !absl::SimpleAtoi(line.substr(0, space), &index) ||
        index >= said_.size() || absl::StrContains(line, kDied))
      break;
    said_[index] = line.substr(space + 1);
    ++lines;
  }
  if (lines != oldest.group->size()) status_.Update(Died(*oldest.group, text));
}

absl::Status Injector::Collect(std::vector<std::string>* said) {
  while (!running_.empty()) WaitForOne();
  role_ = Role::kIdle;
  if (status_.ok() && next_ < plan_.groups.size()) {
    status_ = absl::InternalError(absl::StrFormat(
        "the run ended before group %d of %d", next_, plan_.groups.size()));
  }
  *said = std::move(said_);
  return status_;
}

void Injector::Say(const std::string& text) {
  Put(pipe_, text);
  _exit(0);
}

}  // namespace systole::faults
