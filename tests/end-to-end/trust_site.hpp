// A publisher whose repository exists in several states, the web server that serves one of them, a registry,
// and machines that check no signature. For the tests of the table of attacks (docs/threat-model.md).
#pragma once
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/end-to-end/publisher.hpp"
#include "tests/support/registry_server.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {

// The registry, with both builds, and the digests of their image manifests.
struct PushedImages {
  RegistryServer server;
  std::string first, second;
  int requests() const { return server.requests("/v2/engines/toy/"); }
};

// Publishes with the real commands, once for all tests. Every member throws when a command fails. The states:
//   first      serial 1, the first build; signed by the keys safe and stolen
//   second     serial 2, both builds; signed by safe, as are the following ones
//   blocked    serial 3, blocks the first build
//   revoked    serial 2, with a root that revokes the key stolen
//   unsigned   first, without root and signatures
//   forged     the files of a stranger under the id of the first build, unsigned
//   image-1    serial 2, the first build from an image of the registry, after registry() was called
//   image-2    serial 2, the second build from its image
//   tag-1      as image-1, but from whatever image has the tag "stable"
//   tag-2      as image-2, but from that tag
class TrustSite {
 public:
  TrustSite() {
    write_text(folder_ / "libengine_toy.so", reference_plugin());
    sh(R"sh(
      add() {
        mkdir -p toy/share && echo $3 > toy/share/words.txt
        engine-manifest add $1 toy --engine reference --version $2 --flavor cpu --plugin libengine_toy.so
      }
      minisign -G -W -p safe.pub -s safe.key
      minisign -G -W -p stolen.pub -s stolen.key
      engine-manifest init work --name Toy
      add work 1.0.0 first
      engine-manifest sign work --key safe.key --key stolen.key
      engine-manifest publish work states/first
      cp -r work pushed
      add work 1.0.1 second
      engine-manifest sign work --key safe.key
      engine-manifest publish work states/second
      cp -r work blocking
      digest=$(grep -o '"digest": "[0-9a-f]*' work/engines/reference.json | head -1 | cut -d'"' -f4)
      block="{\"sha256\": \"$digest\", \"reason\": \"computes wrong sums\"}"
      sed -i "s/\"blocked\": \[\]/\"blocked\": [$block]/" blocking/repository.json
      engine-manifest sign blocking --key safe.key
      engine-manifest publish blocking states/blocked
      engine-manifest sign work --key safe.key --revoke-key $(sed -n '1s/.*key //p' stolen.pub)
      engine-manifest publish work states/revoked
      cp -r states/first states/unsigned
      rm -r states/unsigned/root* states/unsigned/index.json.*
      engine-manifest init stranger --name Toy
      add stranger 1.0.0 forged
      engine-manifest publish stranger states/forged)sh");
    serve("second");
    for (const char* version : {"1.0.0", "1.0.1"}) fetch(careless_, version);
  }

  const std::string first = std::string("reference-1.0.0-cpu-linux-") + architecture;
  const std::string second = std::string("reference-1.0.1-cpu-linux-") + architecture;

  std::string location() const { return server_.url("engines"); }
  const NginxServer& server() const { return server_; }
  std::string key(const std::string& name) const { return (folder_ / (name + ".pub")).native(); }

  // Puts another state in the place of the repository.
  void serve(const std::string& state) const {
    std::filesystem::remove_all(served());
    std::filesystem::copy(in_state(state), served(), std::filesystem::copy_options::recursive);
  }
  std::filesystem::path served(const std::string& file = {}) const {
    return server_.root() / "engines" / file;
  }
  std::filesystem::path in_state(const std::string& state, const std::string& file = {}) const {
    return folder_ / "states" / state / file;
  }
  // Replaces the served files whose names begin so by those of another state.
  void take_from(const std::string& state, const std::string& beginning) const {
    namespace fs = std::filesystem;
    for (const fs::path& folder : {served(), in_state(state)})
      for (const auto& file : fs::directory_iterator(folder))
        if (const fs::path name = file.path().filename(); name.native().starts_with(beginning)) {
          if (folder == served())
            fs::remove_all(file);
          else
            fs::copy(file, served(name), fs::copy_options::recursive);
        }
  }
  // The only manifest of a folder that publish wrote.
  static std::filesystem::path manifest_in(const std::filesystem::path& repository) {
    return *std::filesystem::directory_iterator(repository / "manifests");
  }

  // Sets members of the served index, and leaves only that key's signature beside it. `time`: when it was
  // signed.
  void sign_index(const std::string& by, const Json& members, const std::string& time = "$(date +%s)") const {
    const std::string file = served("index.json").native();
    Json index = parse_json(read_text(file), file).value();
    for (const auto& [name, value] : members.as_object()) index.set(name, value);
    write_text(file, index.dump(1));
    sh("rm " + file + ".*.minisig\nid=$(printf %016X 0x$(sed -n '1s/.*key //p' " + by +
       ".pub))\nminisign -S -s " + by + ".key -m " + file + " -x " + file +
       ".$id.minisig -t \"role:index version:" + std::to_string(index["serial"].as_integer()) +
       " ts:" + time + "\"");
  }
  static Json serial(std::int64_t number) { return Json::object().set("serial", number); }
  // Signed half a second before the end of 2019, when it expired.
  void expire_index(std::int64_t number) const {
    sign_index("safe", serial(number).set("expires", "2020-01-01T00:00:00Z"), "1577836799");
  }

  // A bundle of the first build with the documents that are served now, whatever they say.
  std::string bundle() const { return bundle_of(careless_); }
  // A bundle with the signed documents of the first build and the files of a stranger.
  std::string forged_bundle() const {
    const Workplace stranger;
    serve("forged");
    fetch(stranger, "1.0.0");
    // An export describes a build by the signed manifest if the record names the same archives.
    const auto archives = [](const std::string& record) {
      const std::size_t begin = record.find("\nartifacts ");
      return std::pair(begin, record.find('\n', begin + 1) - begin);
    };
    const std::string genuine = read_text(record_of(careless_));
    std::string record = read_text(record_of(stranger));
    const auto [from, length] = archives(genuine);
    const auto [begin, size] = archives(record);
    write_text(record_of(stranger), record.replace(begin, size, genuine.substr(from, length)));
    serve("first");
    return bundle_of(stranger);
  }

  // Both builds are pushed at the first call.
  const PushedImages& registry() {
    if (!images_) {
      images_ = std::make_unique<PushedImages>();
      images_->second = push(second);
      publish_pushed("2");
      images_->first = push(first);
      publish_pushed("1");
    }
    return *images_;
  }
  // Sends the build to the tag "stable", as the registry's operator may do. Returns the digest of its image
  // manifest.
  std::string push(const std::string& build) const {
    const std::string name = images_->server.host() + "/engines/toy";
    const Json pushed = commanded(careless_, {"push", build, name + ":stable", "--redistribute", "unknown",
                                              "--manifest", (folder_ / "pushed.json").native(), "--json"})
                            .document;
    return pushed["pushed"].as_array().at(0)["reference"].as_string().substr(name.size() + 8);
  }

 private:
  void sh(const std::string& lines) const {
    const ChildRequest tools = careless_.request("engine-manifest", {});
    ChildRequest request;
    request.argv = {"bash", "-ec", "cd '" + folder_.path().native() + "'\n" + lines};
    request.environment = tools.environment;
    request.environment.push_back("PATH=" + std::filesystem::path(tools.argv.front()).parent_path().native() +
                                  ":/usr/bin:/bin");
    request.deadline = std::chrono::minutes(3);
    const auto outcome = run_child(request);
    if (!outcome || !outcome->succeeded())
      throw std::runtime_error(lines + "\n" + (outcome ? outcome->output + outcome->error : "did not start"));
  }
  static Ended commanded(const Workplace& machine, const std::vector<std::string>& arguments) {
    Ended ended = machine.run("engine-cache", arguments);
    if (ended.status != 0) throw std::runtime_error(ended.said());
    return ended;
  }
  void fetch(const Workplace& machine, const std::string& version) const {
    commanded(machine,
              {"fetch", "reference@" + version, "--keep", "--allow-unsigned", "--repository", location()});
  }
  std::string bundle_of(const Workplace& machine) const {
    const std::string file = (folder_ / "site.bundle").native();
    std::filesystem::remove(file);
    std::filesystem::remove_all(machine.cache() / "repositories");
    commanded(machine, {"export", file, first, "--redistribute", "unknown", "--allow-unsigned",
                        "--repository", location()});
    return file;
  }
  std::filesystem::path record_of(const Workplace& machine) const {
    return machine.cache() / "refs" / (first + ".ref");
  }
  // Publishes the manifest of the last push, without the archives of the web server.
  void publish_pushed(const std::string& number) const {
    Json manifest = parse_json(read_text(folder_ / "pushed.json"), "pushed.json").value();
    Json components = Json::object();
    for (const auto& [id, component] : manifest["components"].as_object()) {
      Json one = component;
      components.set(id, one.set("artifacts", Json::array().push(component["artifacts"].as_array().at(0))));
    }
    sh("cp -r pushed pushed" + number);
    write_text(folder_ / ("pushed" + number) / "engines/reference.json",
               manifest.set("components", components).dump(1));
    // lint and publish refuse a tag, so this publisher copies the folder.
    sh("engine-manifest sign pushed" + number +
       " --key safe.key\n"
       "engine-manifest publish pushed" +
       number + " states/image-" + number +
       "\n"
       "sed -i 's/@sha256:[0-9a-f]*/:stable/' pushed" +
       number +
       "/engines/reference.json\n"
       "engine-manifest sign pushed" +
       number +
       " --key safe.key\n"
       "cp -r pushed" +
       number + " states/tag-" + number);
  }

  TemporaryFolder folder_;
  NginxServer server_;
  Workplace careless_;
  std::unique_ptr<PushedImages> images_;
};

}  // namespace enginehost::test
