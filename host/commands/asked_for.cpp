#include "host/commands/asked_for.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace enginehost::commands {
namespace {

// "cpu", "cuda:0": a kind, and a number where one of several is meant.
bool is_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (kind.empty() || !std::all_of(kind.begin(), kind.end(), is_name)) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view number = text.substr(colon + 1);
  return !number.empty() && number.size() < 6 && std::all_of(number.begin(), number.end(), is_digit);
}

}  // namespace

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
  if (!wish.device.empty())
    for (const std::string& device : split(wish.device, ','))
      if (!is_device(trim(device)))
        return fail(wrong_usage(program, "--device \"" + wish.device + "\": \"" + std::string(trim(device)) +
                                             "\" is no device: give names as cpu, cuda:0 or mps, several "
                                             "separated by commas"));
  return request;
}

}  // namespace enginehost::commands
