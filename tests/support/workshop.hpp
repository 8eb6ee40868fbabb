// Makes real files to read: small libraries from the machine's compilers, and invalid files.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::test {

// A temporary folder and files in it. A test that needs a missing tool is skipped.
class Workshop : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::filesystem::path> made =
        make_private_folder(std::filesystem::temp_directory_path(), "enginehost-test-");
    ASSERT_TRUE(made.has_value());
    folder_ = *made;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::filesystem::path& folder() const { return folder_; }

  std::filesystem::path write(const std::filesystem::path& name, const std::string& bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  static std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Runs a command that must succeed and returns its output.
  static std::string run(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment = {}) {
    ChildRequest request;
    request.argv = command;
    request.environment = environment;
    request.keep_bytes = 256u << 20;
    request.deadline = std::chrono::minutes(4);
    Result<ChildOutcome> outcome = run_child(request);
    if (!outcome || outcome->exit_code != 0) {
      std::string line;
      for (const std::string& word : command) line += word + " ";
      ADD_FAILURE() << line << "\n" << (outcome ? outcome->error : std::string("cannot be started"));
      return {};
    }
    return outcome->output;
  }

  static bool has_tool(const std::string& name) {
    ChildRequest request;
    request.argv = {name, "--version"};
    Result<ChildOutcome> outcome = run_child(request);
    return outcome.has_value() && outcome->exit_code != 127;
  }

  // Compiles C source into a shared library named `name` (a path below the folder). `command` begins with the
  // compiler.
  std::filesystem::path library(const std::filesystem::path& name, const std::string& source,
                                const std::vector<std::string>& flags = {},
                                const std::vector<std::string>& compiler = {"gcc"}) const {
    const std::filesystem::path to = folder_ / name;
    std::filesystem::create_directories(to.parent_path());
    const std::filesystem::path from = write("source-of-" + path_text(name.filename()) + ".c", source);
    std::vector<std::string> command = compiler;
    command.insert(command.end(), {"-shared", "-fPIC", "-o", path_text(to), path_text(from)});
    command.insert(command.end(), flags.begin(), flags.end());
    run(command);
    std::filesystem::remove(from);
    return to;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace enginehost::test
