#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <span>
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
    EXPECT_TRUE(seen.insert(text_of(entry.code)).second) << text_of(entry.code) << " is there twice";
    EXPECT_FALSE(entry.title.empty()) << text_of(entry.code);
    EXPECT_FALSE(entry.meaning.empty()) << text_of(entry.code);
    EXPECT_FALSE(entry.causes.empty()) << text_of(entry.code);
    EXPECT_FALSE(entry.remedies.empty()) << text_of(entry.code);
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
    for (const std::span<const std::string_view> lines : {entry.causes, entry.remedies})
      for (const std::string_view line : lines) {
        int depth = 0;
        for (const char c : line) {
          depth += c == '{' ? 1 : c == '}' ? -1 : 0;
          ASSERT_TRUE(depth == 0 || depth == 1) << text_of(entry.code) << ": " << line;
        }
        EXPECT_EQ(depth, 0) << text_of(entry.code) << ": " << line;
      }
}

TEST(Catalog, ALoadFailureWithoutEvidenceHasACauseAndARemedy) {
  for (const Entry& entry : all()) {
    if (std::string_view("FLRGWX").find(text_of(entry.code)[3]) == std::string_view::npos) continue;
    Diagnosis bare = diagnose(entry.code);
    EXPECT_TRUE(std::find(entry.causes.begin(), entry.causes.end(), render(bare).cause) != entry.causes.end())
        << text_of(entry.code) << " has no cause that needs no evidence";
    EXPECT_FALSE(render(bare).remedy.empty())
        << text_of(entry.code) << " has no remedy that needs no evidence";
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
            << text_of(entry.code) << ": " << named;
      }
      for (const char* harmful : {"sudo ", "rm -", "setenforce", "curl ", "dll-files", "chmod 777",
                                  "LD_PRELOAD=", "disable the scanner"})
        EXPECT_EQ(text.find(harmful), std::string::npos) << text_of(entry.code) << ": " << text;
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
            << text_of(entry.code) << ": " << remedy;
      }
}

// Without --plan, engine-info opens the build that it chooses, which may fetch it first.
TEST(Catalog, ACommandThatListsBuildsOpensNone) {
  for (const Entry& entry : all())
    for (const std::span<const std::string_view> lines : {entry.causes, entry.remedies})
      for (const std::string_view line : lines)
        for (std::size_t at = 0; (at = line.find(" --explain", at)) != std::string_view::npos; ++at)
          EXPECT_TRUE(line.substr(0, at).ends_with(" --plan")) << text_of(entry.code) << ": " << line;
}

TEST(Catalog, ASentenceIsLeftOutWhenAKeyIsMissing) {
  const Diagnosis diagnosis = diagnose(Code::library_missing)
                                  .with(Key::library, "a")
                                  .with(Key::library, "b")
                                  .with(Key::path, "/x/liby.so");
  EXPECT_EQ(fill("{library...} and {path|name}", diagnosis), "a, b and liby.so");
  EXPECT_EQ(fill("{library} only", diagnosis), "a only");
  EXPECT_EQ(fill("{absent}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("yes{?path}", diagnosis), "yes");
  EXPECT_EQ(fill("yes{?absent}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("yes{!absent}", diagnosis), "yes");
  EXPECT_EQ(fill("yes{!path}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("{size|bytes}", diagnose(Code::disk_full).with(Key::size, "1536")), "1.5 KiB");
  EXPECT_EQ(fill("--cache {layer|word}", diagnose(Code::file_damaged).with(Key::layer, "/a b")),
            "--cache " + shell_word("/a b"));
  EXPECT_EQ(fill("{count|build|builds}", diagnose(Code::no_build_fits).with(Key::count, "1")), "1 build");
  EXPECT_EQ(fill("{count|build|builds}", diagnose(Code::no_build_fits).with(Key::count, "12")), "12 builds");
  EXPECT_EQ(fill("{count|build|builds}", diagnosis), std::nullopt);
  EXPECT_EQ(fill("{+library}both", diagnosis), "both");
  EXPECT_EQ(fill("{+path}both", diagnosis), std::nullopt);
  EXPECT_EQ(fill("{library...}",
                 diagnose(Code::library_missing).with(Key::library, "a, b").with(Key::library, "c")),
            "a, b; c");
  EXPECT_EQ(fill("{library=a}yes", diagnosis), "yes");
  EXPECT_EQ(fill("{library=b}yes", diagnosis), std::nullopt);
}

TEST(Catalog, AMissingLibraryIsNamedWithItsNeederAndItsProvider) {
  Diagnosis diagnosis = diagnose(Code::library_missing)
                            .with(Key::library, "libcudart.so.12")
                            .with(Key::needed_by, "/cache/view/libtorch_cuda.so")
                            .with(Key::searched, "/usr/lib");
  EXPECT_EQ(render(diagnosis).cause,
            "libtorch_cuda.so needs libcudart.so.12, and no folder that the loader searches has it");
  ASSERT_FALSE(render(diagnosis).remedy.empty());
  EXPECT_THAT(render(diagnosis).remedy[0], HasSubstr("nvidia-cuda-runtime-cu12"));
  const Rendered once = render(diagnosis);
  EXPECT_EQ(render(once).evidence.size(), once.evidence.size()) << "what follows from facts is added once";
}

TEST(Catalog, ExitStatusesAreThoseOfTheContract) {
  const auto status = [](const char* code) {
    return static_cast<int>(exit_status(diagnose(code_named(code))));
  };
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
  const auto reported = [](const Diagnosis& diagnosis) { return render(diagnosis); };
  const std::string all = "engine-info pytorch --plan --explain shows every build and why it is not used";
  const Diagnosis plain = diagnose(Code::no_build_fits).with(Key::engine, "pytorch");
  EXPECT_THAT(reported(plain).remedy, ElementsAre(all));
  EXPECT_THAT(
      reported(Diagnosis(plain).with(Key::of_other_flavors, "3").with(Key::for_other_devices, "2")).remedy,
      ElementsAre(all, "leave the flavor out (--require) to allow other flavors",
                  "leave the device out (--device) to allow builds for other devices"));
  EXPECT_THAT(
      reported(
          Diagnosis(plain).with(Key::for_other_devices, "2").with(Key::device_set_by, "ENGINEHOST_DEVICE"))
          .remedy,
      ElementsAre(all, "leave the device out (ENGINEHOST_DEVICE) to allow builds for other devices"));
  EXPECT_THAT(
      reported(Diagnosis(plain).with(Key::of_other_flavors, "3").with(Key::demanded_by, "request.flavor"))
          .remedy,
      ElementsAre(all, "leave the flavor out (request.flavor) to allow other flavors"));
  EXPECT_THAT(reported(diagnose(Code::other_flavor_required)
                           .with(Key::build, "b")
                           .with(Key::found, "cpu")
                           .with(Key::required, "flavor cu118")
                           .with(Key::demanded_by, "--flavor"))
                  .cause,
              "b has flavor cpu; --flavor requires flavor cu118");
  const Diagnosis version =
      reported(Diagnosis(plain).with(Key::unknown_version, "9").with(Key::nearest_version, "2.8.0"));
  EXPECT_EQ(render(version).cause, "no build of pytorch for this system has version 9; the nearest is 2.8.0");
  EXPECT_THAT(render(version).remedy, ElementsAre("request version 2.8.0, or leave the version out", all));
}

TEST(Catalog, AProbeNamedByASettingIsReportedWithTheSetting) {
  Diagnosis launcher = diagnose(Code::probe_not_started)
                           .with(Key::program, "/bin/run")
                           .with(Key::setting, "probe_launcher")
                           .with(Key::set_by, "ENGINEHOST_PROBE_LAUNCHER");
  EXPECT_EQ(render(launcher).cause, "/bin/run, which probe_launcher names, could not be started");
  EXPECT_THAT(render(launcher).remedy,
              ElementsAre("correct probe_launcher, set by ENGINEHOST_PROBE_LAUNCHER, which names that "
                          "program, or leave it out"));
}

TEST(Catalog, ABuildThatSomebodyDisabledDidNotFail) {
  Diagnosis failed =
      diagnose(Code::quarantined).with(Key::build, "b").with(Key::reason, "libx.so.1 is missing");
  EXPECT_EQ(render(failed).cause, "b failed here before: libx.so.1 is missing");
  Diagnosis known =
      diagnose(Code::quarantined).with(Key::build, "b").with(Key::reason, "libx.so.1 is missing");
  known.with(Key::first_code, "EH-L01");
  EXPECT_EQ(render(known).cause, "b failed here before: EH-L01 libx.so.1 is missing");
  EXPECT_THAT(render(failed).remedy,
              ElementsAre(HasSubstr("engine-cache quarantine clear b allows it again")));
  Diagnosis unfit =
      diagnose(Code::quarantined).with(Key::build, "b").with(Key::unfit, "until the machine changes");
  EXPECT_THAT(render(unfit).remedy, ElementsAre(HasSubstr("it is tried again when that changes")));
  Diagnosis disabled = diagnose(Code::quarantined)
                           .with(Key::build, "b")
                           .with(Key::reason, "disabled by hand")
                           .with(Key::disabled, "by hand");
  EXPECT_EQ(render(disabled).cause, "b was disabled here by hand");
  EXPECT_THAT(render(disabled).remedy, ElementsAre("engine-cache quarantine enable b allows it again"));
}

TEST(Catalog, AMissingConsentHasOneRemedy) {
  const auto remedies = [](Diagnosis diagnosis) { return render(diagnosis).remedy; };
  EXPECT_THAT(
      remedies(diagnose(Code::consent_missing).with(Key::license, "nv").with(Key::url, "https://x/eula")),
      ElementsAre("read https://x/eula and accept it: --accept-license nv"));
  EXPECT_THAT(remedies(diagnose(Code::consent_missing).with(Key::license, "nv").with(Key::url, "")),
              ElementsAre("accept it: --accept-license nv"));
  EXPECT_THAT(remedies(diagnose(Code::consent_missing).with(Key::bytes, "2 GiB")),
              ElementsAre(HasSubstr("answer yes when asked")));
}

TEST(Catalog, AModelThatCannotBeReadIsNotFetchedAgain) {
  const auto first_remedy = [](Diagnosis diagnosis) { return render(diagnosis).remedy.front(); };
  const auto corrupt =
      diagnose(Code::engine_reports_error).with(Key::status, "ENGINE_CORRUPT").with(Key::message, "no");
  EXPECT_THAT(first_remedy(corrupt), HasSubstr("engine-cache verify --deep --repair"));
  EXPECT_THAT(first_remedy(Diagnosis(corrupt).with(Key::model, "/m.onnx")),
              HasSubstr("check that /m.onnx is complete"));
}

TEST(Catalog, EveryPluginErrorHasARemedy) {
  for (const char* status : {"ENGINE_INVALID", "ENGINE_UNSUPPORTED", "ENGINE_UNAVAILABLE", "ENGINE_NO_MEMORY",
                             "ENGINE_CORRUPT", "ENGINE_INTERNAL", "ENGINE_LOST"}) {
    Diagnosis said = diagnose(Code::engine_reports_error).with(Key::status, status).with(Key::message, "no");
    EXPECT_EQ(render(said).remedy.size(), 1u) << status;
  }
}

TEST(Catalog, ALibraryOfAnotherSystemCanBeInspectedForIt) {
  Diagnosis of_build =
      diagnose(Code::file_for_other_system).with(Key::file, "/x.dll").with(Key::format, "PE/COFF (Windows)");
  Diagnosis named = mark_as_argument(of_build);
  EXPECT_EQ(render(of_build).remedy.size(), 1u);
  EXPECT_THAT(render(named).remedy,
              ElementsAre(HasSubstr("engine-info ENGINE --plan"), HasSubstr("--platform FILE")));
}

TEST(Catalog, ErrorsOfAModelRunBelongToTheRequest) {
  Diagnosis said = diagnose(Code::engine_reports_error)
                       .with(Key::status, "ENGINE_INVALID")
                       .with(Key::message, "no")
                       .with(Key::model, "/m");
  EXPECT_THAT(render(said).remedy,
              ElementsAre(HasSubstr("correct the request: /m, its format, or the device")));
}

TEST(Catalog, TheEngineIsNamedInCommandsWhereItIsKnown) {
  Diagnosis said = diagnose(Code::engine_reports_error)
                       .with(Key::status, "ENGINE_UNSUPPORTED")
                       .with(Key::message, "no ENGINE here");
  Diagnosis known = said;
  known.with(Key::engine, "onnxruntime", "the plugin's descriptor");
  EXPECT_THAT(render(said).remedy,
              ElementsAre("use another build or engine: engine-info ENGINE --plan --explain lists them"));
  EXPECT_THAT(
      render(known).remedy,
      ElementsAre("use another build or engine: engine-info onnxruntime --plan --explain lists them"));
  EXPECT_EQ(render(known).cause, "the engine reports: no ENGINE here");
  EXPECT_THAT(describe(known), Not(HasSubstr("engine: onnxruntime")));
}

TEST(Catalog, RefusalsDuringAnOpenDoNotBelongToTheRequest) {
  Diagnosis said = diagnose(Code::engine_reports_error)
                       .with(Key::status, "ENGINE_INVALID")
                       .with(Key::message, "no")
                       .with(Key::stage, "create");
  Diagnosis by_option = said;
  by_option.with(Key::option, "threads").with(Key::option_set_by, "manifest").with(Key::build, "x-1");
  EXPECT_THAT(render(said).remedy, ElementsAre(HasSubstr("report the message to the publisher of this one")));
  EXPECT_THAT(render(by_option).remedy,
              ElementsAre("correct \"options\" of x-1 in its manifest, which sets threads, or "
                          "ask its publisher to do so",
                          HasSubstr("use another version or build")));
}

TEST(Catalog, TheRemedyForAnOlderLibraryNamesItsFile) {
  Diagnosis older = diagnose(Code::symbol_version_missing)
                        .with(Key::version, "V9")
                        .with(Key::library, "libver.so.1")
                        .with(Key::path, "/opt/x/libver.so.1")
                        .with(Key::required_by, "/my view/e.so");
  Diagnosis of_variable = older;
  of_variable.with(Key::from_environment, "LD_LIBRARY_PATH");
  const std::string seen =
      "see which file the loader takes: engine-info --inspect " + shell_word("/my view/e.so");
  EXPECT_THAT(render(older).remedy,
              ElementsAre("update the package that installed /opt/x/libver.so.1, or use "
                          "another version of the build",
                          seen));
  EXPECT_THAT(render(of_variable).remedy,
              ElementsAre("remove the folder of /opt/x/libver.so.1 from LD_LIBRARY_PATH, "
                          "so that another libver.so.1 is found",
                          seen));
  Diagnosis nameless = diagnose(Code::symbol_version_missing);
  EXPECT_THAT(render(nameless).remedy, ElementsAre(HasSubstr("LD_LIBRARY_PATH")));
}

TEST(Catalog, ABadServerAnswerDoesNotAskTheUserToCorrectIt) {
  for (const char* code : {"EH-M01", "EH-M02"}) {
    Diagnosis named =
        diagnose(code_named(code)).with(Key::document, "d/index.json").with(Key::member, "manifests");
    EXPECT_EQ(exit_status(named), ExitStatus::usage) << code;
    Diagnosis sent = named;
    sent.with(Key::sent_by, "https://x/y");
    EXPECT_EQ(exit_status(sent), ExitStatus::wrong_bytes) << code;
    EXPECT_THAT(render(named).remedy.front(), HasSubstr("correct ")) << code;
    EXPECT_THAT(render(sent).remedy,
                ::testing::Contains("report it to the operator of https://x/y, or use another repository"));
    EXPECT_THAT(render(sent).remedy, ::testing::Each(::testing::Not(HasSubstr("correct ")))) << code;
  }
  EXPECT_EQ(exit_status(diagnose(Code::format_too_new).with(Key::sent_by, "https://x/y")), ExitStatus::usage);
}

// The owner of a cache cannot fix a disk that does not read.
TEST(Catalog, AFileThatCannotBeReadHasOneRemedy) {
  Diagnosis unread = diagnose(Code::cache_unusable).with(Key::file, "/c/partial/1").with(Key::errno_, "EIO");
  EXPECT_THAT(render(unread).remedy, ElementsAre(HasSubstr("the disk may be failing")));
  Diagnosis closed = diagnose(Code::cache_unusable).with(Key::folder, "/c").with(Key::errno_, "EACCES");
  EXPECT_THAT(render(closed).remedy, ElementsAre(HasSubstr("as the owner of the cache")));
}

TEST(Catalog, AFullDiskIsReportedInReadableSizes) {
  Diagnosis full = diagnose(Code::disk_full)
                       .with(Key::folder, "/c")
                       .with(Key::needed, "2040109466")
                       .with(Key::free, "65536");
  EXPECT_EQ(render(full).cause, "1.9 GiB are needed in /c; 64 KiB are free");
}

TEST(Catalog, PluginErrorsAreClassifiedByTheirStatus) {
  const auto said = [](const char* name) {
    return diagnose(Code::engine_reports_error).with(Key::status, name).with(Key::message, "no");
  };
  EXPECT_EQ(category(said("ENGINE_UNAVAILABLE")), history::Category::host);
  EXPECT_EQ(category(said("ENGINE_NO_MEMORY")), history::Category::transient);
  EXPECT_EQ(category(said("ENGINE_INVALID")), history::Category::request);
  EXPECT_EQ(category(said("ENGINE_INVALID").with(Key::stage, "create")), history::Category::host);
  EXPECT_EQ(category(diagnose(Code::device_not_offered)), history::Category::request);
  EXPECT_EQ(category(diagnose(Code::memory_short_for_library).with(Key::os_said, "Cannot allocate memory")),
            history::Category::transient);
  for (const Key too_small : {Key::memory, Key::zero_filled})
    EXPECT_EQ(category(diagnose(Code::memory_short_for_library).with(too_small, "1")),
              history::Category::host)
        << text_of(too_small);
  for (const Key of_process : {Key::limit, Key::data_limit})
    EXPECT_EQ(
        category(diagnose(Code::memory_short_for_library).with(Key::zero_filled, "1").with(of_process, "1")),
        history::Category::transient)
        << text_of(of_process);
  EXPECT_EQ(category(diagnose(Code::engine_does_not_start_in_time).with(Key::deadline, "1 s")),
            history::Category::crash);
  EXPECT_EQ(category(diagnose(Code::engine_does_not_start_in_time)
                         .with(Key::deadline, "1 s")
                         .with(Key::allowed, "30 s")),
            history::Category::request);
  EXPECT_EQ(exit_status(said("ENGINE_UNSUPPORTED")), ExitStatus::nothing_fits);
  EXPECT_EQ(exit_status(said("ENGINE_UNSUPPORTED").with(Key::stage, "create")), ExitStatus::not_loaded);
  EXPECT_EQ(exit_status(said("ENGINE_CORRUPT")), ExitStatus::wrong_bytes);
  EXPECT_EQ(exit_status(said("ENGINE_CORRUPT").with(Key::model, "/m.onnx")), ExitStatus::usage);
  EXPECT_EQ(category(said("ENGINE_CORRUPT").with(Key::model, "/m.onnx")), history::Category::request);
}

}  // namespace
}  // namespace enginehost::explain
