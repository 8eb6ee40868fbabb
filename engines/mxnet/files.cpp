#include "engines/mxnet/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "engines/support/runtime_library.hpp"
#include "engines/support/system.hpp"

namespace enginehost::engines::mxnet {
namespace {

constexpr const char* symbol_end = "-symbol.json";
constexpr const char* parameters_end = ".params";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// "NAME-0003.params" of the network NAME, with at least four digits: MXNet writes "%s-%04d.params".
bool is_epoch_of(const std::string& file, const std::string& name) {
  const std::string end = parameters_end;
  if (file.size() < name.size() + 5 + end.size() || !ends_with(file, end)) return false;
  if (file.compare(0, name.size(), name) != 0 || file[name.size()] != '-') return false;
  for (size_t i = name.size() + 1; i < file.size() - end.size(); i++) {
    if (file[i] < '0' || file[i] > '9') return false;
  }
  return true;
}

std::string read_file(const std::string& path, engine_call* call) {
  auto refuse = [&](int error) {
    call->detail(call, "path", path.c_str());
    return Failure{ENGINE_INVALID,
                   "The model file " + path + " cannot be read: " + std::strerror(error) + "."};
  };
  std::FILE* file = open_for_reading(path.c_str());
  if (file == nullptr) throw refuse(errno);
  std::string out;
  char block[65536];
  size_t count = 0;
  while ((count = std::fread(block, 1, sizeof block, file)) > 0) out.append(block, count);
  const int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (error != 0) throw refuse(error);
  return out;
}

}  // namespace

std::string parameter_file(const std::string& path, const char* wanted) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  if (wanted != nullptr) return *wanted == '/' ? wanted : folder + wanted;
  std::string name = path.substr(folder.size()), best;
  if (!ends_with(name, symbol_end)) return "";
  name.resize(name.size() - std::strlen(symbol_end));
  for (const std::string& file : names_in_folder(folder)) {
    // More digits are a later epoch; of equal length the greater text is later.
    const bool later = file.size() != best.size() ? file.size() > best.size() : file > best;
    if (is_epoch_of(file, name) && (best.empty() || later)) best = file;
  }
  return best.empty() ? "" : folder + best;
}

Network read_network(const char* path, const char* wanted, engine_call* call) {
  Network out{read_file(path, call), no_parameters()};
  const std::string parameters = parameter_file(path, wanted);
  if (!parameters.empty()) out.parameters = read_file(parameters, call);
  if (out.parameters.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    call->detail(call, "path", parameters.c_str());
    throw Failure{ENGINE_UNSUPPORTED, parameters + " is larger than the 2 GiB MXNet's predict API takes."};
  }
  return out;
}

}  // namespace enginehost::engines::mxnet
