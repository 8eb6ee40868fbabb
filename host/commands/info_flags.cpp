#include "host/commands/info_flags.hpp"

#include <CLI/CLI.hpp>

#include "host/commands/request_args.hpp"

namespace enginehost::commands {
namespace {

constexpr const char* program = "engine-info";

struct GivenFlags {
  const char* flag;
  bool given;
};

// Returns "A and B" for the first two given flags of a list whose members exclude each other.
std::string both_of(std::initializer_list<GivenFlags> all) {
  std::string first;
  for (const GivenFlags& one : all) {
    if (!one.given) continue;
    if (!first.empty()) return first + " and " + one.flag;
    first = one.flag;
  }
  return {};
}

std::string first_of(std::initializer_list<GivenFlags> all) {
  for (const GivenFlags& one : all)
    if (one.given) return one.flag;
  return {};
}

std::string problem_of(const InfoFlags& flags) {
  const bool engine = !flags.engine.empty(), plugin = !flags.plugin.empty();
  const bool recorded = !flags.platform_file.empty(), inspect = !flags.inspect.empty();
  const bool codes = !flags.codes.empty();
  if (const std::string both = both_of({{"ENGINE", engine},
                                        {"--plugin", plugin},
                                        {"--platform-json", flags.platform_json},
                                        {"--installations", flags.installations},
                                        {"--inspect", inspect},
                                        {"--code", codes}});
      !both.empty())
    return both + " ask for different answers: give one of them";
  if (const std::string flag = first_of({{"--flavor", !flags.flavor.empty()},
                                         {"--require", !flags.require.empty()},
                                         {"--force", !flags.force.empty()},
                                         {"--plan", flags.plan},
                                         {"--explain", flags.explain}});
      !flag.empty() && plugin)
    return flag + " chooses among builds, and --plugin names the file to open: leave one of them out";
  if (const std::string flag = first_of({{"--flavor", !flags.flavor.empty()},
                                         {"--require", !flags.require.empty()},
                                         {"--device", !flags.device.empty()},
                                         {"--force", !flags.force.empty()},
                                         {"--plan", flags.plan},
                                         {"--explain", flags.explain},
                                         {"--self-test", flags.self_test},
                                         {"--bench", flags.bench},
                                         {"--no-probe", flags.no_probe}});
      !flag.empty() && !engine && !plugin)
    return flag + " is about an engine, and none is named: engine-info ENGINE " + flag;
  if (flags.symbols && !inspect) return "--symbols is about the file of --inspect, which is not given";
  if (const std::string mode = first_of({{"--plugin opens a file on", plugin},
                                         {"--installations are those of", flags.installations},
                                         {"--code says the same for", codes}});
      !mode.empty() && recorded)
    return mode + " this machine, and --platform names another one: leave one of them out";
  if (const std::string flag = first_of(
          {{"--self-test", flags.self_test}, {"--bench", flags.bench}, {"--no-probe", flags.no_probe}});
      !flag.empty() && (flags.plan || recorded))
    return flag + " needs an open engine, and " + (flags.plan ? "--plan" : "--platform") +
           " only decides: leave one of them out";
  return {};
}

}  // namespace

void add_flags(CLI::App& app, InfoFlags& flags) {
  app.name("engine-info");
  app.add_option("ENGINE[@VERSION]", flags.engine,
                 "the engine to open, as an application would; @2.0 is the newest 2.0.x");
  const char* group = "Choosing";
  app.add_option("--flavor", flags.flavor, "prefer a flavor: cpu, cu118, mps, ... [env: ENGINEHOST_FLAVOR]")
      ->type_name("FLAVOR")
      ->group(group);
  app.add_option("--require", flags.require, "this flavor or an error: no fallback")
      ->type_name("FLAVOR")
      ->group(group);
  app.add_option("--device", flags.device,
                 "the device that must be opened: cuda:0, mps, gpu (any), ...; \"cuda:0,cpu\" allows cpu "
                 "instead [env: ENGINEHOST_DEVICE]")
      ->type_name("DEVICE")
      ->group(group);
  add_force(app, flags.force, group);
  app.add_flag("--plan", flags.plan, "decide only: download nothing, load nothing")->group(group);
  app.add_flag("--explain", flags.explain,
               "show every candidate with every requirement, what was observed, and where")
      ->group(group);
  app.add_option("--platform", flags.platform_file,
                 "decide for a recorded machine (implies --plan); with --inspect: check for that machine")
      ->type_name("FILE")
      ->group(group);
  group = "Trying it";
  app.add_flag("--self-test", flags.self_test, "run the engine's self-test on each device")->group(group);
  CLI::Option* const bench =
      app.add_flag("--bench", flags.bench, "time an add and a matmul on each device against cpu")
          ->group(group);
  app.add_option("--plot", flags.plot,
                 "with --bench: draw the figures into FILE.png or FILE.svg (needs gnuplot)")
      ->type_name("FILE")
      ->group(group)
      ->needs(bench);
  app.add_option("--plugin", flags.plugin, "open a plugin file without a manifest, for engine authors")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--no-probe", flags.no_probe, "load in this process at once, without a child process first")
      ->group(group);
  group = "Other questions";
  app.add_option("--inspect", flags.inspect, "check any shared library without loading it")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--symbols", flags.symbols,
               "with --inspect: list each undefined symbol and count it as a failure")
      ->group(group);
  app.add_option("--code", flags.codes, "what failure codes mean and how they are repaired: EH-L01, l01")
      ->delimiter(',')
      ->type_name("CODE")
      ->group(group);
  app.add_flag("--installations", flags.installations,
               "engines that other software installed here, and which can be opened in place")
      ->group(group);
  app.add_flag("--platform-json", flags.platform_json, "print this machine as a file for --platform")
      ->group(group);
  flags.common.add_to(app);
}

Result<resolve::Request> checked(const InfoFlags& flags) {
  if (const std::string problem = problem_of(flags); !problem.empty())
    return fail(wrong_usage(program, problem));
  return request_of(program,
                    {flags.engine, flags.flavor, flags.require, flags.device, "--require", flags.force});
}

}  // namespace enginehost::commands
