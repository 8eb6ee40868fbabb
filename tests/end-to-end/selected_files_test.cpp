// A build of whose archive only the selected files are fetched, and everything that is done with it
// afterwards.
#include <gmock/gmock.h>

#include <sstream>

#include "base/text.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SelectedFiles : public testing::Test {
 protected:
  // The publisher takes the plugin and 2 MiB out of an archive of 14 MiB.
  SelectedFiles() {
    write_text(server.root() / "engine.zip", zip_of({{"docs/large.bin", noise(6u << 20)},
                                                     {plugin_name, reference_plugin()},
                                                     {"share/data.bin", noise(2u << 20, 2)},
                                                     {"docs/more.bin", noise(6u << 20, 3)}}));
    succeeds("engine-manifest", {"init", made().native(), "--name", "made by a test"});
    succeeds("engine-manifest",
             {"add", made().native(), (server.root() / "engine.zip").native(), "--url",
              server.url("engine.zip"), "--select", plugin_name, "--select", "share/*", "--engine",
              "reference", "--version", "1.0.0", "--flavor", "cpu", "--license", "MIT"});
    succeeds("engine-manifest", {"publish", made().native(), published().native()});
    workplace.configure(Json::object()
                            .set("repositories_default", false)
                            .set("repositories", Json::array().push(published().native())));
  }
  fs::path made() const { return workplace.folder() / "made"; }
  fs::path published() const { return workplace.folder() / "engines"; }
  Ended succeeds(const std::string& command, std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    Ended run = workplace.run(command, std::move(arguments));
    EXPECT_EQ(run.status, 0) << command << " " << run.said();
    return run;
  }
  // The bytes of the archive that nginx sent.
  std::uint64_t bytes_sent() const {
    std::istringstream lines(server.log());
    std::uint64_t sum = 0;
    for (std::string method, path, status, rest; lines >> method >> path >> status;) {
      std::uint64_t size = 0;
      lines >> size;
      if (path == "/engine.zip") sum += size;
      std::getline(lines, rest);
    }
    return sum;
  }
  void expect_whole() const {
    succeeds("engine-cache", {"verify", "--deep"});
    EXPECT_EQ(succeeds("engine-info", {"reference", "--offline"}).outcome()["state"].as_string(), "opened");
  }

  NginxServer server;
  Workplace workplace;
  const std::string id = "reference-1.0.0-cpu-linux-" + std::string(architecture);
};

TEST_F(SelectedFiles, PlanDocumentsAndDownloadHaveOneSize) {
  const Ended plan = succeeds("engine-info", {"reference", "--plan"});
  const std::int64_t planned = plan.candidate(id)["download"]["bytes"].as_integer();
  const auto selected = static_cast<std::int64_t>(reference_plugin().size() + (2u << 20));
  EXPECT_GT(planned, selected / 2);
  EXPECT_LE(planned, selected + selected / 20);
  EXPECT_EQ(plan.outcome()["download"]["bytes"].as_integer(), planned);
  EXPECT_THAT(workplace.info({"reference", "--plan"}).output,
              HasSubstr(format_bytes(static_cast<std::uint64_t>(planned))));
  EXPECT_THAT(workplace.info({}).output, HasSubstr(format_bytes(static_cast<std::uint64_t>(planned))));
  EXPECT_EQ(bytes_sent(), 0u);
  const Ended opened = succeeds("engine-info", {"reference"});
  EXPECT_EQ(opened.outcome()["download"]["bytes"].as_integer(), planned) << opened.said();
  EXPECT_LE(bytes_sent(), static_cast<std::uint64_t>(selected + selected / 20));
  expect_whole();
}

TEST_F(SelectedFiles, TheBuildIsVerifiedRepairedExportedAndRemoved) {
  succeeds("engine-cache", {"fetch", "reference"});
  expect_whole();
  for (const auto& file : fs::recursive_directory_iterator(workplace.cache()))
    if (file.path().filename() == "data.bin") fs::remove(file.path());
  succeeds("engine-cache", {"verify", "--repair"});
  expect_whole();

  const std::string bundle = (workplace.folder() / "x.bundle").native();
  succeeds("engine-cache", {"export", bundle, id, "--redistribute", "MIT"});
  const std::string layout = (workplace.folder() / "layout").native();
  succeeds("engine-cache", {"export", layout, id, "--oci", "--redistribute", "MIT"});
  succeeds("engine-cache",
           {"import", bundle, "--cache", (workplace.folder() / "other").native(), "--unsigned"});
  succeeds("engine-info", {"reference", "--offline", "--cache", (workplace.folder() / "other").native()});

  const std::uint64_t before = bytes_sent();
  fs::remove_all(published());
  for (const auto& tree : fs::directory_iterator(workplace.cache() / "trees")) fs::remove_all(tree.path());
  succeeds("engine-cache", {"verify", "--repair", id});
  EXPECT_LT(bytes_sent() - before, 8u << 20) << "the record names the ranges, too";
  expect_whole();
  succeeds("engine-cache", {"remove", id});
  succeeds("engine-cache", {"gc"});
}

// The manifests of this tree and the package index that pip uses: 8 of 18 MiB.
TEST(SelectedFilesOfAWheel, ComeFromThePackageIndex) {
  const Workplace workplace;
  workplace.configure(Json::object());
  const Ended plan = workplace.info({"onnxruntime@1.27.0", "--require", "cpu", "--plan", "--json"});
  if (plan.status != 0) GTEST_SKIP() << "skipped: no adapter of ONNX Runtime was built: " << plan.said();
  const Json& planned = plan.outcome()["download"];
  EXPECT_LT(planned["bytes"].as_integer(), 10 << 20) << plan.said();
  const Ended fetched =
      workplace.run("engine-cache", {"fetch", "onnxruntime@1.27.0", "--flavor", "cpu", "--json"});
  if (fetched.status == 4) GTEST_SKIP() << "skipped: the package index cannot be reached: " << fetched.code();
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  EXPECT_EQ(fetched.document["fetched"].as_array().at(0)["downloaded"].as_integer(),
            planned["bytes"].as_integer())
      << fetched.said();
  EXPECT_EQ(workplace.run("engine-cache", {"verify", "--deep"}).status, 0);
}

}  // namespace
}  // namespace enginehost::test
