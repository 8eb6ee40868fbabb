// A connected machine with a repository and an installed cache, and machines that get bundles from it.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/offline/bundle_reader.hpp"
#include "host/offline/framing.hpp"
#include "host/offline/import_bundle.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/links.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tools/offline/export_bundle.hpp"

namespace enginehost::test {

struct SiteComponent {
  std::string id;
  std::vector<ArchiveEntry> files;
  std::string license = "open";
  std::string tree = {};  // pinned
};

inline const std::string kept_terms = "These terms are kept.\n";

inline Json site_licenses() {
  return Json::object()
      .set("open", Json::object().set("id", "MIT").set("accept", "implicit").set("redistribute", "yes"))
      .set("closed", Json::object()
                         .set("id", "LicenseRef-Closed")
                         .set("url", "https://licenses.example/closed")
                         .set("accept", "explicit")
                         .set("redistribute", "no"))
      .set("kept", Json::object()
                       .set("id", "LicenseRef-Kept")
                       .set("url", "https://licenses.example/kept")
                       .set("sha256", sha256_hex(kept_terms))
                       .set("redistribute", "yes"))
      .set("asking", Json::object().set("id", "LicenseRef-Asking").set("accept", "explicit"));
}

// A repository of builds with a plugin and further components.
class Site {
 public:
  explicit Site(std::filesystem::path folder, std::string engine = "sample")
      : folder_(std::move(folder)), engine_(std::move(engine)) {
    settings.cache_folder = folder_ / "connected";
    settings.repositories = {{path_text(folder_ / "repository"), true, "test"}};
  }

  void add(const std::string& build, const std::vector<SiteComponent>& components,
           const std::string& version = "1.0.0", const std::string& arch = "x86_64") {
    std::vector<std::string> ids;
    for (const SiteComponent& component : components) {
      const std::string archive = make_archive("tar.gz", component.files);
      write_text(folder_ / "repository" / component.id, archive);
      Json artifact = Json::object();
      artifact.set("sha256", sha256_hex(archive)).set("size", archive.size()).set("archive", "tar.gz");
      if (!component.tree.empty()) artifact.set("tree", component.tree);
      artifact.set("sources", Json::array().push(Json::object().set("file", component.id)));
      components_.set(component.id, Json::object()
                                        .set("version", version)
                                        .set("license", component.license)
                                        .set("artifacts", Json::array().push(std::move(artifact))));
      ids.push_back(component.id);
    }
    builds_.push(
        Json::object()
            .set("id", build)
            .set("version", version)
            .set("flavor", "cpu")
            .set("os", "linux")
            .set("arch", arch)
            .set("plugin", Json::object().set("component", ids.front()).set("path", "libengine_sample.so"))
            .set("components", Json::strings({ids.begin() + 1, ids.end()}))
            .set("search", Json::strings({"lib"})));
    publish();
  }

  void publish() const {
    const std::string manifest = Json::object()
                                     .set("format", 1)
                                     .set("engine", engine_)
                                     .set("serial", 1)
                                     .set("created", "2026-01-02T03:04:05Z")
                                     .set("licenses", site_licenses())
                                     .set("components", components_)
                                     .set("builds", builds_)
                                     .dump(1);
    write_text(folder_ / "repository" / "sample.json", manifest);
    const Json entry = Json::object()
                           .set("path", "sample.json")
                           .set("sha256", sha256_hex(manifest))
                           .set("size", manifest.size());
    write_text(folder_ / "repository" / "index.json", Json::object()
                                                          .set("format", 1)
                                                          .set("name", "site")
                                                          .set("serial", 1)
                                                          .set("manifests", Json::array().push(entry))
                                                          .dump(1));
  }

  open::OpenContext context() const { return open::OpenContext(settings); }
  cache::Store store() const { return cache::Store::open(settings.cache_folder); }

  Result<cache::Installed> install(const std::string& id) const {
    open::OpenContext here = context();
    for (const auto& build : here.catalog().builds)
      if (build->id == id) {
        auto acquired = acquire::acquire(*build, here.store(), {});
        if (!acquired) return fail(std::move(acquired).error());
        return std::move(acquired->installed);
      }
    return fail(diagnose(Code::no_repository_lists_build).with(Key::build, id));
  }

  offline::ExportRequest request(const std::vector<std::string>& builds,
                                 const std::string& name = "site.bundle") const {
    offline::ExportRequest request;
    request.file = folder_ / name;
    request.selection.builds = builds;
    return request;
  }
  Result<offline::Exported> export_to(const offline::ExportRequest& request) const {
    return offline::export_bundle(context(), request);
  }

  settings::Settings settings;

 private:
  std::filesystem::path folder_;
  std::string engine_;
  Json components_ = Json::object(), builds_ = Json::array();
};

inline std::string library(const std::string& name, std::size_t size = 3000, unsigned seed = 1) {
  return "\x7f"
         "ELF of " +
         name + noise(size, seed);
}

inline SiteComponent plugin_of(const std::string& name) {
  return {"plugin-" + name, {{"libengine_sample.so", library("plugin " + name)}, {"NOTICE", "text\n"}}};
}
// With links where possible, an executable, the same bytes twice and an empty file.
inline SiteComponent runtime() {
  SiteComponent runtime{"runtime",
                        {{"lib/libruntime.so.1", library("runtime", 400'000)},
                         {"lib/copy.so", library("runtime", 400'000)},
                         {"bin/tool", "#!/bin/sh\n", 0755},
                         {"share/tool.txt", "#!/bin/sh\n"},
                         {"share/empty", ""}}};
  if (makes_links(TemporaryFolder().path()))
    runtime.files.push_back({"lib/libruntime.so", "", 0777, "libruntime.so.1"});
  return runtime;
}

using Entries = std::vector<std::pair<std::string, std::string>>;

inline Entries entries_of(const std::filesystem::path& bundle) {
  Entries entries;
  auto reader = offline::BundleReader::open(bundle);
  if (!reader) return entries;
  for (;;) {
    auto next = (*reader)->next();
    if (!next || !*next) return entries;
    auto bytes = (*reader)->read_whole();
    if (!bytes) return entries;
    entries.emplace_back((*next)->name, std::move(*bytes));
  }
}

// An uncompressed tar archive in the form of bundles.
inline std::string tar_of(const Entries& entries) {
  std::string tar;
  for (const auto& [name, bytes] : entries) {
    const auto header = offline::tar_header(name, bytes.size());
    tar.append(header.data(), header.size()).append(bytes);
    tar.append(static_cast<std::size_t>(offline::padding_of(bytes.size())), '\0');
  }
  return tar.append(1024, '\0');
}

// Every file with its bytes; times do not matter.
inline std::map<std::string, std::string> snapshot(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, error);
       !error && it != std::filesystem::end(it); it.increment(error))
    if (it->is_regular_file() && !it->is_symlink())
      files.emplace(generic_text(it->path().lexically_relative(folder)), read_text(it->path()));
  return files;
}

class SiteTest : public testing::Test {
 protected:
  SiteTest() {
    site.add("sample-1", {plugin_of("1"), runtime()});
    site.add("sample-arm", {plugin_of("arm"), runtime()}, "1.0.0", "aarch64");
  }

  std::filesystem::path bundle(const std::vector<std::string>& builds = {"sample-1"}) {
    for (const std::string& build : builds) {
      const auto installed = site.install(build);
      EXPECT_TRUE(installed) << (installed ? "" : installed.error().code_text());
    }
    const auto exported = site.export_to(site.request(builds));
    EXPECT_TRUE(exported) << (exported ? "" : exported.error().code_text());
    return folder / "site.bundle";
  }

  Result<offline::Imported> import(const std::filesystem::path& file, const std::string& cache = "lab") {
    offline::ImportRequest request;
    request.file = file;
    request.now = open::OpenContext::now();
    return offline::import_bundle(store(cache), request);
  }
  cache::Store store(const std::string& name = "lab") const { return cache::Store::open(folder / name); }

  // The result of an import: "ok", or code and problem.
  std::string outcome(const std::filesystem::path& file, const std::string& cache = "lab") {
    const auto imported = import(file, cache);
    if (imported) return "ok";
    return std::string(imported.error().code_text()) + " " +
           std::string(imported.error().value(Key::problem));
  }

  // No build can be opened, and no file is left.
  void expect_nothing(const std::string& cache = "lab") {
    EXPECT_TRUE(store(cache).list().empty());
    for (const char* part : {"trees", "views", "stage", "refs", "lists", "repositories"}) {
      std::error_code error;
      for (auto it = std::filesystem::recursive_directory_iterator(folder / cache / part, error);
           !error && it != std::filesystem::end(it); it.increment(error))
        EXPECT_TRUE(it->is_directory()) << it->path();
    }
  }

  TemporaryFolder folder;
  Site site{folder.path()};
};

}  // namespace enginehost::test
