// Case30: the exact text of `engine-cache quarantine show`: time, stage, signal, last words, what would end
// the quarantine, and the one command that clears it. The record is written as an open would write it, with
// fixed times.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class QuarantineText : public testing::Test {
 protected:
  // Writes a record in the state folder of this machine, which a first command makes.
  void write_record(const Json& record) {
    const Ended first = workplace.run("engine-cache", {"quarantine", "disable", "any"});
    ASSERT_EQ(first.status, 0) << first.said();
    for (const auto& machine : std::filesystem::directory_iterator(workplace.cache() / "state"))
      write_text(machine.path() / "history" / (record["build"].as_string() + ".json"), record.dump());
  }
  static Json fact(const char* what, const char* value, const char* source) {
    return Json::object().set("what", what).set("value", value).set("source", source);
  }
  static Json crashed() {
    return Json::object()
        .set("format", 1)
        .set("build", "onnxruntime-1.22.0-cu126-linux-x86_64")
        .set("digest", "d1")
        .set("artifacts_digest", "a1")
        .set("state", "quarantined")
        .set("diagnosis",
             Json::object()
                 .set("code", "EH-R02")
                 .set("title", "crash")
                 .set("cause", "libonnxruntime.so crashed with SIGSEGV at stage selftest (address 0x0)")
                 .set("evidence", Json::array()
                                      .push(fact("stage", "selftest", "the probe"))
                                      .push(fact("signal", "SIGSEGV", "how the probe ended"))
                                      .push(fact("in_library", "/cache/lib/libonnxruntime.so",
                                                 "the probe's crash handler"))
                                      .push(fact("last_words", "loading kernels | CUDA failure 719 | bye",
                                                 "standard error of the probe")))
                 .set("remedy", Json::strings({"use another version of the engine, and tell its publisher"}))
                 .set("context", Json::array()))
        .set("host", Json::array())
        .set("witnesses",
             Json::array().push(
                 Json::object().set("path", "/no/such/folder/libcudnn.so.9").set("present", false)))
        .set("first_seen", 1763700000)
        .set("last_seen", 1763786400)
        .set("retry_after", 4102444800)
        .set("count", 2)
        .set("strikes", 0)
        .set("facts", Json());
  }
  Workplace workplace;
};

TEST_F(QuarantineText, Case30ShowPrintsTheEndTheConditionsAndTheCommand) {
  write_record(crashed());
  const Ended shown =
      workplace.run("engine-cache", {"quarantine", "show", "onnxruntime-1.22.0-cu126-linux-x86_64"});
  EXPECT_EQ(shown.status, 0) << shown.said();
  EXPECT_EQ(shown.output, read_text(source_path("/tests/end-to-end/golden/quarantine_show.txt")));
}

// Only a change of the machine fixes it, and no command of EngineHost is such a change.
TEST_F(QuarantineText, Case30ClearingIsNoRemedyForAMissingPart) {
  Json record = crashed();
  record.set("state", "unfit").set("retry_after", 0);
  write_record(record);
  const Ended shown = workplace.run("engine-cache", {"quarantine", "show", record["build"].as_string()});
  EXPECT_THAT(shown.output, Not(HasSubstr("to try it again now")));
  EXPECT_THAT(shown.output,
              HasSubstr("it is tried again by itself when that changes; to try it earlier, which "
                        "repairs nothing: engine-cache quarantine clear onnxruntime"));
  const std::string cache = workplace.cache().native();
  EXPECT_THAT(
      workplace.run("engine-cache", {"quarantine", "show", record["build"].as_string(), "--cache", cache})
          .output,
      HasSubstr("engine-cache quarantine clear --cache " + cache + " onnxruntime"));
}

TEST_F(QuarantineText, Case30TheOneCommandClearsTheRecord) {
  write_record(crashed());
  const std::string id = "onnxruntime-1.22.0-cu126-linux-x86_64";
  EXPECT_EQ(workplace.run("engine-cache", {"quarantine", "clear", id}).status, 0);
  EXPECT_NE(workplace.run("engine-cache", {"quarantine", "show", id}).status, 0);
}

TEST_F(QuarantineText, Case30ShowsWhatChangedSinceTheRecord) {
  Json record = crashed();
  record.set("host", Json::array().push(Json::array().push("kernel").push("2.4.18")));
  write_record(record);
  const Ended shown =
      workplace.run("engine-cache", {"quarantine", "show", "onnxruntime-1.22.0-cu126-linux-x86_64"});
  EXPECT_EQ(shown.status, 0) << shown.said();
  EXPECT_THAT(shown.output, HasSubstr("no longer     the kernel changed from \"2.4.18\" to "));
  const Ended list = workplace.run("engine-cache", {"quarantine", "list"});
  EXPECT_THAT(list.output, HasSubstr("was quarantined, is tried again: the kernel changed"));
}

TEST_F(QuarantineText, Case30EnablingRestoresAnEarlierQuarantine) {
  write_record(crashed());
  const std::string id = "onnxruntime-1.22.0-cu126-linux-x86_64";
  EXPECT_EQ(workplace.run("engine-cache", {"quarantine", "disable", id}).status, 0);
  EXPECT_EQ(workplace.run("engine-cache", {"quarantine", "disable", id}).status, 0);
  EXPECT_THAT(workplace.run("engine-cache", {"quarantine", "show", id}).output, HasSubstr("never by itself"));
  EXPECT_EQ(workplace.run("engine-cache", {"quarantine", "enable", id}).status, 0);
  const Ended shown = workplace.run("engine-cache", {"quarantine", "show", id, "--json"});
  EXPECT_EQ(shown.document["records"].as_array().at(0)["state"].as_string(), "quarantined") << shown.said();
}

}  // namespace
}  // namespace enginehost::test
