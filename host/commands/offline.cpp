#include "host/commands/offline.hpp"

#include <CLI/CLI.hpp>
#include <cctype>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/build_names.hpp"

namespace enginehost::commands {

constexpr std::uint64_t smallest_part = 1u << 20;

OfflineCommands::OfflineCommands(CLI::App& app) {
  const auto add = [&](const char* name, const char* what, Result<Json> (*body)(const OfflineRun&)) {
    commands_.emplace_back(app.add_subcommand(name, what), body);
    return commands_.back().first;
  };
  CLI::App* exporting = add("export", "write installed builds into one file", &export_command);
  exporting->add_option("FILE", flags_.file, "the bundle to write; with --oci a folder")->required();
  exporting->add_option("ID", flags_.builds, build_id_meaning)->required();
  CLI::Option* base =
      exporting->add_option("--base", flags_.base, "leave out what this earlier bundle brings")
          ->type_name("FILE");
  CLI::Option* oci =
      exporting->add_flag("--oci", flags_.oci, "write an OCI image layout, for tools of registries");
  oci->excludes(base);
  CLI::App* fulfilling = add("fulfil", "answer another machine's request with a bundle", &fulfil_command);
  fulfilling->add_option("FILE", flags_.file, "the request")->required();
  fulfilling
      ->add_option("--output", flags_.output, "the bundle to write; without it NAME.bundle for NAME.request")
      ->type_name("FILE");
  for (CLI::App* writing : {exporting, fulfilling}) {
    CLI::Option* part =
        writing->add_option("--max-part", flags_.max_part, "split into parts of at most this size: 650M, 4G")
            ->type_name("N");
    if (writing == exporting) oci->excludes(part);
    repeatable(writing->add_option("--redistribute", flags_.redistribute,
                                   "include components under this license, which does not let everyone pass "
                                   "them on; repeatable"))
        ->type_name("ID");
  }
  CLI::App* importing = add("import", "install the builds of a bundle", &import_command);
  importing->add_option("FILE", flags_.file, "a bundle, or the beginning of the names of its parts")
      ->required();
  importing
      ->add_option("--layer", flags_.layer,
                   "system: for all users of this machine; user: for you (the default)")
      ->check(CLI::IsMember({"system", "user"}))
      ->type_name("LAYER");
  importing->add_flag("--unsigned", flags_.unsigned_allowed,
                      "with --layer system: also builds that nobody signed, for every user of this machine");
  CLI::App* requesting =
      add("request", "write down what this machine needs from another one", &request_command);
  requesting->add_option("FILE", flags_.file, "the request to write")->required();
  requesting->add_option("ENGINE[@VERSION]", flags_.engines,
                         "the engines; without one: newer builds of what is installed");
  requesting->add_option("--flavor", flags_.flavor, "prefer a flavor")->type_name("FLAVOR");
  requesting->add_option("--require", flags_.require, "this flavor or none")->type_name("FLAVOR");
  requesting->add_option("--device", flags_.device, "the device that must be opened")->type_name("DEVICE");
}

std::optional<int> OfflineCommands::run(const settings::Settings& settings, const CommonFlags& common,
                                        const CancelToken& cancel) const {
  for (const auto& [command, body] : commands_) {
    if (!command->parsed()) continue;
    const auto document = body({settings, common, flags_, cancel});
    if (!document) return end_with(document.error(), common.json);
    if (common.json) print(*document);
    return 0;
  }
  return std::nullopt;
}

Result<std::uint64_t> given_size(const std::string& option, const std::string& text) {
  if (text.empty()) return 0;
  const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  const auto number = parse_integer(std::string_view(text).substr(0, text.size() - (shift != 0 ? 1 : 0)));
  if (number && *number > 0 && *number < (std::int64_t{1} << 40) >> shift) {
    const std::uint64_t size = static_cast<std::uint64_t>(*number) << shift;
    if (size >= smallest_part) return size;
    return fail(diagnose("EH-P40")
                    .with("program", "engine-cache")
                    .with("problem", option + " " + text +
                                         " is too small: parts have at least 1M, because each is "
                                         "a file that somebody carries"));
  }
  return fail(diagnose("EH-P40")
                  .with("program", "engine-cache")
                  .with("problem", option + " " + text + " is no size like 650M or 4G"));
}

std::function<void(std::uint64_t, std::uint64_t)> bar_for(transfer::ProgressBar& bar, std::string what) {
  if (!bar.prints()) return {};
  return [&bar, what = std::move(what)](std::uint64_t done, std::uint64_t total) {
    bar.show({transfer::Progress::Phase::checking, done, total, 0, what});
  };
}

}  // namespace enginehost::commands
