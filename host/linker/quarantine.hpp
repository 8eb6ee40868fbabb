// The attribute com.apple.quarantine, with which macOS marks downloaded files. Gatekeeper checks its policy
// before a marked library is loaded. The result (notarization, administrator's rules) cannot be read from the
// file, so the mark is a doubt and no verdict.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::linker {

// "0083;5f1a2b3c;Safari;C1E2…": flags and time (hexadecimal), the program that downloaded it, an id.
struct Quarantine {
  std::string text;
  std::string agent;      // "Safari"; may be empty
  bool approved = false;  // a person has allowed opening it (flag 0x40)
};

// Returns nothing if the text is no such attribute. Pure.
std::optional<Quarantine> parse_quarantine(std::string_view text);

// Returns the attribute of the file itself, not of a link's target; nothing if there is none or the system
// has no attributes. On Linux it is user.com.apple.quarantine, because tar, rsync and Samba store attributes
// of macOS below "user.". Thread safety: any thread.
std::optional<Quarantine> quarantine_of(const std::filesystem::path& file);

// Returns EH-X05 (file, attribute, downloaded_by) if the file is marked and nobody has allowed it.
std::optional<Diagnosis> quarantine_problem(const std::filesystem::path& file);

// Returns the attribute's text as stored; one implementation per system.
std::optional<std::string> quarantine_text(const std::filesystem::path& file);

}  // namespace enginehost::linker
