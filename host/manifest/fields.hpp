// Reads the members of a JSON object strictly. Reports a missing member, a wrong type or a wrong shape by its
// place in the document ("builds[3].requires.glibc").
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "host/manifest/shapes.hpp"

namespace enginehost::manifest {

// The state of reading one document: its first mistake and its warnings.
struct Reading {
  std::string document;
  std::vector<std::string> warnings;
  std::optional<Diagnosis> mistake;  // EH-M02 with "document", "member", "problem"

  void refuse(std::string_view member, std::string_view problem);
};

// Entries of a list of texts, and of the other lists and objects that each use of a build goes through. The
// largest of the published manifests has 89.
constexpr std::size_t most_texts = 1000;

enum class Need { required, optional, nullable };  // nullable: optional, and null means unknown

// The members of one object. Names that were requested count as known; warn_of_unknown() reports the others.
class Fields {
 public:
  Fields(Reading& reading, const Json& object, std::string place);

  bool usable() const { return usable_; }
  std::string place_of(std::string_view name) const;
  const Json* find(std::string_view name, Need need);  // nullptr: missing (refused when required) or null

  void text(std::string_view name, Need need, Shape shape, std::string& target);
  void texts(std::string_view name, Need need, Shape shape, std::vector<std::string>& target);
  // Texts that are matched with every file of an archive or a build: 4096 characters together at most, so
  // that the time is bounded by the text of the names.
  void patterns(std::string_view name, std::vector<std::string>& target);
  // Refuses a member with more than `most` entries.
  bool few(std::string_view name, std::size_t count, std::size_t most = most_texts);
  void number(std::string_view name, Need need, std::int64_t least, std::int64_t most, std::int64_t& target);
  void size(std::string_view name, Need need, std::optional<std::uint64_t>& target, std::int64_t least = 0);
  void flag(std::string_view name, bool& target);
  const Json* array(std::string_view name, Need need);
  const Json* object(std::string_view name, Need need);

  // Warns of the members that were not requested and returns their names.
  std::vector<std::string> warn_of_unknown();
  std::vector<std::string> unknown() const;

 private:
  const Json* typed(std::string_view name, Need need, bool (Json::*is_type)() const, std::string_view wanted);

  Reading& reading_;
  const Json& object_;
  std::string place_;
  std::vector<std::string_view> known_;  // points to string literals
  bool usable_ = true;
};

// Errors: EH-M04 ("found", "supported") when the document's format is newer than this reader; EH-M03
// ("member") when it marks a field as critical that this reader does not know.
Result<void> check_version(const Json& document, const std::string& name);

// Reads a manifest, an index or another document that repositories publish. `read` takes the members that
// only this kind has. Returns the warnings. Errors: those of check_version(), and the first mistake.
Result<std::vector<std::string>> read_document(const Json& document, const std::string& name,
                                               const std::function<void(Reading&, Fields&)>& read);

}  // namespace enginehost::manifest
