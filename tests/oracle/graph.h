// The part of tenon-oracle for gradients: runs a graph of steps over leaves backward.
#pragma once
#include <nlohmann/json.hpp>

#include "tenon/dims.h"

/// {"graph": {"leaves": [{"dtype", "shape", "bytes"}], "steps": [{"op", "in": [values], ...}], "roots": [values],
///  "weights": [leaves' form]}}: leaves are the first values, every step adds one. The answer holds the name of every
/// step's node and the gradient of every leaf (null: none), or the error of backward.
nlohmann::json answer_graph(const nlohmann::json& graph);

/// Defined in oracle.cpp.
std::string to_hex(const void* data, std::size_t count);
std::vector<unsigned char> from_hex(const std::string& text);
tenon::Dims to_dims(const nlohmann::json& list);
