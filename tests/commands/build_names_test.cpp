// Short names of builds, licenses and keys.
#include "host/commands/arguments.hpp"

#include <gmock/gmock.h>

namespace enginehost::commands {
namespace {

using testing::HasSubstr;

const std::vector<KnownBuild> known = {
    {"mxnet-1.9.1-cpu-linux-x86_64", "mxnet", "1.9.1", "cpu"},
    {"onnxruntime-1.24.4-cpu-linux-x86_64", "onnxruntime", "1.24.4", "cpu"},
    {"onnxruntime-1.27.0-cpu-linux-x86_64", "onnxruntime", "1.27.0", "cpu"},
    {"onnxruntime-1.27.0-cu128-linux-x86_64", "onnxruntime", "1.27.0", "cu128"},
    {"torch", "torch", "2.0.1", "cpu"},
    {"torchvision-0.15-cpu", "torchvision", "0.15", "cpu"},
    {"own-name", "toy", "3", "cpu"},
    {"unknown-engine", {}, {}, {}},
};

std::string named(const std::string& given) {
  const auto id = build_named(given, known);
  return id ? *id : std::string(id.error().code_text());
}

TEST(BuildNames, AcceptAWholeId) {
  EXPECT_EQ(named("own-name"), "own-name");
  EXPECT_EQ(named("torch"), "torch") << "although another id begins with it";
}

TEST(BuildNames, AcceptAUniqueBeginning) {
  EXPECT_EQ(named("mx"), "mxnet-1.9.1-cpu-linux-x86_64");
  EXPECT_EQ(named("onnxruntime-1.24"), "onnxruntime-1.24.4-cpu-linux-x86_64");
  EXPECT_EQ(named("unknown"), "unknown-engine");
}

TEST(BuildNames, AcceptAnEngineWithOneBuild) {
  EXPECT_EQ(named("mxnet"), "mxnet-1.9.1-cpu-linux-x86_64");
  EXPECT_EQ(named("toy"), "own-name");
}

TEST(BuildNames, AcceptAVersionAndAFlavor) {
  EXPECT_EQ(named("onnxruntime@1.24"), "onnxruntime-1.24.4-cpu-linux-x86_64");
  EXPECT_EQ(named("onnxruntime@<1.25"), "onnxruntime-1.24.4-cpu-linux-x86_64");
  EXPECT_EQ(named("onnxruntime-1.27.0-cu128"), "onnxruntime-1.27.0-cu128-linux-x86_64");
  EXPECT_EQ(named("toy-3"), "own-name");
  EXPECT_EQ(named("toy-3-cpu"), "own-name");
}

TEST(BuildNames, ListTheMatchesIfThereAreSeveral) {
  for (const char* given : {"onnxruntime", "onnxruntime@1.27", "onnxruntime-1.27.0", "onn"}) {
    const auto id = build_named(given, known);
    ASSERT_FALSE(id) << given;
    EXPECT_EQ(id.error().code, "EH-P40");
    EXPECT_THAT(std::string(id.error().value(Key::problem)),
                HasSubstr("onnxruntime-1.27.0-cpu-linux-x86_64, onnxruntime-1.27.0-cu128-linux-x86_64"));
  }
}

const std::vector<KnownBuild> of_two_engines = {
    {"good-1.0", "good", "1.0", "cpu"},
    {"toy+good-1.0", "toy", "1.0", "cpu", "good-1.0"},
    {"evil+toy+good-1.0", "evil", "1.0", "cpu", "toy+good-1.0"},
};

TEST(BuildNames, AskForTheEngineWhereTwoHaveTheId) {
  const auto name = build_named("good-1.0", of_two_engines);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, "EH-P40");
  EXPECT_THAT(std::string(name.error().value(Key::problem)),
              HasSubstr("the engine is needed, too: good+good-1.0, toy+good-1.0"));
}

TEST(BuildNames, AcceptTheEngineWithTheId) {
  const auto meant = [](const std::string& given) { return *build_named(given, of_two_engines); };
  EXPECT_EQ(meant("good+good-1.0"), "good-1.0");
  EXPECT_EQ(meant("toy+good-1.0"), "toy+good-1.0") << "although it is the id of a third build";
  EXPECT_EQ(meant("evil+toy+good-1.0"), "evil+toy+good-1.0");
  EXPECT_EQ(meant("toy"), "toy+good-1.0");
  EXPECT_EQ(meant("other+good-1.0"), "other+good-1.0");
  EXPECT_EQ(named("mxnet+mxnet-1.9.1-cpu-linux-x86_64"), "mxnet-1.9.1-cpu-linux-x86_64");
}

TEST(BuildNames, LeaveOtherNamesAlone) {
  for (const char* given : {"", "jax", "mxnet@2", "mxnet@", "mxnet@latest", "net"})
    EXPECT_EQ(named(given), given);
}

TEST(Ids, AcceptAUniqueBeginning) {
  const std::vector<std::string> ids = {"LicenseRef-cuda", "LicenseRef-cudnn", "MIT", "MIT-0"};
  EXPECT_EQ(*id_beginning_with("LicenseRef-cudn", ids, "licenses"), "LicenseRef-cudnn");
  EXPECT_EQ(*id_beginning_with("MIT", ids, "licenses"), "MIT");
  EXPECT_EQ(*id_beginning_with("BSD", ids, "licenses"), "BSD");
  EXPECT_EQ(*id_beginning_with("", ids, "licenses"), "");
  const auto several = id_beginning_with("LicenseRef", ids, "licenses");
  ASSERT_FALSE(several);
  EXPECT_THAT(
      std::string(several.error().value(Key::problem)),
      HasSubstr("matches 2 licenses, so more of the id is needed: LicenseRef-cuda, LicenseRef-cudnn"));
}

}  // namespace
}  // namespace enginehost::commands
