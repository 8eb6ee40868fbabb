#include "host/transfer/pip.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view white = " \t\r\n\v\f\x1c\x1d\x1e\x1f";  // of Python's str.strip()

std::string_view strip(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(white);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

// Splits at "\n", "\r\n" and "\r".
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(text.starts_with("\r\n") ? 2 : std::min<std::size_t>(text.size(), 1));
  }
  return lines;
}

struct Section {
  std::string name;
  std::vector<IniEntry> entries;
};

IniEntry* find(std::vector<IniEntry>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &IniEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

constexpr std::uint64_t largest_settings_file = 1u << 20;
constexpr std::string_view environment = ":env:";
// The sections in pip's order; a later one wins.
constexpr std::string_view pip_sections[] = {"global", "download", "install", environment};
// "pypi-url" is pip's other name for "index-url".
constexpr std::string_view keys[] = {
    "pypi-url",     "index-url", "extra-index-url", "no-index", "find-links",
    "trusted-host", "cert",      "client-cert",     "proxy",    "keyring-provider"};

struct Setting {
  std::string section, key, value, set_by;
};

std::string option_name(std::string_view name) {
  std::string key = to_lower(name);
  std::ranges::replace(key, '_', '-');
  return key.starts_with("--") ? key.substr(2) : key;
}

class PipSettingsReader {
 public:
  explicit PipSettingsReader(PipSettings& settings) : settings_(settings) {}

  Result<void> read_files(const fs::path& site);
  void read_environment();
  Result<void> apply();

 private:
  Result<void> read(const fs::path& file);
  void set(Setting setting);
  static tl::unexpected<Diagnosis> refuse(const Setting& setting, std::string_view problem) {
    return fail(diagnose(Code::pip_configuration_unusable)
                    .with(Key::set_by, setting.set_by)
                    .with(Key::key, setting.key)
                    .with(Key::value, setting.value)
                    .with(Key::problem, problem));
  }
  Result<void> apply(const Setting& setting);

  PipSettings& settings_;
  std::vector<Setting> all_;
};

// An empty value counts here: it hides the value of a file that was read before.
void PipSettingsReader::set(Setting setting) {
  const auto known = std::ranges::find_if(
      all_, [&](const Setting& one) { return one.section == setting.section && one.key == setting.key; });
  if (known == all_.end())
    all_.push_back(std::move(setting));
  else
    *known = std::move(setting);
}

Result<void> PipSettingsReader::read(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  if (const auto problem = who_may_change(file, Purpose::belief).problem) {
    settings_.skipped.push_back(path_text(file) + ": " + reason_of(*problem, file));
    return {};
  }
  auto text = read_file(file, largest_settings_file, Code::pip_configuration_unusable);
  auto entries = text ? read_ini(*text) : Result<std::vector<IniEntry>>(fail(text.error()));
  if (!entries) return fail(std::move(entries.error().with(Key::set_by, path_text(file))));
  for (IniEntry& entry : *entries)
    set({std::move(entry.section), option_name(entry.name), std::move(entry.value), path_text(file)});
  return {};
}

Result<void> PipSettingsReader::read_files(const fs::path& site) {
  const std::optional<std::string> named = environment_variable("PIP_CONFIG_FILE");
  if (named == null_device) return {};
  const PipFiles files = pip_files();
  for (const fs::path& file : files.global) TRY(read(file));
  // The named file takes the place of the user's, if it exists.
  const fs::path instead = path_of(named.value_or(""));
  std::error_code error;
  if (!instead.is_absolute() || !fs::exists(instead, error))
    for (const fs::path& file : files.user) TRY(read(file));
  if (!site.empty()) TRY(read(site / pip_file_name));
  if (instead.is_absolute()) TRY(read(instead));
  return {};
}

void PipSettingsReader::read_environment() {
  for (const std::string_view key : keys) {
    std::string name = "PIP_" + std::string(key);
    for (char& letter : name)
      if (letter == '-')
        letter = '_';
      else if (letter >= 'a' && letter <= 'z')
        letter = static_cast<char>(letter - 'a' + 'A');
    if (auto value = environment_variable(name.c_str()))
      set({std::string(environment), std::string(key), std::move(*value), name});
  }
}

Result<void> PipSettingsReader::apply(const Setting& setting) {
  const std::string& key = setting.key;
  if (key == "index-url" || key == "pypi-url") {
    settings_.index_url = setting.value;
    settings_.index_set_by = setting.set_by;
  }
  if (key == "extra-index-url") settings_.extra_index_urls = words_of(setting.value);
  if (key == "find-links") settings_.find_links = words_of(setting.value);
  if (key == "trusted-host") settings_.trusted_hosts = words_of(setting.value);
  if (key == "proxy") {
    settings_.proxy = setting.value;
    settings_.proxy_set_by = setting.set_by;
  }
  if (key == "keyring-provider") settings_.keyring_provider = setting.value;
  if (key == "cert" || key == "client-cert") {
    if (!path_of(setting.value).is_absolute()) return refuse(setting, "it is not an absolute path");
    (key == "cert" ? settings_.cert : settings_.client_cert) = setting.value;
  }
  if (key == "no-index") {
    const std::string value = to_lower(setting.value);
    const auto is = [&](std::initializer_list<std::string_view> words) {
      return std::ranges::find(words, value) != words.end();
    };
    settings_.no_index = is({"y", "yes", "t", "true", "on", "1"});
    if (!settings_.no_index && !is({"n", "no", "f", "false", "off", "0"}))
      return refuse(setting, "it is none of yes, no, true, false, on, off, 1, 0");
  }
  return {};
}

Result<void> PipSettingsReader::apply() {
  for (const std::string_view section : pip_sections)
    for (const Setting& setting : all_)
      if (setting.section == section && !setting.value.empty()) TRY(apply(setting));
  return {};
}

}  // namespace

Result<std::vector<IniEntry>> read_ini(std::string_view text) {
  if (!is_utf8(text))
    return fail(diagnose(Code::pip_configuration_unusable).with(Key::problem, "it is not text in UTF-8"));
  std::vector<IniEntry> defaults;
  std::vector<Section> sections;
  std::vector<IniEntry>* section = nullptr;  // the current one
  bool in_value = false;                     // the last entry of the section may go on
  std::size_t indent = 0, number = 0;
  const auto refuse = [&](const std::string& problem) {
    return fail(diagnose(Code::pip_configuration_unusable)
                    .with(Key::problem, "line " + std::to_string(number) + " " + problem));
  };
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view content = strip(line);
    if (content.starts_with('#') || content.starts_with(';')) continue;
    if (content.empty()) {
      if (in_value) section->back().value += '\n';
      continue;
    }
    const std::size_t begin = line.find_first_not_of(white);
    if (in_value && begin > indent) {
      section->back().value.append(1, '\n').append(content);
      continue;
    }
    indent = begin;
    in_value = false;
    if (const std::size_t close = content.rfind(']');
        content.starts_with('[') && close != std::string_view::npos && close > 1) {
      const std::string name(content.substr(1, close - 1));
      if (name == "DEFAULT") {
        section = &defaults;
        continue;
      }
      if (std::ranges::find(sections, name, &Section::name) != sections.end())
        return refuse("begins the section [" + name + "] a second time");
      section = &sections.emplace_back(Section{name, {}}).entries;
      continue;
    }
    if (section == nullptr) return refuse("stands before the first section: [global], [install]");
    const std::size_t mark = content.find_first_of("=:");
    if (mark == std::string_view::npos || mark == 0) return refuse("is not NAME = VALUE");
    std::string name = to_lower(strip(content.substr(0, mark)));
    if (find(*section, name) != nullptr) return refuse("sets " + name + " a second time");
    section->push_back({{}, std::move(name), std::string(strip(content.substr(mark + 1)))});
    in_value = true;
  }
  std::vector<IniEntry> all;
  for (Section& one : sections) {
    std::vector<IniEntry> entries = defaults;
    for (IniEntry& entry : one.entries)
      if (IniEntry* known = find(entries, entry.name))
        known->value = std::move(entry.value);
      else
        entries.push_back(std::move(entry));
    for (IniEntry& entry : entries) {
      entry.section = one.name;
      entry.value.erase(entry.value.find_last_not_of(white) + 1);
    }
    all.insert(all.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
  }
  return all;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(white, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(white, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

Result<PipSettings> read_pip_settings(const fs::path& site) {
  PipSettings settings;
  PipSettingsReader reader(settings);
  TRY(reader.read_files(site));
  reader.read_environment();
  TRY(reader.apply());
  return settings;
}

}  // namespace enginehost::transfer
