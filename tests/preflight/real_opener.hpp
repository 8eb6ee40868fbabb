// A program that opens a library with the real loader and LD_LIBRARY_PATH from its start.
#pragma once
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/faults/workshop.hpp"

namespace enginehost::preflight {

class RealOpener {
 public:
  explicit RealOpener(const faults::Workshop& workshop) : program_(workshop.path("real_opener")) {
    const auto source = workshop.file("real_opener.c", R"(
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <link.h>
      #include <stdio.h>
      int main(int count, char** words) {
        void* opened = dlopen(words[2], words[1][0] == 'l' ? RTLD_LAZY : RTLD_NOW);
        if (opened == NULL) return puts(dlerror()), 0;
        if (count < 4) return 0;
        void* part = ((void* (*)(void))dlsym(opened, words[3]))();
        struct link_map* map = NULL;
        if (part == NULL || dlinfo(part, RTLD_DI_LINKMAP, &map) != 0) return puts(dlerror()), 0;
        return puts(map->l_name), 0;
      }
    )");
    if (faults::shell("gcc -o " + faults::quoted(program_) + " " + faults::quoted(source) + " -ldl") != 0)
      program_.clear();
  }

  // Returns the loader's error; "" = it opened the file. `lazily`: with RTLD_LAZY.
  std::string error(const std::filesystem::path& file, const std::string& library_path,
                    bool lazily = false) const {
    return output(std::string(lazily ? "lazy " : "now ") + faults::quoted(file), library_path);
  }
  // Returns the file that the library opens when its function is called.
  std::string opened_by(const std::filesystem::path& file, const std::string& function,
                        const std::string& library_path) const {
    return output("now " + faults::quoted(file) + " " + function, library_path);
  }

 private:
  std::string output(const std::string& words, const std::string& library_path) const {
    const std::string command = "LD_LIBRARY_PATH=" + faults::quoted(library_path) + " " +
                                faults::quoted(program_) + " " + words + " 2>&1";
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return "no pipe";
    char bytes[512];
    for (std::size_t count = 0; (count = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, count);
    pclose(pipe);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  std::filesystem::path program_;
};

}  // namespace enginehost::preflight
