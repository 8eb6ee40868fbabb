// Every known way to pass off something else as the signed repository; each is refused by name.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

class AttackTest : public TrustTest {
 protected:
  AttackTest() {
    put_all(7);
    trust(1);
    EXPECT_EQ(code(), "");
  }
  std::string& signature(int key = 1) {
    return file("index.json." + test_key(key).public_key().id + ".minisig");
  }
  // Replaces a line of a signature.
  void edit(std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
  }
  void raw_index(const std::string& text) {
    file("index.json") = text;
    sign("index.json", 1, Role::index, 8);
  }
};

// The parts that attacks use, made public.
struct Open : AttackTest {
  using AttackTest::edit;
  using AttackTest::file;
  using AttackTest::index_of;
  using AttackTest::put_index;
  using AttackTest::put_root;
  using AttackTest::raw_index;
  using AttackTest::root_of;
  using AttackTest::sign;
  using AttackTest::sign_as;
  using AttackTest::signature;
  using AttackTest::store_;
  void TestBody() override {}
};

const std::vector<std::pair<const char*, std::pair<std::function<void(Open&)>, const char*>>>& attacks() {
  static const std::vector<std::pair<const char*, std::pair<std::function<void(Open&)>, const char*>>> table =
      {
          {"an old version is replayed", {[](Open& t) { t.put_index(t.index_of(6), {1}); }, "EH-M11"}},
          {"another index with the same serial",
           {[](Open& t) { t.put_index(t.index_of(7).set("created", "2026-01-01T00:00:00Z"), {1}); },
            "EH-M11"}},
          {"another key signs",
           {[](Open& t) {
              t.file("index.json") = t.index_of(8).dump();
              t.sign("index.json", 2, Role::index, 8);
              t.signature(1) = t.signature(2);
            },
            "EH-M09"}},
          {"another key signs under its own name",
           {[](Open& t) { t.put_index(t.index_of(8), {2}); }, "EH-M10"}},
          {"a byte of the index is changed", {[](Open& t) { t.file("index.json")[20] ^= 1; }, "EH-M09"}},
          {"a byte is added to the index", {[](Open& t) { t.file("index.json") += "\n"; }, "EH-M09"}},
          {"the trusted comment is edited",
           {[](Open& t) { t.edit(t.signature(), "version:7", "version:9"); }, "EH-M09"}},
          {"the trusted comment says another version than the index",
           {[](Open& t) { t.sign("index.json", 1, Role::index, 9); }, "EH-M09"}},
          {"the trusted comment says nothing",
           {[](Open& t) { t.sign_as("index.json", 1, "hello"); }, "EH-M09"}},
          {"the trusted comment says more",
           {[](Open& t) { t.sign_as("index.json", 1, "role:index version:7 ts:5 more:1"); }, "EH-M09"}},
          {"the trusted comment has a negative version",
           {[](Open& t) { t.sign_as("index.json", 1, "role:index version:-7 ts:5"); }, "EH-M09"}},
          {"the trusted comment has a version beyond 64 bits",
           {[](Open& t) { t.sign_as("index.json", 1, "role:index version:18446744073709551623 ts:5"); },
            "EH-M09"}},
          {"a root is given as the index",
           {[](Open& t) {
              t.file("index.json") = t.file("root.json");
              t.signature() = t.file("root.json.00000000000000A1.minisig");
            },
            "EH-M09"}},
          {"the signature of another document",
           {[](Open& t) { t.signature() = t.file("root.json.00000000000000A1.minisig"); }, "EH-M09"}},
          {"a legacy signature", {[](Open& t) { t.edit(t.signature(), "\nRU", "\nRW"); }, "EH-M09"}},
          {"a truncated signature",
           {[](Open& t) { t.signature().resize(t.signature().size() / 2); }, "EH-M09"}},
          {"an empty signature", {[](Open& t) { t.signature() = ""; }, "EH-M09"}},
          {"a signature of 100 kB", {[](Open& t) { t.signature() = std::string(100'000, 'A'); }, "EH-M09"}},
          {"a web page instead of the signature",
           {[](Open& t) { t.signature() = "<html><title>Sign in</title></html>"; }, "EH-M09"}},
          {"the index of another repository of the same keys",
           {[](Open& t) { t.put_index(t.index_of(8).set("name", "other"), {1}); }, "EH-M09"}},
          {"one signature less than the threshold",
           {[](Open& t) {
              t.put_root(t.root_of(2, {1, 2}, 2), {1, 2});
              t.put_index(t.index_of(8), {1});
            },
            "EH-M08"}},
          {"a revoked key signs",
           {[](Open& t) {
              Root root = t.root_of(2, {1, 2});
              root.revoked = {test_key(1).public_key().id};
              t.put_root(root, {1, 2});
              t.put_index(t.index_of(8), {1});
            },
            "EH-M13"}},
          {"a root that its own keys did not sign",
           {[](Open& t) { t.put_root(t.root_of(2, {2}), {1}); }, "EH-M10"}},
          {"a root that only new keys signed",
           {[](Open& t) { t.put_root(t.root_of(2, {2}), {2}); }, "EH-M10"}},
          {"the same root version with other keys",
           {[](Open& t) {
              t.put_root(t.root_of(1, {1, 2}), {1, 2});
            },
            "EH-M11"}},
          {"an older root",
           {[](Open& t) {
              t.put_root(t.root_of(2, {1}), {1});
              t.put_index(t.index_of(8), {1});
              Trust trust{t.store_, true, false, {}};
              MemoryReader now;
              for (const char* path : {"root.json", "root.json.00000000000000A1.minisig", "index.json",
                                       "index.json.00000000000000A1.minisig", "manifests/pytorch.json"})
                now.files[std::string("https://engines.example/repository/") + path] = t.file(path);
              ASSERT_TRUE(load_repository("https://engines.example/repository", now, in_2026, &trust));
              t.put_root(t.root_of(1, {1}), {1});
            },
            "EH-M11"}},
          {"a root whose threshold no keys can reach",
           {[](Open& t) {
              Root root = t.root_of(2, {1});
              root.index_threshold = 2;
              t.put_root(root, {1});
            },
            "EH-M02"}},
          {"a root without keys", {[](Open& t) { t.put_root(t.root_of(2, {}), {1}); }, "EH-M02"}},
          {"the root's version in the comment is another",
           {[](Open& t) {
              t.put_root(t.root_of(2, {1}), {});
              t.sign("root.json", 1, Role::root, 3);
            },
            "EH-M09"}},
          {"the index signature on the root",
           {[](Open& t) {
              t.put_root(t.root_of(2, {1}), {});
              t.sign("root.json", 1, Role::index, 2);
            },
            "EH-M09"}},
          // Documents that we do not read even from a signer.
          {"duplicate keys",
           {[](Open& t) {
              t.raw_index(R"({"format":1,"name":"test","serial":8,"serial":9,"manifests":[]})");
            },
            "EH-M01"}},
          {"a negative serial",
           {[](Open& t) { t.raw_index(R"({"format":1,"name":"test","serial":-1,"manifests":[]})"); },
            "EH-M02"}},
          {"a serial of 2^64",
           {[](Open& t) {
              t.raw_index(R"({"format":1,"name":"test","serial":18446744073709551616,"manifests":[]})");
            },
            "EH-M01"}},
          {"a number of 1e400",
           {[](Open& t) { t.raw_index(R"({"format":1,"name":"test","serial":8,"x":1e400,"manifests":[]})"); },
            "EH-M01"}},
          {"a depth of 100000",
           {[](Open& t) {
              t.raw_index("{\"manifests\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
            },
            "EH-M01"}},
          {"an index of 100 MB", {[](Open& t) { t.raw_index(std::string(100u << 20, ' ')); }, "EH-N07"}},
          {"a manifest path that climbs",
           {[](Open& t) {
              t.raw_index(R"({"format":1,"name":"test","serial":8,"manifests":[{"path":"../x","sha256":")" +
                          std::string(64, 'a') + "\"}]}");
            },
            "EH-M06"}},
          {"a field that must be understood",
           {[](Open& t) {
              t.raw_index(R"({"format":1,"name":"test","serial":8,"critical":["sandbox"],"manifests":[]})");
            },
            "EH-M03"}},
          {"a later format",
           {[](Open& t) { t.raw_index(R"({"format":2,"name":"test","serial":8,"manifests":[]})"); },
            "EH-M04"}},
      };
  return table;
}

TEST(Attacks, AreRefusedByNameAndLowerNoVersion) {
  for (const auto& [name, what] : attacks()) {
    SCOPED_TRACE(name);
    struct Run : Open {
      std::string after() { return code(); }
      std::int64_t version() { return store_.seen(location)->index_version; }
    } run;
    what.first(run);
    const std::int64_t before = run.version();
    EXPECT_EQ(run.after(), what.second);
    EXPECT_GE(run.version(), before);
  }
}

}  // namespace
}  // namespace enginehost::manifest
