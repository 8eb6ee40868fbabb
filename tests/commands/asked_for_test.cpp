// ENGINE[@VERSION], --flavor, --require and --device, before anything is decided.
#include "host/commands/asked_for.hpp"

#include <gtest/gtest.h>

namespace enginehost::commands {
namespace {

TEST(AskedFor, IsWhatWasTyped) {
  const auto request = request_of("engine-info", {"pytorch@2.0", "", "cu118", "cuda:0, cpu"});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->engine, "pytorch");
  EXPECT_EQ(request->version, "2.0");
  EXPECT_EQ(request->flavor, "cu118");
  EXPECT_TRUE(request->require);
  EXPECT_EQ(request->device, "cuda:0, cpu");
}

TEST(AskedFor, TheSameFlavorTwiceIsNoContradiction) {
  EXPECT_TRUE(request_of("engine-info", {"pytorch", "cpu", "cpu", ""}));
  EXPECT_FALSE(request_of("engine-info", {"pytorch", "cu118", "cpu", ""}));
}

TEST(AskedFor, ADeviceIsANameAndPerhapsANumber) {
  for (const char* device : {"cpu", "cuda:0", "mps", "cuda:15,cpu", "cuda:0, cpu"})
    EXPECT_TRUE(request_of("engine-info", {"pytorch", "", "", device})) << device;
  for (const char* device :
       {",", "cpu,", "cpu:", ":0", "cpu:x", "cpu:-1", "cpu: 0", "cpu :0", "cuda:0:1", " "}) {
    const auto request = request_of("engine-info", {"pytorch", "", "", device});
    ASSERT_FALSE(request) << device;
    EXPECT_EQ(request.error().code, "EH-P40");
  }
}

TEST(AskedFor, AVersionAndItsEngineBelongTogether) {
  EXPECT_FALSE(request_of("engine-info", {"@1", "", "", ""}));
  EXPECT_FALSE(request_of("engine-info", {"pytorch@", "", "", ""}));
}

}  // namespace
}  // namespace enginehost::commands
