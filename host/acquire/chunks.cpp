#include "host/acquire/sources.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/acquire/description.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

// More than a file of 2^50 bytes in the smallest chunks needs.
constexpr std::uint64_t largest_list = 8u << 20;

Result<std::string> fetch_list(const std::string& where, const ComponentWork& work) {
  if (transfer::is_url(where))
    return transfer::fetch_text(where, work.options.transfer, largest_list, {}, work.cancel);
  return read_file(path_of(where), largest_list);
}

}  // namespace

Result<std::optional<transfer::ChunkList>> chunk_list_for(const manifest::Artifact& artifact,
                                                          ComponentWork& work) {
  if (artifact.chunks_sha256.empty() || !artifact.size) return std::optional<transfer::ChunkList>();
  std::optional<Diagnosis> failure;
  for (const manifest::Source& source : artifact.chunks_sources) {
    std::string where;
    if (auto outside = outside_of_repository(source, work.build)) {
      failure = std::move(outside);
      continue;
    }
    if (source.kind == manifest::Source::Kind::url) where = source.location;
    if (source.kind == manifest::Source::Kind::file) where = resolve_file_source(source, work.build);
    if (where.empty()) continue;
    const auto text = fetch_list(where, work);
    if (!text && text.error().code == "EH-P10") return fail(text.error());
    if (!text) {
      failure = text.error();
      continue;
    }
    if (const std::string actual = sha256_hex(*text); actual != artifact.chunks_sha256) {
      failure = diagnose("EH-N08");
      failure->with("url", transfer::is_url(where) ? transfer::without_credentials(where) : where)
          .with("expected_sha256", artifact.chunks_sha256, "manifest")
          .with("actual_sha256", actual);
      continue;
    }
    auto list = transfer::read_chunk_list(*text, where);
    if (list && list->size != *artifact.size)
      list = fail(diagnose("EH-M02")
                      .with("document", where)
                      .with("member", "size")
                      .with("problem", "not the artifact's size"));
    if (list) return std::optional(std::move(*list));
    failure = list.error();
  }
  if (failure) work.acquired.warnings.push_back(std::move(*failure));
  return std::optional<transfer::ChunkList>();
}

}  // namespace enginehost::acquire
