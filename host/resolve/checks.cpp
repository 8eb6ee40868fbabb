#include "host/resolve/checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/nvidia_rules.hpp"

namespace enginehost::resolve {

Machine::Machine(const platform::Platform& observed)
    : platform(observed), driver_cuda(observed.cuda.driver_cuda) {
  const platform::Cuda& cuda = platform.cuda;
  if (cuda.devices.is_known()) visible = visible_devices(cuda);
  // The driver of Linux for Tegra has its own version numbers.
  if (driver_cuda.is_unknown() && cuda.driver.is_known() && !jetson_of(platform)) {
    std::string newest =
        cuda_of_driver(cuda.driver.value(), platform.os.value() == "windows" || platform.wsl.is_known());
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
      devices(devices_of(asked.device)),
      now(asked_at) {}

Held hold(const manifest::Build& build, const Question& question, CheckFindings& findings) {
  Held held;
  held.asked_for = check_request(build, question, findings);
  if (!held.asked_for) return held;
  findings.set_override(!build.id.empty() && build.id == question.request.force);
  check_system(build, question.machine.platform, findings);
  check_cuda_target(build, question.machine.platform, findings);
  held.cuda = check_cuda(build, question, findings);
  findings.set_override(false);
  if (findings.is_settled()) return held;  // neither check below adds unknowns
  check_device(build, question, findings);
  if (!findings.is_settled()) check_availability(build, question, findings);
  return held;
}

Check reported(std::string requirement, std::string observed, std::string source) {
  Check check;
  check.requirement = std::move(requirement);
  check.observed = std::move(observed);
  check.source = std::move(source);
  return check;
}

Check unanswered(std::string requirement, std::string why) {
  return reported(std::move(requirement), "unknown", std::move(why));
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

Reading::Reading(const platform::Fact<std::string>& fact)
    : is_known(fact.is_known()),
      is_unknown(fact.is_unknown()),
      value(fact.value()),
      source(fact.source()),
      why(fact.why()) {}

Answer answer_of(const std::string& bound, const Reading& reading) {
  if (reading.is_unknown) return Answer::unknown;
  return reading.is_known && satisfies(reading.value, bound) ? Answer::yes : Answer::no;
}

Check version_check(std::string_view what, const std::string& bound, const Reading& reading, Answer answer) {
  std::string wanted = bound_text(bound);
  std::string requirement = std::string(what) + " " + wanted;
  if (answer == Answer::unknown) return unanswered(std::move(requirement), std::string(reading.why));
  const std::string found(reading.is_known ? reading.value : "none"), source(reading.source);
  Check check = reported(std::move(requirement), found, source);
  if (answer == Answer::no)
    check.evidence = {{"required", std::move(wanted), "manifest"}, {"found", found, source}};
  return check;
}

void note_version(std::string_view what, const std::string& bound, const Reading& reading,
                  std::string_view code, CheckFindings& findings) {
  const Answer answer = answer_of(bound, reading);
  findings.note(answer, code, [&] { return version_check(what, bound, reading, answer); });
}

const char* name_of(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "unknown";
}

}  // namespace enginehost::resolve
