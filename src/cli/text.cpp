// cli: a report as text for terminals, under the headings shape, type, plan, tile and kernel.
#include <algorithm>

#include "cli/render.h"
#include "tenon/shape.h"

namespace tenon::cli {
namespace {

/// A table; the first column is left-aligned, the others right-aligned.
class Table {
 public:
  struct Entry {
    std::string text;
    Colour colour = Colour::good;
    bool coloured = false;
  };
  using Line = std::vector<Entry>;

  void add(Line line) {
    for (Entry& entry : line) entry.text = shown(entry.text);
    lines_.push_back(std::move(line));
  }
  std::string render(const Painter& paint) const {
    std::vector<int64_t> widths;
    for (const Line& line : lines_) {
      widths.resize(std::max(widths.size(), line.size()), 0);
      for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i].text));
    }
    std::string text;
    for (const Line& line : lines_) {
      std::string row = " ";
      for (std::size_t i = 0; i < line.size(); ++i) row += (i ? "  " : " ") + cell(line[i], widths[i], i, paint);
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    }
    return text;
  }

 private:
  static std::string cell(const Entry& entry, int64_t width, std::size_t column, const Painter& paint) {
    const std::string padded = column == 0 ? pad_right(entry.text, width) : pad_left(entry.text, width);
    return entry.coloured ? paint(entry.colour, padded) : padded;
  }

  std::vector<Line> lines_;
};

std::string heading(const char* word, const Painter& paint) { return paint(Colour::heading, word) + "\n"; }

Table::Entry cell_entry(const Cell& cell, int64_t result) {
  const std::string text = cell_text(cell, result);
  switch (cell.mark) {
    case Mark::same:
      return {text};
    case Mark::stretched:
      return {text, Colour::stretched, true};
    case Mark::added:
      return {text, Colour::added, true};
    case Mark::failing:
      return {text, Colour::failing, true};
  }
  return {text};
}

std::string gradients_table(const Report& report, const Painter& paint) {
  Table gradients;
  for (const OperandReport& operand : report.operands)
    gradients.add({{"gradient of " + operand.label + ": " + gradient_text(operand, report)}});
  return gradients.render(paint);
}

/// The sizes of an algorithm's operands and results, aligned at the right.
std::string sizes_table(const Report& report, const Painter& paint) {
  std::size_t columns = 0;
  for (const auto* tensors : {&report.operands, &report.results})
    for (const OperandReport& tensor : *tensors) columns = std::max(columns, tensor.cells.size());
  Table table;
  for (const auto* tensors : {&report.operands, &report.results})
    for (const OperandReport& tensor : *tensors) {
      Table::Line line{{tensor.label}};
      // exact: numbers of dims
      line.resize(1 + columns - tensor.cells.size());
      for (const Cell& cell : tensor.cells) line.push_back({std::to_string(cell.size)});
      table.add(std::move(line));
    }
  return table.render(paint);
}

std::string shape_section(const Report& report, const Painter& paint) {
  if (!report.algorithm.empty())
    return heading("shape", paint) + sizes_table(report, paint) + gradients_table(report, paint);
  Table table;
  for (const OperandReport& operand : report.operands) {
    Table::Line line{{operand.label}};
    for (std::size_t dim = 0; dim < operand.cells.size(); ++dim)
      line.push_back(cell_entry(operand.cells[dim], report.result[static_cast<int64_t>(dim)]));
    table.add(std::move(line));
  }
  Table::Line line{{report.fails ? "" : report.reductions.empty() ? "result" : "value"}};
  for (int64_t size : report.result) {
    if (report.fails)
      line.push_back({size < 0 ? "^^^" : "", Colour::failing, true});
    else
      line.push_back({std::to_string(size)});
  }
  table.add(std::move(line));
  std::string text = heading("shape", paint) + table.render(paint);
  for (const ReductionReport& reduction : report.reductions)
    text += "  " + reduction.name + " over dims " + to_string(reduction.dims) + " gives " + to_string(reduction.sizes) +
            "\n";
  return report.fails ? text : text + gradients_table(report, paint);
}

std::string type_section(const Report& report, const Painter& paint) {
  Table table;
  for (const OperandReport& operand : report.operands) table.add({{operand.label}, {dtype_name(operand.dtype)}});
  for (const OperandReport& result : report.results)
    table.add({{result.label}, {dtype_name(result.dtype), Colour::good, true}});
  if (report.algorithm.empty())
    table.add(
        {{"result"},
         {dtype_name(report.reductions.empty() ? report.dtype : report.reductions[0].dtype), Colour::good, true}});
  std::string text = heading("type", paint) + table.render(paint);
  for (const OpReport& op : report.ops) text += "  " + shown(op.text) + paint(Colour::quiet, "  " + op.rule) + "\n";
  return text;
}

std::string dims_text(SizesView dims) { return dims.empty() ? "-" : to_string(dims); }

std::string strides_section(const Report& report, const Painter& paint) {
  Table table;
  table.add({{"", Colour::quiet, true}, {"strides", Colour::quiet, true}});
  for (const auto* tensors : {&report.operands, &report.results})
    for (const OperandReport& tensor : *tensors) table.add({{tensor.label}, {dims_text(tensor.strides)}});
  return heading("plan", paint) + table.render(paint);
}

std::string plan_section(const Report& report, const Painter& paint) {
  if (!report.algorithm.empty()) return strides_section(report, paint);
  Table table;
  table.add({{"", Colour::quiet, true},
             {"strides", Colour::quiet, true},
             {"in the loops", Colour::quiet, true},
             {"access pattern", Colour::quiet, true}});
  for (const OperandReport& operand : report.operands)
    table.add({{operand.label},
               {dims_text(operand.strides)},
               {dims_text(operand.loop_strides)},
               {operand.access.empty() ? "-" : operand.access}});
  table.add({{"result"}, {dims_text(report.result_strides)}});
  return heading("plan", paint) + "  loops, innermost first: " + dims_text(report.loops) + "\n" + table.render(paint);
}

std::string counted(int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "sum: along (gather), stored in place, 1 pass, 1 part on 1 thread, 4.10 kB of scratch"
std::string run_text(const RunReport& run) {
  std::string accesses;
  for (const std::string& access : run.accesses) accesses += (accesses.empty() ? "" : ", ") + access;
  std::string text = "  " + run.name + ": " + run.route + (accesses.empty() ? "" : " (" + accesses + ")");
  if (!run.stores.empty()) text += ", stored " + run.stores;
  return text + ", " + (run.passes == 1 ? "1 pass" : std::to_string(run.passes) + " passes") + ", " +
         counted(run.parts, "part") + " on " + counted(run.threads, "thread") +
         (run.scratch_bytes > 0 ? ", " + bytes_text(static_cast<double>(run.scratch_bytes)) + " of scratch" : "") +
         "\n";
}

std::string tile_section(const Report& report, const Painter& paint) {
  std::string text = heading("tile", paint) + "  reads " + bytes_text(static_cast<double>(report.bytes_read)) +
                     ", writes " + bytes_text(static_cast<double>(report.bytes_written)) +
                     (report.blocks > 1 ? ", in " + counted(report.blocks, "block") : "") + "\n";
  for (const RunReport& run : report.runs) text += run_text(run);
  return text;
}

std::string kernel_section(const Report& report, const Painter& paint) {
  std::vector<std::string> names;
  for (const RunReport& run : report.runs)
    for (const std::string& kernel : run.kernels)
      if (std::find(names.begin(), names.end(), kernel) == names.end()) names.push_back(kernel);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "  ") + name;
  return heading("kernel", paint) + "  " + (text.empty() ? "none" : text) + "\n";
}

/// "dim 0", "dims 0, 1".
std::string dims_list(SizesView dims) {
  const std::string text = to_string(dims);
  return (dims.size() == 1 ? "dim " : "dims ") + text.substr(1, text.size() - 2);
}

std::string step_text(const Report& report, const Painter& paint) {
  std::string text = shape_section(report, paint);
  if (report.fails) return text;
  return text + type_section(report, paint) + plan_section(report, paint) + tile_section(report, paint) +
         kernel_section(report, paint);
}

}  // namespace

std::string cell_text(const Cell& cell, int64_t result) {
  if (cell.mark == Mark::stretched) return "1→" + std::to_string(result);
  if (cell.mark != Mark::added) return std::to_string(cell.size);
  return result > 1 || result == 0 ? "·→" + std::to_string(result) : "·";
}

std::string gradient_text(const OperandReport& operand, const Report& report) {
  if (!is_inexact(operand.dtype)) return std::string("none, ") + dtype_name(operand.dtype) + " is not differentiable";
  if (!operand.has_gradient) return "none, the result is not differentiable";
  if (!report.algorithm.empty()) return "by the derivative of " + report.algorithm;
  std::string text;
  if (!operand.expanded_dims.empty()) text = "expanded over " + dims_list(operand.expanded_dims);
  if (!operand.gradient_dims.empty())
    text += (text.empty() ? "" : ", then ") + ("summed over " + dims_list(operand.gradient_dims));
  return text.empty() ? "as it is" : text;
}

std::string traffic_text(const expr::Traffic& traffic) {
  return (traffic.passes == 1 ? "1 pass, " : std::to_string(traffic.passes) + " passes, ") +
         bytes_text(static_cast<double>(traffic.bytes)) + " moved; op by op " +
         bytes_text(static_cast<double>(traffic.op_by_op));
}

std::string render_text(const Explanation& explanation, const Painter& paint) {
  std::string text;
  for (const Report& step : explanation.steps) {
    if (!text.empty()) text += "\n";
    if (explanation.steps.size() > 1) text += paint(Colour::quiet, shown(step.text)) + "\n";
    text += step_text(step, paint);
  }
  if (!explanation.failures.empty() || explanation.traffic.passes == 0) return text;
  text +=
      (explanation.steps.size() > 1 ? "\n" : "") + heading("total", paint) + "  " + traffic_text(explanation.traffic);
  if (explanation.scratch_bytes > 0)
    text += "; " + bytes_text(static_cast<double>(explanation.scratch_bytes)) + " of scratch";
  return text + "\n";
}

}  // namespace tenon::cli
