// With unreadable files the machine keeps its identity, and the repository of the SDK is not reported as
// missing.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

class NoDescriptor {
 public:
  NoDescriptor() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none = {0, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  NoDescriptor(const NoDescriptor&) = delete;
  NoDescriptor& operator=(const NoDescriptor&) = delete;
  ~NoDescriptor() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST_F(SettingsTest, WithoutAFreeDescriptorTheSdkRepositoryIsNotMissing) {
  write("prefix/share/enginehost/repository/index.json", "{}");
  const auto settings = [&] {
    const NoDescriptor here;
    return load_settings(flags_, environment_);
  }();
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, "EH-F24");
  EXPECT_EQ(settings.error().value(Key::file), (root_ / "prefix/share/enginehost/repository").native());
  EXPECT_EQ(load().repositories.size(), 1u);
}

TEST_F(SettingsTest, WithoutAFreeDescriptorTheMachineIdStays) {
  const Environment strained = [] {
    const NoDescriptor here;
    return Environment::of_this_process();
  }();
  const auto settings = load_settings({}, strained);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, "EH-F24");
  EXPECT_EQ(settings.error().value(Key::file), "/etc/machine-id");
  EXPECT_FALSE(Environment::of_this_process().machine_failure);
}

}  // namespace
}  // namespace enginehost::settings
