#include "host/resolve/checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"

namespace enginehost::resolve {

Machine::Machine(const platform::Platform& observed)
    : platform(observed), driver_cuda(observed.cuda.driver_cuda) {
  const platform::Cuda& cuda = platform.cuda;
  if (cuda.devices.is_known()) visible = visible_devices(cuda);
  // The driver of Linux for Tegra has its own version numbers.
  if (driver_cuda.is_unknown() && cuda.driver.is_known() && !jetson_of(platform)) {
    std::string newest = cuda_of_driver(cuda.driver.value(), has_windows_driver(platform));
    if (!newest.empty())
      driver_cuda = platform::Fact<std::string>::known(std::move(newest), "driver " + cuda.driver.value());
  }
  for (const auto& [name, value] : platform.loader_environment.value())
    if (name == "CUDA_DISABLE_PTX_JIT" && value != "0" && !value.empty()) ptx_jit_disabled = true;
}

Question::Question(const platform::Platform& observed, const Request& asked, std::int64_t asked_at)
    : machine(observed),
      request(asked),
      version(asked.version),
      allowed(asked.allowed_versions),
      devices(devices_of(asked.device)),
      now(asked_at) {}

Check& note(Checks& checks, Answer answer, Code code, Check check) {
  check.result = answer;
  if (answer == Answer::no) {
    check.code = code;
    if (!check.required.empty())
      check.evidence = {{Key::required, check.required, "manifest"},
                        {Key::found, check.observed, check.source}};
  }
  return checks.emplace_back(std::move(check));
}

Check& note(Checks& checks, bool holds, Code code, Check check) {
  return note(checks, holds ? Answer::yes : Answer::no, code, std::move(check));
}

Check& note_unknown(Checks& checks, std::string requirement, std::string why) {
  return note(checks, Answer::unknown, {}, reported(std::move(requirement), "unknown", std::move(why)));
}

Check reported(std::string requirement, std::string observed, std::string source) {
  Check check;
  check.requirement = std::move(requirement);
  check.observed = std::move(observed);
  check.source = std::move(source);
  return check;
}

Check compared(std::string requirement, std::string observed, std::string source, std::string required) {
  Check check = reported(std::move(requirement), std::move(observed), std::move(source));
  check.required = std::move(required);
  return check;
}

std::string bound_text(std::string_view bound) {
  std::string text;
  for (const std::string& part : split(bound, ',')) {
    const std::string_view one = trim(part);
    const std::size_t operators = std::min(one.find_first_not_of("<>="), one.size());
    if (!text.empty()) text += ", ";
    text += operators == 0 ? ">=" : one.substr(0, operators);
    text += ' ';
    text += trim(one.substr(operators));
  }
  return text;
}

Check& note_version(const std::string& what, const std::string& bound,
                    const platform::Fact<std::string>& version, Code code, Checks& checks) {
  const std::string wanted = bound_text(bound), requirement = what + " " + wanted;
  if (version.is_unknown()) return note_unknown(checks, requirement, version.why());
  return note(checks, version.is_known() && satisfies(version.value(), bound), code,
              compared(requirement, version.is_known() ? version.value() : "none", version.source(), wanted));
}

}  // namespace enginehost::resolve
