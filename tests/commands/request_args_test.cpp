// ENGINE[@VERSION], --flavor, --require and --device, before anything is decided.
#include "host/commands/arguments.hpp"

#include <gtest/gtest.h>

namespace enginehost::commands {
namespace {

TEST(RequestArgsTest, AreWhatWasTyped) {
  const auto request = request_of("engine-info", {"pytorch@2.0", "", "cu118", "cuda:0, cpu"});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->engine, "pytorch");
  EXPECT_EQ(request->version, "2.0");
  EXPECT_EQ(request->flavor, "cu118");
  EXPECT_EQ(request->flavor_source, "--require");
  EXPECT_TRUE(request->require);
  EXPECT_EQ(request->device, "cuda:0, cpu");
}

TEST(RequestArgsTest, TheSameFlavorTwiceIsNoContradiction) {
  EXPECT_TRUE(request_of("engine-info", {"pytorch", "cpu", "cpu", ""}));
  EXPECT_FALSE(request_of("engine-info", {"pytorch", "cu118", "cpu", ""}));
}

TEST(RequestArgsTest, ADeviceIsANameAndPerhapsANumber) {
  for (const char* device : {"cpu", "cuda:0", "mps", "cuda:15,cpu", "cuda:0, cpu"})
    EXPECT_TRUE(request_of("engine-info", {"pytorch", "", "", device})) << device;
  for (const char* device :
       {",", "cpu,", "cpu:", ":0", "cpu:x", "cpu:-1", "cpu: 0", "cpu :0", "cuda:0:1", " "}) {
    const auto request = request_of("engine-info", {"pytorch", "", "", device});
    ASSERT_FALSE(request) << device;
    EXPECT_EQ(request.error().code, "EH-P40");
  }
}

TEST(RequestArgsTest, AVersionNeedsItsEngine) {
  for (const char* typed : {"@1", "pytorch@", " >=2", " @1", " "})
    EXPECT_FALSE(request_of("engine-info", {typed, "", "", ""})) << typed;
}

TEST(RequestArgsTest, AVersionMayBeAComparison) {
  struct Row {
    const char *typed, *engine, *version;
  };
  for (const auto& [typed, engine, version] : {Row{"onnxruntime>=1.20", "onnxruntime", ">=1.20"},
                                               Row{"onnxruntime >= 1.20, <2", "onnxruntime", ">= 1.20, <2"},
                                               Row{"onnxruntime==1.27.*", "onnxruntime", "==1.27.*"},
                                               Row{"onnxruntime~=1.20.1", "onnxruntime", "~=1.20.1"},
                                               Row{"onnxruntime@!=1.20", "onnxruntime", "!=1.20"},
                                               Row{" onnxruntime @1.20", "onnxruntime", "1.20"}}) {
    const auto request = request_of("engine-info", {typed, "", "", ""});
    ASSERT_TRUE(request) << typed;
    EXPECT_EQ(request->engine, engine);
    EXPECT_EQ(request->version, version);
  }
}

TEST(RequestArgsTest, AMalformedVersionIsReportedWithTheValidForms) {
  for (const char* typed :
       {"onnxruntime@latest", "onnxruntime>=", "onnxruntime=>1.2", "onnxruntime=1.2", "onnxruntime@1.20,<2",
        "onnxruntime[1.20]", "onnxruntime>=1.20 <2", "onnxruntime@==1.2x"}) {
    const auto request = request_of("engine-info", {typed, "", "", ""});
    ASSERT_FALSE(request) << typed;
    EXPECT_EQ(request.error().code, "EH-P40");
    EXPECT_NE(request.error().value(Key::problem).find(typed), std::string::npos) << typed;
    EXPECT_NE(request.error().value(Key::problem).find("==1.20.*"), std::string::npos) << typed;
  }
}

}  // namespace
}  // namespace enginehost::commands
