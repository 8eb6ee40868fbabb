// Reading a library with damaged bytes ends: no crash, no endless loop, no allocation of a claimed length.
#include <chrono>
#include <random>

#include "host/binary/binary.hpp"
#include "tests/binary/foreign_libraries.hpp"

namespace enginehost::binary {
namespace {

class Mutation : public ForeignWorkshop {
 protected:
  void read_all(const std::filesystem::path& file) {
    Result<BinaryInfo> info = read_binary(file);
    ASSERT_TRUE(info.has_value());  // the file can be opened, whatever its bytes say
    if (!info->problems.empty()) ++troubled_;
    (void)read_symbols(file);
    (void)read_plugin_header(file);
    (void)gpu_code(file);
    (void)pe_resources(file);
    for (const Slice& slice : info->slices) (void)read_binary(file, slice.machine);
  }
  void mutate(const std::string& original, unsigned count, unsigned seed) {
    std::mt19937 random(seed);
    const std::filesystem::path file = folder() / "mutant.so";
    const auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < count; ++i) {
      std::string bytes = original;
      // Half of the changes hit the headers, where a change does the most. A tenth of the files is also
      // truncated.
      const unsigned changes = 1 + random() % 8;
      for (unsigned k = 0; k < changes; ++k) {
        const std::size_t range =
            random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), 4096) : bytes.size();
        bytes[random() % range] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
      }
      if (random() % 10 == 0) bytes.resize(random() % bytes.size());
      write("mutant.so", bytes);
      read_all(file);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 200.0)
        << "a damaged file may not cost more than a healthy one by orders of magnitude";
    std::cout << count << " mutants, " << troubled_ << " with problems, " << taken.count() << " s\n";
  }
  unsigned troubled_ = 0;
};

TEST_F(Mutation, TwoThousandDamagedELFLibrariesAreReadToAnEnd) {
  const std::filesystem::path file =
      library("libvictim.so",
              "#include <math.h>\n#include <stdio.h>\n__thread int t; double f(double x) { printf(\"%f\", "
              "x); return sin(x) + t; }\n",
              {"-lm", "-Wl,-soname,libvictim.so.1", "-Wl,-rpath,$ORIGIN", "-Wl,--hash-style=both"});
  mutate(bytes_of(file), 2000, 1);
  EXPECT_GT(troubled_, 100u);
}

TEST_F(Mutation, DamagedSystemLibrariesAreReadToAnEnd) {
  for (const char* name :
       {"/usr/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1"}) {
    if (!std::filesystem::exists(name)) continue;
    mutate(bytes_of(name), 200, 2);
  }
}

TEST_F(Mutation, DamagedWindowsLibrariesAreReadToAnEnd) {
  if (!windows_tools_missing().empty()) GTEST_SKIP() << windows_tools_missing();
  mutate(bytes_of(usual_windows_library("x86_64-pc-windows-msvc", "x64")), 2000, 3);
  EXPECT_GT(troubled_, 100u);
}

TEST_F(Mutation, DamagedMacOSLibrariesAreReadToAnEnd) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  std::vector<std::string> join{tool("llvm-lipo"), "-create", "-output", at("fat.dylib")};
  for (const std::string arch : {"arm64", "x86_64"}) {
    const std::string source =
        "extern int elsewhere(void); __thread int t; int engine(void) { return elsewhere() + t; }\n";
    const std::filesystem::path file = macos_library(
        arch + ".dylib", arch, {"-dylib", "-rpath", "@loader_path", macos_object("engine", arch, source)});
    mutate(bytes_of(file), 1000, 4);
    join.push_back(file.native());
  }
  run(join);
  mutate(bytes_of(folder() / "fat.dylib"), 1000, 5);
  EXPECT_GT(troubled_, 100u);
}

TEST_F(Mutation, NoiseBehindAPlausibleHeaderIsReadToAnEnd) {
  std::mt19937 random(3);
  std::string noise(8192, '\0');
  for (char& c : noise) c = static_cast<char>(random() % 4 == 0 ? 0 : random() % 64);
  std::string pe = noise;
  pe.replace(0, 2, "MZ");
  pe.replace(60, 4, std::string("\x80\0\0\0", 4));
  pe.replace(128, 8, std::string("PE\0\0\x64\x86\x04\0", 8));
  pe.replace(148, 6, std::string("\xf0\0\x22\x20\x0b\x02", 6));
  mutate(pe, 1000, 4);
  std::string macho = noise;
  macho.replace(0, 8, std::string("\xcf\xfa\xed\xfe\x0c\0\0\x01", 8));
  macho.replace(16, 4, std::string("\x20\0\0\0", 4));
  mutate(macho, 1000, 5);
}

}  // namespace
}  // namespace enginehost::binary
