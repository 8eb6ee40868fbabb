// Programs of the machine that tests run on: nginx, openssl, docker-registry. For tests under Wine these are
// the programs of the Linux below it. Wine starts them but neither waits for them nor ends them, so a shell
// does that.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::test {

// A file's name as those programs know it.
std::string host_path(const std::filesystem::path& file);

// The program's path as those programs know it; empty when it is not installed.
std::string host_program(const std::string& name);

bool is_host_root();

// Runs it to its end and returns its output; nothing when it failed or could not be started.
std::optional<std::string> run_host_program(const std::vector<std::string>& command);

// A program that runs until stop(), or until this process ends; its output is appended to `log`.
class HostServer {
 public:
  HostServer();
  ~HostServer();
  HostServer(const HostServer&) = delete;
  HostServer& operator=(const HostServer&) = delete;

  // Throws when it cannot be started.
  void start(const std::vector<std::string>& command, const std::filesystem::path& log);
  bool has_ended();
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::test
