#include "host/commands/asked_for.hpp"

#include "host/settings/layer.hpp"

namespace enginehost::commands {
Diagnosis wrong_usage(const std::string& program, const std::string& problem) {
  return diagnose("EH-P40").with("program", program).with("problem", problem);
}

Result<resolve::Request> request_of(const std::string& program, const EngineWish& wish) {
  resolve::Request request;
  const std::size_t at = wish.engine.find('@');
  request.engine = wish.engine.substr(0, at);
  if (at != std::string::npos) request.version = wish.engine.substr(at + 1);
  if (at == 0)
    return fail(
        wrong_usage(program, "\"" + wish.engine + "\" names a version and no engine: ENGINE@VERSION"));
  if (at != std::string::npos && request.version.empty())
    return fail(wrong_usage(program, "\"" + wish.engine +
                                         "\" ends without a version: give ENGINE@VERSION, or ENGINE alone "
                                         "for the newest one"));
  if (!wish.require.empty() && !wish.flavor.empty() && wish.require != wish.flavor)
    return fail(wrong_usage(program, "--require " + wish.require + " and --flavor " + wish.flavor +
                                         " contradict each other: --require allows no other flavor, so "
                                         "leave one of them out"));
  request.flavor = wish.require.empty() ? wish.flavor : wish.require;
  request.require = !wish.require.empty();
  request.device = wish.device;
  if (const std::string wrong = settings::not_a_device(wish.device); !wrong.empty())
    return fail(wrong_usage(program, "--device \"" + wish.device + "\": " + wrong));
  return request;
}

}  // namespace enginehost::commands
