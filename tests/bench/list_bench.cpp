// The store's part of an open: listing the installed builds, and checking that one of them is unchanged.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/store.hpp"
#include "cache/tree_writer.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

Result<cache::Installed> install(const cache::Store& store, const std::string& build, int libraries) {
  TRY_ASSIGN(auto stage, store.stage("build-" + build));
  const fs::path folder = stage.folder() / "tree";
  TRY(make_folders(folder));
  cache::TreeWriter writer(folder);
  cache::Installed record;
  for (int number = 0; number < libraries; ++number) {
    const std::string path = "lib/lib" + std::to_string(number) + ".so";
    TRY(writer.begin_file(path, false));
    TRY(
        writer.write("\x7f"
                     "ELF of " +
                     build + " " + std::to_string(number)));
    TRY(writer.end_file());
    if (number == 0) record.plugin = path;
  }
  TRY_ASSIGN(const cache::TreeList list, writer.finish());
  TRY_ASSIGN(const std::string tree, store.publish_tree(list, folder, "archive-of-" + build));
  record.build = build;
  record.engine = "many";
  record.version = "1.0";
  record.flavor = "cpu";
  record.trees = {tree};
  record.search = {"lib"};
  record.manifest = "{\"format\":1,\"engine\":\"many\"}";
  TRY(store.make_view(record.trees, stage).map([](const auto&) {}));
  return store.write_ref(std::move(record));
}

bool read_files(const std::vector<fs::path>& files) {
  char bytes[1 << 16];
  for (const fs::path& file : files) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    while (::read(descriptor, bytes, sizeof bytes) > 0) {
    }
    ::close(descriptor);
  }
  return true;
}

bool stat_files(const std::vector<fs::path>& files) {
  struct stat status {};
  for (const fs::path& file : files)
    if (::stat(file.c_str(), &status) != 0) return false;
  return true;
}

Comparison list_of(int count) {
  const cache::Store store = cache::Store::open(workplace("installed-" + std::to_string(count)));
  const auto build = [](int number) { return "build-" + std::to_string(number); };
  if (!store.prepare()) return skipped("the cache cannot be written");
  std::vector<fs::path> records;
  for (int number = 0; number < count; ++number) {
    if (auto found = store.find(build(number)); !found || !*found)
      if (!install(store, build(number), 2)) return skipped("the builds could not be installed");
    records.push_back(store.root() / "refs" / (build(number) + ".ref"));
  }
  Comparison comparison;
  comparison.sides = {{"list", timed([=] { return store.list().size() == static_cast<std::size_t>(count); })},
                      {"read", timed([=] { return read_files(records); })}};
  return comparison;
}

Comparison find_of(int libraries) {
  const cache::Store store = cache::Store::open(workplace("one-of-" + std::to_string(libraries)));
  if (!store.prepare()) return skipped("the cache cannot be written");
  auto installed = store.find("large");
  if (!installed || !*installed) {
    if (!install(store, "large", libraries)) return skipped("the build could not be installed");
    installed = store.find("large");
    if (!installed || !*installed) return skipped("the build is not found");
  }
  std::vector<fs::path> files;
  for (const cache::LoadableFile& file : (*installed)->files)
    files.push_back((*installed)->folder / file.path);
  if (files.size() != static_cast<std::size_t>(libraries)) return skipped("not every library is recorded");
  Comparison comparison;
  comparison.sides = {{"find", timed([=] {
                         const auto found = store.find("large");
                         return found && *found;
                       })},
                      {"stat", timed([=] { return stat_files(files); })}};
  return comparison;
}

}  // namespace

void add_list_benchmarks(const Effort& effort) {
  add_comparison(effort, "store/list_100", 51, [=] { return list_of(effort.quick ? 3 : 100); });
  add_comparison(effort, "store/find_285_files", 51, [=] { return find_of(effort.quick ? 5 : 285); });
}

}  // namespace enginehost::bench
