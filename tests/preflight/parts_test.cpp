// Parts that a library opens by name while it runs, compared with what the real loader then opens; and CUDA's
// libraries in one installation or in two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/preflight/real_opener.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class Places : public ::testing::Test {
 protected:
  std::filesystem::path library(const std::string& path, const std::string& flags = {},
                                const std::string& source = "int part(void){return 1;}") {
    const std::string name = std::filesystem::path(path).filename();
    return workshop_.library(path, source, "-Wl,-soname," + name + " " + flags);
  }
  // A library that opens another one by name when open_part() is called.
  std::filesystem::path opener(const std::string& path, const std::string& opens, const std::string& flags) {
    return library(path, flags,
                   "#include <dlfcn.h>\nvoid* open_part(void){return dlopen(\"" + opens + "\", RTLD_NOW);}");
  }
  Report judged(const std::filesystem::path& file, const std::string& library_path = {},
                const std::string& folder_of_system = {}) {
    Spec spec = alone(file);
    spec.machine.library_path.clear();
    if (!library_path.empty()) spec.machine.library_path = {library_path};
    spec.machine.library_path_text = library_path;
    spec.machine.cache = linker::LoaderCache();  // the machine that runs this test may have cuDNN
    if (!folder_of_system.empty()) spec.machine.default_directories.push_back(folder_of_system);
    return check(spec);
  }
  std::string folder(const std::string& name) const { return workshop_.path(name).native(); }

  faults::Workshop workshop_;
  RealOpener real_{workshop_};
};

TEST_F(Places, R16APartFromAnotherFolderIsFoundAsTheLoaderDoes) {
  const auto first = opener("wheel/libcudnn.so.9", "libcudnn_ops.so.9", "-Wl,-rpath,'$ORIGIN'");
  const auto foreign = library("system/libcudnn_ops.so.9");
  // Only the other folder has it: the variable's, and the system's.
  for (const bool by_variable : {true, false}) {
    const Report report = by_variable ? judged(first, folder("system")) : judged(first, "", folder("system"));
    EXPECT_EQ(report.verdict, Verdict::unsure);
    ASSERT_EQ(first_code(report), "EH-R16");
    EXPECT_THAT(report.diagnoses.front().values(Key::library), ElementsAre("libcudnn_ops.so.9"));
    EXPECT_EQ(report.diagnoses.front().value(Key::path), foreign.native());
    EXPECT_EQ(report.diagnoses.front().value(Key::others), first.native());
    EXPECT_EQ(report.diagnoses.front().value(Key::by), by_variable ? "LD_LIBRARY_PATH" : "default");
  }
  EXPECT_EQ(real_.opened_by(first, "open_part", folder("system")), foreign.native());
  // LD_LIBRARY_PATH comes before a RUNPATH, so the library's own copy does not help ...
  library("wheel/libcudnn_ops.so.9");
  EXPECT_EQ(first_code(judged(first, folder("system"))), "EH-R16");
  EXPECT_EQ(real_.opened_by(first, "open_part", folder("system")), foreign.native());
  EXPECT_EQ(judged(first).verdict, Verdict::loads);
  EXPECT_EQ(judged(first, "", folder("system")).verdict, Verdict::loads);
  // ... and after an RPATH.
  const auto by_rpath =
      opener("wheel/libcudnn.so.9", "libcudnn_ops.so.9", "-Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN'");
  EXPECT_EQ(judged(by_rpath, folder("system")).verdict, Verdict::loads);
  EXPECT_THAT(real_.opened_by(by_rpath, "open_part", folder("system")), HasSubstr("wheel/libcudnn_ops.so.9"));
}

TEST_F(Places, R16PartsOfALibraryInTheClosureCount) {
  const auto first = library("wheel/libcudnn.so.9", "-Wl,-rpath,'$ORIGIN'",
                             "const char* names[] = {\"libcudnn_ops.so\", \"libcudnn_cnn.so\"};");
  library("wheel/libcudnn_cnn.so.9");
  library("system/libcudnn_ops.so.9");
  const auto user =
      library("libuser.so", "-Wl,--no-as-needed " + faults::quoted(first) + " -Wl,-rpath,'$ORIGIN/wheel'");
  ASSERT_EQ(first_code(judged(user, folder("system"))), "EH-R16");
  // A part that is nowhere is missing.
  const Report report = judged(user);
  EXPECT_EQ(report.verdict, Verdict::unsure);
  ASSERT_EQ(first_code(report), "EH-R15");
  EXPECT_THAT(report.diagnoses.front().values(Key::library), ElementsAre("libcudnn_ops.so.9"));
}

TEST_F(Places, R16ReleasesAreReadFromNamesAndWheels) {
  const auto release = [&](const std::string& name, const std::string& file, const std::string& link) {
    const auto made = library(file);
    std::filesystem::remove(workshop_.path(link));
    std::filesystem::create_symlink(made, workshop_.path(link));
    return judged(workshop_.path(name), folder("system"));
  };
  const std::string first = "env/nvidia/cudnn/lib/libcudnn.so.9";
  library(first, "-Wl,-rpath,'$ORIGIN'", "const char* names[] = {\"libcudnn_ops.so\"};");
  workshop_.file("env/nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA", "x");
  const std::string link = "system/libcudnn_ops.so.9";
  const Report other = release(first, "system/libcudnn_ops.so.9.19.0", link);
  ASSERT_EQ(first_code(other), "EH-R16");
  EXPECT_EQ(other.diagnoses.front().value(Key::release), "9.1.0.70");
  EXPECT_EQ(other.diagnoses.front().value(Key::release_of_part), "9.19.0");
  EXPECT_THAT(explain::describe(other.diagnoses.front()), HasSubstr("release 9.19.0"));
  // Two copies of one release fit together.
  EXPECT_EQ(release(first, "system/libcudnn_ops.so.9.1.0", link).verdict, Verdict::loads);
  // A wheel that brings a renamed copy.
  const std::string renamed = "env/engine.libs/libcudnn-74a4c495.so.9.1.0";
  library(renamed, "", "const char* names[] = {\"libcudnn_ops.so\"};");
  EXPECT_EQ(first_code(release(renamed, "system/libcudnn_ops.so.9.19.0", link)), "EH-R16");
  EXPECT_EQ(release(renamed, "system/libcudnn_ops.so.9.1.0", link).verdict, Verdict::loads);
}

TEST_F(Places, R20OtherProductsAreAWarning) {
  struct Case {
    const char *product, *library, *text, *part;
  };
  for (const Case& one : {Case{"NVRTC", "libnvrtc.so.13", "failed to open libnvrtc-builtins.so.13.0.",
                               "libnvrtc-builtins.so.13.0"},
                          Case{"TensorRT", "libnvinfer.so.10", "libnvinfer_builder_resource.so.10.7.0",
                               "libnvinfer_builder_resource.so.10.7.0"},
                          Case{"MKL", "libmkl_rt.so.2", "libmkl_core.so.2", "libmkl_core.so.2"},
                          Case{"MKL", "libmkl_core.so.2", "libmkl_def.so.2", "libmkl_def.so.2"}}) {
    const std::string place = std::string("a_") + one.library + "/", other = std::string("b_") + one.library;
    const auto first =
        library(place + one.library, "", "const char* names[] = {\"" + std::string(one.text) + "\"};");
    const auto part = library(other + "/" + one.part);
    const Report report = judged(first, folder(other));
    const Diagnosis* warning = find(report.warnings, "EH-R20");
    ASSERT_NE(warning, nullptr) << one.library;
    EXPECT_EQ(report.verdict, Verdict::loads) << one.library;
    EXPECT_EQ(warning->value(Key::product), one.product);
    EXPECT_EQ(warning->value(Key::path), part.native());
    EXPECT_THAT(explain::describe(*warning), HasSubstr("LD_LIBRARY_PATH"));
    // MKL looks beside itself first, the others where the loader searches.
    library(place + one.part);
    EXPECT_EQ(find(judged(first, folder(other)).warnings, "EH-R20") == nullptr,
              std::string(one.product) == "MKL")
        << one.library;
  }
}

TEST_F(Places, R20CublasAndItsPartMustLieTogether) {
  const auto part = library("env/other/lib/libcublasLt.so.12");
  const auto blas = library("env/nvidia/cublas/lib/libcublas.so.12");
  const auto user = library("env/torch/lib/libuser.so",
                            "-Wl,--no-as-needed " + faults::quoted(blas) + " " + faults::quoted(part) +
                                " -Wl,-rpath,'$ORIGIN/../../nvidia/cublas/lib:$ORIGIN/../../other/lib'");
  const Report report = judged(user);
  EXPECT_EQ(find(report.warnings, "EH-G17"), nullptr);
  ASSERT_NE(find(report.warnings, "EH-R20"), nullptr);
  EXPECT_EQ(find(report.warnings, "EH-R20")->value(Key::product), "cuBLAS");
}

class Wheels : public Places {
 protected:
  // torch/lib/libuser.so, and a wheel's folder for each library, as the index has them; `root` holds all.
  void lay_out(const std::string& root) {
    const auto blas = library(root + "/nvidia/cublas/lib/libcublasLt.so.12");
    const auto nvrtc = library(root + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    user_ = library(root + "/torch/lib/libuser.so",
                    "-Wl,--no-as-needed " + faults::quoted(blas) + " " + faults::quoted(nvrtc) +
                        " -Wl,-rpath,'$ORIGIN/../../nvidia/cublas/lib:$ORIGIN/../../nvidia/cuda_nvrtc/lib'");
  }
  std::filesystem::path user_;
};

TEST_F(Wheels, G17AFolderForEachLibraryIsOneInstallation) {
  for (const std::string root :
       {"env/lib/python3.11/site-packages", "usr/lib/python3/dist-packages", "target"}) {
    lay_out(root);
    EXPECT_TRUE(judged(user_).warnings.empty()) << root;
    // The variable leads to the same installation.
    EXPECT_EQ(find(judged(user_, folder(root + "/nvidia/cublas/lib")).warnings, "EH-G17"), nullptr) << root;
  }
}

TEST_F(Wheels, G17AForeignLibraryIsTheOneThatIsNamed) {
  for (const std::string root : {"env/lib/python3.11/site-packages", "target"}) {
    lay_out(root);
    for (const std::string other :
         {"other/lib/python3.11/site-packages/nvidia/cublas/lib", "toolkit/lib64", "elsewhere"}) {
      const auto foreign = library(other + "/libcublasLt.so.12");
      const Report report = judged(user_, folder(other));
      const Diagnosis* warning = find(report.warnings, "EH-G17");
      ASSERT_NE(warning, nullptr) << root << " " << other;
      EXPECT_THAT(warning->values(Key::path), ElementsAre(foreign.native()));
      EXPECT_THAT(warning->values(Key::library), ElementsAre("libcublasLt.so.12"));
      EXPECT_EQ(warning->value(Key::by), "LD_LIBRARY_PATH");
      EXPECT_THAT(std::string(warning->value(Key::others)), HasSubstr("cuda_nvrtc/lib/libnvrtc.so.12"));
      EXPECT_THAT(explain::describe(*warning), HasSubstr("remove the folder of " + foreign.native()));
    }
  }
}

TEST_F(Wheels, G17ASystemLibraryAndABuildersFolderAreForeign) {
  lay_out("env/lib/python3.11/site-packages");
  const auto system = library("usr/lib/libcublasLt.so.12");
  workshop_.remove(workshop_.path("env/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12"));
  const Report by_system = judged(user_, "", folder("usr/lib"));
  const Diagnosis* warning = find(by_system.warnings, "EH-G17");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::path), system.native());
  EXPECT_EQ(warning->value(Key::by), "default");
  // An absolute path to the environment in which the library was built.
  const auto built = library("build/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12");
  const auto nvrtc = workshop_.path("env/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  const auto user =
      library("env/lib/python3.11/site-packages/torch/lib/libother.so",
              "-Wl,--no-as-needed " + faults::quoted(built) + " " + faults::quoted(nvrtc) + " -Wl,-rpath,'" +
                  built.parent_path().native() + ":$ORIGIN/../../nvidia/cuda_nvrtc/lib'");
  const Report by_path = judged(user);
  warning = find(by_path.warnings, "EH-G17");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::path), built.native());
}

TEST_F(Wheels, G17FoldersOfOneToolkitAreOneInstallation) {
  const auto blas = library("cuda-12.4/lib64/libcublas.so.12");
  const auto cupti = library("cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
  const auto nvrtc = library("cuda-12.4/targets/x86_64-linux/lib/libnvrtc.so.12");
  const auto user =
      library("libuser.so", "-Wl,--no-as-needed " + faults::quoted(blas) + " " + faults::quoted(cupti) + " " +
                                faults::quoted(nvrtc) + " -Wl,--enable-new-dtags -Wl,-rpath," +
                                blas.parent_path().native() + ":" + cupti.parent_path().native() + ":" +
                                nvrtc.parent_path().native());
  EXPECT_TRUE(judged(user).warnings.empty());
  const auto other = library("cuda-12.8/lib64/libcublas.so.12");
  const Report report = judged(user, other.parent_path().native());
  const Diagnosis* warning = find(report.warnings, "EH-G17");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->values(Key::path), ElementsAre(other.native()));
}

// Names as in the files of MKL 2024.1. Any kernel may be the one for this processor; without all of them MKL
// ends the process.
TEST_F(Places, R15MklNeedsOneOfItsKernels) {
  const std::string names =
      "const char* names[] = {\"libmkl_avx2.so.2\", \"libmkl_avx512.so.2\", \"libmkl_def.so.2\", "
      "\"libmkl_mc3.so.2\", \"libmkl_vml_def.so.2\", \"libmkl_gnu_thread.so.2\"};";
  const auto core = library("mkl/libmkl_core.so.2", "", names);
  const auto user =
      library("libuser.so", "-Wl,--no-as-needed " + faults::quoted(core) + " -Wl,-rpath,'$ORIGIN/mkl'");
  const Report report = judged(user);
  EXPECT_EQ(report.verdict, Verdict::unsure);
  ASSERT_EQ(first_code(report), "EH-R15");
  EXPECT_THAT(report.diagnoses.front().values(Key::library), ElementsAre("libmkl_def.so.2"));
  EXPECT_THAT(explain::describe(report.diagnoses.front()),
              HasSubstr("of the very version of libmkl_core itself"));
  for (const char* kernel : {"libmkl_def.so.2", "libmkl_avx2.so.2", "libmkl_mc3.so.2"}) {
    const auto file = library(std::string("mkl/") + kernel);
    EXPECT_EQ(judged(user).verdict, Verdict::loads) << kernel;
    std::filesystem::remove(file);
  }
  library("mkl/libmkl_vml_def.so.2");
  EXPECT_EQ(judged(user).verdict, Verdict::unsure);
}

TEST_F(Places, R15MklsDispatcherNeedsItsCore) {
  const auto file = library("libmkl_rt.so.2", "", "const char* names[] = {\"libmkl_core.so.2\"};");
  ASSERT_EQ(first_code(judged(file)), "EH-R15");
  library("libmkl_core.so.2");
  EXPECT_EQ(judged(file).verdict, Verdict::loads);
}

}  // namespace
}  // namespace enginehost::preflight
