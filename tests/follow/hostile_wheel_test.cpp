// Wheels and servers that lie. Each ends in a report of the release, and nothing is remembered.
#include "tests/follow/wheels.hpp"

#include "tests/support/fault_server.hpp"

namespace enginehost::follow {
namespace {

using testing::HasSubstr;

class HostileWheel : public DeriveTest {};

TEST_F(HostileWheel, LeadsOutOfItsFolder) {
  for (const char* name : {"../toy/libtoy.so", "toy/../../libtoy.so", "/toy/libtoy.so", "toy\\libtoy.so"}) {
    WheelText text = toy();
    text.entries.push_back({name, "x"});
    publish("toy", "1.0", wheel_of(text));
    EXPECT_THAT(problem(), HasSubstr("name of an entry is refused")) << name;
  }
}

TEST_F(HostileWheel, HasANameTwice) {
  WheelText text = toy();
  text.entries.push_back({"toy/libtoy.so", "another"});
  publish("toy", "1.0", wheel_of(text));
  EXPECT_THAT(problem(), HasSubstr("two entries toy/libtoy.so"));
}

TEST_F(HostileWheel, IsCutOff) {
  const std::string wheel = wheel_of(toy());
  for (const std::size_t size : {wheel.size() - 1, wheel.size() - 40, wheel.size() / 2, std::size_t{10}}) {
    publish("toy", "1.0", wheel.substr(0, size));
    EXPECT_THAT(problem(), HasSubstr("its archive is refused")) << size;
  }
}

TEST_F(HostileWheel, HasARecordThatLies) {
  WheelText text = toy();
  text.lies["toy/libtoy.so"] = "other bytes";
  publish("toy", "1.0", wheel_of(text));
  EXPECT_THAT(problem(), HasSubstr("RECORD does not state its size and SHA-256"));
  std::string same_size = toy_library();
  same_size[100] ^= 1;
  text.lies["toy/libtoy.so"] = same_size;
  publish("toy", "1.0", wheel_of(text));
  EXPECT_THAT(problem(), HasSubstr("its files are not as its RECORD"));
  EXPECT_FALSE(fs::exists(folder / "scratch/files"));
  text.lies = {{"toy-1.0.dist-info/METADATA", "x"}};
  publish("toy", "1.0", wheel_of(text));
  EXPECT_THAT(problem(), HasSubstr("METADATA is not as its RECORD says"));
}

TEST_F(HostileWheel, SaysThatItIsAnother) {
  WheelText text = toy();
  for (const char* metadata : {"Name: toy\nVersion: 1.1\n", "Name: other\nVersion: 1.0\n"}) {
    text.metadata = metadata;
    publish("toy", "1.0", wheel_of(text));
    EXPECT_THAT(problem(), HasSubstr("its METADATA says that it is"));
  }
  text.metadata = "Name: toy\n";
  publish("toy", "1.0", wheel_of(text));
  EXPECT_THAT(problem(), HasSubstr("names no project and version"));
}

TEST_F(HostileWheel, SelectsALink) {
  WheelText text = toy();
  text.entries.push_back({"toy/liblink.so", "", 0777, "/etc/passwd"});
  publish("toy", "1.0", wheel_of(text));
  EXPECT_THAT(problem(), HasSubstr("it is a link"));
}

TEST_F(HostileWheel, HasOtherBytesThanTheIndexStates) {
  const std::string digest = sha256_hex("something else");
  publish("toy", "1.0", wheel_of(toy()), Json::object().set("hashes", Json::object().set("sha256", digest)));
  EXPECT_THAT(problem(), HasSubstr("other bytes than the package index states"));
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().value(Key::expected), digest);
  EXPECT_EQ(derived.error().value(Key::actual), sha256_hex(wheel_of(toy())));
}

TEST_F(HostileWheel, HasAnotherSizeThanTheIndexStates) {
  publish("toy", "1.0", wheel_of(toy()), Json::object().set("size", 5'000'000));
  EXPECT_THAT(problem(), testing::AnyOf(HasSubstr("EH-N"), HasSubstr("bytes")));
}

TEST_F(HostileWheel, ComesFromAServerOfWrongRanges) {
  const std::string wheel = wheel_of(toy());
  int answers = 0;
  test::FaultServer wrong(
      [&](const test::FaultServer::Request& request, test::FaultServer::Connection& connection) {
        ++answers;
        const std::uint64_t start = request.range_start.value_or(0) + 3;
        const std::string part = wheel.substr(std::min<std::size_t>(start, wheel.size() - 1));
        connection.answer("206 Partial Content", part,
                          "Content-Range: bytes " + std::to_string(start) + "-" +
                              std::to_string(wheel.size() - 1) + "/" + std::to_string(wheel.size()) + "\r\n");
      });
  publish("toy", "1.0", wheel, Json::object().set("url", wrong.url("toy.whl")));
  EXPECT_THAT(problem(), HasSubstr("EH-N"));
  EXPECT_GT(answers, 0);
}

TEST_F(HostileWheel, ComesFromAServerThatShiftsRanges) {
  std::string wheel = wheel_of(toy());
  const std::string shifted = wheel.substr(7) + wheel.substr(0, 7);
  publish("toy", "1.0", wheel);
  test::write_text(server.root() / ("files/" + file_of("toy", "1.0")), shifted);
  EXPECT_THAT(problem(), HasSubstr("its archive is refused"));
}

// One byte of a library is another one; directory, RECORD and METADATA are those of the wheel.
TEST_F(HostileWheel, ComesFromAServerThatSendsOtherBytesOfAPart) {
  WheelText text = toy();
  text.entries.push_back({"toy/large", test::noise(6'000'000, 7)});
  const std::string wheel = wheel_of(text);
  const std::size_t library = wheel.find("toy/libtoy.so") + 1000;
  std::string changed = wheel;
  changed[library] = static_cast<char>(changed[library] ^ 1);
  publish("toy", "1.0", wheel);
  test::write_text(server.root() / ("files/" + file_of("toy", "1.0")), changed);
  EXPECT_THAT(problem(), HasSubstr("other bytes than the package index states")) << "read whole after that";
  EXPECT_FALSE(fs::exists(folder / "scratch/files"));
}

TEST_F(HostileWheel, ComesFromAServerWithoutRanges) {
  const test::NginxServer whole("max_ranges 0;");
  publish("toy", "1.0", wheel_of(toy()), Json::object().set("url", whole.url("toy.whl")));
  test::write_text(whole.root() / "toy.whl", wheel_of(toy()));
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().code, "EH-N02");
  EXPECT_EQ(derived.error().value(Key::wheel), file_of("toy", "1.0"));
}

}  // namespace
}  // namespace enginehost::follow
