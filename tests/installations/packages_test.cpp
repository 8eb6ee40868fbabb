#include "host/installations/parts.hpp"

#include <gmock/gmock.h>

#include "tests/installations/environments.hpp"

namespace enginehost::installations {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class Packages : public test::Environments {};

TEST_F(Packages, OfPythonHaveTheVersionOfTheirHeaderNotOfTheirText) {
  make_package("site", "torch", "2.0.1+cu118");
  const auto found = python_packages(folder() / "site", {"torch"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].version, "2.0.1+cu118");
  EXPECT_EQ(without_local_part(found[0].version), "2.0.1");
}

TEST_F(Packages, AreComparedAsTheIndexComparesNames) {
  make_package("site", "Onnxruntime_GPU", "1.22.0");
  make_package("site", "nvidia.cuda.runtime.cu12", "12.4.127");
  make_package("site", "torchvision", "0.15");
  EXPECT_THAT(python_packages(folder() / "site", {"onnxruntime-gpu", "torch"}),
              ElementsAre(Field(&Package::version, "1.22.0")));
  EXPECT_THAT(python_packages(folder() / "site", {"nvidia-cuda-runtime-cu*"}),
              ElementsAre(Field(&Package::version, "12.4.127")));
}

TEST_F(Packages, OfCondaAreReadFromTheirRecords) {
  make_conda_record("env", "pytorch-cpu", "2.1.0");
  make_conda_record("env", "pytorch-mutex", "1.0");
  write("env/conda-meta/pytorch-1.0-h_0.json", "{ not json");
  EXPECT_THAT(conda_packages(folder() / "env", {"pytorch", "pytorch-cpu"}),
              ElementsAre(Field(&Package::version, "2.1.0")));
}

TEST_F(Packages, OfDebianHaveTheInstalledUpstreamVersion) {
  write(
      "var/lib/dpkg/status",
      "Package: libc6\nStatus: install ok installed\nVersion: 2.36-9\n\n"
      "Package: libtorch-dev\nStatus: install ok installed\nVersion: 9.9-1\n\n"
      "Package: libtorch1.12\nStatus: deinstall ok config-files\nVersion: 1.12.1-1\n\n"
      "Package: libtorch1.13\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:1.13.1+dfsg-4\n");
  const auto package = debian_package("libtorch", folder());
  ASSERT_TRUE(package);
  EXPECT_EQ(package->name, "libtorch1.13");
  EXPECT_EQ(package->version, "1.13.1");
  EXPECT_FALSE(debian_package("libmxnet", folder()));
}

TEST_F(Packages, TextsThatPythonFilesAssignAreRead) {
  const auto file =
      write("version.py",
            "from typing import Optional\n__all__ = ['__version__']\n__version__ = '2.0.1+cu117'\n"
            "cuda: Optional[str] = \"11.7\"\nhip: Optional[str] = None\n");
  EXPECT_EQ(assigned_text(file, "__version__"), "2.0.1+cu117");
  EXPECT_EQ(assigned_text(file, "cuda"), "11.7");
  EXPECT_EQ(assigned_text(file, "hip"), std::nullopt);
  EXPECT_EQ(assigned_text(file, "git_version"), std::nullopt);
}

TEST_F(Packages, ThatAreMissingAreNoError) {
  EXPECT_THAT(python_packages(folder() / "none", {"torch"}), IsEmpty());
  EXPECT_THAT(conda_packages(folder() / "none", {"torch"}), IsEmpty());
  EXPECT_FALSE(debian_package("libtorch", folder() / "none"));
}

}  // namespace
}  // namespace enginehost::installations
