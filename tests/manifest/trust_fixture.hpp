// Signed repositories made for tests: keys from fixed seeds, documents signed by any key.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/root.hpp"
#include "host/manifest/trust/signed_repository.hpp"
#include "tests/manifest/documents.hpp"
#include "tools/publish/secret_key.hpp"
#include "tools/publish/signed_documents.hpp"

namespace enginehost::manifest {

constexpr std::int64_t in_2026 = 1'795'000'000, in_2030 = 1'900'000'000;

// The key of that number, the same every time.
inline publish::SecretKey test_key(int number) {
  const std::string seed(32, static_cast<char>('A' + number));
  PublicKey public_key;
  public_key.bytes = publish::ed25519_public_key(seed).value();
  public_key.id = "00000000000000A" + std::to_string(number);
  return publish::SecretKey(public_key, seed);
}

// A repository in memory.
class MemoryReader : public DocumentReader {
 public:
  Result<std::string> read(const std::string& location, std::uint64_t limit) override {
    ++asked;
    const auto found = files.find(location);
    if (found == files.end())
      return fail(diagnose(Code::server_refuses).with(Key::url, location).with(Key::status, "404"));
    if (found->second.size() > limit)
      return fail(diagnose(Code::fetched_length_wrong).with(Key::url, location));
    return found->second;
  }
  std::map<std::string, std::string> files;
  int asked = 0;
};

class TrustTest : public testing::Test {
 protected:
  TrustTest() : folder_(*make_private_folder(std::filesystem::temp_directory_path(), "enginehost-trust-")) {}
  ~TrustTest() override { std::filesystem::remove_all(folder_); }

  static constexpr const char* location = "https://engines.example/repository";
  std::string& file(const std::string& path) { return reader_.files[std::string(location) + "/" + path]; }

  void sign_as(const std::string& path, int key, const std::string& comment) {
    const publish::SecretKey secret = test_key(key);
    file(path + "." + secret.public_key().id + ".minisig") =
        publish::write_signature(*secret.sign(file(path), comment), "made for a test");
  }
  void sign(const std::string& path, int key, Role role, std::int64_t version,
            std::int64_t time = in_2026 - 100) {
    sign_as(path, key, Statement{role, version, time}.text());
  }

  void drop_signatures(const std::string& path) {
    std::erase_if(reader_.files, [&](const auto& one) {
      return one.first.starts_with(std::string(location) + "/" + path + ".");
    });
  }

  // root.json listing `keys`, signed by `signers`.
  Root root_of(std::int64_t version, const std::vector<int>& keys, std::int64_t threshold = 1) {
    Root root;
    root.name = "test";
    root.version = version;
    root.created = "2026-01-01T00:00:00Z";
    root.expires = "2029-01-01T00:00:00Z";
    root.root_threshold = root.index_threshold = threshold;
    for (const int key : keys) root.keys.push_back({test_key(key).public_key(), true, true});
    return root;
  }
  void put_root(const Root& root, const std::vector<int>& signers) {
    for (const std::string& path :
         {std::string("root.json"), "roots/" + std::to_string(root.version) + ".json"}) {
      drop_signatures(path);
      file(path) = publish::to_json(root).dump(1);
      for (const int key : signers) sign(path, key, Role::root, root.version);
    }
  }
  Json index_of(std::int64_t serial) {
    const std::string manifest = documents()["manifest"].dump();
    file("manifests/pytorch.json") = manifest;
    Json entry = Json::object()
                     .set("path", "manifests/pytorch.json")
                     .set("sha256", sha256_hex(manifest))
                     .set("size", static_cast<std::int64_t>(manifest.size()));
    return Json::object()
        .set("format", 1)
        .set("name", "test")
        .set("serial", serial)
        .set("expires", "2027-11-20T00:00:00Z")
        .set("manifests", Json::array().push(std::move(entry)));
  }
  void put_index(const Json& index, const std::vector<int>& signers) {
    drop_signatures("index.json");
    file("index.json") = index.dump(1);
    for (const int key : signers) sign("index.json", key, Role::index, index["serial"].as_integer());
  }
  // A correct repository: key 1 signs everything and is trusted.
  void put_all(std::int64_t serial = 7) {
    put_root(root_of(1, {1}), {1});
    put_index(index_of(serial), {1});
  }
  void trust(int key, const std::string& repository = location) {
    TrustedKey trusted;
    trusted.key = test_key(key).public_key();
    trusted.repository = repository;
    ASSERT_TRUE(store_.add(trusted));
  }

  Result<RepositoryContent> load(std::int64_t now = in_2026, bool required = true, bool offline = false) {
    Trust trust{store_, required, offline, max_staleness_};
    return load_repository(location, reader_, now, &trust);
  }
  // The code of the diagnosis, or "" when it was accepted.
  std::string code(std::int64_t now = in_2026) {
    const auto content = load(now);
    return content ? "" : std::string(content.error().code_text());
  }

  std::filesystem::path folder_;
  TrustStore store_{folder_, {}};
  MemoryReader reader_;
  std::optional<std::int64_t> max_staleness_;
};

}  // namespace enginehost::manifest
