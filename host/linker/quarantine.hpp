// The mark that macOS puts on what was downloaded, the attribute com.apple.quarantine. Gatekeeper asks its
// policy before it lets a marked library be loaded; a file cannot tell what it will answer (whether it is
// notarized, what an administrator allows), so that the mark is a doubt and no verdict.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::linker {

// "0083;5f1a2b3c;Safari;C1E2…": flags and the time, both hexadecimal, the program that loaded it down, an id.
struct Quarantine {
  std::string text;
  std::string agent;      // "Safari"; may be empty
  bool approved = false;  // a person has allowed it to be opened (flag 0x40)
};

// Nothing when it is no such text. Pure.
std::optional<Quarantine> parse_quarantine(std::string_view text);

// The file's own, through no link; nothing when it has none or the system keeps none. On Linux, where tar,
// rsync and Samba keep attributes of macOS below "user.", user.com.apple.quarantine. Any thread.
std::optional<Quarantine> quarantine_of(const std::filesystem::path& file);

// EH-X05 (file, attribute, downloaded_by) when the file is marked and nobody has allowed it.
std::optional<Diagnosis> quarantine_problem(const std::filesystem::path& file);

// The attribute's text as the system keeps it: one file for each system.
std::optional<std::string> quarantine_text(const std::filesystem::path& file);

}  // namespace enginehost::linker
