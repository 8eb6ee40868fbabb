// Messages of loaders, compared with the files.
#include "host/load/probe_outcome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/load/in_process/load.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;

class Recheck : public ::testing::Test {
 protected:
  preflight::Spec spec(const std::filesystem::path& plugin) {
    preflight::Spec spec;
    spec.view = workshop_.folder();
    spec.plugin = plugin;
    spec.search = {workshop_.path("lib")};
    spec.machine = linker::describe_this_machine();
    return spec;
  }
  Diagnosis loaded_and_rechecked(const std::filesystem::path& plugin) {
    auto loaded = load_plugin({plugin, workshop_.folder(), {}, {}});
    if (loaded) return diagnosis_named("it loads");
    return recheck(std::move(loaded).error(), spec(plugin));
  }
  faults::Workshop workshop_;
};

TEST_F(Recheck, NoSuchFileOfAFileThatIsThereMeansAnotherProcessor) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  workshop_.make_foreign(plugin);
  const Diagnosis diagnosis = loaded_and_rechecked(plugin);
  EXPECT_EQ(diagnosis.code, "EH-L04");
  EXPECT_THAT(std::string(diagnosis.value(Key::os_said)), HasSubstr("No such file or directory"));
  EXPECT_EQ(diagnosis.value(Key::stage), "load");
}

TEST_F(Recheck, InvalidElfHeaderOfAWebPageMeansAWebPage) {
  const auto plugin =
      workshop_.file("libengine_x.so",
                     "<!DOCTYPE html><html><head><title>Proxy</title></head><body>no</body></html>"
                     "                                                              \n");
  const Diagnosis diagnosis = loaded_and_rechecked(plugin);
  EXPECT_EQ(diagnosis.code, "EH-F05");
  EXPECT_THAT(std::string(diagnosis.value(Key::os_said)), HasSubstr("invalid ELF header"));
}

TEST_F(Recheck, AMissingLibraryGetsItsNeederAndFolders) {
  const auto gone =
      workshop_.library("libgone_r.so.2", "int g(void){return 1;}", "-Wl,-soname,libgone_r.so.2");
  const auto plugin = workshop_.plugin(
      "libengine_x.so", "-Wl,--no-as-needed -L" + faults::quoted(workshop_.folder()) + " -l:libgone_r.so.2");
  workshop_.remove(gone);
  const Diagnosis diagnosis = loaded_and_rechecked(plugin);
  EXPECT_EQ(diagnosis.code, "EH-L01");
  EXPECT_EQ(diagnosis.value(Key::needed_by), plugin.native());
  EXPECT_FALSE(diagnosis.values(Key::searched).empty());
}

// No file needs it by name, so only running code finds it missing, as when the engine aborts.
TEST_F(Recheck, ALibraryThatThePluginOpensItselfIsR15) {
  Diagnosis said = diagnose(Code::engine_reports_error);
  said.with(Key::status, "ENGINE_UNAVAILABLE")
      .with(Key::missing_library, "libstorm_kernels.so.4")
      .with(Key::message, "libstorm_kernels.so.4: cannot open shared object file: No such file or directory")
      .with(Key::stage, "create");
  const Diagnosis diagnosis = recheck(said, spec(workshop_.plugin("libengine_x.so")));
  EXPECT_EQ(diagnosis.code, "EH-R15");
  EXPECT_EQ(diagnosis.value(Key::library), "libstorm_kernels.so.4");
}

TEST_F(Recheck, NamesTheLibraryWhoseClosureIsIncomplete) {
  const auto gone =
      workshop_.library("lib/libgone_s.so.2", "int g(void){return 1;}", "-Wl,-soname,libgone_s.so.2");
  workshop_.library("lib/libruntime.so", "int g(void);int r(void){return g();}",
                    "-L" + faults::quoted(workshop_.path("lib")) + " -l:libgone_s.so.2");
  const auto plugin = workshop_.plugin("libengine_x.so");
  workshop_.remove(gone);
  Diagnosis said = diagnose(Code::engine_reports_error);
  said.with(Key::status, "ENGINE_UNAVAILABLE")
      .with(Key::message, "libruntime.so could not be opened")
      .with(Key::stage, "create");
  const Diagnosis diagnosis = recheck(said, spec(plugin));
  EXPECT_EQ(diagnosis.code, "EH-L01");
  EXPECT_EQ(diagnosis.value(Key::library), "libgone_s.so.2");
  EXPECT_EQ(diagnosis.value(Key::message), "libruntime.so could not be opened");
}

TEST_F(Recheck, ComparesPassedOnLoaderMessagesWithTheFile) {
  const auto runtime =
      workshop_.library("lib/libruntime.so", "int far_away(void);int r(void){return far_away();}");
  const auto plugin = workshop_.plugin("libengine_x.so");
  Diagnosis said = diagnose(Code::engine_reports_error);
  said.with(Key::status, "ENGINE_UNAVAILABLE")
      .with(Key::message,
            "The runtime cannot be loaded: " + runtime.native() + ": undefined symbol: far_away")
      .with(Key::stage, "create");
  const Diagnosis diagnosis = recheck(said, spec(plugin));
  EXPECT_EQ(diagnosis.code, "EH-L12");
  EXPECT_EQ(diagnosis.value(Key::file), runtime.native());
  EXPECT_EQ(diagnosis.value(Key::symbol), "far_away");
  EXPECT_EQ(diagnosis.value(Key::stage), "create");
  EXPECT_TRUE(diagnosis.value(Key::rechecked).empty()) << "the file confirms it";
}

// The system's libz.so.1 would be found first if the build's were not opened before. That does not explain a
// symbol that the loader misses in the build's own library, although its table still lists it.
TEST_F(Recheck, ARefusedFileExplainsNoMissingSymbol) {
  const auto own =
      workshop_.library("lib/libz.so.1", "int of_the_build(void){return 1;}", "-Wl,-soname,libz.so.1");
  const auto plugin = workshop_.plugin("libengine_x.so", "-Wl,--no-as-needed " + faults::quoted(own));
  Diagnosis said = diagnose(Code::symbol_missing);
  said.with(Key::symbol, "of_the_build").with(Key::required_by, own.native()).with(Key::file, own.native());
  const Diagnosis diagnosis = recheck(said, spec(plugin));
  EXPECT_EQ(diagnosis.code, "EH-L12");
  EXPECT_FALSE(diagnosis.value(Key::rechecked).empty());
}

TEST_F(Recheck, OtherReportsStayAsTheyAre) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  Diagnosis said = diagnose(Code::engine_reports_error);
  said.with(Key::status, "ENGINE_INTERNAL").with(Key::message, "assertion failed");
  EXPECT_EQ(recheck(said, spec(plugin)).code, "EH-E01");
  EXPECT_EQ(recheck(diagnose(Code::build_crashed), spec(plugin)).code, "EH-R02");
}

}  // namespace
}  // namespace enginehost::load
