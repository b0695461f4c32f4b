// capi: what a name calls. Takes the name of an op, a view or a factory; gives its signatures.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "tenon/schema.h"

namespace tenon::capi {

/// One signature of a name. Of an op, a schema; of a view or a factory, what it needs of one.
struct Signature {
  const char* text = "";
  std::span<const Parameter> parameters;
  int results = 1;                                             // -1: depends on the arguments
  List<Tensor> (*function)(std::span<const Value>) = nullptr;  // null: `schema` has the functions
  const Schema* schema = nullptr;
};

/// All signatures of the name, in the order in which they are tried; empty if there is no such name.
std::vector<Signature> signatures_of(std::string_view name);

}  // namespace tenon::capi
