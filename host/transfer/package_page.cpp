#include "host/transfer/package_page.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

constexpr std::size_t npos = std::string_view::npos;
// A longer page is a list of files, not a form.
constexpr std::size_t longest_page_for_a_person = 1u << 20;

tl::unexpected<Diagnosis> unreadable(std::string_view problem) {
  return fail(diagnose(Code::not_in_package_index).with(Key::problem, problem));
}

// Calls `take` for each entry of the page's list of files.
Result<void> read_json_page(std::string_view page, const std::function<void(const Json&)>& take) {
  JsonArrayLimits limits;
  limits.bytes = largest_page;
  limits.elements = most_listed;
  const auto read = read_json_array(page, "package index", "files", take, limits);
  if (read) return {};
  Diagnosis wrong = diagnose(Code::not_in_package_index);
  for (const Evidence& fact : read.error().evidence)
    if (fact.what != Key::document) wrong.evidence.push_back(fact);
  return fail(std::move(wrong));
}

Listed listed_of(const Json& entry) {
  Listed listed{entry["url"].as_string(), entry["hashes"]["sha256"].as_string(), {}};
  if (entry["size"].is_integer()) listed.size = static_cast<std::uint64_t>(entry["size"].as_integer());
  return listed;
}

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

// Returns whether the text has this word there, whatever the case of its letters.
bool has_word(std::string_view text, std::size_t at, std::string_view word) {
  return at <= text.size() && text.size() - at >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, char b) { return a == lower(b); });
}

std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> entities = {
      {{"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&lt;", '<'}, {"&gt;", '>'}}};
  std::string plain;
  while (!text.empty()) {
    const auto entity = std::find_if(entities.begin(), entities.end(),
                                     [&](const auto& one) { return text.starts_with(one.first); });
    plain += entity == entities.end() ? text.front() : entity->second;
    text.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
  }
  return plain;
}

bool is_space(char character) { return std::string_view(" \t\r\n\f").find(character) != npos; }

// Returns whether a tag of that name ("<a") begins there.
bool begins_tag(std::string_view page, std::size_t at, std::string_view tag) {
  return has_word(page, at, tag) && at + tag.size() < page.size() && is_space(page[at + tag.size()]);
}

// Returns the value of an attribute, "href=" or "data-yanked=", in a tag's text.
std::optional<std::string_view> attribute_in(std::string_view tag, std::string_view name) {
  for (std::size_t at = 0; at < tag.size(); ++at) {
    if (!has_word(tag, at, name)) continue;
    at += name.size();
    if (at == tag.size()) return {};
    const bool quoted = tag[at] == '"' || tag[at] == '\'';
    if (!quoted) return tag.substr(at, tag.find_first_of(" \t\r\n\f", at) - at);
    const std::size_t end = tag.find(tag[at], at + 1);
    if (end == npos) return {};
    return tag.substr(at + 1, end - at - 1);
  }
  return {};
}

struct Link {
  std::string_view tag, reference, text;  // the text is "" if more than a text is within the link
  std::string base;                       // of the page, or ""
};

// Reads <a href="…/file.whl#sha256=…" …>file.whl</a>, once through the page, because each search goes on
// where the one before ended. Pages of find-links may have any text within the link. `take` returns whether
// it wants further links.
Result<void> read_links(std::string_view page, const std::function<bool(const Link&)>& take) {
  std::size_t links = 0;
  std::string base;
  for (std::size_t at = page.find('<'); at != npos; at = page.find('<', at)) {
    const bool is_base = base.empty() && begins_tag(page, at, "<base");
    if (!is_base && !begins_tag(page, at, "<a")) {
      ++at;
      continue;
    }
    if (++links > most_listed)
      return unreadable("it has more than " + std::to_string(most_listed) + " links, which is the limit");
    const std::size_t end = page.find('>', at), close = end == npos ? npos : page.find('<', end);
    if (close == npos) break;
    const std::string_view tag = page.substr(at, end - at);
    const auto reference = attribute_in(tag, "href=");
    at = close;
    if (!reference) continue;
    if (is_base) {
      base = without_entities(*reference);
      continue;
    }
    const bool has_text = has_word(page, close, "</a");
    const std::string_view text = has_text ? trim(page.substr(end + 1, close - end - 1)) : "";
    if (!take({tag, *reference, text, base})) break;
  }
  return {};
}

Listed listed_of(const Link& link) {
  Listed listed;
  listed.url = without_entities(link.reference);
  if (const std::size_t hash = listed.url.find('#'); hash != std::string::npos) {
    if (listed.url.compare(hash + 1, 7, "sha256=") == 0) listed.sha256 = listed.url.substr(hash + 8);
    listed.url.erase(hash);
  }
  if (!link.base.empty()) listed.url = join_url(link.base, listed.url);
  return listed;
}

bool is_json(std::string_view page) { return trim(page).starts_with("{"); }

}  // namespace

Result<std::optional<Listed>> find_in_page(std::string_view page, std::string_view file) {
  std::optional<Listed> found;
  if (is_json(page))
    TRY(read_json_page(page, [&](const Json& entry) {
      if (!found && entry["filename"].as_string() == file) found = listed_of(entry);
    }));
  else
    TRY(read_links(page, [&](const Link& link) {
      if (link.text == file || file_name_of(link.reference) == file) found = listed_of(link);
      return !found;
    }));
  return found;
}

Result<void> list_page(std::string_view page, const std::function<void(ListedFile)>& take) {
  if (is_json(page))
    return read_json_page(page, [&](const Json& entry) {
      ListedFile listed{
          listed_of(entry), entry["filename"].as_string(), entry["upload-time"].as_string(), {}};
      const Json& yanked = entry["yanked"];
      if (yanked.is_string() || yanked.as_bool()) listed.yanked = yanked.as_string();
      take(std::move(listed));
    });
  return read_links(page, [&](const Link& link) {
    ListedFile listed{listed_of(link), {}, {}, {}};
    listed.file = file_name_of(listed.url);
    if (const auto reason = attribute_in(link.tag, "data-yanked="))
      listed.yanked = without_entities(*reason);
    else if (link.tag.find("data-yanked") != npos)
      listed.yanked = "";
    take(std::move(listed));
    return true;
  });
}

// Pages of an index have links and no forms, except for devpi's refresh button.
bool is_for_a_person(const std::string& page) {
  if (page.size() > longest_page_for_a_person || !title_of_page(page)) return false;
  const std::string lower = to_lower(page);
  const auto has = [&](std::string_view text) { return lower.find(text) != std::string::npos; };
  for (const char* package : {".whl", ".tar.gz", ".zip", ".egg"})
    if (has(package)) return false;
  return has("<script") || has("http-equiv=\"refresh\"") || has("\"password\"") ||
         (has("<form") && !has("name=\"refresh\""));
}

}  // namespace enginehost::transfer
