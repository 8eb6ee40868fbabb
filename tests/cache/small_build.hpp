// A build of two trees, installed in the way that acquire does it.
#pragma once
#include <map>
#include <string>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/store.hpp"
#include "cache/tree_writer.hpp"

namespace enginehost::test {

inline Result<std::string> publish(const cache::Store& store, cache::Stage& stage, const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& files) {
  if (auto known = store.tree_of("archive-" + name)) return *known;
  const auto folder = stage.folder() / name;
  TRY(make_folders(folder));
  cache::TreeWriter writer(folder);
  for (const auto& [path, bytes] : files) {
    TRY(writer.begin_file(path, false));
    TRY(writer.write(bytes));
    TRY(writer.end_file());
  }
  // Not every Windows user may create links, and Wine 8 creates none.
  const auto probe = stage.folder() / "link";
  if (calls::symlink("nothing", probe) == 0 && calls::unlink(probe) == 0) {
    TRY(writer.add_link("lib/" + name + ".so", name + ".so.1"));
  }
  TRY_ASSIGN(const cache::TreeList list, writer.finish());
  return store.publish_tree(list, folder, "archive-" + name);
}

inline std::string library_bytes(const std::string& name) {
  return "\x7f"
         "ELF of " +
         name + std::string(3000, 'x');
}

// So large that a second thread writes it.
inline std::string large_library_bytes() { return library_bytes("shared") + std::string(600 << 10, 'y'); }

// The builds of other engines have a plugin of their own.
inline Result<cache::Installed> install_small_build(const cache::Store& store, const std::string& build,
                                                    const std::string& engine = "small") {
  const std::string plugin_name = engine == "small" ? build : engine + "-" + build;
  TRY_ASSIGN(auto stage, store.stage("build-" + build));
  if (auto found = store.find(build, [&](const cache::Installed& one) { return one.engine == engine; });
      found && *found)
    return std::move(**found);
  TRY(store.reject_damaged(build, stage));
  TRY_ASSIGN(const std::string plugin,
             publish(store, stage, "plugin-" + plugin_name,
                     {{"lib/plugin-" + plugin_name + ".so.1", library_bytes("plugin " + plugin_name)}}));
  TRY_ASSIGN(
      const std::string shared,
      publish(store, stage, "shared", {{"lib/shared.so.1", large_library_bytes()}, {"NOTICE", "text\n"}}));
  cache::Installed record;
  record.build = build;
  record.engine = engine;
  record.version = "1.0";
  record.flavor = "cpu";
  record.trees = {plugin, shared};
  record.plugin = "lib/plugin-" + plugin_name + ".so.1";
  record.search = {"lib"};
  record.options = {{"threads", "1"}};
  record.manifest = "{\"format\": 1}";
  TRY(store.make_view(record.trees, stage).map([](const auto&) {}));
  return store.write_ref(std::move(record));
}

// The files of any small build, as a source would deliver them.
inline Result<std::string> bring_small_files(const std::string&, const std::vector<cache::TreeEntry>& wanted,
                                             const std::filesystem::path& into) {
  for (const cache::TreeEntry& entry : wanted) {
    std::string bytes = "text\n";
    if (entry.path == "lib/shared.so.1") bytes = large_library_bytes();
    constexpr std::string_view plugin = "lib/plugin-";
    if (entry.path.starts_with(plugin))
      bytes =
          library_bytes("plugin " + entry.path.substr(plugin.size(), entry.path.size() - plugin.size() - 5));
    const std::filesystem::path file = into / entry.path;
    TRY(make_folders(file.parent_path()));
    TRY(write_file(file, bytes, false));
  }
  return std::string("the test");
}

}  // namespace enginehost::test

namespace enginehost::cache {

// Returns a digest of everything below a folder: names, kinds, modes, sizes, times of change and contents.
inline std::string fingerprint_of(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> lines;
  std::error_code error;
  const auto add = [&](const fs::path& path) {
    calls::Status status{};
    if (calls::lstat(path.c_str(), &status) != 0) return;
    std::string line = std::to_string(status.st_mode) + " " + std::to_string(status.st_size) + " " +
                       std::to_string(calls::modified_ns(status)) + " ";
    if (S_ISREG(status.st_mode)) line += sha256_of_file(path).value_or("unreadable");
    if (S_ISLNK(status.st_mode)) line += path_text(fs::read_symlink(path, error));
    lines.emplace(generic_text(path.lexically_relative(folder)), std::move(line));
  };
  add(folder);
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::end(it);
       it.increment(error))
    add(it->path());
  std::string text;
  for (const auto& [path, line] : lines) text += line + " " + path + "\n";
  return sha256_hex(text);
}

}  // namespace enginehost::cache
