// Archives made to do harm: refused, and nothing of them is written anywhere.
#include <chrono>

#include "tests/acquire/acquire_fixture.hpp"

namespace enginehost::acquire {
namespace {

using test::ArchiveEntry;
using test::make_archive;
using test::make_zip;

// A header of 512 bytes as POSIX 1003.1 "ustar Interchange Format" has it, with the data behind it.
std::string tar_member(const std::string& name, const std::string& data, char type, std::uint64_t size) {
  std::string head(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { head.replace(at, text.size(), text); };
  const auto octal = [](std::uint64_t value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 3)
      *digit = static_cast<char>('0' + (value & 7));
    return text;
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, octal(size, 11));
  put(136, octal(0, 11));
  put(148, "        ");
  head[156] = type;
  put(257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char byte : head) sum += static_cast<unsigned char>(byte);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return head + data + std::string((512 - data.size() % 512) % 512, '\0');
}

// POSIX 1003.1, "pax Extended Header": "LENGTH KEY=VALUE\n", the length counting itself.
std::string pax(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string records;
  for (const auto& [key, value] : facts) {
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length)
      length = std::to_string(length).size() + rest.size();
    records += std::to_string(length) + rest;
  }
  return tar_member("PaxHeaders/x", records, 'x', records.size());
}

const std::string tar_end(1024, '\0');

class HostileTest : public AcquireTest {
 protected:
  std::string refused(const std::string& archive, const std::string& kind) {
    offer(archive, kind);
    const std::string said = problem();
    expect_nothing_visible();
    EXPECT_FALSE(fs::exists(folder / "evil"));
    return said;
  }
};

TEST_F(HostileTest, RefusesNamesThatAnotherSystemReadsDifferently) {
  const std::pair<std::string, std::string> names[] = {
      {"lib/CON", "a device of Windows"},
      {"lib/nul.txt", "a device of Windows"},
      {"COM7/x", "a device of Windows"},
      {"lib/file.so:hidden", "a colon"},
      {"C:evil", "a colon"},
      {"lib/trailing.", "a part ends with a dot or a space"},
      {"lib /x", "a part ends with a dot or a space"},
      {"lib/a*b", "a character that Windows refuses"},
      {"lib\\..\\evil", "backslash"},
      {"lib/tab\tname", "control character"},
      {"lib/a\xe2\x80\xae"
       "b",
       "an invisible character"},
  };
  for (const auto& [name, why] : names)
    EXPECT_EQ(refused(tar_member(name, "x", '0', 1) + tar_end, "tar"), "EH-F19: " + why) << name;
}

TEST_F(HostileTest, RefusesACombiningMark) {
  EXPECT_EQ(refused(tar_member("lib/e\xcc\x81", "x", '0', 1) + tar_end, "tar"), "EH-F19: a combining mark");
}

TEST_F(HostileTest, RefusesNamesThatAreOneFileOnOtherSystems) {
  EXPECT_EQ(
      refused(tar_member("lib/\xc3\x89t", "1", '0', 1) + tar_member("lib/\xc3\xa9t", "2", '0', 1) + tar_end,
              "tar"),
      "EH-F19: differs in case only");
  EXPECT_EQ(refused(make_archive("tar", {{"Lib/a", "1"}, {"lib/b", "2"}}), "tar"),
            "EH-F19: differs in case only");
}

TEST_F(HostileTest, RefusesDeepAndLongNames) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "d/";
  EXPECT_EQ(refused(make_archive("tar", {{deep + "x", "x"}}), "tar"), "EH-F19: too deep");
  EXPECT_EQ(refused(make_archive("tar", {{std::string(300, 'n'), "x"}}), "tar"), "EH-F19: too long");
}

// An archive of 1 KB whose one name has thousands of folders cost gigabytes while every prefix of the name
// was kept.
TEST_F(HostileTest, RefusesANameOfThousandsOfFoldersAtOnce) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "a/";
  deep += "x";
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(refused(pax({{"path", deep}}) + tar_member("a", "x", '0', 1) + tar_end, "tar"),
            "EH-F19: too long");
  EXPECT_EQ(refused(make_zip({{deep, "x"}}), "zip"), "EH-F19: too long");
  EXPECT_EQ(
      refused(pax({{"path", deep.substr(0, 3000) + "x"}}) + tar_member("a", "x", '0', 1) + tar_end, "tar"),
      "EH-F19: too long")
      << "short enough to be met, too long to be written";
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST_F(HostileTest, BoundsNamesThatAreNotSelected) {
  for (const char* kind : {"tar", "zip"}) {
    offer(make_archive(kind, {{std::string(5000, 'n'), "x"}, {"lib/a", "wanted"}}), kind);
    artifact().select = {"lib/*"};
    EXPECT_EQ(problem(), "EH-F19: too long") << kind;
  }
}

// libarchive omits an entry part that it warns about: here the long name, so that a file of another name
// would be written.
TEST_F(HostileTest, RefusesEntriesThatTheReaderWarnsAbout) {
  EXPECT_EQ(refused(pax({{"path", std::string(1'000'000, 'n')}}) +
                        tar_member(std::string(100, 'n'), "x", '0', 1) + tar_end,
                    "tar")
                .substr(0, 7),
            "EH-F21:");
}

// Owners and extended attributes of a file are ignored.
TEST_F(HostileTest, IgnoresOwnersAndExtendedAttributes) {
  offer(pax({{"uname", "\xe7\x94\xb0\xe4\xb8\xad"},
             {"gname", "\xff\xfe"},
             {"uid", "8589934592"},
             {"comment", "hello"},
             {"vendor.key", "1"},
             {"SCHILY.xattr.user.a", "b"},
             {"SCHILY.acl.access", "user::rw-,group::r--,other::r--"}}) +
            tar_member("lib/a", "x", '0', 1) + tar_end,
        "tar");
  EXPECT_EQ(problem(), "ok");
  EXPECT_EQ(installed_text("lib/a"), "x");
}

TEST_F(HostileTest, AZeroByteInANameCannotLeadOutside) {
  // "lib/ok\0/../../evil": one reader stops at the zero, another does not. A zip archive has the name twice
  // and is refused. For a tar archive libarchive returns the part before the zero, which is below the folder.
  EXPECT_NE(refused(make_zip({{std::string("lib/ok\0/../../../evil", 21), "x"}}), "zip"), "ok");
  offer(pax({{"path", std::string("lib/ok\0/../../evil", 18)}}) + tar_member("a", "x", '0', 1) + tar_end,
        "tar");
  EXPECT_EQ(problem(), "ok");
  EXPECT_EQ(installed_text("lib/ok"), "x");
  EXPECT_FALSE(fs::exists(folder / "evil"));
  EXPECT_FALSE(fs::exists(folder / "cache/evil"));
}

TEST_F(HostileTest, RefusesHardLinksAndDevices) {
  EXPECT_EQ(refused(make_archive("tar", {{"lib/x", "", 0644, "", "../../../evil"}}), "tar"),
            "EH-F19: hard link");
  EXPECT_EQ(refused(make_archive("tar", {{"lib/x", "", 0644, "", "/etc/passwd"}}), "tar"),
            "EH-F19: hard link");
  for (const char type : {'3', '4', '6'})
    EXPECT_EQ(refused(tar_member("lib/x", "", type, 0) + tar_end, "tar"),
              "EH-F19: neither a file nor a link");
}

TEST_F(HostileTest, RefusesFilesBelowALink) {
  EXPECT_EQ(refused(make_archive("tar", {{"lib/l", "", 0777, "."}, {"lib/l/x", "x"}}), "tar"),
            "EH-F19: lies below a file or link");
}

TEST_F(HostileTest, RefusesAMemberShorterThanItsHeaderSays) {
  EXPECT_NE(refused(tar_member("lib/x", "short", '0', 1u << 30), "tar"), "ok");
  EXPECT_NE(refused(pax({{"size", "1073741824"}}) + tar_member("lib/x", "short", '0', 5) + tar_end, "tar"),
            "ok");
  EXPECT_NE(refused(pax({{"size", "-5"}}) + tar_member("lib/x", "short", '0', 5) + tar_end, "tar"), "ok");
}

TEST_F(HostileTest, CountsHolesAsBytes) {
  // GNU's sparse format 0.1: a file of 100 GB with a single byte of data at its end.
  options.unpacked_limit = 1'000'000;
  const std::string head = pax({{"GNU.sparse.size", "107374182400"},
                                {"GNU.sparse.numblocks", "1"},
                                {"GNU.sparse.map", "107374182399,1"}});
  EXPECT_EQ(refused(head + tar_member("lib/x", "x", '0', 1) + tar_end, "tar"),
            "EH-F19: unpacks to more than is allowed");
}

TEST_F(HostileTest, BombsStopAtTheLimit) {
  options.unpacked_limit = 4'000'000;
  const std::string zeros(50'000'000, '\0');
  for (const char* kind : {"tar.gz", "tar.xz", "tar.zst", "zip"})
    EXPECT_EQ(refused(make_archive(kind, {{"lib/bomb", zeros}}), kind),
              "EH-F19: unpacks to more than is allowed")
        << kind;
}

TEST_F(HostileTest, ReadsManyEntries) {
  std::vector<ArchiveEntry> entries;
  for (int i = 0; i < 66'000; ++i) entries.push_back({"unwanted/" + std::to_string(i), ""});
  entries.push_back({"lib/a", "wanted"});
  offer(make_archive("zip", entries));
  artifact().select = {"lib/*"};
  EXPECT_EQ(problem(), "ok");
  EXPECT_EQ(installed_text("lib/a"), "wanted");
}

TEST_F(HostileTest, PatternsAndNamesTogetherAreBounded) {
  const std::string part(200, 'a'), deep = part + "/" + part + "/" + part + "/" + part + "/";
  std::vector<ArchiveEntry> entries{{"b0", "wanted"}};
  for (int i = 0; i < 3000; ++i) entries.push_back({deep + std::to_string(i), ""});
  for (const char* kind : {"tar", "zip"}) {
    offer(make_archive(kind, entries), kind);
    artifact().select = {"b*0", "z" + std::string(4000, '*')};
    EXPECT_EQ(problem().substr(0, 24), "EH-F19: the names of all") << kind;
    artifact().select = {"b*0"};
    EXPECT_EQ(problem(), "ok") << kind;
  }
}

TEST_F(HostileTest, IgnoresUnselectedEntriesOfAnyKind) {
  offer(make_archive("tar", {{"docs/CON", "x"}, {"docs/a:b", "x"}, {"lib/a", "wanted"}}), "tar");
  artifact().select = {"lib/*"};
  EXPECT_EQ(problem(), "ok");
  EXPECT_EQ(installed_text("lib/a"), "wanted");
}

TEST_F(HostileTest, RefusesEntriesThatShareTheirData) {
  // "A better zip bomb": many entries share one compressed block. Here: two directory entries for one header.
  std::string archive = make_zip({{"lib/a", "good"}, {"lib/b", "good"}});
  const std::size_t second = archive.rfind(std::string("PK\x01\x02", 4));
  const std::size_t first = archive.find(std::string("PK\x01\x02", 4));
  ASSERT_LT(first, second);
  archive.replace(second + 42, 4, archive.substr(first + 42, 4));
  EXPECT_NE(refused(archive, "zip"), "ok");
}

}  // namespace
}  // namespace enginehost::acquire
