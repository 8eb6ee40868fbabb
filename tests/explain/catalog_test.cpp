#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "base/printable.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/providers.hpp"
#include "host/explain/template.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Catalog, EveryClassHasTitleMeaningAndRemedyAndIsThereOnce) {
  std::set<std::string_view> seen;
  for (const Entry& entry : all()) {
    EXPECT_TRUE(seen.insert(entry.name.code).second) << entry.name.code << " is there twice";
    EXPECT_FALSE(entry.name.title.empty()) << entry.name.code;
    EXPECT_FALSE(entry.meaning.empty()) << entry.name.code;
    EXPECT_NE(entry.causes.begin(), entry.causes.end()) << entry.name.code;
    EXPECT_NE(entry.remedies.begin(), entry.remedies.end()) << entry.name.code;
  }
}

// Returns the words that stand alone between quotes in the sources, "library" and "EH-L01" among them, except
// those of the catalog itself.
std::set<std::string> quoted_words() {
  const std::regex word("\"([A-Za-z0-9_-]+)\"");
  std::set<std::string> found;
  for (const char* top : {"base", "cache", "host", "plugin-api", "tools"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(test::source_path("/") + top)) {
      const std::string extension = file.path().extension().string();
      const bool of_catalog = file.path().parent_path().generic_string().ends_with("explain/catalog");
      if ((extension != ".cpp" && extension != ".hpp") || of_catalog) continue;
      std::ifstream input(file.path());
      for (std::string line; std::getline(input, line);)
        for (auto at = std::sregex_iterator(line.begin(), line.end(), word); at != std::sregex_iterator();
             ++at)
          found.insert((*at)[1]);
    }
  return found;
}

TEST(Catalog, EveryKeyOfATemplateIsSetSomewhere) {
  const std::set<std::string> words = quoted_words();
  ASSERT_GT(words.size(), 1000u);
  const std::regex slot("\\{[?!+]?([a-z0-9_]+)");
  for (const Entry& entry : all())
    for (const Lines& lines : {entry.causes, entry.remedies})
      for (const std::string_view line : lines) {
        const std::string text(line);
        for (auto at = std::sregex_iterator(text.begin(), text.end(), slot); at != std::sregex_iterator();
             ++at)
          EXPECT_TRUE(words.contains((*at)[1]))
              << entry.name.code << ": nothing sets {" << (*at)[1] << "}: " << line;
      }
}

TEST(Catalog, HoldsTheClassesThatAreDiagnosedEndToEnd) {
  for (const char* code :
       {"F01", "F02", "F03", "F04", "F05", "F06", "F07", "F08", "F09", "F10", "F11", "F12",
        "F13", "F14", "F15", "F16", "F17", "F18", "L01", "L02", "L03", "L04", "L05", "L06",
        "L07", "L08", "L09", "L12", "L13", "L22", "L25", "L27", "L28", "L29", "R01", "R02",
        "R03", "R04", "R05", "R11", "R12", "G01", "G02", "G03", "G04", "G05", "G06", "G07",
        "N01", "N13", "M01", "M05", "P01", "P10", "P20", "S01", "S13", "S15", "S17", "E01"})
    EXPECT_NE(find(code), nullptr) << code;
  EXPECT_EQ(find("eh-l01"), find("L01"));
  EXPECT_EQ(find("EH-Q99"), nullptr);
}

TEST(Catalog, EveryCodeThatIsWrittenInTheSourcesIsInIt) {
  const std::regex code("EH-[A-Z][0-9][0-9]");
  std::size_t seen = 0;
  for (const char* room : {"base", "cache", "host", "plugin-api", "engines"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(test::source_path()) / room)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at, ++seen)
        EXPECT_NE(find(at->str()), nullptr) << at->str() << " in " << entry.path();
    }
  EXPECT_GT(seen, 100u);
}

TEST(Catalog, TemplatesAreWellFormed) {
  for (const Entry& entry : all())
    for (const Lines* lines : {&entry.causes, &entry.remedies})
      for (const std::string_view line : *lines) {
        int depth = 0;
        for (const char c : line) {
          depth += c == '{' ? 1 : c == '}' ? -1 : 0;
          ASSERT_TRUE(depth == 0 || depth == 1) << entry.name.code << ": " << line;
        }
        EXPECT_EQ(depth, 0) << entry.name.code << ": " << line;
      }
}

TEST(Catalog, ALoadFailureWithoutEvidenceHasACauseAndARemedy) {
  for (const Entry& entry : all()) {
    if (std::string_view("FLRGWX").find(entry.name.code[3]) == std::string_view::npos) continue;
    Diagnosis bare = diagnose(entry.name.code);
    complete(bare);
    EXPECT_TRUE(std::find(entry.causes.begin(), entry.causes.end(), bare.cause) != entry.causes.end())
        << entry.name.code << " has no cause that needs no evidence";
    EXPECT_FALSE(bare.remedy.empty()) << entry.name.code << " has no remedy that needs no evidence";
  }
}

// People type the commands of remedies: each command exists, and none does harm.
TEST(Catalog, RemediesNameCommandsThatExistAndAreSafe) {
  const std::regex command("engine-[a-z]+( [a-z]+)?");
  const std::set<std::string> known = {
      "engine-cache export", "engine-cache fetch",    "engine-cache fulfil",     "engine-cache gc",
      "engine-cache import", "engine-cache licenses", "engine-cache list",       "engine-cache lock",
      "engine-cache path",   "engine-cache pin",      "engine-cache push",       "engine-cache quarantine",
      "engine-cache remove", "engine-cache request",  "engine-cache rollback",   "engine-cache sdk",
      "engine-cache trust",  "engine-cache update",   "engine-cache unpin",      "engine-cache verify",
      "engine-info",         "engine-manifest lint",  "engine-manifest publish", "engine-manifest sign",
      "engine-run",
  };
  for (const Entry& entry : all())
    for (const std::string_view remedy : entry.remedies) {
      const std::string text(remedy);
      for (std::sregex_iterator at(text.begin(), text.end(), command), end; at != end; ++at) {
        const std::string named = at->str();
        const std::string first = named.substr(0, named.find(' '));
        EXPECT_TRUE(known.count(named) != 0 || (first != "engine-cache" && known.count(first) != 0))
            << entry.name.code << ": " << named;
      }
      for (const char* harmful : {"sudo ", "rm -", "setenforce", "curl ", "dll-files", "chmod 777",
                                  "LD_PRELOAD=", "disable the scanner"})
        EXPECT_EQ(text.find(harmful), std::string::npos) << entry.name.code << ": " << text;
    }
}

// The first screen has the machine's line, the line of its GPU and driver, and the engines. What else a
// remedy promises needs an argument.
TEST(Catalog, EngineInfoAloneIsOnlySentForWhatItShows) {
  const std::set<std::string> shown = {"lists the known engines", "shows both), or use a build",
                                       "shows which CUDA versions the driver supports",
                                       "shows which engines open here"};
  const std::string command = "engine-info ";
  for (const Entry& entry : all())
    for (const std::string_view remedy : entry.remedies)
      for (std::size_t at = 0; (at = remedy.find(command, at)) != std::string_view::npos;) {
        const std::string_view rest = remedy.substr(at += command.size());
        if (!rest.starts_with("shows") && !rest.starts_with("lists")) continue;
        EXPECT_TRUE(std::any_of(shown.begin(), shown.end(),
                                [&](const std::string& promise) { return rest.starts_with(promise); }))
            << entry.name.code << ": " << remedy;
      }
}

// Without --plan, engine-info opens the build that it chooses, which may fetch it first.
TEST(Catalog, ACommandThatListsBuildsOpensNone) {
  for (const Entry& entry : all())
    for (const Lines* lines : {&entry.causes, &entry.remedies})
      for (const std::string_view line : *lines)
        for (std::size_t at = 0; (at = line.find(" --explain", at)) != std::string_view::npos; ++at)
          EXPECT_TRUE(line.substr(0, at).ends_with(" --plan")) << entry.name.code << ": " << line;
}

TEST(Catalog, ASentenceIsLeftOutWhenAKeyIsMissing) {
  const Diagnosis diagnosis =
      diagnose("EH-L01").with("library", "a").with("library", "b").with("path", "/x/liby.so");
  EXPECT_EQ(fill("{library...} and {path|name}", diagnosis), "a, b and liby.so");
  EXPECT_EQ(fill("{library} only", diagnosis), "a only");
  EXPECT_EQ(fill("{absent}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("yes{?path}", diagnosis), "yes");
  EXPECT_EQ(fill("yes{?absent}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("yes{!absent}", diagnosis), "yes");
  EXPECT_EQ(fill("yes{!path}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("{size|bytes}", diagnose("EH-F15").with("size", "1536")), "1.5 KiB");
  EXPECT_EQ(fill("--cache {layer|word}", diagnose("EH-F08").with("layer", "/a b")),
            "--cache " + shell_word("/a b"));
  EXPECT_EQ(fill("{n|build|builds}", diagnose("EH-S01").with("n", "1")), "1 build");
  EXPECT_EQ(fill("{n|build|builds}", diagnose("EH-S01").with("n", "12")), "12 builds");
  EXPECT_EQ(fill("{n|build|builds}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("{+library}both", diagnosis), "both");
  EXPECT_EQ(fill("{+path}both", diagnosis), std::nullopt);
  EXPECT_EQ(fill("{x...}", diagnose("EH-L01").with("x", "a, b").with("x", "c")), "a, b; c");
  EXPECT_EQ(fill("{library=a}yes", diagnosis), "yes");
  EXPECT_EQ(fill("{library=b}yes", diagnosis), std::nullopt);
}

TEST(Catalog, AMissingLibraryIsNamedWithItsNeederAndItsProvider) {
  Diagnosis diagnosis = diagnose("EH-L01")
                            .with("library", "libcudart.so.12")
                            .with("needed_by", "/cache/view/libtorch_cuda.so")
                            .with("searched", "/usr/lib");
  complete(diagnosis);
  EXPECT_EQ(diagnosis.cause,
            "libtorch_cuda.so needs libcudart.so.12, and no folder that the loader searches has it");
  ASSERT_FALSE(diagnosis.remedy.empty());
  EXPECT_THAT(diagnosis.remedy[0], HasSubstr("nvidia-cuda-runtime-cu12"));
  const Diagnosis once = diagnosis;
  complete(diagnosis);
  EXPECT_EQ(diagnosis.evidence.size(), once.evidence.size()) << "complete() must be idempotent";
}

TEST(Catalog, ExitStatusesAreThoseOfTheContract) {
  const auto status = [](const char* code) { return static_cast<int>(exit_status(diagnose(code))); };
  EXPECT_EQ(status("EH-S01"), 3);
  EXPECT_EQ(status("EH-N04"), 4);
  EXPECT_EQ(status("EH-N06"), 5);
  EXPECT_EQ(status("EH-N08"), 5);
  EXPECT_EQ(status("EH-L01"), 6);
  EXPECT_EQ(status("EH-R02"), 6);
  EXPECT_EQ(status("EH-F15"), 7);
  EXPECT_EQ(status("EH-P03"), 8);
  EXPECT_EQ(status("EH-N09"), 130);
  EXPECT_EQ(status("EH-Q99"), 1);
}

// No remedy says to drop a constraint that was not given.
TEST(Catalog, WhereNothingFitsTheRemedyDropsOnlyBlockingConstraints) {
  const auto reported = [](Diagnosis diagnosis) {
    complete(diagnosis);
    return diagnosis;
  };
  const std::string all = "engine-info pytorch --plan --explain shows every build and why it is not used";
  const Diagnosis plain = diagnose("EH-S01").with("engine", "pytorch");
  EXPECT_THAT(reported(plain).remedy, ElementsAre(all));
  EXPECT_THAT(reported(Diagnosis(plain).with("of_other_flavors", "3").with("for_other_devices", "2")).remedy,
              ElementsAre(all, "leave the flavor out (--require) to allow other flavors",
                          "leave the device out (--device) to allow builds for other devices"));
  EXPECT_THAT(
      reported(Diagnosis(plain).with("for_other_devices", "2").with("device_set_by", "ENGINEHOST_DEVICE"))
          .remedy,
      ElementsAre(all, "leave the device out (ENGINEHOST_DEVICE) to allow builds for other devices"));
  EXPECT_THAT(
      reported(Diagnosis(plain).with("of_other_flavors", "3").with("demanded_by", "request.flavor")).remedy,
      ElementsAre(all, "leave the flavor out (request.flavor) to allow other flavors"));
  EXPECT_THAT(reported(diagnose("EH-S04")
                           .with("build", "b")
                           .with("found", "cpu")
                           .with("required", "flavor cu118")
                           .with("demanded_by", "--flavor"))
                  .cause,
              "b has flavor cpu; --flavor requires flavor cu118");
  const Diagnosis version =
      reported(Diagnosis(plain).with("unknown_version", "9").with("nearest_version", "2.8.0"));
  EXPECT_EQ(version.cause, "no build of pytorch for this system has version 9; the nearest is 2.8.0");
  EXPECT_THAT(version.remedy, ElementsAre("request version 2.8.0, or leave the version out", all));
}

TEST(Catalog, AProbeNamedByASettingIsReportedWithTheSetting) {
  Diagnosis launcher = diagnose("EH-P20")
                           .with("program", "/bin/run")
                           .with("setting", "probe_launcher")
                           .with("set_by", "ENGINEHOST_PROBE_LAUNCHER");
  complete(launcher);
  EXPECT_EQ(launcher.cause, "/bin/run, which probe_launcher names, could not be started");
  EXPECT_THAT(launcher.remedy,
              ElementsAre("correct probe_launcher, set by ENGINEHOST_PROBE_LAUNCHER, which names that "
                          "program, or leave it out"));
}

TEST(Catalog, ABuildThatSomebodyDisabledDidNotFail) {
  Diagnosis failed = diagnose("EH-S14").with("build", "b").with("reason", "libx.so.1 is missing");
  complete(failed);
  EXPECT_EQ(failed.cause, "b failed here before: libx.so.1 is missing");
  Diagnosis known = diagnose("EH-S14").with("build", "b").with("reason", "libx.so.1 is missing");
  known.with("first_code", "EH-L01");
  complete(known);
  EXPECT_EQ(known.cause, "b failed here before: EH-L01 libx.so.1 is missing");
  EXPECT_THAT(failed.remedy, ElementsAre(HasSubstr("engine-cache quarantine clear b allows it again")));
  Diagnosis unfit = diagnose("EH-S14").with("build", "b").with("unfit", "until the machine changes");
  complete(unfit);
  EXPECT_THAT(unfit.remedy, ElementsAre(HasSubstr("it is tried again when that changes")));
  Diagnosis disabled =
      diagnose("EH-S14").with("build", "b").with("reason", "disabled by hand").with("disabled", "by hand");
  complete(disabled);
  EXPECT_EQ(disabled.cause, "b was disabled here by hand");
  EXPECT_THAT(disabled.remedy, ElementsAre("engine-cache quarantine enable b allows it again"));
}

TEST(Catalog, AMissingConsentHasOneRemedy) {
  const auto remedies = [](Diagnosis diagnosis) {
    complete(diagnosis);
    return diagnosis.remedy;
  };
  EXPECT_THAT(remedies(diagnose("EH-P03").with("license", "nv").with("url", "https://x/eula")),
              ElementsAre("read https://x/eula and accept it: --accept-license nv"));
  EXPECT_THAT(remedies(diagnose("EH-P03").with("license", "nv").with("url", "")),
              ElementsAre("accept it: --accept-license nv"));
  EXPECT_THAT(remedies(diagnose("EH-P03").with("bytes", "2 GiB")),
              ElementsAre(HasSubstr("answer yes when asked")));
}

TEST(Catalog, AModelThatCannotBeReadIsNotFetchedAgain) {
  const auto first_remedy = [](Diagnosis diagnosis) {
    complete(diagnosis);
    return diagnosis.remedy.front();
  };
  const auto corrupt = diagnose("EH-E01").with("status", "ENGINE_CORRUPT").with("message", "no");
  EXPECT_THAT(first_remedy(corrupt), HasSubstr("engine-cache verify --deep --repair"));
  EXPECT_THAT(first_remedy(Diagnosis(corrupt).with("model", "/m.onnx")),
              HasSubstr("check that /m.onnx is complete"));
}

TEST(Catalog, EveryPluginErrorHasARemedy) {
  for (const char* status : {"ENGINE_INVALID", "ENGINE_UNSUPPORTED", "ENGINE_UNAVAILABLE", "ENGINE_NO_MEMORY",
                             "ENGINE_CORRUPT", "ENGINE_INTERNAL", "ENGINE_LOST"}) {
    Diagnosis said = diagnose("EH-E01").with("status", status).with("message", "no");
    complete(said);
    EXPECT_EQ(said.remedy.size(), 1u) << status;
  }
}

TEST(Catalog, ALibraryOfAnotherSystemCanBeInspectedForIt) {
  Diagnosis of_build = diagnose("EH-F09").with("file", "/x.dll").with("format", "PE/COFF (Windows)");
  Diagnosis named = mark_as_argument(of_build);
  complete(of_build);
  complete(named);
  EXPECT_EQ(of_build.remedy.size(), 1u);
  EXPECT_THAT(named.remedy,
              ElementsAre(HasSubstr("engine-info ENGINE --plan"), HasSubstr("--platform FILE")));
}

TEST(Catalog, ErrorsOfAModelRunBelongToTheRequest) {
  Diagnosis said =
      diagnose("EH-E01").with("status", "ENGINE_INVALID").with("message", "no").with("model", "/m");
  complete(said);
  EXPECT_THAT(said.remedy, ElementsAre(HasSubstr("correct the request: /m, its format, or the device")));
}

TEST(Catalog, TheEngineIsNamedInCommandsWhereItIsKnown) {
  Diagnosis said = diagnose("EH-E01").with("status", "ENGINE_UNSUPPORTED").with("message", "no ENGINE here");
  Diagnosis known = said;
  known.with("engine", "onnxruntime", "the plugin's descriptor");
  complete(said);
  complete(known);
  EXPECT_THAT(said.remedy,
              ElementsAre("use another build or engine: engine-info ENGINE --plan --explain lists them"));
  EXPECT_THAT(
      known.remedy,
      ElementsAre("use another build or engine: engine-info onnxruntime --plan --explain lists them"));
  EXPECT_EQ(known.cause, "the engine reports: no ENGINE here");
  EXPECT_THAT(describe(known), Not(HasSubstr("engine: onnxruntime")));
}

TEST(Catalog, RefusalsDuringAnOpenDoNotBelongToTheRequest) {
  Diagnosis said =
      diagnose("EH-E01").with("status", "ENGINE_INVALID").with("message", "no").with("stage", "create");
  Diagnosis by_option = said;
  by_option.with("option", "threads").with("option_set_by", "manifest").with("build", "x-1");
  complete(said);
  complete(by_option);
  EXPECT_THAT(said.remedy, ElementsAre(HasSubstr("report the message to the publisher of this one")));
  EXPECT_THAT(by_option.remedy,
              ElementsAre("correct \"options\" of x-1 in its manifest, which sets threads, or "
                          "ask its publisher to do so",
                          HasSubstr("use another version or build")));
}

TEST(Catalog, TheRemedyForAnOlderLibraryNamesItsFile) {
  Diagnosis older = diagnose("EH-L15")
                        .with("version", "V9")
                        .with("library", "libver.so.1")
                        .with("path", "/opt/x/libver.so.1")
                        .with("required_by", "/my view/e.so");
  Diagnosis of_variable = older;
  of_variable.with("from_environment", "LD_LIBRARY_PATH");
  const std::string seen =
      "see which file the loader takes: engine-info --inspect " + shell_word("/my view/e.so");
  complete(older);
  EXPECT_THAT(older.remedy, ElementsAre("update the package that installed /opt/x/libver.so.1, or use "
                                        "another version of the build",
                                        seen));
  complete(of_variable);
  EXPECT_THAT(of_variable.remedy, ElementsAre("remove the folder of /opt/x/libver.so.1 from LD_LIBRARY_PATH, "
                                              "so that another libver.so.1 is found",
                                              seen));
  Diagnosis nameless = diagnose("EH-L15");
  complete(nameless);
  EXPECT_THAT(nameless.remedy, ElementsAre(HasSubstr("LD_LIBRARY_PATH")));
}

TEST(Catalog, ABadServerAnswerDoesNotAskTheUserToCorrectIt) {
  for (const char* code : {"EH-M01", "EH-M02"}) {
    Diagnosis named = diagnose(code).with("document", "d/index.json").with("member", "manifests");
    EXPECT_EQ(exit_status(named), ExitStatus::usage) << code;
    Diagnosis sent = named;
    sent.with("sent_by", "https://x/y");
    EXPECT_EQ(exit_status(sent), ExitStatus::wrong_bytes) << code;
    complete(named);
    complete(sent);
    EXPECT_THAT(named.remedy.front(), HasSubstr("correct ")) << code;
    EXPECT_THAT(sent.remedy,
                ::testing::Contains("report it to the operator of https://x/y, or use another repository"));
    EXPECT_THAT(sent.remedy, ::testing::Each(::testing::Not(HasSubstr("correct ")))) << code;
  }
  EXPECT_EQ(exit_status(diagnose("EH-M04").with("sent_by", "https://x/y")), ExitStatus::usage);
}

// The owner of a cache cannot fix a disk that does not read.
TEST(Catalog, AFileThatCannotBeReadHasOneRemedy) {
  Diagnosis unread = diagnose("EH-F23").with("file", "/c/partial/1").with("errno", "EIO");
  complete(unread);
  EXPECT_THAT(unread.remedy, ElementsAre(HasSubstr("the disk may be failing")));
  Diagnosis closed = diagnose("EH-F23").with("folder", "/c").with("errno", "EACCES");
  complete(closed);
  EXPECT_THAT(closed.remedy, ElementsAre(HasSubstr("as the owner of the cache")));
}

TEST(Catalog, AFullDiskIsReportedInReadableSizes) {
  Diagnosis full = diagnose("EH-F15").with("folder", "/c").with("needed", "2040109466").with("free", "65536");
  complete(full);
  EXPECT_EQ(full.cause, "1.9 GiB are needed in /c; 64 KiB are free");
}

TEST(Catalog, PluginErrorsAreClassifiedByTheirStatus) {
  const auto said = [](const char* name) {
    return diagnose("EH-E01").with("status", name).with("message", "no");
  };
  EXPECT_EQ(category(said("ENGINE_UNAVAILABLE")), history::Category::host);
  EXPECT_EQ(category(said("ENGINE_NO_MEMORY")), history::Category::transient);
  EXPECT_EQ(category(said("ENGINE_INVALID")), history::Category::request);
  EXPECT_EQ(category(said("ENGINE_INVALID").with("stage", "create")), history::Category::host);
  EXPECT_EQ(category(diagnose("EH-S09")), history::Category::request);
  EXPECT_EQ(category(diagnose("EH-L23").with("os_said", "Cannot allocate memory")),
            history::Category::transient);
  for (const char* too_small : {"memory", "zero_filled"})
    EXPECT_EQ(category(diagnose("EH-L23").with(too_small, "1")), history::Category::host) << too_small;
  for (const char* of_process : {"limit", "data_limit"})
    EXPECT_EQ(category(diagnose("EH-L23").with("zero_filled", "1").with(of_process, "1")),
              history::Category::transient)
        << of_process;
  EXPECT_EQ(category(diagnose("EH-R05").with("deadline", "1 s")), history::Category::crash);
  EXPECT_EQ(category(diagnose("EH-R05").with("deadline", "1 s").with("allowed", "30 s")),
            history::Category::request);
  EXPECT_EQ(exit_status(said("ENGINE_UNSUPPORTED")), ExitStatus::nothing_fits);
  EXPECT_EQ(exit_status(said("ENGINE_UNSUPPORTED").with("stage", "create")), ExitStatus::not_loaded);
  EXPECT_EQ(exit_status(said("ENGINE_CORRUPT")), ExitStatus::wrong_bytes);
  EXPECT_EQ(exit_status(said("ENGINE_CORRUPT").with("model", "/m.onnx")), ExitStatus::usage);
  EXPECT_EQ(category(said("ENGINE_CORRUPT").with("model", "/m.onnx")), history::Category::request);
}

}  // namespace
}  // namespace enginehost::explain
