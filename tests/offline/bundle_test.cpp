#ifndef _WIN32
#include <sys/stat.h>
#endif

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "tests/offline/site.hpp"
#include "tests/support/host_programs.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using testing::HasSubstr;
using testing::Not;

class Bundle : public test::SiteTest {};

TEST_F(Bundle, ImportsABuildAsItWasInstalled) {
  const auto imported = import(bundle());
  ASSERT_TRUE(imported) << imported.error().code << " " << imported.error().value(Key::problem);
  ASSERT_EQ(imported->builds.size(), 1u);
  EXPECT_FALSE(imported->builds[0].was_there);
  EXPECT_TRUE(imported->builds[0].from_repository);
  const auto here = store().find("sample-1");
  const auto there = site.store().find("sample-1");
  ASSERT_TRUE(here && *here && there && *there);
  EXPECT_EQ((*here)->digest, (*there)->digest);
  EXPECT_EQ((*here)->artifacts_digest, (*there)->artifacts_digest);
  EXPECT_EQ((*here)->search, (*there)->search);
  EXPECT_TRUE(store().verify("sample-1", true)->empty());
  const fs::path view = (*here)->folder;
  if (test::makes_links(folder.path())) {
    EXPECT_EQ(fs::read_symlink(view / "lib/libruntime.so"), "libruntime.so.1");
  }
  calls::Status tool{}, text{};
  ASSERT_EQ(calls::stat(view / "bin/tool", &tool), 0);
  ASSERT_EQ(calls::stat(view / "share/tool.txt", &text), 0);
  if (keeps_modes(view)) {
    EXPECT_EQ(tool.st_mode & 0777, 0555u);
    EXPECT_EQ(text.st_mode & 0777, 0444u) << "the same bytes with and without the right to be executed";
  }
  EXPECT_TRUE(test::snapshot(folder / "lab/stage").empty());
}

TEST_F(Bundle, ReportsInstalledBuildsAndChangesNothing) {
  const fs::path file = bundle();
  ASSERT_TRUE(import(file));
  const auto before = test::snapshot(folder / "lab/refs");
  const auto again = import(file);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->builds[0].was_there);
  EXPECT_EQ(test::snapshot(folder / "lab/refs"), before);
}

TEST_F(Bundle, RepairsADamagedBuild) {
  const fs::path file = bundle();
  ASSERT_TRUE(import(file));
  const auto installed = store().find("sample-1");
  const fs::path library = (*installed)->folder / "lib/libruntime.so.1";
  fs::permissions(library, fs::perms::owner_all);
  test::write_text(library, "short");
  ASSERT_FALSE(store().find("sample-1"));
  const auto again = import(file);
  ASSERT_TRUE(again) << again.error().code << " " << again.error().value(Key::file);
  EXPECT_FALSE(again->builds[0].was_there);
  EXPECT_TRUE(store().verify("sample-1", true)->empty());
}

TEST_F(Bundle, ADamagedTreeOfAnotherBuildIsNotTakenForTheBundles) {
  site.add("sample-2", {test::plugin_of("2"), test::runtime()});
  ASSERT_TRUE(import(bundle({"sample-1"})));
  const auto first = store().find("sample-1");
  ASSERT_TRUE(first && *first);
  const fs::path library =
      cache::Store::tree_folder(store().root(), (*first)->trees.at(1)) / "lib/libruntime.so.1";
  fs::permissions(library, fs::perms::owner_all);
  test::write_text(library, "short");
  const auto imported = import(bundle({"sample-2"}));
  ASSERT_TRUE(imported) << imported.error().code << " " << imported.error().value(Key::file);
  EXPECT_TRUE(store().verify("sample-2", true)->empty());
  EXPECT_TRUE(store().verify("sample-1", true)->empty()) << "its view is made of the same tree";
  EXPECT_TRUE(store().find("sample-1").value());
}

TEST_F(Bundle, IsWrittenOntoFilesOnly) {
  bundle();
  const auto problem = [&](const std::string& name) {
    const auto exported = site.export_to(site.request({"sample-1"}, name));
    return exported ? "ok" : std::string(exported.error().code_text());
  };
  fs::create_directories(folder / "a-folder");
  EXPECT_EQ(problem("a-folder"), "EH-P40");
#ifndef _WIN32
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(problem("pipe"), "EH-P40");
  EXPECT_TRUE(fs::is_fifo(folder / "pipe")) << "it stays what it was";
  fs::create_symlink("pipe", folder / "to-pipe");
  fs::create_symlink("nowhere", folder / "to-nothing");
  fs::create_symlink("site.bundle", folder / "to-file");
  EXPECT_EQ(problem("to-pipe"), "EH-P40");
  EXPECT_EQ(problem("to-nothing"), "EH-P40");
  const std::string right = read_text(folder / "site.bundle");
  test::write_text(folder / "site.bundle", "old");
  EXPECT_EQ(problem("to-file"), "ok");
  EXPECT_TRUE(fs::is_symlink(folder / "to-file"));
  EXPECT_EQ(read_text(folder / "site.bundle"), right) << "the link was followed";
#endif
}

TEST_F(Bundle, TheSameBuildsGiveTheSameBytes) {
  bundle({"sample-1", "sample-arm"});
  ASSERT_TRUE(site.export_to(site.request({"sample-arm", "sample-1", "sample-1"}, "again.bundle")));
  EXPECT_EQ(read_text(folder / "site.bundle"), read_text(folder / "again.bundle"));
}

TEST_F(Bundle, AnotherCacheThatGotItFromABundleExportsTheSameBytes) {
  ASSERT_TRUE(import(bundle()));
  settings::Settings settings = site.settings;
  settings.cache_folder = folder / "lab";
  ASSERT_TRUE(export_bundle(open::OpenContext(settings), site.request({"sample-1"}, "lab.bundle")));
  EXPECT_EQ(read_text(folder / "site.bundle"), read_text(folder / "lab.bundle"));
}

TEST_F(Bundle, OrdinaryToolsReadIt) {
  bundle();
  const auto printed =
      test::run_host_program({"tar", "--zstd", "-xOf", test::host_path(folder / "site.bundle"), "spdx.json"});
  if (!printed) GTEST_SKIP() << "no tar that reads zstd";
  const auto spdx = parse_json(*printed, "spdx.json");
  ASSERT_TRUE(spdx);
  EXPECT_EQ((*spdx)["spdxVersion"].as_string(), "SPDX-2.3");
  EXPECT_EQ((*spdx)["creationInfo"]["created"].as_string(), "2026-01-02T03:04:05Z");
  std::set<std::string> ids;
  for (const Json& package : (*spdx)["packages"].as_array()) ids.insert(package["SPDXID"].as_string());
  EXPECT_EQ(ids.size(), 3u) << "the build, its plugin, its runtime";
  for (const Json& relation : (*spdx)["relationships"].as_array()) {
    EXPECT_TRUE(ids.contains(relation["relatedSpdxElement"].as_string()));
  }
}

TEST_F(Bundle, PartsHaveABoundAndAreImportedByTheirCommonName) {
  bundle();
  ExportRequest request = site.request({"sample-1"}, "parts.bundle");
  request.largest_part = 100'000;
  const auto exported = site.export_to(request);
  ASSERT_TRUE(exported);
  ASSERT_GT(exported->parts.size(), 3u);
  std::string joined;
  for (const WrittenPart& part : exported->parts) {
    EXPECT_LE(part.size, 100'000u);
    joined += read_text(folder / part.name);
  }
  EXPECT_EQ(joined, read_text(folder / "site.bundle")) << "cat of the parts is the bundle";
  EXPECT_EQ(outcome(folder / "parts.bundle"), "ok");
  EXPECT_EQ(outcome(folder / "parts.bundle.parts", "other"), "ok");
}

TEST_F(Bundle, AnExportReplacesTheEarlierOneOfItsName) {
  bundle({"sample-1", "sample-arm"});
  ExportRequest request = site.request({"sample-1", "sample-arm"}, "lab.bundle");
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (const std::string name = path_text(entry.path().filename()); name.starts_with("lab.bundle"))
        found.insert(name);
    return found;
  };
  const auto builds = [&] {
    const auto list = list_of_bundle(folder / "lab.bundle");
    return list ? std::to_string(list->list.builds.size()) : std::string(list.error().code_text());
  };
  ASSERT_TRUE(site.export_to(request));
  request.largest_part = 100'000;
  request.selection.builds = {"sample-1"};
  ASSERT_TRUE(site.export_to(request));
  EXPECT_EQ(builds(), "1") << "the parts, not the bundle that was there before";
  EXPECT_FALSE(names().contains("lab.bundle"));
  const std::size_t small = names().size();
  ASSERT_GT(small, 3u);

  request.largest_part = 20'000;
  ASSERT_TRUE(site.export_to(request));
  ASSERT_GT(names().size(), small);
  test::write_text(folder / "lab.bundle.900", "somebody else's");
  request.largest_part = 100'000;
  ASSERT_TRUE(site.export_to(request));
  EXPECT_EQ(names().size(), small + 1) << "surplus parts are gone, and nothing else is";

  request.largest_part = 0;
  ASSERT_TRUE(site.export_to(request));
  EXPECT_EQ(names(), (std::set<std::string>{"lab.bundle", "lab.bundle.900"}));

  // An import by this name would find that file instead of the parts.
  test::write_text(folder / "lab.bundle", "no bundle");
  request.largest_part = 100'000;
  const auto refused = site.export_to(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-P40");
  EXPECT_EQ(refused.error().value(Key::file), path_text(folder / "lab.bundle"));
  EXPECT_EQ(read_text(folder / "lab.bundle"), "no bundle") << "it is somebody else's";
  EXPECT_EQ(names(), (std::set<std::string>{"lab.bundle", "lab.bundle.900"})) << "nothing beside it";
}

TEST_F(Bundle, AMissingCutOrSwappedPartIsNamed) {
  bundle({"sample-1", "sample-arm"});
  ExportRequest request = site.request({"sample-1"}, "one.bundle");
  request.largest_part = 100'000;
  ASSERT_TRUE(site.export_to(request));
  request = site.request({"sample-arm"}, "two.bundle");
  request.largest_part = 100'000;
  ASSERT_TRUE(site.export_to(request));
  const fs::path part = folder / "one.bundle.002";
  const std::string bytes = read_text(part);
  const auto named = [&] {
    const auto imported = import(folder / "one.bundle");
    if (imported) return std::string("ok");
    return std::string(imported.error().code_text()) + " " +
           path_text(path_of(imported.error().value(Key::part)).filename());
  };
  test::write_text(part, bytes.substr(0, 50'000));
  EXPECT_EQ(named(), "EH-F43 one.bundle.002");
  fs::remove(part);
  fs::copy_file(folder / "two.bundle.002", part);
  EXPECT_EQ(named(), "EH-F43 one.bundle.002");
  fs::remove(part);
  EXPECT_EQ(named(), "EH-F42 one.bundle.002");
  expect_nothing();
  test::write_text(part, bytes);
  EXPECT_EQ(named(), "ok");
}

TEST_F(Bundle, PartsWithoutTheirListAreReported) {
  bundle();
  ExportRequest request = site.request({"sample-1"}, "parts.bundle");
  request.largest_part = 100'000;
  const auto exported = site.export_to(request);
  ASSERT_TRUE(exported);
  ASSERT_GT(exported->parts.size(), 3u);
  const std::string last = exported->parts.back().name;
  const fs::path list = folder / "parts.bundle.parts";
  const auto found = [&](const std::string& name) {
    const auto imported = import(folder / name);
    if (imported) return std::string("ok");
    const Diagnosis& failure = imported.error();
    EXPECT_EQ(failure.value(Key::part), failure.code == "EH-F42" ? path_text(list) : "") << name;
    return std::string(failure.code_text()) + " " + std::string(failure.value(Key::parts_found));
  };
  EXPECT_EQ(outcome(folder / "parts.bundle.002"), "ok") << "its list is there";
  fs::remove(list);
  for (const std::string& named : {std::string("parts.bundle"), std::string("parts.bundle.001"), last})
    EXPECT_EQ(found(named), "EH-F42 parts.bundle.001 to " + last);
  fs::remove(folder / "parts.bundle.002");
  EXPECT_EQ(found("parts.bundle"), "EH-F42 parts.bundle.001 to " + last + ", without parts.bundle.002");
  for (std::size_t i = 1; i < exported->parts.size(); ++i) fs::remove(folder / exported->parts[i].name);
  EXPECT_EQ(found("parts.bundle.001"), "EH-F42 parts.bundle.001");
  EXPECT_EQ(found("other.bundle").substr(0, 6), "EH-P47");
  fs::rename(folder / "site.bundle", folder / "whole.001");
  EXPECT_EQ(found("whole.001"), "ok") << "a whole bundle may be called as it likes";
}

TEST_F(Bundle, ADamagedFileIsNotExported) {
  bundle();
  fs::remove(folder / "site.bundle");
  const auto installed = site.store().find("sample-1");
  ASSERT_TRUE(installed && *installed);
  const fs::path file =
      cache::Store::tree_folder((*installed)->layer, (*installed)->trees[0]) / "libengine_sample.so";
  std::string bytes = read_text(file);
  bytes[bytes.size() / 2] ^= 1;
  fs::permissions(file, fs::perms::owner_all);
  test::write_text(file, bytes);
  const auto exported = site.export_to(site.request({"sample-1"}));
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().code, "EH-F08");
  EXPECT_THAT(std::string(exported.error().value(Key::file)), HasSubstr("libengine_sample.so"));
  for (const auto& left : fs::directory_iterator(folder.path()))
    EXPECT_THAT(path_text(left.path()), Not(HasSubstr("bundle")));
}

TEST_F(Bundle, WithoutItsRepositoryABuildIsExportedFromItsRecord) {
  bundle();
  settings::Settings alone = site.settings;
  alone.repositories.clear();
  ASSERT_TRUE(export_bundle(open::OpenContext(alone), site.request({"sample-1"}, "own.bundle")));
  for (const auto& [name, bytes] : test::entries_of(folder / "own.bundle"))
    EXPECT_THAT(bytes, Not(HasSubstr(path_text(folder.path())))) << name;
  const auto imported = import(folder / "own.bundle");
  ASSERT_TRUE(imported) << imported.error().code << " " << imported.error().value(Key::problem);
  EXPECT_FALSE(imported->builds[0].from_repository);
  EXPECT_TRUE(store().verify("sample-1", true)->empty());
}

TEST_F(Bundle, KeepsTheRepositorysDocumentsUnchanged) {
  ASSERT_TRUE(import(bundle()));
  const std::string index = read_text(folder / "repository/index.json");
  const fs::path kept = folder / "lab/repositories" / ("bundle-" + sha256_hex(index).substr(0, 32));
  EXPECT_EQ(read_text(kept / "index.json"), index);
  EXPECT_EQ(read_text(kept / "sample.json"), read_text(folder / "repository/sample.json"));
}

TEST_F(Bundle, AnImportedBuildNeedsNoRepository) {
  ASSERT_TRUE(import(bundle({"sample-1", "sample-arm"})));
  settings::Settings lab;
  lab.cache_folder = folder / "lab";
  lab.offline = true;
  open::OpenContext context(lab);
  std::vector<std::string> known;
  for (const auto& build : context.catalog().builds) known.push_back(build->id);
  EXPECT_THAT(known, testing::UnorderedElementsAre("sample-1", "sample-arm"));
  EXPECT_TRUE(context.catalog().failures.empty());
}

TEST_F(Bundle, ARefusedConsentLeavesNothing) {
  site.add("sample-closed",
           {test::plugin_of("closed"), {"extra", {{"lib/extra.so", test::library("extra")}}, "closed", {}}});
  ASSERT_TRUE(site.install("sample-closed"));
  ExportRequest exporting = site.request({"sample-closed"});
  exporting.selection.licenses_by_order = {"LicenseRef-Closed"};
  ASSERT_TRUE(site.export_to(exporting));
  ImportRequest request;
  request.file = folder / "site.bundle";
  std::string asked;
  request.consent = [&](const acquire::Question& question) -> Result<void> {
    for (const acquire::LicenseQuestion& license : question.licenses)
      if (license.license.explicit_consent) asked = license.license.id;
    return fail(diagnose(Code::consent_missing).with(Key::license, asked));
  };
  const auto imported = import_bundle(store(), request);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, "EH-P03");
  EXPECT_EQ(asked, "LicenseRef-Closed");
  expect_nothing();
}

TEST_F(Bundle, ACanceledImportLeavesNothing) {
  const fs::path file = bundle();
  ImportRequest request;
  request.file = file;
  request.cancel = CancelToken();
  request.progress = [&](std::uint64_t done, std::uint64_t) {
    if (done > 100'000) request.cancel->cancel();
  };
  const auto imported = import_bundle(store(), request);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, "EH-P10");
  expect_nothing();
}

}  // namespace
}  // namespace enginehost::offline
