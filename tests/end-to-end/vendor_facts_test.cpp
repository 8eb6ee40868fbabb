// Newer facts about drivers and GPUs from a signed repository: whose count, whose do not, and that a serial
// never falls.
#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "base/sha256.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/vendor_facts/facts_document.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// CUDA 13.9 and a Tegra chip that nobody has made.
Json invented(int serial) {
  Json facts = vendor::own_document().set("serial", serial).set("date", "2031-04-05T06:07:08Z");
  facts = vendor::with_row(facts, "cuda_toolkits", 0, vendor::toolkit("13.9", "660.10", "661.20"));
  return vendor::with_row(facts, "compute_capabilities", facts["compute_capabilities"].as_array().size(),
                          Json::object().set("capability", "13.4").set("first", "13.9").set("tegra", true));
}

class VendorFacts : public Publisher {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped()) return;
    if (!can_mount()) GTEST_SKIP() << "a policy needs a /etc of its own, and with it the right to mount";
    sh("engine-manifest init repository --name Toy\n"
       "engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --plugin "
       "libengine_toy.so\n"
       "minisign -G -W -p key.pub -s key.key");
    publish(2);
    const auto cuda = [](const char* id, const char* kind, const char* code) {
      TestBuild build = good_build(id);
      build.flavor = "cu139";
      build.requirements.set("cuda", Json::object().set("toolkit", "13.9").set(kind, Json::strings({code})));
      return build;
    };
    builds_.add(cuda("portable", "ptx", "12.0"));
    builds_.add(cuda("desktop", "sass", "13.0"));
    builds_.add(cuda("chip", "sass", "13.4"));
    builds_.write();
  }
  void publish(int serial) {
    write_text(publisher_ / "repository/vendor-facts.json", invented(serial).dump(1));
    sh("engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines");
    an_hour_passes();
  }
  // Replaces the served facts and signs the index again, as a publisher without engine-manifest may do.
  void serve(const Json& facts) {
    const std::string bytes = facts.dump(1), digest = sha256_hex(bytes),
                      path = "vendor-facts/" + digest + ".json";
    const std::filesystem::path folder = server_.root() / "engines";
    write_text(folder / path, bytes);
    Json index = parse_json(read_text(folder / "index.json"), "index.json").value();
    const std::int64_t serial = index["serial"].as_integer() + 1;
    index.set("serial", serial)
        .set("vendor_facts", Json::object()
                                 .set("path", path)
                                 .set("sha256", digest)
                                 .set("size", static_cast<std::int64_t>(bytes.size())));
    write_text(folder / "index.json", index.dump(1));
    sh("id=$(printf %016X 0x$(sed -n '1s/.*key //p' key.pub))\n"
       "minisign -S -s key.key -m /srv/www/engines/index.json -t \"role:index version:" +
       std::to_string(serial) + " ts:$(date +%s)\" -x /srv/www/engines/index.json.$id.minisig");
    an_hour_passes();
  }
  void trust(const std::string& more = {}) { sh("engine-cache trust add key.pub " + more); }

  Json named() const { return Json::object().set("vendor_facts_repository", location()); }
  // Decides for a machine with that driver and that chip. `policy`: of the administrator's file.
  Ended plan(const Json& policy, std::vector<std::string> more = {}) {
    Json machine =
        parse_json(read_text(profiles + "linux-ubuntu2404-driver580-h100.json"), "profile").value();
    Json platform = machine["platform"], cuda = platform["cuda"];
    Json device = cuda["devices"]["value"].as_array().at(0);
    device.set("compute_capability", "13.4").set("name", "Invented");
    cuda.set("driver", Json(cuda["driver"]).set("value", "660.20"))
        .set("driver_cuda", Json::object().set("unknown", true).set("why", "not asked"))
        .set("devices", Json(cuda["devices"]).set("value", Json::array().push(device)));
    const std::string file = (user_.folder() / "machine.json").native();
    write_text(file, machine.set("platform", platform.set("cuda", cuda)).dump(1));
    std::vector<std::string> arguments = {
        "reference", "--plan", "--platform", file, "--repository", builds_.root().native(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    RunOptions options;
    options.launcher = with_system_file(user_, Json::object().set("policy", policy));
    return user_.info(arguments, options);
  }
  static std::int64_t serial(const Ended& run) { return run.document["vendor_facts"]["serial"].as_integer(); }
  // "fits", or the code that refuses the build.
  static std::string verdict(const Ended& run, const char* build) {
    const Json& code = run.candidate(build)["diagnosis"]["code"];
    return code.is_string()                              ? code.as_string()
           : run.candidate(build)["verdict"].is_string() ? "fits"
                                                         : "none";
  }
  // Neither 13.9 nor the chip is known.
  static void expect_the_own_table(const Ended& run) {
    EXPECT_EQ(serial(run), 1) << run.said();
    EXPECT_TRUE(run.document["vendor_facts"]["from"].is_null()) << run.said();
    EXPECT_EQ(verdict(run, "portable"), "EH-G06") << run.said();
    EXPECT_EQ(verdict(run, "desktop"), "fits") << run.said();
  }
  void expect_the_invented(const Ended& run, std::int64_t number) {
    EXPECT_EQ(serial(run), number) << run.said();
    EXPECT_EQ(run.document["vendor_facts"]["from"].as_string(), location());
    EXPECT_EQ(verdict(run, "portable"), "fits") << run.said();
    EXPECT_EQ(verdict(run, "desktop"), "EH-G05") << run.said();
    EXPECT_EQ(verdict(run, "chip"), "fits") << run.said();
  }

  TemporaryFolder folder_;
  TestRepository builds_{folder_ / "builds"};
};

TEST_F(VendorFacts, CudaOfTomorrowNeedsOneEntryAndASignature) {
  trust();
  const Ended before = plan(Json::object());
  expect_the_own_table(before);
  const Ended after = plan(named());
  expect_the_invented(after, 2);
  EXPECT_EQ(after.document["vendor_facts"]["date"].as_string(), "2031-04-05T06:07:08Z");
  // The build has only portable code for the invented card.
  for (const Json& warning : after.document["warnings"].as_array())
    EXPECT_EQ(warning["diagnosis"]["code"].as_string(), "EH-G27") << after.said();
  EXPECT_THAT(after.candidate("desktop").dump(), HasSubstr("use a build for CUDA 13.9 or newer"));
  // The last accepted document serves while the server is away, and only while the policy names it.
  an_hour_passes();
  expect_the_invented(plan(named(), {"--offline"}), 2);
  expect_the_own_table(plan(Json::object(), {"--offline"}));
  expect_the_own_table(plan(named().set("vendor_facts", false)));
}

TEST_F(VendorFacts, AKeyThatIsTrustedForOneEngineChangesNoFact) {
  trust("--engines reference");
  const Ended refused = plan(named());
  expect_the_own_table(refused);
  EXPECT_THAT(refused.document["warnings"].dump(), HasSubstr("EH-M28"));
  EXPECT_THAT(refused.document["warnings"].dump(), HasSubstr("its key is trusted for reference only"));
  // The same, after the key was trusted for every engine in between.
  sh("engine-cache trust remove $(sed -n '1s/.*key //p' key.pub)");
  trust();
  expect_the_invented(plan(named()), 2);
  trust("--engines reference");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--offline"}})
    expect_the_own_table(plan(named(), more));
}

TEST_F(VendorFacts, NoUserAndNoRequestNamesARepositoryForFacts) {
  trust();
  user_.configure(Json::object()
                      .set("repositories_default", false)
                      .set("repositories", Json::array().push(location()))
                      .set("policy", named()));
  const Ended run = plan(Json::object(), {"--repository", location()});
  expect_the_own_table(run);
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("counts only in the system's file"));
  sh("engine-cache trust remove $(sed -n '1s/.*key //p' key.pub)");
  const Ended unsigned_one = plan(named());
  expect_the_own_table(unsigned_one);
  EXPECT_THAT(unsigned_one.document["warnings"].dump(), HasSubstr("EH-M10"));
}

TEST_F(VendorFacts, AnAbsurdOrOlderDocumentLeavesTheFactsThatWereUsed) {
  trust();
  publish(5);
  expect_the_invented(plan(named()), 5);
  const auto expect_refused = [&](const Json& facts, const std::string& code, const std::string& said) {
    serve(facts);
    const Ended run = plan(named());
    expect_the_invented(run, 5);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_THAT(run.document["warnings"].dump(), HasSubstr(code));
    EXPECT_THAT(run.document["warnings"].dump(), HasSubstr(said));
  };
  expect_refused(vendor::with_member(invented(6), "cuda_toolkits", 0, "linux_driver", "9999.1"), "EH-M26",
                 "cuda_toolkits[0].linux_driver is 9999.1");
  expect_refused(vendor::without_row(invented(6), "engines", 0), "EH-M26", "pytorch");
  expect_refused(invented(4), "EH-M27", "has the serial 4");
  expect_refused(invented(5).set("note", "others"), "EH-M27", "5 was used before");
  serve(invented(6));
  expect_the_invented(plan(named()), 6);
}

TEST_F(VendorFacts, FactsOfAStolenKeyEndWhenARootRemovesIt) {
  trust();
  sh("minisign -G -W -p stolen.pub -s stolen.key\n"
     "engine-manifest sign repository --key key.key --add-index-key stolen.pub\n"
     "engine-manifest publish repository /srv/www/engines");
  expect_the_invented(plan(named()), 2);
  sh("cp key.key safe.key; cp key.pub safe.pub; cp stolen.key key.key; cp stolen.pub key.pub\n"
     "rm /srv/www/engines/index.json.*");
  serve(invented(900'000));
  expect_the_invented(plan(named()), 900'000);
  sh("cp safe.key key.key; cp safe.pub key.pub\n"
     "engine-manifest sign repository --key key.key --revoke-key $(sed -n '1s/.*key //p' stolen.pub)\n"
     "rm -r /srv/www/engines");
  publish(3);
  expect_the_invented(plan(named()), 3);
}

// An installation of EngineHost whose own repository was replaced, as a package of newer manifests does.
TEST_F(VendorFacts, EngineHostsOwnRepositoryReplacesThemWithoutAPolicy) {
  const std::filesystem::path prefix = folder_ / "prefix", own = prefix / "share/enginehost/repository";
  const ChildRequest tool = user_.request("engine-info", {"reference", "--plan", "--json"});
  std::filesystem::create_directories(prefix / "bin");
  std::filesystem::copy(tool.argv.front(), prefix / "bin");
  std::filesystem::create_directories(own.parent_path());
  std::filesystem::copy(builds_.root(), own, std::filesystem::copy_options::recursive);
  const auto offer = [&](const Json& facts) {
    const std::string bytes = facts.dump(1), digest = sha256_hex(bytes);
    write_text(own / "vendor-facts" / (digest + ".json"), bytes);
    Json index = parse_json(read_text(own / "index.json"), "index.json").value();
    index.set("vendor_facts",
              Json::object().set("path", "vendor-facts/" + digest + ".json").set("sha256", digest));
    write_text(own / "index.json", index.dump(1));
  };
  const auto used = [&](const Json& policy) {
    user_.configure(Json::object());
    ChildRequest request = tool;
    request.argv.front() = (prefix / "bin/engine-info").native();
    const auto launcher = with_system_file(user_, Json::object().set("policy", policy));
    request.argv.insert(request.argv.begin(), launcher.begin(), launcher.end());
    const auto outcome = run_child(request);
    const auto document = parse_json(outcome ? outcome->output : "", "stdout");
    return document ? *document : Json();
  };
  offer(invented(7));
  const Json newer = used(Json::object());
  EXPECT_EQ(newer["vendor_facts"]["serial"].as_integer(), 7) << newer.dump(1);
  EXPECT_EQ(newer["vendor_facts"]["from"].as_string(), own.native());
  EXPECT_EQ(used(Json::object().set("vendor_facts", false))["vendor_facts"]["serial"].as_integer(), 1);
  offer(vendor::with_member(invented(8), "cuda_minor_versions", 0, "linux_driver", "9999"));
  const Json refused = used(Json::object());
  EXPECT_EQ(refused["vendor_facts"]["serial"].as_integer(), 7);
  EXPECT_THAT(refused["warnings"].dump(), HasSubstr("EH-M26"));
  offer(invented(6));
  EXPECT_THAT(used(Json::object())["warnings"].dump(), HasSubstr("EH-M27"));
}

TEST_F(VendorFacts, APublisherCannotSignWhatReadersRefuse) {
  write_text(publisher_ / "repository/vendor-facts.json",
             vendor::with_member(invented(3), "cuda_toolkits", 0, "windows_driver", "100").dump(1));
  for (const char* command :
       {"engine-manifest lint repository", "engine-manifest sign repository --key key.key"}) {
    sh(command, 2);
    EXPECT_THAT(said_, HasSubstr("EH-M26"));
    EXPECT_THAT(said_, HasSubstr("cuda_toolkits[0].windows_driver is 100"));
  }
  // A folder that was written by hand is read as its users read it.
  sh("cp -r /srv/www/engines hand; echo ' ' >> hand/vendor-facts/*.json");
  sh("engine-manifest lint hand", 5);
  EXPECT_THAT(said_, HasSubstr("vendor-facts/"));
  EXPECT_THAT(said_, HasSubstr("EH-M05"));
  write_text(publisher_ / "repository/vendor-facts.json", invented(2).set("note", "others").dump(1));
  sh("engine-manifest sign repository --key key.key", 2);
  EXPECT_THAT(said_, HasSubstr("EH-M27"));
  EXPECT_THAT(said_, HasSubstr("publish them with a serial above 2"));
}

TEST_F(VendorFacts, ACachedDecisionDependsOnTheFacts) {
  trust();
  configure();
  RunOptions options;
  options.launcher = with_system_file(user_, Json::object().set("policy", named()));
  // At rest; and made in another second, by which a decision that was made again differs.
  const auto decided = [&](int milliseconds = 600) {
    const Ended run =
        user_.run("engine-run", {"reference", source_path("/examples/two-layers.model"), "--json"}, options);
    EXPECT_EQ(run.status, 0) << run.said();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    std::string text;
    for (const auto& file : std::filesystem::recursive_directory_iterator(user_.cache() / "state"))
      if (file.is_regular_file() && file.path().parent_path().filename() == "decisions")
        text += read_text(file.path());
    return text;
  };
  decided();
  const std::string first = decided(1100);
  EXPECT_THAT(first, HasSubstr("vendor-facts.json"));
  EXPECT_EQ(decided(), first) << "a cached decision serves while nothing changes";
  publish(3);
  decided();
  EXPECT_NE(decided(), first) << "newer facts were offered";
}

}  // namespace
}  // namespace enginehost::test
