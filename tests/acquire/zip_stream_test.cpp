#include "host/acquire/zip_stream.hpp"

#include <gmock/gmock.h>

#include <map>

#include "base/child_process.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::acquire {
namespace {

struct Read {
  std::map<std::string, std::string> files;
  std::string code;  // empty: read to the end
};

// Gives `step` bytes at a time; entries whose name holds "unwanted" are skipped.
Read read(const std::string& archive, std::size_t step = 7) {
  Read result;
  std::size_t at = 0;
  std::string* now = nullptr;
  const ZipSource source = [&](char* buffer, std::size_t size) {
    const std::size_t some = std::min({size, step, archive.size() - at});
    archive.copy(buffer, some, at);
    at += some;
    return static_cast<std::int64_t>(some);
  };
  ZipSink sink;
  sink.begin = [&](const std::string& name) -> Result<bool> {
    if (name.find("unwanted") != std::string::npos || name.ends_with('/')) return false;
    now = &result.files[name];
    return true;
  };
  sink.write = [&](std::string_view bytes) -> Result<void> {
    now->append(bytes);
    return {};
  };
  sink.end = [] { return Result<void>(); };
  if (const auto done = read_zip_stream(source, sink); !done) result.code = done.error().code_text();
  return result;
}

class ZipStream : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_zip_stream()) GTEST_SKIP() << "built without ISA-L";
  }
  // Compressed as wheels are.
  std::string python_zip(const std::map<std::string, std::string>& files) {
    for (const auto& [name, bytes] : files) test::write_text(folder / name, bytes);
    ChildRequest request;
    request.argv = {"python3", "-c",
                    "import os,sys,zipfile\n"
                    "os.chdir(sys.argv[1])\n"
                    "with zipfile.ZipFile('out.zip','w',zipfile.ZIP_DEFLATED) as z:\n"
                    "  z.writestr('lib/','')\n"
                    "  for n in sys.argv[2:]: z.write(n,n,zipfile.ZIP_STORED if 'stored' in n else None)\n",
                    folder.path().native()};
    for (const auto& [name, bytes] : files) request.argv.push_back(name);
    const auto child = run_child(request);
    EXPECT_TRUE(child && child->succeeded()) << (child ? child->error : "");
    return test::read_text(folder / "out.zip");
  }
  test::TemporaryFolder folder;
};

TEST_F(ZipStream, ReadsWheelsInPiecesOfAnySize) {
  std::string text;
  for (int line = 0; line < 50'000; ++line) text += "line " + std::to_string(line * 7919 % 1000) + "\n";
  const std::map<std::string, std::string> files = {{"lib/text", text},
                                                    {"lib/noise", test::noise(300'000)},
                                                    {"lib/stored", test::noise(100'000)},
                                                    {"lib/empty", ""},
                                                    {"lib/unwanted", text}};
  auto expected = files;
  expected.erase("lib/unwanted");
  const std::string archive = python_zip(files);
  for (const std::size_t step : {13u, 4096u, 10'000'000u}) {
    const Read got = read(archive, step);
    EXPECT_EQ(got.code, "") << step;
    EXPECT_EQ(got.files, expected) << step;
  }
}

TEST_F(ZipStream, LeavesUnusualArchivesToTheOtherReader) {
  EXPECT_EQ(read(test::make_zip({{.name = "a", .bytes = "x", .sizes_follow = true}})).code, "EH-F21");
  EXPECT_EQ(read("no zip at all").code, "EH-F21");
  EXPECT_EQ(read("").code, "EH-F21");
  EXPECT_EQ(read("PREFIX" + test::make_zip({{"a", "x"}})).code, "EH-F21");
  std::string encrypted = test::make_zip({{"a", "x"}});
  encrypted[6] |= 1;
  EXPECT_EQ(read(encrypted).code, "EH-F21");
  EXPECT_EQ(read(test::make_zip({{"a", "x"}})).code, "");
}

TEST_F(ZipStream, NeverAcceptsACutOrChangedEntry) {
  const std::map<std::string, std::string> files = {{"deflated", std::string(300, 'a') + "tail"},
                                                    {"stored", "these bytes stand as they are"}};
  const std::string archive = python_zip(files);
  const std::size_t directory = archive.find("PK\x01\x02");
  ASSERT_NE(directory, std::string::npos);
  for (std::size_t size = 0; size < directory; ++size)
    EXPECT_EQ(read(archive.substr(0, size), 5).code, "EH-F21") << "cut at " << size;
  for (std::size_t at = 0; at < directory; ++at)
    for (const int bit : {0, 3, 7}) {
      std::string changed = archive;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      const Read got = read(changed, 5);
      if (!got.code.empty()) continue;
      // A name (so that the folder is an empty file), a time or a version may differ; the bytes may not.
      for (const auto& [name, bytes] : got.files)
        EXPECT_TRUE(bytes.empty() || bytes == files.at("deflated") || bytes == files.at("stored"))
            << at << " bit " << bit;
    }
}

}  // namespace
}  // namespace enginehost::acquire
