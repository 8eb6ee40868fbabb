// The CUDA engines of CUDA 11.8 and 13.0 in one cache: they share common files, and each works without the
// other. Small files stand in for NVIDIA's, in the archives, folders and components of the shipped manifest,
// under the names that the published wheels have (manifests/facts). tests/engines/cuda_wheels.sh runs this
// over the wheels themselves, 1.7 GB, and over plugins that were compiled for both:
// ENGINEHOST_CUDA_REPOSITORY, ENGINEHOST_CUDA_WHEELS.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "base/environment.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

const std::string version = ENGINEHOST_VERSION;
const std::string cu130 = "cuda-" + version + "-cu130-linux-x86_64",
                  cu118 = "cuda-" + version + "-cu118-linux-x86_64";
// Machines for which each of them is the best (end_to_end_tests CudaDecisions.*).
const std::string of_cu130 = profiles + "linux-ubuntu2404-driver580-rtx5090.json",
                  of_cu118 = profiles + "linux-rhel9-driver580-v100.json";

Json read_json(const fs::path& file) {
  auto document = parse_json(read_text(file), file.native());
  EXPECT_TRUE(document) << file;
  return document ? std::move(*document) : Json();
}

class CudaFlavors : public testing::Test {
 protected:
  void SetUp() override {
    built_ = environment_variable("ENGINEHOST_CUDA_REPOSITORY")
                 .value_or(build_path("/share/enginehost/repository"));
    wheels_ = environment_variable("ENGINEHOST_CUDA_WHEELS").value_or("");
    library_ = reference_plugin();
    Json index = read_json(built_ / "index.json"), manifest;
    for (const Json& entry : index["manifests"].as_array())
      if (entry["path"].as_string().starts_with("manifests/cuda-"))
        manifest = read_json(built_ / entry["path"].as_string());
    Json components = Json::object(), licenses = manifest["licenses"];
    for (const auto& [id, component] : manifest["components"].as_object())
      components.set(id, id.find("-plugin-") != id.npos ? plugin(id, component) : payload(component));
    if (wheels_.empty())
      for (const auto& [name, text] : texts_)
        licenses.set(name, Json(licenses[name]).set("sha256", sha256_hex(text)));
    Json builds = Json::array();
    for (const Json& build : manifest["builds"].as_array()) {
      Json compiled = Json::object();
      for (const auto& [name, value] : build.as_object())
        if (name != "not_built") compiled.set(name, value);
      builds.push(std::move(compiled));
    }
    manifest.set("components", components).set("builds", builds).set("licenses", licenses);
    const std::string text = manifest.dump(1);
    write_text(repository() / "manifests/cuda.json", text);
    Json entry = Json::object();
    entry.set("path", "manifests/cuda.json").set("sha256", sha256_hex(text)).set("size", text.size());
    index.set("manifests", Json::array().push(entry));
    write_text(repository() / "index.json", index.dump(1));
  }

  fs::path repository() const { return workplace_.folder() / "repository"; }

  // The cache does not depend on the plugin's content; another file stands in where none was compiled.
  Json plugin(const std::string& id, Json component) {
    const Json& artifacts = component["artifacts"];
    if (!artifacts.as_array().empty()) {
      const std::string file = artifacts.as_array()[0]["sources"].as_array()[0]["file"].as_string();
      write_text(repository() / file, read_text(built_ / file));
      return component;
    }
    EXPECT_TRUE(wheels_.empty() || !id.ends_with("-linux-x86_64")) << id << " is missing in that repository";
    return component.set("version", version)
        .set("artifacts",
             Json::array().push(stored({{"libengine_cuda.so", reference_plugin()}}, Json::object())));
  }

  // One of NVIDIA's components with the wheel beside the manifest, or with a stand-in for it.
  Json payload(Json component) {
    Json artifact = component["artifacts"].as_array()[0];
    if (!wheels_.empty()) {
      const std::string file = artifact["sources"].as_array()[0]["package_index"]["file"].as_string();
      artifact.set("sources", Json::array().push(Json::object().set("file", (wheels_ / file).native())));
    } else {
      const Json facts =
          read_json(source_path("/manifests/facts/") + artifact["sha256"].as_string() + ".json");
      const std::string license = component["license"].as_string();
      texts_[license] = "The terms of " + license + "\n";
      std::vector<ViewFile> files;
      for (const Json& path : facts["files"].as_array())
        files.push_back(
            {path.as_string(), path.as_string().ends_with("License.txt")
                                   ? texts_[license]
                                   : library_ + artifact["sha256"].as_string() + path.as_string()});
      artifact = stored(files, std::move(artifact));
    }
    return component.set("artifacts", Json::array().push(std::move(artifact)));
  }

  Json stored(const std::vector<ViewFile>& files, Json artifact) const {
    const std::string bytes = zip_of(files), digest = sha256_hex(bytes);
    write_text(repository() / "files" / digest, bytes);
    return artifact.set("sha256", digest)
        .set("tree", nullptr)
        .set("files", nullptr)
        .set("ranges", nullptr)
        .set("size", bytes.size())
        .set("archive", "zip")
        .set("sources", Json::array().push(Json::object().set("file", "files/" + digest)));
  }

  Ended cache(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    RunOptions patient;
    patient.deadline = std::chrono::minutes(10);
    return workplace_.run("engine-cache", std::move(arguments), patient);
  }
  void fetch(const std::string& machine, const std::string& build,
             const std::vector<std::string>& accepted) const {
    std::vector<std::string> arguments = {
        "fetch", "cuda", "--offline", "--repository", repository().native(), "--platform", machine};
    for (const std::string& license : accepted)
      arguments.insert(arguments.end(), {"--accept-license", license});
    const Ended fetched = cache(std::move(arguments));
    ASSERT_EQ(fetched.status, 0) << fetched.said();
    ASSERT_TRUE(fs::exists(workplace_.cache() / "refs" / (build + ".ref"))) << fetched.said();
  }
  // The accepted texts, one digest for each record.
  std::vector<std::string> consents() const {
    std::vector<std::string> digests;
    for (const auto& entry : fs::recursive_directory_iterator(workplace_.cache() / "state"))
      if (entry.path().filename() == "consents.jsonl")
        for (const std::string& line : split(read_text(entry.path()), '\n'))
          if (const auto record = parse_json(line, "consent"))
            digests.push_back((*record)["text_sha256"].as_string());
    return digests;
  }

  // Every file below the folder by its inode.
  struct Stored {
    std::string name;
    std::uintmax_t size = 0;
  };
  std::map<ino_t, Stored> inodes_below(const std::string& folder) const {
    std::map<ino_t, Stored> found;
    for (const auto& entry : fs::recursive_directory_iterator(workplace_.cache() / folder)) {
      struct stat status {};
      if (!entry.is_regular_file() || ::stat(entry.path().c_str(), &status) != 0) continue;
      found[status.st_ino] = {entry.path().native(), entry.file_size()};
    }
    return found;
  }
  std::map<std::string, std::vector<Stored>> by_digest() const {
    std::map<std::string, std::vector<Stored>> found;
    for (const auto& [inode, file] : inodes_below("trees"))
      found[sha256_of_file(file.name).value_or("unreadable")].push_back(file);
    return found;
  }
  std::set<std::string> names_in(const std::string& folder) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(workplace_.cache() / folder))
      names.insert(entry.path().filename().native());
    return names;
  }

  Workplace workplace_;
  fs::path built_, wheels_;
  std::string library_;
  std::map<std::string, std::string> texts_;  // by license
};

TEST_F(CudaFlavors, ShareLibrariesAndConsentsInOneCache) {
  ASSERT_NO_FATAL_FAILURE(
      fetch(of_cu130, cu130, {"LicenseRef-NVIDIA-CUDA-EULA", "LicenseRef-NVIDIA-cuDNN-SLA"}));
  const std::set<std::string> trees_of_cu130 = names_in("trees");
  // The texts have the same digests, so nobody is asked again.
  ASSERT_NO_FATAL_FAILURE(fetch(of_cu118, cu118, {}));

  // A view holds hard links to the trees' files and no bytes of its own.
  std::set<ino_t> of_trees, of_views;
  for (const auto& [inode, file] : inodes_below("trees")) of_trees.insert(inode);
  for (const auto& [inode, file] : inodes_below("views")) of_views.insert(inode);
  EXPECT_EQ(of_trees, of_views);

  // Two names of one file are a license; every library is there once.
  std::set<std::string> licenses;
  std::size_t libraries = 0;
  for (const auto& [digest, files] : by_digest()) {
    if (files.size() == 1) {
      libraries += fs::path(files.front().name).filename().native().find(".so") != std::string::npos ? 1 : 0;
      continue;
    }
    for (const Stored& file : files) {
      EXPECT_EQ(fs::path(file.name).filename(), "License.txt") << file.name;
      EXPECT_LT(file.size, 100u << 10);
    }
    licenses.insert(digest);
  }
  // 13 of NVIDIA's for each flavor, and the plugins.
  EXPECT_EQ(libraries, 28u);
  ASSERT_EQ(licenses.size(), 2u) << "the CUDA license and that of cuDNN";
  EXPECT_THAT(consents(), testing::UnorderedElementsAreArray(licenses)) << "one record each, for both builds";

  for (const std::string& build : {cu130, cu118}) {
    const Ended verified = cache({"verify", "--deep", build});
    EXPECT_EQ(verified.status, 0) << verified.said();
  }
  // Removing one build takes nothing from the other and frees the files that no build uses.
  const Ended removed = cache({"remove", cu118});
  ASSERT_EQ(removed.status, 0) << removed.said();
  EXPECT_EQ(names_in("trees"), trees_of_cu130);
  const Ended verified = cache({"verify", "--deep", cu130});
  EXPECT_EQ(verified.status, 0) << verified.said();
}

}  // namespace
}  // namespace enginehost::test
