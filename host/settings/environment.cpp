#include <algorithm>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/settings/layer.hpp"
#include "host/settings/places.hpp"
#include "host/settings/records.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

Diagnosis unusable(Key kind, std::string_view name, std::string_view key, std::string_view problem) {
  return diagnose(Code::configuration_wrong).with(kind, name).with(Key::key, key).with(Key::problem, problem);
}

std::string not_one_place(const std::string& location) {
  const std::string reason = ambiguity_of(location);
  if (reason.empty()) return {};
  return "\"" + without_passwords(location) + "\" does not name one place for every server: " + reason;
}

std::string not_a_location(const std::string& location) {
  if (!is_url(location) && !path_of(location).is_absolute())
    return "\"" + location + "\" is neither a URL nor an absolute folder";
  return not_one_place(location);
}

Environment common_environment() {
  Environment result;
  for (auto& [name, value] : environment_variables())
    result.variables.emplace(std::move(name), std::move(value));
  std::error_code error;
  result.current_folder = fs::current_path(error);
  result.executable_folder = executable_folder();
  result.library_folder = library_folder();
  return result;
}

const std::string* Environment::find(const std::string& name) const {
  const auto found = variables.find(name);
  return found != variables.end() && !found->second.empty() ? &found->second : nullptr;
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
      if (const std::string problem = not_a_location(location); !problem.empty())
        return fail(unusable(Key::variable, "ENGINEHOST_REPOSITORIES", "repositories", problem));
      layer.repositories->push_back({plain_location(location), false, "ENGINEHOST_REPOSITORIES"});
    }
  }
  for (const Declaration& one : declarations) {
    const std::string variable = one.rules.has_variable ? variable_of(one.key) : "";
    const std::string* text = one.rules.has_variable ? environment.find(variable) : nullptr;
    if (text == nullptr) continue;
    Json value;
    if (const std::string problem = read_variable(one, *text, value); !problem.empty())
      return fail(unusable(Key::variable, variable, one.key, problem));
    layer.values.set(one.key, std::move(value));
  }
  return layer;
}

std::string said_by(std::string_view key, bool by_application) {
  return by_application ? "the application (" + request_member_of(key) + ")" : flag_of(key);
}

Result<Layer> layer_of_flags(const FlagValues& flags, const Environment& environment) {
  Layer layer;
  layer.source = flags.by_application ? "application" : "flag";
  const auto absolute = [&](const std::string& folder) {
    return plain_location(path_text(environment.current_folder / path_of(folder)));
  };
  const auto refused = [&](const char* key, const std::string& problem) {
    return flags.by_application ? diagnose(Code::api_argument_wrong)
                                      .with(Key::argument, request_member_of(key))
                                      .with(Key::problem, problem)
                                : unusable(Key::flag, flag_of(key), key, problem);
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
        return fail(diagnose(Code::argument_wrong)
                        .with(Key::flag, "--repository")
                        .with(Key::problem, "--repository takes " + neither)
                        .with(Key::accepted, "a folder, http:// or https://"));
      if (const std::string problem = not_one_place(location); !problem.empty())
        return fail(refused("repositories", problem));
      const fs::path folder = environment.current_folder / path_of(location);
      layer.repositories->push_back({plain_location(is_url(location) ? location : path_text(folder)),
                                     flags.allow_unsigned, said_by("repositories", flags.by_application),
                                     true});
    }
  }
  for (const Declaration& one : declarations) {
    Json value = one.flag.given != nullptr ? one.flag.given(flags) : Json();
    if (value.is_null()) continue;
    if (one.member.kind == Kind::path || one.member.kind == Kind::paths) {
      Json list = Json::array();
      for (const Json& path : value.is_array() ? value.as_array() : Json::Array{value}) {
        // As an absolute path, an empty one would be the current folder.
        if (path.as_string().empty())
          return fail(refused(
              one.key, std::string_view(one.key) == "helper" ? "the file is empty" : "the folder is empty"));
        list.push(absolute(path.as_string()));
      }
      value = value.is_array() ? std::move(list) : list.as_array().front();
    }
    if (const std::string problem = problem_of(one, value); !problem.empty())
      return fail(refused(one.key, problem));
    layer.values.set(one.key, std::move(value));
  }
  return layer;
}

}  // namespace enginehost::settings
