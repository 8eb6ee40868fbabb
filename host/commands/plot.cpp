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
  if (ending == ".png") return "pngcairo size 1400,700 font 'sans,15'";
  if (ending == ".svg") return "svg size 1400,700 font 'sans,18' background 'white'";
  return "";
}

Result<ChildOutcome> gnuplot(std::string script) {
  ChildRequest request;
  request.argv = {"gnuplot"};
  request.environment = {"GNUTERM"};
  request.input = std::move(script);
  request.keep_bytes = largest_picture;
  return run_by_name(std::move(request));
}

Diagnosis cannot_draw(const std::filesystem::path& file, const Diagnosis& failure) {
  Diagnosis reported = diagnose("EH-P48").with("file", path_text(file)).with("program", "gnuplot");
  if (const auto said = failure.value("os_said"); !said.empty()) reported.with("os_said", said);
  for (const Evidence& evidence : failure.evidence)
    if (evidence.what == "skipped") reported.evidence.push_back(evidence);
  return reported;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Returns the lines in gnuplot's double quotes, without the characters that are special there.
std::string quoted(const std::string& text, const std::string& second = {}) {
  std::string out = "\"";
  const auto add = [&](const std::string& line) {
    for (const char one : line)
      if (one != '"' && one != '\\' && static_cast<unsigned char>(one) >= ' ') out += one;
  };
  add(text);
  if (!second.empty()) out += "\\n";
  add(second);
  return out + "\"";
}

std::vector<std::string> operations_of(const BenchReport& report) {
  std::vector<std::string> operations;
  for (const BenchReport::Line& line : report.lines)
    if (!line.failure && std::find(operations.begin(), operations.end(), line.operation) == operations.end())
      operations.push_back(line.operation);
  return operations;
}

std::string rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

// Returns "99 000 000 floats" for "99000000 floats".
std::string grouped(const std::string& shape) {
  const std::size_t digits = std::min(shape.find_first_not_of("0123456789"), shape.size());
  std::string out = shape;
  for (std::size_t at = digits; digits > 4 && at > 3;) out.insert(at -= 3, " ");
  return out;
}

// Returns the quoted text above a bar: the times, and below them the rate.
std::string label_of(const BenchReport::Line& line) {
  std::string text = rounded(line.milliseconds);
  if (line.transfer_ms > 0) text += " + " + rounded(line.transfer_ms);
  return quoted(text + " ms", rounded(line.rate) + " " + line.unit);
}

bool has_transfers(const BenchReport& report) {
  return std::any_of(report.lines.begin(), report.lines.end(),
                     [](const BenchReport::Line& line) { return !line.failure && line.transfer_ms > 0; });
}

std::string script_of(const BenchReport& report, const PlotTitle& title, const std::string& terminal) {
  const std::vector<std::string> operations = operations_of(report);
  const bool transfers = has_transfers(report);
  std::string data, panels;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string block = "$operation" + std::to_string(i);
    data += block + " << END_OF_ROWS\n";
    std::string shape;
    std::size_t bars = 0;
    for (const BenchReport::Line& line : report.lines) {
      if (line.failure || line.operation != operations[i]) continue;
      data += quoted(line.device) + " " + number(line.milliseconds) + " " + number(line.transfer_ms) + " " +
              label_of(line) + "\n";
      shape = line.shape;
      ++bars;
    }
    data += "END_OF_ROWS\n";
    panels += "set title " + quoted(operations[i] + ", " + grouped(shape)) +
              "\nset xrange [-0.8:" + number(static_cast<double>(bars) - 0.2) + "]\nplot " + block +
              " using 2:xtic(1) title 'computing' linecolor rgb '#4f6d8a'";
    if (transfers) panels += ", '' using 3 title 'transfers' linecolor rgb '#c5ced6'";
    panels += ", '' using 0:($2+$3):4 with labels offset 0,1.8 noenhanced notitle\n";
  }
  return "set terminal " + terminal + "\n" + data +
         "set style data histograms\nset style histogram rowstacked\nset style fill solid 1 noborder\n"
         "set boxwidth 0.5 relative\nset yrange [0:*]\nset offsets 0, 0, graph 0.2, 0\n"
         "set ylabel 'milliseconds, median of " +
         std::to_string(bench_runs) +
         " runs'\nset grid ytics linetype 1 linecolor rgb '#dddddd'\nset border 3 linecolor rgb '#555555'\n"
         "set tics nomirror\n" +
         (transfers ? "set key outside below center horizontal noenhanced\n" : "unset key\n") +
         "set xtics noenhanced\nset title noenhanced\nset multiplot layout 1," +
         std::to_string(operations.size()) + " title " + quoted(title.build, title.machine) +
         " noenhanced\n" + panels + "unset multiplot\n";
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

Result<void> plot(const BenchReport& report, const PlotTitle& title, const std::filesystem::path& file) {
  if (operations_of(report).empty())
    return fail(std::move(
        diagnose("EH-P48").with("file", path_text(file)).with("nothing", "no operation was measured")));
  const auto drawn = gnuplot(script_of(report, title, terminal_of(file)));
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
