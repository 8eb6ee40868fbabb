// A package index of generated wheels behind a real nginx, and a plan that follows it.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/manifest/trust/minisign.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::follow {

constexpr std::int64_t toy_now = 1'796'083'200;  // 2026-12-01T00:00:00Z
constexpr std::int64_t a_day = 86'400;

struct Published {
  std::int64_t uploaded = toy_now - 30 * a_day;
  std::string license = "MIT License", metadata = {}, yanked = {};
  bool is_yanked = false;
  std::string plugin = {};   // a file that the wheel has, too
  std::string library = {};  // bytes of its library; empty: those of one that the build made
  std::string data = {};     // of a further file; empty: there is none
};

// A wheel as packaging tools write it, with RECORD and METADATA.
inline std::string make_wheel(const std::string& project, const std::string& version, const Published& how) {
  std::string folder = project;
  for (char& character : folder)
    if (character == '-') character = '_';
  const std::string info = folder + "-" + version + ".dist-info/";
  std::vector<test::ArchiveEntry> entries = {
      {folder + "/lib" + folder + ".so",
       how.library.empty() ? test::read_text(test::build_path("/tests/toy/libtoy.so")) : how.library, 0755},
      {folder + "/release.txt", "release " + version},
      {info + "METADATA",
       "Metadata-Version: 2.1\nName: " + project + "\nVersion: " + version + "\n" + how.metadata},
      {info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n"},
      {info + "licenses/LICENSE", how.license}};
  if (!how.plugin.empty())
    entries.push_back({folder + "/" + std::filesystem::path(how.plugin).filename().string(),
                       test::read_text(how.plugin), 0755});
  if (!how.data.empty()) entries.push_back({folder + "/data.bin", how.data});
  std::string record;
  for (const test::ArchiveEntry& entry : entries) {
    std::string raw;
    const std::string hex = sha256_hex(entry.bytes);
    for (std::size_t i = 0; i < hex.size(); i += 2)
      raw += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    std::string digest = manifest::base64_text(raw);
    for (char& character : digest) character = character == '+' ? '-' : character == '/' ? '_' : character;
    while (digest.ends_with('=')) digest.pop_back();
    record += entry.path + ",sha256=" + digest + "," + std::to_string(entry.bytes.size()) + "\n";
  }
  entries.push_back({info + "RECORD", record + info + "RECORD,,\n"});
  return test::make_archive("zip", entries);
}

class ToyIndex {
 public:
  // `directives`: of the server, as NginxServer's.
  explicit ToyIndex(const std::string& directives = {}) : server(directives) {}

  // Publishes a wheel, or another one under its name.
  void publish(const std::string& project, const std::string& version, const Published& how = {},
               const std::string& tag = "py3-none-manylinux_2_17_x86_64") {
    std::string name = project;
    for (char& character : name)
      if (character == '-') character = '_';
    name += "-" + version + "-" + tag + ".whl";
    const std::string bytes = make_wheel(project, version, how);
    test::write_text(server.root() / "files" / name, bytes);
    Json entry = Json::object()
                     .set("filename", name)
                     .set("url", "../../files/" + name)
                     .set("size", bytes.size())
                     .set("hashes", Json::object().set("sha256", sha256_hex(bytes)));
    if (how.uploaded != 0) {
      std::string time = text_of_time(how.uploaded);
      entry.set("upload-time", time.replace(time.size() - 1, 1, ".123456Z"));
    }
    if (how.is_yanked) entry.set("yanked", how.yanked);
    files[project][name] = entry;
    write_page(project);
  }
  // Removes all files of a release from the page.
  void withdraw(const std::string& project, const std::string& version) {
    std::erase_if(files[project], [&](const auto& file) {
      return file.first.find("-" + version + "-") != std::string::npos;
    });
    write_page(project);
  }
  void write_page(const std::string& project) {
    Json list = Json::array();
    for (const auto& [name, entry] : files[project]) list.push(entry);
    write_page(project, Json::object()
                            .set("meta", Json::object().set("api-version", "1.1"))
                            .set("name", project)
                            .set("files", list)
                            .dump());
  }
  void write_page(const std::string& project, const std::string& text) {
    test::write_text(server.root() / "simple" / project / "index.html", text);
  }
  std::string url() const { return server.url("simple"); }

  test::NginxServer server;
  std::map<std::string, std::map<std::string, Json>> files;  // by project and name
};

}  // namespace enginehost::follow
