#include "host/manifest/index_cache.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "tests/manifest/documents.hpp"

namespace enginehost::manifest {
namespace {

namespace fs = std::filesystem;

class IndexCacheTest : public testing::Test {
 protected:
  IndexCacheTest() {
    folder_ = *make_private_folder(fs::temp_directory_path(), "enginehost-index-");
    document_ = (folder_ / "pytorch.json").string();
    Json text = documents()["manifest"];
    for (const auto& [place, value] : std::vector<std::pair<std::string, Json>>{
             {"/builds/0/requires/rocm",
              Json::object().set("version", "6.2").set("gfx", Json::strings({"gfx1100"}))},
             {"/builds/0/requires/metal", true},
             {"/builds/0/requires/npu", 3},
             {"/builds/0/requires/memory", 4096},
             {"/builds/0/yanked", "withdrawn"},
             {"/builds/0/colour", "red"}})
      text = changed(text, place, value);
    EXPECT_TRUE(write_file(document_, text.dump(), false));
    manifest_ = *read_manifest(text, folder_.string(), document_);
    EXPECT_TRUE(write_index_cache(file(), *origin_of("one", {document_}), {manifest_}));
  }
  ~IndexCacheTest() override { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / "index.bin"; }

  fs::path folder_;
  std::string document_;
  std::shared_ptr<const Manifest> manifest_;
};

TEST_F(IndexCacheTest, what_is_read_back_is_what_was_written) {
  const auto read = read_index_cache(file(), "one");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1u);
  const Manifest& manifest = *read->front();
  EXPECT_EQ(manifest.serial, 7);
  EXPECT_EQ(manifest.warnings, manifest_->warnings);
  EXPECT_TRUE(manifest.licenses.at("nvidia-cudnn").explicit_consent);
  EXPECT_EQ(manifest.components.size(), manifest_->components.size());
  const Build &build = *manifest.builds.at(0), &original = *manifest_->builds.at(0);
  EXPECT_EQ(build.artifacts_digest(), original.artifacts_digest())
      << "components are found through the manifest";
  EXPECT_EQ(build.requires_.unknown, original.requires_.unknown);
  EXPECT_EQ(build.requires_.cuda->sass, original.requires_.cuda->sass);
  EXPECT_EQ(build.requires_.rocm->gfx, original.requires_.rocm->gfx);
  EXPECT_TRUE(build.requires_.metal);
  EXPECT_EQ(build.options, original.options);
  EXPECT_EQ(build.yanked, "withdrawn");
  // Written once more it is the same file: nothing was lost on the way.
  const std::string first = *read_file(file());
  ASSERT_TRUE(write_index_cache(file(), *origin_of("one", {document_}), *read));
  EXPECT_EQ(*read_file(file()), first);
}

TEST_F(IndexCacheTest, it_does_not_serve_for_another_key_or_a_changed_or_missing_document) {
  EXPECT_FALSE(read_index_cache(file(), "two"));
  ASSERT_TRUE(write_file(document_, "{}", false));
  EXPECT_FALSE(read_index_cache(file(), "one"));
  fs::remove(document_);
  EXPECT_FALSE(read_index_cache(file(), "one"));
}

TEST_F(IndexCacheTest, an_absent_cut_or_changed_file_is_not_used) {
  const std::string bytes = *read_file(file());
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    ASSERT_TRUE(write_file(file(), bytes.substr(0, length), false));
    EXPECT_FALSE(read_index_cache(file(), "one")) << length;
  }
  std::mt19937 dice(1);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    damaged[dice() % damaged.size()] ^= static_cast<char>(1 + dice() % 255);
    ASSERT_TRUE(write_file(file(), damaged, false));
    EXPECT_FALSE(read_index_cache(file(), "one"));
  }
  fs::remove(file());
  EXPECT_FALSE(read_index_cache(file(), "one"));
}

// The file's own sum, so that damage gets past it and meets the reader.
std::string with_sum(std::string bytes) {
  constexpr std::size_t head = 16;
  std::string_view body = std::string_view(bytes).substr(head);
  std::uint64_t sum = 0x9E3779B97F4A7C15u ^ body.size();
  while (!body.empty()) {
    std::uint64_t word = 0;
    const std::size_t length = std::min(body.size(), sizeof word);
    std::memcpy(&word, body.data(), length);
    sum = (sum ^ word) * 0xBF58476D1CE4E5B9u;
    sum ^= sum >> 29;
    body.remove_prefix(length);
  }
  std::memcpy(bytes.data() + 8, &sum, sizeof sum);
  return bytes;
}

TEST_F(IndexCacheTest, lengths_and_counts_in_the_file_are_not_believed) {
  const std::string bytes = *read_file(file());
  ASSERT_EQ(with_sum(bytes), bytes);
  std::mt19937 dice(2);
  int used = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    const std::size_t at = 16 + dice() % (damaged.size() - 16);
    if (dice() % 4 == 0)
      damaged.resize(at);
    else
      for (std::size_t i = at; i < std::min(at + 4, damaged.size()); ++i)
        damaged[i] = static_cast<char>(dice());
    ASSERT_TRUE(write_file(file(), with_sum(damaged), false));
    // Damage within a text cannot be noticed; anything else must be refused, and nothing may crash or grow.
    if (const auto read = read_index_cache(file(), "one")) {
      ++used;
      EXPECT_EQ(read->front()->builds.size(), 1u);
    }
  }
  EXPECT_GT(used, 0);
  EXPECT_LT(used, 2000);
}

}  // namespace
}  // namespace enginehost::manifest
