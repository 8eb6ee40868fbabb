#include "tests/end-to-end/shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace enginehost::test {
namespace {

void collect(const Json& value, const std::string& path, std::set<std::string>& paths) {
  for (const Json& element : value.as_array()) collect(element, path + ".[]", paths);
  for (const auto& [name, member] : value.as_object()) {
    const std::string below = path.empty() ? name : path + "." + name;
    paths.insert(below);
    if (!is_fact(member)) collect(member, below, paths);
  }
}

}  // namespace

std::vector<std::string> missing(const Json& document, const std::vector<std::string>& paths) {
  std::vector<std::string> absent;
  for (const std::string& path : paths) {
    const Json* at = &document;
    std::size_t begin = 0;
    while (at != nullptr && begin < path.size()) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      const std::string name = path.substr(begin, end - begin);
      if (name == "[]")
        at = at->as_array().empty() ? nullptr : &at->as_array().front();
      else
        at = at->find(name);
      begin = end + 1;
    }
    if (at == nullptr) absent.push_back(path);
  }
  return absent;
}

bool is_fact(const Json& value) {
  if (value["absent"].as_bool()) return value["source"].is_string();
  if (value["unknown"].as_bool()) return value["why"].is_string();
  return value.find("value") != nullptr && value["source"].is_string();
}

void expect_facts(const Json& platform) {
  for (const char* name : {"os",        "distribution", "arch",
                           "kernel",    "libc",         "libstdcxx",
                           "cpu",       "page_size",    "memory",
                           "disk",      "cuda",         "nvidia_module",
                           "rocm",      "other_gpus",   "metal",
                           "vcruntime", "conda",        "container",
                           "wsl",       "job",          "loader_environment"})
    EXPECT_NE(platform.find(name), nullptr) << name;
  for (const char* name : {"driver", "driver_cuda", "devices", "visible_devices", "toolkits", "cudnn"})
    EXPECT_NE(platform["cuda"].find(name), nullptr) << name;
  for (const auto& [name, value] : platform.as_object()) {
    EXPECT_TRUE(name == "cuda" || is_fact(value)) << name << " " << value.dump();
  }
  for (const auto& [name, value] : platform["cuda"].as_object())
    EXPECT_TRUE(is_fact(value)) << name << value.dump();
}

std::string members_of(const Json& document) {
  std::set<std::string> paths;
  collect(document, "", paths);
  std::string text;
  for (const std::string& path : paths) text += path + "\n";
  return text;
}

}  // namespace enginehost::test
