// ONNX Runtime as the package index has it for Windows, from the wheel to a model's answers.
// wheel_repository.py fetches it beforehand; "skipped" where it could not.
#include <gmock/gmock.h>

#include <regex>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/engines/onnx_models.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
namespace onnx = engines::tests::onnx;
using testing::Contains;
using testing::HasSubstr;

const std::string repository = ENGINEHOST_WHEEL_REPOSITORY;

class OnnxRuntimeForWindows : public testing::Test {
 protected:
  // A name that no code page has. ONNX Runtime itself opens the model by it.
  OnnxRuntimeForWindows() : workplace("J\u00fcrgen \u7528\u6237") {}
  void SetUp() override {
    if (!fs::exists(path_of(repository) / "index.json"))
      GTEST_SKIP() << "there is no wheel at " << repository;
  }
  Ended open(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"onnxruntime", "--json", "--repository", repository});
    return workplace.info(std::move(more));
  }
  // The files of that name in the cache.
  std::vector<fs::path> installed(const std::string& name) const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(workplace.cache()))
      if (entry.path().filename() == path_of(name)) all.push_back(entry.path());
    return all;
  }

  Workplace workplace;
};

std::string npy_of_square(const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(64 * 2 - 10 - 1, ' ');
  header += '\n';
  std::string npy = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  npy.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return npy;
}

std::vector<std::string> strings_of(const Json& list, const char* member) {
  std::vector<std::string> all;
  for (const Json& one : list.as_array()) all.push_back(one[member].as_string());
  return all;
}

TEST_F(OnnxRuntimeForWindows, IsFetchedProvenAndOpened) {
  const Ended opened = open({"--self-test"});
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["state"].as_string(), "opened");
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("-cpu-windows-x86_64"));
  EXPECT_TRUE(opened.outcome()["proven"].as_bool());
  EXPECT_THAT(strings_of(opened.outcome()["loaded"], "path"), Contains(HasSubstr("onnxruntime.dll")));
}

TEST_F(OnnxRuntimeForWindows, ComputesAModelFromFileToFile) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("MatMul", {"x", "x"}, {"product"}),
                 onnx::node("Add", {"product", "half"}, {"sum"}), onnx::node("Relu", {"sum"}, {"y"})};
  graph.inputs = {onnx::value("x", onnx::float32, {"2", "2"})};
  graph.outputs = {onnx::value("y", onnx::float32, {"2", "2"})};
  graph.initializers = {onnx::scalar_initializer("half", 0.5f)};
  write_text(workplace.folder() / "model.onnx", graph.bytes());
  write_text(workplace.folder() / "x.npy", npy_of_square({1, 2, -3, 4}));
  const Ended run = workplace.run(
      "engine-run", {"onnxruntime", path_text(workplace.folder() / "model.onnx"), "--input",
                     "x=" + path_text(workplace.folder() / "x.npy"), "--output",
                     path_text(workplace.folder() / "answer"), "--repository", repository, "--json"});
  ASSERT_EQ(run.status, 0) << run.said();
  const std::string answer = read_text(workplace.folder() / "answer" / "y.npy");
  const float wanted[] = {0, 10.5f, 0, 10.5f};
  ASSERT_GE(answer.size(), sizeof wanted);
  EXPECT_EQ(answer.substr(answer.size() - sizeof wanted),
            std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));
}

TEST_F(OnnxRuntimeForWindows, RestoresADeletedDll) {
  ASSERT_EQ(open().status, 0);
  for (const fs::path& place : installed("onnxruntime.dll")) fs::remove(place);
  const Ended again = open({"--offline"});
  EXPECT_EQ(again.status, 0) << again.said();
  EXPECT_THAT(strings_of(again.outcome()["loaded"], "path"), Contains(HasSubstr("onnxruntime.dll")));
}

TEST_F(OnnxRuntimeForWindows, NamesADllThatTheBuildLacks) {
  const fs::path from = path_of(repository), to = workplace.folder() / "repository";
  fs::create_directories(to / "manifests");
  fs::copy(from / "files", to / "files");
  const std::string whole = read_text(from / "manifests" / "onnxruntime.json");
  const std::regex selected(R"("onnxruntime/capi/onnxruntime.dll",\s*("onnxruntime/LICENSE"))");
  const std::string without = std::regex_replace(whole, selected, "$1");
  ASSERT_LT(without.size(), whole.size());
  write_text(to / "manifests" / "onnxruntime.json", without);
  std::string index = read_text(from / "index.json");
  index = std::regex_replace(index, std::regex(sha256_hex(whole)), sha256_hex(without));
  index = std::regex_replace(index, std::regex("\"size\": " + std::to_string(whole.size())),
                             "\"size\": " + std::to_string(without.size()));
  write_text(to / "index.json", index);
  const Ended run = workplace.info({"onnxruntime", "--json", "--repository", path_text(to)});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_THAT(run.diagnosis().dump(0), HasSubstr("onnxruntime.dll"));
}

TEST_F(OnnxRuntimeForWindows, InspectListsTheNeededDlls) {
  ASSERT_EQ(open().status, 0);
  const Ended run = workplace.info({"--inspect", path_text(installed("onnxruntime.dll").front()), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.document["verdict"].as_string(), "loads");
  std::vector<std::string> needed;
  for (const Json& name : run.document["binary"]["needed"].as_array()) needed.push_back(name.as_string());
  // The files of Visual C++'s runtime, here Wine's own.
  EXPECT_THAT(needed, testing::IsSupersetOf({"KERNEL32.dll", "MSVCP140.dll", "VCRUNTIME140.dll"}));
}

}  // namespace
}  // namespace enginehost::test
