// engine-plugin-check: is this file a good engine plugin? For the authors of plugins.
//
// The checks run in a child process: a plugin that aborts, hangs or exits is a finding, not the end of the
// tool.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>

#include "checks.hpp"

namespace {

using namespace engineplugin;

constexpr const char* usage =
    "engine-plugin-check FILE [--options KEY=VALUE]... [--root DIR] [--model FILE --format NAME] [--timeout "
    "SECONDS]\n"
    "\n"
    "  Checks an engine plugin against the rules of enginehost/engine_plugin.h. One line a check:\n"
    "  \"ok   name: detail\" or \"FAIL name: detail\". Exit status: 0 all ok, 1 something failed, 2 usage.\n"
    "\n"
    "  --options   an option for create(); repeatable\n"
    "  --root      the folder of the installed build (default: the folder of FILE)\n"
    "  --model     a model to load; --format is the tail of its \"format.\" capability\n"
    "  --timeout   for one check, in seconds (default 60)\n";

struct Arguments {
  Request request;
  int timeout = 60;
};

bool parse(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word.empty() || word[0] != '-') {
      if (!arguments.request.file.empty()) return false;
      arguments.request.file = word;
      continue;
    }
    if (i + 1 >= count) return false;
    const std::string value = words[++i];
    if (word == "--options" || word == "--option") {
      const auto equals = value.find('=');
      if (equals == std::string::npos || equals == 0) return false;
      arguments.request.options.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else if (word == "--root") {
      arguments.request.root = value;
    } else if (word == "--model") {
      arguments.request.model = value;
    } else if (word == "--format") {
      arguments.request.format = value;
    } else if (word == "--timeout") {
      arguments.timeout = std::atoi(value.c_str());
      if (arguments.timeout <= 0) return false;
    } else {
      return false;
    }
  }
  return !arguments.request.file.empty() &&
         arguments.request.model.empty() == arguments.request.format.empty();
}

// Standard output becomes an unnamed file, so that what a plugin prints is seen; the report goes to the real
// one.
std::FILE* put_stdout_aside() {
  const int real = dup(STDOUT_FILENO);
  const int aside = memfd_create("stdout", MFD_CLOEXEC);
  if (real < 0 || aside < 0 || dup2(aside, STDOUT_FILENO) < 0) return nullptr;
  close(aside);
  return fdopen(real, "w");
}

[[noreturn]] void run_checks(const Request& request, SharedProgress& progress) {
  std::FILE* stream = put_stdout_aside();
  if (!stream) std::_Exit(3);
  {
    Report report(stream, progress);
    if (check_file(report, request)) check_loaded(report, request);
    report.begin("process.exit");
    report.finish();
  }
  std::fclose(stream);
  std::exit(0);  // not _exit: what the plugin left for the end of the process is part of the check
}

// Waits for the child; each check has `seconds`. Returns how it ended, "" for an exit with 0.
std::string supervise(pid_t child, const SharedProgress& progress, int seconds) {
  int seen = -1;
  int ticks = 0;
  constexpr int ticks_per_second = 50;
  for (;;) {
    int status = 0;
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child && WIFSIGNALED(status)) {
      return std::string("the process was killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
             strsignal(WTERMSIG(status)) + ") in this check";
    }
    if (done == child) {
      const int code = WEXITSTATUS(status);
      if (progress.finished && code == 0) return "";
      return "the process ended itself with status " + std::to_string(code) + " in this check";
    }
    if (progress.begun != seen) {
      seen = progress.begun;
      ticks = 0;
    } else if (++ticks > seconds * ticks_per_second) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "no answer within " + std::to_string(seconds) + " s";
    }
    usleep(1000000 / ticks_per_second);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && (!std::strcmp(words[1], "--help") || !std::strcmp(words[1], "-h"))) {
    std::cout << usage;
    return 0;
  }
  Arguments arguments;
  if (!parse(count, words, arguments)) {
    std::cerr << usage;
    return 2;
  }
  std::error_code error;
  arguments.request.file = std::filesystem::absolute(arguments.request.file, error).string();
  if (!std::filesystem::is_regular_file(arguments.request.file, error)) {
    std::cerr << "engine-plugin-check: " << arguments.request.file << " is not a file\n";
    return 2;
  }
  if (arguments.request.root.empty()) {
    arguments.request.root = std::filesystem::path(arguments.request.file).parent_path().string();
  }
  arguments.request.root = std::filesystem::absolute(arguments.request.root, error).string();

  void* shared =
      mmap(nullptr, sizeof(SharedProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::cerr << "engine-plugin-check: no shared memory\n";
    return 2;
  }
  auto& progress = *new (shared) SharedProgress{};
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) {
    std::cerr << "engine-plugin-check: no child process\n";
    return 2;
  }
  if (child == 0) run_checks(arguments.request, progress);
  const std::string end = supervise(child, progress, arguments.timeout);
  if (!end.empty()) {
    std::printf("FAIL %s: %s\n", progress.check, end.c_str());
    progress.failures++;
  } else {
    std::printf("ok   process.exit: the process ends as a process should\n");
  }
  std::printf(progress.failures == 0 ? "All checks passed.\n" : "%d failed.\n", progress.failures.load());
  return progress.failures == 0 ? 0 : 1;
}
