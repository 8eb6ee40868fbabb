// The closure of an ELF file, as glibc and musl make it (dyld_close.cpp and windows_close.cpp have the
// others).
#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/search.hpp"

namespace enginehost::linker {
namespace {

using Identity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
struct IdentityHash {
  std::size_t operator()(const Identity& identity) const {
    return static_cast<std::size_t>(identity.second ^ identity.first << 32);
  }
};
// Enough for most closures, so that the tables need not grow. Each library has two names: its path and its
// request.
constexpr std::size_t usual_objects = 320;

std::string shortly(const Diagnosis& why) {
  return why.code == Code::library_not_readable ? "permission denied" : short_reason(why);
}

class ClosureWalk {
 public:
  ClosureWalk(const Machine& machine, const Request& request, Reader& reader)
      : machine_(machine), request_(request), reader_(reader) {
    closure_.file = path_text(request.file);
    closure_.libc = machine.libc;
    closure_.recorded = machine.recorded;
    closure_.objects.reserve(usual_objects);
    names_.reserve(2 * usual_objects);
    identities_.reserve(usual_objects);
  }

  Closure run() {
    take_loaded();
    for (const std::filesystem::path& file : request_.preloaded) open(path_text(file), "preloaded");
    open(path_text(request_.file), "request");
    if (request_.check_versions) check_versions(machine_, reader_, names_, closure_);
    add_warnings();
    judge_executable_stack(machine_, request_, reader_, closure_);
    judge_static_tls(machine_, request_, reader_, closure_);
    if (closure_.objects.size() >= object_limit)
      closure_.doubts.push_back(
          std::move(diagnose(Code::file_damaged)
                        .with(Key::file, closure_.file)
                        .with(Key::problem, "it needs more than " + std::to_string(object_limit) +
                                                " libraries, and not all of them were checked")));
    return std::move(closure_);
  }

 private:
  // Names of already loaded libraries are taken; their needs were met when they were loaded.
  void take_loaded() {
    for (const LoadedLibrary& library : machine_.loaded) {
      const std::string path = path_text(library.path);
      const auto& info = reader_.read(path);
      add({machine_.libc == Libc::musl ? path_text(library.path.filename()) : library.soname,
           path,
           library.soname,
           {},
           "already loaded",
           -1,
           info ? &*info : nullptr,
           library.global});
    }
  }

  // Opens the file like dlopen of an absolute path: the file, then its needs breadth first (glibc
  // elf/dl-deps.c).
  void open(const std::string& path, const char* found_by) {
    const std::size_t first = closure_.objects.size();
    if (names_.count(path) != 0) return;
    const Result<binary::BinaryInfo>& read = reader_.read(path);
    if (!read) {
      const Diagnosis& why = read.error();
      reject_once(path, path, -1, {binary::no_such_file(why) ? "missing" : shortly(why), true, why});
      return;
    }
    if (serve_by_identity(path, *read) >= 0) return;
    // A file that cannot be loaded may still be readable: its needs are reported with its own problem.
    if (std::optional<Refusal> refusal = refusal_of(machine_, *read, path, true)) {
      // The needs of another machine's library would be searched in the wrong places.
      const Code code = refusal->diagnosis.code;
      const bool other_machine = code == Code::library_for_other_processor ||
                                 code == Code::library_of_other_word_size || read->kind != binary::Kind::elf;
      reject_once(path, path, -1, std::move(*refusal));
      if (other_machine) return;
    }
    add({path, path, read->soname, {}, found_by, -1, &*read});
    for (std::size_t i = first; i < closure_.objects.size() && i < object_limit; ++i)
      bring_needs(static_cast<int>(i));
  }

  void bring_needs(int index) {
    const binary::BinaryInfo* info = closure_.objects[static_cast<std::size_t>(index)].info;
    if (info == nullptr || (info->needed.empty() && info->optional.empty())) return;
    std::vector<const SearchPlace*> places;  // the same for all needs of one library; made at the first need
    for (const std::string& name : info->needed) bring(name, index, places, false);
    for (const std::string& name : info->optional) bring(name, index, places, true);
  }

  void bring(const std::string& written, int parent, std::vector<const SearchPlace*>& places, bool optional) {
    // musl expands no tokens in a name. For glibc (elf/dl-deps.c, expand_dst) an unusable token is an error,
    // and with raised rights any token is.
    const bool tokens = machine_.libc == Libc::glibc && written.find('$') != std::string::npos;
    std::string expanded;
    if (tokens && !machine_.secure)
      expanded = expand_tokens(machine_, written, {folder_of_file(path_at(parent))});
    if (tokens && expanded.empty()) {
      if (!optional) miss(written, parent, {});
      return;
    }
    const std::string& name = tokens ? expanded : written;
    // glibc's list of loaded libraries begins with the program, under an empty name (elf/rtld.c, main_map).
    // musl's load_library refuses an empty name without a search.
    if (name.empty()) {
      if (machine_.libc == Libc::musl && !optional) miss(name, parent, {});
      return;
    }
    if (machine_.libc == Libc::musl && served_by_musl(name)) return;
    if (names_.count(name) != 0) return;
    if (name.find('/') != std::string::npos) {
      const std::string path =
          name.front() != '/' ? path_text(machine_.current_directory / path_of(name)) : name;
      if (try_file(reader_.read(path), path, name, parent, by_own_path_) == Search::is_over || optional)
        return;
      miss(written, parent, {}, path, name.front() != '/' ? path_text(machine_.current_directory) : "");
      return;
    }
    if (places.empty()) places = places_of(parent);
    std::vector<const SearchPlace*> fewer;
    const std::vector<const SearchPlace*>* left = &places;
    for (std::size_t i = 0; i < left->size(); ++i) {
      const SearchPlace& place = *(*left)[i];
      const Search search = try_place(place, name, parent);
      if (search == Search::is_over) return;
      if (search == Search::goes_on) continue;
      fewer = without_rest_of_list(*left, i);
      left = &fewer;
    }
    if (!optional) miss(name, parent, *left);
  }

  static std::vector<const SearchPlace*> without_rest_of_list(std::vector<const SearchPlace*> places,
                                                              std::size_t at) {
    const SearchPlace& list = *places[at];
    places.erase(std::remove_if(places.begin() + static_cast<std::ptrdiff_t>(at) + 1, places.end(),
                                [&](const SearchPlace* place) { return place->same_list(list); }),
                 places.end());
    return places;
  }

  std::vector<Needer> chain_of(int index) const {
    std::vector<Needer> chain;
    for (int i = index; i >= 0; i = closure_.objects[static_cast<std::size_t>(i)].parent)
      chain.push_back({closure_.objects[static_cast<std::size_t>(i)].path,
                       closure_.objects[static_cast<std::size_t>(i)].info});
    if (!program_.empty())
      if (const auto& info = reader_.read(program_)) chain.push_back({program_, &*info, true});
    return chain;
  }

  // Returns the folders of the library's own paths, then the shared ones, which are made once.
  std::vector<const SearchPlace*> places_of(int index) {
    std::vector<const SearchPlace*> places;
    const auto keep = [&](std::vector<SearchPlace> own) {
      places.reserve(own.size() + shared_places_.size());
      for (SearchPlace& place : own) places.push_back(&places_.emplace_back(std::move(place)));
    };
    if (machine_.libc == Libc::musl) {
      keep(musl_places(machine_, chain_of(index)));
      return places;
    }
    if (shared_places_.empty()) shared_places_ = glibc_shared_places(machine_);
    const Object& needer = closure_.objects[static_cast<std::size_t>(index)];
    // With a RUNPATH, paths of other libraries do not count.
    if (needer.info != nullptr && needer.info->has_runpath)
      keep(glibc_own_places(machine_, {{needer.path, needer.info}}));
    else
      keep(glibc_own_places(machine_, chain_of(index)));
    const bool no_default = needer.info != nullptr && needer.info->no_default_directories;
    for (const SearchPlace& place : shared_places_)
      if (!place.compiled_in || !no_default) places.push_back(&place);
    return places;
  }

  // Returns the existing folders that are searched for one folder of a search path.
  const std::vector<const Reader::Folder*>& folders_of(const std::string& directory) {
    const auto [known, added] = folders_.try_emplace(directory);
    std::vector<const Reader::Folder*>& folders = known->second;
    if (!added || !reader_.folder_exists(directory)) return folders;
    const auto keep = [&](const std::string& path) {
      if (const Reader::Folder& folder = reader_.folder(path); folder.exists) folders.push_back(&folder);
    };
    if (machine_.libc == Libc::glibc) {
      if (reader_.folder_exists(directory + "/glibc-hwcaps"))
        for (const std::string& level : machine_.hwcaps) keep(directory + "/glibc-hwcaps/" + level);
      for (const std::string& legacy : machine_.legacy_hwcaps) keep(directory + "/" + legacy);
    }
    keep(directory);
    return folders;
  }

  // The next step after a file or folder: the next folder, the next list of folders, or the end (file taken,
  // or an error).
  enum class Search { goes_on, leaves_the_list, is_over };

  Search try_place(const SearchPlace& place, const std::string& name, int parent) {
    if (place.kind == SearchPlace::Kind::cache) {
      std::optional<std::string> path =
          machine_.cache.find(name, machine_.cache_flags, machine_.hwcaps, machine_.legacy_hwcap_bits);
      if (!path || is_below_default_folder(*path, parent)) return Search::goes_on;
      return try_file(reader_.read(*path), *path, name, parent, place);
    }
    // The folder comes after its hwcaps sub-folders, and only its own result counts (open_path checks errno
    // once, at the end).
    Search search = Search::goes_on;
    for (const Reader::Folder* folder : folders_of(place.directory)) {
      std::string path;
      path.reserve(folder->path.size() + 1 + name.size());
      path = folder->path;
      if (path.back() != '/') path += '/';
      path += name;
      const Result<binary::BinaryInfo>* read = reader_.find(*folder, name, path);
      search = read != nullptr ? try_file(*read, path, name, parent, place) : Search::goes_on;
      if (search == Search::is_over) break;
    }
    return search;
  }

  // DF_1_NODEFLIB also excludes cache entries in the default folders.
  bool is_below_default_folder(const std::string& path, int parent) const {
    const binary::BinaryInfo* needer = closure_.objects[static_cast<std::size_t>(parent)].info;
    if (needer == nullptr || !needer->no_default_directories) return false;
    return std::any_of(
        machine_.default_directories.begin(), machine_.default_directories.end(),
        [&](const std::string& folder) { return path.compare(0, folder.size() + 1, folder + "/") == 0; });
  }

  // Returns the next step for a file that exists but cannot be opened. glibc's open_path continues after
  // ENOENT and EACCES; after any other error it leaves the list of folders and _dl_map_object tries the next
  // list. musl's path_open also continues after ENAMETOOLONG and stops after other errors.
  Search after_closed_file(const Diagnosis& why) const {
    if (why.code == Code::library_not_readable || why.value(Key::problem) == "dangling link")
      return Search::goes_on;
    // The file was opened, and reading it failed: an error for both.
    const bool no_file = why.code == Code::path_leads_to_no_file && why.value(Key::problem) != "link loop" &&
                         why.value(Key::errno_).empty();
    if (no_file || why.code == Code::file_not_readable) return Search::is_over;
    if (machine_.libc == Libc::glibc) return Search::leaves_the_list;
    return why.code == Code::path_unusable_for_loader ? Search::goes_on : Search::is_over;
  }

  Search try_file(const Result<binary::BinaryInfo>& read, const std::string& path, const std::string& name,
                  int parent, const SearchPlace& place) {
    if (!read) {
      const Diagnosis& why = read.error();
      if (binary::no_such_file(why)) return Search::goes_on;
      const Search search = after_closed_file(why);
      reject_once(name, path, parent, {shortly(why), search == Search::is_over, why});
      return search;
    }
    if (serve_by_identity(name, *read) >= 0) return Search::is_over;
    if (std::optional<Refusal> refusal = refusal_of(machine_, *read, path, false)) {
      const bool fatal = refusal->fatal;
      // "RUNPATH of /a/libx.so" is the source of both values; `found_by` is the rule alone.
      if (refusal->diagnosis.code == Code::library_of_other_word_size)
        refusal->diagnosis.with(Key::path, path, place.found_by())
            .with(Key::found_by, place.rule, place.found_by());
      reject_once(name, path, parent, std::move(*refusal));
      if (!fatal) return Search::goes_on;
      if (read->kind != binary::Kind::elf) return Search::is_over;
    }
    add({name, path, read->soname, std::string(path_at(parent)), place.found_by(), parent, &*read});
    return Search::is_over;
  }

  // Another name for the same file is the same library (_dl_map_object_from_fd, "look again to see").
  int serve_by_identity(const std::string& name, const binary::BinaryInfo& info) {
    const auto known = identities_.find({info.device, info.inode});
    if (known == identities_.end()) return -1;
    if (machine_.libc == Libc::musl)
      take_short_name(known->second, name);
    else
      names_.emplace(name, known->second);
    return known->second;
  }

  // musl 1.2 load_library: a library opened by its path gets a short name from that path once a search has
  // found it. A library with a short name keeps it, and another name for the same file is searched for each
  // time.
  void take_short_name(int index, const std::string& searched) {
    const std::string& own = closure_.objects[static_cast<std::size_t>(index)].name;
    const bool opened_by_path = own.find('/') != std::string::npos;
    if (opened_by_path && searched.find('/') == std::string::npos)
      names_.emplace(own.substr(own.rfind('/') + 1), index);
  }

  void add(Object object) {
    const int index = static_cast<int>(closure_.objects.size());
    // musl knows a library by the name it was searched for, never by its SONAME or by a path it was opened
    // with.
    const bool by_path = object.name.find('/') != std::string::npos;
    if (machine_.libc == Libc::glibc || !by_path) names_.try_emplace(object.name, index);
    if (machine_.libc == Libc::glibc && !object.soname.empty()) names_.try_emplace(object.soname, index);
    // A path is known by its file's identity, if that could be read.
    if (object.info != nullptr)
      identities_.emplace(Identity{object.info->device, object.info->inode}, index);
    else
      names_.try_emplace(object.path, index);
    closure_.objects.push_back(std::move(object));
  }

  // Valid until the next library is added.
  std::string_view path_at(int index) const {
    return index < 0 ? std::string_view() : closure_.objects[static_cast<std::size_t>(index)].path;
  }

  void reject_once(const std::string& name, const std::string& path, int parent, Refusal refusal) {
    if (rejected_.insert({path, name}).second) reject(closure_, name, path, parent, std::move(refusal));
  }

  void miss(const std::string& name, int parent, const std::vector<const SearchPlace*>& places,
            const std::string& tried = {}, const std::string& current_folder = {}) {
    Missing missing;
    missing.name = name;
    missing.tried = tried;
    missing.current_folder = current_folder;
    missing.needed_by = path_at(parent);
    missing.chain = chain_to(closure_, parent);
    std::set<std::string> looked_at;
    for (const SearchPlace* place : places) {
      const bool cache = place->kind == SearchPlace::Kind::cache;
      if (!looked_at.insert(place->directory).second) continue;
      missing.searched.push_back(
          {place->directory, place->why(), cache || reader_.folder_exists(place->directory)});
      if (!cache) report_dangling_link(place->directory + "/" + name, name, parent);
    }
    // Beside the libraries of the closure, where a user may notice the file.
    for (const Object& object : closure_.objects) {
      if (name.empty() || (!tried.empty() && current_folder.empty())) break;
      const std::string folder(folder_of_file(object.path));
      if (object.found_by == "already loaded" || !looked_at.insert(folder).second) continue;
      const std::string beside = folder + "/" + name;
      if (!reader_.file_exists(beside)) continue;
      if (const auto& info = reader_.read(beside); info && info->stand_in) continue;
      missing.present_at.push_back(beside);
    }
    closure_.missing.push_back(std::move(missing));
  }

  void report_dangling_link(const std::string& path, const std::string& name, int parent) {
    calls::Status status{};
    if (!machine_.root.empty() || calls::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode))
      return;
    if (const auto& read = reader_.read(path); !read && read.error().code == Code::path_leads_to_no_file)
      reject_once(name, path, parent, {std::string(read.error().value(Key::problem)), false, read.error()});
  }

  // The result depends on the program's current folder.
  void warn_of_current_folder(const Object& object) {
    const auto reported = [&](Key what, const std::string& value, std::string_view source) {
      Diagnosis diagnosis = diagnose(Code::library_depends_on_current_folder);
      diagnosis.with(Key::file, object.path).with(Key::tag, source);
      if (!value.empty()) diagnosis.with(what, value, source);
      closure_.warnings.push_back(
          std::move(diagnosis.with(Key::folder, path_text(machine_.current_directory))));
    };
    const std::vector<std::string>& path =
        object.info->has_runpath ? object.info->runpath : object.info->rpath;
    for (const std::string& element : path)
      if (element.empty() ? path.size() > 1 : element.front() != '/' && element.front() != '$')
        reported(Key::element, element, object.info->has_runpath ? "RUNPATH" : "RPATH");
    for (const Object& other : closure_.objects)
      if (other.found_by == "path" && other.name.front() != '/' && other.needed_by == object.path)
        reported(Key::library, other.name, "DT_NEEDED");
  }

  void add_warnings() {
    for (const Object& object : closure_.objects) {
      const binary::BinaryInfo* info = object.info;
      const bool systems_own = object.found_by == "ld.so.cache" || object.found_by == "default" ||
                               object.found_by == "already loaded";
      if (info == nullptr || systems_own) continue;
      warn_of_current_folder(object);
      if (info->text_relocations)
        closure_.warnings.push_back(std::move(diagnose(Code::text_relocations).with(Key::file, object.path)));
    }
  }

  const Machine& machine_;
  const Request& request_;
  Reader& reader_;
  const std::string program_ = path_text(machine_.program);
  const SearchPlace by_own_path_{SearchPlace::Kind::folder, {}, "path", {}, false};
  Closure closure_;
  std::unordered_map<std::string, int> names_;
  std::unordered_map<Identity, int, IdentityHash> identities_;
  std::deque<SearchPlace> places_;  // for all libraries; elements keep their addresses
  std::vector<SearchPlace> shared_places_;
  std::unordered_map<std::string, std::vector<const Reader::Folder*>> folders_;
  std::set<std::pair<std::string, std::string>> rejected_;
};

}  // namespace

Closure close(const Machine& machine, const Request& request, Reader& reader) {
  return ClosureWalk(machine, request, reader).run();
}

bool Closure::loads() const {
  return missing.empty() && refused.empty() &&
         std::none_of(rejected.begin(), rejected.end(), [](const Rejected& found) { return found.fatal; }) &&
         std::all_of(versions.begin(), versions.end(),
                     [](const VersionProblem& problem) { return problem.weak; });
}

const Object* Closure::find(std::string_view soname_or_path) const {
  for (const Object& object : objects)
    if (object.soname == soname_or_path || object.path == soname_or_path || object.name == soname_or_path)
      return &object;
  return nullptr;
}

}  // namespace enginehost::linker
