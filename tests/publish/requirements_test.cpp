// Requirements of a build, derived from its files.
#include "tools/publish/requirements.hpp"

#include <gmock/gmock.h>

namespace enginehost::publish {
namespace {

TEST(Requirements, OfAGpuFlavorHoldToolkitAndArchitecturesOnly) {
  ArtifactFacts part;
  part.files = {"lib/libgpu.so"};
  LibraryFacts library;
  library.path = "lib/libgpu.so";
  library.kind = "elf";
  library.machine = "x86_64";
  library.needed = {"libcuda.so.1", "libc.so.6", "libcudart.so.11.0"};
  library.sass = {"8.6", "7.0", "10.0"};
  library.ptx = {"9.0"};
  library.isa = 3;
  part.libraries = {library};
  const Json needs = requirements_of({part}, "cu118");
  EXPECT_EQ(needs["cuda"].dump(), R"({"toolkit":"11.8","sass":["7.0","8.6","10.0"],"ptx":["9.0"]})");
  EXPECT_EQ(needs["cpu"].dump(), R"(["x86-64-v3"])");
  EXPECT_EQ(needs["libraries"].dump(), R"(["libcudart.so.11.0"])");
}

// As in the published wheel of PyTorch 2.0.1 for CUDA 11.8: its own library has PTX 3.7, cuDNN has none.
TEST(Requirements, GpuCodeIsWhatAllLibrariesServe) {
  const auto library = [](const std::string& path, std::vector<std::string> sass,
                          std::vector<std::string> ptx) {
    LibraryFacts one;
    one.path = path;
    one.kind = "elf";
    one.sass = std::move(sass);
    one.ptx = std::move(ptx);
    return one;
  };
  ArtifactFacts part;
  part.libraries = {library("torch_cuda", {"3.7", "6.0", "6.1", "8.6", "9.0"}, {"3.7"}),
                    library("cudnn", {"3.5", "6.0", "8.0", "9.0"}, {}), library("c10", {}, {})};
  const auto code = [&] { return requirements_of({part}, "cu118")["cuda"]; };
  EXPECT_EQ(code()["sass"].dump(), R"(["3.7","6.0","6.1","8.0","8.6","9.0"])");
  EXPECT_EQ(code()["ptx"].dump(), "[]");
  part.libraries[1].ptx = {"8.0"};
  EXPECT_EQ(code()["ptx"].dump(), R"(["8.0"])") << "from 8.0 on both have PTX";
  part.libraries.push_back(library("cufft", {"5.2"}, {}));
  EXPECT_EQ(code()["sass"].dump(), "[]") << "nothing serves a device that the last one does not serve";
  part.libraries.back().gpu_code_incomplete = true;
  EXPECT_EQ(code()["sass"].dump(), R"(["3.7","6.0","6.1","8.0","8.6","9.0"])");
}

TEST(Requirements, MpsBeginsWithMacOs12Point3) {
  ArtifactFacts part;
  part.libraries.emplace_back();
  part.libraries[0].kind = "macho";
  part.libraries[0].minimum_os = "11.0";
  EXPECT_EQ(requirements_of({part}, "mps")["os_version"].as_string(), ">=12.3");
  EXPECT_EQ(requirements_of({part}, "cpu")["os_version"].as_string(), ">=11.0");
}

TEST(Requirements, ANeedWithoutANameIsNone) {
  LibraryFacts library;
  library.path = "lib/libengine_x.so";
  library.kind = "elf";
  library.needed = {"", "libwhole.so.1"};
  ArtifactFacts part;
  part.files = {library.path};
  part.libraries = {library};
  EXPECT_EQ(requirements_of({part}, "cpu")["libraries"].dump(), R"(["libwhole.so.1"])");
  EXPECT_EQ((*adapter_of(library))["needs"].dump(), R"(["libwhole.so.1"])");
}

TEST(Requirements, LibrariesFoundByRunpathAreNotRequired) {
  LibraryFacts library;
  library.path = "lib/libengine_x.so";
  library.kind = "elf";
  library.needed = {"libelsewhere.so.1", "libsystem.so.1"};
  LibraryFacts other = library;
  other.path = "lib/libother.so";
  other.found_by_own_path = {{"libelsewhere.so.1", "/opt/vendor/lib"}};
  ArtifactFacts part;
  part.files = {library.path, other.path};
  part.libraries = {library, other};
  EXPECT_EQ(requirements_of({part}, "cpu")["libraries"].dump(), R"(["libsystem.so.1"])");
  const auto found = outside({part}, "cpu");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].found_in, "/opt/vendor/lib");
  EXPECT_EQ(found[1].found_in, "");
  const ArtifactFacts again = facts_from_json(to_json(part));
  EXPECT_EQ(again.libraries[1].found_by_own_path, other.found_by_own_path);
  EXPECT_EQ(to_json(part)["libraries"].as_array()[0].find("found_by_own_path"), nullptr);
}

TEST(Requirements, OfMacosAndWindowsLibraries) {
  ArtifactFacts mac;
  mac.files = {"lib/libmac.dylib"};
  LibraryFacts library;
  library.path = "lib/libmac.dylib";
  library.kind = "macho";
  library.machine = "aarch64";
  library.minimum_os = "14.0";
  library.needed = {"/usr/lib/libSystem.B.dylib", "@rpath/libmac.dylib", "@rpath/libgone.dylib"};
  mac.libraries = {library};
  EXPECT_EQ(requirements_of({mac}, "mps")["os_version"].as_string(), ">=14.0");
  ASSERT_EQ(outside({mac}, "mps").size(), 1u);
  EXPECT_EQ(outside({mac}, "mps")[0].name, "libgone.dylib");
  EXPECT_EQ(system_of({mac}).arch, "arm64");

  library.kind = "pe";
  library.machine = "x86_64";
  library.needed = {"KERNEL32.dll", "api-ms-win-crt-heap-l1-1-0.dll", "VCRUNTIME140.dll", "Far.dll"};
  ArtifactFacts windows;
  windows.files = {"lib/engine.dll"};
  windows.libraries = {library};
  EXPECT_EQ(requirements_of({windows}, "cpu")["vcruntime"].as_string(), ">=14.0");
  EXPECT_EQ(outside({windows}, "cpu")[0].name, "far.dll");
  EXPECT_EQ(system_of({windows}).os, "windows");
}

}  // namespace
}  // namespace enginehost::publish
