// The texts that a manifest may hold. Only safe characters pass, because ids become file names and paths
// become paths. Each shape has a pattern of the same name in manifests/schema/manifest.schema.json.
#pragma once
#include <string_view>

namespace enginehost::manifest {

using Shape = bool (*)(std::string_view);

bool is_text(std::string_view text);           // not empty and without NUL, which would cut a file name
bool is_id(std::string_view text);             // letters, digits, "_+-", single dots between; 128 at most
bool is_lower_id(std::string_view text);       // an id without upper-case letters
bool is_word(std::string_view text);           // lower-case letters, digits, "_.-"; 32 at most
bool is_digest(std::string_view text);         // 64 lower-case hexadecimal digits
bool is_time(std::string_view text);           // 2026-11-20T00:00:00Z
bool is_version_bound(std::string_view text);  // ">=2.17", "2.17", ">=1.0, <2"; 1024 at most
bool is_short_version(std::string_view text);  // "11.8"
bool is_capability(std::string_view text);     // "8.6", "9.0a"
bool is_view_path(std::string_view text);      // relative, "/" between, no "." or ".." element
bool is_view_folder(std::string_view text);    // a view path, or "." for the view itself
bool is_file_name(std::string_view text);
bool is_url_text(std::string_view text);  // http:// or https:// and no blank
bool is_gfx(std::string_view text);       // "gfx1100"
bool is_key_id(std::string_view text);    // 16 upper-case hexadecimal digits
bool is_archive(std::string_view text);
bool is_consent(std::string_view text);         // explicit, implicit
bool is_redistribution(std::string_view text);  // yes, no, ask

// Returns what a shape requires, for messages: "a name of letters, digits, …".
std::string_view describe(Shape shape);

}  // namespace enginehost::manifest
