// An identity of the machine that cannot be read now is not another machine's.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

TEST_F(SettingsTest, WithoutAFreeDescriptorThisMachineIsNoOther) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Environment strained = Environment::of_this_process();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const auto settings = load_settings({}, strained);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, "EH-F24");
  EXPECT_EQ(settings.error().value("file"), "/etc/machine-id");
  EXPECT_FALSE(Environment::of_this_process().machine_failure);
}

}  // namespace
}  // namespace enginehost::settings
