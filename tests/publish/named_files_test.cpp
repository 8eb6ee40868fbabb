// The names of files that `add` writes, and what `lint` asks for.
#include "tools/publish/names.hpp"

#include "base/text.hpp"
#include "host/acquire/description.hpp"
#include "host/manifest/repository.hpp"
#include "tests/publish/fixture.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::publish {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = cache::TreeEntry::Kind;

class NamedFilesTest : public PublisherTest {
 protected:
  // The engine's files in an archive, below `top`, with a link and a program.
  std::vector<test::ArchiveEntry> entries(const std::string& top = "") const {
    const std::string library = bytes_of(toy());
    return {{top + "lib/" + library_name(), library, 0644},
            {.path = top + "lib/alias", .bytes = "", .mode = 0777, .link = library_name()},
            {top + "bin/tool", "#!/bin/sh\n", 0755},
            {top + "share/words.txt", "toy", 0644},
            {top + "share/empty", "", 0644}};
  }
  std::string library_name() const { return path_text(toy().filename()); }
  AddRequest archived(const std::string& name, const std::string& bytes) {
    write(name, bytes);
    AddRequest archive = request();
    archive.file = folder() / name;
    return archive;
  }
  Added added(const AddRequest& request) {
    auto result = publish::add(workspace(), request);
    EXPECT_TRUE(result) << result.error().code << " " << result.error().value(Key::problem);
    return result ? std::move(*result) : Added{};
  }
  // The first artifact of the engine's files, as users' machines read it.
  manifest::Artifact artifact(const std::string& version = "1.0.0") {
    const fs::path file = workspace().engine_file("toy");
    const auto document = parse_json(bytes_of(file), path_text(file));
    const auto read = manifest::read_manifest(*document, path_text(repository()), path_text(file));
    EXPECT_TRUE(read) << (read ? "" : read.error().value(Key::problem));
    return read ? (*read)->components.at("toy-" + version + "-cpu-" + platform()).artifacts.front()
                : manifest::Artifact{};
  }
  std::vector<std::string> listed() {
    std::vector<std::string> lines;
    for (const cache::TreeEntry& entry : artifact().files)
      lines.push_back(std::string(1, static_cast<char>(entry.kind)) + " " + std::to_string(entry.size) + " " +
                      entry.path);
    return lines;
  }
  // Adds a withdrawn build whose reason leaves this many bytes of a manifest.
  void leave_room(std::size_t bytes) {
    add_toy();
    const fs::path file = workspace().engine_file("toy");
    Json manifest = *parse_json(bytes_of(file), "toy");
    Json build = manifest["builds"].as_array()[0];
    build.set("yanked", std::string(manifest::largest_document - bytes_of(file).size() - bytes, 'x'));
    manifest.set("builds", Json::array().push(std::move(build)));
    write("repository/engines/toy.json", Workspace::text_of(manifest));
  }
  std::string warnings() const {
    std::string all;
    for (const Diagnosis& one : lint(workspace()).warnings)
      all += std::string(one.value(Key::member)) + ": " + std::string(one.value(Key::problem)) + "\n";
    return all;
  }
};

TEST_F(NamedFilesTest, EveryKindOfArchiveHasItsFilesNamed) {
  const std::string size = std::to_string(fs::file_size(toy()));
  for (const char* kind : {"zip", "tar", "tar.gz", "tar.xz", "tar.zst"}) {
    SCOPED_TRACE(kind);
    const AddRequest archive = archived(std::string("engine.") + kind, test::make_archive(kind, entries()));
    EXPECT_THAT(added(archive).warnings, IsEmpty());
    EXPECT_THAT(
        listed(),
        ElementsAre("X 10 bin/tool", "L " + std::to_string(library_name().size()) + " lib/alias",
                    "F " + size + " lib/" + library_name(), "F 0 share/empty", "F 3 share/words.txt"));
    const manifest::Artifact read = artifact();
    EXPECT_EQ(cache::TreeList{read.files}.id(), read.tree);
    EXPECT_EQ(read.files.back().identity, sha256_hex("toy"));
    EXPECT_EQ(read.files[1].identity, library_name());
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_THAT(warnings(), IsEmpty());
  }
}

TEST_F(NamedFilesTest, OnlyTheFilesThatAreTakenAreNamed) {
  AddRequest archive = archived("engine.tar.gz", test::make_archive("tar.gz", entries("toy-1.0/")));
  archive.strip = 1;
  archive.select = {"lib/*.*", "share/w*"};
  added(archive);
  EXPECT_THAT(listed(), ElementsAre("F " + std::to_string(fs::file_size(toy())) + " lib/" + library_name(),
                                    "F 3 share/words.txt"));
  EXPECT_THAT(problems() + warnings(), IsEmpty());
}

// A user's machine then fetches 1 MiB of the 6.
TEST_F(NamedFilesTest, TheRangesOfTheFilesThatAreTakenAreNamed) {
  auto all = entries();
  all.insert(all.begin() + 1, {"docs/large", test::noise(5u << 20), 0644});
  all.push_back({"lib/data.bin", test::noise(1u << 20, 2), 0644});
  const std::string zip = test::make_archive("zip", all);
  AddRequest archive = archived("engine.zip", zip);
  archive.select = {"lib/*", "bin/*"};
  added(archive);
  const std::vector<transfer::Range> ranges = artifact().ranges;
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 0u);
  EXPECT_LT(ranges[0].end, zip.find("docs/large"));
  EXPECT_GT(ranges[1].begin, 5u << 20);
  EXPECT_LT(ranges[1].end, zip.size());
  EXPECT_THAT(problems() + warnings(), IsEmpty());
  archive.select.clear();
  added(archive);
  EXPECT_THAT(artifact().ranges, IsEmpty()) << "all of it is taken";
  added(archived("engine.tar.gz", test::make_archive("tar.gz", all)));
  EXPECT_THAT(artifact().ranges, IsEmpty());
}

TEST_F(NamedFilesTest, AWheelAndAFolderHaveTheirFilesNamed) {
  added(archived("toy-1.0.0-py3-none-any.whl", test::make_archive("zip", entries())));
  EXPECT_EQ(listed().size(), 5u);
  EXPECT_THAT(warnings(), IsEmpty());
  added(request());
  ASSERT_EQ(artifact().files.size(), 1u);
  EXPECT_EQ(artifact().files[0].path, "lib/" + library_name());
  EXPECT_THAT(warnings(), IsEmpty());
}

// A single file has the digest and the size of its artifact.
TEST_F(NamedFilesTest, AFileThatIsNoArchiveIsNotNamedTwice) {
  add_toy();
  const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const Json& plugin =
      (*document)["components"]["toy-plugin-1.0.0-cpu-" + platform()]["artifacts"].as_array()[0];
  EXPECT_EQ(plugin["archive"].as_string(), "none");
  EXPECT_EQ(plugin.find("files"), nullptr);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(NamedFilesTest, LintAsksForNamesThatAreMissing) {
  add_toy();
  edit("\"files\": [", "\"files\": null, \"$others\": [");
  EXPECT_THAT(warnings(),
              HasSubstr("components.toy-1.0.0-cpu-" + platform() + ": it names its tree and not each file"));
  add_toy();
  EXPECT_THAT(warnings(), IsEmpty());
  // Names that are not those of the tree are wrong for every reader.
  edit("\"path\": \"lib/", "\"path\": \"other/");
  const auto findings = lint(workspace());
  ASSERT_THAT(findings.errors, testing::SizeIs(1));
  EXPECT_EQ(findings.errors[0].value(Key::problem), "these files do not give \"tree\"");
}

TEST_F(NamedFilesTest, AManifestHoldsNoMoreNamesThanMachinesRead) {
  leave_room(6000);
  std::vector<test::ArchiveEntry> many = entries();
  for (int i = 0; i < 20; ++i)
    many.push_back({std::string(200, 'a') + "/" + std::string(200, 'b') + std::to_string(i), "", 0644});
  AddRequest archive = archived("engine.tar.gz", test::make_archive("tar.gz", many));
  archive.version = "2.0.0";
  const Added build = added(archive);
  ASSERT_THAT(build.warnings, testing::SizeIs(1));
  EXPECT_EQ(build.warnings[0].code, "EH-M16");
  EXPECT_EQ(build.warnings[0].value(Key::document), path_text(workspace().engine_file("toy")));
  EXPECT_EQ(build.warnings[0].value(Key::member), "components.toy-2.0.0-cpu-" + platform());
  EXPECT_THAT(std::string(build.warnings[0].value(Key::problem)),
              testing::MatchesRegex(
                  "its 25 files are named by \"tree\" alone: with each of them it would have 839.... "
                  "bytes, and users' machines read at most 8388608 of a manifest"));
  EXPECT_THAT(std::string(build.warnings[0].value(Key::remedy)), HasSubstr("--select"));
  EXPECT_THAT(artifact("2.0.0").files, IsEmpty());
  EXPECT_FALSE(artifact("2.0.0").tree.empty());
  // Nobody is asked for what cannot be done.
  EXPECT_THAT(problems() + warnings(), IsEmpty());
}

TEST_F(NamedFilesTest, ABuildThatMakesTheManifestTooLargeIsRefused) {
  leave_room(500);
  const std::string before = bytes_of(workspace().engine_file("toy"));
  const auto refused = publish::add(workspace(), request("2.0.0"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M17");
  EXPECT_THAT(std::string(refused.error().value(Key::problem)),
              testing::MatchesRegex(
                  "it would have 83..... bytes, and users' machines read at most 8388608 of a manifest"));
  EXPECT_THAT(std::string(refused.error().value(Key::remedy)), HasSubstr("remove builds"));
  EXPECT_EQ(bytes_of(workspace().engine_file("toy")), before);
}

TEST_F(NamedFilesTest, TheManifestsOfARepositoryTogetherHaveALimit) {
  for (int i = 0; i < 8; ++i) {
    const std::string name = "repository/engines/other" + std::to_string(i) + ".json";
    write(name, "{}");
    fs::resize_file(folder() / name, i == 0 ? (8u << 20) - 4000 : 8u << 20);
  }
  for (int i = 0; i < 10; ++i) write("toy/share/" + std::string(200, 'x') + std::to_string(i), "");
  const Added build = added(request());
  ASSERT_THAT(build.warnings, testing::SizeIs(1));
  EXPECT_THAT(std::string(build.warnings[0].value(Key::problem)),
              HasSubstr("users' machines read at most 67108864 of all manifests of a repository, and the "
                        "others have 67104864"));
  EXPECT_THAT(artifact().files, IsEmpty());
}

TEST(NamedFiles, OnlyPathsThatAManifestMayHoldAreNamed) {
  EXPECT_EQ(unnameable_path({"lib/a.so", "share/b"}), "");
  EXPECT_EQ(unnameable_path({"lib/a.so", "share/a:b", "c:d"}), "share/a:b");
  EXPECT_TRUE(names_fit({"lib/a.so"}, 0));
  EXPECT_FALSE(names_fit({"a:b"}, 0));
  EXPECT_FALSE(names_fit({"lib/a.so"}, manifest::largest_document));
}

TEST(NamedFiles, TheEstimateIsNeverTooLow) {
  std::vector<cache::TreeEntry> entries;
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) {
    paths.push_back("folder/file-" + std::to_string(i));
    entries.push_back(
        {Kind::executable, std::uint64_t{9'999'999'999'999}, paths.back(), std::string(64, 'a')});
  }
  const Json artifact = Json::object().set("files", acquire::named_files(entries));
  const Json component = Json::object().set("artifacts", Json::array().push(artifact));
  const Json manifest = Json::object().set("components", Json::object().set("one", component));
  const std::size_t text = Workspace::text_of(manifest).size();
  EXPECT_FALSE(names_fit(paths, manifest::largest_document - text));
  EXPECT_TRUE(names_fit(paths, manifest::largest_document - 2 * text));
}

}  // namespace
}  // namespace enginehost::publish
