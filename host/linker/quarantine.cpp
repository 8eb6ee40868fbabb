#include "host/linker/quarantine.hpp"

#include <vector>

#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::linker {

std::optional<Quarantine> parse_quarantine(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  constexpr unsigned long user_approved = 0x40;
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.remove_suffix(1);
  const std::vector<std::string> parts = split(text, ';');
  const std::string& flags = parts.front();
  if (flags.empty() || flags.size() > 8 || flags.find_first_not_of(digits) != std::string::npos)
    return std::nullopt;
  Quarantine found;
  found.text = std::string(text);
  found.approved = (std::stoul(flags, nullptr, 16) & user_approved) != 0;
  if (parts.size() > 2) found.agent = parts[2];
  return found;
}

std::optional<Quarantine> quarantine_of(const std::filesystem::path& file) {
  const auto text = quarantine_text(file);
  return text ? parse_quarantine(*text) : std::nullopt;
}

std::optional<Diagnosis> quarantine_problem(const std::filesystem::path& file) {
  const auto found = quarantine_of(file);
  if (!found || found->approved) return std::nullopt;
  Diagnosis diagnosis = diagnose("EH-X05");
  diagnosis.with("file", path_text(file)).with("attribute", found->text, "com.apple.quarantine");
  if (!found->agent.empty()) diagnosis.with("downloaded_by", found->agent, "com.apple.quarantine");
  return diagnosis;
}

}  // namespace enginehost::linker
