#include "host/transfer/package_page.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

std::optional<Listed> find_in_json(const std::string& page, std::string_view file) {
  const auto document = parse_json(page, "package index", {256u << 20, 32});
  if (!document) return {};
  for (const Json& entry : (*document)["files"].as_array()) {
    if (entry["filename"].as_string() != file) continue;
    Listed listed{entry["url"].as_string(), entry["hashes"]["sha256"].as_string(), {}};
    if (entry["size"].is_integer()) listed.size = static_cast<std::uint64_t>(entry["size"].as_integer());
    return listed;
  }
  return {};
}

std::string without_entities(std::string text) {
  for (const auto& [entity, character] :
       {std::pair{"&amp;", "&"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}})
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
      text.replace(at, std::string_view(entity).size(), character);
  return text;
}

// <a href="…/file.whl#sha256=…" …>file.whl</a>
std::optional<Listed> find_in_html(const std::string& page, std::string_view file) {
  const std::string lower = to_lower(page);
  for (std::size_t at = lower.find("<a "); at != std::string::npos; at = lower.find("<a ", at + 1)) {
    const std::size_t end = lower.find('>', at), close = lower.find("</a", at);
    if (end == std::string::npos || close == std::string::npos || close < end) continue;
    if (trim(std::string_view(page).substr(end + 1, close - end - 1)) != file) continue;
    const std::size_t reference = lower.find("href=", at);
    if (reference == std::string::npos || reference > end) continue;
    const char quote = page[reference + 5];
    const std::size_t stop = page.find(quote, reference + 6);
    if ((quote != '"' && quote != '\'') || stop == std::string::npos) continue;
    Listed listed;
    listed.url = without_entities(page.substr(reference + 6, stop - reference - 6));
    if (const std::size_t hash = listed.url.find('#'); hash != std::string::npos) {
      if (listed.url.compare(hash + 1, 7, "sha256=") == 0) listed.sha256 = listed.url.substr(hash + 8);
      listed.url.erase(hash);
    }
    return listed;
  }
  return {};
}

}  // namespace

std::optional<Listed> find_in_page(const std::string& page, std::string_view file) {
  return trim(page).starts_with("{") ? find_in_json(page, file) : find_in_html(page, file);
}

// Pages of an index have links and no forms, except for devpi's refresh button.
bool is_for_a_person(const std::string& page) {
  if (!title_of_page(page)) return false;
  const std::string lower = to_lower(page);
  const auto has = [&](std::string_view text) { return lower.find(text) != std::string::npos; };
  for (const char* package : {".whl", ".tar.gz", ".zip", ".egg"})
    if (has(package)) return false;
  return has("<script") || has("http-equiv=\"refresh\"") || has("\"password\"") ||
         (has("<form") && !has("name=\"refresh\""));
}

}  // namespace enginehost::transfer
