// Runs before the first test and before any thread, so that the user's own configuration does not reach the
// tests.
#include "tests/sdk/environment.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/paths.hpp"
#include "tests/end-to-end/system.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {
namespace {

std::filesystem::path config_file;

class OwnEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name :
         {"ENGINEHOST_REPOSITORIES", "ENGINEHOST_FLAVOR", "ENGINEHOST_DEVICE", "ENGINEHOST_OFFLINE",
          "ENGINEHOST_CONFIG", "ENGINEHOST_FORCE", "ENGINEHOST_PROBE_LAUNCHER", "XDG_STATE_HOME",
          "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
      remove_variable(name);
    for (const std::string& variable : environment_of_user(folder_.path())) {
      const std::size_t equals = variable.find('=');
      if (equals == std::string::npos)
        remove_variable(variable.c_str());
      else
        set_variable(variable.substr(0, equals).c_str(), variable.substr(equals + 1));
    }
    set_variable("ENGINEHOST_CACHE", path_text(folder_ / "cache" / "default"));
    config_file = config_of_user(folder_.path());
  }

 private:
  TemporaryFolder folder_;
};

const testing::Environment* const own_environment = testing::AddGlobalTestEnvironment(new OwnEnvironment);

}  // namespace

std::filesystem::path config_of_tests() { return config_file; }

}  // namespace enginehost::test

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer does not see the lock of glibc's loader (elf/dl-close.c), and reports its bookkeeping of
// two threads that close plugins as a race.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:_dl_close_worker\n"; }
#endif
