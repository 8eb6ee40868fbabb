#include "host/manifest/index_cache.hpp"

#include <cstring>
#include <type_traits>

namespace enginehost::manifest {
namespace {

// Another layout of the structures below must change this text.
constexpr std::string_view magic = "EHINDEX1";

// A sum that notices damage; it is no protection against people, who could as well write the file anew.
std::uint64_t sum_of(std::string_view bytes) {
  std::uint64_t sum = 0x9E3779B97F4A7C15u ^ bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t length = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), length);
    sum = (sum ^ word) * 0xBF58476D1CE4E5B9u;
    sum ^= sum >> 29;
    bytes.remove_prefix(length);
  }
  return sum;
}

class Writer {
 public:
  static constexpr bool is_reader = false;
  void bytes(const void* data, std::size_t size) { out.append(static_cast<const char*>(data), size); }
  void text(const std::string& value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    bytes(&size, sizeof size);
    out += value;
  }
  std::uint32_t count(std::size_t value) {
    const auto size = static_cast<std::uint32_t>(value);
    bytes(&size, sizeof size);
    return size;
  }
  std::string out;
};

class Reader {
 public:
  static constexpr bool is_reader = true;
  explicit Reader(std::string_view in) : in_(in) {}
  void bytes(void* data, std::size_t size) {
    if (size > in_.size()) {
      good = false;
      in_ = {};
      return;
    }
    std::memcpy(data, in_.data(), size);
    in_.remove_prefix(size);
  }
  void text(std::string& value) {
    std::uint32_t size = 0;
    bytes(&size, sizeof size);
    if (size > in_.size()) {
      good = false;
      return;
    }
    value.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  // Each element takes a byte at least, so a larger count is damage and must not become an allocation.
  std::uint32_t count(std::size_t) {
    std::uint32_t size = 0;
    bytes(&size, sizeof size);
    if (size > in_.size()) good = false;
    return good ? size : 0;
  }
  bool at_end() const { return in_.empty(); }
  bool good = true;

 private:
  std::string_view in_;
};

// One description of every structure serves writing and reading. `T` is const when writing.
template <class Archive, class... Fields>
void all(Archive& archive, Fields&... fields);

template <class Archive, class T>
void one(Archive& archive, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, std::string>) {
    archive.text(value);
  } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
    archive.bytes(&value, sizeof value);
  } else if constexpr (std::is_same_v<Plain, Source>) {
    all(archive, value.kind, value.location, value.project, value.file);
    if constexpr (Archive::is_reader)
      archive.good = archive.good && value.kind >= Source::Kind::url && value.kind <= Source::Kind::oci;
  } else if constexpr (std::is_same_v<Plain, Artifact>) {
    all(archive, value.sha256, value.size, value.archive, value.path, value.strip, value.select, value.tree,
        value.sources);
  } else if constexpr (std::is_same_v<Plain, License>) {
    all(archive, value.id, value.url, value.sha256, value.redistribute);
    // A bool must not be copied from unknown bytes: only 0 and 1 are values of it.
    std::uint8_t consent = value.explicit_consent ? 1 : 0;
    archive.bytes(&consent, 1);
    if constexpr (Archive::is_reader) value.explicit_consent = consent != 0;
  } else if constexpr (std::is_same_v<Plain, Component>) {
    all(archive, value.id, value.version, value.license, value.optional, value.artifacts);
  } else if constexpr (std::is_same_v<Plain, CudaRequirement>) {
    all(archive, value.toolkit, value.sass, value.ptx);
  } else if constexpr (std::is_same_v<Plain, RocmRequirement>) {
    all(archive, value.version, value.gfx);
  } else if constexpr (std::is_same_v<Plain, Requirements>) {
    all(archive, value.libc, value.glibc, value.glibcxx, value.cxxabi, value.os_version, value.vcruntime,
        value.driver, value.cpu, value.cuda, value.rocm, value.memory, value.device_memory, value.libraries,
        value.unknown);
    std::uint8_t metal = value.metal ? 1 : 0;
    archive.bytes(&metal, 1);
    if constexpr (Archive::is_reader) value.metal = metal != 0;
  } else if constexpr (std::is_same_v<Plain, FileStamp>) {
    all(archive, value.device, value.inode, value.size, value.modified_ns);
  } else if constexpr (std::is_same_v<Plain, Build>) {
    all(archive, value.id, value.engine, value.version, value.flavor, value.os, value.arch, value.requires_,
        value.plugin_component, value.plugin_path, value.components, value.search, value.options, value.lazy,
        value.capabilities, value.priority, value.yanked, value.not_built, value.digest);
  } else if constexpr (requires { value.has_value(); }) {
    std::uint8_t there = value.has_value() ? 1 : 0;
    archive.bytes(&there, 1);
    if constexpr (Archive::is_reader) {
      if (there != 0) value.emplace();
    }
    if (value.has_value()) one(archive, *value);
  } else if constexpr (requires { value.first; }) {
    all(archive, value.first, value.second);
  } else if constexpr (requires { typename Plain::mapped_type; }) {
    const std::uint32_t count = archive.count(value.size());
    if constexpr (Archive::is_reader) {
      for (std::uint32_t i = 0; i < count && archive.good; ++i) {
        std::string key;
        typename Plain::mapped_type element;
        all(archive, key, element);
        value.emplace_hint(value.end(), std::move(key), std::move(element));
      }
    } else {
      for (auto& [key, element] : value) all(archive, key, element);
    }
  } else {
    const std::uint32_t count = archive.count(value.size());
    if constexpr (Archive::is_reader) {
      // Not reserve(count): an element is larger in memory than the one byte that count() vouches for.
      for (std::uint32_t i = 0; i < count && archive.good; ++i) one(archive, value.emplace_back());
    } else {
      for (auto& element : value) one(archive, element);
    }
  }
}

template <class Archive, class... Fields>
void all(Archive& archive, Fields&... fields) {
  (one(archive, fields), ...);
}

template <class Archive, class T>
void manifest_fields(Archive& archive, T& manifest) {
  all(archive, manifest.engine, manifest.created, manifest.expires, manifest.serial, manifest.licenses,
      manifest.components, manifest.repository, manifest.name, manifest.warnings);
}

std::shared_ptr<const Manifest> read_one(Reader& reader) {
  auto manifest = std::make_shared<Manifest>();
  manifest_fields(reader, *manifest);
  const std::uint32_t count = reader.count(0);
  for (std::uint32_t i = 0; i < count && reader.good; ++i) {
    auto build = std::make_shared<Build>();
    one(reader, *build);
    build->manifest = manifest;
    manifest->builds.push_back(std::move(build));
  }
  return manifest;
}

bool is_unchanged(const IndexOrigin& origin) {
  for (const auto& [document, stamp] : origin.documents) {
    const auto now = stamp_of(document);
    if (!now || !(*now == stamp)) return false;
  }
  return true;
}

}  // namespace

Result<IndexOrigin> origin_of(std::string key, const std::vector<std::string>& documents) {
  IndexOrigin origin{std::move(key), {}};
  for (const std::string& document : documents) {
    TRY_ASSIGN(const FileStamp stamp, stamp_of(document));
    origin.documents.emplace_back(document, stamp);
  }
  return origin;
}

Result<void> write_index_cache(const std::filesystem::path& file, const IndexOrigin& origin,
                               const std::vector<std::shared_ptr<const Manifest>>& manifests) {
  Writer writer;
  all(writer, origin.key, origin.documents);
  writer.count(manifests.size());
  for (const auto& manifest : manifests) {
    manifest_fields(writer, *manifest);
    writer.count(manifest->builds.size());
    for (const auto& build : manifest->builds) one(writer, *build);
  }
  const std::uint64_t sum = sum_of(writer.out);
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  // It can be made again at any time, so it need not survive a power cut.
  return write_file(file, bytes + writer.out, false);
}

std::optional<std::vector<std::shared_ptr<const Manifest>>> read_index_cache(
    const std::filesystem::path& file, const std::string& key) {
  const Result<std::string> bytes = read_file(file);
  constexpr std::size_t head = magic.size() + sizeof(std::uint64_t);
  if (!bytes || bytes->size() < head || !bytes->starts_with(magic)) return std::nullopt;
  const std::string_view body = std::string_view(*bytes).substr(head);
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes->data() + magic.size(), sizeof sum);
  if (sum != sum_of(body)) return std::nullopt;

  Reader reader(body);
  IndexOrigin origin;
  all(reader, origin.key, origin.documents);
  if (!reader.good || origin.key != key || !is_unchanged(origin)) return std::nullopt;
  std::vector<std::shared_ptr<const Manifest>> manifests;
  const std::uint32_t count = reader.count(0);
  for (std::uint32_t i = 0; i < count && reader.good; ++i) manifests.push_back(read_one(reader));
  if (!reader.good || !reader.at_end()) return std::nullopt;
  return manifests;
}

}  // namespace enginehost::manifest
