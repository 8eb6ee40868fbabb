// The surroundings of a golden screen: a user's folder, in which one command is typed.
#pragma once
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::test {

// The screen cannot be made on this machine, and why.
struct Lacking : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Commands get no variable of the calling user, except what a sanitizer reads. Their folder has a path of the
// same length everywhere, because the first screen wraps paths.
class Place {
 public:
  Place();

  const std::filesystem::path& folder() const { return workplace_.folder(); }
  const Workplace& workplace() const { return workplace_; }
  // A web server that serves `served` of the folder. Started by the first call.
  NginxServer& server();
  int port() const { return server_ ? server_->port() : 0; }

  // Runs a command line in the folder. Words are separated by blanks.
  Ended run(const std::string& line) const { return run(line, {}); }
  // As the screen's command: with `options`.
  Ended show(const std::string& line) const { return run(line, options); }
  // Runs a command that the screen needs. Throws if it ends with another status.
  void after(const std::string& line, int status = 0) const;

  RunOptions options;

 private:
  Ended run(const std::string& line, const RunOptions& with) const;

  Workplace workplace_;
  std::unique_ptr<NginxServer> server_;
};

// The bytes with zeros behind them up to the next MiB. The size of what was compiled here is then the same
// on every machine.
std::string to_whole_mebibytes(std::string bytes);

// The unchanged reference plugin as version 1.0.0 for the CPU.
TestBuild sound_build();

}  // namespace enginehost::test
