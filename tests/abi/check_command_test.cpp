// engine-plugin-check passes good plugins and names the rule that each hostile plugin breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace {

using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int status = -1;
  std::string text;
};

Outcome run(const std::string& command) {
  Outcome outcome;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.text.append(buffer, got);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

Outcome check(const std::string& plugin, const std::string& more = "") {
  return run(std::string(CHECK_COMMAND) + " '" + plugin + "' " + more);
}

TEST(CheckCommand, PassesTheSample) {
  const Outcome outcome = check(SAMPLE_PLUGIN);
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  EXPECT_THAT(outcome.text, Not(HasSubstr("FAIL")));
  EXPECT_THAT(outcome.text, HasSubstr("ok   file.exports: "));
  EXPECT_THAT(outcome.text, HasSubstr("ok   selftest.2.cpu:0: "));
  EXPECT_THAT(outcome.text, HasSubstr("ok   op.MatMul.cpu:0: "));
  EXPECT_THAT(outcome.text, HasSubstr("ok   unload: 100 times"));
}

TEST(CheckCommand, FailsWhenOutputIsLost) {
  const std::string command = CHECK_COMMAND;
  EXPECT_EQ(run("{ " + command + " --help >/dev/full; }").status, 7);
  EXPECT_EQ(run("{ " + command + " --version >/dev/full; }").status, 7);
  const Outcome checked = run("{ " + command + " '" + SAMPLE_PLUGIN + "' >/dev/full; }");
  EXPECT_EQ(checked.status, 7) << checked.text;
  EXPECT_THAT(checked.text, HasSubstr("could not be written"));
}

TEST(CheckCommand, NamesTheWrongArgumentAndItsVersion) {
  const std::string command = CHECK_COMMAND;
  const auto refused = [&](const std::string& words) {
    const Outcome outcome = run(command + " " + words);
    EXPECT_EQ(outcome.status, 2) << outcome.text;
    return outcome.text.substr(0, outcome.text.find('\n'));
  };
  EXPECT_THAT(refused("x.so --nonsense"), HasSubstr("there is no flag --nonsense"));
  EXPECT_THAT(refused("x.so --timeout"), HasSubstr("--timeout needs a value"));
  EXPECT_THAT(refused("x.so --timeout soon"), HasSubstr("--timeout soon"));
  EXPECT_THAT(refused("x.so --options color"), HasSubstr("color is not KEY=VALUE"));
  EXPECT_THAT(refused("x.so y.so"), HasSubstr("y.so"));
  EXPECT_THAT(refused("x.so --model m"), HasSubstr("--model and --format"));
  EXPECT_THAT(refused(""), HasSubstr("FILE is missing"));
  const Outcome version = run(command + " --version");
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.text, HasSubstr("engine-plugin-check 1."));
}

TEST(Frozen, APluginOfHeader10WorksInTodaysHost) {
  const Outcome outcome = check(SAMPLE_PLUGIN_1_0);
  EXPECT_EQ(outcome.status, 0) << outcome.text;
}

TEST(Frozen, TodaysPluginWorksInAHostOfHeader10) {
  const Outcome outcome = run(std::string(CHECK_COMMAND_1_0) + " '" + SAMPLE_PLUGIN + "'");
  EXPECT_EQ(outcome.status, 0) << outcome.text;
}

TEST(CheckCommand, PassesItsOptionsToCreate) {
  EXPECT_EQ(check(SAMPLE_PLUGIN, "--options threads=2").status, 0);
  const Outcome outcome = check(SAMPLE_PLUGIN, "--options sample.color=red");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.text, HasSubstr("FAIL create: create() returned 1 (INVALID): "));
  EXPECT_THAT(outcome.text, HasSubstr("{option=sample.color}"));
}

TEST(CheckCommand, WrongUsageIsStatus2) {
  EXPECT_EQ(run(CHECK_COMMAND).status, 2);
  EXPECT_EQ(check("/nonexistent/plugin.so").status, 2);
  EXPECT_EQ(check(SAMPLE_PLUGIN, "--options").status, 2);
  EXPECT_EQ(check(SAMPLE_PLUGIN, "--options novalue").status, 2);
  EXPECT_EQ(check(SAMPLE_PLUGIN, "--model x").status, 2);
  EXPECT_EQ(check(SAMPLE_PLUGIN, "--timeout 0").status, 2);
}

TEST(CheckCommand, FailsForAFileThatIsNotALibrary) {
  const Outcome outcome = check("/etc/passwd");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.text, HasSubstr("FAIL file.elf: "));
}

TEST(CheckCommand, ChecksARunWithoutInputsSeparately) {
  const Outcome outcome =
      check(std::string(HOSTILE_DIRECTORY) + "/libhostile_crash_without_inputs.so", "--model x --format any");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.text, HasSubstr("ok   model.load: "));
  EXPECT_THAT(outcome.text, HasSubstr("FAIL model.run_without_inputs: "));
}

TEST(CheckCommand, EndsAForkedChildAndNamesTheCallThatForked) {
  const Outcome outcome = check(std::string(HOSTILE_DIRECTORY) + "/libhostile_forks.so");
  EXPECT_EQ(outcome.status, 1) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("FAIL create: a child that the plugin forked came back from its call"));
  EXPECT_THAT(outcome.text, HasSubstr("FAIL create.repeat: a child"));
  const std::string last = "ok   process.exit: ";
  ASSERT_THAT(outcome.text, HasSubstr(last));
  EXPECT_EQ(outcome.text.find(last), outcome.text.rfind(last)) << "two made the checks:\n" << outcome.text;
}

TEST(CheckCommand, EscapesPluginTextAndKeepsItOnItsLine) {
  const Outcome outcome = check(std::string(HOSTILE_DIRECTORY) + "/libhostile_speaks_to_terminals.so");
  EXPECT_EQ(outcome.status, 1) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("FAIL create: create() returned 3 (UNAVAILABLE): red \\x1b[31m ok   "
                                      "process.exit: \\xff \\x9b end \u00e9\n"));
}

TEST(CheckCommand, NamesNullMembersAndMakesTheOtherChecks) {
  const std::string folder = HOSTILE_DIRECTORY;
  for (const auto& [name, finding] :
       {std::pair("null_facts", "FAIL facts: facts() is NULL, and says that it has 3"),
        std::pair("null_kind", "FAIL device.info: device 0: a string is NULL")}) {
    const Outcome outcome = check(folder + "/libhostile_" + name + ".so");
    EXPECT_EQ(outcome.status, 1) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(finding));
    EXPECT_THAT(outcome.text, HasSubstr("ok   process.exit: "));
    EXPECT_THAT(outcome.text, HasSubstr("\n1 failed.")) << outcome.text;
  }
}

TEST(CheckCommand, LosesNoLineWhenAPluginChangesDescriptors) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const Outcome outcome = check(std::string(HOSTILE_DIRECTORY) + "/libhostile_closes_files.so");
  const Outcome other = check(std::string(HOSTILE_DIRECTORY) + "/libhostile_meddles.so");
  EXPECT_EQ(outcome.status, 1) << outcome.text;
  EXPECT_EQ(lines(outcome.text), lines(other.text)) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("FAIL process.state: standard input was closed"));
  EXPECT_THAT(outcome.text, HasSubstr("1 failed."));
}

struct Hostile {
  const char* name;
  const char* finding;  // the check that must fail
};

class HostilePlugin : public testing::TestWithParam<Hostile> {};

TEST_P(HostilePlugin, IsReportedWithTheRuleItBreaks) {
  const std::string file = std::string(HOSTILE_DIRECTORY) + "/libhostile_" + GetParam().name + ".so";
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = check(file, "--timeout 2");
  EXPECT_EQ(outcome.status, 1) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(std::string("FAIL ") + GetParam().finding + ": ")) << outcome.text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

INSTANTIATE_TEST_SUITE_P(
    All, HostilePlugin,
    testing::Values(
        Hostile{"abi_major_2", "file.abi"}, Hostile{"abort_in_create", "create"},
        Hostile{"abort_in_selftest", "selftest.0.cpu:0"}, Hostile{"answers_every_id", "query.unknown"},
        Hostile{"crash_in_constructor", "load.open"}, Hostile{"crash_in_destroy", "create"},
        Hostile{"crash_on_null_id", "query.null"}, Hostile{"dependency_only", "file.exports"},
        Hostile{"descriptor_in_bss", "file.descriptor"}, Hostile{"extra_exports", "file.exports"},
        Hostile{"closes_stream", "process.state"}, Hostile{"loud_at_end", "process.stdout"},
        Hostile{"meddles", "process.state"}, Hostile{"overruns_info", "device.size"},
        Hostile{"exit_in_constructor", "load.open"}, Hostile{"exit_in_selftest", "selftest.0.cpu:0"},
        Hostile{"failing_selftest", "selftest.2.cpu:0"}, Hostile{"hang_in_constructor", "load.open"},
        Hostile{"hang_in_create", "create"}, Hostile{"hang_in_selftest", "selftest.0.cpu:0"},
        Hostile{"host_minor_too_new", "file.host_minor"}, Hostile{"leaves_thread", "unload"},
        Hostile{"logs_after_destroy", "host.after_destroy"}, Hostile{"own_locale", "process.state"},
        Hostile{"loud", "process.stdout"}, Hostile{"lying_selftest", "op.Add.cpu:0"},
        Hostile{"missing_runtime", "create"}, Hostile{"missing_function", "query.functions"},
        Hostile{"missing_symbol", "file.exports"}, Hostile{"silent_failure", "create"},
        Hostile{"size_too_small", "file.size"}, Hostile{"throw_in_create", "create"},
        Hostile{"wrong_magic", "file.magic"}),
    [](const testing::TestParamInfo<Hostile>& param) { return std::string(param.param.name); });

#ifdef __x86_64__
INSTANTIATE_TEST_SUITE_P(OfThisProcessor, HostilePlugin,
                         testing::Values(Hostile{"flushes_to_zero", "process.state"},
                                         Hostile{"less_precise", "process.state"}),
                         [](const testing::TestParamInfo<Hostile>& param) {
                           return std::string(param.param.name);
                         });
#endif

}  // namespace
