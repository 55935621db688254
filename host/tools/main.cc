// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// systole: compiles networks, runs them on the RTL or the simulator, trains,
// measures.
// Exit codes: 0 all well; 1 a command failed (the reason is on stderr); 2 wrong
// arguments; 130, 143 stopped by SIGINT, SIGTERM.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

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
  std::fprintf(stderr, "systole: standard output: cannot be written%s%s\n",
               errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
  return code == 0 ? 1 : code;
}

}  // namespace

int main(int argc, char** argv) {
  systole::tools::SetCommandLine(argc, argv);
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // help
      std::ostringstream text;
      const int code = app.exit(e, text, text);
      std::fputs(text.str().c_str(), stdout);
      return ExitCode(code);
    }
    std::fputs(systole::tools::AnswerTo(app, e, argc, argv).c_str(), stderr);
    return 2;
  }
  const absl::Status status = action();
  if (status.ok()) return ExitCode(0);
  std::fflush(stdout);
  std::fprintf(stderr, "systole: %s\n", std::string(status.message()).c_str());
  const int interrupted = systole::tools::InterruptExitCode();
  return absl::IsCancelled(status) && interrupted != 0 ? interrupted : 1;
}
