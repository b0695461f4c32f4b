// cli: a report as JSON, for programs.
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/render.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

Json list(SizesView values) { return Json(std::vector<int64_t>(values.begin(), values.end())); }

const char* mark_name(Mark mark) {
  constexpr const char* kNames[] = {"same", "stretched", "added", "failing"};
  return kNames[static_cast<int>(mark)];
}

/// A number; a string if it has more digits than JSON readers keep.
Json bytes_json(ByteSum count) {
  if (count <= std::numeric_limits<uint64_t>::max()) return static_cast<uint64_t>(count);
  std::string digits;
  for (; count > 0; count /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(count % 10)));
  return digits;
}

Json operand_json(const OperandReport& operand, const Report& report) {
  Json marks = Json::array();
  for (const Cell& cell : operand.cells) marks.push_back(mark_name(cell.mark));
  Json json{{"operand", operand.label},
            {"dtype", dtype_name(operand.dtype)},
            {"sizes", list(operand.sizes)},
            {"strides", list(operand.strides)},
            {"dims", marks}};
  if (report.fails) return json;
  json["has_gradient"] = operand.has_gradient;
  json["gradient_expanded_over"] = list(operand.expanded_dims);
  json["gradient_summed_over"] = list(operand.gradient_dims);
  json["loop_strides"] = list(operand.loop_strides);
  json["access_pattern"] = operand.access;
  json["bytes"] = operand.bytes;
  return json;
}

/// Sizes that do not fit are null.
Json result_json(const Report& report) {
  Json sizes = Json::array();
  for (int64_t size : report.result) sizes.push_back(size < 0 ? Json() : Json(size));
  return sizes;
}

Json algorithm_json(const Report& report) {
  Json results = Json::array();
  for (const OperandReport& result : report.results)
    results.push_back({{"result", result.label},
                       {"dtype", dtype_name(result.dtype)},
                       {"sizes", list(result.sizes)},
                       {"strides", list(result.strides)}});
  return {{"op", report.algorithm}, {"results", results}};
}

Json step_json(const Report& report) {
  Json operands = Json::array();
  for (const OperandReport& operand : report.operands) operands.push_back(operand_json(operand, report));
  Json json{{"text", report.text}, {"operands", operands}, {"result", result_json(report)}};
  if (report.fails) return json;
  json["dtype"] = dtype_name(report.dtype);
  json["strides"] = list(report.result_strides);
  json["loops"] = list(report.loops);
  Json ops = Json::array();
  for (const OpReport& op : report.ops)
    ops.push_back({{"text", op.text}, {"op", op.name}, {"dtype", dtype_name(op.dtype)}, {"rule", op.rule}});
  json["ops"] = ops;
  for (const ReductionReport& reduction : report.reductions)
    json["reduction"] = {{"op", reduction.name},
                         {"dims", list(reduction.dims)},
                         {"result", list(reduction.sizes)},
                         {"dtype", dtype_name(reduction.dtype)}};
  if (!report.algorithm.empty()) json["algorithm"] = algorithm_json(report);
  Json runs = Json::array();
  for (const RunReport& run : report.runs)
    runs.push_back({{"run", run.name},
                    {"route", run.route},
                    {"stores", run.stores},
                    {"access_patterns", run.accesses},
                    {"passes", run.passes},
                    {"parts", run.parts},
                    {"threads", run.threads},
                    {"scratch_bytes", run.scratch_bytes},
                    {"kernels", run.kernels}});
  json["runs"] = runs;
  json["blocks"] = report.blocks;
  json["bytes_read"] = bytes_json(report.bytes_read);
  json["bytes_written"] = bytes_json(report.bytes_written);
  return json;
}

/// Bytes that are not UTF-8 become replacement characters.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string render_json(const Explanation& explanation) {
  Json json{{"expression", explanation.expression}, {"steps", Json::array()}};
  for (const Report& step : explanation.steps) json["steps"].push_back(step_json(step));
  if (explanation.failures.empty())
    json["total"] = {{"passes", explanation.traffic.passes},
                     {"bytes_moved", bytes_json(explanation.traffic.bytes)},
                     {"bytes_op_by_op", bytes_json(explanation.traffic.op_by_op)},
                     {"scratch_bytes", explanation.scratch_bytes}};
  for (const Failure& failure : explanation.failures)
    json["error"] = {
        {"text", failure.text}, {"span", {failure.span.begin, failure.span.end}}, {"notes", failure.notes}};
  return text_of(json);
}

std::string render_json(const Error& error) {
  return text_of(Json{{"error", {{"text", error.what()}, {"notes", error.notes()}}}});
}

}  // namespace tenon::cli
