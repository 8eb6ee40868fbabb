// EH-F: a build whose files are wrong although their digests are right: publishers' mistakes, and damage
// older than the digest.
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"

namespace enginehost::test {
namespace {

Fault with_content(std::string bytes, const std::string& code, std::vector<std::string> named = {}) {
  named.push_back(plugin);
  return {faulty_build({{plugin, std::move(bytes)}}), code, std::move(named)};
}

TEST(ContentFaults, ReportsF01ForAPluginThatNoComponentHolds) {
  TestBuild build = faulty_build({{"readme.txt", "no plugin here"}});
  build.plugin = plugin;
  expect_fault({build, "EH-F01", {plugin}});
}

TEST(ContentFaults, ReportsF02ForAnEmptyFile) { expect_fault(with_content("", "EH-F02")); }

TEST(ContentFaults, ReportsF03ForAFileShorterThanAHeader) {
  expect_fault(with_content(reference_plugin().substr(0, 40), "EH-F03"));
}

TEST(ContentFaults, ReportsF04WithBothSizesOfATruncatedFile) {
  expect_fault(with_content(reference_plugin().substr(0, 4096), "EH-F04", {"4096"}));
}

TEST(ContentFaults, ReportsF05WithTheTitleOfAWebPage) {
  expect_fault(with_content("<!DOCTYPE html><html><head><title>Guest network sign-in</title></head></html>",
                            "EH-F05", {"Guest network sign-in"}));
}

TEST(ContentFaults, ReportsF06WithTheFormatOfACompressedFile) {
  expect_fault(with_content(std::string("\x1f\x8b\x08\x00", 4) + noise(4000), "EH-F06", {"gzip"}));
}

TEST(ContentFaults, ReportsF07ForALargeFilePointer) {
  expect_fault(with_content(
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\nsize 12345\n",
      "EH-F07"));
}

TEST(ContentFaults, FaultsAsPublishedAreThePublishersToFix) {
  expect_fault(with_content("", "EH-F02", {"as_published", "ask the publisher"}));
}

// The file is complete; the system's memory does not suffice for it.
TEST(ContentFaults, ReportsL23BeforeMappingAnOversizedSegment) {
  std::string bytes = reference_plugin();
  const auto word = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  const auto headers = static_cast<std::size_t>(word(32, 8)), count = static_cast<std::size_t>(word(56, 2));
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (word(headers + i * 56, 4) == 1) last = headers + i * 56;  // PT_LOAD
  bytes[last + 40 + 5] = 0x40;                                    // p_memsz: 64 TiB more
  const Workplace workplace;
  write_text(workplace.folder() / "libhuge.so", bytes);
  const Ended run = workplace.info({"--inspect", (workplace.folder() / "libhuge.so").native(), "--json"});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.document["verdict"].as_string(), "fails");
  EXPECT_EQ(run.code(), "EH-L23") << run.said();
  EXPECT_NE(run.diagnosis()["cause"].as_string().find("cannot be mapped"), std::string::npos) << run.said();
}

// Neither a repair nor a publisher can fix a file that no cache holds.
TEST(ContentFaults, FaultsOfAnInspectedFileAreTheUsersToFix) {
  const Workplace workplace;
  const auto needed = workplace.folder() / "libneeded.so", file = workplace.folder() / "libneeds.so";
  write_text(file, plugin_that_needs({"libneeded.so"}, "$ORIGIN"));
  for (const auto& [content, code] : {std::pair("", "EH-F02"), std::pair("INPUT(libm.so.6)\n", "EH-F10")}) {
    write_text(needed, content);
    const Ended run = workplace.info({"--inspect", file.native(), "--json"});
    EXPECT_EQ(run.code(), code) << run.said();
    EXPECT_EQ(evidence(run.diagnosis(), "file"), needed.native());
    const std::string remedy = run.diagnosis()["remedy"].dump();
    EXPECT_NE(remedy.find("remove it from the folders that the loader searches"), std::string::npos)
        << remedy;
    EXPECT_EQ(remedy.find("--repair"), std::string::npos) << remedy;
    EXPECT_EQ(remedy.find("publisher"), std::string::npos) << remedy;
    // In a view of a cache it is the opposite.
    const auto view = workplace.folder() / "views" / std::string(64, 'a');
    write_text(view / "libneeded.so", content);
    write_text(view / "libneeds.so", plugin_that_needs({"libneeded.so"}, "$ORIGIN"));
    const Ended own = workplace.info({"--inspect", (view / "libneeds.so").native(), "--json"});
    EXPECT_EQ(own.code(), code) << own.said();
    EXPECT_EQ(evidence(own.diagnosis(), "outside"), "") << own.said();
  }
}

TEST(ContentFaults, BytesWithAnotherDigestAreNeverInstalled) {
  const TemporaryFolder folder;
  TestRepository repository(folder / "repository");
  repository.add(good_build());
  // Other bytes than the good build's, because files are stored under their digest.
  TestBuild build = faulty_build({{plugin, reference_plugin() + "tail"}});
  repository.add(build);
  repository.write();
  std::string changed = build.files.front().bytes;
  changed[changed.size() / 2] ^= 1;
  write_text(repository.root() / "files" / sha256_hex(build.files.front().bytes), changed);

  const Workplace workplace;
  const Ended run = workplace.info({"reference", "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  EXPECT_EQ(run.candidate(build.id)["diagnosis"]["code"].as_string(), "EH-N08") << run.said();
  const Ended required = workplace.info(
      {"reference", "--require", "testing", "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(required.status, 5) << required.said();
}

}  // namespace
}  // namespace enginehost::test
