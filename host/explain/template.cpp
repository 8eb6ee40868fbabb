#include "host/explain/template.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::explain {
namespace {

// A longer list ends in "and N more". The evidence has all values.
constexpr std::size_t longest_list = 6;

// failures/generate.py refuses a template that names no fact.
std::vector<std::string> values_of(std::string_view name, const Diagnosis& diagnosis) {
  const auto key = key_named(name);
  return key ? diagnosis.values(*key) : std::vector<std::string>();
}

// Evidence contains plain numbers, which programs can compare.
std::string readable_size(const std::string& value) {
  const auto bytes = parse_integer(value);
  return bytes && *bytes >= 0 ? format_bytes(static_cast<std::uint64_t>(*bytes)) : value;
}

std::string list_of(std::vector<std::string> values) {
  std::vector<std::string> unique;
  for (std::string& value : values)
    if (std::find(unique.begin(), unique.end(), value) == unique.end()) unique.push_back(std::move(value));
  // A semicolon separates members that contain commas.
  const bool commas = std::any_of(unique.begin(), unique.end(), [](const std::string& value) {
    return value.find(", ") != std::string::npos;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(unique.size(), longest_list); ++i)
    text += (i == 0 ? "" : commas ? "; " : ", ") + unique[i];
  if (unique.size() > longest_list) text += " and " + std::to_string(unique.size() - longest_list) + " more";
  return text;
}

// Returns the text for one pair of braces; nothing if its condition fails.
std::optional<std::string> slot(std::string_view inner, const Diagnosis& diagnosis) {
  const auto printed_as_nothing_if = [](bool condition) {
    return condition ? std::optional<std::string>("") : std::nullopt;
  };
  if (inner.find_first_of("?!+") == 0) {
    const std::vector<std::string> values = values_of(inner.substr(1), diagnosis);
    if (inner.front() == '?') return printed_as_nothing_if(!values.empty());
    if (inner.front() == '!') return printed_as_nothing_if(values.empty() || values.front().empty());
    return printed_as_nothing_if(values.size() > 1);
  }
  if (const std::size_t equals = inner.find('='); equals != std::string_view::npos) {
    const std::vector<std::string> values = values_of(inner.substr(0, equals), diagnosis);
    return printed_as_nothing_if(!values.empty() && values.front() == inner.substr(equals + 1));
  }
  // "{count|build|builds}"
  std::string_view one, several;
  if (const std::size_t first = inner.find('|'), last = inner.rfind('|'); first != last) {
    several = inner.substr(last + 1);
    one = inner.substr(first + 1, last - first - 1);
    inner = inner.substr(0, first);
  }
  const auto without = [&inner](std::string_view ending) {
    if (!inner.ends_with(ending)) return false;
    inner.remove_suffix(ending.size());
    return true;
  };
  const bool name_only = without("|name"), bytes = without("|bytes"), word = without("|word"),
             list = without("...");
  std::vector<std::string> values = values_of(inner, diagnosis);
  if (values.empty()) return std::nullopt;
  if (!list) values.resize(1);
  if (name_only) std::transform(values.begin(), values.end(), values.begin(), file_name);
  if (bytes) std::transform(values.begin(), values.end(), values.begin(), readable_size);
  if (word) std::transform(values.begin(), values.end(), values.begin(), shell_word);
  std::string text = list_of(std::move(values));
  if (!one.empty() && !text.empty()) text += " " + std::string(text == "1" ? one : several);
  if (text.empty()) return std::nullopt;
  return text;
}

// Puts the engine that failed, if it is known, into "engine-info ENGINE --plan".
std::string with_engine(std::string_view literal, const Diagnosis& diagnosis) {
  constexpr std::string_view written = "engine-info ENGINE ";
  const std::string_view engine = diagnosis.value(Key::engine);
  std::string text(literal);
  if (engine.empty()) return text;
  const std::string named = "engine-info " + shell_word(engine) + " ";
  for (std::size_t at = 0; (at = text.find(written, at)) != std::string::npos; at += named.size())
    text.replace(at, written.size(), named);
  return text;
}

// The name of a C++ template may fill pages, and a list of symbols hundreds of lines.
constexpr std::size_t longest_name = 300, most_names = 16;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Returns nothing for a symbol that is no C++ name. Mach-O adds an underscore, glibc's texts add "@version".
std::string demangled(std::string symbol) {
  if (symbol.starts_with("__Z")) symbol.erase(0, 1);
  if (!symbol.starts_with("_Z")) return {};
  symbol.resize(std::min(symbol.find('@'), symbol.size()));
  int status = 0;
  const std::unique_ptr<char, Free> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status));
  if (status != 0 || name == nullptr) return {};
  std::string text = name.get();
  if (text.size() > longest_name) text.replace(longest_name, std::string::npos, "…");
  return text;
}

void add_demangled(Diagnosis& diagnosis) {
  if (!diagnosis.value(Key::demangled).empty()) return;
  const std::vector<std::string> symbols = diagnosis.values(Key::symbol);
  for (std::size_t i = 0; i < symbols.size() && i < most_names; ++i)
    if (const std::string name = demangled(symbols[i]); !name.empty())
      diagnosis.with(Key::demangled, name, symbols[i]);
}

// A quarter more than the build's libraries need, for alignment and for the system libraries that come with
// them, rounded up. If it should have fitted, other libraries already used the reserve: reserve that much
// more.
void add_reserve(Diagnosis& diagnosis) {
  if (diagnosis.code != Code::no_static_tls_left || !diagnosis.value(Key::optional_static_tls).empty())
    return;
  constexpr std::int64_t most = std::int64_t{1} << 40, least = 64 << 10;
  const auto number = [&](Key what) {
    const auto value = parse_integer(diagnosis.value(what));
    return value && *value > 0 && *value <= most ? static_cast<std::uint64_t>(*value) : 0;
  };
  const std::uint64_t wanted = number(Key::static_tls), reserve = number(Key::reserve);
  if (!diagnosis.value(Key::alignment).empty() || wanted + reserve == 0) return;
  const std::uint64_t bytes = wanted == 0         ? reserve + std::max<std::uint64_t>(reserve, least)
                              : wanted <= reserve ? wanted + reserve
                                                  : wanted;
  diagnosis.with(Key::optional_static_tls, std::to_string(std::bit_ceil(bytes + bytes / 4 + 4096)),
                 wanted == 0 ? "reserve, rounded up" : "static_tls, rounded up");
}

// The remedy removes the stub's folder from the search path.
void add_folder_of_stub(Diagnosis& diagnosis) {
  const std::string path(diagnosis.value(Key::path));
  const std::size_t slash = path.rfind('/');
  if (diagnosis.code != Code::driver_is_stub || !diagnosis.value(Key::folder).empty() ||
      slash == std::string::npos)
    return;
  diagnosis.with(Key::folder, path.substr(0, slash), "path");
}

}  // namespace

void add_derived(Diagnosis& diagnosis) {
  add_demangled(diagnosis);
  add_folder_of_stub(diagnosis);
  add_reserve(diagnosis);
}

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::optional<std::string> fill(std::string_view text, const Diagnosis& diagnosis) {
  std::string sentence;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    sentence += with_engine(text.substr(0, open), diagnosis);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    const auto value = slot(text.substr(open + 1, close - open - 1), diagnosis);
    if (!value) return std::nullopt;
    sentence += *value;
    text.remove_prefix(close + 1);
  }
  return sentence;
}

}  // namespace enginehost::explain
