// The system's loader, as the checks use it.
#pragma once
#include <filesystem>
#include <string>

namespace engineplugin {

// The words for opening a library in a report.
extern const char* const how_opened;
// nullptr on failure; last_error() then says why.
void* open_library(const std::string& file);
std::string last_error();
void close_library(void* library);
bool is_loaded(const std::string& file);
void* find_symbol(void* library, const char* name);
// The file of the library in which the address lies; empty when the loader does not know it.
std::filesystem::path file_of(const void* address);

// At least `bytes` of memory at a multiple of 64; given back with release_aligned.
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* block);

}  // namespace engineplugin
