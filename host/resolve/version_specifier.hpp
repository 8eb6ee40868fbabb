// Which versions a request accepts: ENGINE@VERSION, or the version of the API.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::resolve {

// What follows the engine's name in the forms that may be written, for whoever wrote another one.
inline constexpr std::string_view version_forms =
    "1.20 (the newest 1.20.x), ==1.20.1, ==1.20.*, >=1.20, >=1.20,<2, ~=1.20.1 (1.20.1 or a later 1.20.x), "
    "!=1.20.1, ===TEXT";

// Read as PEP 440 reads them. Several, joined by ",", must all hold; an empty text accepts any version, one
// that cannot be read none.
class VersionSpecifier {
 public:
  explicit VersionSpecifier(std::string_view text);

  // Why the text cannot be read; empty: it can.
  const std::string& problem() const { return problem_; }
  bool accepts(std::string_view version) const;
  // A version before its release was named: such builds are meant then, and not only taken for want of
  // others.
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
  std::string read(std::string_view part, bool is_only_one);  // the problem, or nothing

  std::vector<Condition> conditions_;
  std::string problem_;
  bool names_prerelease_ = false;
};

}  // namespace enginehost::resolve
