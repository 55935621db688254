// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/follower.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace systole::tb {
namespace {

// A simulated chip starts a turn every 1 to 20 microseconds.
constexpr int kSpins = 3000, kYields = 2000;

}  // namespace

struct Follower::Thread {
  explicit Thread(const std::function<void()>* does) : work(does) {
    thread = std::thread([this] { Loop(); });
  }
  void Ask(bool to_stop) {
    stop = to_stop;
    ++asked;
    if (!asleep) return;
    const std::lock_guard<std::mutex> lock(mutex);
    awake.notify_one();
  }
  void AwaitDone() const {
    const unsigned turn = asked.load(std::memory_order_relaxed);
    for (int i = 0; done.load(std::memory_order_acquire) != turn; ++i)
      if (i > kSpins) std::this_thread::yield();
  }
  void Loop() {
    for (unsigned turn = 1;; ++turn) {
      for (int i = 0; asked.load(std::memory_order_acquire) != turn; ++i) {
        if (i > kSpins) std::this_thread::yield();
        if (i > kSpins + kYields) Sleep(turn);
      }
      if (stop) return;
      (*work)();
      done.store(turn, std::memory_order_release);
    }
  }
  // Sleep sets `asleep` before it reads `asked`; Ask does the opposite. So at
  // least one of them sees the other's change.
  void Sleep(unsigned turn) {
    std::unique_lock<std::mutex> lock(mutex);
    asleep = true;
    awake.wait(lock, [&] { return asked == turn; });
    asleep = false;
  }

  const std::function<void()>* work;
  std::atomic<unsigned> asked{0}, done{0};
  std::atomic<bool> stop{false}, asleep{false};
  std::mutex mutex;
  std::condition_variable awake;
  std::thread thread;
};

Follower::Follower(std::function<void()> work) : work_(std::move(work)) {}

Follower::~Follower() {
  if (thread_ == nullptr) return;
  if (process_ != ::getpid()) {
    thread_.release();  // fork did not copy the thread
    return;
  }
  thread_->Ask(true);
  thread_->thread.join();
}

void Follower::Start() {
  if (process_ != ::getpid()) {
    process_ = ::getpid();
    thread_.release();
    thread_ = std::make_unique<Thread>(&work_);
  }
  thread_->Ask(false);
}

void Follower::Join() { thread_->AwaitDone(); }

}  // namespace systole::tb
