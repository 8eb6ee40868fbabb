// Libraries that cuDNN and NVRTC open by name while they run, in the folders of NVIDIA's published wheels and
// with the paths in their files. Small libraries replace the large ones.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OpenedByName : public ::testing::Test {
 protected:
  // A library of that SONAME in a folder of the view, which opens another by name when `function` is called.
  std::filesystem::path library(const std::string& folder, const std::string& name, const std::string& flags,
                                const std::string& function = {}, const std::string& opens = {}) {
    std::string source = "int " + folder.substr(0, 2) + "_is_here(void) { return 1; }\n";
    if (!function.empty())
      source = "#include <dlfcn.h>\nvoid* " + function + "(void) { return dlopen(\"" + opens +
               "\", RTLD_NOW | RTLD_LOCAL); }\n";
    return workshop_.library("nvidia/" + folder + "/lib/" + name, source,
                             "-Wl,-soname," + name + " " + flags);
  }
  // The readelf output of nvidia-cudnn-cu11 9.10.2.21 and nvidia-cuda-nvrtc-cu11 11.8.89.
  void lay_out_cuda_11(
      const std::string& cudnn_path = "$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../nvrtc/lib") {
    library("cudnn", "libcudnn.so.9", "-Wl,-rpath,'$ORIGIN'");
    graph_ = library("cudnn", "libcudnn_graph.so.9", "-Wl,-rpath,'" + cudnn_path + "'", "open_nvrtc",
                     "libnvrtc.so.11.2");
    nvrtc_ = library("cuda_nvrtc", "libnvrtc.so.11.2", "-Wl,-rpath,'$ORIGIN:'", "open_builtins",
                     "libnvrtc-builtins.so.11.8");
    builtins_ = library("cuda_nvrtc", "libnvrtc-builtins.so.11.8", "");
    folders_ = {"nvidia/cudnn/lib", "nvidia/cuda_nvrtc/lib"};
  }
  // The same for nvidia-cudnn-cu13 9.19.0.56 and nvidia-cuda-nvrtc 13.0.88, which has no path at all.
  void lay_out_cuda_13() {
    library("cudnn", "libcudnn.so.9", "-Wl,-rpath,'$ORIGIN'");
    graph_ = library("cudnn", "libcudnn_graph.so.9",
                     "-Wl,-rpath,'$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../cuda_nvrtc/lib:"
                     "$ORIGIN/../../cu13/lib'",
                     "open_nvrtc", "libnvrtc.so.13");
    nvrtc_ = library("cu13", "libnvrtc.so.13", "", "open_builtins", "libnvrtc-builtins.so.13.0");
    builtins_ = library("cu13", "libnvrtc-builtins.so.13.0", "");
    folders_ = {"nvidia/cudnn/lib", "nvidia/cu13/lib"};
  }
  Report checked() {
    const auto plugin = workshop_.plugin("libengine_x.so");
    return check(build(workshop_, plugin, folders_));
  }
  // Opens the report's preloads, then the library, calls its function, and returns the file that it opened.
  static std::string opened_by(const Report& report, const std::filesystem::path& library,
                               const char* function) {
    for (const auto& first : report.load_order)
      if (dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return dlerror();
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return dlerror();
    using Opener = void*();
    void* part = reinterpret_cast<Opener*>(dlsym(handle, function))();
    if (part == nullptr) return dlerror();
    Dl_info info{};
    const char* known[] = {"cu_is_here", "open_builtins"};
    for (const char* symbol : known)
      if (void* at = dlsym(part, symbol); at != nullptr && dladdr(at, &info) != 0) return info.dli_fname;
    return "another library of that name";
  }

  faults::Workshop workshop_;
  std::vector<std::string> folders_;
  std::filesystem::path graph_, nvrtc_, builtins_;
};

TEST_F(OpenedByName, NvrtcOfCuda11IsOpenedFirstForCudnn) {
  lay_out_cuda_11();
  const Report report = checked();
  EXPECT_EQ(report.verdict, Verdict::loads) << first_code(report);
  EXPECT_THAT(report.load_order, ElementsAre(nvrtc_));
  EXPECT_EQ(opened_by(report, graph_, "open_nvrtc"), nvrtc_.native());
#ifndef __SANITIZE_ADDRESS__  // its own dlopen is the caller then, so another path counts
  EXPECT_EQ(opened_by(report, nvrtc_, "open_builtins"), builtins_.native());
#endif
}

TEST_F(OpenedByName, BuiltinsOfCuda13AreOpenedFirstForNvrtc) {
  lay_out_cuda_13();
  const Report report = checked();
  EXPECT_EQ(report.verdict, Verdict::loads) << first_code(report);
  EXPECT_THAT(report.load_order, ElementsAre(builtins_));
  EXPECT_EQ(opened_by(report, nvrtc_, "open_builtins"), builtins_.native());
  EXPECT_EQ(opened_by(report, graph_, "open_nvrtc"), nvrtc_.native());
}

TEST_F(OpenedByName, APartThatIsFoundAnywayIsNotPreloaded) {
  lay_out_cuda_11("$ORIGIN:$ORIGIN/../../cuda_nvrtc/lib");
  EXPECT_THAT(checked().load_order, IsEmpty());
}

TEST_F(OpenedByName, LdLibraryPathIsNotUsedForTheBuildsOwnFile) {
  lay_out_cuda_11();
  const auto plugin = workshop_.plugin("libengine_x.so");
  Spec spec = build(workshop_, plugin, folders_);
  spec.machine.library_path = {nvrtc_.parent_path().native()};
  spec.machine.library_path_text = nvrtc_.parent_path().native();
  EXPECT_THAT(check(spec).load_order, ElementsAre(nvrtc_));
}

TEST_F(OpenedByName, APartIsMissingUnlessTheLoaderWouldFindItForThisProgram) {
  library("cudnn", "libcudnn.so.9", "-Wl,--disable-new-dtags", "open_part", "libcudnn_elsewhere.so.9");
  folders_ = {"nvidia/cudnn/lib"};
  const auto part = workshop_.library("app/parts/libcudnn_elsewhere.so.9", "int part;\n");
  const auto program = workshop_.path("app/program");
  const auto source = workshop_.file("main.c", "int main(void) { return 0; }\n");
  ASSERT_EQ(faults::shell("gcc -o " + faults::quoted(program) + " " + faults::quoted(source)), 0);
  Spec spec = build(workshop_, workshop_.plugin("libengine_x.so"), folders_);
  spec.machine.program = program;
  const auto judged = [&](std::vector<std::string> library_path) {
    spec.machine.library_path = std::move(library_path);
    return first_code(check(spec));
  };
  EXPECT_EQ(judged({}), "EH-R15");
  EXPECT_EQ(judged({"/none", "$ORIGINAL/parts"}), "EH-R15");
  EXPECT_EQ(judged({"/none", "$ORIGIN/parts"}), "");
  spec.machine.current_directory = part.parent_path();
  EXPECT_EQ(judged({""}), "");
  ASSERT_EQ(faults::shell("gcc -o " + faults::quoted(program) + " " + faults::quoted(source) +
                          " -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/parts'"),
            0);
  EXPECT_EQ(judged({}), "");
}

TEST_F(OpenedByName, ABrokenPartThatNothingNeedsIsNotOpened) {
  lay_out_cuda_11();
  workshop_.cut(nvrtc_, "nvidia/cuda_nvrtc/lib/cut", 4096);
  std::filesystem::rename(workshop_.path("nvidia/cuda_nvrtc/lib/cut"), nvrtc_);
  EXPECT_THAT(checked().load_order, IsEmpty());
}

}  // namespace
}  // namespace enginehost::preflight
