// Runs the symbol pass over libraries that were published for macOS, and compares it with LLVM's nm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/child_process.hpp"
#include "base/text.hpp"
#include "host/linker/dyld.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::linker {
namespace {

std::string said(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.keep_bytes = 256u << 20;
  request.deadline = std::chrono::minutes(5);
  const auto ended = run_child(request);
  return ended && ended->succeeded() ? ended->output : std::string();
}

struct Wheel {
  const char *project, *version, *platform;
  std::size_t bindings;  // between libraries of the wheel, at least
};

class MacosWheels : public testing::TestWithParam<Wheel> {
 protected:
  void SetUp() override {
    const Wheel& wheel = GetParam();
    folder_ =
        said({"python3", test::source_path("/tests/engines/fetch_wheel.py"), "--platform", wheel.platform,
              test::build_path("/downloads"), wheel.project, wheel.version, "*.so", "*.dylib"});
    folder_ = folder_.substr(0, folder_.find('\n'));
    if (!std::filesystem::is_directory(folder_)) GTEST_SKIP() << "skipped: pip cannot get " << wheel.project;
    if (said({"llvm-nm-14", "--version"}).empty()) GTEST_SKIP() << "llvm-nm-14 is not installed";
  }

  // The output of nm: "(undefined) external _dgemm_ (from libscipy_openblas64_)" and the like.
  void ask_nm(const std::string& file) {
    const std::string leaf = file.substr(file.rfind('/') + 1);
    for (const std::string& line : split(said({"llvm-nm-14", "-m", "--arch=arm64", file}), '\n')) {
      const std::size_t from = line.find(" (from ");
      const std::size_t end = from == std::string::npos ? line.size() : from;
      const std::string name = line.substr(line.rfind(' ', end - 1) + 1, end - line.rfind(' ', end - 1) - 1);
      if (line.find("(undefined") != std::string::npos && from != std::string::npos)
        wanted_[leaf].emplace(name, line.substr(from + 7, line.find(')', from) - from - 7));
      else if (line.find(") external") != std::string::npos ||
               line.find(") weak external") != std::string::npos)
        offered_[leaf.substr(0, leaf.find('.'))].insert(name);
    }
  }

  std::string folder_;
  std::map<std::string, std::set<std::pair<std::string, std::string>>> wanted_;  // file -> name, library
  std::map<std::string, std::set<std::string>> offered_;                         // library -> names
};

TEST_P(MacosWheels, NothingIsMissingWhereNmFindsEveryName) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
    if (entry.is_regular_file() &&
        (entry.path().extension() == ".so" || entry.path().extension() == ".dylib"))
      files.push_back(entry.path().native());
  for (const std::string& file : files) ask_nm(file);
  std::size_t bindings = 0;
  for (const auto& [file, names] : wanted_)
    for (const auto& [name, library] : names)
      if (const auto provider = offered_.find(library); provider != offered_.end()) {
        ++bindings;
        EXPECT_EQ(provider->second.count(name), 1u) << file << " wants " << name << " of " << library;
      }
  AppleMachine machine;
  Reader reader({}, "aarch64");
  for (const std::string& file : files)
    for (const Diagnosis& missing : missing_macos_symbols(machine, close_macos(machine, {file, {}}, reader)))
      ADD_FAILURE() << missing.value(Key::required_by) << ": " << missing.value(Key::symbol) << " of "
                    << missing.value(Key::expected_in);
  EXPECT_GE(bindings, GetParam().bindings);
  std::printf("%zu files, %zu bindings between them\n", files.size(), bindings);
}

INSTANTIATE_TEST_SUITE_P(Published, MacosWheels,
                         testing::Values(Wheel{"numpy", "2.2.6", "macosx_11_0_arm64", 100},
                                         Wheel{"pillow", "11.1.0", "macosx_11_0_arm64", 100}),
                         [](const testing::TestParamInfo<Wheel>& wheel) {
                           return std::string(wheel.param.project);
                         });

}  // namespace
}  // namespace enginehost::linker
