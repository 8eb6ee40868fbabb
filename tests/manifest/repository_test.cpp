#include "host/manifest/repository.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "tests/manifest/documents.hpp"

namespace enginehost::manifest {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t in_2026 = 1'795'000'000, in_2030 = 1'900'000'000;

class RepositoryTest : public testing::Test {
 protected:
  RepositoryTest() { folder_ = *make_private_folder(fs::temp_directory_path(), "enginehost-repository-"); }
  ~RepositoryTest() override { fs::remove_all(folder_); }

  void add(const std::string& path, const std::string& bytes) {
    fs::create_directories((folder_ / path).parent_path());
    ASSERT_TRUE(write_file(folder_ / path, bytes, false));
    entries_.push(Json::object()
                      .set("path", path)
                      .set("sha256", sha256_hex(bytes))
                      .set("size", static_cast<std::int64_t>(bytes.size())));
  }
  void write_index(const std::string& expires = "2027-11-20T00:00:00Z") {
    Json index = Json::object();
    index.set("format", 1)
        .set("name", "test")
        .set("serial", 1)
        .set("expires", expires)
        .set("manifests", entries_);
    ASSERT_TRUE(write_file(folder_ / "index.json", index.dump(), false));
  }
  Result<RepositoryContent> load(std::int64_t now = in_2026) {
    return load_repository(path_text(folder_), reader_, now);
  }

  fs::path folder_;
  Json entries_ = Json::array();
  FolderReader reader_;
};

TEST_F(RepositoryTest, AFolderWithAnIndexAndItsManifestsIsRead) {
  add("engines/pytorch.json", documents()["manifest"].dump());
  write_index();
  const auto content = load();
  ASSERT_TRUE(content);
  ASSERT_EQ(content->manifests.size(), 1u);
  EXPECT_EQ(content->manifests[0]->repository, path_text(folder_));
  EXPECT_EQ(content->manifests[0]->name, path_text(folder_ / "engines/pytorch.json"));
  EXPECT_THAT(content->warnings, IsEmpty());
  EXPECT_THAT(content->failures, IsEmpty());
}

TEST_F(RepositoryTest, AManifestWithOtherBytesIsSkippedAndTheOthersAreUsed) {
  add("pytorch.json", documents()["manifest"].dump());
  add("other.json", changed(documents()["manifest"], "/engine", Json("other")).dump());
  write_index();
  std::string bytes = *read_file(folder_ / "pytorch.json");
  bytes[bytes.find("50")] = '6';
  ASSERT_TRUE(write_file(folder_ / "pytorch.json", bytes, false));
  const auto content = load();
  ASSERT_TRUE(content);
  ASSERT_EQ(content->manifests.size(), 1u);
  EXPECT_EQ(content->manifests[0]->engine, "other");
  ASSERT_EQ(content->failures.size(), 1u);
  EXPECT_EQ(content->failures[0].code, "EH-M05");
  EXPECT_EQ(content->failures[0].value(Key::document), path_text(folder_ / "pytorch.json"));
  EXPECT_EQ(content->failures[0].value(Key::found), sha256_hex(bytes));
}

TEST_F(RepositoryTest, AManifestOfAnotherSizeIsNotUsed) {
  add("pytorch.json", documents()["manifest"].dump());
  write_index();
  ASSERT_TRUE(write_file(folder_ / "pytorch.json", "{}", false));
  const auto content = load();
  ASSERT_EQ(content->failures.size(), 1u);
  EXPECT_EQ(content->failures[0].code, "EH-M05");
  EXPECT_EQ(content->failures[0].value(Key::size), "2");
}

TEST_F(RepositoryTest, AMissingManifestIsAFailureThatNamesIt) {
  add("pytorch.json", documents()["manifest"].dump());
  write_index();
  fs::remove(folder_ / "pytorch.json");
  const auto content = load();
  ASSERT_EQ(content->failures.size(), 1u);
  EXPECT_EQ(content->failures[0].code, "EH-F01");
  EXPECT_EQ(content->failures[0].value(Key::file), path_text(folder_ / "pytorch.json"));
}

// One repository must not fill the memory or the screen of every command.
TEST_F(RepositoryTest, M07MoreManifestsThanTheLimitAreRefused) {
  for (int i = 0; i <= 500; ++i)
    entries_.push(Json::object()
                      .set("path", "manifests/" + std::to_string(i) + ".json")
                      .set("sha256", std::string(64, 'a'))
                      .set("size", 1));
  write_index();
  const auto content = load();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M07");
  EXPECT_THAT(std::string(content.error().value(Key::problem)), HasSubstr("501 manifests, and at most 500"));
}

TEST_F(RepositoryTest, M07MoreBytesThanTheLimitAreNotRead) {
  const std::string large(7u << 20, ' ');
  for (int i = 0; i < 10; ++i) add("manifests/" + std::to_string(i) + ".json", large + std::to_string(i));
  write_index();
  const auto content = load();
  ASSERT_TRUE(content);
  ASSERT_EQ(content->failures.size(), 10u);
  EXPECT_EQ(content->failures.front().code, "EH-M02") << "read, and no manifest";
  EXPECT_EQ(content->failures.back().code, "EH-M07");
  EXPECT_THAT(std::string(content->failures.back().value(Key::problem)),
              HasSubstr("more than 64 MiB together"));
}

// With a size in the index, without one, and with a false one.
TEST_F(RepositoryTest, M07AManifestBeyondTheLimitIsNamedAndTheOthersAreUsed) {
  const std::string large = documents()["manifest"].dump() + std::string(9u << 20, ' ');
  add("manifests/large.json", large);
  add("manifests/unsized.json", large + " ");
  add("manifests/lying.json", large + "  ");
  Json entries = Json::array();
  entries.push(entries_.as_array()[0]);
  entries.push(Json(entries_.as_array()[1]).set("size", nullptr));
  entries.push(Json(entries_.as_array()[2]).set("size", 100));
  entries_ = std::move(entries);
  add("pytorch.json", documents()["manifest"].dump());
  write_index();
  const auto content = load();
  ASSERT_TRUE(content);
  EXPECT_EQ(content->manifests.size(), 1u);
  ASSERT_EQ(content->failures.size(), 3u);
  const char* const problems[] = {"manifests/large.json has 9.0 MiB, and at most 8.0 MiB are read",
                                  "manifests/unsized.json has more, and at most 8.0 MiB are read"};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(content->failures[i].code, "EH-M07");
    EXPECT_EQ(content->failures[i].value(Key::problem), problems[i]);
    EXPECT_EQ(content->failures[i].value(Key::repository), path_text(folder_));
  }
  EXPECT_NE(content->failures[2].code, Code::none);
}

TEST_F(RepositoryTest, UnknownFieldsOfOneDocumentAreListedUpToALimit) {
  Json manifest = documents()["manifest"];
  for (int i = 0; i < 5000; ++i) manifest.set("unknown_" + std::to_string(i), 1);
  add("manifests/pytorch.json", manifest.dump());
  write_index();
  const auto content = load();
  ASSERT_TRUE(content);
  const auto& warnings = content->manifests.at(0)->warnings;
  ASSERT_EQ(warnings.size(), 21u);
  EXPECT_THAT(warnings.back(), HasSubstr("further unknown fields are not listed"));
}

// Eight MiB of the smallest values would take a gigabyte of memory.
TEST_F(RepositoryTest, DocumentsOfTinyOrDeepValuesAreRefused) {
  std::string braces, members;
  for (int i = 0; i < 1'000'000; ++i) braces += "{},";
  for (int i = 0; i < 600'000; ++i) members += "\"" + std::to_string(i) + "\":0,";
  const std::pair<std::string, const char*> cases[] = {
      {"{\"format\":1,\"manifests\":[" + braces + "{}]}", "more than 500000 values"},
      {"{\"format\":1," + members + "\"manifests\":[]}", "more than 500000 values"},
      {"{\"format\":1,\"manifests\":" + std::string(1'000'000, '['), "nested deeper than 32 levels"},
      {"{\"format\":1,\"manifests\":[],\"manifests\":[]}", "occurs twice"},
      {"{\"format\":1,\"name\":\"" + std::string(9u << 20, 'x') + "\",\"manifests\":[]}", "at most 8.0 MiB"}};
  for (const auto& [text, problem] : cases) {
    fs::create_directories(folder_);
    ASSERT_TRUE(write_file(folder_ / "index.json", text, false));
    const auto content = load();
    ASSERT_FALSE(content) << problem;
    EXPECT_THAT(content.error().code, testing::AnyOf("EH-M01", "EH-M07")) << problem;
    EXPECT_THAT(std::string(content.error().value(Key::problem)), HasSubstr(problem));
  }
}

TEST_F(RepositoryTest, AFolderWithoutAnIndexIsNoRepository) {
  const auto content = load();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M07");
  EXPECT_EQ(content.error().value(Key::repository), path_text(folder_));
  EXPECT_EQ(content.error().value(Key::file), (folder_ / "index.json").string());
}

TEST_F(RepositoryTest, AnIndexThatPointsOutsideIsRefused) {
  entries_.push(Json::object().set("path", "../secret.json").set("sha256", std::string(64, 'a')));
  write_index();
  const auto content = load();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M06");
  EXPECT_EQ(content.error().value(Key::path), "../secret.json");
}

TEST_F(RepositoryTest, AnExpiredIndexServesWithAWarning) {
  add("pytorch.json", documents()["manifest"].dump());
  write_index();
  const auto content = load(in_2030);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->manifests.size(), 1u);
  EXPECT_THAT(content->warnings,
              ElementsAre(HasSubstr("the index of repository"), HasSubstr("the manifest")));
}

// Serves a made-up web server's documents and records the requests.
class MapReader : public DocumentReader {
 public:
  Result<std::string> read(const std::string& location, std::uint64_t) override {
    asked.push_back(location);
    const auto found = documents.find(location);
    if (found == documents.end()) return fail(diagnose(Code::server_refuses).with(Key::url, location));
    return found->second;
  }
  std::map<std::string, std::string> documents;
  std::vector<std::string> asked;
};

// The same, which keeps manifests.
class KeepingReader : public MapReader {
 public:
  std::optional<std::string> kept(const std::string& sha256) override {
    const auto found = memory.find(sha256);
    return found != memory.end() ? std::optional(found->second) : std::nullopt;
  }
  void keep(const std::string& sha256, const std::string& bytes) override { memory[sha256] = bytes; }
  std::map<std::string, std::string> memory;
};

TEST(RemoteRepositoryTest, FetchesUnchangedManifestsOnlyOnce) {
  const std::string bytes = documents()["manifest"].dump();
  KeepingReader reader;
  Json index = Json::object();
  index.set("format", 1)
      .set("manifests",
           Json::array().push(
               Json::object().set("path", "a b/py#torch.json").set("sha256", sha256_hex(bytes))));
  reader.documents["https://r.example/x/index.json"] = index.dump();
  reader.documents["https://r.example/x/a%20b/py%23torch.json"] = bytes;
  for (int round = 0; round < 2; ++round) {
    const auto content = load_repository("https://r.example/x", reader, in_2026);
    ASSERT_TRUE(content);
    EXPECT_EQ(content->manifests.size(), 1u);
  }
  EXPECT_EQ(reader.asked.size(), 3u) << "index, manifest, index";
  // A changed copy in the memory is not used.
  reader.memory.begin()->second[0] = '[';
  EXPECT_EQ(load_repository("https://r.example/x", reader, in_2026)->manifests.size(), 1u);
}

// A web page in the place of the documents is no mistake of the user who named the repository.
TEST_F(RepositoryTest, AnUnreadableServerAnswerNamesTheServer) {
  MapReader reader;
  const std::string root = "https://r.example/x", page = R"({"error": "sign in"})";
  for (const std::string& bytes : {page, std::string("<html>")}) {
    SCOPED_TRACE(bytes);
    reader.documents[root + "/index.json"] = bytes;
    EXPECT_EQ(load_repository(root, reader, in_2026).error().value(Key::sent_by), root);
    ASSERT_TRUE(write_file(folder_ / "index.json", bytes, false));
    EXPECT_EQ(load().error().value(Key::sent_by), "");
  }
  add("pytorch.json", page);
  write_index();
  EXPECT_EQ(load()->failures.at(0).value(Key::sent_by), "");
  reader.documents[root + "/index.json"] = read_file(folder_ / "index.json").value_or("");
  reader.documents[root + "/pytorch.json"] = page;
  EXPECT_EQ(load_repository(root, reader, in_2026)->failures.at(0).value(Key::sent_by), root);
}

TEST(RemoteRepositoryTest, AUrlThatCannotBeReadKeepsTheTransportsDiagnosis) {
  MapReader reader;
  const auto content = load_repository("https://r.example/x/", reader, in_2026);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-N04");
  EXPECT_EQ(content.error().value(Key::repository), "https://r.example/x/");
  EXPECT_THAT(reader.asked, ElementsAre("https://r.example/x/index.json"));
}

TEST(TimeTest, TimesAreReadAsSeconds) {
  EXPECT_EQ(seconds_of_time("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(seconds_of_time("2026-11-20T00:00:00Z"), 1795132800);
  EXPECT_EQ(seconds_of_time("yesterday"), std::nullopt);
}

}  // namespace
}  // namespace enginehost::manifest
