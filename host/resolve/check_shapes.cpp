#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {

Machine::Machine(const platform::Platform& observed)
    : platform(observed), driver_cuda(observed.cuda.driver_cuda) {
  const platform::Cuda& cuda = observed.cuda;
  if (cuda.devices.is_known()) visible = visible_devices(cuda.devices.value(), cuda.visible_devices);
  if (driver_cuda.is_unknown() && cuda.driver.is_known()) {
    std::string newest =
        cuda_of_driver(cuda.driver.value(), observed.os.value() == "windows" || observed.wsl.is_known());
    if (!newest.empty())
      driver_cuda = platform::Fact<std::string>::known(std::move(newest), "driver " + cuda.driver.value());
  }
  for (const auto& [name, value] : observed.loader_environment.value())
    if (name == "CUDA_DISABLE_PTX_JIT" && value != "0" && !value.empty()) ptx_jit_disabled = true;
}

Check answered(std::string requirement, std::string observed, std::string source, bool holds,
               std::string_view code) {
  Check check;
  check.requirement = std::move(requirement);
  check.observed = std::move(observed);
  check.source = std::move(source);
  check.result = holds ? Answer::yes : Answer::no;
  if (!holds) check.code = code;
  return check;
}

Check unanswered(std::string requirement, std::string why) {
  Check check;
  check.requirement = std::move(requirement);
  check.observed = "unknown";
  check.source = std::move(why);
  check.result = Answer::unknown;
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

Check version_check(std::string_view what, const std::string& bound, const platform::Fact<std::string>& fact,
                    std::string_view code) {
  std::string wanted = bound_text(bound);
  std::string requirement = std::string(what) + " " + wanted;
  if (fact.is_unknown()) return unanswered(std::move(requirement), fact.why());
  const bool holds = fact.is_known() && satisfies(fact.value(), bound);
  const std::string& found = fact.is_known() ? fact.value() : "none";
  Check check = answered(std::move(requirement), found, fact.source(), holds, code);
  if (!holds) check.evidence = {{"required", std::move(wanted), "manifest"}, {"found", found, fact.source()}};
  return check;
}

const char* name_of(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "unknown";
}

}  // namespace enginehost::resolve
