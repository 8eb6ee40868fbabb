#include "base/json.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <string>

namespace enginehost {
namespace {

using testing::HasSubstr;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string nested_objects(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
  return text + "1" + std::string(depth, '}');
}

struct Refused {
  const char* rule;
  std::string text;
  const char* problem;  // a part of the diagnosis' problem
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.text.substr(0, 100); }

class StrictReader : public testing::TestWithParam<Refused> {};

TEST_P(StrictReader, RefusesWithReasonAndPosition) {
  const auto parsed = parse_json(GetParam().text, "/etc/some.json");
  ASSERT_FALSE(parsed) << GetParam().text.substr(0, 100);
  EXPECT_EQ(parsed.error().code, "EH-M01");
  EXPECT_EQ(parsed.error().value(Key::document), "/etc/some.json");
  EXPECT_THAT(std::string(parsed.error().value(Key::problem)), HasSubstr(GetParam().problem));
  const std::string position(parsed.error().value(Key::position));
  ASSERT_FALSE(position.empty());
  EXPECT_LE(std::stoul(position), GetParam().text.size());
}

INSTANTIATE_TEST_SUITE_P(
    Json, StrictReader,
    testing::Values(Refused{"Nothing", "", "unexpected end of input"},
                    Refused{"OnlyBlanks", " \n", "unexpected end of input"},
                    Refused{"TrailingText", "{} x", "expected end of input"},
                    Refused{"SecondDocument", "{}{}", "expected end of input"},
                    Refused{"Truncated", R"({"a":[1,2)", "unexpected end of input"},
                    Refused{"DuplicateMember", R"({"a":1,"b":2,"a":3})", "\"a\" occurs twice"},
                    Refused{"DuplicateAfterUnescaping", R"({"a":1,"\u0061":2})", "\"a\" occurs twice"},
                    Refused{"DuplicateInside", R"([{"x":{"k":1,"k":1}}])", "\"k\" occurs twice"},
                    Refused{"TwoToThe63", "9223372036854775808", "larger than 9223372036854775807"},
                    Refused{"TwoToThe64", "18446744073709551616", "needs more than 64 bits"},
                    Refused{"BelowMinusTwoToThe63", "-9223372036854775809", "needs more than 64 bits"},
                    Refused{"BeyondDouble", "1e400", "out of range"},
                    Refused{"BelowMinusDouble", "[-1e400]", "out of range"},
                    Refused{"Deep33", nested(33), "deeper than 32"},
                    Refused{"DeepBomb", std::string(1u << 20, '['), "deeper than 32"},
                    Refused{"DeepObjects", nested_objects(33), "deeper than 32"},
                    Refused{"TrailingComma", "[1,]", "unexpected ']'"},
                    Refused{"Comment", "[1 /* one */]", "invalid literal"},
                    Refused{"SingleQuotes", "{'a':1}", "invalid literal"},
                    Refused{"BareWord", "{a:1}", "invalid literal"}, Refused{"NaN", "NaN", "invalid literal"},
                    Refused{"Infinity", "Infinity", "invalid literal"},
                    Refused{"LeadingZero", "012", "expected end of input"},
                    Refused{"Plus", "+1", "invalid literal"}, Refused{"BareExponent", "1e", "invalid number"},
                    Refused{"PointWithoutDigits", "1.", "invalid number"},
                    Refused{"RawControlCharacter", "\"a\nb\"", "control character"},
                    Refused{"InvalidUtf8", "\"a\xff\"", "invalid string"},
                    Refused{"OverlongUtf8", "\"\xc0\xaf\"", "invalid string"},
                    Refused{"Surrogate", "\"\xed\xa0\x80\"", "invalid string"},
                    Refused{"LoneEscapedSurrogate", R"("\ud800")", "surrogate"},
                    Refused{"NulByte", std::string("[1\0]", 4), "NUL byte"},
                    Refused{"TextAfterNul", std::string("[1]\0 evil", 9), "NUL byte"}),
    [](const auto& one) { return one.param.rule; });

TEST(Json, TheLongestTextIsBoundedBeforeItIsRead) {
  const auto parsed = parse_json("[1,2,3]", "big", {.bytes = 6});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, "EH-M01");
  EXPECT_EQ(parsed.error().value(Key::problem), "it is 7 bytes long; the limit is 6");
  EXPECT_TRUE(parse_json("[1,2,3]", "big", {.bytes = 7}));
}

TEST(Json, DepthIsCountedInNestedArraysAndObjects) {
  EXPECT_TRUE(parse_json(nested(32), "x"));
  EXPECT_TRUE(parse_json("[[],[],{}]", "x", {.depth = 2}));
  EXPECT_FALSE(parse_json(R"([{"a":[]}])", "x", {.depth = 2}));
}

TEST(Json, ThePositionOfADuplicateIsThatOfItsName) {
  const auto parsed = parse_json(R"({"a":1,    "a":2})", "x");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().value(Key::position), "14");
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, WritesWhatItRead) {
  const auto parsed = parse_json(GetParam(), "x");
  ASSERT_TRUE(parsed) << parsed.error().value(Key::problem);
  EXPECT_EQ(parsed->dump(), GetParam());
  const auto again = parse_json(parsed->dump(2), "x");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *parsed);
}

INSTANTIATE_TEST_SUITE_P(Json, RoundTrip,
                         testing::Values("null", "true", "false", "0", "-1", "9223372036854775807",
                                         "-9223372036854775808", "1.5", "0.1", "-0.0", "1e+300", "5e-324",
                                         "1.7976931348623157e+308", "\"\"", "[]", "{}",
                                         R"({"z":1,"a":{"m":[1,2.0,"x",null,false]},"b":[]})",
                                         R"("\"\\\b\f\n\r\t\u0000\u001f/")",
                                         "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82\""));

TEST(Json, ObjectsKeepTheOrderOfTheirMembersAndTheLastSetWins) {
  Json document;
  document.set("z", 1).set("a", 2).set("z", 3);
  EXPECT_EQ(document.dump(), R"({"z":3,"a":2})");
  document.set("list", Json().push(1).push("two"));
  EXPECT_EQ(document.dump(), R"({"z":3,"a":2,"list":[1,"two"]})");
}

TEST(Json, WritesInvalidUtf8AsReplacementCharacters) {
  EXPECT_EQ(Json("a\xff"
                 "b")
                .dump(),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(Json().set("k\xc3", "ok").dump(), "{\"k\xef\xbf\xbd\":\"ok\"}");
  EXPECT_TRUE(parse_json(Json("\x80\xfe\xed\xa0\x80").dump(), "x"));
}

TEST(Json, WritesNanAndInfinityAsNull) {
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, IndentsWhenAsked) {
  EXPECT_EQ(Json().set("a", Json().push(1)).dump(2), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(Json, AccessorsOfAnotherTypeGiveTheFallback) {
  const Json text("x"), number(7), real(2.5), yes(true);
  EXPECT_EQ(text.as_integer(5), 5);
  EXPECT_EQ(text.as_bool(true), true);
  EXPECT_EQ(text.as_number(1.5), 1.5);
  EXPECT_EQ(number.as_string(), "");
  EXPECT_TRUE(number.as_array().empty());
  EXPECT_TRUE(number.as_object().empty());
  EXPECT_EQ(number.as_number(), 7.0);
  EXPECT_EQ(real.as_integer(9), 9) << "a number with a fraction is not silently cut";
  EXPECT_EQ(yes.as_integer(9), 9);
  EXPECT_EQ(number.find("a"), nullptr);
  EXPECT_TRUE(number["a"].is_null());
  EXPECT_EQ(Json().set("a", 1)["a"].as_integer(), 1);
}

TEST(Json, NamesItsTypes) {
  EXPECT_STREQ(Json().type_name(), "null");
  EXPECT_STREQ(Json(false).type_name(), "boolean");
  EXPECT_STREQ(Json(1).type_name(), "integer");
  EXPECT_STREQ(Json(1.0).type_name(), "number");
  EXPECT_STREQ(Json("").type_name(), "string");
  EXPECT_STREQ(Json::array().type_name(), "array");
  EXPECT_STREQ(Json::object().type_name(), "object");
  EXPECT_TRUE(Json(1).is_number());
  EXPECT_FALSE(Json(1.0).is_integer());
}

TEST(Json, IntegersStayExactAndDistinctFromRealNumbers) {
  const auto parsed = parse_json("[9007199254740993, 1, 1.0]", "x");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->as_array()[0].as_integer(), 9007199254740993);
  EXPECT_FALSE(parsed->as_array()[1] == parsed->as_array()[2]);
}

TEST(Json, MakesAnArrayOfStrings) {
  EXPECT_EQ(Json::strings({"a", "b"}).dump(), R"(["a","b"])");
  EXPECT_EQ(Json::strings({}).dump(), "[]");
}

TEST(JsonReader, BoundsTheNumberOfValues) {
  JsonLimits limits;
  limits.values = 4;
  EXPECT_TRUE(parse_json(R"({"a":[1,{}]})", "few", limits));  // an object, an array, a number, an object
  for (const char* text : {"[1,2,3,4]", "[[],[],[],[]]", R"({"a":1,"b":2,"c":3,"d":4})", "[{},{},{},{}]"}) {
    const auto parsed = parse_json(text, "many", limits);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, "EH-M01");
    EXPECT_EQ(parsed.error().value(Key::problem), "it has more than 4 values, which is the limit") << text;
  }
  std::string zeros = "[0";
  for (int i = 0; i < 500'000; ++i) zeros += ",0";
  EXPECT_FALSE(parse_json(zeros + "]", "zeros"));
}

TEST(JsonReader, ALongTokenDoesNotFillTheMessage) {
  const std::string name = "x\xc3\xa9" + std::string(1u << 20, 'y');
  for (const std::string& text :
       {"[\"" + name, "{\"" + name + "\":1,\"" + name + "\":2}", std::string(1u << 20, '7'),
        "[1e" + std::string(1u << 20, '9') + "]", "[\"" + std::string(500, '\xc3')}) {
    const auto parsed = parse_json(text, "long");
    ASSERT_FALSE(parsed) << text.substr(0, 50);
    EXPECT_LE(parsed.error().value(Key::problem).size(), 303u) << text.substr(0, 50);
  }
}

// The "name" of each element, joined; or the problem.
std::string elements_of(std::string_view text, const JsonArrayLimits& limits = {}) {
  std::string names;
  const auto read = read_json_array(
      text, "page", "files", [&](const Json& one) { names += one["name"].as_string() + ";"; }, limits);
  if (read) return names;
  EXPECT_EQ(read.error().code, "EH-M01");
  EXPECT_EQ(read.error().value(Key::document), "page");
  return std::string(read.error().value(Key::problem));
}

TEST(JsonArray, PassesOnEachElementOfOneMember) {
  EXPECT_EQ(elements_of(R"({"files":[{"name":"a"},{"name":"b"}]})"), "a;b;");
  EXPECT_EQ(
      elements_of(R"({"before":{"files":[{"name":"x"}]},"files":[{"name":"a"}],"after":[{"name":"y"}]})"),
      "a;");
  EXPECT_EQ(elements_of(
                R"({"files":[1,"text",null,true,2.5,[],[{"name":"x"}],{"name":"a","more":{"files":[1]}}]})"),
            ";;;;;;;a;");
  for (const char* none : {"{}", R"({"files":[]})", R"({"files":null})", R"({"files":{"name":"x"}})",
                           R"({"other":[{"name":"x"}]})", R"({"other":{"files":[{"name":"x"}]}})"})
    EXPECT_EQ(elements_of(none), "") << none;
}

TEST(JsonArray, RefusesWhatIsNotJson) {
  EXPECT_EQ(elements_of("[]"), "it is not an object");
  EXPECT_EQ(elements_of("1"), "it is not an object");
  EXPECT_EQ(elements_of(R"([{"files":[]}])"), "it is not an object");
  EXPECT_THAT(elements_of(""), HasSubstr("unexpected end of input"));
  EXPECT_THAT(elements_of(R"({"files":[{"name":"a"})"), HasSubstr("unexpected end of input"));
  EXPECT_THAT(elements_of(R"({"files":[]} x)"), HasSubstr("expected end of input"));
  EXPECT_EQ(elements_of(R"({"files":[],"files":[]})"), "the member \"files\" occurs twice");
  EXPECT_EQ(elements_of(R"({"files":1,"files":[{"name":"a"}]})"), "the member \"files\" occurs twice");
  EXPECT_EQ(elements_of(R"({"files":[{"name":"a","name":"b"}]})"), "the member \"name\" occurs twice");
  EXPECT_THAT(elements_of(R"({"files":[9223372036854775808]})"), HasSubstr("larger than"));
  EXPECT_EQ(elements_of(std::string("{}\0", 3)), "it contains a NUL byte");
}

TEST(JsonArray, HoldsItsLimits) {
  JsonArrayLimits limits;
  limits.bytes = 200;
  limits.elements = 3;
  limits.string = 10;
  limits.depth = 5;
  limits.values = 4;
  EXPECT_EQ(elements_of(R"({"files":[1,2,3]})", limits), ";;;");
  EXPECT_EQ(elements_of(R"({"files":[1,2,3,4]})", limits),
            "\"files\" has more than 3 elements, which is the limit");
  EXPECT_EQ(elements_of(R"({"files":[[0,0,0]]})", limits), ";");
  EXPECT_EQ(elements_of(R"({"files":[[0,0,0,0]]})", limits), "it has more than 4 values, which is the limit");
  EXPECT_EQ(elements_of(R"({"files":[{"name":"0123456789"}]})", limits), "0123456789;");
  EXPECT_THAT(elements_of(R"({"files":[{"name":"01234567890"}]})", limits),
              HasSubstr("a string in it is longer than 10 bytes"));
  EXPECT_THAT(elements_of(R"({"0123456789\"":[]})", limits), HasSubstr("longer than 10 bytes"));
  EXPECT_THAT(elements_of("{\"01234567890", limits), HasSubstr("longer than 10 bytes"));
  EXPECT_EQ(elements_of(R"({"a":[[[[]]]]})", limits), "");
  EXPECT_EQ(elements_of(R"({"a":[[[[[]]]]]})", limits), "nested deeper than 5 levels");
  EXPECT_EQ(elements_of(R"({"files":[[[[[]]]]]})", limits), "nested deeper than 5 levels");
  EXPECT_EQ(elements_of("{\"a\":" + std::string(150, '[') + std::string(150, ']') + "}", limits),
            "it is 306 bytes long; the limit is 200");
}

}  // namespace
}  // namespace enginehost
