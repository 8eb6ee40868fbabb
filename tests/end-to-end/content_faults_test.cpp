// EH-F: a build whose files are not what they should be although their digests are right: the publisher's
// mistakes, and damage older than the digest.
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

constexpr const char* plugin = "libengine_reference.so";

Fault with_content(std::string bytes, const std::string& code, std::vector<std::string> named = {}) {
  named.push_back(plugin);
  return {faulty_build({{plugin, std::move(bytes)}}), code, std::move(named)};
}

TEST(ContentFaults, F01_APluginThatTheComponentsDoNotHoldIsMissing) {
  TestBuild build = faulty_build({{"readme.txt", "no plugin here"}});
  build.plugin = plugin;
  expect_fault({build, "EH-F01", {plugin}});
}

TEST(ContentFaults, F02_AnEmptyFileIsCalledEmpty) { expect_fault(with_content("", "EH-F02")); }

TEST(ContentFaults, F03_AFileShorterThanAHeaderIsCalledTooShort) {
  expect_fault(with_content(reference_plugin().substr(0, 40), "EH-F03"));
}

TEST(ContentFaults, F04_ATruncatedFileIsToldWithBothSizesAndKillsNobody) {
  expect_fault(with_content(reference_plugin().substr(0, 4096), "EH-F04", {"4096"}));
}

TEST(ContentFaults, F05_AWebPageIsToldByItsTitle) {
  expect_fault(with_content("<!DOCTYPE html><html><head><title>Guest network sign-in</title></head></html>",
                            "EH-F05", {"Guest network sign-in"}));
}

TEST(ContentFaults, F06_AFileThatIsStillCompressedIsToldByItsFormat) {
  expect_fault(with_content(std::string("\x1f\x8b\x08\x00", 4) + noise(4000), "EH-F06", {"gzip"}));
}

TEST(ContentFaults, F07_APointerInsteadOfTheFileIsRecognised) {
  expect_fault(with_content(
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\nsize 12345\n",
      "EH-F07"));
}

TEST(ContentFaults, BytesThatAreNotThoseOfTheManifestAreNeverInstalled) {
  const TemporaryFolder folder;
  TestRepository repository(folder / "repository");
  repository.add(good_build());
  // Not the good build's bytes: files are stored under their digest.
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
