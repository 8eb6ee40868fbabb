#include "tests/end-to-end/golden_text.hpp"

#include <gnu/libc-version.h>

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "base/json.hpp"
#include "base/text.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

struct Placeholder {
  std::regex pattern;
  const char* replacement;

  Placeholder(const std::string& text, const char* put)
      : pattern(text, std::regex::optimize), replacement(put) {}
};

// Everywhere.
const Placeholder of_every_screen[] = {
    {"\r\n", "\n"},
    {"\x1b", "<esc>"},
    {R"~(("(decide|acquire|preflight|probe|load|[a-z_]*milliseconds|median_ms|seconds)": )[0-9.e+-]+)~",
     R"~($1"<time>")~"},
    {R"~(("vendor_facts": \{\s+"serial": )[0-9]+(,\s+"date": )"[^"]*")~", R"~($1"<serial>"$2"<date>")~"},
    {R"~(\b[0-9a-f]{64}\b)~", "<sha256>"},
    {R"~(\b[0-9a-f]{8}…)~", "<sha256>…"},
    {R"~(\b[0-9a-f]{16}\b)~", "<hash>"},  // of the machine's key, and of a published file
    {R"~(\b[0-9A-F]{16}\b)~", "<key>"},   // of minisign
    {R"~(("public": )"RW[^"]*")~", R"~($1"<key>")~"},
};

// A recorded machine is the same everywhere, so these are for the others.
const Placeholder of_this_machine[] = {
    // Times, as a number before its unit or as a member.
    {R"~( +[0-9]+(\.[0-9]+)? ms\b)~", " <time>"},
    {R"~( +[0-9]+\.[0-9] s\b)~", " <time>"},
    {R"~(("(installed_at|last_used|last_seen|first_seen|retry_after)": )[1-9][0-9]*)~", R"~($1"<time>")~"},
    {R"~(\b20[0-9]{2}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z| UTC))?)~", "<date>"},
    // The lines of the first screen about the machine; the processor and its memory.
    {R"~(^[^\n]*, [0-9]+ cores?, [0-9.]+ [A-Za-z]+\n([^\n]+\n)*)~", "<machine>\n"},
    {R"~((device +cpu:0  ).*)~", "$1<processor>"},
    {R"~((kernels +)[a-z0-9]+\b)~", "$1<kernels>"},
    {R"~(("physical": )[1-9][0-9]*)~", R"~($1"<size>")~"},
    {R"~([0-9.]+ [A-Za-z]+( on disk for ))~", "<size>$1"},
    {R"~((result on cpu:0, )[0-9.]+ [A-Za-z]+ free)~", "$1<size> free"},
    {R"~(("(memory|memory_free)": )[0-9]+)~", R"~($1"<size>")~"},
    {R"~(("device": "cpu:0",\s+"name": )\"[^"]*\")~", R"~($1"<processor>")~"},
    {R"~(("(architecture|kernels)": )\"[^"]*\")~", R"~($1"<kernels>")~"},
    // Sizes and code that the compiler and its linker choose.
    {R"~((, |")[0-9.]+ (bytes|KiB) \([0-9.]+ (bytes|KiB) needed, [0-9.]+ (bytes|KiB) in memory\))~",
     "$1<size>"},
    {R"~(("os_abi": "[^"]*",\s+"size": )[0-9]+)~", R"~($1"<size>")~"},
    {R"~(("(needed_size|memory_size)": )[0-9]+)~", R"~($1"<size>")~"},
    {R"~((it has 700 of )[0-9]+)~", "$1<size>"},
    {R"~(("what": "needed_size",\s+"value": )"[0-9]+")~", R"~($1"<size>")~"},
    {R"~(("glibc": ?">=)[0-9.]+)~", "$1<glibc>"},
    {R"~((\.bundle  )[0-9.]+ KiB)~", "$1<size>"},
    {R"~((\.bundle",\s+"size": )[0-9]+)~", R"~($1"<size>")~"},
    {R"~((\],\s+"size": )[0-9]+)~", R"~($1"<size>")~"},
    {R"~((instruction +)[0-9a-f]{8}\b)~", "$1<instruction>"},
    {R"~(("what": "instruction",\s+"value": )\"[^"]*\")~", R"~($1"<instruction>")~"},
    // The user and the host.
    {R"~((accepted by )[^ ]+)~", "$1<user>"},
    {R"~(("(user|host)": )"[^"]*")~", R"~($1"<$2>")~"},
    {R"~(("uid": )[0-9]+)~", R"~($1"<user>")~"},
};

// The C library's version where it was looked up or is compared.
Placeholder glibc() {
  const std::string version = replaced(::gnu_get_libc_version(), ".", "\\.");
  return {R"~((found |"(observed|value)": "| ))~" + version + R"~((?="|\n|  \[gnu_get_libc_version\]))~",
          "$1<glibc>"};
}

std::string in_text(const Place& place, std::string text, bool recorded) {
  text = replaced(std::move(text), place.folder().native(), "<folder>");
  text = replaced(std::move(text), build_path(), "<build>");
  text = replaced(std::move(text), source_path(), "<source>");
  if (place.port() != 0)
    text = replaced(std::move(text), "127.0.0.1:" + std::to_string(place.port()), "<server>");
  const auto replace = [&](const Placeholder& one) {
    text = std::regex_replace(text, one.pattern, one.replacement);
  };
  std::ranges::for_each(of_every_screen, replace);
  if (recorded) return text;
  std::ranges::for_each(of_this_machine, replace);
  replace(glibc());
  return text;
}

// Members of documents that describe this machine and its user at length.
bool describes_the_machine(const std::string& name, const Json& value) {
  return (name == "host" && value.is_array()) || name == "stamp";
}

Json without_machine(const Json& value) {
  if (value.is_array()) {
    Json array = Json::array();
    for (const Json& element : value.as_array()) array.push(without_machine(element));
    return array;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [name, member] : value.as_object())
    object.set(name, describes_the_machine(name, member) ? Json("<machine>") : without_machine(member));
  // The documents of the first screen show this long member; the others repeat it.
  if (value.find("outcome") != nullptr) object.set("platform", "<machine>");
  return object;
}

std::string section(const char* name, const std::string& text) {
  if (text.empty()) return {};
  return std::string("-- ") + name + "\n" + text + (text.ends_with('\n') ? "" : "\n-- no end of line\n");
}

}  // namespace

std::string golden_text(const Place& place, const std::string& line, const Ended& ended, bool document) {
  std::string output = ended.output;
  if (document) {
    const auto parsed = parse_json(output, "the output");
    if (!parsed || parsed->dump(2) + "\n" != output)
      throw std::runtime_error(line + " printed no document of its own\n" + ended.said());
    output = without_machine(*parsed).dump(2) + "\n";
  }
  const bool recorded = line.find("--platform") != std::string::npos;
  return "$ " + line + "\n-- status " + std::to_string(ended.status) + "\n" +
         section("output", in_text(place, output, recorded)) +
         section("error", in_text(place, ended.error, recorded));
}

}  // namespace enginehost::test
