// cli: a report as a drawing: a row of boxes for each operand, aligned at the right, the result below.
#include <algorithm>

#include "cli/characters.h"
#include "cli/render.h"
#include "tenon/shape.h"

namespace tenon::cli {
namespace {

constexpr int64_t kCellWidth = 64, kCellHeight = 36, kGap = 8, kMargin = 24, kLine = 20, kCharacter = 8;

/// Whether XML 1.0 allows a character: no control characters, and not U+FFFE and U+FFFF.
bool is_xml(const Character& character) {
  return character.is_utf8 && !character.is_control() && character.code != 0xFFFE && character.code != 0xFFFF;
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    text.remove_prefix(character.bytes.size());
    if (!is_xml(character))
      result += character.is_utf8 ? " " : "\uFFFD";
    else if (character.code == '&')
      result += "&amp;";
    else if (character.code == '<')
      result += "&lt;";
    else if (character.code == '>')
      result += "&gt;";
    else if (character.code == '"')
      result += "&quot;";
    else
      result += character.bytes;
  }
  return result;
}

std::string attribute(const char* name, int64_t value) {
  return std::string(" ") + name + "=\"" + std::to_string(value) + "\"";
}

/// Draws from top to bottom and keeps the current position.
class Drawing {
 public:
  void heading(const std::string& text) { line("heading", text); }
  void note(const std::string& text) { line("note", text); }
  void space() { y_ += kGap; }

  void row(const std::string& label, int64_t labels_width,
           const std::vector<std::pair<std::string, std::string>>& boxes) {
    text("label", kMargin, y_ + kCellHeight / 2 + 5, label);
    int64_t x = kMargin + labels_width;
    for (const auto& [style, content] : boxes) {
      body_ += "  <rect class=\"" + style + "\"" + attribute("x", x) + attribute("y", y_) +
               attribute("width", kCellWidth) + attribute("height", kCellHeight) + " rx=\"4\"/>\n";
      text("size", x + kCellWidth / 2, y_ + kCellHeight / 2 + 5, content);
      x += kCellWidth + kGap;
    }
    width_ = std::max(width_, x);
    y_ += kCellHeight + kGap;
  }

  std::string finish() const {
    const int64_t width = width_ + kMargin, height = y_ + kMargin;
    return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) + attribute("height", height) +
           " viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) + "\">\n" + kStyle + body_ +
           "</svg>\n";
  }

 private:
  static constexpr const char* kStyle = R"(  <style>
    svg { background: #ffffff; font: 14px ui-monospace, Menlo, Consolas, monospace; }
    text { fill: #1f2430; } .size { text-anchor: middle; } .heading { font-weight: bold; } .note { fill: #5b6270; }
    rect { stroke-width: 1.5; }
    .same { fill: #e3edf9; stroke: #5b8ac5; } .stretched { fill: #fdecc8; stroke: #d99a1c; }
    .added { fill: none; stroke: #a7adb8; stroke-dasharray: 4 3; } .failing { fill: #fbd7d4; stroke: #c9352b; }
    .result { fill: #dcf1e0; stroke: #3d9a57; }
  </style>
)";

  void text(const char* style, int64_t x, int64_t y, const std::string& content) {
    body_ += std::string("  <text class=\"") + style + "\"" + attribute("x", x) + attribute("y", y) + ">" +
             escaped(content) + "</text>\n";
  }
  void line(const char* style, const std::string& content) {
    y_ += kLine;
    text(style, kMargin, y_ - 5, content);
    width_ = std::max(width_, kMargin + kCharacter * display_width(content) + kCharacter * display_width(content) / 10);
  }

  std::string body_;
  int64_t width_ = 0;
  int64_t y_ = kMargin;
};

const char* style_of(Mark mark) {
  constexpr const char* kStyles[] = {"same", "stretched", "added", "failing"};
  return kStyles[static_cast<int>(mark)];
}

/// The operands and results of an algorithm, each with its own dims.
void draw_tensors(const std::vector<OperandReport>& tensors, const char* style, int64_t labels_width,
                  Drawing& drawing) {
  for (const OperandReport& tensor : tensors) {
    std::vector<std::pair<std::string, std::string>> boxes;
    for (int64_t size : tensor.sizes) boxes.emplace_back(style, std::to_string(size));
    drawing.row(tensor.label, labels_width, boxes);
  }
}

void draw_shapes(const Report& report, Drawing& drawing) {
  int64_t labels = 6;
  for (const auto* tensors : {&report.operands, &report.results})
    for (const OperandReport& tensor : *tensors) labels = std::max(labels, display_width(tensor.label));
  const int64_t labels_width = (labels + 2) * (kCharacter + 1);
  if (!report.algorithm.empty()) {
    draw_tensors(report.operands, "same", labels_width, drawing);
    return draw_tensors(report.results, "result", labels_width, drawing);
  }
  for (const OperandReport& operand : report.operands) {
    std::vector<std::pair<std::string, std::string>> boxes;
    for (std::size_t dim = 0; dim < operand.cells.size(); ++dim)
      boxes.emplace_back(style_of(operand.cells[dim].mark),
                         cell_text(operand.cells[dim], report.result[static_cast<int64_t>(dim)]));
    drawing.row(operand.label, labels_width, boxes);
  }
  std::vector<std::pair<std::string, std::string>> boxes;
  for (int64_t size : report.result)
    boxes.emplace_back(size < 0 ? "failing" : "result", size < 0 ? "?" : std::to_string(size));
  drawing.row("result", labels_width, boxes);
}

void draw_step(const Report& report, Drawing& drawing) {
  drawing.heading(report.text);
  drawing.space();
  draw_shapes(report, drawing);
  if (report.fails) return;
  for (const ReductionReport& reduction : report.reductions)
    drawing.note(reduction.name + " over dims " + to_string(reduction.dims) + " gives " + to_string(reduction.sizes));
  for (const OpReport& op : report.ops) drawing.note(op.text + ": " + op.rule);
  if (report.algorithm.empty()) drawing.note("loops, innermost first: " + to_string(report.loops));
  for (const OperandReport& operand : report.operands)
    drawing.note(operand.label + ": " + dtype_name(operand.dtype) +
                 (operand.access.empty() ? "" : ", " + operand.access) + "; gradient " +
                 gradient_text(operand, report));
  drawing.note("reads " + bytes_text(static_cast<double>(report.bytes_read)) + ", writes " +
               bytes_text(static_cast<double>(report.bytes_written)));
  drawing.space();
}

}  // namespace

std::string render_svg(const Explanation& explanation) {
  Drawing drawing;
  for (const Report& step : explanation.steps) draw_step(step, drawing);
  for (const Failure& failure : explanation.failures) {
    drawing.note(failure.text);
    for (const std::string& note : failure.notes) drawing.note(note);
  }
  return drawing.finish();
}

}  // namespace tenon::cli
