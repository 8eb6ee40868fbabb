// The manifest entry of a build, as it is kept with the installed build.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/installed.hpp"
#include "cache/tree_list.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// Returns a manifest document with only this build, its components and their licenses. read_manifest reads
// it, so that an installed build can be chosen without its repository. File sources become absolute.
// Passwords in URLs are removed, because other users may read the text, and bundles and registries contain
// it.
std::string manifest_of(const manifest::Build& build);

// Returns that document from the record of an installed build, with the id that the publisher gave the build.
Result<Json> published_manifest(const cache::Installed& installed);

// Returns the member "files" of an artifact, sorted by path: path, size, sha256 and executable of a file,
// path and link of a link.
Json named_files(std::vector<cache::TreeEntry> entries);
// Returns its member "ranges".
Json named_ranges(const std::vector<transfer::Range>& ranges);

// Returns the location of a file source: a local path, or a URL if the repository has one.
std::string resolve_file_source(const manifest::Source& source, const manifest::Build& build);

// Returns EH-N14 ("file", "problem") if a file source of a folder repository leads out of that folder, by
// "..", by a link or by an absolute path: a manifest names files of its own repository only. An absolute path
// counts in a folder of this user or of root, who may read the file anyway.
std::optional<Diagnosis> outside_of_repository(const manifest::Source& source, const manifest::Build& build);

// The origin and the signers of an installed build, for people and documents.

// The origin of a build whose row this machine derived for itself (--from-index). It is also the name of the
// repository of these rows.
inline constexpr const char* derived_here = "derived here from the package index; unverified";

// Returns "from https://engines.example/r, signed by 67F243FC3C79E031", "from a bundle, unsigned", "origin
// unknown", or derived_here. `own_repository`: of EngineHost, which is trusted by its place; or empty.
std::string describe_origin(const cache::Installed& installed, const std::string& own_repository);

// Returns the same as members: "repository", "signed_by", "files_by", "only_for", "derived"; null for what is
// unknown or does not apply.
Json origin_of(const cache::Installed& installed);

}  // namespace enginehost::acquire
