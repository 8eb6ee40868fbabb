// A publisher's folder with real libraries in it.
#pragma once
#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "tests/manifest/trust_fixture.hpp"
#include "tests/support/this_architecture.hpp"
#include "tests/support/workshop.hpp"
#include "tools/publish/add.hpp"
#include "tools/publish/lint.hpp"
#include "tools/publish/publish.hpp"
#include "tools/publish/signing.hpp"

namespace enginehost::publish {

namespace fs = std::filesystem;
using manifest::in_2026;
using manifest::test_key;

// Files of this build: a library that needs nothing, and a plugin that is only a descriptor.
fs::path toy_library();
fs::path toy_plugin();

class PublisherTest : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    if (HasFatalFailure()) return;
    fs::create_directories(toy().parent_path());
    fs::copy_file(toy_library(), toy());
    fs::copy_file(toy_plugin(), folder() / plugin_name);
    ASSERT_TRUE(Workspace::create(repository(), "Toy"));
  }
  static constexpr const char* plugin_name = ENGINEHOST_PLUGIN_NAME;
  // The end of build ids here.
  static std::string platform() { return std::string(ENGINEHOST_OS) + "-" + test::architecture; }
  fs::path toy() const { return folder() / "toy/lib" / toy_library().filename(); }
  fs::path repository() const { return folder() / "repository"; }
  fs::path out() const { return folder() / "www/engines"; }
  Workspace workspace() const { return *Workspace::open(repository()); }
  AddRequest request(const std::string& version = "1.0.0") const {
    AddRequest request;
    request.file = folder() / "toy";
    request.plugin = folder() / plugin_name;
    request.engine = "toy";
    request.version = version;
    request.flavor = "cpu";
    request.license = "apache";
    request.license_id = "Apache-2.0";
    return request;
  }
  void add_toy(const std::string& version = "1.0.0") {
    const auto added = publish::add(workspace(), request(version));
    ASSERT_TRUE(added) << added.error().code << added.error().value(Key::problem);
  }
  Result<Signed> sign_with(std::initializer_list<int> numbers, const RootChange& change = {},
                           std::int64_t now = in_2026) const {
    std::vector<SecretKey> keys;
    for (const int number : numbers) keys.push_back(test_key(number));
    return publish::sign(workspace(), keys, change, now);
  }
  // The manifest of the toy engine, changed by `edit`.
  void edit(const std::string& from, const std::string& to) {
    const fs::path file = workspace().engine_file("toy");
    std::string text = bytes_of(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in\n" << text;
    write("repository/engines/toy.json", text.replace(at, from.size(), to));
  }
  std::string problems() const {
    std::string all;
    for (const Diagnosis& one : lint(workspace()).errors)
      all += std::string(one.value(Key::member)) + ": " + std::string(one.value(Key::problem)) + "\n";
    return all;
  }
};

class Publish : public PublisherTest {
 protected:
  void SetUp() override {
    PublisherTest::SetUp();
    if (!HasFatalFailure()) add_toy();
  }
  std::vector<std::string> beside() const {
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(out().parent_path()))
      names.push_back(path_text(one.path().filename()));
    return names;
  }
  Result<Published> to_out() const { return publish::publish(workspace(), out(), in_2026); }
};

}  // namespace enginehost::publish
