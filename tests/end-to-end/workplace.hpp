// The real commands, each run with its own home, cache and configuration.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/json.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

// The outcome of one command. The document is null unless --json was among its arguments.
struct Ended {
  int status = -1;  // 128 + signal when a signal ended it
  bool timed_out = false;
  std::string output, error;
  Json document;
  std::chrono::milliseconds duration{0};

  const Json& outcome() const { return document["outcome"]; }
  const Json& diagnosis() const { return document["diagnosis"]; }
  std::string code() const { return diagnosis()["code"].as_string(); }
  // The candidate with that build id, or a null value.
  const Json& candidate(std::string_view build) const;
  // Both streams, for the message of a failed expectation.
  std::string said() const { return "status " + std::to_string(status) + "\n" + output + error; }
};

struct RunOptions {
  std::vector<std::string> environment;  // added to the workplace's
  std::vector<std::string> launcher;     // stands before the command
  std::string input;
  std::chrono::milliseconds deadline{120'000};
  // Allows a command without a document that a signal, or the code that it loaded, ended.
  bool may_crash = false;
};

// HOME, XDG folders and the cache below one temporary folder. The system file is the only configuration of
// the machine that is seen. Runs may be started from several threads.
class Workplace {
 public:
  // If `below` is named, the user's folders lie below a folder of that name.
  explicit Workplace(std::string_view below = {});

  const std::filesystem::path& folder() const { return user_; }
  std::filesystem::path cache() const { return folder() / "cache"; }
  // Replaces the user's configuration file. Initially that file turns the build's own repository off.
  void configure(const Json& configuration) const;

  // "engine-info", "engine-run" or "engine-cache" with those arguments.
  Ended run(const std::string& command, std::vector<std::string> arguments,
            const RunOptions& options = {}) const;
  Ended info(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    return run("engine-info", std::move(arguments), options);
  }

  ChildRequest request(const std::string& command, std::vector<std::string> arguments,
                       const RunOptions& options = {}) const;

 private:
  TemporaryFolder folder_;
  std::filesystem::path user_;
};

// The value of the first evidence of that kind, or "".
std::string evidence(const Json& diagnosis, std::string_view what);
// All values, joined with "\n".
std::string evidence_list(const Json& diagnosis, std::string_view what);

// Whether this process may mount (root with the capability); tried once.
bool can_mount();
// A launcher under which the folder is on a read-only mount, in its own mount namespace. Requires
// can_mount().
std::vector<std::string> with_read_only(const std::filesystem::path& folder);
// A launcher that mounts a tmpfs with these options on the folder and runs the command in that mount
// namespace.
std::vector<std::string> with_tmpfs(const std::filesystem::path& folder, const std::string& options);

// A launcher that runs the command in a mount namespace where /etc/enginehost/config.json is that document.
// Its copy of /etc is made below the workplace.
std::vector<std::string> with_system_file(const Workplace& workplace, const Json& configuration);
// A launcher that gives the command a terminal. The output holds both streams, and the input is typed.
std::vector<std::string> on_a_terminal();

}  // namespace enginehost::test
