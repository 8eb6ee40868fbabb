// Which vendor facts count (host/vendor_facts): those that were compiled in, or newer ones of EngineHost's
// own repository or of the repository that the administrator's file names (policy.vendor_facts_repository).
//
// <state>/vendor-facts.json holds the newest document that each of the two ever gave, so that a serial never
// falls and a refused document changes nothing.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/catalog/repositories.hpp"
#include "host/manifest/repository.hpp"

namespace enginehost::catalog {

// The offer of one repository, if its facts may count at all.
struct OfferedFacts {
  std::string location;
  std::optional<Diagnosis> refused;  // EH-M28, or why the document was not read
  std::string sha256, bytes;
};

// Returns what a repository that was read offers; nothing for one whose facts do not count, or that has those
// that were compiled in. `repository`: as the settings name it.
std::optional<OfferedFacts> offered_facts(const CatalogRequest& request,
                                          const settings::Repository& repository,
                                          const Result<manifest::RepositoryContent>& content,
                                          manifest::DocumentReader& reader);

// Decides which facts this process uses from now on (vendor::use). Reads the repository that the policy
// names, if the settings do not list it. Notes refused documents in Catalog::failures (EH-M26 to EH-M28), and
// files that the decision depends on in `origin`.
void use_vendor_facts(const CatalogRequest& request, std::vector<OfferedFacts> offered,
                      manifest::Catalog& catalog, CatalogOrigin& origin);

// True for a failure that only concerns vendor facts, and never the builds of a repository.
bool is_of_vendor_facts(const Diagnosis& failure);

}  // namespace enginehost::catalog
