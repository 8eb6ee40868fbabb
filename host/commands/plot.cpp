#include "host/commands/plot.hpp"

#include <algorithm>
#include <cstdio>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::commands {
namespace {

constexpr std::size_t largest_picture = 16u << 20;

std::string terminal_of(const std::filesystem::path& file) {
  const std::string ending = path_text(file.extension());
  if (ending == ".png") return "pngcairo size 960,440";
  if (ending == ".svg") return "svg size 960,440 background 'white'";
  return "";
}

Result<ChildOutcome> gnuplot(std::string script) {
  ChildRequest request;
  request.argv = {"gnuplot"};
  request.environment = {"GNUTERM"};
  request.input = std::move(script);
  request.keep_bytes = largest_picture;
  return run_child(request);
}

Diagnosis cannot_draw(const std::filesystem::path& file, const Diagnosis& failure) {
  Diagnosis reported = diagnose("EH-P48").with("file", path_text(file)).with("program", "gnuplot");
  if (const auto said = failure.value("os_said"); !said.empty()) reported.with("os_said", said);
  return reported;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// In gnuplot's double quotes a backslash and a quote mean something.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char one : text)
    if (one != '"' && one != '\\' && static_cast<unsigned char>(one) >= ' ') out += one;
  return out + "\"";
}

std::vector<std::string> operations_of(const BenchReport& report) {
  std::vector<std::string> operations;
  for (const BenchReport::Line& line : report.lines)
    if (!line.failure && std::find(operations.begin(), operations.end(), line.operation) == operations.end())
      operations.push_back(line.operation);
  return operations;
}

std::string script_of(const BenchReport& report, const std::string& terminal) {
  const std::vector<std::string> operations = operations_of(report);
  std::string data, panels;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string block = "$operation" + std::to_string(i);
    data += block + " << END_OF_ROWS\n";
    std::string shape;
    for (const BenchReport::Line& line : report.lines) {
      if (line.failure || line.operation != operations[i]) continue;
      data += quoted(line.device) + " " + number(line.milliseconds) + " " + number(line.transfer_ms) + "\n";
      shape = line.shape;
    }
    data += "END_OF_ROWS\n";
    panels += "set title " + quoted(operations[i] + ", " + shape) + "\nplot " + block +
              " using 2:xtic(1) title 'computing', '' using 3 title 'transfers'\n";
  }
  return "set terminal " + terminal + "\n" + data +
         "set style data histograms\nset style histogram rowstacked\nset style fill solid 0.8 border -1\n"
         "set boxwidth 0.6 relative\nset yrange [0:*]\nset ylabel 'milliseconds'\nset grid ytics\n"
         "set key outside below center horizontal noenhanced\nset xtics noenhanced\nset title "
         "noenhanced\nset multiplot layout 1," +
         std::to_string(operations.size()) + "\n" + panels + "unset multiplot\n";
}

}  // namespace

Result<void> can_plot(const std::filesystem::path& file) {
  if (terminal_of(file).empty())
    return fail(std::move(
        diagnose("EH-P48").with("file", path_text(file)).with("ending", path_text(file.extension()))));
  const auto asked = gnuplot("");
  if (!asked) return fail(cannot_draw(file, asked.error()));
  return {};
}

Result<void> plot(const BenchReport& report, const std::filesystem::path& file) {
  if (operations_of(report).empty())
    return fail(std::move(
        diagnose("EH-P48").with("file", path_text(file)).with("nothing", "no operation was measured")));
  const auto drawn = gnuplot(script_of(report, terminal_of(file)));
  if (!drawn) return fail(cannot_draw(file, drawn.error()));
  if (!drawn->succeeded() || drawn->output.empty())
    return fail(std::move(diagnose("EH-P48")
                              .with("file", path_text(file))
                              .with("program", "gnuplot")
                              .with("said", drawn->error.substr(0, 400))));
  if (const auto written = write_file(file, drawn->output); !written)
    return fail(std::move(diagnose("EH-P48")
                              .with("file", path_text(file))
                              .with("write_error", std::string(written.error().value("os_said")))));
  return {};
}

}  // namespace enginehost::commands
