#include "cache/record_names.hpp"

#include <utility>

namespace enginehost::cache {

std::string with_engine(std::string_view engine, std::string_view name) {
  return std::string(engine).append("+").append(name);
}

RecordNames::RecordNames(const std::vector<Installed>& installed) {
  for (const Installed& one : installed) take(one.build, one.engine, one.published_id());
}

void RecordNames::reserve(const std::string& name, const std::string& engine) {
  if (!engine.empty()) owners_.try_emplace(name, Owner{engine, {}});
}

std::optional<std::string> RecordNames::known(const std::string& engine, const std::string& id) const {
  for (const auto& [name, owner] : owners_)
    if (owner.engine == engine && owner.id == id) return name;
  return {};
}

std::string RecordNames::take(std::string name, const std::string& engine, const std::string& id) {
  for (;;) {
    Owner& owner = owners_.try_emplace(name, Owner{engine, id}).first->second;
    if (is_of(owner, engine, id)) {
      owner.id = id;
      return name;
    }
    name = with_engine(engine, name);
  }
}

std::string RecordNames::name_of(const std::string& engine, const std::string& id) {
  const auto has = [&](const std::string& name) {
    const auto owner = owners_.find(name);
    return owner != owners_.end() && is_of(owner->second, engine, id);
  };
  std::string name = id;
  while (owners_.contains(name) && !has(name)) name = with_engine(engine, name);
  // The shorter name may have become free after the record got the longer one.
  if (!owners_.contains(name))
    if (std::string longer = with_engine(engine, name); has(longer)) name = std::move(longer);
  return take(std::move(name), engine, id);
}

}  // namespace enginehost::cache
