// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// systole: compiles networks, runs them on the RTL or the simulator, trains,
// measures.
// Exit codes: 0 all well; 1 a command failed (the reason is on stderr); 2 wrong
// arguments; 129, 130, 141, 143 stopped by SIGHUP, SIGINT, SIGPIPE, SIGTERM.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/capi/processor.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/files/refusals.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/options.h"
#include "host/tools/waves.h"

namespace {

// What was printed has arrived: a full disk loses the end of it otherwise, and
// nobody is told.
int ExitCode(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // Who read it has gone, as `head` does, and wants no more.
  if (errno == EPIPE || systole::tools::InterruptExitCode() == 128 + SIGPIPE)
    return 128 + SIGPIPE;
  std::fprintf(stderr, "systole: standard output: cannot be written%s%s\n",
               errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
  return code == 0 ? 1 : code;
}

// Lines that are longer than anyone reads end in "...".
std::string Shortened(const std::string& text) {
  constexpr size_t kMost = 4000;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += end - at <= kMost ? text.substr(at, end - at)
                             : text.substr(at, kMost) + "...";
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

// A file's name may be any bytes, and messages repeat it: escapes line breaks
// of words of the command line ("NAME=FILE": of the file too), then all else
// that is not printable. Other line breaks are the message's own.
std::string ForTerminal(std::string text, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* const equals = std::strchr(argv[i], '=');
    for (const char* const word : {static_cast<const char*>(argv[i]),
                                   equals == nullptr ? "" : equals + 1}) {
      if (std::strchr(word, '\n') != nullptr)
        text = absl::StrReplaceAll(text, {{word, systole::Printable(word)}});
    }
  }
  return Shortened(systole::PrintableLines(text));
}

// What was thrown where no status could say it: mostly memory that ran out.
const char* Describe(const std::exception_ptr& thrown) {
  static char text[256];  // without memory of its own
  try {
    if (thrown) std::rethrow_exception(thrown);
    return "internal error: terminated";
  } catch (const std::bad_alloc&) {
    return "out of memory: a smaller model, a smaller batch or more memory is "
           "needed";
  } catch (const std::length_error&) {
    return "out of memory: something is larger than any memory";
  } catch (const std::exception& e) {
    std::snprintf(text, sizeof text, "internal error: %s", e.what());
    return text;
  } catch (...) {
    return "internal error";
  }
}

// In a thread, or on the way out of a function that must not throw: nothing
// can be unwound.
[[noreturn]] void OnTerminate() {
  const char* const why = Describe(std::current_exception());
  for (const char* part : {"systole: ", why, "\n"}) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  _exit(1);
}

// Before the libraries initialise themselves, which takes memory too.
void SetOnTerminate() { std::set_terminate(OnTerminate); }
__attribute__((section(".preinit_array"),
               used)) void (*const kFirst)() = SetOnTerminate;

// A file must not get the number of a standard stream that was closed: what is
// printed would go into it. Reads and writes of the stream fail as they would.
void HoldStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(1);
  }
}

int Run(int argc, char** argv) {
  systole::tools::SetCommandLine(argc, argv);
  systole::KeepPipes();
  CLI::App app(
      "Systole: an open TPU. Compiles int8 networks, trains in bf16, and runs "
      "both on the simulated core.",
      "systole");
  app.set_version_flag("--version", "systole " SYSTOLE_TOOL_VERSION);
  app.require_subcommand(1);
  systole::tools::Action action;
  systole::tools::AddRunCommand(app, action);
  systole::tools::AddProfileCommand(app, action);
  systole::tools::AddBenchCommand(app, action);
  systole::tools::AddTrainCommand(app, action);
  systole::tools::AddCompileCommand(app, action);
  systole::tools::AddAsmCommands(app, action);
  systole::tools::AddInfoCommand(app, action);
  systole::tools::AddBoardCommand(app, action);
  systole::tools::AddLinksCommand(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // help
      std::ostringstream text;
      const int code = app.exit(e, text, text);
      std::fputs(text.str().c_str(), stdout);
      return ExitCode(code);
    }
    const std::string answer = systole::tools::AnswerTo(app, e, argc, argv);
    std::fputs(ForTerminal(answer, argc, argv).c_str(), stderr);
    return 2;
  }
  const absl::Status status = action();
  if (status.ok()) return ExitCode(0);
  std::fflush(stdout);
  std::string message(status.message());
  if (absl::IsUnimplemented(status) && !systole::tools::Verbose())
    message = systole::WithoutList(message);
  std::fprintf(stderr, "systole: %s\n",
               ForTerminal(message, argc, argv).c_str());
  const int interrupted = systole::tools::InterruptExitCode();
  return absl::IsCancelled(status) && interrupted != 0 ? interrupted : 1;
}

}  // namespace

int main(int argc, char** argv) {
  HoldStandardStreams();
  signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit fails, as others do
  if (const char* reason = systole_processor_lacks()) {
    std::fprintf(stderr, "systole: %s\n", reason);
    return 1;
  }
  std::exception_ptr thrown;
  try {
    return Run(argc, argv);
  } catch (...) {
    thrown = std::current_exception();
  }
  std::fflush(stdout);
  std::fprintf(stderr, "systole: %s\n", Describe(thrown));
  return 1;
}
