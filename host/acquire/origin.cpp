#include "host/acquire/origin.hpp"

#include "base/text.hpp"

namespace enginehost::acquire {

std::string describe_origin(const cache::Installed& installed, const std::string& own_repository) {
  if (!installed.in_place.empty()) return "from " + installed.in_place;
  if (installed.files_by == "bundle") return "from a bundle, unsigned";
  if (installed.origin.empty()) return "origin unknown";
  if (!own_repository.empty() && installed.origin == own_repository && installed.signers.empty())
    return "from EngineHost's own repository";
  std::string text = "from " + installed.origin;
  text += installed.signers.empty() ? ", unsigned" : ", signed by " + join(installed.signers, ", ");
  if (!installed.only_for.empty()) text += ", only for requests that name it";
  return text;
}

Json origin_of(const cache::Installed& installed) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return Json::object()
      .set("repository", text(installed.origin))
      .set("signed_by", Json::strings(installed.signers))
      .set("files_by", text(installed.files_by))
      .set("only_for", text(installed.only_for));
}

}  // namespace enginehost::acquire
