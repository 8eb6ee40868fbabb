// Existing installations from detection to an open engine: Debian's libtorch and a wheel of ONNX Runtime
// loaded in place, environments laid out as conda does, and folders that are no installation.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string three_floats = source_path("/tests/end-to-end/golden/three_floats.npy");

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& installation) {
  arguments.insert(arguments.end(), {"--repository", repository, "--offline"});
  if (!installation.empty()) arguments.insert(arguments.end(), {"--installation", installation});
  return arguments;
}

// As above, where all published builds are of another engine, so that the installation is the only candidate.
std::vector<std::string> with_nothing_published(const Workplace& workplace, const std::string& engine,
                                                const std::string& installation) {
  TestRepository others(workplace.folder() / "repository");
  others.add(good_build());
  others.write();
  return {engine,           "--json",    "--offline", "--repository", others.root().native(),
          "--installation", installation};
}

// The candidate that stands for an installation, or a null value.
const Json& in_place(const Ended& ended) {
  static const Json none;
  for (const Json& candidate : ended.document["candidates"].as_array())
    if (candidate["build"].as_string().find("-at-") != std::string::npos) return candidate;
  return none;
}

bool loaded_from(const Ended& ended, const std::string& folder) {
  for (const Json& library : ended.outcome()["loaded"].as_array())
    if (library["path"].as_string().starts_with(folder)) return true;
  return false;
}

// Bytes, times and names of everything below the folder.
std::string state_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto stamp = stamp_of(entry.path());
    std::string state = stamp ? std::to_string(stamp->inode) + " " + std::to_string(stamp->modified_ns) : "";
    if (entry.is_regular_file()) state += " " + sha256_hex(read_text(entry.path()));
    all[entry.path().native()] = state;
  }
  std::string text;
  for (const auto& [path, state] : all) text += path + " " + state + "\n";
  return text;
}

void write_conda_record(const fs::path& prefix, const std::string& name, const std::string& version) {
  write_text(prefix / "conda-meta" / (name + "-" + version + "-h0_0.json"),
             Json::object().set("name", name).set("version", version).set("build", "h0_0").dump());
}

void compile(const std::string& source, const fs::path& to, const std::string& flags) {
  fs::create_directories(to.parent_path());
  const std::string command =
      "printf '%s' '" + source + "' | gcc -shared -fPIC -x c - -x none -o '" + to.native() + "' " + flags;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(Installations, AFileIsReportedAsNoInstallation) {
  const Workplace workplace;
  write_text(workplace.folder() / "file", "text");
  const Ended ended = workplace.info(with({"mxnet", "--json"}, (workplace.folder() / "file").native()));
  EXPECT_EQ(ended.status, 2) << ended.said();
  EXPECT_EQ(ended.code(), "EH-S30");
  EXPECT_THAT(ended.diagnosis()["cause"].as_string(), HasSubstr("it is a file, not a folder"));
  EXPECT_FALSE(ended.diagnosis()["remedy"].as_array().empty());
}

TEST(Installations, AnEmptyFolderHoldsNoEngine) {
  const Workplace workplace;
  fs::create_directories(workplace.folder() / "empty");
  const Ended ended = workplace.info(with({"mxnet", "--json"}, (workplace.folder() / "empty").native()));
  EXPECT_EQ(ended.status, 3) << ended.said();
  EXPECT_EQ(ended.code(), "EH-S31");
  EXPECT_THAT(evidence_list(ended.diagnosis(), "looked_for"), HasSubstr("libmxnet.so"));
}

TEST(Installations, AnUnusableOneIsReportedAlthoughAnotherBuildOpens) {
  const Workplace workplace;
  fs::create_directories(workplace.folder() / "empty");
  const Ended ended = workplace.info(with({"reference"}, (workplace.folder() / "empty").native()));
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.error, HasSubstr("EH-S31"));
}

TEST(Installations, AMissingPluginIsReportedWithTheReleaseFound) {
  const Workplace workplace;
  const fs::path environment = workplace.folder() / "env";
  compile("int f(void){return 1;}", environment / "lib/libmxnet.so", "");
  write_conda_record(environment, "libmxnet", "1.9.1");
  const Ended ended = workplace.info(with_nothing_published(workplace, "mxnet", environment.native()));
  EXPECT_EQ(ended.status, 3) << ended.said();
  EXPECT_EQ(in_place(ended)["diagnosis"]["code"].as_string(), "EH-S32");
  EXPECT_EQ(evidence(in_place(ended)["diagnosis"], "installed"), "mxnet 1.9.1 cpu");
}

TEST(Installations, DamagedOnesAreRefusedWithTheFileAndItsSize) {
  const Workplace workplace;
  const fs::path library = workplace.folder() / "env/lib/libmxnet.so";
  compile("int f(void){return 1;}", library, "");
  write_conda_record(workplace.folder() / "env", "libmxnet", "1.9.1");
  fs::resize_file(library, fs::file_size(library) / 4);
  const Ended ended = workplace.info(with({"mxnet", "--json"}, (workplace.folder() / "env").native()));
  EXPECT_EQ(ended.code(), "EH-F04") << ended.said();
  EXPECT_EQ(evidence(ended.diagnosis(), "file"), library.native());
  EXPECT_NE(evidence(ended.diagnosis(), "needed_size"), "");
}

struct ForeignLibrary {
  const char *name, *flags;
  int machine;  // replaces the compiler's e_machine; 0: does not
  const char* requirement;
};
class ForeignInstallations : public testing::TestWithParam<ForeignLibrary> {};

TEST_P(ForeignInstallations, AreForAnotherSystem) {
  const Workplace workplace;
  const fs::path environment = workplace.folder() / "env";
  const fs::path library = environment / "lib/libmxnet.so";
  compile("int f(void){return 1;}", library, GetParam().flags);
  if (GetParam().machine != 0) {
    std::string bytes = read_text(library);
    bytes[18] = static_cast<char>(GetParam().machine);
    write_text(library, bytes);
  }
  write_conda_record(environment, "libmxnet", "1.9.1");
  const Ended ended = workplace.info(with_nothing_published(workplace, "mxnet", environment.native()));
  EXPECT_EQ(ended.status, 3) << ended.said();
  EXPECT_THAT(evidence(ended.diagnosis(), "reason"), HasSubstr(GetParam().requirement)) << ended.said();
}
INSTANTIATE_TEST_SUITE_P(
    Each, ForeignInstallations,
    testing::Values(ForeignLibrary{"For32Bits", "-m32", 0, "system linux i386, found linux x86_64"},
                    ForeignLibrary{"ForAnotherProcessor", "", 183, "system linux aarch64, found"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Installations, AMuslWheelIsRefusedOnGlibc) {
  const Workplace workplace;
  const fs::path site = workplace.folder() / "site";
  const fs::path libc = workplace.folder() / "libc.musl-x86_64.so.1";
  compile("int c(void){return 1;}", libc, "-nostdlib -Wl,-soname,libc.musl-x86_64.so.1");
  compile("int ort(void){return 1;}", site / "onnxruntime/capi/libonnxruntime.so.1.22.0",
          "-nostdlib -Wl,--no-as-needed \"" + libc.native() + "\"");
  write_text(site / "onnxruntime-1.22.0.dist-info/METADATA", "Name: onnxruntime\nVersion: 1.22.0\n");
  const Ended planned = workplace.info(with({"onnxruntime", "--plan", "--json"}, site.native()));
  const Json& diagnosis = in_place(planned)["diagnosis"];
  EXPECT_EQ(diagnosis["code"].as_string(), "EH-L28") << planned.said();
  EXPECT_EQ(evidence(diagnosis, "required"), "musl");
  EXPECT_THAT(evidence(diagnosis, "found"), HasSubstr("glibc"));
  EXPECT_FALSE(diagnosis["remedy"].as_array().empty());
}

// The usual recipe: CUDA of a conda environment, and no LD_LIBRARY_PATH.
TEST(Installations, LibrariesOfACondaEnvironmentCompleteABuild) {
  const Workplace workplace;
  const fs::path environment = workplace.folder() / "conda";
  compile("int cublas_of_conda(void){return 12;}", environment / "lib/libcublas.so.12",
          "-Wl,-soname,libcublas.so.12");
  write_conda_record(environment, "libcublas", "12.4.5.8");
  // The build's plugin needs the library by name, as one that was linked against CUDA does.
  const fs::path plugin = workplace.folder() / "libengine_reference.so";
  write_text(plugin, reference_plugin());
  ASSERT_EQ(std::system(("patchelf --add-needed libcublas.so.12 '" + plugin.native() + "'").c_str()), 0);
  TestRepository made(workplace.folder() / "repository");
  TestBuild build = good_build("reference-with-cuda");
  build.files = {{"libengine_reference.so", read_text(plugin)}};
  build.requirements = Json::object().set("libraries", Json::array().push("libcublas.so.12"));
  made.add(build);
  made.write();
  const std::string before = state_of(environment);
  std::vector<std::string> arguments = {"reference", "--json", "--repository", made.root().native()};
  const Ended alone = workplace.info(arguments);
  EXPECT_EQ(alone.status, 3) << "nobody else has that library";
  EXPECT_EQ(alone.candidate("reference-with-cuda")["diagnosis"]["code"].as_string(), "EH-L01");
  EXPECT_THAT(alone.diagnosis().dump(), HasSubstr("libcublas.so.12"));
  arguments.insert(arguments.end(), {"--installation", environment.native()});
  const Ended opened = workplace.info(arguments);
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("reference-with-cuda-with-"));
  EXPECT_TRUE(loaded_from(opened, environment.native())) << opened.said();
  EXPECT_EQ(opened.outcome()["in_place"].as_string(), environment.native());
  EXPECT_EQ(state_of(environment), before);
  // Such a build cannot be taken to another machine.
  const Ended exported = workplace.run("engine-cache", {"export", (workplace.folder() / "bundle").native(),
                                                        opened.outcome()["build"].as_string(), "--json"});
  EXPECT_EQ(exported.status, 3) << exported.said();
  EXPECT_EQ(exported.code(), "EH-S33");
}

TEST(Installations, AreRefusedWherePolicyRequiresSignatures) {
  if (!can_mount()) GTEST_SKIP() << "needs the right to mount, to have a system file";
  const Workplace workplace;
  fs::create_directories(workplace.folder() / "env/conda-meta");
  RunOptions options;
  options.launcher = with_system_file(
      workplace, Json::object().set("policy", Json::object().set("require_signatures", true)));
  const Ended ended =
      workplace.info({"mxnet", "--json", "--installation", (workplace.folder() / "env").native()}, options);
  EXPECT_EQ(ended.code(), "EH-P01") << ended.said();
  EXPECT_THAT(ended.diagnosis()["cause"].as_string(), HasSubstr("require_signatures"));
}

#ifdef ENGINEHOST_MAKE_TORCHSCRIPT
// Debian's libtorch in an environment laid out as conda does. The files are real, and their dependencies are
// the system's.
class TorchEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"libtorch_cpu.so.1.13", "libtorch.so.1.13", "libc10.so.1.13"})
      for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/"}) {
        if (!fs::exists(std::string(folder) + name)) continue;
        system_ = folder;
        fs::create_directories(environment() / "lib");
        fs::copy_file(std::string(folder) + name, environment() / "lib" / name);
      }
    if (system_.empty()) GTEST_SKIP() << "needs Debian's libtorch";
    write_conda_record(environment(), "libtorch", "1.13.1");
  }
  // An adapter for a newer release would precede it.
  const std::string of_debian = "pytorch@1.13";
  fs::path environment() const { return workplace_.folder() / "env"; }

  Workplace workplace_;
  std::string system_;
};

TEST_F(TorchEnvironment, IsOpenedInPlaceAndNotChanged) {
  const std::string before = state_of(environment());
  const Ended opened = workplace_.info(with({of_debian, "--json", "--self-test"}, environment().native()));
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(in_place(opened)["verdict"].as_string(), "chosen") << opened.said();
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("pytorch-1.13.1-cpu-linux-"));
  EXPECT_TRUE(loaded_from(opened, environment().native())) << opened.said();
  const std::string models = (workplace_.folder() / "models").native();
  fs::create_directories(models);
  ASSERT_EQ(std::system(("'" ENGINEHOST_MAKE_TORCHSCRIPT "' '" + models + "'").c_str()), 0);
  const Ended ran = workplace_.run("engine-run", with({of_debian, models + "/linear.pt", "--input",
                                                       "x=" + three_floats, "--output", models + "/out"},
                                                      environment().native()));
  EXPECT_EQ(ran.status, 0) << ran.said();
  EXPECT_EQ(state_of(environment()), before);
}

TEST_F(TorchEnvironment, IsNeverUsedUnasked) {
  ASSERT_EQ(workplace_.info(with({of_debian, "--json"}, environment().native())).status, 0);
  RunOptions active;
  active.environment = {"CONDA_PREFIX=" + environment().native()};
  const Ended opened = workplace_.info(with({of_debian, "--json"}, ""), active);
  EXPECT_TRUE(in_place(opened).is_null()) << opened.said();
  EXPECT_FALSE(loaded_from(opened, environment().native()));
  // It is offered.
  const Ended seen = workplace_.info(with({"--installations", "--json"}, ""), active);
  EXPECT_EQ(seen.status, 0);
  const Json& first = seen.document["installations"].as_array().at(0);
  EXPECT_EQ(first["path"].as_string(), environment().native());
  EXPECT_EQ(first["source"].as_string(), "CONDA_PREFIX");
  EXPECT_FALSE(first["used"].as_bool(true));
  EXPECT_EQ(first["engines"].as_array().at(0)["engine"].as_string(), "pytorch");
}

TEST_F(TorchEnvironment, IsProvenOnceAndCheckedAgainAfterAnUpgrade) {
  const auto open = [&] { return workplace_.info(with({of_debian, "--json"}, environment().native())); };
  ASSERT_EQ(open().status, 0);
  Ended again = open();
  EXPECT_TRUE(in_place(again)["proven"].as_bool()) << again.said();
  // An upgrade writes its files again.
  const fs::path library = environment() / "lib/libc10.so.1.13";
  const std::string bytes = read_text(library);
  fs::remove(library);
  write_text(library, bytes);
  again = open();
  EXPECT_EQ(again.status, 0) << again.said();
  EXPECT_FALSE(in_place(again)["proven"].as_bool(true)) << again.said();
  EXPECT_TRUE(in_place(open())["proven"].as_bool());
  // A newer release in the same place is another build, for which there is no plugin.
  fs::remove(environment() / "conda-meta/libtorch-1.13.1-h0_0.json");
  write_conda_record(environment(), "libtorch", "2.1.0");
  const Ended newer = workplace_.info(with({"pytorch", "--json", "--plan"}, environment().native()));
  EXPECT_EQ(in_place(newer)["diagnosis"]["code"].as_string(), "EH-S32") << newer.said();
}

TEST_F(TorchEnvironment, OpensByTheSystemsFolderToo) {
  const Ended opened = workplace_.info(with({of_debian, "--json"}, system_));
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(in_place(opened)["verdict"].as_string(), "chosen") << opened.said();
  EXPECT_EQ(in_place(opened)["version"].as_string(), "1.13.1");
}
#endif

}  // namespace
}  // namespace enginehost::test
