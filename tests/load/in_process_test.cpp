#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/load/in_process/load.hpp"
#include "host/load/in_process/process_state_guard.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;

TEST(LoadPlugin, GivesTheDescriptorAndWhereItCameFrom) {
  faults::Workshop workshop;
  const auto plugin = workshop.plugin("libengine_x.so");
  auto loaded = load_plugin({plugin, workshop.folder(), {}, {}});
  ASSERT_TRUE(loaded) << loaded.error().value(Key::os_said);
  EXPECT_STREQ((*loaded)->plugin().engine, "fixture");
  EXPECT_EQ((*loaded)->file(), plugin);
  ASSERT_FALSE((*loaded)->libraries().empty());
  EXPECT_EQ((*loaded)->libraries().front().path, plugin.native());
  EXPECT_EQ((*loaded)->libraries().front().origin, "cache");
}

TEST(LoadPlugin, PreloadsServeANeedThatHasNoRunpath) {
  faults::Workshop workshop;
  const auto part =
      workshop.library("lib/libneed_a.so", "int need_a(void){return 1;}", "-Wl,-soname,libneed_a.so");
  const auto plugin = workshop.plugin(
      "libengine_x.so", "-Wl,--no-as-needed -L" + faults::quoted(part.parent_path()) + " -l:libneed_a.so");
  auto without = load_plugin({plugin, workshop.folder(), {}, {}});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, "EH-L01");
  EXPECT_EQ(without.error().value(Key::library), "libneed_a.so");
  EXPECT_EQ(without.error().value(Key::stage), "load");
  auto with = load_plugin({plugin, workshop.folder(), {part}, {}});
  ASSERT_TRUE(with) << with.error().value(Key::os_said);
  EXPECT_EQ((*with)->libraries().front().soname, "libneed_a.so");
}

TEST(LoadPlugin, AFailedPreloadNamesItsFile) {
  faults::Workshop workshop;
  const auto plugin = workshop.plugin("libengine_x.so");
  const auto page =
      workshop.file("libpage.so", "<html><body>this is a page and not a library, as it is long enough");
  auto loaded = load_plugin({plugin, workshop.folder(), {page}, {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().value(Key::file), page.native());
  EXPECT_EQ(loaded.error().value(Key::stage), "preload");
  EXPECT_THAT(std::string(loaded.error().value(Key::os_said)), HasSubstr("invalid ELF header"));
}

TEST(LoadPlugin, AnotherFileOfThatNameInTheProcessIsReported) {
  faults::Workshop elsewhere, workshop;
  const auto first = elsewhere.plugin("libengine_y.so", "-Wl,-soname,libengine_y.so");
  auto other = load_plugin({first, elsewhere.folder(), {}, {}});
  ASSERT_TRUE(other);
  // A library of the same name from this view: glibc loads both, by their paths, without a message.
  const auto part = workshop.library("lib/libengine_y.so", "int y(void){return 1;}");
  const auto plugin = workshop.plugin("libengine_z.so");
  auto loaded = load_plugin({plugin, workshop.folder(), {part}, {}});
  ASSERT_TRUE(loaded);
  EXPECT_TRUE((*loaded)->warnings().empty()) << "the file of the view is there, by its own path";
}

TEST(LoadPlugin, TheFloatingPointModeOfTheThreadIsKept) {
  faults::Workshop workshop;
  const auto plugin = workshop.plugin("libengine_x.so", "-ffast-math");
  const std::uint32_t before = floating_point_mode();
  auto loaded = load_plugin({plugin, workshop.folder(), {}, {}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(floating_point_mode(), before);
  ASSERT_EQ((*loaded)->warnings().size(), 1u);
  EXPECT_EQ((*loaded)->warnings()[0].code, "EH-R08");
}

TEST(LoadPlugin, OnlyAnUnloadablePluginIsUnloaded) {
  faults::Workshop workshop;
  const std::string mark = " -DAT_UNLOAD='setenv(\"FIXTURE_UNLOADED\",\"yes\",1)'";
  ::unsetenv("FIXTURE_UNLOADED");
  { ASSERT_TRUE(load_plugin({workshop.plugin("libengine_stays.so", mark), workshop.folder(), {}, {}})); }
  EXPECT_EQ(std::getenv("FIXTURE_UNLOADED"), nullptr);
  {
    ASSERT_TRUE(
        load_plugin({workshop.plugin("libengine_goes.so", "-DFLAGS=1" + mark), workshop.folder(), {}, {}}));
  }
  EXPECT_STREQ(std::getenv("FIXTURE_UNLOADED"), "yes");
}

TEST(LoadPlugin, StagesAreReportedInOrder) {
  faults::Workshop workshop;
  const auto plugin = workshop.plugin("libengine_x.so");
  const auto part = workshop.library("libpart.so", "int p(void){return 1;}");
  std::vector<std::string> stages;
  LoadRequest request{
      plugin, workshop.folder(), {part}, [&](std::string_view stage) { stages.emplace_back(stage); }};
  ASSERT_TRUE(load_plugin(request));
  EXPECT_THAT(stages, ::testing::ElementsAre("preload", "load", "entry"));
}

}  // namespace
}  // namespace enginehost::load
