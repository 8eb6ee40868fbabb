#include "host/transfer/chunk_list.hpp"
#include "tests/publish/fixture.hpp"
#include "tools/publish/names.hpp"
#include "tools/publish/pack.hpp"

namespace enginehost::publish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(PublisherTest, APluginThatOpensItsRuntimeByNameIsBoundToNone) {
  add_toy();
  const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const Json& plugin = (*document)["components"]["toy-plugin-1.0.0-cpu-" + platform()];
  ASSERT_NE(plugin.find("artifacts"), nullptr);
#ifndef ENGINEHOST_SANITIZED  // such a plugin really needs the sanitizer's library
  EXPECT_EQ(plugin.find("adapter"), nullptr);
#endif
}

#ifndef _WIN32  // the texts of a DLL are not read
TEST_F(PublisherTest, CapabilitiesAreThoseOfThePlugin) {
  const auto capabilities = [&] {
    const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    return (*document)["builds"].as_array()[0]["capabilities"].dump();
  };
  add_toy();
  EXPECT_EQ(capabilities(), Json::strings({"device.cpu", "format.toy", "versions.>=1.0,<9"}).dump());
  EXPECT_THAT(lint(workspace()).warnings, IsEmpty());
  AddRequest chosen = request();
  chosen.capabilities = {"device.cpu"};
  ASSERT_TRUE(publish::add(workspace(), chosen));
  EXPECT_EQ(capabilities(), Json::strings({"device.cpu"}).dump());
}

// Users would get them without a word.
TEST_F(PublisherTest, LintWarnsOfWhatContradictsThePlugin) {
  const auto warned = [&] {
    std::vector<std::string> problems;
    for (const Diagnosis& one : lint(workspace()).warnings)
      problems.push_back(std::string(one.value(Key::member)) + ": " + std::string(one.value(Key::problem)));
    return problems;
  };
  AddRequest other = request();
  other.engine = "other";
  ASSERT_TRUE(publish::add(workspace(), other));
  EXPECT_THAT(warned(),
              ElementsAre(HasSubstr("its plugin calls the engine toy, and the manifest calls it other")));
  fs::remove(workspace().engine_file("other"));
  add_toy();
  edit("\"device.cpu\",", "");
  edit("\"format.toy\",", "");
  edit("\"versions.>=1.0,<9\"", "");
  EXPECT_THAT(warned(),
              ElementsAre(HasSubstr("capabilities: it has none, and its plugin has device.cpu, format.toy")));
}

TEST_F(PublisherTest, AReleaseThatThePluginDoesNotServeIsSaid) {
  for (const auto& [version, served] :
       {std::pair("0.9.7", false), {"1.0", true}, {"8.99.1", true}, {"9.0.0", false}}) {
    AddRequest one = request();
    one.version = version;
    const auto added = publish::add(workspace(), one);
    ASSERT_TRUE(added) << version;
    std::vector<std::string> said;
    for (const auto& all : {added->warnings, lint(workspace()).warnings})
      for (const Diagnosis& warning : all) said.emplace_back(warning.value(Key::problem));
    const std::string problem =
        std::string("its plugin serves the releases >=1.0,<9, and the build is ") + version;
    EXPECT_THAT(
        said, served ? testing::Matcher<std::vector<std::string>>(IsEmpty()) : ElementsAre(problem, problem));
    fs::remove(workspace().engine_file("toy"));
  }
}
#endif

TEST_F(PublisherTest, LintWarnsOfABuildWithoutALicense) {
  AddRequest unknown = request();
  unknown.license = "unknown";
  unknown.license_id.clear();
  ASSERT_TRUE(publish::add(workspace(), unknown));
  const std::vector<Diagnosis> warnings = lint(workspace()).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].value(Key::member), "licenses.unknown");
  EXPECT_THAT(std::string(warnings[0].value(Key::problem)), HasSubstr("LicenseRef-unknown"));
  EXPECT_THAT(std::string(warnings[0].value(Key::remedy)), HasSubstr("--license-id"));
}

TEST_F(PublisherTest, TheSameFolderGivesTheSameArchive) {
  add_toy();
  const auto digest_of = [&] {
    const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    return (*document)["components"]["toy-1.0.0-cpu-" + platform()]["artifacts"]
        .as_array()[0]["sha256"]
        .as_string();
  };
  const std::string first = digest_of();
  fs::last_write_time(toy(), fs::file_time_type::clock::now() + std::chrono::hours(1));
  add_toy();
  EXPECT_EQ(digest_of(), first);
}

TEST_F(PublisherTest, FactsOfEarlierBuildsOfAnArchiveStay) {
  AddRequest unpacked = request();
  unpacked.file = folder() / "toy.tar.zst";
  ASSERT_TRUE(pack_folder(folder() / "toy", unpacked.file));
  for (const auto& [version, strip] : {std::pair("1.0.0", 0), {"2.0.0", 1}, {"3.0.0", 1}, {"4.0.0", 0}}) {
    unpacked.version = version;
    unpacked.strip = strip;
    ASSERT_TRUE(publish::add(workspace(), unpacked)) << version;
    EXPECT_THAT(problems(), IsEmpty()) << version;
  }
  // A build that is refused at the end leaves nothing behind either.
  const auto known = [&] {
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(repository() / "facts"))
      names.push_back(path_text(one.path().filename()));
    std::sort(names.begin(), names.end());
    return names;
  };
  const std::vector<std::string> before = known();
  unpacked.strip = -1;
  for (int time = 0; time < 2; ++time) {
    const auto refused = publish::add(workspace(), unpacked);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "EH-M02");
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_EQ(known(), before);
  }
  EXPECT_TRUE(publish::publish(workspace(), out(), in_2026));
}

TEST_F(PublisherTest, ARefusedBuildLeavesNoFileInTheRepository) {
  const auto files = [&] {
    std::vector<std::string> names;
    for (const auto& one : fs::recursive_directory_iterator(repository()))
      if (one.is_regular_file() && one.path().filename() != ".lock")
        names.push_back(path_text(one.path().lexically_relative(repository())));
    std::sort(names.begin(), names.end());
    return names;
  };
  std::vector<std::string> before = files();
  AddRequest refused = request();
  refused.strip = -1;  // an invalid value
  refused.chunks_from = 1000;
  EXPECT_FALSE(publish::add(workspace(), refused));
  EXPECT_EQ(files(), before);
  // The same for a build whose manifest cannot be written; files of another build stay.
  add_toy();
  before = files();
  AddRequest other = request("2.0.0");
  write("toy/more.txt", "more");
  other.chunks_from = 1000;
  const fs::path manifest = workspace().engine_file("toy");
  for (const fs::path& in_the_way : {repository() / "facts", manifest}) {
    const fs::path aside = folder() / "aside";
    fs::rename(in_the_way, aside);
    write("repository/" + path_text(in_the_way.lexically_relative(repository())) + "/x", "");
    if (in_the_way.filename() == "facts") {
      fs::remove_all(in_the_way);
      write("repository/facts", "");
    }
    EXPECT_FALSE(publish::add(workspace(), other)) << in_the_way;
    fs::remove_all(in_the_way);
    fs::rename(aside, in_the_way);
    EXPECT_EQ(files(), before) << in_the_way;
  }
  EXPECT_TRUE(publish::add(workspace(), other));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PublisherTest, OnlyALargeArchiveGetsAListOfItsPieces) {
  AddRequest large = request();
  add_toy();
  EXPECT_THAT(bytes_of(workspace().engine_file("toy")), testing::Not(HasSubstr("\"chunks\"")));
  large.chunks_from = 1000;
  const auto added = publish::add(workspace(), large);
  ASSERT_TRUE(added);
  const auto document = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const Json& artifact =
      (*document)["components"]["toy-plugin-1.0.0-cpu-" + platform()]["artifacts"].as_array()[0];
  const std::string place = artifact["chunks"]["sources"].as_array()[0]["file"].as_string();
  const auto list = transfer::read_chunk_list(bytes_of(repository() / place), place);
  ASSERT_TRUE(list) << list.error().value(Key::problem);
  EXPECT_EQ(list->size, static_cast<std::uint64_t>(artifact["size"].as_integer()));
  EXPECT_THAT(list->sha256, ElementsAre(artifact["sha256"].as_string()));  // one piece: the whole file
  EXPECT_THAT(problems(), IsEmpty());
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  EXPECT_EQ(bytes_of(out() / place), bytes_of(repository() / place));
  write("repository/" + place, "enginehost-chunks 1\n");
  EXPECT_THAT(problems(), HasSubstr("has other bytes than its sha256 says"));
}

TEST_F(PublisherTest, AListOfPiecesOutsideTheRepositoryIsRefused) {
  add_toy();
  write("outside.txt", "theirs");
  write("www/outside.txt", "ours");
  edit("\"sources\": [", "\"chunks\": {\"sha256\": \"" + sha256_hex("theirs") +
                             "\", \"sources\": [{\"file\": \"../outside.txt\"}]}, \"sources\": [");
  EXPECT_THAT(problems(), HasSubstr("chunks: ../outside.txt leaves the repository"));
  EXPECT_FALSE(publish::publish(workspace(), out(), in_2026));
  EXPECT_EQ(bytes_of(folder() / "www/outside.txt"), "ours");
}

TEST_F(PublisherTest, TheFilesOfAnotherBuildStayItsOwn) {
  AddRequest one = request(), two = request();
  one.id = "one";
  two.id = "two";
  ASSERT_TRUE(publish::add(workspace(), one));
  ASSERT_TRUE(publish::add(workspace(), two)) << "the same files";
  const std::string before = bytes_of(workspace().engine_file("toy"));
  write("toy/more.txt", "more");
  const auto refused = publish::add(workspace(), two);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M17");
  EXPECT_EQ(refused.error().value(Key::problem),
            "component toy-1.0.0-cpu-" + platform() + " has other bytes already, and one uses them");
  EXPECT_EQ(bytes_of(workspace().engine_file("toy")), before);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PublisherTest, ABuildIsReplacedByOneWithItsOwnId) {
  add_toy();
  write("toy/more.txt", "more");
  add_toy();
  EXPECT_THAT(problems(), IsEmpty());
  // Also with a corrected plugin: beside the engine's files, and among them.
  const std::string before = bytes_of(workspace().engine_file("toy"));
  std::ofstream(folder() / plugin_name, std::ios::app | std::ios::binary) << "corrected";
  add_toy();
  EXPECT_NE(bytes_of(workspace().engine_file("toy")), before);
  AddRequest together = request("2.0.0");
  together.plugin.clear();
  fs::copy_file(folder() / plugin_name, folder() / "toy" / plugin_name);
  for (const char* text : {"one", "other"}) {
    write("toy/more.txt", text);
    const auto added = publish::add(workspace(), together);
    EXPECT_TRUE(added) << added.error().value(Key::problem);
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PublisherTest, ALicenseKeepsItsId) {
  AddRequest licensed = request();
  licensed.license = "apache";
  licensed.license_id = "Apache-2.0";
  ASSERT_TRUE(publish::add(workspace(), licensed));
  licensed.version = "2.0.0";
  licensed.license_id = "LicenseRef-Trial";
  const auto refused = publish::add(workspace(), licensed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().value(Key::problem),
            "license apache is Apache-2.0 there, and not LicenseRef-Trial");
  licensed.license_id.clear();
  EXPECT_TRUE(publish::add(workspace(), licensed));
}

TEST_F(PublisherTest, WithoutAPluginNothingIsAdded) {
  AddRequest without = request();
  without.plugin.clear();
  const auto added = publish::add(workspace(), without);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, "EH-M17");
  EXPECT_THAT(std::string(added.error().value(Key::problem)), HasSubstr("engine_plugin_v1"));
  EXPECT_THAT(*workspace().engine_files(), IsEmpty());
}

TEST_F(PublisherTest, AFolderThatIsNoWorkspaceIsNamedAsWhatItIs) {
  const auto problem_of = [&](const fs::path& place) {
    const auto opened = Workspace::open_to_look(place);
    EXPECT_FALSE(opened) << place;
    EXPECT_EQ(Workspace::open(place).error().code, "EH-M17");
    return opened ? "" : std::string(opened.error().value(Key::problem));
  };
  EXPECT_EQ(problem_of(folder() / "nowhere"), "there is no such folder");
  EXPECT_EQ(problem_of(folder() / "toy"), "there is no repository.json in it");
  add_toy();
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  ASSERT_TRUE(Workspace::open_to_look(out()));
  const auto published = Workspace::open(out());
  ASSERT_FALSE(published);
  EXPECT_THAT(std::string(published.error().value(Key::problem)),
              HasSubstr("its index.json is that of a repository"));
  EXPECT_THAT(std::string(published.error().value(Key::remedy)), testing::Not(HasSubstr("init")));
  // No workspace is created there or in the place of a file.
  const auto started = Workspace::create(out(), "Toy");
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().value(Key::remedy), "choose another folder, to publish from");
  EXPECT_FALSE(fs::exists(out() / "repository.json"));
  EXPECT_EQ(Workspace::create(folder() / plugin_name, "Toy").error().value(Key::problem), "it is no folder");
}

TEST_F(PublisherTest, TheFolderThatHoldsTheRepositoryIsNotPacked) {
  AddRequest all = request();
  all.file = folder();
  for (const fs::path& given : {folder(), repository()}) {
    all.file = given;
    const auto refused = publish::add(workspace(), all);
    ASSERT_FALSE(refused) << given;
    EXPECT_EQ(refused.error().code, "EH-M17");
    EXPECT_THAT(std::string(refused.error().value(Key::problem)), HasSubstr("the repository lies in it"));
  }
  // A folder inside the repository's folder may be added.
  fs::copy(folder() / "toy", repository() / "toy", fs::copy_options::recursive);
  all.file = repository() / "toy";
  EXPECT_TRUE(publish::add(workspace(), all));
}

TEST_F(PublisherTest, ARenamedWheelIsRefusedUnlessItHasASource) {
  AddRequest wheel = request();
  wheel.file = folder() / "toy.whl";
  write("toy.whl", "whatever it holds");
  const auto refused = publish::add(workspace(), wheel);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M17");
  EXPECT_EQ(refused.error().value(Key::file), path_text(wheel.file));
  EXPECT_THAT(std::string(refused.error().value(Key::problem)), HasSubstr("not named as wheels are"));
  wheel.urls = {"https://files.example/toy.whl"};
  const auto with_url = publish::add(workspace(), wheel);
  ASSERT_FALSE(with_url) << "it is no archive";
  EXPECT_EQ(with_url.error().code, "EH-F21");
}

TEST_F(PublisherTest, ADamagedArchiveIsReportedByTheGivenName) {
  AddRequest cut = request();
  cut.file = folder() / "toy.tar.zst";
  ASSERT_TRUE(pack_folder(folder() / "toy", cut.file));
  fs::resize_file(cut.file, fs::file_size(cut.file) / 2);
  const auto refused = publish::add(workspace(), cut);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-F21");
  EXPECT_EQ(refused.error().value(Key::file), path_text(cut.file));
}

TEST_F(PublisherTest, LibrariesOfSeveralSystemsAreDistinguished) {
  AddRequest two = request();
  write("toy/lib/other.dll", bytes_of(toy()));
  std::string other = bytes_of(toy());
  // Another processor in the ELF header; other systems than Linux have no such header to change.
  if (other.starts_with("\x7f"
                        "ELF")) {
    other[18] = static_cast<char>(0xf3);  // EM_RISCV
    other[19] = 0;
    write("toy/lib/libother.so", other);
    const auto refused = publish::add(workspace(), two);
    ASSERT_FALSE(refused);
    EXPECT_THAT(std::string(refused.error().value(Key::problem)),
                AllOf(HasSubstr("not for one system and processor: "),
                      HasSubstr("lib/libother.so is for linux riscv64"),
                      HasSubstr("is for " + std::string(ENGINEHOST_OS) + " " + test::architecture)));
  }
  two.file = folder() / "texts";
  two.plugin.clear();
  write("texts/readme.txt", "no library");
  EXPECT_EQ(publish::add(workspace(), two).error().value(Key::problem),
            "it holds no library, as far as it is unpacked");
}

TEST_F(PublisherTest, LintReportsWhatWouldFailOnUsersMachines) {
  add_toy();
  ASSERT_THAT(problems(), IsEmpty());
  const std::string good = bytes_of(workspace().engine_file("toy"));
  const struct {
    std::string from, to, said;
  } mistakes[] = {
      {"\"priority\"", "\"prioritty\"", "prioritty"},
      {"\"" + std::string(plugin_name) + "\"\n", "\"libother.so\"\n", "libother.so is not in"},
      {"\"lazy\": []", "\"lazy\": [\"liblazy.so\"]", "liblazy.so is in none of the search folders"},
      {"\"os\": \"" ENGINEHOST_OS "\"", "\"os\": \"macos\"", "its libraries are for " ENGINEHOST_OS},
      {"\"archive\": \"tar.zst\"", "\"archive\": \"tar.gz\"", "is a tar.zst file"},
      {"\"file\": \"files/", "\"file\": \"files/gone-", "is not in the repository"},
      {"\"tree\": \"", "\"strip\": 1,\n     \"tree\": \"", "unpacks to other files than those of \"tree\""},
      {"\"size\": ", "\"size\": 9", "the manifest says 9"},
      {"\"sources\": [", "\"sources\": [], \"others\": [", "has no source"},
      {"\"archive\": \"tar.zst\"", "\"archive\": \"tar.zst\",\n     \"archve\": 1",
       "archve is not a known field"},
      {"\"digest\": \"", "\"digest\": \"" + std::string(64, '0') + "\", \"unused\": \"",
       "it is not that of the files"},
  };
  for (const auto& mistake : mistakes) {
    SCOPED_TRACE(mistake.said);
    write("repository/engines/toy.json", good);
    edit(mistake.from, mistake.to);
    EXPECT_THAT(problems(), HasSubstr(mistake.said));
  }
}

TEST_F(PublisherTest, LintContinuesWhereAComponentHasNoArtifact) {
  add_toy();
  Json manifest = *parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  const std::string plugin = manifest["builds"].as_array()[0]["plugin"]["component"].as_string();
  Json components = manifest["components"];
  components.set(plugin, Json::object().set("artifacts", Json::array()));
  manifest.set("components", components);
  const std::string said = "components." + plugin + ": it has no artifact\n";
  write("repository/engines/toy.json", manifest.dump());
  EXPECT_EQ(problems(), said);
  Json alone = manifest["builds"].as_array()[0];
  manifest.set("builds", Json::array().push(alone.set("components", Json::array())));
  write("repository/engines/toy.json", manifest.dump());
  EXPECT_EQ(problems(), said);
}

TEST_F(PublisherTest, LintFindsABuildIdInTwoManifestsEvenIfOneIsWithdrawn) {
  add_toy();
  write("repository/engines/copy.json", bytes_of(workspace().engine_file("toy")));
  edit("\"priority\"", "\"yanked\": \"wrong results\", \"priority\"");
  EXPECT_THAT(problems(),
              HasSubstr("builds.toy-1.0.0-cpu-" + platform() + ": " +
                        path_text(workspace().engine_file("copy")) + " has a build of this id, too"));
}

TEST_F(PublisherTest, LintFindsAnImpossibleSize) {
  add_toy();
  Json manifest = *parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  std::string text = manifest.dump(1);
  for (std::size_t at = 0; (at = text.find("\"size\": ", at)) != std::string::npos; at += 8)
    text.replace(at + 8, text.find_first_not_of("0123456789", at + 8) - at - 8, "0");
  // Names of files with other sizes would be refused before.
  text.replace(text.find("\"files\":"), 8, "\"files\": null, \"$others\":");
  for (std::size_t at; (at = text.find("\"tar.zst\"")) != std::string::npos;)
    text.replace(at, 9, "\"none\", \"path\": \"x.so\"");
  write("repository/engines/toy.json", text);
  EXPECT_THAT(problems(), HasSubstr("has the size 0"));
}

TEST_F(PublisherTest, LintFindsUnknownFieldsInTheOtherDocuments) {
  add_toy();
  const std::string text = bytes_of(repository() / "repository.json");
  write("repository/repository.json", std::string(text).replace(text.find('{'), 1, "{\"expire_days\": 3,"));
  EXPECT_THAT(problems(), HasSubstr("expire_days is not a known field; did you mean \"expires_days\"?"));
  write("repository/repository.json", text);
  ASSERT_TRUE(workspace().prepare(in_2026));
  const std::string index = bytes_of(repository() / "index.json");
  write("repository/index.json", std::string(index).replace(index.find('{'), 1, "{\"expirs\": 3,"));
  EXPECT_THAT(problems(), HasSubstr("expirs is not a known field"));
}

TEST_F(PublisherTest, LintRequiresATextForALicenseToAccept) {
  add_toy();
  edit("\"id\": \"Apache-2.0\"", "\"id\": \"Apache-2.0\", \"accept\": \"explicit\"");
  EXPECT_THAT(problems(), AllOf(HasSubstr("no sha256 says of which text"), HasSubstr("nobody can read it")));
}

TEST_F(PublisherTest, LintFindsTheTextOfALicenseAtTheManifestsPath) {
  add_toy();
  const auto manifest = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  ASSERT_TRUE(manifest);
  const std::string component = (*manifest)["builds"].as_array()[0]["plugin"]["component"].as_string();
  edit("\"id\": \"Apache-2.0\"",
       "\"id\": \"Apache-2.0\", \"text\": {\"component\": \"" + component + "\", \"path\": \"LICENSE\"}");
  EXPECT_THAT(problems(), HasSubstr("LICENSE is not in " + component));
}

TEST(WheelName, HoldsProjectVersionAndPlatform) {
  const auto name = read_wheel_name("Toy_Engine.gpu-1.0+cu118-2-cp311-cp311-manylinux_2_28_x86_64.whl");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->project, "toy-engine-gpu");
  EXPECT_EQ(name->version, "1.0+cu118");
  EXPECT_TRUE(wheel_is_for(*name, "linux", "x86_64"));
  EXPECT_FALSE(wheel_is_for(*name, "linux", "aarch64"));
  EXPECT_FALSE(wheel_is_for(*name, "windows", "x86_64"));
  EXPECT_TRUE(wheel_is_for(*read_wheel_name("a-1-py3-none-macosx_11_0_universal2.whl"), "macos", "arm64"));
  EXPECT_TRUE(wheel_is_for(*read_wheel_name("a-1-py3-none-win_amd64.whl"), "windows", "x86_64"));
  EXPECT_TRUE(wheel_is_for(*read_wheel_name("a-1-py3-none-any.whl"), "macos", "x86_64"));
  const auto within =
      name_within({"toy/x.so", "Toy_Engine-1.0+cu118.dist-info/METADATA", "other-2.dist-info"});
  ASSERT_TRUE(within);
  EXPECT_EQ(within->project, "toy-engine");
  EXPECT_EQ(within->version, "1.0+cu118");
  EXPECT_FALSE(name_within({"toy/_vendor/x-1.dist-info/METADATA", "x-1.dist-info", "x.dist-info/METADATA"}));
  for (const char* wrong : {"a.whl", "a-1.whl", "a-1-py3-none-any.zip", "-1-py3-none-any.whl"})
    EXPECT_FALSE(read_wheel_name(wrong)) << wrong;
}

TEST_F(PublisherTest, LintFindsAPublishedFileWithOtherBytes) {
  add_toy();
  for (const auto& file : fs::directory_iterator(repository() / "files"))
    std::ofstream(file.path(), std::ios::app) << "more";
  EXPECT_THAT(problems(), HasSubstr("has the sha256"));
}

}  // namespace
}  // namespace enginehost::publish
