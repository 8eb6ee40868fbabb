#include "tests/bench/archive.hpp"

#include <fstream>
#include <vector>

#include "tests/bench/workplace.hpp"

namespace enginehost::bench {

namespace fs = std::filesystem;

fs::path archive_of(std::uintmax_t bytes, const std::string& kind, const std::string& marker) {
  const fs::path folder = workplace("archives");
  const fs::path archive = folder / (std::to_string(bytes >> 20) + "-mb" + marker + "." + kind);
  if (fs::exists(archive)) return archive;
  const fs::path partial = folder / ("partial." + kind);
  std::vector<std::string> command;
  if (kind == "zip") {
    command = {"python3", "-c",
               "import os,sys,zipfile\n"
               "with zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED) as archive:\n"
               "  for file in sys.argv[2:]: archive.write(file,'lib/'+os.path.basename(file))\n",
               partial.native()};
  } else {
    command = {"tar", "--zstd", "--transform", "s,.*/,lib/,", "-cf", partial.native()};
  }
  if (!marker.empty()) {
    // Outside lib/, because the transformation keeps names without a folder.
    std::ofstream(folder / marker) << "x";
    command.insert(command.end(), {"-C", folder.native(), marker});
  }
  for (const fs::path& library : system_libraries(bytes)) command.push_back(library.native());
  if (!run(command)) return {};
  std::error_code error;
  fs::rename(partial, archive, error);
  return error ? fs::path{} : archive;
}

}  // namespace enginehost::bench
