// Repositories made by the tests: the reference plugin of the build, whole or changed, with correct digests.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "tests/end-to-end/system.hpp"

namespace enginehost::test {

struct ViewFile {
  std::string path;  // in the view
  std::string bytes;
};

struct TestBuild {
  std::string id;
  std::vector<ViewFile> files;  // each becomes a component without archive
  std::string plugin = plugin_name;
  std::string version = "1.0.0";
  std::string flavor = "cpu";
  int priority = 50;
  int probe_seconds = 0;  // 0: none is written
  std::vector<std::string> search;
  std::vector<std::string> optional, lazy;  // of the manifest
  Json requirements = Json::object(), options = Json::object();
  std::string arch = {};                    // empty: this machine's
  std::string license;                      // an id that requires explicit acceptance; empty: none
  Json terms;                               // of the license; null: invented by TestRepository
  std::size_t first_licensed = 0;           // index of the first of `files` that the license covers
  std::string not_built = {};               // why there is no plugin; empty: there is one
  std::vector<std::string> stand_ins = {};  // names of those of `files` that are stand-ins
};

// The bytes of the plugin that this build made; read once.
const std::string& reference_plugin();

// The build that every test can fall back to: the unchanged reference plugin, ranked last.
TestBuild good_build(const std::string& id = "reference-good");

// A folder that becomes a repository of one engine when write() is called.
class TestRepository {
 public:
  explicit TestRepository(std::filesystem::path root, std::string engine = "reference");

  const std::filesystem::path& root() const { return root_; }
  // The URL of its files; empty: read from the folder.
  void serve_from(std::string url) { url_ = std::move(url); }

  // The source of a file stored below the root under its digest.
  Json source_of(const std::string& sha256) const;
  // Stores the bytes and returns their digest.
  std::string store(const std::string& bytes);

  void add(const TestBuild& build);
  // Adds a build whose plugin component is given by its artifacts ("sha256", "archive", "sources", ...).
  void add_with_artifacts(const TestBuild& build, Json artifacts);

  // Writes manifest and index.
  void write() const;

 private:
  void add_build(const TestBuild& build, const std::vector<std::string>& components);

  std::filesystem::path root_;
  std::string engine_, url_;
  Json components_ = Json::object(), builds_ = Json::array(), licenses_ = Json::object();
};

// Makes the folder an unsigned repository of these manifests, by engine.
void write_repository(const std::filesystem::path& root, const std::map<std::string, Json>& manifests);

// A zip archive of the files, made by the zip program.
std::string zip_of(const std::vector<ViewFile>& files);

}  // namespace enginehost::test
