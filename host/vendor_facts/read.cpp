#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/columns.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::vendor {
namespace {

constexpr std::size_t most_rows = 1000, most_names = 100, most_text = 500;
constexpr std::int64_t most_serials = 1'000'000;
// The largest step between two toolkits in NVIDIA's table is 25 branches.
constexpr std::int64_t most_branches = 100, newest_cuda = 99;

// Cut between characters.
std::string without_end(const std::string& text) {
  std::size_t end = 77;
  if (text.size() <= end + 3) return text;
  while (end > 0 && continues_character(text[end])) --end;
  return text.substr(0, end) + "...";
}

// "13.1", "590.44.01": numbers of at most five digits.
bool is_numbers(std::string_view text, std::size_t least, std::size_t most) {
  const std::vector<std::string> parts = split(text, '.');
  return parts.size() >= least && parts.size() <= most &&
         std::ranges::all_of(parts, [](const std::string& part) {
           return !part.empty() && part.size() <= 5 &&
                  part.find_first_not_of("0123456789") == std::string::npos;
         });
}

std::int64_t first_number(std::string_view version) {
  return parse_integer(version.substr(0, version.find('.'))).value_or(0);
}

bool is_date(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00Z";
  return std::ranges::equal(text, shape, [](char one, char wanted) {
    return wanted == '0' ? one >= '0' && one <= '9' : one == wanted;
  });
}

// A name in a folder, or a path below it: nothing that leads out of the folder.
bool is_path_below(std::string_view text) {
  if (text.empty() || text.starts_with('/') || text.find_first_of("\\:") != std::string_view::npos)
    return false;
  const std::vector<std::string> parts = split(text, '/');
  return std::ranges::none_of(
      parts, [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

// Notes the first mistake; what is read after it does not count.
class DocumentChecks {
 public:
  explicit DocumentChecks(std::string name) : name_(std::move(name)) {}

  void refuse(const std::string& member, const std::string& value, const std::string& limit) {
    if (!mistake)
      mistake = diagnose(Code::vendor_facts_refused)
                    .with(Key::document, name_)
                    .with(Key::member, member)
                    .with(Key::value, without_end(value))
                    .with(Key::limit, limit);
  }
  void refuse(const std::string& member, const Json* value, const std::string& limit) {
    refuse(member,
           value == nullptr     ? "missing"
           : value->is_string() ? "\"" + value->as_string() + "\""
           : value->is_array()  ? "a list"
           : value->is_object() ? "an object"
                                : value->dump(),
           limit);
  }

  std::optional<Diagnosis> mistake;

 private:
  std::string name_;
};

// One object of the document.
class Members {
 public:
  Members(DocumentChecks& checks, const Json& object, std::string place)
      : checks_(checks), object_(object), place_(std::move(place)) {
    if (!object.is_object()) checks_.refuse(place_, &object, "an object");
  }

  std::string place_of(std::string_view name) const {
    return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
  }
  void refuse(std::string_view name, const std::string& limit) {
    checks_.refuse(place_of(name), object_.find(name), limit);
  }
  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) {
    const Json* value = object_.find(name);
    if (value == nullptr || !value->is_integer() || value->as_integer() < least || value->as_integer() > most)
      refuse(name, "a number from " + std::to_string(least) + " to " + std::to_string(most));
    return value != nullptr ? value->as_integer() : 0;
  }
  bool flag(std::string_view name) {
    const Json* value = object_.find(name);
    if (value != nullptr && !value->is_bool()) refuse(name, "true or false");
    return value != nullptr && value->as_bool();
  }
  std::string text(std::string_view name, bool required = true) {
    const Json* value = object_.find(name);
    if (value == nullptr && !required) return {};
    check_text(place_of(name), value);
    return value != nullptr ? value->as_string() : std::string();
  }
  std::string version(std::string_view name, std::size_t least, std::size_t most, bool required = true) {
    std::string said = text(name, required);
    if (!said.empty() && !is_numbers(said, least, most))
      refuse(name, least == most ? "a version of two numbers, such as 13.1" : "a version, such as 590.44.01");
    return said;
  }
  std::string path(std::string_view name, bool required = false) {
    std::string said = text(name, required);
    if (!said.empty() && !is_path_below(said)) refuse(name, "a path below a folder");
    return said;
  }
  std::vector<std::string> texts(std::string_view name, bool required, bool paths) {
    std::vector<std::string> all;
    const Json* value = object_.find(name);
    if (value == nullptr && !required) return all;
    if (value == nullptr || !value->is_array() || value->as_array().size() > most_names ||
        (required && value->as_array().empty())) {
      refuse(name, "a list of 1 to " + std::to_string(most_names) + " texts");
      return all;
    }
    for (const Json& one : value->as_array()) {
      const std::string place = place_of(name) + "[" + std::to_string(all.size()) + "]";
      check_text(place, &one);
      if (paths && !is_path_below(one.as_string())) checks_.refuse(place, &one, "a path below a folder");
      all.push_back(one.as_string());
    }
    return all;
  }
  // Calls take(row) for each row of the list.
  template <class Take>
  void rows(std::string_view name, Take take) {
    const Json* value = object_.find(name);
    if (value == nullptr || !value->is_array() || value->as_array().empty())
      return refuse(name, "a list with at least one row");
    if (value->as_array().size() > most_rows)
      return checks_.refuse(place_of(name), std::to_string(value->as_array().size()) + " rows",
                            "at most " + std::to_string(most_rows));
    std::size_t at = 0;
    for (const Json& row : value->as_array())
      take(Members(checks_, row, place_of(name) + "[" + std::to_string(at++) + "]"));
  }

 private:
  void check_text(const std::string& place, const Json* value) {
    const bool fits = value != nullptr && value->is_string() && !value->as_string().empty() &&
                      value->as_string().size() <= most_text &&
                      std::ranges::none_of(value->as_string(), [](unsigned char one) { return one < ' '; });
    if (!fits)
      checks_.refuse(place, value, "a text of 1 to " + std::to_string(most_text) + " bytes in one line");
  }
  DocumentChecks& checks_;
  const Json& object_;
  std::string place_;
};

using DriverOf = std::string Toolkit::*;
constexpr std::array<std::pair<const char*, DriverOf>, 2> drivers = {
    {{"linux_driver", &Toolkit::linux_driver}, {"windows_driver", &Toolkit::windows_driver}}};

const Toolkit* find(const std::vector<Toolkit>& toolkits, std::string_view version) {
  const auto at = std::ranges::find(toolkits, version, &Toolkit::version);
  return at != toolkits.end() ? &*at : nullptr;
}

// The toolkits descend, and so do their drivers. `known`: may be null.
void check_toolkits(const Facts& facts, const Facts* known, DocumentChecks& checks) {
  for (std::size_t i = 0; i < facts.toolkits.size(); ++i) {
    const Toolkit& one = facts.toolkits[i];
    const Toolkit* const older = i + 1 < facts.toolkits.size() ? &facts.toolkits[i + 1] : nullptr;
    const Toolkit* const before = known != nullptr ? find(known->toolkits, one.version) : nullptr;
    const std::string place = "cuda_toolkits[" + std::to_string(i) + "].";
    if (first_number(one.version) > newest_cuda)
      checks.refuse(place + "version", one.version, "at most " + std::to_string(newest_cuda));
    if (older != nullptr && compare_versions(one.version, older->version) <= 0)
      checks.refuse(place + "version", one.version, "newer than the row below it, " + older->version);
    for (const auto& [name, driver] : drivers) {
      const std::string &own = one.*driver, member = place + name;
      if (older != nullptr && compare_versions(own, older->*driver) <= 0)
        checks.refuse(member, own,
                      "newer than " + older->*driver + ", the driver of the older CUDA " + older->version);
      // No driver reaches it.
      if (older != nullptr && first_number(own) > first_number(older->*driver) + most_branches)
        checks.refuse(member, own,
                      "a driver at most " + std::to_string(most_branches) + " branches above " +
                          older->*driver + " of CUDA " + older->version);
      if (before != nullptr && !before->unverified && first_number(own) != first_number(before->*driver))
        checks.refuse(member, own,
                      "a driver of branch " + std::to_string(first_number(before->*driver)) +
                          ", as this version knows for CUDA " + one.version);
    }
  }
}

// A major version's minimum is a driver that came after the toolkits before it, and no later than the
// second toolkit of that major.
void check_minor_versions(const Facts& facts, DocumentChecks& checks) {
  for (std::size_t i = 0; i < facts.minor_versions.size(); ++i) {
    const MinorVersions& one = facts.minor_versions[i];
    const std::string major = std::to_string(one.major);
    const Toolkit *const first = find(facts.toolkits, major + ".0"), *const second =
                                                                         find(facts.toolkits, major + ".1");
    for (const auto& [name, driver] : drivers) {
      const std::string& own = driver == &Toolkit::linux_driver ? one.linux_driver : one.windows_driver;
      const std::string member = "cuda_minor_versions[" + std::to_string(i) + "]." + name;
      if (first == nullptr)
        checks.refuse("cuda_minor_versions[" + std::to_string(i) + "].major", major,
                      "a major version whose first toolkit is in cuda_toolkits");
      else if (compare_versions(own, first->*driver) < 0)
        checks.refuse(member, own, "at least " + first->*driver + ", the driver of CUDA " + first->version);
      else if (second != nullptr && compare_versions(own, second->*driver) > 0)
        checks.refuse(member, own, "at most " + second->*driver + ", the driver of CUDA " + second->version);
      else if (first_number(own) > first_number(first->*driver) + most_branches)
        checks.refuse(member, own,
                      "a driver at most " + std::to_string(most_branches) + " branches above " +
                          first->*driver + " of CUDA " + first->version);
    }
    for (std::size_t j = 0; j < i; ++j)
      if (facts.minor_versions[j].major == one.major)
        checks.refuse("cuda_minor_versions[" + std::to_string(i) + "].major", major,
                      "each major version once");
  }
}

void check_cards(const Facts& facts, DocumentChecks& checks) {
  for (std::size_t i = 0; i < facts.cards.size(); ++i) {
    const Card& one = facts.cards[i];
    const std::string place = "compute_capabilities[" + std::to_string(i) + "].";
    const std::size_t dot = one.capability.find('.');
    if (first_number(one.capability) < 1 || first_number(one.capability) > newest_cuda ||
        one.capability.size() != dot + 2)
      checks.refuse(place + "capability", one.capability,
                    "from 1.0 to " + std::to_string(newest_cuda) + ".9");
    if (i > 0 && compare_versions(one.capability, facts.cards[i - 1].capability) <= 0)
      checks.refuse(place + "capability", one.capability,
                    "above the row before it, " + facts.cards[i - 1].capability);
    if (!one.last.empty() && compare_versions(one.last, one.first) < 0)
      checks.refuse(place + "last", one.last, "not before the first toolkit, " + one.first);
    if (first_number(one.first) > first_number(facts.toolkits.front().version))
      checks.refuse(place + "first", one.first,
                    "of a major version in cuda_toolkits, at most " + facts.toolkits.front().version);
  }
}

template <class Row, class Member>
void check_once(const std::vector<Row>& rows, Member member, const std::string& list, const std::string& name,
                DocumentChecks& checks) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!seen.insert(rows[i].*member).second)
      checks.refuse(list + "[" + std::to_string(i) + "]." + name, rows[i].*member, "there once");
}

// Rows that this version knows do not disappear.
template <class Row, class Member>
void check_complete(const std::vector<Row>& rows, const std::vector<Row>& known, Member member,
                    const std::string& list, DocumentChecks& checks) {
  for (const Row& one : known)
    if (std::ranges::find(rows, one.*member, member) == rows.end())
      checks.refuse(list, "without " + Json(one.*member).dump(), "complete: this version knows that row");
}

Engine read_engine(Members& row) {
  Engine one;
  one.engine = row.text("engine");
  one.python_names = row.texts("python_names", true, false);
  one.conda_names = row.texts("conda_names", false, false);
  one.debian_prefix = row.text("debian_prefix", false);
  one.package_folders = row.texts("package_folders", true, true);
  one.version_file = row.path("version_file");
  one.version_name = row.text("version_name", false);
  one.main_libraries = row.texts("main_libraries", true, true);
  one.other_libraries = row.texts("other_libraries", false, true);
  one.cuda_libraries = row.texts("cuda_libraries", false, true);
  one.rocm_libraries = row.texts("rocm_libraries", false, true);
  one.abi_library = row.path("abi_library");
  one.abi_symbol = row.text("abi_symbol", false);
  if (one.abi_library.empty() != one.abi_symbol.empty()) row.refuse("abi_symbol", "there with abi_library");
  return one;
}

Library read_library(Members& row) {
  Library one;
  one.file = row.path("file", true);
  one.what = row.text("what");
  for (const auto& [name, member] : {std::pair("conda", &Library::conda),
                                     {"package_index", &Library::package_index},
                                     {"nvidia", &Library::nvidia},
                                     {"debian", &Library::debian},
                                     {"other", &Library::other}})
    one.*member = row.text(name, false);
  one.fedora = row.flag("fedora");
  one.conda_forge = row.flag("conda_forge");
  return one;
}

}  // namespace

Result<Facts> read_facts(const Json& document, const std::string& name, const Facts* known) {
  DocumentChecks checks(name);
  Members whole(checks, document, "");
  Facts facts;
  // A later format may mean other things by the same members.
  if (whole.number("format", 1, 1) != 1) return fail(std::move(*checks.mistake));
  facts.serial = whole.number("serial", 1, (known != nullptr ? known->serial : 1) + most_serials);
  facts.date = whole.text("date");
  if (!is_date(facts.date)) whole.refuse("date", "a time, such as 2026-11-29T00:00:00Z");
  whole.rows("cuda_toolkits", [&](Members row) {
    Toolkit one;
    one.version = row.version("version", 2, 2);
    one.linux_driver = row.version("linux_driver", 1, 4);
    one.windows_driver = row.version("windows_driver", 1, 4);
    one.unverified = row.flag("unverified");
    facts.toolkits.push_back(std::move(one));
  });
  whole.rows("cuda_minor_versions", [&](Members row) {
    MinorVersions one;
    one.major = row.number("major", 11, newest_cuda);
    one.linux_driver = row.version("linux_driver", 1, 4);
    one.windows_driver = row.version("windows_driver", 1, 4);
    facts.minor_versions.push_back(std::move(one));
  });
  whole.rows("compute_capabilities", [&](Members row) {
    Card one;
    one.capability = row.version("capability", 2, 2);
    one.first = row.version("first", 2, 2);
    one.last = row.version("last", 2, 2, false);
    one.tegra = row.flag("tegra");
    facts.cards.push_back(std::move(one));
  });
  whole.rows("libraries", [&](Members row) { facts.libraries.push_back(read_library(row)); });
  whole.rows("engines", [&](Members row) { facts.engines.push_back(read_engine(row)); });
  if (!checks.mistake) {
    check_toolkits(facts, known, checks);
    check_minor_versions(facts, checks);
    check_cards(facts, checks);
    check_once(facts.libraries, &Library::file, "libraries", "file", checks);
    check_once(facts.engines, &Engine::engine, "engines", "engine", checks);
  }
  if (!checks.mistake && known != nullptr) {
    check_complete(facts.toolkits, known->toolkits, &Toolkit::version, "cuda_toolkits", checks);
    check_complete(facts.minor_versions, known->minor_versions, &MinorVersions::major, "cuda_minor_versions",
                   checks);
    check_complete(facts.cards, known->cards, &Card::capability, "compute_capabilities", checks);
    check_complete(facts.engines, known->engines, &Engine::engine, "engines", checks);
  }
  if (checks.mistake) return fail(std::move(*checks.mistake));
  return facts;
}

Result<Facts> read_facts(const std::string& bytes, const std::string& name, const Facts* known) {
  DocumentChecks checks(name);
  if (bytes.size() > largest_document)
    checks.refuse("document", format_bytes(bytes.size()), "at most " + format_bytes(largest_document));
  if (checks.mistake) return fail(std::move(*checks.mistake));
  const auto document = parse_json(bytes, name);
  if (!document) {
    checks.refuse("document", std::string(document.error().value(Key::problem)), "one JSON document");
    return fail(std::move(*checks.mistake));
  }
  return read_facts(*document, name, known);
}

}  // namespace enginehost::vendor
