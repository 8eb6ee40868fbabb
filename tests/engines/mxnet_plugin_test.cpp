// The MXNet adapter without MXNet: its file, its refusals, and which files make a model.
#include <filesystem>

#include "engines/mxnet/files.hpp"
#include "tests/engines/elf_names.hpp"
#include "tests/engines/mxnet_models.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MxnetPlugin : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  Library library{plugin_path("mxnet")};
  std::string root;
};

TEST(MxnetFile, ExportsOneSymbolAndIsLinkedToNoRuntime) {
  ElfNames names = read_elf_names(plugin_path("mxnet"));
  EXPECT_THAT(names.exported, ElementsAre(ENGINE_PLUGIN_SYMBOL));
  for (const std::string& needed : names.needed) EXPECT_THAT(needed, testing::Not(HasSubstr("mxnet")));
}

TEST_F(MxnetPlugin, ReportsItsIdentity) {
  EXPECT_STREQ(library->engine, "mxnet");
  EXPECT_EQ(library->flags & ENGINE_PLUGIN_UNLOADABLE, 0u);
  EXPECT_STREQ(library->capabilities[0], "device.cpu");
  EXPECT_STREQ(library->capabilities[1], "format.mxnet");
  EXPECT_STREQ(library->capabilities[2], "versions.>=1.7,<2");
  EXPECT_EQ(library->capabilities[3], nullptr);
}

TEST_F(MxnetPlugin, NamesTheReasonWhyTheLibraryCannotBeUsed) {
  Engine none(library, root);
  EXPECT_EQ(none.status, ENGINE_CORRUPT);
  EXPECT_EQ(none.call.details["missing_library"], "libmxnet.so");
  mxnet::write(root + "/mxnet/libmxnet.so",
               "this is no library, but long enough to hold an ELF header: ......");
  Engine garbage(library, root);
  EXPECT_EQ(garbage.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(garbage.call.message(), HasSubstr("invalid ELF header"));
  mxnet::write(root + "/a.c", "const char* MXGetLastError(void) { return \"\"; }");
  ASSERT_EQ(std::system(("gcc -shared -fPIC -o '" + root + "/mxnet/libmxnet.so' '" + root + "/a.c'").c_str()),
            0);
  Engine poor(library, root);
  EXPECT_EQ(poor.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(poor.call.details["missing_symbol"], "MXGetVersion");
}

TEST_F(MxnetPlugin, RefusesOptionsItDoesNotKnowAndPathsOutsideTheBuild) {
  Engine unknown(library, root, {{"mxnet.color", "red"}});
  EXPECT_EQ(unknown.status, ENGINE_INVALID);
  EXPECT_EQ(unknown.call.details["option"], "mxnet.color");
  for (const char* outside : {"/usr/lib/libmxnet.so", "../libmxnet.so", "a/../../b", ""}) {
    Engine refused(library, root, {{"mxnet.library", outside}});
    EXPECT_EQ(refused.status, ENGINE_INVALID) << outside;
    EXPECT_EQ(refused.call.details["option"], "mxnet.library");
  }
}

using MxnetFiles = MxnetPlugin;

TEST_F(MxnetFiles, TheLatestEpochOfTheSameNetworkIsTaken) {
  const std::string symbol = root + "/net-symbol.json";
  EXPECT_EQ(engines::mxnet::parameter_file(symbol, nullptr), "");
  for (const char* file :
       {"net-0000.params", "net-0012.params", "net-9999.params", "net-10000.params", "net-0013.params.old",
        "net-large-0099.params", "other-0050.params", "net-12.params", "net-00x3.params"}) {
    mxnet::write(root + "/" + file, "");
  }
  EXPECT_EQ(engines::mxnet::parameter_file(symbol, nullptr), root + "/net-10000.params");
  EXPECT_EQ(engines::mxnet::parameter_file(symbol, "net-0000.params"), root + "/net-0000.params");
  EXPECT_EQ(engines::mxnet::parameter_file(symbol, "/elsewhere/w.params"), "/elsewhere/w.params");
  EXPECT_EQ(engines::mxnet::parameter_file(root + "/net.json", nullptr), "");
}

TEST_F(MxnetFiles, AnUnreadableFileIsNamedAndNoParametersAreAnEmptyList) {
  mxnet::write(root + "/net-symbol.json", "{}");
  Call call, absent;
  const engines::mxnet::Network network =
      engines::mxnet::read_network((root + "/net-symbol.json").c_str(), nullptr, &call);
  EXPECT_EQ(network.symbol, "{}");
  EXPECT_EQ(network.parameters, mxnet::parameters({}));
  EXPECT_THROW(engines::mxnet::read_network((root + "/net-symbol.json").c_str(), "w.params", &absent),
               engines::Failure);
  EXPECT_EQ(absent.details["path"], root + "/w.params");
}

}  // namespace
}  // namespace enginehost::engines::tests
