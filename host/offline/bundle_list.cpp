#include "host/offline/bundle_list.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "host/manifest/fields.hpp"
#include "host/manifest/shapes.hpp"

namespace enginehost::offline {
namespace {

// Reads members strictly; the first mistake is kept.
class Reading {
 public:
  explicit Reading(std::string_view name) : name_(name) {}

  void refuse(const std::string& member, std::string_view problem) {
    if (mistake) return;
    mistake = diagnose(Code::bundle_damaged)
                  .with(Key::file, name_)
                  .with(Key::entry, list_entry)
                  .with(Key::member, member)
                  .with(Key::problem, member + " " + std::string(problem));
  }
  std::string text(const Json& object, const std::string& at, const char* member,
                   bool (*is_right)(std::string_view), bool required = true) {
    const Json* found = object.find(member);
    if (found == nullptr && !required) return {};
    if (found == nullptr || !found->is_string() || !is_right(found->as_string())) {
      refuse(at + "." + member, "is not as it must be");
      return {};
    }
    return found->as_string();
  }
  std::uint64_t size(const Json& object, const std::string& at) {
    const Json& found = object["size"];
    if (!found.is_integer() || found.as_integer() < 0) refuse(at + ".size", "is no size");
    return static_cast<std::uint64_t>(found.as_integer());
  }
  // `most`: for a list of things that cost time each.
  const Json::Array& array(const Json& object, const std::string& at, const char* member,
                           std::size_t most = SIZE_MAX) {
    static const Json::Array& none = *new Json::Array;
    const Json& found = object[member];
    if (!found.is_array()) refuse(at + member, "is no list");
    if (found.as_array().size() <= most) return found.as_array();
    refuse(at + member, "has " + std::to_string(found.as_array().size()) + " entries, and at most " +
                            std::to_string(most) + " are read");
    return none;
  }
  // Reads each entry of a list by read(entry, "member[2]", the value to fill in, the entries before); ends at
  // the first mistake.
  template <class Value, class Read>
  std::vector<Value> list(const Json& document, const char* member, std::size_t most, const Read& read) {
    std::vector<Value> all;
    for (const Json& entry : array(document, "", member, most)) {
      Value value;
      read(entry, member + ("[" + std::to_string(all.size()) + "]"), value, all);
      all.push_back(std::move(value));
      if (mistake) break;
    }
    return all;
  }
  std::vector<std::string> texts(const Json& object, const std::string& at, const char* member) {
    std::vector<std::string> all;
    for (const Json& element : array(object, at + ".", member)) {
      if (!element.is_string()) refuse(at + "." + member, "holds something that is no text");
      all.push_back(element.as_string());
    }
    return all;
  }
  Blob blob(const Json& object, const std::string& at) {
    return {text(object, at, "sha256", manifest::is_digest), size(object, at)};
  }
  std::vector<Blob> blobs(const Json& document, const char* member) {
    return list<Blob>(
        document, member, SIZE_MAX,
        [&](const Json& entry, const std::string& at, Blob& one, const std::vector<Blob>& before) {
          one = blob(entry, at);
          if (!before.empty() && before.back().sha256 >= one.sha256)
            refuse(at, "is out of order, or there twice");
        });
  }

  std::optional<Diagnosis> mistake;

 private:
  std::string_view name_;
};

bool any_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::vector<BundledBuild> read_builds(Reading& reading, const Json& document) {
  const auto read = [&](const Json& entry, const std::string& at, BundledBuild& build,
                        const std::vector<BundledBuild>& before) {
    build.id = reading.text(entry, at, "id", manifest::is_id);
    build.engine = reading.text(entry, at, "engine", manifest::is_lower_id);
    build.version = reading.text(entry, at, "version", any_text);
    build.flavor = reading.text(entry, at, "flavor", any_text);
    build.os = reading.text(entry, at, "os", any_text);
    build.arch = reading.text(entry, at, "arch", any_text);
    build.manifest = reading.text(entry, at, "manifest", manifest::is_digest);
    if (!entry["trees"].is_object() || entry["trees"].as_object().empty())
      reading.refuse(at + ".trees", "is missing");
    for (const auto& [component, tree] : entry["trees"].as_object()) {
      if (!manifest::is_id(component) || !manifest::is_digest(tree.as_string()))
        reading.refuse(at + ".trees", "names something that cannot be a component or a tree");
      build.trees.emplace_back(component, tree.as_string());
    }
    if (!before.empty() &&
        std::tie(before.back().id, before.back().engine) >= std::tie(build.id, build.engine))
      reading.refuse(at, "is out of order, or there twice");
  };
  auto builds = reading.list<BundledBuild>(document, "builds", most_builds, read);
  if (builds.empty()) reading.refuse("builds", "is empty");
  return builds;
}

std::vector<BundledRepository> read_repositories(Reading& reading, const Json& document) {
  const auto read = [&](const Json& entry, const std::string& at, BundledRepository& repository,
                        const std::vector<BundledRepository>&) {
    repository.name = reading.text(entry, at, "name", any_text);
    std::set<std::string> paths;
    for (const Json& listed : reading.array(entry, at + ".", "documents", most_repository_documents)) {
      RepositoryDocument found;
      found.path = reading.text(listed, at + ".documents", "path", is_document_path);
      found.sha256 = reading.text(listed, at + ".documents", "sha256", manifest::is_digest);
      if (!paths.insert(found.path).second) reading.refuse(at + ".documents", "lists a path twice");
      repository.documents.push_back(std::move(found));
    }
    if (!paths.contains("index.json")) reading.refuse(at, "has no index.json");
  };
  return reading.list<BundledRepository>(document, "repositories", most_repositories, read);
}

std::vector<BundledLicense> read_licenses(Reading& reading, const Json& document) {
  const auto read = [&](const Json& entry, const std::string& at, BundledLicense& license,
                        const std::vector<BundledLicense>&) {
    license.id = reading.text(entry, at, "id", any_text);
    license.url = reading.text(entry, at, "url", any_text, false);
    license.sha256 = reading.text(entry, at, "sha256", manifest::is_digest, false);
    license.redistribute = reading.text(entry, at, "redistribute", any_text, false);
    license.text = entry["text"].as_bool();
    license.by_order = entry["by_order"].as_bool();
    license.components = reading.texts(entry, at, "components");
    if (license.text && license.sha256.empty()) reading.refuse(at, "has a text without digest");
  };
  return reading.list<BundledLicense>(document, "licenses", most_licenses, read);
}

// Checks that every listed blob is referred to and that none is listed as two things.
void check_references(Reading& reading, const BundleList& list) {
  std::set<std::string> referred;
  for (const BundledBuild& build : list.builds) {
    referred.insert(build.manifest);
    for (const auto& [component, tree] : build.trees) referred.insert(tree);
  }
  for (const BundledRepository& repository : list.repositories)
    for (const RepositoryDocument& document : repository.documents) referred.insert(document.sha256);
  for (const BundledLicense& license : list.licenses)
    if (license.text) referred.insert(license.sha256);
  std::uint64_t sum = list.spdx.size;
  for (const Blob& blob : list.documents) {
    if (referred.erase(blob.sha256) == 0)
      reading.refuse("documents", "holds " + blob.sha256 + ", which nothing refers to");
    sum += blob.size;
    if (blob.size > largest_list || sum > largest_documents) reading.refuse("documents", "is too large");
  }
  if (!referred.empty()) reading.refuse("documents", "lacks " + *referred.begin());
  std::set<std::string> files;
  for (const Blob& blob : list.files) files.insert(blob.sha256);
  for (const Blob& blob : list.needs)
    if (files.contains(blob.sha256)) reading.refuse("needs", "names a file that is in the bundle");
}

}  // namespace

bool is_document_path(std::string_view path) {
  return path.size() <= 200 && manifest::is_view_path(path) && any_text(path);
}

std::uint64_t BundleList::size() const {
  std::uint64_t sum = spdx.size;
  for (const auto* blobs : {&documents, &files})
    for (const Blob& blob : *blobs) sum += blob.size;
  return sum;
}

Result<BundleList> read_bundle_list(std::string_view text, std::string_view name) {
  Reading reading(name);
  auto document = parse_json(text, name, {largest_list, 8, most_values});
  if (!document)
    return fail(std::move(diagnose(Code::bundle_damaged)
                              .with(Key::file, name)
                              .with(Key::entry, list_entry)
                              .with(Key::problem, document.error().value(Key::problem))));
  if ((*document)["kind"].as_string() != list_kind) {
    reading.refuse("kind", "does not say that this is a bundle");
    return fail(std::move(*reading.mistake));
  }
  const std::string where = std::string(name) + ": " + std::string(list_entry);
  TRY(manifest::check_version(*document, where));
  BundleList list;
  list.builds = read_builds(reading, *document);
  list.repositories = read_repositories(reading, *document);
  list.licenses = read_licenses(reading, *document);
  if (const Json* base = document->find("base")) {
    list.base.emplace();
    list.base->name = reading.text(*base, "base", "name", any_text);
    list.base->list = reading.text(*base, "base", "list", manifest::is_digest);
    list.base->builds = reading.texts(*base, "base", "builds");
  }
  list.spdx = reading.blob((*document)["spdx"], "spdx");
  list.documents = reading.blobs(*document, "documents");
  list.files = reading.blobs(*document, "files");
  list.needs = reading.blobs(*document, "needs");
  if (!reading.mistake) check_references(reading, list);
  if (reading.mistake) return fail(std::move(*reading.mistake));
  return list;
}

}  // namespace enginehost::offline
