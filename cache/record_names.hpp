// The names by which this machine calls builds.
//
// A build is called by its id. If another engine's build has that id here, it is called ENGINE+ID, because
// a publisher of builds of one engine must not replace, hide or remove those of another. Ids may contain
// '+', so that a name alone does not say which engine and id it means: its record does, and a name that is
// taken gets another prefix.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/installed.hpp"

namespace enginehost::cache {

// A plain value. Thread safety: one thread at a time.
class RecordNames {
 public:
  RecordNames() = default;
  // Takes the names of these builds.
  explicit RecordNames(const std::vector<Installed>& installed);

  // Returns the name of a build, and takes it: that of its record, else the first that no other build has.
  std::string name_of(const std::string& engine, const std::string& id);

  // Keeps a name that nobody has for the engine: a build of it was called so.
  void reserve(const std::string& name, const std::string& engine);

  // Returns the name that a build has already, if it has one.
  std::optional<std::string> known(const std::string& engine, const std::string& id) const;

  // Takes `name` for a build, with as many prefixes as it needs to be its own. Returns the name.
  std::string take(std::string name, const std::string& engine, const std::string& id);

 private:
  struct Owner {
    std::string engine, id;  // id: empty if only the engine is known
  };
  static bool is_of(const Owner& owner, const std::string& engine, const std::string& id) {
    return owner.engine == engine && (owner.id == id || owner.id.empty());
  }
  std::map<std::string, Owner> owners_;
};

// Returns ENGINE+NAME.
std::string with_engine(std::string_view engine, std::string_view name);

}  // namespace enginehost::cache
