#include "host/resolve/misplaced.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

bool has_flavor(const std::vector<Weighed>& weighed, std::string_view flavor) {
  return std::ranges::any_of(weighed,
                             [&](const Weighed& one) { return one.candidate.build->flavor == flavor; });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns "cu130" for "13.0", "cuda13.0" and "CUDA 13.0", and for "cuda13" the newest known flavor that
// begins with "cu13"; empty for other text, and if no build has such a flavor.
std::string flavor_of_cuda(const std::string& text, const std::vector<Weighed>& weighed) {
  const std::string lower = to_lower(text);
  std::string_view rest = lower;
  for (const std::string_view prefix : {"cuda", "cu"})
    if (rest.starts_with(prefix)) {
      rest.remove_prefix(prefix.size());
      break;
    }
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '-' || rest.front() == '_'))
    rest.remove_prefix(1);
  const std::size_t dot = rest.find('.');
  std::string digits(rest.substr(0, dot));
  const bool whole = dot != std::string_view::npos;
  if (whole) digits += rest.substr(dot + 1);
  // A major of CUDA has two digits since CUDA 10. A plain number is rather a version of the engine.
  if (digits.size() < 2 || !std::ranges::all_of(digits, is_digit) || (!whole && rest.size() == lower.size()))
    return {};
  if (has_flavor(weighed, "cu" + digits)) return "cu" + digits;
  std::string newest;
  for (const Weighed& one : weighed)
    if (const std::string& flavor = one.candidate.build->flavor;
        !whole && flavor.starts_with("cu" + digits) && flavor.size() == digits.size() + 3 && flavor > newest)
      newest = flavor;
  return newest;
}

bool is_device(const std::string& text, const std::vector<Weighed>& weighed) {
  const std::string_view kind = std::string_view(text).substr(0, text.find(':'));
  return kind == "gpu" || std::ranges::any_of(weighed, [&](const Weighed& one) {
           return main_device(*one.candidate.build) == kind;
         });
}

}  // namespace

std::optional<Diagnosis> unknown_flavor(const Request& request, const std::vector<Weighed>& weighed) {
  const std::string& flavor = request.flavor;
  if (flavor.empty() || has_flavor(weighed, flavor)) return std::nullopt;
  Diagnosis diagnosis = diagnose(Code::flavor_unknown)
                            .with(Key::engine, request.engine, "request")
                            .with(Key::flavor, flavor, "request");
  if (!request.flavor_source.empty()) diagnosis.with(Key::demanded_by, request.flavor_source, "request");
  if (const std::string meant = flavor_of_cuda(flavor, weighed); !meant.empty())
    return diagnosis.with(Key::meant_flavor, meant, "repositories");
  if (is_version(flavor)) return diagnosis.with(Key::meant_version, request.engine + "@" + flavor, "request");
  if (is_device(flavor, weighed)) return diagnosis.with(Key::meant_device, flavor, "repositories");
  std::vector<std::string> known;
  for (const Weighed& one : weighed)
    if (one.refusal != Code::build_for_other_system &&
        std::ranges::find(known, one.candidate.build->flavor) == known.end())
      known.push_back(one.candidate.build->flavor);
  std::ranges::sort(known);
  if (const auto near = nearest(flavor, known)) diagnosis.with(Key::nearest, *near, "repositories");
  for (const std::string& one : known) diagnosis.with(Key::known, one, "repositories");
  return diagnosis;
}

bool knows_what_was_meant(const Diagnosis& unknown_flavor) {
  return std::ranges::any_of(unknown_flavor.evidence, [](const Evidence& fact) {
    return fact.what == Key::meant_version || fact.what == Key::meant_flavor ||
           fact.what == Key::meant_device;
  });
}

std::optional<Diagnosis> flavor_as_device(const Request& request, const std::vector<Weighed>& weighed) {
  for (const std::string& device : devices_of(request.device)) {
    if (!has_flavor(weighed, device) || std::ranges::any_of(weighed, [&](const Weighed& one) {
          return offers_one_of(*one.candidate.build, {device});
        }))
      continue;
    Diagnosis diagnosis = diagnose(Code::device_is_flavor)
                              .with(Key::engine, request.engine, "request")
                              .with(Key::device, device, "request")
                              .with(Key::meant_flavor, device, "repositories");
    if (!request.device_source.empty()) diagnosis.with(Key::device_set_by, request.device_source, "request");
    return diagnosis;
  }
  return std::nullopt;
}

}  // namespace enginehost::resolve
