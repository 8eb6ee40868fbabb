// The versions that a request accepts: ENGINE@VERSION, or the version of the API.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost {

// The accepted forms after the engine's name, for messages about any other form.
inline constexpr std::string_view version_forms =
    "1.20 (the newest 1.20.x), ==1.20.1, ==1.20.*, >=1.20, >=1.20,<2, ~=1.20.1 (1.20.1 or a later 1.20.x), "
    "!=1.20.1, ===TEXT";

// A version specifier as in PEP 440. All parts separated by "," must hold. An empty text accepts any version;
// one that cannot be read accepts none.
class VersionSpecifier {
 public:
  explicit VersionSpecifier(std::string_view text);

  // Returns why the text cannot be read; empty if it can.
  const std::string& problem() const { return problem_; }
  bool accepts(std::string_view version) const;
  // Returns true if the text names a prerelease. Prereleases are then ranked like other versions.
  bool names_prerelease() const { return names_prerelease_; }

 private:
  enum class Relation {
    begins_with,
    differs_from_prefix,
    equal,
    different,
    least,
    most,
    above,
    below,
    compatible,
    text
  };
  struct Condition {
    Relation relation = Relation::begins_with;
    std::string version;
  };
  static bool holds(const Condition& condition, std::string_view version);
  std::string read(std::string_view part, bool is_only_one);  // returns the problem, or an empty text

  std::vector<Condition> conditions_;
  std::string problem_;
  bool names_prerelease_ = false;
};

}  // namespace enginehost
