#include "host/commands/asked_for.hpp"

#include "base/text.hpp"
#include "host/resolve/version_wish.hpp"
#include "host/settings/layer.hpp"

namespace enginehost::commands {
namespace {

std::string forms() { return std::string(resolve::version_forms); }

}  // namespace

Diagnosis wrong_usage(const std::string& program, const std::string& problem) {
  return diagnose("EH-P40").with("program", program).with("problem", problem);
}

Result<resolve::Request> request_of(const std::string& program, const EngineWish& wish) {
  resolve::Request request;
  // "pytorch>=2" needs no "@" to be understood.
  const std::size_t at = wish.engine.find_first_of("@<>=!~");
  request.engine = trim(std::string_view(wish.engine).substr(0, at));
  if (at != std::string::npos) request.version = wish.engine.substr(at + (wish.engine[at] == '@' ? 1 : 0));
  if (request.engine.empty() && !wish.engine.empty())
    return fail(wrong_usage(program, "\"" + wish.engine + "\" names " +
                                         (at != std::string::npos ? "a version and " : "") +
                                         "no engine: ENGINE@VERSION"));
  if (at != std::string::npos && request.version.empty())
    return fail(wrong_usage(program, "\"" + wish.engine +
                                         "\" ends without a version: give ENGINE@VERSION, or ENGINE alone "
                                         "for the newest one"));
  if (request.engine.find_first_of("[]()") != std::string::npos)
    return fail(wrong_usage(program, "\"" + wish.engine +
                                         "\" is no engine's name; a version stands behind it as " +
                                         "ENGINE@VERSION, and VERSION is one of: " + forms()));
  if (const std::string wrong = resolve::VersionWish(request.version).problem(); !wrong.empty())
    return fail(wrong_usage(program, "\"" + wish.engine + "\": " + wrong +
                                         "; give ENGINE@VERSION, and VERSION as " + "one of: " + forms()));
  if (!wish.require.empty() && !wish.flavor.empty() && wish.require != wish.flavor)
    return fail(wrong_usage(program, "--require " + wish.require + " and --flavor " + wish.flavor +
                                         " contradict each other: --require allows no other flavor, so "
                                         "leave one of them out"));
  request.flavor = wish.require.empty() ? wish.flavor : wish.require;
  request.require = !wish.require.empty();
  if (!request.flavor.empty()) request.flavor_source = request.require ? wish.require_flag : "--flavor";
  request.device = wish.device;
  if (!request.device.empty()) request.device_source = "--device";
  if (const std::string wrong = settings::not_a_device(wish.device); !wrong.empty())
    return fail(wrong_usage(program, "--device \"" + wish.device + "\": " + wrong));
  return request;
}

}  // namespace enginehost::commands
