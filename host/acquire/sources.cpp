#include "host/acquire/component.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/acquire/description.hpp"
#include "host/oci/pull.hpp"
#include "host/transfer/package_index.hpp"

namespace enginehost::acquire {
namespace {

// More than a file of 2^50 bytes in the smallest chunks needs.
constexpr std::uint64_t largest_list = 8u << 20;

Result<transfer::ChunkList> fetch_list(const manifest::Source& source, const manifest::Artifact& artifact,
                                       const ComponentWork& work) {
  const transfer::TransferOptions& options = work.options.transfer;
  TRY_ASSIGN(const transfer::Place place, locate(source, artifact, work.build, options, work.cancel));
  const std::string where = place.url.empty() ? path_text(place.path) : place.url;
  TRY_ASSIGN(const std::string text,
             place.url.empty() ? read_file(place.path, largest_list)
                               : transfer::fetch_text(place.url, options, largest_list, {}, work.cancel));
  if (const std::string actual = sha256_hex(text); actual != artifact.chunks_sha256)
    return fail(diagnose(Code::fetched_content_wrong)
                    .with(Key::url, where)
                    .with(Key::expected_sha256, artifact.chunks_sha256, "manifest")
                    .with(Key::actual_sha256, actual));
  TRY_ASSIGN(transfer::ChunkList list, transfer::read_chunk_list(text, where));
  if (list.size == *artifact.size) return list;
  return fail(diagnose(Code::member_wrong)
                  .with(Key::document, where)
                  .with(Key::member, "size")
                  .with(Key::problem, "not the artifact's size"));
}

}  // namespace

Result<transfer::Place> locate(const manifest::Source& source, const manifest::Artifact& artifact,
                               const manifest::Build& build, const transfer::TransferOptions& transfer,
                               const std::optional<CancelToken>& cancel) {
  using Kind = manifest::Source::Kind;
  if (source.kind == Kind::package_index)
    return transfer::locate_package(source.project, source.file, artifact.sha256, transfer, cancel);
  if (source.kind == Kind::oci)
    return oci::locate(source.location, {artifact.sha256, build.os, build.arch, build.flavor}, transfer,
                       cancel);
  if (auto outside = outside_of_repository(source, build)) return fail(std::move(*outside));
  const std::string where = source.kind == Kind::file ? resolve_file_source(source, build) : source.location;
  transfer::Place place;
  if (transfer::is_url(where))
    place.url = where;
  else
    place.path = path_of(where);
  return place;
}

std::vector<manifest::Source> with_registry_mirrors(const std::vector<manifest::Source>& sources,
                                                    const transfer::TransferOptions& options) {
  std::vector<manifest::Source> all;
  for (const manifest::Source& source : sources) {
    if (source.kind != manifest::Source::Kind::oci) {
      all.push_back(source);
      continue;
    }
    for (std::string& reference : oci::with_mirrors(source.location, options)) {
      all.push_back(source);
      all.back().location = std::move(reference);
    }
  }
  return all;
}

Result<std::optional<transfer::ChunkList>> chunk_list_for(const manifest::Artifact& artifact,
                                                          ComponentWork& work) {
  if (artifact.chunks_sha256.empty() || !artifact.size) return std::optional<transfer::ChunkList>();
  std::optional<Diagnosis> failure;
  for (const manifest::Source& source : artifact.chunks_sources) {
    if (source.kind != manifest::Source::Kind::url && source.kind != manifest::Source::Kind::file) continue;
    auto list = fetch_list(source, artifact, work);
    if (list) return std::optional(std::move(*list));
    if (list.error().code == Code::canceled) return fail(std::move(list).error());
    failure = std::move(list).error();
  }
  if (failure) work.acquired.warnings.push_back(std::move(*failure));
  return std::optional<transfer::ChunkList>();
}

}  // namespace enginehost::acquire
