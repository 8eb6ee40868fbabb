#include "host/transfer/package_index.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/package_page.hpp"
#include "host/transfer/pip.hpp"

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;

constexpr const char* json_or_html =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

struct Location {
  std::string text;    // a URL or a path
  std::string set_by;  // "PIP_INDEX_URL", "/etc/pip.conf", "pip install --help"
};

// Returns the path of a file URL or of an absolute path; nothing for other text.
std::optional<fs::path> local_path(const std::string& location) {
  if (auto path = path_of_file_url(location)) return path;
  fs::path path = path_of(location);
  return path.is_absolute() ? std::optional(std::move(path)) : std::nullopt;
}

// Returns the project name as an index stores it (PEP 503).
std::string normalized(std::string_view project) {
  std::string name;
  for (const char character : to_lower(project)) {
    const bool separator = character == '-' || character == '_' || character == '.';
    if (separator && !name.empty() && name.back() == '-') continue;
    name += separator ? '-' : character;
  }
  return name;
}

// pip replaces "~" by the home folder where the result exists.
std::string with_home(const std::string& link) {
  if (link != "~" && !link.starts_with("~/")) return link;
  const fs::path path = home_folder() / path_of(link.substr(std::min<std::size_t>(link.size(), 2)));
  std::error_code error;
  return path.is_absolute() && fs::exists(path, error) ? path_text(path) : link;
}

TransferOptions with_pip_settings(TransferOptions options, const PipSettings& settings) {
  options.client_certificate = settings.client_cert;
  options.trusted_hosts = settings.trusted_hosts;
  if (!settings.cert.empty())
    options.ca_bundle = settings.cert;
  else if (const std::string bundle = environment_variable("REQUESTS_CA_BUNDLE").value_or("");
           options.ca_bundle.empty() && path_of(bundle).is_absolute())
    options.ca_bundle = bundle;
  if (options.proxy.empty() && !settings.proxy.empty()) {
    options.proxy = settings.proxy;
    options.proxy_set_by = settings.proxy_set_by;
  }
  std::vector<std::string> named = settings.extra_index_urls;
  named.insert(named.end(), settings.find_links.begin(), settings.find_links.end());
  named.push_back(settings.index_url);
  named.push_back(options.package_index);
  for (const std::string& url : named)
    if (is_url(url)) options.named_origins.push_back(origin_of(url));
  return options;
}

// Searches the locations one by one, until one has the file, and remembers why the others have not. With
// collect(), it searches all of them and takes every file.
class PackageSearch {
 public:
  PackageSearch(std::string_view project, std::string_view file, std::string_view sha256,
                const PipSettings& pip, TransferOptions options, const std::optional<CancelToken>& cancel)
      : project_(project),
        file_(file),
        sha256_(sha256),
        pip_(pip),
        options_(std::move(options)),
        cancel_(cancel) {
    missing_.with(Key::project, project);
    if (!file.empty()) missing_.with(Key::file, file);
  }

  void collect(std::vector<ListedFile>& files) { collected_ = &files; }

  // Each returns the file, or nothing; an error (EH-P10) ends the search.
  Result<std::optional<Place>> in_links(const std::string& link);
  Result<std::optional<Place>> in_index(const Location& index);

  bool is_incomplete() const { return unreachable_ || forbidden_ || portal_ || unreadable_; }
  Diagnosis failure();
  const TransferOptions& options() const { return options_; }

 private:
  Result<std::optional<Place>> on_page(const std::string& url, const Location& index);
  Result<std::optional<Place>> on_local_page(const fs::path& page, const Location& index);
  std::optional<Place> listed_on(const std::string& page, const std::string& url, const Location& index);
  void note_portal(const std::string& page, const std::string& url, const Location& index);
  void collect_page(const std::string& page, const std::string& url, const Location& index);
  void collect_file(const fs::path& path);
  // Returns the URL of a listed file; "" for a file of this machine that a page of a server names.
  static std::string url_of(const std::string& listed, const std::string& page_url);
  std::optional<Place> local(const fs::path& path) const;
  std::optional<Place> remote(std::string url, std::optional<std::uint64_t> size = {}) const {
    return Place{std::move(url), {}, {}, options_, size};
  }
  void cannot_be_reached(const Diagnosis& why, const Location& index);
  void cannot_be_read(Diagnosis why, const Location& index);

  std::string_view project_, file_, sha256_;
  const PipSettings& pip_;
  TransferOptions options_;
  const std::optional<CancelToken>& cancel_;
  Diagnosis missing_ = diagnose(Code::not_in_package_index);
  std::optional<Diagnosis> unreachable_, forbidden_, portal_, unreadable_;
  std::vector<ListedFile>* collected_ = nullptr;
  std::set<std::string, std::less<>> names_;  // of collected_
};

std::optional<Place> PackageSearch::local(const fs::path& path) const {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  return Place{{}, path, {}, options_, fs::file_size(path, error)};
}

void PackageSearch::cannot_be_reached(const Diagnosis& why, const Location& index) {
  if (unreachable_) return;
  unreachable_ = why;
  unreachable_->with(Key::project, project_).with(Key::index, index.text, index.set_by);
  if ((why.value(Key::status) == "401" || why.value(Key::status) == "403") &&
      (pip_.keyring_provider == "import" || pip_.keyring_provider == "subprocess"))
    unreachable_->with(Key::keyring, pip_.keyring_provider, "pip's keyring-provider");
}

void PackageSearch::cannot_be_read(Diagnosis why, const Location& index) {
  if (unreadable_) return;
  why.with(Key::project, project_);
  if (!file_.empty()) why.with(Key::file, file_);
  why.with(Key::index, index.text, index.set_by);
  unreadable_ = std::move(why);
}

void PackageSearch::note_portal(const std::string& page, const std::string& url, const Location& index) {
  if (!is_for_a_person(page)) return;
  if (!portal_) portal_ = diagnose(Code::web_page_in_place_of_file);
  portal_->with(Key::url, without_passwords(url)).with(Key::project, project_);
  portal_->with(Key::index, without_passwords(index.text), index.set_by);
  if (const auto title = title_of_page(page); !title->empty())
    portal_->with(Key::title, *title, "the page that came");
  portal_->with(Key::actual, std::to_string(page.size()));
}

std::string PackageSearch::url_of(const std::string& listed, const std::string& page_url) {
  const std::string where = join_url(page_url, listed);
  if (is_url(where)) return with_credentials_of(where, page_url);
  // A page of a server must not name files of this machine.
  return is_url(page_url) ? std::string() : where;
}

void PackageSearch::collect_page(const std::string& page, const std::string& url, const Location& index) {
  bool any = false;
  const auto read = list_page(page, [&](ListedFile file) {
    any = true;
    if (!file.url.empty()) file.url = url_of(file.url, url);
    // Another location may have the file under a URL that counts.
    if (!file.url.empty() && !names_.insert(file.file).second) return;
    collected_->push_back(std::move(file));
  });
  if (!read) return cannot_be_read(read.error(), index);
  if (!any) note_portal(page, url, index);
}

void PackageSearch::collect_file(const fs::path& path) {
  std::error_code error;
  const std::string name = path_text(path.filename());
  if (!name.ends_with(".whl") || !fs::is_regular_file(path, error) || !names_.insert(name).second) return;
  ListedFile file{{file_url_of(path), {}, fs::file_size(path, error)}, name, {}, {}};
  collected_->push_back(std::move(file));
}

std::optional<Place> PackageSearch::listed_on(const std::string& page, const std::string& url,
                                              const Location& index) {
  if (collected_ != nullptr) {
    collect_page(page, url, index);
    return {};
  }
  const auto found = find_in_page(page, file_);
  if (!found) {
    cannot_be_read(found.error(), index);
    return {};
  }
  const std::optional<Listed>& listed = *found;
  if (!listed) note_portal(page, url, index);
  if (!listed || listed->url.empty()) return {};
  if (!sha256_.empty() && !listed->sha256.empty() && to_lower(listed->sha256) != sha256_) {
    missing_.with(Key::listed_sha256, listed->sha256, without_passwords(url))
        .with(Key::expected_sha256, sha256_);
    return {};
  }
  const std::string where = url_of(listed->url, url);
  if (is_url(where)) return remote(where, listed->size);
  const auto path = path_of_file_url(where);
  return path ? local(*path) : std::nullopt;
}

Result<std::optional<Place>> PackageSearch::on_page(const std::string& url, const Location& index) {
  const auto page = fetch_text(url, options_, largest_page, json_or_html, cancel_);
  if (page) return listed_on(*page, url, index);
  const Diagnosis& why = page.error();
  if (why.code == Code::canceled) return fail(why);
  // A refusal by policy is no network failure: another proxy or a later time would not help.
  if (why.code == Code::forbidden_by_policy) {
    if (!forbidden_) forbidden_ = why;
  } else if ((why.code == Code::fetched_length_wrong || why.code == Code::web_page_in_place_of_file) &&
             !why.value(Key::problem).empty()) {
    // Named a web page (EH-N06) when the index writes HTML. Only the limit ends a page of unknown size.
    cannot_be_read(
        diagnose(Code::not_in_package_index)
            .with(Key::problem, "it is longer than " + format_bytes(largest_page) + ", which is the limit")
            .with(Key::size, why.value(Key::actual))
            .with(Key::limit, std::to_string(largest_page)),
        index);
  } else if (why.value(Key::status) != "404") {
    cannot_be_reached(why, index);
  }
  return std::optional<Place>();
}

Result<std::optional<Place>> PackageSearch::on_local_page(const fs::path& page, const Location& index) {
  std::error_code error;
  if (!fs::is_regular_file(page, error)) return std::optional<Place>();
  const auto text = read_file(page, largest_page, Code::not_in_package_index);
  if (text) return listed_on(*text, file_url_of(page), index);
  Diagnosis why = text.error();
  cannot_be_read(std::move(why.with(Key::problem, "its page " + path_text(page) + " cannot be read")), index);
  return std::optional<Place>();
}

// pip's find-links: a folder with files and pages, a file, a page, or the URL of one.
Result<std::optional<Place>> PackageSearch::in_links(const std::string& link) {
  const Location location{with_home(link), "find-links"};
  const auto is_page = [](std::string_view name) {
    return name.ends_with(".html") || name.ends_with(".htm");
  };
  if (is_url(location.text))
    return collected_ == nullptr && file_name_of(location.text) == file_
               ? Result<std::optional<Place>>(remote(location.text))
               : on_page(location.text, location);
  const auto path = local_path(location.text);
  if (!path) return std::optional<Place>();
  if (collected_ != nullptr)
    collect_file(*path);
  else if (path_text(path->filename()) == file_)
    return local(*path);
  if (is_page(path_text(*path))) return on_local_page(*path, location);
  if (collected_ == nullptr)
    if (auto found = local(*path / path_of(file_))) return found;
  std::error_code error;
  for (fs::directory_iterator entry(*path, error), end; !error && entry != end; entry.increment(error)) {
    if (collected_ != nullptr) collect_file(entry->path());
    if (!is_page(path_text(entry->path()))) continue;
    TRY_ASSIGN(auto found, on_local_page(entry->path(), location));
    if (found) return found;
  }
  return std::optional<Place>();
}

Result<std::optional<Place>> PackageSearch::in_index(const Location& index) {
  missing_.with(Key::index, index.text, index.set_by);
  if (is_url(index.text))
    return on_page(index.text + (index.text.ends_with('/') ? "" : "/") + normalized(project_) + "/", index);
  const auto path = local_path(index.text);
  return path ? on_local_page(*path / path_of(normalized(project_)) / "index.html", index)
              : Result<std::optional<Place>>(std::nullopt);
}

Diagnosis PackageSearch::failure() {
  Diagnosis* const decisive = unreachable_  ? &*unreachable_
                              : portal_     ? &*portal_
                              : forbidden_  ? &*forbidden_
                              : unreadable_ ? &*unreadable_
                                            : &missing_;
  for (const std::string& skipped : pip_.skipped)
    decisive->with(Key::skipped, skipped, "pip's configuration");
  return std::move(*decisive);
}

}  // namespace

namespace {

// Asks the locations in pip's order, until `search` has found the file.
Result<std::optional<Place>> search_locations(PackageSearch& search, const PipSettings& pip,
                                              std::optional<Result<PipAnswer>> answer,
                                              std::string_view project, std::string_view file,
                                              const TransferOptions& options,
                                              const std::optional<CancelToken>& cancel) {
  if (!options.package_index.empty())
    return search.in_index({options.package_index, options.package_index_set_by});
  for (const std::string& link : pip.find_links) {
    TRY_ASSIGN(auto found, search.in_links(link));
    if (found) return found;
  }
  if (pip.no_index) return std::optional<Place>();
  std::vector<Location> indexes;
  std::optional<Diagnosis> no_default;
  if (pip.index_url.empty()) {
    if (!answer || (*answer && (*answer)->index.empty() && !(*answer)->failure))
      answer = ask_pip(options, false, cancel);
    else if (*answer && (*answer)->index.empty())
      answer = fail(*(*answer)->failure);
    if (*answer)
      indexes.push_back({(*answer)->index, "pip install --help"});
    else if (area_of(answer->error().code) != Area::network)
      return fail(answer->error());
    else
      no_default = std::move(*answer).error();
  } else if (const std::string problem = not_an_index(pip.index_url); !problem.empty()) {
    return fail(diagnose(Code::pip_configuration_unusable)
                    .with(Key::set_by, pip.index_set_by)
                    .with(Key::key, "index-url")
                    .with(Key::value, pip.index_url)
                    .with(Key::problem, problem));
  } else {
    indexes.push_back({pip.index_url, pip.index_set_by});
  }
  for (const std::string& extra : pip.extra_index_urls) indexes.push_back({extra, "extra-index-url"});
  for (const Location& index : indexes) {
    TRY_ASSIGN(auto found, search.in_index(index));
    if (found) return found;
  }
  if (no_default && indexes.empty()) {
    for (const std::string& skipped : pip.skipped)
      no_default->with(Key::skipped, skipped, "pip's configuration");
    return fail(std::move(no_default->with(Key::project, project).with(Key::file, file)));
  }
  return std::optional<Place>();
}

// Reads pip's configuration and searches. `files`: collects all of them there.
Result<std::optional<Place>> search_index(std::string_view project, std::string_view file,
                                          std::string_view sha256, const TransferOptions& options,
                                          const std::optional<CancelToken>& cancel, PackageFiles* files) {
  if (options.offline)
    return fail(diagnose(Code::offline)
                    .with(Key::url, "package index: " + std::string(project) +
                                        (file.empty() ? "" : ", " + std::string(file))));
  std::optional<fs::path> prefix = python_prefix();
  std::optional<Result<PipAnswer>> answer;
  // With a named index it is not worth running a Python. A pip that fails reads no file of that Python.
  if (!prefix && options.package_index.empty()) {
    answer = ask_pip(options, true, cancel);
    if (*answer)
      prefix = (*answer)->prefix;
    else if (area_of(answer->error().code) != Area::network)
      return fail(answer->error());
  }
  TRY_ASSIGN(const PipSettings pip, read_pip_settings(prefix.value_or(fs::path())));
  PackageSearch search(project, file, sha256, pip, with_pip_settings(options, pip), cancel);
  if (files != nullptr) search.collect(files->files);
  TRY_ASSIGN(auto found, search_locations(search, pip, std::move(answer), project, file, options, cancel));
  if (files == nullptr)
    return found ? Result<std::optional<Place>>(std::move(found)) : fail(search.failure());
  if (search.is_incomplete() || files->files.empty()) return fail(search.failure());
  files->options = search.options();
  return std::optional<Place>();
}

}  // namespace

Result<Place> locate_package(std::string_view project, std::string_view file, std::string_view sha256,
                             const TransferOptions& options, const std::optional<CancelToken>& cancel) {
  return search_index(project, file, sha256, options, cancel, nullptr).map([](std::optional<Place>&& found) {
    return std::move(*found);
  });
}

Result<PackageFiles> list_package(std::string_view project, const TransferOptions& options,
                                  const std::optional<CancelToken>& cancel) {
  PackageFiles files;
  TRY(search_index(project, {}, {}, options, cancel, &files).map([](const auto&) {}));
  return files;
}

std::vector<std::string> known_indexes(const TransferOptions& options) {
  if (!options.package_index.empty()) return {options.package_index};
  const std::optional<fs::path> prefix = python_prefix();
  if (!prefix) return {};
  const auto pip = read_pip_settings(*prefix);
  if (!pip || (pip->index_url.empty() && !pip->no_index)) return {};
  std::vector<std::string> urls = pip->find_links;
  if (!pip->no_index) {
    urls.push_back(pip->index_url);
    urls.insert(urls.end(), pip->extra_index_urls.begin(), pip->extra_index_urls.end());
  }
  return urls;
}

}  // namespace enginehost::transfer
