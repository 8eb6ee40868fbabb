// A false alarm is worse than a missing warning: preflight refuses no library that this machine's loader
// opens.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/preflight/helpers.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

namespace fs = std::filesystem;

// In a child, because constructors of other people's libraries run.
bool opens(const fs::path& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    if (std::freopen("/dev/null", "w", stderr) == nullptr ||
        std::freopen("/dev/null", "w", stdout) == nullptr)
      ::_exit(3);
    ::_exit(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<fs::path> libraries_below(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error) && at->path().filename().native().find(".so") != std::string::npos)
      found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(FalseAlarms, NoLibraryOfTheSystemThatOpensIsRefused) {
  const std::vector<fs::path> all = libraries_below(std::string("/usr/lib/") + test::multiarch);
  if (all.empty()) GTEST_SKIP() << "this system keeps its libraries elsewhere";
  constexpr std::size_t most = 250;
  const std::size_t step = std::max<std::size_t>(1, all.size() / most);
  const platform::Platform platform;
  std::size_t opened = 0, refused = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    Spec spec = alone(all[i]);
    spec.platform = &platform;
    const Report report = check(spec);
    if (report.verdict != Verdict::fails) continue;
    ++refused;
    EXPECT_FALSE(opens(all[i])) << all[i] << ": " << explain::describe(report.diagnoses.front());
  }
  for (std::size_t i = 0; i < all.size(); i += step) opened += opens(all[i]) ? 1u : 0u;
  std::printf("%zu libraries: %zu open, %zu were refused\n", (all.size() + step - 1) / step, opened, refused);
  EXPECT_GT(opened, (all.size() / step) / 2);
}

TEST(FalseAlarms, NoEngineOfThisBuildIsRefusedOrWarnedOf) {
  std::size_t engines = 0;
  for (const fs::path& plugin : libraries_below(fs::path(test::build_path()) / "engines")) {
    Spec spec = alone(plugin);
    spec.view = plugin.parent_path();
    spec.plugin_header = true;
    const Report report = check(spec);
    EXPECT_EQ(report.verdict, Verdict::loads) << plugin;
    EXPECT_TRUE(report.warnings.empty()) << plugin << ": " << explain::describe(report.warnings.front());
    ++engines;
  }
  if (engines == 0) GTEST_SKIP() << "no engine has been built yet";
}

}  // namespace
}  // namespace enginehost::preflight
