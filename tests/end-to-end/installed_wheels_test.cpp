// Wheels as pip installs them: identified, decided, loaded in place by the real plugins, run on inputs whose
// answers were computed by hand, and left unchanged. "skipped" where the package index cannot be reached.
#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>
#include <map>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "tests/end-to-end/arrays.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/engines/mxnet_models.hpp"
#include "tests/engines/saved_models.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
namespace models = enginehost::engines::tests;
using testing::ElementsAre;
using testing::HasSubstr;

// Every file below the folder with its bytes' digest, its inode and its time.
std::map<std::string, std::string> state_of(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto stamp = stamp_of(entry.path());
    std::string state = stamp ? std::to_string(stamp->inode) + " " + std::to_string(stamp->modified_ns) : "";
    if (entry.is_regular_file()) state += " " + sha256_of_file(entry.path()).value_or("unreadable");
    all[entry.path().native()] = state;
  }
  return all;
}

// The wheel unpacked as pip would, into its own folder of Python packages that is kept between runs; empty
// where the package index cannot be reached.
std::string site_of(const std::string& project, const std::string& release) {
  ChildRequest request;
  request.argv = {"python3",
                  source_path("/tests/engines/fetch_wheel.py"),
                  build_path("/downloads/site-packages"),
                  project,
                  release,
                  "*"};
  request.deadline = std::chrono::minutes(10);
  const auto fetched = run_child(request);
  if (!fetched || !fetched->succeeded()) return {};
  return fetched->output.substr(0, fetched->output.find('\n'));
}

struct Framework {
  std::string engine, project, release, library;  // `library` below the site
  std::string input, output;                      // of the model
};

void open_in_place(const Framework& framework,
                   const std::function<std::string(const std::string&)>& write_model) {
  const std::string site = site_of(framework.project, framework.release);
  if (site.empty()) GTEST_SKIP() << "skipped: the package index cannot be reached";
  const auto before = state_of(site);
  ASSERT_TRUE(before.contains(site + "/" + framework.library));
  const Workplace workplace;
  const auto here = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--offline", "--repository", repository, "--installation", site});
    return arguments;
  };

  // Identified by its files, and a candidate like any other.
  const Ended planned = workplace.info(here({framework.engine, "--json", "--plan"}));
  ASSERT_EQ(planned.status, 0) << planned.said();
  const Json* found = nullptr;
  for (const Json& candidate : planned.document["candidates"].as_array())
    if (candidate["build"].as_string().find("-at-") != std::string::npos) found = &candidate;
  ASSERT_NE(found, nullptr) << planned.said();
  EXPECT_EQ((*found)["version"].as_string(), framework.release);
  EXPECT_EQ((*found)["flavor"].as_string(), "cpu");
  bool is_candidate = false;
  for (const Json& check : (*found)["checks"].as_array())
    is_candidate = is_candidate || (check["requirement"].as_string().find("GLIBC") != std::string::npos &&
                                    check["result"].as_string() == "yes");
  EXPECT_TRUE(is_candidate) << planned.said();

  // Opened in place.
  const Ended opened = workplace.info(here({framework.engine, "--json", "--self-test"}));
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), (*found)["build"].as_string()) << opened.said();
  EXPECT_EQ(opened.outcome()["in_place"].as_string(), site);
  EXPECT_EQ(opened.outcome()["facts"]["version"].as_string(), framework.release) << opened.said();
  bool loaded = false;
  for (const Json& library : opened.outcome()["loaded"].as_array())
    loaded = loaded || library["path"].as_string() == site + "/" + framework.library;
  EXPECT_TRUE(loaded) << opened.said();

  // The rows [1,2,3] and [-1,0,0]: see where the model is written for their answers.
  const std::string folder = workplace.folder().string() + "/work";
  const std::string model = write_model(folder), array = folder + "/rows.npy";
  write_array(array, "(2, 3)", {1, 2, 3, -1, 0, 0});
  const Ended ran = workplace.run("engine-run", here({framework.engine, model, "--input",
                                                      framework.input + "=" + array, "--output", folder}));
  ASSERT_EQ(ran.status, 0) << ran.said();
  EXPECT_THAT(read_array(folder + "/" + framework.output + ".npy"), ElementsAre(12, 28.5f, 0, 0));

  EXPECT_EQ(state_of(site), before) << "an installation is never changed";
}

TEST(InstalledWheels, MxnetOpensInPlaceAndStaysUnchanged) {
  open_in_place({"mxnet", "mxnet", "1.9.1", "mxnet/libmxnet.so", "data", "relu_output"},
                [](const std::string& folder) { return models::mxnet::write_layer(folder); });
}

// 260 MB; its own suite, which runs only on request.
TEST(InstalledTensorFlow, OpensInPlaceAndStaysUnchanged) {
  open_in_place({"tensorflow", "tensorflow-cpu", "2.21.0", "tensorflow/libtensorflow_cc.so.2", "x", "y"},
                [](const std::string& folder) {
                  models::tensorflow::layer().write(folder + "/model");
                  return folder + "/model";
                });
}

TEST(InstalledWheels, OnnxRuntimeOpensWithoutADownload) {
  const Workplace workplace;
  const std::string environment = (workplace.folder() / "venv").native();
  const std::string made = "python3 -m venv '" + environment + "' && '" + environment +
                           "/bin/python' -m pip install --quiet --no-deps onnxruntime==1.23.2";
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "the package index cannot be reached";
  const Ended opened = workplace.info({"onnxruntime@1.23.2", "--json", "--self-test", "--offline",
                                       "--repository", repository, "--installation", environment});
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("onnxruntime-1.23.2-cpu-linux-"));
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("-at-"));
  bool in_place = false;
  for (const Json& library : opened.outcome()["loaded"].as_array())
    in_place = in_place || library["path"].as_string().starts_with(environment);
  EXPECT_TRUE(in_place) << opened.said();
}

}  // namespace
}  // namespace enginehost::test
