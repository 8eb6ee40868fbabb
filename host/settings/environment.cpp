#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/settings/layer.hpp"
#include "host/settings/person.hpp"
#include "host/settings/places.hpp"
#include "host/settings/system_places.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

Diagnosis unusable(const char* kind, std::string_view name, std::string_view key, std::string_view problem) {
  return diagnose("EH-P02").with(kind, name).with("key", key).with("problem", problem);
}

Result<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

// Returns true for "ftp://x/", "file:///x" and "oci://x": URLs that cannot be a repository and are not meant
// as folders.
bool is_other_url(const std::string& location) {
  const std::size_t colon = location.find(":/");
  const auto is_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  // A single letter is a drive.
  return colon != std::string::npos && colon > 1 && !is_url(location) &&
         std::all_of(location.begin(), location.begin() + static_cast<std::ptrdiff_t>(colon), is_scheme);
}

// A kind of device, with a number to select one of several.
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

// Returns the member of enginehost.h through which the application sets the key.
std::string member_of_request(std::string_view key) {
  return "request." + std::string(key == "accept_licenses" ? "accepted_licenses"
                                  : key == "log"           ? "log_level"
                                                           : key);
}

}  // namespace

const std::string* Environment::find(const std::string& name) const {
  const auto found = variables.find(name);
  return found != variables.end() && !found->second.empty() ? &found->second : nullptr;
}

std::optional<bool> parse_switch(const std::string& text) {
  const std::string lower = to_lower(text);
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "0" || lower == "false" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

bool is_log_level(const std::string& text) {
  return text == "error" || text == "warning" || text == "info" || text == "debug";
}

std::string not_a_device(const std::string& text) {
  if (text.empty()) return {};
  for (const std::string& device : split(text, ','))
    if (!is_device(trim(device)))
      return "\"" + std::string(trim(device)) +
             "\" is no device: give names as cpu, cuda:0, mps or gpu, several separated by commas";
  return {};
}

std::vector<std::string> split_locations(const std::string& text) {
  std::vector<std::string> locations(1);
  const bool colon_separates = folder_separator() == ':';  // "C:/repository" is one location on Windows
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i + 1);
    // ":8080" and "://" belong to a URL; ":/folder" and ":https://…" begin the next location.
    const bool next_location = (rest.starts_with('/') && !rest.starts_with("//")) ||
                               rest.starts_with("http://") || rest.starts_with("https://");
    if (text[i] == ';' || text[i] == '\n' || (colon_separates && text[i] == ':' && next_location))
      locations.emplace_back();
    else
      locations.back() += text[i];
  }
  std::erase_if(locations, [](std::string& location) { return (location = trim(location)).empty(); });
  return locations;
}

Result<Layer> layer_of_environment(const Environment& environment) {
  Layer layer;
  layer.source = "environment";
  if (const std::string* text = environment.find("ENGINEHOST_REPOSITORIES")) {
    layer.repositories.emplace();
    for (const std::string& location : split_locations(*text)) {
      if (!is_url(location) && !path_of(location).is_absolute())
        return fail(unusable("variable", "ENGINEHOST_REPOSITORIES", "repositories",
                             "\"" + location + "\" is neither a URL nor an absolute folder"));
      layer.repositories->push_back({plain_location(location), false, "ENGINEHOST_REPOSITORIES"});
    }
  }
  if (const std::string* text = environment.find("ENGINEHOST_CACHE")) {
    if (!path_of(*text).is_absolute())
      return fail(
          unusable("variable", "ENGINEHOST_CACHE", "cache", "\"" + *text + "\" is not an absolute folder"));
    layer.cache = *text;
  }
  if (const std::string* text = environment.find("ENGINEHOST_INSTALLATIONS")) {
    layer.installations.emplace();
    for (const std::string& folder : split(*text, folder_separator())) {
      if (folder.empty()) continue;
      if (!path_of(folder).is_absolute())
        return fail(unusable("variable", "ENGINEHOST_INSTALLATIONS", "installations",
                             "\"" + folder + "\" is not an absolute folder"));
      layer.installations->push_back(folder);
    }
  }
  if (const std::string* text = environment.find("ENGINEHOST_FLAVOR")) layer.flavor = *text;
  if (const std::string* text = environment.find("ENGINEHOST_DEVICE")) {
    if (const std::string wrong = not_a_device(*text); !wrong.empty())
      return fail(unusable("variable", "ENGINEHOST_DEVICE", "device", wrong));
    layer.device = *text;
  }
  if (const std::string* text = environment.find("ENGINEHOST_FORCE")) layer.force = *text;
  if (const std::string* text = environment.find("ENGINEHOST_OFFLINE")) {
    layer.offline = parse_switch(*text);
    if (!layer.offline)
      return fail(
          unusable("variable", "ENGINEHOST_OFFLINE", "offline", "\"" + *text + "\" is neither 1 nor 0"));
  }
  if (const std::string* text = environment.find("ENGINEHOST_LOG")) {
    if (!is_log_level(*text))
      return fail(unusable("variable", "ENGINEHOST_LOG", "log",
                           "\"" + *text + "\" is none of error, warning, info, debug"));
    layer.log = *text;
  }
  if (const std::string* text = environment.find("ENGINEHOST_PROBE_LAUNCHER")) {
    TRY_ASSIGN(layer.probe_launcher, words_of(*text));
  }
  return layer;
}

std::string said_by(std::string_view key, bool by_application) {
  if (by_application) return "the application (" + member_of_request(key) + ")";
  if (key == "repositories") return "--repository";  // repeated, one each
  if (key == "installations") return "--installation";
  if (key == "accept_licenses") return "--accept-license";
  if (key == "log") return "--verbose";
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

Result<Layer> layer_of_flags(const FlagValues& flags, const Environment& environment) {
  Layer layer;
  layer.source = flags.by_application ? "application" : "flag";
  const auto absolute = [&](const std::string& folder) {
    return plain_location(path_text(environment.current_folder / path_of(folder)));
  };
  const auto refused = [&](const char* key, const std::string& problem) {
    return flags.by_application
               ? diagnose("EH-P45").with("argument", member_of_request(key)).with("problem", problem)
               : unusable("flag", said_by(key, false), key, problem);
  };
  if (!flags.repositories.empty()) {
    layer.repositories.emplace();
    for (const std::string& location : flags.repositories) {
      if (location.empty()) return fail(refused("repositories", "the location is empty"));
      const std::string neither =
          "a folder or a URL that begins with http:// or https://, and \"" + location + "\" is neither";
      if (is_other_url(location) && flags.by_application)
        return fail(refused("repositories", "each is " + neither));
      if (is_other_url(location))
        return fail(diagnose("EH-P40")
                        .with("flag", "--repository")
                        .with("problem", "--repository takes " + neither)
                        .with("accepted", "a folder, http:// or https://"));
      const fs::path folder = environment.current_folder / path_of(location);
      layer.repositories->push_back({plain_location(is_url(location) ? location : path_text(folder)),
                                     flags.allow_unsigned, said_by("repositories", flags.by_application),
                                     true});
    }
  }
  if (flags.cache) {
    if (flags.cache->empty()) return fail(refused("cache", "the folder is empty"));
    layer.cache = absolute(*flags.cache);
  }
  if (!flags.installations.empty()) {
    layer.installations.emplace();
    for (const std::string& folder : flags.installations) {
      if (folder.empty()) return fail(refused("installations", "the folder is empty"));
      layer.installations->push_back(absolute(folder));
    }
  }
  if (flags.log && !is_log_level(*flags.log))
    return fail(refused("log", "\"" + *flags.log + "\" is none of error, warning, info, debug"));
  if (flags.helper) {
    if (flags.helper->empty()) return fail(refused("helper", "the file is empty"));
    layer.helper = absolute(*flags.helper);
  }
  if (flags.package_index) {
    if (const std::string problem = not_an_index(*flags.package_index); !problem.empty())
      return fail(refused("package_index", problem));
    layer.package_index = flags.package_index;
  }
  layer.flavor = flags.flavor;
  layer.device = flags.device;
  layer.log = flags.log;
  layer.force = flags.force;
  layer.offline = flags.offline;
  layer.probe_launcher = flags.probe_launcher;
  return layer;
}

}  // namespace enginehost::settings
