// EH-L19 to L28: the build is whole and its libraries fit together, but a limit, a mount, a policy or the
// processor keeps it from being mapped.
#include <gmock/gmock.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/version.hpp"
#include "tests/end-to-end/arrays.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

const std::string special = "libspecial.so";

TestBuild with_special(const std::string& source, std::vector<std::string> flags = {}) {
  flags.push_back("-Wl,-soname," + special);
  return with_library(special, compile_library(source, flags));
}

TEST(ConfinedFaults, ReportsL19ForTooMuchStaticThreadLocalStorage) {
  expect_fault({with_special("__thread char large[65536] __attribute__((tls_model(\"initial-exec\")));\n"
                             "char* use(void);\nchar* use(void) { return large; }\n"),
                "EH-L19",
                {special, "65536", "GLIBC_TUNABLES"}});
}

TEST(ConfinedFaults, ReportsL20ForARefusedExecutableStack) {
  const TestBuild build = with_special("int x;\n", {"-Wl,-z,execstack"});
  for (const std::string rule : {"no-executable-stack", "no-write-exec"}) {
    if (!can_confine(rule)) GTEST_SKIP() << "this kernel has no rule " << rule;
    expect_fault_where({build, "EH-L20", {special}}, [&](const fs::path&) { return confined(rule); });
  }
}

TEST(ConfinedFaults, L20WarnsWhereAnExecutableStackIsAllowed) {
  const TemporaryFolder folder;
  TestRepository repository(folder / "repository");
  repository.add(with_special("int x;\n", {"-Wl,-z,execstack"}));
  repository.write();
  const Ended run = Workplace().info({"reference", "--repository", repository.root().native(), "--json"});
#ifdef __GLIBC__
  if (compare_versions(::gnu_get_libc_version(), "2.41") >= 0) {  // forbids it everywhere
    EXPECT_EQ(run.code(), "EH-L20") << run.said();
    GTEST_SKIP() << "glibc " << ::gnu_get_libc_version() << " makes no stack executable: it was refused";
  }
#endif
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.document["warnings"].dump(), testing::HasSubstr("EH-L20"));
}

TEST(ConfinedFaults, ReportsL21ForRefusedTextRelocations) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the library is written in x86-64 assembler";
#endif
  if (!can_confine("no-write-exec")) GTEST_SKIP() << "this kernel has no rule against writable code";
  expect_fault_where(
      {with_special("int value;\n__asm__(\".text\\nchanged: .quad value\\n\");\n", {"-Wl,-z,notext"}),
       "EH-L21",
       {special}},
      [](const fs::path&) { return confined("no-write-exec"); });
}

// The limit is the process's: nothing is remembered against the build and no other one is fetched. One that
// is installed opens.
TEST(ConfinedFaults, ReportsL23WithTheAddressSpaceLimitAndTheSizeNeeded) {
  const TestBuild large = with_special("char large[2000000000];\n");
  RunOptions limited;
  limited.launcher = {"sh", "-c", "ulimit -v 1500000 && exec \"$@\"", "sh"};
  for (const bool another_is_installed : {false, true}) {
    const Workplace workplace;
    TestRepository repository(workplace.folder() / "repository");
    repository.add(large);
    repository.add(good_build());
    repository.write();
    const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
    std::vector<std::string> fetch = open;
    fetch.insert(fetch.begin(), "fetch");
    ASSERT_EQ(workplace.run("engine-cache", fetch).status, 0);
    fetch.insert(fetch.end(), {"--flavor", "cpu"});
    if (another_is_installed) ASSERT_EQ(workplace.run("engine-cache", fetch).status, 0);
    const Ended run = workplace.info(open, limited);
    const Json& refused = run.candidate(large.id)["diagnosis"];
    EXPECT_EQ(refused["code"].as_string(), "EH-L23") << run.said();
    for (const std::string& named : {std::string("RLIMIT_AS"), special})
      EXPECT_NE(refused.dump().find(named), std::string::npos) << run.said();
    EXPECT_EQ(run.status, another_is_installed ? 0 : exit_status_of("EH-L23")) << run.said();
    EXPECT_EQ(run.candidate("reference-good")["verdict"].as_string(),
              another_is_installed ? "chosen" : "fits");
    EXPECT_EQ(workplace.info(open).outcome()["build"].as_string(), large.id) << "without the limit";
  }
}

TEST(ConfinedFaults, ReportsL24WithTheFileThatMayNotBeMappedAsCode) {
  if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
  const TestBuild build = with_special("int x;\n");
  for (const std::string error : {"EPERM", "EACCES"})
    expect_fault_where({build, "EH-L24", {special}}, [&](const fs::path& view) {
      return with_failing_call("mmap", error, view / "lib" / special);
    });
}

TEST(ConfinedFaults, ReportsL24WithTheFileThatMayNotBeOpened) {
  if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
  expect_fault_where({with_special("int x;\n"), "EH-L24", {special}}, [](const fs::path& view) {
    return with_failing_call("openat", "EPERM", view / "lib" / special);
  });
}

TEST(ConfinedFaults, ReportsL26AsTransientForAFileThatCannotBeReadNow) {
  if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
  expect_fault_where({with_special("int x;\n"), "EH-L26", {special}}, [&](const fs::path& view) {
    return with_failing_call("openat", "EIO", view / "lib" / special);
  });
}

TEST(ConfinedFaults, NoOtherBuildIsFetchedWithoutADescriptor) {
  if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(with_special("int x;\n"));
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  std::vector<std::string> fetch = open;
  fetch.insert(fetch.begin(), "fetch");
  const Ended fetched = workplace.run("engine-cache", fetch);
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  const fs::path view = fetched.document["fetched"].as_array().front()["folder"].as_string();
  RunOptions options;
  options.launcher = with_failing_call("openat", "EMFILE", view / "lib" / special);
  const Ended run = workplace.info(open, options);
  EXPECT_EQ(run.code(), "EH-L26") << run.said();
  EXPECT_EQ(run.candidate("reference-good")["verdict"].as_string(), "fits") << run.said();
}

TEST(ConfinedFaults, ReportsL25ForAFileWithoutReadPermission) {
  if (::geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
  expect_fault_where({with_special("int x;\n"), "EH-L25", {special}},
                     [](const fs::path& view) -> std::vector<std::string> {
                       // Root bypasses every permission; without the capability it is a user like others.
                       fs::permissions(view / "lib" / special, fs::perms::none);
                       return {"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"};
                     });
}

TEST(ConfinedFaults, ReportsL27ForALibraryForNewerProcessors) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "levels of processors are an x86-64 matter";
#endif
  ChildRequest request;
  request.argv = {"qemu-x86_64", "-cpu", "Nehalem", "/bin/true"};
  const auto child = run_child(request);
  if (!child || !child->succeeded()) GTEST_SKIP() << "qemu-user is not installed";
  expect_fault_where(
      {with_special("int x;\n", {"-Wl,-z,x86-64-v3"}), "EH-L27", {special, "x86-64-v3", "x86-64-v2"}},
      [&](const fs::path&) -> std::vector<std::string> {
        return {"qemu-x86_64", "-cpu", "Nehalem"};
      });
}

TEST(ConfinedFaults, ReportsL27ForAnUnknownProcessorLevel) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "levels of processors are an x86-64 matter";
#endif
  // The note's value is a set of bits; the loader refuses one that it does not know.
  std::string bytes = compile_library("int x;\n", {"-Wl,-z,x86-64-v4", "-Wl,-soname," + special});
  const std::string property("\x02\x80\x00\xc0\x04\x00\x00\x00",
                             8);  // GNU_PROPERTY_X86_ISA_1_NEEDED, 4 bytes
  const std::size_t at = bytes.find(property);
  ASSERT_NE(at, std::string::npos);
  bytes[at + property.size()] = 0x10;
  expect_fault({with_library(special, bytes), "EH-L27", {special}});
}

TEST(ConfinedFaults, ReportsL28ForALibraryBuiltForMusl) {
  const TemporaryFolder folder;
  write_text(folder / "special.c", "#include <stdlib.h>\nvoid* use(void) { return malloc(1); }\n");
  ChildRequest request;
  request.argv = {
      "musl-gcc", "-shared", "-fPIC", (folder / "special.c").native(), "-o", (folder / special).native()};
  const auto child = run_child(request);
  if (!child || !child->succeeded()) GTEST_SKIP() << "musl-tools are not installed";
  expect_fault({with_library(special, read_text(folder / special)), "EH-L28", {special, "musl"}});
}

TEST(ConfinedFaults, ReportsL33ForATooLongPath) {
  const Workplace workplace;
  const std::string name(300, 'x');
  const Ended run = workplace.info({"--inspect", (workplace.folder() / name).native(), "--json"});
  EXPECT_EQ(run.code(), "EH-L33") << run.said();
  EXPECT_EQ(run.status, 2) << run.said();
}

TEST(ConfinedFaults, ReportsF17ForAFileSizeLimitAndLeavesNoPartialFile) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  RunOptions options;
  options.launcher = {"sh", "-c", "ulimit -f 10 && exec \"$@\"", "sh"};
  const Ended run = workplace.info(open, options);
  EXPECT_EQ(run.code(), "EH-F17") << run.said();
  EXPECT_EQ(run.status, 7) << run.said();
  EXPECT_EQ(workplace.info(open).status, 0);
}

// By default the system ends the command with a signal, without a message.
TEST(ConfinedFaults, F17EndsNoCommandByASignal) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  ASSERT_EQ(workplace.info(open).status, 0);
  RunOptions limited;
  limited.launcher = {"sh", "-c", "ulimit -f 0 && exec \"$@\"", "sh"};
  // An installed build opens, although nothing can be recorded about it.
  const Ended again = workplace.info(open, limited);
  EXPECT_EQ(again.status, 0) << again.said();
  EXPECT_EQ(again.outcome()["state"].as_string(), "opened") << again.said();
  const fs::path file = workplace.folder() / "written";
  for (const auto& [command, arguments] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"engine-cache", {"export", file.native(), good_build().id, "--json"}},
           {"engine-cache",
            {"request", file.native(), "reference", "--repository", repository.root().native(), "--json"}},
           {"engine-manifest", {"init", file.native(), "--name", "x", "--json"}}}) {
    const Ended run = workplace.run(command, arguments, limited);
    EXPECT_EQ(run.code(), "EH-F17") << command << arguments[0] << run.said();
    EXPECT_EQ(run.status, 7) << command << arguments[0] << run.said();
    EXPECT_THAT(run.said(), testing::HasSubstr("ulimit -f unlimited"));
  }
  RunOptions printing = limited;
  printing.launcher[2] = "ulimit -f 0 && exec \"$@\" > " + (workplace.folder() / "printed").native();
  const Ended printed = workplace.info({}, printing);
  EXPECT_EQ(printed.status, 7) << printed.said();
  EXPECT_THAT(printed.error, testing::HasSubstr("EH-P50")) << printed.said();
}

// Includes output that is longer than a stream's buffer, because the stream has lost the error by the end.
TEST(ConfinedFaults, P50NamesTheOutputFileItsSizeAndTheRemedy) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  for (int number = 100; number < 220; ++number)
    repository.add(good_build("reference-good-" + std::to_string(number)));
  repository.write();
  const fs::path file = workplace.folder() / "printed";
  std::vector<std::string> plan = {"reference", "--plan", "--explain", "--repository",
                                   repository.root().native()};
  RunOptions limited;
  limited.launcher = {"sh", "-c", "ulimit -f 8 && exec \"$@\" > " + file.native(), "sh"};
  RunOptions full;
  full.launcher = {"sh", "-c", "exec \"$@\" > /dev/full", "sh"};
  ASSERT_GT(workplace.info(plan).output.size(), 9'000u);
  for (const char* flag : {"--verbose", "--json=true"}) {
    plan.push_back(flag);
    const Ended run = workplace.info(plan, limited);
    EXPECT_EQ(run.status, 7) << flag << run.said();
    EXPECT_THAT(run.error, testing::HasSubstr("EH-P50")) << flag;
    EXPECT_THAT(run.error,
                testing::HasSubstr("written to " + file.native() + ": File too large; it has 4.0 KiB"))
        << flag;
    EXPECT_THAT(run.error, testing::HasSubstr("ulimit -f unlimited")) << flag;
    const Ended on_full = workplace.info(plan, full);
    EXPECT_EQ(on_full.status, 7) << flag << on_full.said();
    EXPECT_THAT(on_full.error,
                testing::HasSubstr("standard output could not be written: No space left on device"))
        << flag;
  }
}

TEST(ConfinedFaults, F17NamesTheResultFileItsSizeAndTheRemedy) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string input = (workplace.folder() / "x.npy").native();
  write_array(input, "(400, 2)", std::vector<float>(800, 1.0f));
  const fs::path results = workplace.folder() / "results";
  std::vector<std::string> arguments = {"reference",    source_path("/examples/two-layers.model"),
                                        "--input",      "x=" + input,
                                        "--output",     results.native(),
                                        "--repository", repository.root().native()};
  const Ended free = workplace.run("engine-run", arguments);
  ASSERT_EQ(free.status, 0) << free.said();
  fs::remove_all(results);
  RunOptions limited;
  limited.launcher = {"sh", "-c", "ulimit -f 2 && exec \"$@\"", "sh"};
  const Ended run = workplace.run("engine-run", arguments, limited);
  EXPECT_EQ(run.status, 7) << run.said();
  EXPECT_THAT(run.error, testing::HasSubstr("EH-F17")) << run.said();
  EXPECT_THAT(run.error,
              testing::ContainsRegex("results/.*[.]npy needs .*, and this process may write files of "
                                     "at most 1.0 KiB"));
  EXPECT_THAT(run.error, testing::HasSubstr("ulimit -f unlimited"));
  EXPECT_TRUE(fs::is_empty(results)) << "nothing half";
}

// As every command in a pipe: silent, and ended by the signal.
TEST(ConfinedFaults, AClosedPipeEndsTheCommandSilently) {
  const Workplace workplace;
  RunOptions cut;
  cut.launcher = {"sh", "-c", "{ sleep 0.2; \"$@\"; echo $? >&2; } | true", "sh"};
  const Ended run = workplace.info({}, cut);
  EXPECT_EQ(run.error, "141\n") << run.said();
}

}  // namespace
}  // namespace enginehost::test
