#include "tests/end-to-end/workplace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/paths.hpp"
#include "tests/end-to-end/system.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

// Variables of a user's environment that these tests must not see.
const std::vector<std::string> unset = {"ENGINEHOST_REPOSITORIES",
                                        "ENGINEHOST_FLAVOR",
                                        "ENGINEHOST_DEVICE",
                                        "ENGINEHOST_OFFLINE",
                                        "ENGINEHOST_LOG",
                                        "ENGINEHOST_CONFIG",
                                        "ENGINEHOST_FORCE",
                                        "ENGINEHOST_PROBE_LAUNCHER",
                                        "LD_LIBRARY_PATH",
                                        "LD_PRELOAD",
                                        "http_proxy",
                                        "https_proxy",
                                        "all_proxy",
                                        "HTTP_PROXY",
                                        "HTTPS_PROXY",
                                        "ALL_PROXY",
                                        "NO_COLOR",
                                        "CUDA_VISIBLE_DEVICES"};

}  // namespace

const Json& Ended::candidate(std::string_view build) const {
  static const Json none;
  for (const Json& candidate : document["candidates"].as_array())
    if (candidate["build"].as_string() == build) return candidate;
  return none;
}

Workplace::Workplace(std::string_view below)
    : user_(below.empty() ? folder_.path() : folder_.path() / path_of(below)) {
  std::filesystem::create_directories(folder() / "home");
  configure(Json::object().set("repositories_default", false));
}

void Workplace::configure(const Json& configuration) const {
  write_text(config_of_user(folder()), configuration.dump(2));
}

ChildRequest Workplace::request(const std::string& command, std::vector<std::string> arguments,
                                const RunOptions& options) const {
  ChildRequest request;
  request.argv = options.launcher;
  request.argv.push_back(build_path("/bin/") + command + program_ending);
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.environment = unset;
  for (std::string& variable : environment_of_user(folder()))
    request.environment.push_back(std::move(variable));
  request.environment.insert(request.environment.end(),
                             {"ENGINEHOST_CACHE=" + path_text(cache()), "LC_ALL=C"});
  request.environment.insert(request.environment.end(), options.environment.begin(),
                             options.environment.end());
  request.input = options.input;
  request.deadline = options.deadline;
  request.keep_bytes = std::size_t{8} << 20;
  return request;
}

Ended Workplace::run(const std::string& command, std::vector<std::string> arguments,
                     const RunOptions& options) const {
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  Ended run;
  const auto child = run_child(request(command, std::move(arguments), options));
  if (!child) {
    ADD_FAILURE() << command << " could not be started: " << child.error().value(Key::os_said);
    return run;
  }
  run.timed_out = child->timed_out;
  run.status = child->signal != 0 ? 128 + child->signal : child->exit_code;
  run.output = child->output;
  run.error = child->error;
  run.duration = child->duration;
  if (!json || (options.may_crash && (child->signal != 0 || child->output.empty()))) return run;
  // Exactly one document, whatever the status.
  auto document = parse_json(run.output, "stdout");
  if (document)
    run.document = std::move(*document);
  else
    ADD_FAILURE() << command << " --json printed no single document: " << run.said();
  return run;
}

std::string evidence(const Json& diagnosis, std::string_view what) {
  for (const Json& fact : diagnosis["evidence"].as_array())
    if (fact["what"].as_string() == what) return fact["value"].as_string();
  return {};
}

std::string evidence_list(const Json& diagnosis, std::string_view what) {
  std::string list;
  for (const Json& fact : diagnosis["evidence"].as_array())
    if (fact["what"].as_string() == what) list += fact["value"].as_string() + "\n";
  return list;
}

bool can_mount() {
  static const bool can = [] {
    ChildRequest request;
    request.argv = {"unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"};
    const auto child = run_child(request);
    return child && child->succeeded();
  }();
  return can;
}

std::vector<std::string> with_read_only(const std::filesystem::path& folder) {
  return {"unshare",
          "--mount",
          "sh",
          "-c",
          R"(mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@")",
          "sh",
          path_text(folder)};
}

std::vector<std::string> with_system_file(const Workplace& workplace, const Json& configuration) {
  const std::filesystem::path etc = workplace.folder() / "etc";
  if (!std::filesystem::exists(etc)) {
    ChildRequest copy;
    copy.argv = {"cp", "-a", "/etc", path_text(etc)};
    const auto copied = run_child(copy);
    EXPECT_TRUE(copied && copied->succeeded());
  }
  write_text(etc / "enginehost" / "config.json", configuration.dump(2));
  return {"unshare", "-m",          "sh", "-c", R"(mount --bind "$1" /etc && shift && exec "$@")",
          "sh",      path_text(etc)};
}

std::vector<std::string> on_a_terminal() {
  return {"python3", "-c",
          "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"};
}

std::vector<std::string> with_tmpfs(const std::filesystem::path& folder, const std::string& options) {
  return {"unshare",
          "-m",
          "sh",
          "-c",
          R"(mount -t tmpfs -o "mode=0755,$1" none "$2" && shift 2 && exec "$@")",
          "sh",
          options,
          path_text(folder)};
}

}  // namespace enginehost::test
