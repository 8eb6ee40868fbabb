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
                                         {"--plan", flags.plan},
                                         {"--explain", flags.explain}});
      !flag.empty() && plugin)
    return flag + " chooses among builds, and --plugin names the file to open: leave one of them out";
  if (const std::string flag = first_of({{"--flavor", !flags.flavor.empty()},
                                         {"--require", !flags.require.empty()},
                                         {"--device", !flags.device.empty()},
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
                 "open it as an application would; @2.0 is the newest 2.0.x");
  app.add_option("--flavor", flags.flavor, "ask for a flavor: cpu, cu118, mps, ...");
  app.add_option("--device", flags.device,
                 "a device that must be opened: cuda:0, gpu (any), ...; \"cuda:0,cpu\" allows the rest");
  app.add_option("--require", flags.require, "exactly this flavor or an error: no fallback");
  app.add_flag("--plan", flags.plan, "decide only: no download, no load");
  app.add_flag("--explain", flags.explain,
               "every candidate with every requirement, what was observed, and where");
  app.add_option("--platform", flags.platform_file,
                 "decide for a recorded machine (implies --plan); with --inspect: judge for it");
  app.add_flag("--self-test", flags.self_test, "run the engine's self-test on each device");
  CLI::Option* const bench =
      app.add_flag("--bench", flags.bench, "time an add and a matmul on each device against cpu");
  app.add_option("--plot", flags.plot,
                 "with --bench: draw the figures into FILE.png or FILE.svg (needs gnuplot)")
      ->needs(bench);
  app.add_option("--plugin", flags.plugin, "a plugin file without manifest, for engine authors");
  app.add_flag("--no-probe", flags.no_probe, "load in this process at once");
  app.add_flag("--platform-json", flags.platform_json, "this machine as a file for --platform");
  app.add_flag("--installations", flags.installations,
               "engines that others installed on this machine, and which could be opened where they lie");
  app.add_option("--inspect", flags.inspect, "check any shared library before it is loaded");
  app.add_flag("--symbols", flags.symbols,
               "with --inspect: undefined symbols are failures, and each is told");
  app.add_option("--code", flags.codes, "what failure codes mean and how they are mended: EH-L01, l01")
      ->delimiter(',');
  flags.common.add_to(app);
}

Result<resolve::Request> checked(const InfoFlags& flags) {
  if (const std::string problem = problem_of(flags); !problem.empty())
    return fail(wrong_usage(program, problem));
  return request_of(program, {flags.engine, flags.flavor, flags.require, flags.device});
}

}  // namespace enginehost::commands
