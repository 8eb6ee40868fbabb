// Looks up the packages that the table names for FFmpeg, HIP, cuDSS, NVPL, NVSHMEM, TensorRT, Level Zero and
// oneAPI:
// in the package index through pip, and in Debian's lists. Skipped, with the reason, where neither answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "host/explain/providers.hpp"

namespace enginehost::explain {
namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  char bytes[4096];
  for (std::size_t count = 0; (count = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, count);
  pclose(pipe);
  return text;
}

bool is_looked_up(const Provider& row) {
  for (const std::string_view product :
       {"FFmpeg", "AMD HIP", "cuDSS", "part of cuDSS", "NVPL", "NVSHMEM", "part of NVSHMEM", "TensorRT",
        "part of TensorRT", "Level Zero", "oneMKL", "SYCL", "part of the SYCL", "Intel compiler", "oneCCL"})
    if (row.what.starts_with(product)) return true;
  return false;
}

// "nvidia-cudss-cu12<1" -> its name and the condition.
std::map<std::string, std::set<std::string>> packages_of_the_index() {
  std::map<std::string, std::set<std::string>> found;
  for (const Provider& row : all_providers()) {
    if (!is_looked_up(row)) continue;
    std::istringstream words{std::string(row.package_index)};
    for (std::string word; words >> word;) {
      std::erase(word, '"');
      if (word == "or") continue;
      const std::size_t end = word.find_first_of("<>=");
      found[word.substr(0, end)].insert(end == std::string::npos ? "" : word.substr(end));
    }
  }
  return found;
}

// The versions that pip lists. NVPL is for arm64 alone.
std::vector<std::string> versions_of(const std::string& package) {
  const std::string wheels =
      package.starts_with("nvpl") ? "--only-binary=:all: --platform manylinux_2_26_aarch64 " : "";
  std::istringstream lines(output_of("timeout 60 python3 -m pip index versions " + wheels + package));
  std::vector<std::string> versions;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view mark = "Available versions: ";
    if (!line.starts_with(mark)) continue;
    std::istringstream list(line.substr(mark.size()));
    for (std::string version; std::getline(list >> std::ws, version, ',');) versions.push_back(version);
  }
  return versions;
}

bool meets(const std::string& version, const std::string& condition) {
  const int major = std::stoi(version);
  if (condition.empty()) return true;
  if (condition.starts_with("<")) return major < std::stoi(condition.substr(1));
  return condition.starts_with(">=") ? major >= std::stoi(condition.substr(2))
                                     : major == std::stoi(condition.substr(2));
}

TEST(ProviderPackages, TheIndexHasThoseThatAreNamed) {
  const auto packages = packages_of_the_index();
  ASSERT_GE(packages.size(), 10u);
  if (versions_of("nvidia-cudss-cu12").empty() && versions_of("pip").empty())
    GTEST_SKIP() << "skipped: pip lists no package";
  for (const auto& [package, conditions] : packages) {
    const std::vector<std::string> versions = versions_of(package);
    for (const std::string& condition : conditions) {
      bool met = false;
      for (const std::string& version : versions) met = met || meets(version, condition);
      EXPECT_TRUE(met) << package << condition << ", of " << versions.size() << " versions";
    }
  }
}

TEST(ProviderPackages, DebianHasThoseThatAreNamed) {
  if (output_of("grep VERSION_CODENAME=bookworm /etc/os-release").empty() ||
      output_of("apt-cache show libavutil57").empty())
    GTEST_SKIP() << "skipped: no lists of Debian 12 here";
  std::size_t count = 0;
  for (const Provider& row : all_providers()) {
    if (!is_looked_up(row) || row.debian.empty()) continue;
    ++count;
    EXPECT_NE(output_of("apt-cache show " + std::string(row.debian)), "") << row.file << " " << row.debian;
  }
  EXPECT_GE(count, 10u);
}

}  // namespace
}  // namespace enginehost::explain
