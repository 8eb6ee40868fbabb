#include "host/transfer/package_index.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <mutex>

#include "base/paths.hpp"
#include "base/system_program.hpp"
#include "base/text.hpp"
#include "host/transfer/package_page.hpp"
#include "host/transfer/pip.hpp"

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;

constexpr const char* json_or_html =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

// Keeps the entries of PATH that were skipped, because the pip that is missing may be there.
void note_skipped(const Diagnosis& failure, std::vector<Evidence>& skipped) {
  for (const Evidence& evidence : failure.evidence)
    if (evidence.what == "skipped" &&
        std::ranges::none_of(skipped, [&](const Evidence& known) { return known.value == evidence.value; }))
      skipped.push_back(evidence);
}

std::optional<std::string> ask(const std::vector<std::string>& pip, const std::vector<std::string>& arguments,
                               std::vector<Evidence>& skipped, const std::optional<CancelToken>& cancel) {
  ChildRequest request;
  request.argv = pip;
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  // Wide, so that the help breaks no line; in the C locale, so that its words are the expected ones.
  request.environment = {"COLUMNS=1000", "LC_ALL=C.UTF-8", "PIP_NO_COLOR=1",
                         "PIP_DISABLE_PIP_VERSION_CHECK=1"};
  request.deadline = std::chrono::seconds(20);
  request.keep_bytes = 1u << 20;
  request.cancel = cancel;
  const auto outcome = run_by_name(std::move(request));
  if (!outcome) note_skipped(outcome.error(), skipped);
  if (!outcome || !outcome->succeeded()) return {};
  return outcome->output;
}

// Returns the value of "global.index-url='https://…'", which Python prints as a string literal.
std::string unquoted(std::string_view value) {
  value = trim(value);
  if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) {
      ++i;
      text += value[i] == 'n' ? '\n' : value[i];
    } else {
      text += value[i];
    }
  }
  return text;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char character : std::string(text) + ' ') {
    if (std::isspace(static_cast<unsigned char>(character)) == 0) {
      word += character;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// pip's own priority: the environment, then the command's section, then the global one.
struct PipSettings {
  std::string value_of(const std::string& name) const {
    std::string found;
    for (const char* section : {"global", "install", ":env:"})
      for (const auto& [key, value] : entries)
        if (key == std::string(section) + "." + name) found = value;
    return found;
  }
  std::vector<std::pair<std::string, std::string>> entries;
};

PipSettings read_settings(std::string_view listing) {
  PipSettings settings;
  for (const std::string& line : split(listing, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos)
      settings.entries.emplace_back(line.substr(0, equals), unquoted(line.substr(equals + 1)));
  }
  return settings;
}

// Parses "--index-url <url>  Base URL of the Python Package Index (default https://…).".
std::string default_in_help(std::string_view help) {
  const std::size_t option = help.find("--index-url <url>");
  const std::size_t mark = option == std::string_view::npos ? option : help.find("(default ", option);
  if (mark == std::string_view::npos) return {};
  const std::string_view rest = help.substr(mark + 9);
  const std::string url(trim(rest.substr(0, rest.find(')'))));
  return is_url(url) ? url : std::string();
}

std::optional<PackageIndex> ask_pip(const std::vector<std::string>& pip, std::vector<Evidence>& skipped,
                                    const std::optional<CancelToken>& cancel) {
  const auto listing = ask(pip, {"config", "list"}, skipped, cancel);
  if (!listing) return {};
  const PipSettings settings = read_settings(*listing);
  PackageIndex index;
  index.certificate = settings.value_of("cert");
  for (const std::string& link : words_of(settings.value_of("find-links")))
    if (path_of(link).is_absolute()) index.find_links.push_back(link);
  const std::string no_index = to_lower(settings.value_of("no-index"));
  if (no_index == "1" || no_index == "true" || no_index == "yes" || no_index == "on") {
    index.reported_by = "pip config";
    return index;
  }
  std::string url = settings.value_of("index-url");
  index.reported_by = "pip config";
  if (url.empty()) {
    const auto help = ask(pip, {"install", "--help"}, skipped, cancel);
    if (help) url = default_in_help(*help);
    index.reported_by = "pip install --help";
  }
  if (is_url(url)) index.urls.push_back(url);
  for (const std::string& extra : words_of(settings.value_of("extra-index-url")))
    if (is_url(extra)) index.urls.push_back(extra);
  if (index.urls.empty() && index.find_links.empty()) return {};
  return index;
}

// Returns the project name as an index stores it (PEP 503).
std::string normalised(std::string_view project) {
  std::string name;
  for (const char character : to_lower(project)) {
    const bool separator = character == '-' || character == '_' || character == '.';
    if (separator && !name.empty() && name.back() == '-') continue;
    name += separator ? '-' : character;
  }
  return name;
}

}  // namespace

Result<PackageIndex> package_index(const TransferOptions& options, const std::optional<CancelToken>& cancel) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::optional<PackageIndex>;
  const std::lock_guard lock(mutex);
  if (known) return *known;
  std::vector<Evidence> skipped;
  for (const std::vector<std::string>& pip : pip_commands()) {
    known = ask_pip(pip, skipped, cancel);
    if (known) return *known;
    if (cancel && cancel->canceled()) return fail(diagnose("EH-P10"));
  }
  if (!options.package_index.empty()) return PackageIndex{{options.package_index}, {}, {}, "configuration"};
  Diagnosis silent = diagnose("EH-N12");
  for (const std::vector<std::string>& pip : pip_commands()) silent.with("asked", join(pip, " "));
  silent.evidence.insert(silent.evidence.end(), skipped.begin(), skipped.end());
  return fail(std::move(silent.with("problem", "no pip answers, and package_index is not configured")));
}

Result<PackageFile> locate_package(std::string_view project, std::string_view file, std::string_view sha256,
                                   const TransferOptions& options, const std::optional<CancelToken>& cancel) {
  if (options.offline)
    return fail(
        diagnose("EH-N10").with("url", "package index: " + std::string(project) + ", " + std::string(file)));
  TRY_ASSIGN(const PackageIndex index, package_index(options, cancel));
  for (const std::string& folder : index.find_links) {
    std::error_code error;
    if (const fs::path local = path_of(folder) / path_of(file); fs::is_regular_file(local, error))
      return PackageFile{{}, local, {}, fs::file_size(local, error)};
  }
  Diagnosis missing = diagnose("EH-N13");
  missing.with("project", project).with("file", file);
  TransferOptions with_certificate = options;
  if (!index.certificate.empty()) with_certificate.ca_bundle = index.certificate;
  std::optional<Diagnosis> unreachable, forbidden, portal, unreadable;
  for (const std::string& base : index.urls) {
    const std::string page_url = base + (base.ends_with('/') ? "" : "/") + normalised(project) + "/";
    missing.with("index", without_credentials(base), index.reported_by);
    const auto cannot_be_read = [&](Diagnosis diagnosis) {
      if (unreadable) return;
      diagnosis.with("project", project)
          .with("file", file)
          .with("index", without_credentials(base), index.reported_by);
      unreadable = std::move(diagnosis);
    };
    const auto page = fetch_text(page_url, with_certificate, largest_page, json_or_html, cancel);
    if (!page) {
      if (page.error().code == "EH-P10") return fail(page.error());
      // A refusal by policy is no network failure: another proxy or a later time would not help.
      if (page.error().code == "EH-P01") {
        if (!forbidden) forbidden = page.error();
        continue;
      }
      // Named a web page (EH-N06) when the index writes HTML. Only the limit ends a page of unknown size.
      if ((page.error().code == "EH-N07" || page.error().code == "EH-N06") &&
          !page.error().value("problem").empty()) {
        cannot_be_read(
            diagnose("EH-N13")
                .with("problem", "it is longer than " + format_bytes(largest_page) + ", which is the limit")
                .with("size", page.error().value("actual"))
                .with("limit", std::to_string(largest_page)));
        continue;
      }
      if (page.error().value("status") != "404" && !unreachable) {
        unreachable = diagnose("EH-N12");
        unreachable->with("project", project).with("index", without_credentials(base), index.reported_by);
        unreachable->with("failure", page.error().code);
        for (const Evidence& fact : page.error().evidence) unreachable->evidence.push_back(fact);
      }
      continue;
    }
    const auto found = find_in_page(*page, file);
    if (!found) {
      cannot_be_read(found.error());
      continue;
    }
    const std::optional<Listed>& listed = *found;
    if (!listed && is_for_a_person(*page)) {
      if (!portal) portal = diagnose("EH-N06");
      portal->with("url", without_credentials(page_url)).with("project", project);
      portal->with("index", without_credentials(base), index.reported_by);
      if (const auto title = title_of_page(*page); !title->empty())
        portal->with("title", *title, "the page that came");
      portal->with("actual", std::to_string(page->size()));
    }
    if (!listed || listed->url.empty()) continue;
    if (!sha256.empty() && !listed->sha256.empty() && to_lower(listed->sha256) != sha256) {
      missing.with("listed_sha256", listed->sha256, without_credentials(page_url))
          .with("expected_sha256", sha256);
      continue;
    }
    return PackageFile{join_url(page_url, listed->url), {}, index.certificate, listed->size};
  }
  if (unreachable) return fail(std::move(*unreachable));
  if (portal) return fail(std::move(*portal));
  if (forbidden) return fail(std::move(*forbidden));
  if (unreadable) return fail(std::move(*unreadable));
  return fail(std::move(missing));
}

}  // namespace enginehost::transfer
