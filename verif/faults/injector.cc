// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/injector.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "verif/tb/core_model.h"
#include "verif/tb/core_module.h"

namespace systole::faults {
namespace {

class InjectedCore : public tb::CoreModel {
 public:
  explicit InjectedCore(std::unique_ptr<tb::CoreModel> core)
      : core_(std::move(core)) {}
  void HardReset() override { core_->HardReset(); }
  void Cycle(tb::Pins* pins) override {
    Injector::Get().BeforeCycle(core_->cycles());
    core_->Cycle(pins);
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
  absl::Status SetProbe(ProbeSink* sink) override {
    return core_->SetProbe(sink);
  }

 private:
  std::unique_ptr<tb::CoreModel> core_;
};

std::unique_ptr<tb::CoreModel> Make(const tb::CoreOptions& options,
                                    tb::MemoryModel* memory) {
  return std::make_unique<InjectedCore>(
      tb::FindCore("state", options.preset, false)(options, memory));
}

[[maybe_unused]] const bool registered =
    tb::RegisterCore("faults", "nano", false, Make) &&
    tb::RegisterCore("faults", "minichip", false, Make);

}  // namespace

Injector& Injector::Get() {
  static auto& injector = *new Injector;
  return injector;
}

void Injector::Arm(std::vector<Injection> plan, int jobs, unsigned seconds) {
  plan_ = std::move(plan);
  said_.assign(plan_.size(), "");
  next_ = 0;
  jobs_ = static_cast<size_t>(jobs);
  seconds_ = seconds;
  status_ = absl::OkStatus();
  begun_ = false;
  armed_ = true;
}

void Injector::Step(uint64_t cycle) {
  if (!std::exchange(begun_, true)) zero_ = cycle;
  while (next_ < plan_.size() && plan_[next_].cycle + zero_ <= cycle) {
    while (running_.size() >= jobs_) WaitForOne();
    int ends[2];
    if (pipe(ends) != 0) {
      status_.Update(absl::ErrnoToStatus(errno, "no pipe for a copy"));
      armed_ = false;
      return;
    }
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (const Running& other : running_) close(other.pipe);
      close(ends[0]);
      pipe_ = ends[1];
      copy_ = static_cast<long>(next_);
      armed_ = false;
      alarm(seconds_);
      plan_[next_].turn();
      return;
    }
    const int error = errno;
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
      status_.Update(absl::ErrnoToStatus(error, "no copy of the process"));
      armed_ = false;
      return;
    }
    running_.push_back({pid, next_++, ends[0]});
  }
}

// The oldest; the others' words wait in their pipes.
void Injector::WaitForOne() {
  const Running oldest = running_.front();
  running_.erase(running_.begin());
  char buffer[512];
  ssize_t got;
  std::string& text = said_[oldest.index];
  while ((got = read(oldest.pipe, buffer, sizeof(buffer))) != 0) {
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  close(oldest.pipe);
  int status = 0;
  while (waitpid(oldest.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    text = "timeout";
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || text.empty()) {
    status_.Update(absl::InternalError(absl::StrFormat(
        "copy %d of the process died, status 0x%x", oldest.index, status)));
  }
}

absl::Status Injector::Collect(std::vector<std::string>* said) {
  while (!running_.empty()) WaitForOne();
  armed_ = false;
  if (status_.ok() && next_ < plan_.size()) {
    status_ = absl::InternalError(
        absl::StrFormat("the run ended before cycle %d, of bit %d of %d",
                        plan_[next_].cycle, next_, plan_.size()));
  }
  *said = std::move(said_);
  return status_;
}

void Injector::Say(const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = write(pipe_, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) _exit(1);
    done += static_cast<size_t>(put);
  }
  _exit(0);
}

}  // namespace systole::faults
