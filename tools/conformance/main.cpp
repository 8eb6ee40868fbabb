// engine-plugin-check: checks an engine plugin, for the authors of plugins.
//
// The checks run in a child process: a plugin that aborts, hangs or exits is a finding and does not end the
// tool.
#include <enginehost/engine_plugin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "tools/conformance/checks.hpp"
#include "tools/conformance/system.hpp"

namespace {

using namespace engineplugin;

constexpr const char* usage =
    "Usage: engine-plugin-check FILE [OPTIONS]\n"
    "\n"
    "Check an engine plugin against the rules of enginehost/engine_plugin.h.\n"
    "\n"
    "Examples:\n"
    "  engine-plugin-check libengine_toy.so                  run every check\n"
    "  engine-plugin-check libengine_toy.so --model m.toy --format toy\n"
    "                                                        also load and run a model\n"
    "\n"
    "It prints one line for each check: \"ok   name: detail\" or \"FAIL name: detail\".\n"
    "Exit status: 0 all checks passed, 1 a check failed, 2 wrong arguments, 7 the\n"
    "output could not be written.\n"
    "\n"
    "Arguments:\n"
    "  FILE                 the plugin\n"
    "\n"
    "Options:\n"
    "  --options KEY=VALUE  an option for create(); repeatable\n"
    "  --root DIR           the folder of the installed build; without it the folder\n"
    "                       of FILE\n"
    "  --model FILE         a model to load, with --format\n"
    "  --format NAME        the format of the model, as in the capability format.NAME\n"
    "  --timeout N          the limit for one check, in seconds (default 60)\n"
    "  --version            print which plugins it can check\n"
    "  -h, --help           print this help\n"
    "\n"
    "docs: docs/engine-authors.md\n";

struct Arguments {
  Request request;
  int timeout = 60;
};

// Returns what is wrong with the arguments, "" if nothing.
std::string parse(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word.empty() || word[0] != '-') {
      if (word.empty()) return "an empty argument is no file";
      if (!arguments.request.file.empty()) return "a second file: " + word;
      arguments.request.file = word;
      continue;
    }
    const bool known = word == "--options" || word == "--option" || word == "--root" || word == "--model" ||
                       word == "--format" || word == "--timeout";
    if (!known) return "there is no flag " + word;
    if (i + 1 >= count) return word + " needs a value";
    const std::string value = words[++i];
    if (word == "--options" || word == "--option") {
      const auto equals = value.find('=');
      if (equals == std::string::npos || equals == 0) return word + " " + value + " is not KEY=VALUE";
      arguments.request.options.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else if (word == "--root") {
      arguments.request.root = value;
    } else if (word == "--model") {
      arguments.request.model = value;
    } else if (word == "--format") {
      arguments.request.format = value;
    } else {
      arguments.timeout = std::atoi(value.c_str());
      if (arguments.timeout <= 0) return "--timeout " + value + " is no number of seconds above 0";
    }
  }
  if (arguments.request.file.empty()) return "FILE is missing: the plugin";
  if (arguments.request.model.empty() != arguments.request.format.empty())
    return "--model and --format need each other";
  return {};
}

// A full disk or a closed pipe must not look like success.
int written(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return status;
  std::cerr << "engine-plugin-check: the output could not be written\n";
  return status == 0 ? 7 : status;
}

}  // namespace

int engineplugin::check_command(int count, char** words) {
  if (count == 2 && (!std::strcmp(words[1], "--help") || !std::strcmp(words[1], "-h"))) {
    std::cout << usage;
    return written(0);
  }
  if (count == 2 && !std::strcmp(words[1], "--version")) {
    std::cout << "engine-plugin-check " << ENGINE_ABI_MAJOR << "." << ENGINE_ABI_NEWEST_MINOR
              << " (of the plugin ABI)\n";
    return written(0);
  }
  Arguments arguments;
  if (const std::string wrong = parse(count, words, arguments); !wrong.empty()) {
    std::cerr << "engine-plugin-check: " << wrong << "\n\n" << usage;
    return 2;
  }
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path_of(arguments.request.file), error);
  arguments.request.file = path_text(file);
  if (!std::filesystem::is_regular_file(file, error)) {
    std::cerr << "engine-plugin-check: " << arguments.request.file << " is not a file\n";
    return 2;
  }
  if (arguments.request.root.empty()) {
    arguments.request.root = path_text(file.parent_path());
  }
  arguments.request.root = path_text(std::filesystem::absolute(path_of(arguments.request.root), error));

  std::string problem;
  auto [end, check, failures, stdout_bytes] = supervise(
      count, words,
      [&](SharedProgress& progress) {
        Report report(progress);
        if (check_file(report, arguments.request)) check_loaded(report, arguments.request);
        report.begin("process.exit");
        report.finish();
      },
      arguments.timeout, problem);
  if (!problem.empty()) {
    std::cerr << "engine-plugin-check: " << problem << "\n";
    return 2;
  }
  // Destructors and exit handlers may have printed too.
  if (end.empty() || stdout_bytes > 0) {
    std::printf("%s process.stdout: %ld bytes were written to stdout\n", stdout_bytes == 0 ? "ok  " : "FAIL",
                stdout_bytes);
    failures += stdout_bytes == 0 ? 0 : 1;
  }
  if (!end.empty()) {
    std::printf("FAIL %s: %s\n", check.c_str(), end.c_str());
    failures++;
  } else {
    std::printf("ok   process.exit: the process ends as a process should\n");
  }
  std::printf(failures == 0 ? "All checks passed.\n" : "%d failed.\n", failures);
  return written(failures == 0 ? 0 : 1);
}

#ifndef _WIN32
int main(int count, char** words) { return engineplugin::check_command(count, words); }
#endif
