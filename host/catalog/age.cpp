#include "host/catalog/age.hpp"

#include "host/manifest/repository.hpp"

namespace enginehost::catalog {

std::optional<std::string> age_of_manifests(const manifest::Catalog& catalog, std::int64_t now) {
  const auto made = manifest::seconds_of_time(catalog.created);
  if (!made || now - *made <= days_until_old * 24 * 3600) return std::nullopt;
  return "manifests of " + catalog.created.substr(0, 10);
}

}  // namespace enginehost::catalog
