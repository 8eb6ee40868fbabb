// The system's loader, as the checks use it.
#pragma once
#include <filesystem>
#include <string>

namespace engineplugin {

// Describes in a report how the library was opened.
extern const char* const how_opened;
// Returns nullptr on failure; last_error() then returns the reason.
void* open_library(const std::string& file);
std::string last_error();
void close_library(void* library);
bool is_loaded(const std::string& file);
void* find_symbol(void* library, const char* name);
// Returns the file of the library that contains the address; empty when the loader does not know it.
std::filesystem::path file_of(const void* address);

// Allocates at least `bytes` at a multiple of 64; free it with release_aligned.
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* block);

}  // namespace engineplugin
