// Before the first test, and before any thread: nothing of the person's own configuration reaches the tests.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>

#include "tests/support/temporary_folder.hpp"

namespace {

class OwnEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name :
         {"ENGINEHOST_REPOSITORIES", "ENGINEHOST_FLAVOR", "ENGINEHOST_DEVICE", "ENGINEHOST_OFFLINE",
          "ENGINEHOST_CONFIG", "ENGINEHOST_FORCE", "ENGINEHOST_PROBE_LAUNCHER", "XDG_STATE_HOME",
          "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
      unsetenv(name);
    setenv("HOME", folder_.path().c_str(), 1);
    setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    setenv("ENGINEHOST_CACHE", (folder_ / "cache" / "default").c_str(), 1);
  }

 private:
  enginehost::test::TemporaryFolder folder_;
};

const testing::Environment* const own_environment = testing::AddGlobalTestEnvironment(new OwnEnvironment);

}  // namespace

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer does not see the lock under which glibc's loader works (elf/dl-close.c), and takes its
// bookkeeping of two threads that close plugins for a race.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:_dl_close_worker\n"; }
#endif
