// verify --deep --repair restores the published bytes: every kind of source, archive and damage.
#include <gmock/gmock.h>

#include <functional>
#include <optional>

#include "base/sha256.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/registry_server.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

struct FileDamage {
  const char* name;
  std::function<void(const fs::path& file)> apply;
};

void change_bytes(const fs::path& file, const std::function<void(std::string&)>& how) {
  std::string bytes = read_text(file);
  how(bytes);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, bytes);
}

const std::vector<FileDamage> file_damages = {
    {"a flipped byte",
     [](const fs::path& file) { change_bytes(file, [](std::string& bytes) { bytes[9] ^= 1; }); }},
    {"a cut file",
     [](const fs::path& file) { change_bytes(file, [](std::string& bytes) { bytes.resize(1000); }); }},
    {"an emptied file",
     [](const fs::path& file) { change_bytes(file, [](std::string& bytes) { bytes.clear(); }); }},
    {"a removed file", [](const fs::path& file) { fs::remove(file); }},
    {"another mode",
     [](const fs::path& file) { fs::permissions(file, fs::perms::owner_all | fs::perms::others_write); }},
    {"a link in its place",
     [](const fs::path& file) {
       fs::rename(file, file.native() + ".moved");
       fs::create_symlink(file.native() + ".moved", file);
     }},
    {"a folder in its place",
     [](const fs::path& file) {
       fs::remove(file);
       fs::create_directories(file / "inside");
     }},
};

// Each file of the payload, with its bytes.
const std::vector<ViewFile>& published_files() {
  static const std::vector<ViewFile> files = {{plugin_name, reference_plugin()},
                                              {"share/a.bin", noise(300'000)},
                                              {"share/b.bin", noise(299'999)},
                                              {"share/c.bin", noise(4'000)}};
  return files;
}

struct RepairOffer {
  std::string source, archive;
};

std::string name_of_offer(const testing::TestParamInfo<RepairOffer>& one) {
  std::string name = one.param.source + "_" + one.param.archive;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class RepairedSources : public testing::TestWithParam<RepairOffer> {
 protected:
  RepairedSources() : repository_(server_.root() / "repository") {}
  void SetUp() override {
    const std::string& source = GetParam().source;
    if (source == "registry" && !RegistryServer::installed())
      GTEST_SKIP() << "docker-registry is not installed";
    if (source == "server") repository_.serve_from(server_.url("repository/"));
    const Json artifact = source == "registry" ? pushed_artifact() : artifact_in(repository_, source);
    repository_.add_with_artifacts(good_build(), Json::array().push(artifact));
    repository_.write();
  }

  Json artifact_in(TestRepository& repository, const std::string& source) const {
    const std::string& archive = GetParam().archive;
    std::string bytes = reference_plugin();
    if (archive != "none") {
      std::vector<ArchiveEntry> entries;
      for (const ViewFile& file : published_files()) entries.push_back({file.path, file.bytes, 0644});
      bytes = make_archive(archive, entries);
    }
    const std::string sha256 = repository.store(bytes);
    Json artifact = Json::object().set("sha256", sha256).set("size", bytes.size());
    if (archive == "none")
      artifact.set("archive", "none").set("path", plugin_name);
    else
      artifact.set("archive", archive);
    Json from = repository.source_of(sha256);
    if (source == "index") {
      const std::string wheel = "payload-1-py3-none-any.whl";
      write_text(server_.root() / "simple/payload" / wheel, bytes);
      write_text(server_.root() / "simple/payload/index.html",
                 "<!DOCTYPE html><html><body><a href=\"" + wheel + "\">" + wheel + "</a></body></html>");
      from = Json::object().set("package_index", Json::object().set("project", "payload").set("file", wheel));
    }
    return artifact.set("sources", Json::array().push(std::move(from)));
  }
  // Sends the build to a registry. Returns the artifact that names its layer there.
  Json pushed_artifact() {
    registry_.emplace();
    TestRepository before(server_.root() / "before");
    before.add_with_artifacts(good_build(), Json::array().push(artifact_in(before, "folder")));
    before.write();
    const Workplace publisher;
    const std::string manifest = (here_.folder() / "pushed.json").native();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"fetch", "reference", "--repository", before.root().native(), "--json"},
          {"push", "reference-good", registry_->host() + "/engines/reference:v1", "--redistribute", "unknown",
           "--manifest", manifest, "--json"}}) {
      const Ended run = publisher.run("engine-cache", command);
      if (run.status != 0) throw std::runtime_error(run.said());
    }
    const Json pushed = parse_json(read_text(manifest), manifest).value();
    return pushed["components"].as_object().begin()->second["artifacts"].as_array().at(0);
  }

  Ended cache(const Workplace& at, std::vector<std::string> arguments) const {
    const bool served = GetParam().source == "server";
    arguments.insert(arguments.end(),
                     {"--repository", served ? server_.url("repository") : repository_.root().native(),
                      "--package-index", server_.url("simple"), "--json"});
    if (served) arguments.push_back("--allow-unsigned");
    return at.run("engine-cache", std::move(arguments));
  }
  // Installs the build, directly or from a bundle of another machine.
  void install() {
    if (GetParam().source != "bundle") {
      const Ended fetched = cache(here_, {"fetch", "reference"});
      ASSERT_EQ(fetched.status, 0) << fetched.said();
      return;
    }
    const Workplace there;
    const std::string bundle = (here_.folder() / "builds.tar").native();
    ASSERT_EQ(cache(there, {"fetch", "reference"}).status, 0);
    const Ended exported = cache(there, {"export", bundle, "reference-good", "--redistribute", "unknown"});
    ASSERT_EQ(exported.status, 0) << exported.said();
    const Ended imported = here_.run("engine-cache", {"import", bundle, "--unsigned", "--json"});
    ASSERT_EQ(imported.status, 0) << imported.said();
  }
  std::vector<fs::path> copies_of(const std::string& path) const {
    std::vector<fs::path> found;
    for (const char* folder : {"views", "trees"})
      for (const auto& below : fs::directory_iterator(here_.cache() / folder))
        if (fs::exists(fs::symlink_status(below.path() / path))) found.push_back(below.path() / path);
    return found;
  }
  void expect_published() const {
    for (const ViewFile& file : published_files()) {
      if (GetParam().archive == "none" && file.path != plugin_name) continue;
      const std::vector<fs::path> copies = copies_of(file.path);
      EXPECT_GE(copies.size(), 2u) << file.path;
      for (const fs::path& copy : copies) {
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(copy))) << copy;
        EXPECT_TRUE(read_text(copy) == file.bytes) << copy;
        EXPECT_EQ(fs::status(copy).permissions() & (fs::perms::owner_write | fs::perms::others_write),
                  fs::perms::none)
            << copy;
      }
    }
  }
  void repair(const std::string& after) {
    const Ended damaged = cache(here_, {"verify", "--deep"});
    EXPECT_NE(damaged.status, 0) << after << " was not noticed";
    const Ended repaired = cache(here_, {"verify", "--deep", "--repair"});
    EXPECT_EQ(repaired.status, 0) << after << "\n" << repaired.said();
    expect_published();
    const Ended again = cache(here_, {"verify", "--deep"});
    EXPECT_EQ(again.status, 0) << after << "\n" << again.said();
  }

  NginxServer server_;
  std::optional<RegistryServer> registry_;
  TestRepository repository_;
  Workplace here_;
};

TEST_P(RepairedSources, EachDamageOfViewAndTree) {
  install();
  if (HasFatalFailure()) return;
  for (const FileDamage& damage : file_damages)
    for (const bool also_the_tree : {false, true}) {
      const std::string path = GetParam().archive == "none" ? plugin_name : std::string("share/a.bin");
      const std::vector<fs::path> copies = copies_of(path);
      ASSERT_GE(copies.size(), 2u);
      damage.apply(copies[0]);
      if (also_the_tree && fs::exists(fs::symlink_status(copies[1]))) damage.apply(copies[1]);
      repair(std::string(damage.name) + (also_the_tree ? " in view and tree" : " in the view"));
    }
}

TEST_P(RepairedSources, SeveralDamagesAtOnce) {
  if (GetParam().archive == "none") GTEST_SKIP() << "one file";
  install();
  if (HasFatalFailure()) return;
  const auto everywhere = [&](const std::string& path, const FileDamage& damage) {
    for (const fs::path& copy : copies_of(path)) damage.apply(copy);
  };
  everywhere("share/a.bin", file_damages[0]);
  everywhere("share/b.bin", file_damages[1]);
  fs::remove(copies_of("share/c.bin").front());
  everywhere("share/c.bin", file_damages[4]);
  everywhere(plugin_name, file_damages[4]);
  repair("a flipped byte, a cut file, a removed file and modes");
}

INSTANTIATE_TEST_SUITE_P(Of, RepairedSources,
                         testing::Values(RepairOffer{"folder", "none"}, RepairOffer{"folder", "zip"},
                                         RepairOffer{"folder", "tar"}, RepairOffer{"folder", "tar.gz"},
                                         RepairOffer{"folder", "tar.xz"}, RepairOffer{"folder", "tar.zst"},
                                         RepairOffer{"server", "none"}, RepairOffer{"server", "zip"},
                                         RepairOffer{"server", "tar"}, RepairOffer{"server", "tar.gz"},
                                         RepairOffer{"server", "tar.xz"}, RepairOffer{"server", "tar.zst"},
                                         RepairOffer{"index", "zip"}, RepairOffer{"registry", "zip"},
                                         RepairOffer{"registry", "tar"}, RepairOffer{"bundle", "none"},
                                         RepairOffer{"bundle", "zip"}, RepairOffer{"bundle", "tar"},
                                         RepairOffer{"bundle", "tar.zst"}),
                         name_of_offer);

}  // namespace
}  // namespace enginehost::test
