// The subcommands that tools/ adds to engine-cache.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/commands/engine_cache.hpp"
#include "tools/offline/export_bundle.hpp"

namespace enginehost::commands {

std::vector<CacheSubcommand> add_push(CLI::App& app);
std::vector<CacheSubcommand> add_export(CLI::App& app);
std::vector<CacheSubcommand> add_fulfil(CLI::App& app);

// Returns the ids of the installed builds, in the given order: installed_build() of each. A build that is
// named twice is returned once.
Result<std::vector<std::string>> installed_builds(const cache::Store& store,
                                                  const std::vector<std::string>& given);

// The flags of the subcommands that write a bundle.
struct WritingFlags {
  std::string max_part;
  std::vector<std::string> redistribute;
};
// Returns the option --max-part.
CLI::Option* add_writing_flags(CLI::App& app, WritingFlags& flags);

// Reads a size in bytes: "650M", "4G", "2000000"; K, M and G are powers of 1024. EH-P40 with "problem" for
// anything else, and for less than 1M.
Result<std::uint64_t> given_size(const std::string& option, const std::string& text);

// Returns members of a document on a written bundle, and with `as_text` also prints them on stdout.
Json reported(const offline::Exported& exported, const std::filesystem::path& file, bool as_text);

// Notes in the audit log which builds left this machine, and which licenses were included by --redistribute.
// A failure to write becomes a warning of the context.
void note_export(open::OpenContext& context, const offline::Exported& exported,
                 const std::filesystem::path& file);

}  // namespace enginehost::commands
