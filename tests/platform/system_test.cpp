// System, libraries, memory, disk, container, WSL, conda, ROCm: read from a folder that stands for "/".
#include <gmock/gmock.h>
#include <gnu/libc-version.h>

#include "host/platform/parts.hpp"
#include "tests/platform/fixtures.hpp"

namespace enginehost::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;

TEST(System, DistributionComesFromOsReleaseWithoutQuotes) {
  FakeRoot machine;
  machine.file("/etc/os-release",
               "PRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\nNAME='Ubuntu'\nVERSION_ID=\"22.04\"\nID=ubuntu\n");
  const auto fact = detect_distribution(machine.root());
  ASSERT_TRUE(fact.is_known());
  EXPECT_EQ(fact.value(), (Distribution{"ubuntu", "Ubuntu 22.04.4 LTS", "22.04"}));
  EXPECT_EQ(fact.source(), "/etc/os-release");
}

TEST(System, OsReleaseIsFollowedThroughAnAbsoluteLinkInsideTheRoot) {
  FakeRoot machine;
  machine.file("/usr/lib/os-release", "ID=alpine\nVERSION_ID=3.20.3\n")
      .link("/etc/os-release", "/usr/lib/os-release");
  EXPECT_EQ(detect_distribution(machine.root()).value().id, "alpine");
}

TEST(System, NoOsReleaseIsUnknownWithTheSearchedPlaces) {
  FakeRoot machine;
  const auto fact = detect_distribution(machine.root());
  EXPECT_TRUE(fact.is_unknown());
  EXPECT_THAT(fact.why(), HasSubstr("/etc/os-release"));
}

TEST(System, TheGlibcVersionIsThatOfThisProcess) {
  const auto fact = detect_libc(Root("/"));
  ASSERT_TRUE(fact.is_known());
  EXPECT_EQ(fact.value(), (Libc{"glibc", ::gnu_get_libc_version()}));
}

TEST(System, MuslIsRecognizedByItsLoaderWithItsVersion) {
  FakeRoot machine;
  machine.file("/lib/ld-musl-x86_64.so.1", "\177ELF..\0001.2\0text\0001.2.5\0more"s);
  const auto fact = detect_libc(machine.root());
  EXPECT_EQ(fact.value(), (Libc{"musl", "1.2.5"}));
  EXPECT_EQ(fact.source(), "/lib/ld-musl-x86_64.so.1");
}

TEST(System, TheRealMuslLoaderReportsItsVersion) {
  const std::string loader = "/lib/ld-musl-x86_64.so.1";
  if (!std::filesystem::exists(loader)) GTEST_SKIP() << "musl is not installed: " << loader;
  FakeRoot machine;
  machine.copy(loader, loader);
  EXPECT_THAT(detect_libc(machine.root()).value().version, ::testing::MatchesRegex("1\\.[0-9]+\\.[0-9]+"));
}

TEST(System, LibstdcxxHasTheNewestVersionsItDefines) {
  const Root root("/");
  const auto fact = detect_libstdcxx(root, LibrarySearch(root));
  ASSERT_TRUE(fact.is_known()) << fact.why();
  EXPECT_THAT(fact.value().path, HasSubstr("libstdc++.so.6"));
  EXPECT_THAT(fact.value().glibcxx, ::testing::StartsWith("3.4."));
  EXPECT_THAT(fact.value().cxxabi, ::testing::StartsWith("1.3."));
  EXPECT_GE(std::stoi(fact.value().glibcxx.substr(4)), 19);
}

TEST(System, AnEmptyMachineHasNoLibstdcxxAndNamesThePlaces) {
  FakeRoot machine;
  const auto fact = detect_libstdcxx(machine.root(), LibrarySearch(machine.root()));
  EXPECT_TRUE(fact.is_absent());
  EXPECT_THAT(fact.source(), HasSubstr("/usr/lib"));
}

constexpr const char* meminfo = "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    8192 kB\n";

TEST(Memory, ComesFromMeminfoWhenNothingLimitsIt) {
  FakeRoot machine;
  machine.file("/proc/meminfo", meminfo).file("/proc/self/cgroup", "0::/user.slice\n");
  machine.file("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  EXPECT_EQ(detect_memory(machine.root()).value(), (platform::Memory{16384 * 1024, 8192 * 1024}));
}

TEST(Memory, ALimitOfAParentGroupCounts) {
  FakeRoot machine;
  machine.file("/proc/meminfo", meminfo).file("/proc/self/cgroup", "0::/pod/one\n");
  machine.file("/sys/fs/cgroup/pod/memory.max", "4194304\n")
      .file("/sys/fs/cgroup/pod/memory.current", "3145728\n");
  machine.file("/sys/fs/cgroup/pod/memory.stat", "anon 5\ninactive_file 1048576\n");
  machine.file("/sys/fs/cgroup/pod/one/memory.max", "max\n");
  const auto fact = detect_memory(machine.root());
  EXPECT_EQ(fact.value(), (platform::Memory{4194304, 2097152}));
  EXPECT_THAT(fact.source(), HasSubstr("/sys/fs/cgroup/pod/memory.max"));
}

TEST(Memory, AVersionOneLimitCountsUnderAPathOfTheHost) {
  FakeRoot machine;
  machine.file("/proc/meminfo", meminfo)
      .file("/proc/self/cgroup", "5:cpu:/docker/abc\n4:memory:/docker/abc\n0::/\n");
  machine.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2097152\n");
  machine.file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\n");
  EXPECT_EQ(detect_memory(machine.root()).value(), (platform::Memory{2097152, 1048576}));
}

TEST(Disk, OfAMissingFolderIsItsParents) {
  FakeRoot machine;
  const auto fact = detect_disk(machine.on_disk("/cache/not/yet"));
  ASSERT_TRUE(fact.is_known()) << fact.why();
  EXPECT_EQ(fact.value().folder, machine.on_disk("/cache/not/yet").native());
  EXPECT_GT(fact.value().total, 0u);
  EXPECT_GE(fact.value().total, fact.value().free);
  EXPECT_THAT(fact.source(), HasSubstr(machine.path().native()));
}

TEST(Disk, NoexecIsDetected) {
  // /proc is usually mounted noexec.
  const auto fact = detect_disk("/proc");
  ASSERT_TRUE(fact.is_known());
  std::ifstream mounts("/proc/mounts");
  const std::string text{std::istreambuf_iterator<char>(mounts), {}};
  const std::size_t at = text.find(" /proc proc ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(fact.value().noexec,
            text.substr(at, text.find('\n', at) - at).find("noexec") != std::string::npos);
}

TEST(Container, MarksOfEachManagerAreRecognized) {
  const Variable kubernetes("KUBERNETES_SERVICE_HOST", nullptr), apptainer("APPTAINER_CONTAINER", nullptr),
      singularity("SINGULARITY_CONTAINER", nullptr);
  FakeRoot docker, podman, nspawn, pod, none;
  docker.file("/.dockerenv", "");
  podman.file("/run/.containerenv", "engine=\"podman\"\n");
  nspawn.file("/run/systemd/container", "systemd-nspawn\n");
  pod.file("/proc/1/cgroup", "0::/kubepods/besteffort/pod1\n");
  none.file("/proc/1/cgroup", "0::/init.scope\n");
  EXPECT_EQ(detect_container(docker.root()).value(), "docker");
  EXPECT_EQ(detect_container(podman.root()).value(), "podman");
  EXPECT_EQ(detect_container(nspawn.root()).value(), "systemd-nspawn");
  EXPECT_EQ(detect_container(pod.root()).value(), "kubernetes");
  EXPECT_TRUE(detect_container(none.root()).is_absent());
}

TEST(Container, FlatpakAndSnapsWithConfinementAreRecognized) {
  FakeRoot flatpak, snap;
  flatpak.file("/.flatpak-info", "[Application]\nname=org.example.App\n");
  EXPECT_EQ(detect_container(flatpak.root()).value(), "flatpak");
  snap.file("/snap/app/27/meta/snap.yaml", "name: app\nconfinement: strict\n");
  snap.file("/snap/devmode/1/meta/snap.yaml", "name: devmode\n");
  snap.file("/snap/code/3/meta/snap.yaml", "name: code\nconfinement: classic\n");
  const auto within = [&](const char* folder) {
    const Variable variable("SNAP", folder);
    return detect_container(snap.root());
  };
  EXPECT_EQ(within("/snap/app/27").value(), "snap");
  EXPECT_EQ(within("/snap/app/27").source(), "SNAP, /snap/app/27/meta/snap.yaml");
  EXPECT_EQ(within("/snap/devmode/1").value(), "snap") << "strict is the default";
  for (const char* other : {"/snap/code/3", "/snap/gone/1", "relative", ""})
    EXPECT_TRUE(within(other).is_absent()) << other;
  EXPECT_TRUE(within(nullptr).is_absent());
}

TEST(Container, TheVariableOfAPodWinsOverTheRuntimesMark) {
  const Variable kubernetes("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  FakeRoot machine;
  machine.file("/.dockerenv", "");
  EXPECT_EQ(detect_container(machine.root()).value(), "kubernetes");
}

TEST(Wsl, IsRecognizedByTheKernelsName) {
  const auto of = [](const char* release) { return detect_wsl(Fact<std::string>::known(release, "uname")); };
  EXPECT_EQ(of("5.15.153.1-microsoft-standard-WSL2").value(), "2");
  EXPECT_EQ(of("4.4.0-19041-Microsoft").value(), "1");
  EXPECT_TRUE(of("6.1.0-18-amd64").is_absent());
  EXPECT_TRUE(detect_wsl(Fact<std::string>::unknown("no /proc")).is_unknown());
}

TEST(Conda, IsTheActivatedEnvironment) {
  const Variable prefix("CONDA_PREFIX", "/opt/conda/envs/ml"), name("CONDA_DEFAULT_ENV", "ml");
  EXPECT_EQ(detect_conda().value(), (platform::Conda{"/opt/conda/envs/ml", "ml"}));
}

TEST(Conda, IsAbsentWhenNoneIsActivated) {
  const Variable prefix("CONDA_PREFIX", nullptr);
  EXPECT_TRUE(detect_conda().is_absent());
}

TEST(Rocm, VersionAndDevicesAreSeparateFacts) {
  FakeRoot machine;
  machine.file("/opt/rocm/.info/version", "6.2.0-66\n");
  machine.file("/sys/class/kfd/kfd/topology/nodes/0/properties",
               "cpu_cores_count 16\ngfx_target_version 0\n");
  machine.file("/sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 110000\n");
  machine.file("/sys/class/kfd/kfd/topology/nodes/2/properties", "gfx_target_version 90010\n");
  const auto fact = detect_rocm(machine.root());
  ASSERT_TRUE(fact.is_known());
  EXPECT_EQ(fact.value().version, "6.2.0");
  EXPECT_THAT(fact.value().gfx, ElementsAre("gfx1100", "gfx90a"));
  EXPECT_THAT(fact.value().nodes, ElementsAre(1, 2));
}

TEST(Rocm, DevicesAreInTheOrderOfTheirNumbers) {
  FakeRoot machine;
  for (const auto& [node, version] : {std::pair("10", "100301"), {"2", "110000"}, {"9", "90010"}})
    machine.file(std::string("/sys/class/kfd/kfd/topology/nodes/") + node + "/properties",
                 std::string("gfx_target_version ") + version + "\n");
  EXPECT_THAT(detect_rocm(machine.root()).value().gfx, ElementsAre("gfx1100", "gfx90a", "gfx1031"));
  EXPECT_THAT(detect_rocm(machine.root()).value().nodes, ElementsAre(2, 9, 10));
}

TEST(Rocm, IsAbsentWithoutItsFolderAndDevices) {
  FakeRoot machine;
  EXPECT_TRUE(detect_rocm(machine.root()).is_absent());
}

TEST(Job, TheSchedulerIsKnownByItsVariable) {
  const Variable slurm("SLURM_JOB_ID", nullptr), pbs("PBS_JOBID", nullptr), lsf("LSB_JOBID", nullptr);
  EXPECT_TRUE(detect_job().is_absent());
  for (const auto& [name, scheduler] :
       {std::pair{"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}}) {
    {
      const Variable job(name, "4711");
      EXPECT_EQ(detect_job().value(), scheduler);
      EXPECT_EQ(detect_job().source(), name);
    }
    const Variable empty(name, "");
    EXPECT_TRUE(detect_job().is_absent()) << name;
  }
}

TEST(LoaderEnvironment, HoldsOnlyVariablesThatChangeLoading) {
  const Variable preload("LD_DEBUG_OUTPUT", "/tmp/x"), secret("MY_TOKEN", "secret"),
      cuda("CUDA_VISIBLE_DEVICES", "0");
  const auto fact = detect_loader_environment();
  ASSERT_TRUE(fact.is_known());
  EXPECT_THAT(fact.value(),
              ::testing::Contains(std::pair<std::string, std::string>("LD_DEBUG_OUTPUT", "/tmp/x")));
  EXPECT_THAT(fact.value(),
              ::testing::Contains(std::pair<std::string, std::string>("CUDA_VISIBLE_DEVICES", "0")));
  for (const auto& [name, value] : fact.value()) EXPECT_NE(name, "MY_TOKEN");
}

TEST(LoaderEnvironment, HoldsTheNumbersOfThreads) {
  for (const char* name :
       {"OMP_NUM_THREADS", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
        "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "LD_PRELOAD", "ROCR_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION_1"}) {
    const Variable variable(name, "1");
    EXPECT_THAT(detect_loader_environment().value(),
                ::testing::Contains(std::pair<std::string, std::string>(name, "1")));
  }
}

TEST(RootFolder, LinkLoopsAndEscapesEndInside) {
  FakeRoot machine;
  machine.link("/a", "/b").link("/b", "/a").link("/up", "../../../../etc/hostname-of-the-root");
  machine.file("/etc/hostname-of-the-root", "inside");
  EXPECT_FALSE(machine.root().resolve("/a").has_value());
  EXPECT_EQ(machine.root().resolve("/up"), "/etc/hostname-of-the-root");
  EXPECT_EQ(machine.root().read("/up"), "inside");
}

}  // namespace
}  // namespace enginehost::platform
