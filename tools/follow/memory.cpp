#include "tools/follow/memory.hpp"

#include <system_error>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/manifest/repository.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_memory = 64u << 20;

std::int64_t time_of(const Json& value) { return manifest::seconds_of_time(value.as_string()).value_or(0); }

Json document_of(const Memory& memory) {
  Json seen = Json::object(), rows = Json::object(), toolkits = Json::object();
  for (const auto& [project, files] : memory.seen) {
    Json list = Json::object();
    for (const auto& [name, file] : files)
      list.set(name, Json::object().set("sha256", file.sha256).set("since", text_of_time(file.since)));
    seen.set(project, std::move(list));
  }
  for (const auto& [id, row] : memory.rows)
    rows.set(id, Json::object().set("inputs", row.inputs).set("row", row.row));
  for (const auto& [wheel, cuda] : memory.toolkits) toolkits.set(wheel, cuda);
  return Json::object()
      .set("format", 1)
      .set("looked", text_of_time(memory.looked))
      .set("seen", std::move(seen))
      .set("toolkits", std::move(toolkits))
      .set("rows", std::move(rows));
}

fs::path file_of_memory(const fs::path& facts, const std::string& engine) {
  return memory_folder(facts) / path_of(engine + ".json");
}

}  // namespace

fs::path memory_folder(const fs::path& facts) { return facts / "follow"; }

Result<Memory> read_memory(const fs::path& facts, const std::string& engine) {
  const fs::path file = file_of_memory(facts, engine);
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) return Memory();
  TRY_ASSIGN(const std::string text, read_file(file, largest_memory));
  JsonLimits limits;
  limits.bytes = largest_memory;
  const auto document = parse_json(text, path_text(file), limits);
  if (!document || (*document)["format"].as_integer() != 1)
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::file, path_text(file))
                    .with(Key::problem,
                          document ? "it is no memory of format 1" : document.error().value(Key::problem))
                    .with(Key::remedy,
                          "restore it from the last version; without it, each row is derived again from the "
                          "facts of its archives, and files without a date are held back again: remove " +
                              path_text(file)));
  Memory memory;
  memory.looked = time_of((*document)["looked"]);
  for (const auto& [project, files] : (*document)["seen"].as_object())
    for (const auto& [name, one] : files.as_object())
      memory.seen[project][name] = {one["sha256"].as_string(), time_of(one["since"])};
  for (const auto& [id, row] : (*document)["rows"].as_object())
    memory.rows[id] = {row["inputs"].as_string(), row["row"].as_string()};
  for (const auto& [wheel, cuda] : (*document)["toolkits"].as_object())
    memory.toolkits[wheel] = cuda.as_string();
  return memory;
}

Result<void> write_memory(const fs::path& facts, const std::string& engine, const Memory& memory,
                          std::int64_t now) {
  const fs::path file = file_of_memory(facts, engine);
  TRY(make_folders(file.parent_path()));
  const auto there = read_file(file, largest_memory);
  if (there && *there == document_of(memory).dump(1) + "\n") return {};
  Memory dated = memory;
  dated.looked = now;
  return write_file(file, document_of(dated).dump(1) + "\n");
}

}  // namespace enginehost::follow
