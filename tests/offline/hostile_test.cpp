// Bundles with wrong contents: refused by name, and nothing is left.
#include "host/offline/bundle_list.hpp"

#include "tests/offline/site.hpp"
#include "tools/offline/bundle_writer.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;
using test::Entries;
using testing::HasSubstr;

class Hostile : public test::SiteTest {
 protected:
  void SetUp() override { good = test::entries_of(bundle()); }

  std::string said(const std::string& bytes) {
    test::write_text(folder / "bad.bundle", bytes);
    const std::string outcome = this->outcome(folder / "bad.bundle");
    expect_nothing();
    return outcome;
  }
  std::string said(const Entries& entries) { return said(test::tar_of(entries)); }

  // With a changed list, and everything that depends on it.
  std::string with_list(const std::function<void(BundleList&)>& change) {
    Entries entries = good;
    auto list = read_bundle_list(entries[0].second, "good");
    EXPECT_TRUE(list);
    change(*list);
    entries[0].second = text_of(*list);
    return said(entries);
  }
  std::string with_text(const std::string& from, const std::string& to) {
    Entries entries = good;
    const std::size_t at = entries[0].second.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    entries[0].second.replace(at, from.size(), to);
    return said(entries);
  }
  // With one tree's list replaced under its new digest, and matching files.
  std::string with_tree(const std::string& tree, const std::vector<std::string>& files) {
    return said(entries_with_tree(tree, files));
  }
  Entries entries_with_tree(const std::string& tree, const std::vector<std::string>& files) {
    const std::string id = sha256_hex(tree);
    auto list = read_bundle_list(good[0].second, "good");
    std::map<std::string, std::string> blobs;
    for (std::size_t i = 2; i < good.size(); ++i)
      blobs[good[i].first.substr(blob_folder.size())] = good[i].second;
    std::set<std::string> documents;
    std::string replaced;
    for (auto& [component, known] : list->builds[0].trees)
      if (component == "runtime") {
        replaced = known;
        known = id;
      }
    list->documents.clear();
    blobs[id] = tree;
    documents.insert(id);
    for (const auto& [component, known] : list->builds[0].trees) documents.insert(known);
    documents.insert(list->builds[0].manifest);
    for (const auto& document : list->repositories[0].documents) documents.insert(document.sha256);
    for (const std::string& digest : documents) list->documents.push_back({digest, blobs[digest].size()});
    list->files.clear();
    std::set<std::string> wanted;
    for (const std::string& file : files) {
      blobs[sha256_hex(file)] = file;
      wanted.insert(sha256_hex(file));
    }
    const auto plugin = cache::read_tree_list(blobs[list->builds[0].trees[0].second], "plugin");
    for (const cache::TreeEntry& entry : plugin->entries) wanted.insert(entry.identity);
    for (const std::string& digest : wanted) list->files.push_back({digest, blobs[digest].size()});
    Entries entries{{std::string(list_entry), text_of(*list)}, good[1]};
    for (const auto* kind : {&list->documents, &list->files})
      for (const Blob& blob : *kind)
        entries.emplace_back(std::string(blob_folder) + blob.sha256, blobs[blob.sha256]);
    return entries;
  }
  static std::string line(const std::string& bytes, const std::string& path) {
    return "F " + std::to_string(bytes.size()) + " " + sha256_hex(bytes) + " " + path + "\n";
  }

  Entries good;
};

TEST_F(Hostile, TheUnchangedEntriesAreAccepted) {
  test::write_text(folder / "plain.bundle", test::tar_of(good));
  EXPECT_EQ(outcome(folder / "plain.bundle"), "ok") << "not compressed";
}

TEST_F(Hostile, AFileThatIsNoBundleIsRefused) {
  EXPECT_THAT(said(std::string()), HasSubstr("EH-F40"));
  EXPECT_THAT(said(std::string("text")), HasSubstr("EH-F40"));
  EXPECT_THAT(said(std::string(100'000, '\0')), HasSubstr("EH-F40"));
  EXPECT_THAT(said(test::noise(100'000)), HasSubstr("EH-F40"));
  EXPECT_THAT(said(test::make_archive("zip", {{"a", "b"}})), HasSubstr("EH-F40"));
  EXPECT_THAT(said(test::make_archive("tar", {{"bundle.json", good[0].second}})), HasSubstr("EH-F40"));
}

TEST_F(Hostile, ACutAnywhereIsRefused) {
  for (const std::string& bytes : {test::tar_of(good), test::read_text(folder / "site.bundle")})
    for (std::size_t cut = 1; cut < 40; ++cut)
      ASSERT_THAT(said(bytes.substr(0, bytes.size() * cut / 40)), HasSubstr("EH-F40")) << cut;
  const std::string tar = test::tar_of(good);
  for (const std::size_t missing : {1u, 511u, 512u, 513u, 1024u})
    ASSERT_THAT(said(tar.substr(0, tar.size() - missing)), HasSubstr("EH-F40")) << missing;
}

TEST_F(Hostile, BytesAfterItsEndAreRefused) {
  EXPECT_THAT(said(test::tar_of(good) + "x"), HasSubstr("after its end"));
  EXPECT_THAT(said(test::tar_of(good) + std::string(512, '\0')), HasSubstr("after its end"));
  EXPECT_THAT(said(test::tar_of(good) + test::tar_of(good)), HasSubstr("after its end"));
  const std::string packed = test::read_text(folder / "site.bundle");
  EXPECT_THAT(said(packed + "trailing"), HasSubstr("EH-F40"));
  EXPECT_THAT(said(packed + std::string(1 << 20, '\0')), HasSubstr("EH-F40"));
  EXPECT_THAT(said(packed + packed), HasSubstr("after its end"));
  // A skippable frame, and a frame without content.
  EXPECT_THAT(said(packed + std::string("\x50\x2a\x4d\x18\x05\0\0\0hello", 13)), HasSubstr("after its end"));
  EXPECT_THAT(said(packed + std::string("\x28\xb5\x2f\xfd\x20\0\x01\0\0", 9)), HasSubstr("after its end"));
}

TEST_F(Hostile, EveryFlippedBitIsFound) {
  // In the tar archive only contents may vary; in the packed one every region is tried.
  std::string tar = test::tar_of(good), packed = test::read_text(folder / "site.bundle");
  for (std::string* bytes : {&tar, &packed})
    for (std::size_t step = 1; step < 48; ++step) {
      const std::size_t at = bytes->size() * step / 48;
      (*bytes)[at] ^= 0x10;
      ASSERT_THAT(said(*bytes), testing::StartsWith("EH-")) << at;
      (*bytes)[at] ^= 0x10;
    }
}

TEST_F(Hostile, WrongExtraMissingAndReorderedEntriesAreRefused) {
  Entries entries = good;
  entries.back().second[10] ^= 1;
  EXPECT_THAT(said(entries), HasSubstr("not those that the list names"));
  entries = good;
  entries.emplace_back("blobs/sha256/" + sha256_hex("more"), "more");
  EXPECT_THAT(said(entries), HasSubstr("more than its list says"));
  entries = good;
  entries.pop_back();
  EXPECT_THAT(said(entries), HasSubstr("not where the list says"));
  entries = good;
  std::swap(entries[entries.size() - 1], entries[entries.size() - 2]);
  EXPECT_THAT(said(entries), HasSubstr("not where the list says"));
  entries = good;
  entries.insert(entries.end() - 1, entries.back());
  EXPECT_THAT(said(entries), HasSubstr("EH-F40"));
  entries = good;
  std::swap(entries[0], entries[1]);
  EXPECT_THAT(said(entries), HasSubstr("not where the list says"));
}

TEST_F(Hostile, NamesThatLeadOutsideAreRefused) {
  for (const char* name : {"../escape", "/etc/escape", "blobs/sha256/../../escape", "bundle.json"}) {
    Entries entries = good;
    entries.back().first = name;
    EXPECT_THAT(said(entries), HasSubstr("EH-F40")) << name;
    EXPECT_FALSE(fs::exists(folder / "escape"));
  }
}

TEST_F(Hostile, AmbiguousHeadersAreRefused) {
  std::string tar = test::tar_of(good);
  for (const auto& [at, byte] : std::vector<std::pair<std::size_t, char>>{
           {156, '2'}, {156, 'x'}, {100, '1'}, {108, '1'}, {136, '1'}, {265, 'r'}, {345, 'p'}, {500, 'z'}}) {
    std::string changed = tar;
    changed[at] = byte;
    EXPECT_THAT(said(changed), HasSubstr("EH-F40")) << at;
  }
}

TEST_F(Hostile, WrongSizesAreRefused) {
  EXPECT_THAT(with_list([](BundleList& list) { ++list.files.back().size; }), HasSubstr("EH-F40"));
  EXPECT_THAT(with_list([](BundleList& list) { list.files.back().size = std::uint64_t{1} << 62; }),
              HasSubstr("EH-F40"));
  EXPECT_THAT(with_list([](BundleList& list) { list.documents[0].size = largest_list + 1; }),
              HasSubstr("too large"));
  EXPECT_THAT(with_text("\"size\": ", "\"size\": -"), HasSubstr("is no size"));
  std::string tar = test::tar_of(good);
  const auto header = tar_header("bundle.json", std::uint64_t{1} << 50);
  EXPECT_THAT(said(std::string(header.data(), header.size()) + tar), HasSubstr("larger"));
}

TEST_F(Hostile, ContradictoryListsAreRefused) {
  EXPECT_THAT(with_list([](BundleList& list) { list.files.push_back(list.files.back()); }),
              HasSubstr("twice"));
  EXPECT_THAT(with_list([](BundleList& list) { std::swap(list.files[0], list.files[1]); }),
              HasSubstr("out of order"));
  EXPECT_THAT(with_list([](BundleList& list) { list.builds.push_back(list.builds[0]); }), HasSubstr("twice"));
  EXPECT_THAT(with_list([](BundleList& list) { list.builds.clear(); }), HasSubstr("builds"));
  EXPECT_THAT(with_list([](BundleList& list) { list.builds[0].id = "../../x"; }), HasSubstr("builds[0].id"));
  EXPECT_THAT(with_list([](BundleList& list) { list.needs.push_back(list.files[0]); }),
              HasSubstr("in the bundle"));
  EXPECT_THAT(with_list([](BundleList& list) { list.files.pop_back(); }), HasSubstr("lacks"));
  EXPECT_THAT(with_list([](BundleList& list) { list.documents.pop_back(); }), HasSubstr("lacks"));
  EXPECT_THAT(with_list([](BundleList& list) { list.repositories[0].documents[0].path = "../index.json"; }),
              HasSubstr("repositories[0]"));
  EXPECT_THAT(with_text("\"kind\": \"enginehost-bundle\"", "\"kind\": \"another\""), HasSubstr("kind"));
  EXPECT_THAT(with_text("\"format\": 1,", "\"format\": 1, \"format\": 1,"), HasSubstr("EH-F40"));
}

// Each listed repository costs reading and verifying it, although all may have the same documents.
TEST_F(Hostile, ListsThatWouldTakeHoursAreRefused) {
  const auto problem = [](const std::string& member, std::size_t entries, std::size_t most) {
    return HasSubstr(member + " has " + std::to_string(entries) + " entries, and at most " +
                     std::to_string(most) + " are read");
  };
  EXPECT_THAT(with_list([](BundleList& list) { list.repositories.resize(101, list.repositories[0]); }),
              problem("repositories", 101, most_repositories));
  EXPECT_THAT(with_list([](BundleList& list) { list.licenses.resize(most_licenses + 1); }),
              problem("licenses", 10'001, most_licenses));
  EXPECT_THAT(with_list([](BundleList& list) { list.builds.resize(most_builds + 1, list.builds[0]); }),
              problem("builds", 10'001, most_builds));
  EXPECT_THAT(with_list([](BundleList& list) {
                list.repositories[0].documents.resize(most_repository_documents + 1,
                                                      list.repositories[0].documents[0]);
              }),
              problem("documents", 2'001, most_repository_documents));
}

TEST_F(Hostile, AListOfNothingButBracesIsRefused) {
  std::string values;
  for (std::size_t i = 0; i <= most_values; ++i) values += "0,";
  EXPECT_THAT(with_text("\"format\": 1,", "\"format\": 1, \"x\": [" + values + "0],"),
              HasSubstr("more than 4000000 values"));
  EXPECT_THAT(with_text("\"format\": 1,", "\"format\": 1, \"x\": " + std::string(1'000'000, '[')),
              HasSubstr("nested deeper than 8 levels"));
}

TEST_F(Hostile, AFileOfNoBuildIsRefused) {
  Entries entries = good;
  auto list = read_bundle_list(entries[0].second, "good");
  const std::string unlisted_file = "stranger";
  const Blob blob{sha256_hex(unlisted_file), unlisted_file.size()};
  list->files.push_back(blob);
  std::sort(list->files.begin(), list->files.end(),
            [](const Blob& a, const Blob& b) { return a.sha256 < b.sha256; });
  entries[0].second = text_of(*list);
  EXPECT_THAT(said(entries), HasSubstr("files that no build has"));
}

TEST_F(Hostile, ANewerFormatIsNamedAsSuch) {
  EXPECT_THAT(with_text("\"format\": 1", "\"format\": 2"), HasSubstr("EH-M04"));
  EXPECT_THAT(with_text("\"format\": 1", "\"critical\": [\"sealed\"], \"format\": 1"), HasSubstr("EH-M03"));
}

TEST_F(Hostile, TreesThatClimbOutCollideOrLinkAreRefused) {
  const std::string bytes = test::library("evil"), link = "lib/x";
  EXPECT_THAT(with_tree(line(bytes, "../evil.so"), {bytes}), HasSubstr("climbs out"));
  EXPECT_THAT(with_tree(line(bytes, "/evil.so"), {bytes}), HasSubstr("absolute"));
  EXPECT_THAT(with_tree("L 11 /etc/passwd lib/x\n", {}), HasSubstr("absolute link"));
  EXPECT_THAT(with_tree("L 4 lost lib/x\n", {}), HasSubstr("EH-F19"));
  const std::string first = line(bytes, "lib/A.so"), second = line(bytes, "lib/a.so");
  EXPECT_THAT(with_tree(std::min(first, second) + std::max(first, second), {bytes}), HasSubstr("case"));
  const std::string file = line(bytes, "lib"), below = line(bytes, "lib/x.so");
  EXPECT_THAT(with_tree(std::min(file, below) + std::max(file, below), {bytes}), HasSubstr("EH-F19"));
  // A file of the plugin's tree with other bytes.
  EXPECT_THAT(with_tree(line(bytes, "libengine_sample.so"), {bytes}), HasSubstr("EH-F20"));
}

// A bundle is made on one system and may be imported on another.
TEST_F(Hostile, NamesThatAnotherSystemReadsOtherwiseAreRefused) {
  const std::string bytes = test::library("evil");
  for (const char* name : {"C:/evil.so", "lib/CON.txt", "lib/a.so:stream",
                           "lib/a\xe2\x80\xae"
                           "b.so",
                           "lib/a.so.", "lib/\xff.so", "lib/a?.so"})
    EXPECT_THAT(with_tree(line(bytes, name), {bytes}), HasSubstr("EH-F19")) << name;
  EXPECT_THAT(with_tree("L 9 C:/evil.x lib/x\n", {}), HasSubstr("a colon"));
  const std::string first = line(bytes, "lib/\xc3\x89.so"), second = line(bytes, "lib/\xc3\xa9.so");
  EXPECT_THAT(with_tree(std::min(first, second) + std::max(first, second), {bytes}), HasSubstr("case"));
}

TEST_F(Hostile, BytesUnlikeTheManifestAreRefused) {
  // The manifest pins the runtime's tree; the bundle holds another one.
  test::SiteComponent pinned = test::runtime();
  pinned.id = "runtime";
  pinned.tree = std::string(64, '0');
  const auto installed = site.store().find("sample-1");
  ASSERT_TRUE(installed && *installed);
  pinned.tree = (*installed)->trees[1];
  test::Site signed_site(folder / "pinned");
  signed_site.add("sample-1", {test::plugin_of("1"), pinned});
  ASSERT_TRUE(signed_site.install("sample-1"));
  ASSERT_TRUE(signed_site.export_to(signed_site.request({"sample-1"})));
  good = test::entries_of(folder / "pinned/site.bundle");
  const std::string bytes = test::library("evil");
  EXPECT_THAT(with_tree(line(bytes, "lib/evil.so"), {bytes}), HasSubstr("not those that its manifest names"));
}

// The bundle has the archives' digests, which say nothing about its files.
TEST_F(Hostile, M40FilesWithAWeakerProofReplaceNoInstalledBuild) {
  const std::string bytes = test::library("evil");
  test::write_text(folder / "bad.bundle",
                   test::tar_of(entries_with_tree(line(bytes, "lib/evil.so"), {bytes})));
  site.settings.cache_folder = folder / "lab";
  const auto installed = site.install("sample-1");
  ASSERT_TRUE(installed);
  EXPECT_EQ(installed->files_by, "archive");
  const auto before = test::snapshot(folder / "lab" / "refs");
  EXPECT_THAT(outcome(folder / "bad.bundle"), HasSubstr("EH-M40 no trusted key signed"));
  EXPECT_EQ(test::snapshot(folder / "lab" / "refs"), before);
  // Removing it is a person's decision.
  ASSERT_TRUE(store().remove("sample-1"));
  EXPECT_EQ(outcome(folder / "bad.bundle"), "ok");
  EXPECT_EQ((**store().record_of("sample-1")).files_by, "bundle");
}

// Files of a bundle are not opened as the build whose manifest names other files.
TEST_F(Hostile, ImportedFilesThatTheRepositoryDoesNotNameAreReplaced) {
  const std::string bytes = test::library("evil");
  test::write_text(folder / "bad.bundle",
                   test::tar_of(entries_with_tree(line(bytes, "lib/evil.so"), {bytes})));
  EXPECT_EQ(outcome(folder / "bad.bundle"), "ok") << "nothing was installed";
  const auto genuine = site.store().find("sample-1");
  ASSERT_TRUE(genuine && *genuine);
  test::SiteComponent plugin = test::plugin_of("1"), runtime = test::runtime();
  plugin.tree = (*genuine)->trees[0];
  runtime.tree = (*genuine)->trees[1];
  test::Site naming(folder / "naming");
  naming.add("sample-1", {plugin, runtime});
  naming.settings.cache_folder = folder / "lab";
  const auto opened = naming.install("sample-1");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->digest, (*genuine)->digest);
  EXPECT_EQ(opened->files_by, "manifest") << "the plugin came with the bundle, and the manifest names it";
}

// They serve the build that came with them, and no other build that names the same archives.
TEST_F(Hostile, FilesOfABundleAreNoArchive) {
  const std::string bytes = test::library("evil");
  test::write_text(folder / "bad.bundle",
                   test::tar_of(entries_with_tree(line(bytes, "lib/libruntime.so.1"), {bytes})));
  ASSERT_EQ(outcome(folder / "bad.bundle"), "ok") << "nothing was installed";
  test::Site other(folder / "other");
  other.add("sample-2", {test::plugin_of("2"), test::runtime()});
  other.settings.cache_folder = folder / "lab";
  const auto opened = other.install("sample-2");
  ASSERT_TRUE(opened) << opened.error().code;
  EXPECT_EQ(opened->files_by, "archive");
  EXPECT_EQ(test::read_text(opened->folder / "lib/libruntime.so.1"), test::runtime().files[0].bytes);
}

TEST_F(Hostile, AManifestUnlikeTheIndexIsRefused) {
  Entries entries = good;
  auto list = read_bundle_list(entries[0].second, "good");
  // The index's digest of the manifest no longer matches, so the build's manifest is the bundle's alone.
  EXPECT_TRUE(list);
  ImportRequest request;
  request.file = folder / "site.bundle";
  request.unsigned_allowed = false;
  const auto refused = import_bundle(store(), request);
  ASSERT_FALSE(refused) << "its manifest does not name the trees";
  EXPECT_EQ(refused.error().code, "EH-M40");
  EXPECT_EQ(refused.error().value(Key::build), "sample-1");
  expect_nothing();
}

// In a folder of several users, somebody may have prepared the name that an export writes first.
TEST_F(Hostile, AnUnfinishedFileWithAnotherNameIsNotUsed) {
  test::write_text(folder / "precious", "mine");
  fs::create_hard_link(folder / "precious", folder / "lab.bundle.unfinished");
  const auto writer = BundleWriter::create(folder / "lab.bundle", 0);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, "EH-P40");
  EXPECT_THAT(std::string(writer.error().value(Key::problem)), HasSubstr("is in the way"));
  EXPECT_EQ(test::read_text(folder / "precious"), "mine");
  fs::remove(folder / "lab.bundle.unfinished");
  EXPECT_TRUE(BundleWriter::create(folder / "lab.bundle", 0));
}

}  // namespace
}  // namespace enginehost::offline
