// /etc/ld.so.cache is read as ld.so reads it, compared with ldconfig -p.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "host/linker/machine.hpp"
#include "tests/linker/made_cache.hpp"

namespace enginehost::linker {
namespace {

std::set<std::string> ldconfig_list() {
  ChildRequest request;
  request.argv = {"/sbin/ldconfig", "-p"};
  request.keep_bytes = 16u << 20;
  std::set<std::string> list;
  Result<ChildOutcome> outcome = run_child(request);
  if (!outcome) return list;
  std::istringstream lines(outcome->output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => ");
    if (line.empty() || line.front() != '\t' || arrow == std::string::npos) continue;
    list.insert(line.substr(1, line.find(" (") - 1) + " " + line.substr(arrow + 4));
  }
  return list;
}

TEST(Cache, ListsWhatLdconfigLists) {
  const std::set<std::string> expected = ldconfig_list();
  if (expected.empty()) GTEST_SKIP() << "ldconfig is not here";
  Result<std::string> bytes = read_file("/etc/ld.so.cache");
  ASSERT_TRUE(bytes.has_value());
  const LoaderCache cache = LoaderCache::parse(*bytes);
  std::set<std::string> found;
  for (const LoaderCache::Entry& entry : cache.entries()) found.insert(entry.soname + " " + entry.path);
  EXPECT_EQ(found, expected);
  for (const LoaderCache::Entry& entry : cache.entries())
    EXPECT_TRUE(cache.find(entry.soname, entry.flags, {}, ~std::uint64_t{0} >> 2).has_value())
        << entry.soname;
  EXPECT_FALSE(cache.find("libno-such-library.so.1", 0, {}, 0).has_value());
}

TEST(Cache, TheBestActiveLevelWinsAndOtherMachinesAreSkipped) {
  const LoaderCache cache = cache_of({
      {"libx.so.10", "/v3/libx.so.10", 0x0303, "x86-64-v3", 0},
      {"libx.so.10", "/v2/libx.so.10", 0x0303, "x86-64-v2", 0},
      {"libx.so.10", "/plain/libx.so.10", 0x0303, "", 0},
      {"libx.so.9", "/plain/libx.so.9", 0x0003, "", 0},
      {"liba.so.1", "/plain/liba.so.1", 0x0303, "", 0},
  });
  EXPECT_EQ(cache.find("libx.so.10", 0x0303, {"x86-64-v4", "x86-64-v3", "x86-64-v2"}, 0), "/v3/libx.so.10");
  EXPECT_EQ(cache.find("libx.so.10", 0x0303, {"x86-64-v2"}, 0), "/v2/libx.so.10");
  EXPECT_EQ(cache.find("libx.so.10", 0x0303, {}, 0), "/plain/libx.so.10");
  EXPECT_EQ(cache.find("libx.so.9", 0x0303, {}, 0), std::nullopt);
  EXPECT_EQ(cache.find("libx.so.9", 0x0003, {}, 0), "/plain/libx.so.9");
  EXPECT_EQ(cache.find("liba.so.1", 0x0303, {}, 0), "/plain/liba.so.1");
}

TEST(Cache, DamagedBytesGiveAnEmptyOrSmallerCache) {
  EXPECT_TRUE(LoaderCache::parse("").empty());
  EXPECT_TRUE(LoaderCache::parse("ld.so-1.7.0").empty());
  EXPECT_TRUE(LoaderCache::parse(std::string("glibc-ld.so.cache1.1\xff\xff\xff\x7f", 24)).empty());
  // Cut inside its header, with entries that cannot all be there.
  std::string header = std::string("glibc-ld.so.cache1.1\x40\x01\x00\x00", 24) + std::string(24, '\0');
  for (; !header.empty(); header.pop_back()) EXPECT_TRUE(LoaderCache::parse(header).empty()) << header.size();
  Result<std::string> bytes = read_file("/etc/ld.so.cache");
  if (!bytes) GTEST_SKIP() << "no cache here";
  std::mt19937 random(7);
  std::size_t asked = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = *bytes;
    for (int k = 0; k < 20; ++k)
      damaged[random() % (k % 2 == 0 ? 2000 : damaged.size())] = static_cast<char>(random());
    if (i % 10 == 0) damaged.resize(random() % damaged.size());
    const LoaderCache cache = LoaderCache::parse(std::move(damaged));
    for (const char* name : {"libc.so.6", "libm.so.6", "libzzz.so"}) {
      (void)cache.find(name, 0x0303, {"x86-64-v3"}, 2);
      ++asked;
    }
  }
  EXPECT_EQ(asked, 1500u);  // each returned a result
}

}  // namespace
}  // namespace enginehost::linker
