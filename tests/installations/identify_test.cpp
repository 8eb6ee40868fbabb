#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "tests/installations/environments.hpp"

namespace enginehost::installations {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Identify : public test::Environments {
 protected:
  Runtime runtime(const std::string& path, const std::string& engine) const {
    const auto installation = identify(folder() / path);
    EXPECT_TRUE(installation) << (installation ? "" : std::string(installation.error().code_text()));
    const Runtime* found = installation ? find(*installation, engine) : nullptr;
    EXPECT_NE(found, nullptr);
    return found != nullptr ? *found : Runtime{};
  }
};

TEST_F(Identify, AVirtualEnvironmentsTorchByItsFiles) {
  const std::string site = "venv/lib/python3.11/site-packages";
  write("venv/pyvenv.cfg", "home = /usr/bin\n");
  make_torch(site + "/torch/lib", true);
  // The names of the folder and of the package contain cu118; the files need no CUDA.
  make_package(site, "torch", "2.0.1+cu118");
  write(site + "/torch/version.py", "__version__ = '2.0.1+cu118'\ncuda: Optional[str] = '11.8'\n");
  const Runtime torch = runtime("venv", "pytorch");
  EXPECT_EQ(torch.version, "2.0.1");
  EXPECT_EQ(torch.flavor, "cpu");
  EXPECT_EQ(torch.cxx11_abi, "1");
  EXPECT_EQ(torch.root, at(site));
  EXPECT_EQ(torch.requirements.libc, "glibc");
  EXPECT_THAT(torch.requirements.glibc, HasSubstr(">=2."));
  EXPECT_THAT(torch.names, Contains("libtorch_cpu.so"));
  EXPECT_THAT(torch.libraries, Contains(at(site + "/torch/lib/libgomp-a34b3233.so.1")));
  EXPECT_FALSE(torch.problem);
  // site-packages is recognized as the same installation.
  EXPECT_EQ(runtime(site, "pytorch").libraries, torch.libraries);
}

TEST_F(Identify, TheOlderCxxAbi) {
  make_torch("site/torch/lib", false);
  make_package("site", "torch", "1.13.1");
  EXPECT_EQ(runtime("site", "pytorch").cxx11_abi, "0");
}

TEST_F(Identify, ACondaEnvironmentByItsRecords) {
  make_torch("env/lib");
  make_conda_record("env", "libtorch", "2.1.2");
  const auto installation = identify(folder() / "env");
  ASSERT_TRUE(installation);
  EXPECT_EQ(installation->layout, Layout::conda);
  const Runtime torch = runtime("env", "pytorch");
  EXPECT_EQ(torch.version, "2.1.2");
  EXPECT_EQ(torch.root, at("env"));
  EXPECT_THAT(evidence(torch.found, "version"), "2.1.2");
}

TEST_F(Identify, AnUnpackedArchiveByItsVersionFile) {
  make_torch("libtorch/lib");
  write("libtorch/build-version", "2.3.0+cpu\n");
  EXPECT_EQ(runtime("libtorch", "pytorch").version, "2.3.0");
}

TEST_F(Identify, OnnxRuntimeByTheNameOfItsLibraryAlone) {
  library("lib/libonnxruntime.so.1.22.0", "int ort(void) { return 1; }", {"-Wl,-soname,libonnxruntime.so.1"});
  EXPECT_EQ(runtime("lib", "onnxruntime").version, "1.22.0");
}

TEST_F(Identify, CudaByNeededLibrariesAndItsMinorVersionByAFile) {
  make_torch("site/torch/lib");
  make_package("site", "torch", "2.0.1");
  library("site/torch/lib/libcudart-d0da41ae.so.11.0", "int cudart(void) { return 1; }",
          {"-Wl,-soname,libcudart-d0da41ae.so.11.0"});
  library("site/torch/lib/libtorch_cuda.so", "int torch_cuda(void) { return 1; }",
          {"-Wl,-soname,libtorch_cuda.so", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed",
           at("site/torch/lib/libcudart-d0da41ae.so.11.0")});
  EXPECT_EQ(runtime("site", "pytorch").flavor, "cu110");
  write("site/torch/version.py", "__version__ = '2.0.1'\ncuda: Optional[str] = '12.1'\n");
  EXPECT_EQ(runtime("site", "pytorch").flavor, "cu110") << "another major version than that of the files";
  write("site/torch/version.py", "__version__ = '2.0.1'\ncuda: Optional[str] = '11.7'\n");
  EXPECT_EQ(runtime("site", "pytorch").flavor, "cu117");
  make_package("site", "nvidia_cuda_runtime_cu11", "11.6.55");
  EXPECT_EQ(runtime("site", "pytorch").flavor, "cu116");
  write("site/torch/lib/libnvrtc-builtins.so.11.8", "");
  const Runtime torch = runtime("site", "pytorch");
  EXPECT_EQ(torch.flavor, "cu118");
  ASSERT_TRUE(torch.requirements.cuda);
  EXPECT_EQ(torch.requirements.cuda->toolkit, "11.8");
}

TEST_F(Identify, AFileInPlaceOfAFolderIsReported) {
  const auto file = write("file.txt", "text");
  for (const auto& [path, problem] : {std::pair{file, "it is a file, not a folder"},
                                      std::pair{folder() / "nowhere", "it does not exist"}}) {
    const auto installation = identify(path);
    ASSERT_FALSE(installation);
    EXPECT_EQ(installation.error().code, "EH-S30");
    EXPECT_EQ(installation.error().value(Key::problem), problem);
    EXPECT_EQ(installation.error().value(Key::path), path.native());
  }
}

TEST_F(Identify, AFolderWithoutEngineNamesTheFilesLookedFor) {
  std::filesystem::create_directories(folder() / "empty");
  const auto installation = identify(folder() / "empty");
  ASSERT_FALSE(installation);
  EXPECT_EQ(installation.error().code, "EH-S31");
  EXPECT_THAT(installation.error().values(Key::looked_for), Contains("libtorch_cpu.so"));
}

TEST_F(Identify, ADamagedLibraryIsNamedWithItsDamage) {
  make_torch("site/torch/lib");
  make_package("site", "torch", "2.0.1");
  const std::string whole = bytes_of(folder() / "site/torch/lib/libtorch_cpu.so");
  write("site/torch/lib/libtorch_cpu.so", whole.substr(0, whole.size() / 4));
  const Runtime torch = runtime("site", "pytorch");
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->code, "EH-F04");
  EXPECT_EQ(torch.problem->value(Key::file), at("site/torch/lib/libtorch_cpu.so"));
}

TEST_F(Identify, APackageWithoutItsLibraryIsReported) {
  make_package("site", "torch", "2.0.1");
  std::filesystem::create_directories(folder() / "site/torch/lib");
  const Runtime torch = runtime("site", "pytorch");
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->code, "EH-S30");
  EXPECT_THAT(std::string(torch.problem->value(Key::problem)), HasSubstr("libtorch_cpu.so is not"));
}

TEST_F(Identify, AnotherProcessorIsReadFromTheFiles) {
  make_torch("site/torch/lib");
  make_package("site", "torch", "2.0.1");
  for (const char* name : {"libtorch_cpu.so", "libc10.so"}) {
    std::string bytes = bytes_of(folder() / "site/torch/lib" / name);
    bytes[18] = static_cast<char>(183);  // e_machine: EM_AARCH64
    write(std::string("site/torch/lib/") + name, bytes);
  }
  EXPECT_EQ(runtime("site", "pytorch").arch, "aarch64");
}

TEST_F(Identify, A32BitEngineIsOneForAnotherProcessor) {
  make_torch("site/torch/lib", true, {"gcc", "-m32"});
  make_package("site", "torch", "2.0.1");
  EXPECT_EQ(runtime("site", "pytorch").arch, "i386");
}

// The processor's package is unpacked last over the GPU's: the library is the former's, the provider the
// latter's.
class TwoPackages : public Identify {
 protected:
  static constexpr const char* capi = "site/onnxruntime/capi/";
  static std::string base64_of(std::string_view hex) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    constexpr std::string_view hexadecimal_digits = "0123456789abcdef";
    std::string bits, text;
    for (const char one : hex)
      for (int bit = 3; bit >= 0; --bit)
        bits.push_back((hexadecimal_digits.find(one) >> bit & 1) != 0 ? '1' : '0');
    while (bits.size() % 6 != 0) bits.push_back('0');
    for (std::size_t at = 0; at < bits.size(); at += 6)
      text.push_back(digits[std::stoul(bits.substr(at, 6), nullptr, 2)]);
    return text;
  }
  static std::string line(const std::string& file, std::string_view bytes) {
    return "onnxruntime/capi/" + file + ",sha256=" + base64_of(sha256_hex(bytes)) + "," +
           std::to_string(bytes.size()) + "\n";
  }
  void record(const std::string& package, const std::string& lines) const {
    const std::string name = package == "onnxruntime-gpu" ? "onnxruntime_gpu" : package;
    make_package("site", package, "1.22.0");
    if (name != package) {
      std::filesystem::remove_all(folder() / ("site/" + name + "-1.22.0.dist-info"));
      std::filesystem::rename(folder() / ("site/" + package + "-1.22.0.dist-info"),
                              folder() / ("site/" + name + "-1.22.0.dist-info"));
    }
    write("site/" + name + "-1.22.0.dist-info/RECORD", lines);
  }
  void SetUp() override {
    Identify::SetUp();
    library(capi + std::string("libcudart.so.12"), "int cuda(void) { return 1; }",
            {"-Wl,-soname,libcudart.so.12"});
    library(capi + std::string("libonnxruntime_providers_cuda.so"), "int provider(void) { return 1; }",
            {"-Wl,--no-as-needed", at(capi + std::string("libcudart.so.12"))});
    library(capi + std::string("libonnxruntime.so.1.22.0"), "int ort(void) { return 1; }",
            {"-Wl,-soname,libonnxruntime.so.1"});
    main_ = bytes_of(folder() / capi / "libonnxruntime.so.1.22.0");
  }
  std::string provider() const {
    return line("libonnxruntime_providers_cuda.so",
                bytes_of(folder() / capi / "libonnxruntime_providers_cuda.so"));
  }
  std::string main_;
};

TEST_F(TwoPackages, G26AnOverwrittenLibraryIsAProblem) {
  record("onnxruntime", line("libonnxruntime.so.1.22.0", main_));
  record("onnxruntime-gpu", line("libonnxruntime.so.1.22.0", "what the GPU's package had") + provider());
  const Runtime found = runtime("site", "onnxruntime");
  ASSERT_TRUE(found.problem);
  EXPECT_EQ(found.problem->code, "EH-G26");
  EXPECT_EQ(found.problem->value(Key::package), "onnxruntime");
  EXPECT_EQ(found.problem->value(Key::overwritten), "onnxruntime-gpu");
}

// Two releases: the newer library's file has another name.
TEST_F(TwoPackages, G26AnotherReleasesLibraryIsAProblemToo) {
  record("onnxruntime", line("libonnxruntime.so.1.22.0", main_));
  record("onnxruntime-gpu", line("libonnxruntime.so.1.20.0", "older") + provider());
  const Runtime found = runtime("site", "onnxruntime");
  ASSERT_TRUE(found.problem);
  EXPECT_EQ(found.problem->code, "EH-G26");
}

TEST_F(TwoPackages, TheGpusPackageOnTopIsWhole) {
  record("onnxruntime", line("libonnxruntime.so.1.22.0", "what the processor's package had"));
  record("onnxruntime-gpu", line("libonnxruntime.so.1.22.0", main_) + provider());
  EXPECT_FALSE(runtime("site", "onnxruntime").problem);
}

TEST_F(TwoPackages, OnePackageAndPackagesWithoutRecordsAreLeftAlone) {
  record("onnxruntime-gpu", line("libonnxruntime.so.1.22.0", main_) + provider());
  EXPECT_FALSE(runtime("site", "onnxruntime").problem);
  record("onnxruntime", "");
  EXPECT_FALSE(runtime("site", "onnxruntime").problem);
  record("onnxruntime", "onnxruntime/capi/libonnxruntime.so.1.22.0,sha256=damaged,3\n");
  EXPECT_FALSE(runtime("site", "onnxruntime").problem);
}

TEST_F(Identify, AMuslWheelNeedsMusl) {
  library("site/onnxruntime/capi/libc.musl-x86_64.so.1", "int c(void) { return 1; }",
          {"-Wl,-soname,libc.musl-x86_64.so.1", "-nostdlib"});
  library("site/onnxruntime/capi/libonnxruntime.so.1.22.0", "int ort(void) { return 1; }",
          {"-nostdlib", "-Wl,--no-as-needed", at("site/onnxruntime/capi/libc.musl-x86_64.so.1")});
  make_package("site", "onnxruntime", "1.22.0");
  const Runtime runtime_found = runtime("site", "onnxruntime");
  EXPECT_EQ(runtime_found.requirements.libc, "musl");
  EXPECT_EQ(runtime_found.requirements.glibc, "");
}

TEST_F(Identify, TheCAndCxxRuntimesOfTheEnvironmentAreNeverTaken) {
  library("env/lib/libstdc++.so.6", "int cxx(void) { return 1; }", {"-Wl,-soname,libstdc++.so.6"});
  library("env/lib/libmkl_rt.so.2", "int mkl(void) { return 1; }", {"-Wl,-soname,libmkl_rt.so.2"});
  library("env/lib/libc10.so", c10_source(true), {"-Wl,-soname,libc10.so"});
  library("env/lib/libtorch_cpu.so", "int torch(void) { return 1; }",
          {"-Wl,-soname,libtorch_cpu.so", "-Wl,--no-as-needed", at("env/lib/libc10.so"),
           at("env/lib/libstdc++.so.6"), at("env/lib/libmkl_rt.so.2")});
  make_conda_record("env", "pytorch", "2.1.0");
  const Runtime torch = runtime("env", "pytorch");
  EXPECT_THAT(torch.libraries, Contains(at("env/lib/libmkl_rt.so.2")));
  EXPECT_THAT(torch.libraries, Not(Contains(at("env/lib/libstdc++.so.6"))));
}

TEST_F(Identify, ReadingLeavesNothingBehind) {
  make_torch("env/lib");
  make_conda_record("env", "libtorch", "2.1.2");
  const std::string before = state_of(folder() / "env");
  ASSERT_TRUE(identify(folder() / "env"));
  EXPECT_EQ(state_of(folder() / "env"), before);
}

TEST_F(Identify, AnotherPackagesUpgradeDoesNotCount) {
  make_torch("site/torch/lib");
  make_package("site", "torch", "2.0.1");
  const std::string before = identity_of(runtime("site", "pytorch").dependency_stamps);
  make_package("site", "numpy", "1.25");
  EXPECT_EQ(identity_of(runtime("site", "pytorch").dependency_stamps), before);
  make_torch("site/torch/lib");  // the same bytes, written again
  EXPECT_NE(identity_of(runtime("site", "pytorch").dependency_stamps), before);
}

}  // namespace
}  // namespace enginehost::installations
