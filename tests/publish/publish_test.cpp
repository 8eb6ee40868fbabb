#include <thread>

#include "tests/publish/fixture.hpp"

namespace enginehost::publish {
namespace {

using testing::HasSubstr;

class ConcurrentPublishers : public Publish {
 protected:
  fs::path keeper(int number) const { return folder() / ("keeper" + std::to_string(number)); }
};

TEST_F(Publish, AnUnsignedRepositoryIsPublishedWithItsArchives) {
  const auto first = to_out();
  ASSERT_TRUE(first) << first.error().value(Key::problem);
  EXPECT_TRUE(first->changed);
  EXPECT_EQ(first->serial, 1);
  manifest::FolderReader reader;
  const auto content = manifest::load_repository(path_text(out()), reader, in_2026);
  ASSERT_TRUE(content);
  ASSERT_EQ(content->manifests.size(), 1u);
  for (const auto& [id, component] : content->manifests[0]->components)
    EXPECT_EQ(*sha256_of_file(out() / component.artifacts[0].sources[0].location),
              component.artifacts[0].sha256);
  EXPECT_FALSE(fs::exists(out() / "facts"));
  EXPECT_FALSE(to_out()->changed);
}

TEST_F(Publish, FilesOfAnOlderIndexStay) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  manifest::FolderReader reader;
  const auto before = manifest::load_repository(path_text(out()), reader, in_2026);
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  for (const manifest::IndexEntry& entry : before->index.manifests)
    EXPECT_EQ(*sha256_of_file(out() / entry.path), entry.sha256);
  EXPECT_EQ(manifest::load_repository(path_text(out()), reader, in_2026)->index.serial, 2);
}

TEST_F(Publish, AnUnsignedChangeOfASignedRepositoryIsRefused) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  add_toy("1.0.1");
  const auto refused = to_out();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M08");
  manifest::FolderReader reader;
  EXPECT_EQ(manifest::load_repository(path_text(out()), reader, in_2026)->index.serial, 1);
}

TEST_F(Publish, AnOlderFolderDoesNotReplaceANewerOne) {
  ASSERT_TRUE(sign_with({1}));
  fs::copy(repository(), folder() / "older", fs::copy_options::recursive);
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  const auto refused = publish::publish(*Workspace::open(folder() / "older"), out(), in_2026);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M11");
}

// Machines that saw the newer root would refuse everything, and the others would trust the removed key.
TEST_F(Publish, AnOlderForeignOrMissingRootReplacesNothing) {
  RootChange two;
  two.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, two));
  fs::copy(repository(), folder() / "older", fs::copy_options::recursive);
  fs::copy(repository(), folder() / "another", fs::copy_options::recursive);
  RootChange without;
  without.remove = {test_key(2).public_key().id};
  ASSERT_TRUE(sign_with({1}, without));
  ASSERT_TRUE(to_out());
  const std::string root = bytes_of(out() / "root.json");
  const auto publish_from = [&](const char* name) {
    return publish::publish(*Workspace::open(folder() / name), out(), in_2026);
  };
  const auto older = publish_from("older");
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, "EH-M11");
  EXPECT_EQ(older.error().value(Key::found), "1");
  EXPECT_EQ(older.error().value(Key::expected), "2");
  EXPECT_THAT(std::string(older.error().value(Key::remedy)), HasSubstr("the folder that made version 2"));

  RootChange other;
  other.add = {test_key(3).public_key()};
  std::vector<SecretKey> keys;
  keys.push_back(test_key(1));
  ASSERT_TRUE(publish::sign(*Workspace::open(folder() / "another"), keys, other, in_2026));
  const auto another = publish_from("another");
  ASSERT_FALSE(another);
  EXPECT_EQ(another.error().code, "EH-M11");
  EXPECT_THAT(std::string(another.error().value(Key::problem)), HasSubstr("another root"));

  fs::copy(repository(), folder() / "none", fs::copy_options::recursive);
  fs::remove(folder() / "none/root.json");
  fs::remove_all(folder() / "none/roots");
  for (const bool damaged : {false, true}) {
    if (damaged) fs::resize_file(out() / "root.json", 20);
    const auto none = publish_from("none");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, "EH-M17");
    EXPECT_FALSE(publish_from("older"));
    EXPECT_FALSE(publish_from("another"));
  }
  ASSERT_TRUE(to_out()->changed) << "what was damaged";
  EXPECT_EQ(bytes_of(out() / "root.json"), root);
}

TEST_F(Publish, DamageOfThePublishedFolderIsRepaired) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  EXPECT_FALSE(to_out()->changed);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(out()))
    if (entry.is_regular_file() && entry.path().filename() != "index.json") files.push_back(entry.path());
  EXPECT_GE(files.size(), 7u) << "root and copy, their signatures, a manifest, an archive, the index's";
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    const std::string whole = bytes_of(file);
    std::string turned = whole;
    turned.back() ^= 1;
    for (const std::string& damaged : {whole.substr(0, whole.size() / 2), turned, std::string()}) {
      ASSERT_TRUE(write_file(file, damaged));
      const auto again = to_out();
      ASSERT_TRUE(again) << again.error().code;
      EXPECT_TRUE(again->changed);
      EXPECT_EQ(again->files, 1u);
      EXPECT_EQ(bytes_of(file), whole);
    }
  }
  EXPECT_FALSE(to_out()->changed);
  // Valid JSON, and another root with this version.
  for (const char* document : {"root.json", "roots/1.json"}) {
    SCOPED_TRACE(document);
    const std::string whole = bytes_of(out() / document);
    std::string other = whole;
    const std::size_t digit = other.find("20", other.find("\"expires\""));
    ASSERT_NE(digit, std::string::npos) << whole;
    other[digit] = '1';
    ASSERT_TRUE(write_file(out() / document, other));
    const auto again = to_out();
    ASSERT_TRUE(again) << again.error().value(Key::problem);
    EXPECT_EQ(bytes_of(out() / document), whole);
  }
}

// A published file is carried over, or the publication fails with the reason.
TEST_F(Publish, UnreadableFilesAreNotDropped) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  fs::create_symlink("itself", out() / "files/itself");
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({1}));
  const auto refused = to_out();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M17");
  EXPECT_THAT(std::string(refused.error().value(Key::folder)), HasSubstr("files/itself"));
  EXPECT_EQ(refused.error().value(Key::errno_), "ELOOP");
  fs::remove(out() / "files/itself");
  EXPECT_TRUE(to_out()->changed);
}

TEST_F(Publish, LintErrorsAndForeignFoldersStopIt) {
  write("www/engines/index.html", "hello");
  const auto foreign = to_out();
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, "EH-M17");
  EXPECT_EQ(bytes_of(out() / "index.html"), "hello");
  edit("\"lazy\": []", "\"lazy\": [\"liblazy.so\"]");
  EXPECT_EQ(to_out().error().code, "EH-M16");
}

TEST_F(Publish, ATargetThatIsNoFolderIsNotChanged) {
  write("www/engines", "notes of somebody");
  const auto refused = to_out();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M17");
  EXPECT_EQ(refused.error().value(Key::problem), "it is a file, and a folder would take its place");
  EXPECT_EQ(bytes_of(out()), "notes of somebody");
  EXPECT_EQ(beside().size(), 1u);
}

TEST_F(Publish, TheSourceFolderIsNotReplaced) {
  ASSERT_TRUE(sign_with({1}));
  const auto into = [&](const fs::path& target) {
    const auto published = publish::publish(workspace(), target, in_2026);
    EXPECT_FALSE(published) << target;
    return published ? "" : std::string(published.error().value(Key::problem));
  };
  EXPECT_EQ(into(repository()), "it is the folder that is published from");
  fs::create_directory_symlink(repository(), folder() / "link");
  EXPECT_EQ(into(folder() / "link"), "it is the folder that is published from");
  // A folder that publish wrote, and that now contains a workspace.
  ASSERT_TRUE(to_out());
  fs::copy(repository(), out() / "work", fs::copy_options::recursive);
  const auto published = publish::publish(*Workspace::open(out() / "work"), out(), in_2026);
  ASSERT_FALSE(published);
  EXPECT_THAT(std::string(published.error().value(Key::problem)), HasSubstr("lies in it"));
  // In the other direction nothing can be lost.
  EXPECT_TRUE(publish::publish(workspace(), repository() / "www", in_2026));
}

TEST_F(Publish, ADueSignatureIsReportedWithItsKeys) {
  RootChange daily;
  daily.add_for_index = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, daily));
  add_toy("1.0.1");
  const std::string keys = test_key(1).public_key().id + " or " + test_key(2).public_key().id;
  for (const char* time : {"no signature is left", "the index is made already"}) {
    SCOPED_TRACE(time);
    const auto refused = to_out();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().value(Key::remedy),
              "engine-manifest sign, with --key of " + keys + ", then publish again");
  }
  RootChange third;
  third.add = {test_key(3).public_key()};
  ASSERT_TRUE(sign_with({2}, third));
  EXPECT_THAT(std::string(to_out().error().value(Key::remedy)),
              HasSubstr("--key of " + test_key(1).public_key().id));
}

// A publisher who signs every day with a key for the index alone never renews the root.
TEST_F(Publish, AnExpiringRootIsReportedInAdvance) {
  RootChange daily;
  daily.add_for_index = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, daily));
  constexpr std::int64_t year = 365 * 86'400;
  const auto at = [&](std::int64_t now) {
    EXPECT_TRUE(sign_with({2}, {}, now));
    return publish::publish(workspace(), out(), now);
  };
  const auto first = at(in_2026);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->root_date);
  EXPECT_THAT(lint(workspace(), in_2026).warnings, testing::IsEmpty());
  const auto second = at(in_2026 + 2 * year);
  ASSERT_TRUE(second) << second.error().value(Key::problem);
  ASSERT_TRUE(second->root_date);
  EXPECT_THAT(std::string(second->root_date->value(Key::problem)), HasSubstr("and no index renews it"));
  EXPECT_EQ(second->root_date->value(Key::remedy),
            "engine-manifest sign, with --key of " + test_key(1).public_key().id);
  EXPECT_EQ(lint(workspace(), in_2026 + 2 * year).warnings.size(), 1u);
  const auto third = at(in_2026 + 3 * year);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, "EH-M16");
  EXPECT_THAT(std::string(third.error().value(Key::problem)), HasSubstr("it expired at"));
  ASSERT_TRUE(sign_with({1}, {}, in_2026 + 3 * year));
  EXPECT_FALSE(at(in_2026 + 3 * year)->root_date);
}

TEST_F(ConcurrentPublishers, PublishersAtTheSameTimeTakeTurnsAndTheNewestWins) {
  constexpr int count = 6;
  for (int number = 0; number < count; ++number) {
    if (number > 0) add_toy("1.0." + std::to_string(number));
    ASSERT_TRUE(sign_with({1}));
    fs::copy(repository(), keeper(number), fs::copy_options::recursive);
  }
  std::vector<Result<Published>> results(count, Published{});
  std::vector<std::thread> keepers;
  for (int number = 0; number < count; ++number)
    keepers.emplace_back([&, number] {
      results[static_cast<std::size_t>(number)] =
          publish::publish(*Workspace::open(keeper(number)), out(), in_2026);
    });
  for (std::thread& one : keepers) one.join();
  manifest::FolderReader reader;
  EXPECT_EQ(manifest::load_repository(path_text(out()), reader, in_2026)->index.serial, count);
  for (int number = 0; number < count; ++number) {
    const auto& result = results[static_cast<std::size_t>(number)];
    SCOPED_TRACE(number);
    if (!result) {
      EXPECT_EQ(result.error().code, "EH-M11");
      continue;
    }
    // Published files stay for users who hold that index.
    const auto index = Workspace::open(keeper(number))->index();
    ASSERT_TRUE(index && *index);
    for (const manifest::IndexEntry& entry : (*index)->manifests)
      EXPECT_EQ(*sha256_of_file(out() / entry.path), entry.sha256);
  }
  EXPECT_TRUE(results.back()) << "the newest";
  EXPECT_THAT(beside(), testing::UnorderedElementsAre("engines", ".engines.lock"));
}

}  // namespace
}  // namespace enginehost::publish
