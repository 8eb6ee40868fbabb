// A control group whose processes survive SIGKILL while it is frozen, like a process that is stuck in a
// driver. Only the first version of control groups has it.
#pragma once
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace enginehost::test {

class Freezer {
 public:
  Freezer() {
    static int number = 0;
    folder_ = "/sys/fs/cgroup/freezer/enginehost-test-" + std::to_string(::getpid()) + "-" +
              std::to_string(++number);
    std::error_code error;
    works_ = std::filesystem::create_directory(folder_, error) &&
             std::filesystem::exists(folder_ / "freezer.state", error);
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;
  // Processes that got a signal end when they are thawed.
  ~Freezer() {
    if (!works_) return;
    std::ofstream(folder_ / "freezer.state") << "THAWED";
    std::error_code error;
    for (int i = 0; i < 500 && !std::filesystem::remove(folder_, error); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  bool works() const { return works_; }
  // A shell line that freezes the shell which runs it.
  std::string line() const {
    return "echo $$ > " + (folder_ / "cgroup.procs").native() + "; echo FROZEN > " +
           (folder_ / "freezer.state").native() + "\n";
  }

 private:
  std::filesystem::path folder_;
  bool works_ = false;
};

}  // namespace enginehost::test
