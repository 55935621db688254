// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A queue of work for a device, executed in order by its own thread.
#ifndef SYSTOLE_HOST_RUNTIME_STREAM_H_
#define SYSTOLE_HOST_RUNTIME_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace systole::runtime {

class Stream {
 public:
  Stream();
  // Finishes the enqueued work, then ends the thread.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Enqueue(std::function<void()> work);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_STREAM_H_
