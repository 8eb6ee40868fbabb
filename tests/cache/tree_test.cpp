#include <gtest/gtest.h>

#include "base/file_calls.hpp"
#include "base/sha256.hpp"
#include "cache/tree_list.hpp"
#include "cache/tree_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

using test::TemporaryFolder;

TreeEntry file(std::string path, std::string_view bytes) {
  return {TreeEntry::Kind::file, bytes.size(), std::move(path), sha256_hex(bytes)};
}

TEST(TreeList, IsSortedByItsBytesWhateverTheOrderOfEntries) {
  const TreeList one{{file("b", "x"), file("a", "y")}}, other{{file("a", "y"), file("b", "x")}};
  EXPECT_EQ(one.text(), other.text());
  EXPECT_EQ(one.id(), other.id());
}

TEST(TreeList, IsReadBackAsWritten) {
  TreeList list{{file("lib/a b.so", "one"), file("lib/z", "two")}};
  list.entries.push_back({TreeEntry::Kind::link, 5, "lib/l", "a b.s"});
  const auto again = read_tree_list(list.text(), "list");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), list.text());
  EXPECT_EQ(again->size(), 6u);
}

TEST(TreeList, KeepsTargetAndPathApartWhenBothHaveSpaces) {
  const TreeList one{{{TreeEntry::Kind::link, 1, "b c", "a"}}},
      other{{{TreeEntry::Kind::link, 3, "c", "a b"}}};
  EXPECT_NE(one.id(), other.id());
  EXPECT_EQ(read_tree_list(one.text(), "list")->entries[0].path, "b c");
  EXPECT_EQ(read_tree_list(other.text(), "list")->entries[0].path, "c");
}

TEST(TreeList, RefusesWhatIsNotCanonical) {
  const std::string digest = sha256_hex("x");
  for (const std::string& text :
       {"F 1 " + digest + " b\nF 1 " + digest + " a\n", "F 1 " + digest + " a", "Q 1 " + digest + " a\n",
        "F 1 " + digest + " ../a\n", "F 1 " + digest + " /a\n", "F x " + digest + " a\n",
        std::string("F 1 abc a\n"), std::string("L 99 a b\n"), std::string("L 5 /etc/ b\n"),
        "F 1 " + digest + " a\nX 1 " + digest + " a\n"}) {
    const auto list = read_tree_list(text, "list");
    ASSERT_FALSE(list) << text;
    EXPECT_EQ(list.error().code, "EH-F08");
  }
}

TEST(TreeList, DigestOfABuildDoesNotDependOnTheOrderOfItsTrees) {
  EXPECT_EQ(digest_of_trees({"b", "a"}), digest_of_trees({"a", "b"}));
  EXPECT_NE(digest_of_trees({"a"}), digest_of_trees({"a", "b"}));
}

TEST(Links, MayOnlyPointInside) {
  EXPECT_EQ(link_problem("lib/a.so", "a.so.1"), "");
  EXPECT_EQ(link_problem("lib/a.so", "../other/a.so"), "");
  EXPECT_NE(link_problem("lib/a.so", "../../a.so"), "");
  EXPECT_NE(link_problem("a.so", "/etc/passwd"), "");
  EXPECT_NE(link_problem("a.so", ""), "");
  EXPECT_NE(link_problem("a/b/c", "d/../../x"), "") << "d may be a link: its parent is anywhere";
}

class Writer : public testing::Test {
 protected:
  TemporaryFolder folder;
  TreeWriter writer{folder.path(), {1000, 10}};
  Result<void> add(std::string_view path, std::string_view bytes = "x") {
    TRY(writer.begin_file(path, false));
    TRY(writer.write(bytes));
    return writer.end_file();
  }
  static std::string problem_of(const Result<void>& result) {
    return result ? ""
                  : std::string(result.error().code_text()) + ": " +
                        std::string(result.error().value(Key::problem));
  }
};

TEST_F(Writer, ListsWhatItWrote) {
  ASSERT_TRUE(add("lib/a.so.1", "hello"));
  ASSERT_TRUE(writer.add_link("lib/a.so", "a.so.1"));
  const auto list = writer.finish();
  ASSERT_TRUE(list);
  EXPECT_EQ(list->find("lib/a.so.1")->identity, sha256_hex("hello"));
  EXPECT_EQ(list->find("lib/a.so")->identity, "a.so.1");
  EXPECT_EQ(test::read_text(folder / "lib/a.so"), "hello");
}

TEST_F(Writer, GivesReadOnlyModesOnly) {
  ASSERT_TRUE(writer.begin_file("program", true));
  ASSERT_TRUE(writer.end_file());
  ASSERT_TRUE(add("data"));
  calls::Status status{};
  calls::stat((folder / "program").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0555u);
  calls::stat((folder / "data").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0444u);
}

TEST_F(Writer, RefusesPathsThatLeaveTheFolder) {
  for (const char* path : {"../a", "/a", "a/../../b", "a//b", "./a", "a\\b", "a\nb", ""})
    EXPECT_EQ(problem_of(add(path)).substr(0, 6), "EH-F19") << path;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Writer, RefusesTheSamePathTwice) {
  ASSERT_TRUE(add("a"));
  EXPECT_EQ(problem_of(add("a")), "EH-F19: occurs twice");
}

TEST_F(Writer, RefusesPathsThatDifferInCaseOnly) {
  ASSERT_TRUE(add("lib/a"));
  EXPECT_EQ(problem_of(add("Lib/b")), "EH-F19: differs in case only");
  EXPECT_EQ(problem_of(add("lib/A")), "EH-F19: differs in case only");
}

TEST(Spellings, FindsOneFileUnderTwoNames) {
  Spellings spellings;
  EXPECT_EQ(spellings.clash("lib/a/x"), "");
  EXPECT_EQ(spellings.clash("lib/a/x"), "");
  EXPECT_EQ(spellings.clash("lib/b/X"), "");
  EXPECT_EQ(spellings.clash("x/A/lib"), "") << "another folder";
  EXPECT_EQ(spellings.clash("lib/A/y"), "lib/a");
  EXPECT_EQ(spellings.clash("lib/b/x"), "lib/b/X");
  EXPECT_EQ(spellings.clash("LIB"), "lib");
}

TEST(PortableNames, AreThoseEverySystemSpellsAlike) {
  for (const char* name :
       {"lib/libtorch.so.2", "a b/c", "console", "com10", "comet", "nulls.txt", "lib/\xc3\xa9t\xc3\xa9"})
    EXPECT_EQ(name_problem(name), "") << name;
  for (const char* name : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xc3"})
    EXPECT_EQ(name_problem(name), "its name is not UTF-8");
  // A right-to-left override, a zero-width joiner, a next line of C1, a line separator, a byte order mark.
  for (const char* name : {"a\xe2\x80\xae"
                           "b",
                           "lib/\xe2\x80\x8d", "\xc2\x85", "x/\xe2\x80\xa8y", "\xef\xbb\xbfz"})
    EXPECT_EQ(name_problem(name), "an invisible character");
  for (const char* name : {"aux", "LPT9.so", "x/conin$", "Con .txt", "COM\xc2\xb9.txt"})
    EXPECT_EQ(name_problem(name), "a device of Windows") << name;
}

TEST_F(Writer, RefusesNamesThatAnotherSystemReadsOtherwise) {
  for (const char* name : {"C:/evil", "CON.txt", "a:stream", "lib/LPT1",
                           "a\xe2\x80\xae"
                           "b",
                           "lib/dot.", "lib/x ", "what?"}) {
    EXPECT_EQ(problem_of(add(name)).substr(0, 8), "EH-F19: ") << name;
    EXPECT_FALSE(writer.adopt_file(name, false, folder / "elsewhere", 1, std::string(64, '0'))) << name;
    EXPECT_FALSE(writer.add_link(name, "a")) << name;
  }
  EXPECT_EQ(writer.entries(), 0u);
}

TEST_F(Writer, RefusesLinksToSuchNames) {
  for (const char* target : {"C:/evil", "NUL", "b/AUX.so", "a:stream", "b\xe2\x80\xae"})
    EXPECT_EQ(problem_of(writer.add_link("a", target)).substr(0, 8), "EH-F19: ") << target;
}

TEST_F(Writer, LettersBeyondAsciiDifferInMoreThanCase) {
  ASSERT_TRUE(add("lib/\xc3\xa9t\xc3\xa9"));
  EXPECT_EQ(problem_of(add("lib/\xc3\x89T\xc3\x89")), "EH-F19: differs in case only");
}

TEST_F(Writer, RefusesAFileBelowALink) {
  ASSERT_TRUE(add("real/x"));
  ASSERT_TRUE(writer.add_link("folder", "real"));
  EXPECT_EQ(problem_of(add("folder/y")), "EH-F19: lies below a file or link");
}

TEST_F(Writer, RefusesMoreBytesOrEntriesThanAllowed) {
  EXPECT_EQ(problem_of(add("bomb", std::string(1001, 'x'))), "EH-F19: unpacks to more than is allowed");
  TreeWriter other(folder / "other", {1000, 1});
  std::filesystem::create_directory(folder / "other");
  ASSERT_TRUE(other.begin_file("a", false));
  ASSERT_TRUE(other.end_file());
  EXPECT_EQ(problem_of(other.begin_file("b", false)), "EH-F19: too many entries");
}

TEST_F(Writer, RefusesADanglingLink) {
  ASSERT_TRUE(writer.add_link("a", "nowhere"));
  const auto list = writer.finish();
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().value(Key::problem), "link to something that is not in the archive");
}

TEST_F(Writer, RefusesLinksInACircle) {
  ASSERT_TRUE(writer.add_link("a", "b"));
  ASSERT_TRUE(writer.add_link("b", "a"));
  const auto list = writer.finish();
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().value(Key::problem), "links in a circle");
}

TEST_F(Writer, TurnsAFileIntoTheLinkThatItNames) {
  ASSERT_TRUE(add("a.so.1", "bytes"));
  ASSERT_TRUE(add("a.so", "a.so.1"));
  ASSERT_TRUE(writer.make_link_of("a.so"));
  const auto list = writer.finish();
  ASSERT_TRUE(list);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "a.so"));
}

TEST_F(Writer, RefusesALateLinkThatLeadsOut) {
  ASSERT_TRUE(add("evil", "../../etc/passwd"));
  EXPECT_EQ(problem_of(writer.make_link_of("evil")), "EH-F19: link points out of the folder");
}

}  // namespace
}  // namespace enginehost::cache
