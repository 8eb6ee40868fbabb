#include "host/commands/request_args.hpp"

#include "base/text.hpp"
#include "host/resolve/version_specifier.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {
namespace {

std::string forms() { return std::string(resolve::version_forms); }

}  // namespace

Diagnosis wrong_usage(const std::string& program, const std::string& problem) {
  return diagnose("EH-P40").with("program", program).with("problem", problem);
}

Result<resolve::Request> request_of(const std::string& program, const EngineConstraints& constraint) {
  resolve::Request request;
  // "pytorch>=2" is accepted without "@".
  const std::size_t at = constraint.engine.find_first_of("@<>=!~");
  request.engine = trim(std::string_view(constraint.engine).substr(0, at));
  if (at != std::string::npos)
    request.version = constraint.engine.substr(at + (constraint.engine[at] == '@' ? 1 : 0));
  if (request.engine.empty() && !constraint.engine.empty())
    return fail(wrong_usage(program, "\"" + constraint.engine + "\" names " +
                                         (at != std::string::npos ? "a version and " : "") +
                                         "no engine: ENGINE@VERSION"));
  if (at != std::string::npos && request.version.empty())
    return fail(wrong_usage(program, "\"" + constraint.engine +
                                         "\" ends without a version: give ENGINE@VERSION, or ENGINE alone "
                                         "for the newest one"));
  if (request.engine.find_first_of("[]()") != std::string::npos)
    return fail(wrong_usage(program, "\"" + constraint.engine +
                                         "\" is no engine's name; a version stands behind it as " +
                                         "ENGINE@VERSION, and VERSION is one of: " + forms()));
  if (const std::string wrong = resolve::VersionSpecifier(request.version).problem(); !wrong.empty())
    return fail(wrong_usage(program, "\"" + constraint.engine + "\": " + wrong +
                                         "; give ENGINE@VERSION, and VERSION as " + "one of: " + forms()));
  if (!constraint.require.empty() && !constraint.flavor.empty() && constraint.require != constraint.flavor)
    return fail(wrong_usage(program, "--require " + constraint.require + " and --flavor " +
                                         constraint.flavor +
                                         " contradict each other: --require allows no other flavor, so "
                                         "leave one of them out"));
  request.flavor = constraint.require.empty() ? constraint.flavor : constraint.require;
  request.require = !constraint.require.empty();
  if (!request.flavor.empty()) request.flavor_source = request.require ? constraint.require_flag : "--flavor";
  request.force = constraint.force;
  request.device = constraint.device;
  if (!request.device.empty()) request.device_source = "--device";
  if (const std::string wrong = settings::not_a_device(constraint.device); !wrong.empty())
    return fail(wrong_usage(program, "--device \"" + constraint.device + "\": " + wrong));
  return request;
}

}  // namespace enginehost::commands
