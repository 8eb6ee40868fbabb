#include "host/commands/recorded_platform.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

constexpr std::uint64_t largest_file = 8u << 20;

Result<platform::Platform> read(const std::string& file) {
  TRY_ASSIGN(const std::string text, read_file(path_of(file), largest_file, "EH-P47"));
  TRY_ASSIGN(const Json document, parse_json(text, file));
  return platform::platform_from_json(document, file);
}

}  // namespace

Result<platform::Platform> recorded_platform(const std::string& file) {
  auto platform = explain::mark_as_argument(read(file));
  if (!platform) platform.error().with("named_by", "--platform");
  return platform;
}

}  // namespace enginehost::commands
