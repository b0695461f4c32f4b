#include "python/arguments.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <unordered_map>

#include "python/random.h"
#include "tenon/policy.h"

namespace tenon::python {
namespace {

using Type = Signature::Type;
using Parameter = Signature::Parameter;

constexpr std::string_view kNameTexts[] = {
#define TENON_NAME(NAME) #NAME,
    TENON_ARGUMENT_NAMES(TENON_NAME) TENON_OP_ARGUMENT_NAMES(TENON_NAME)
#undef TENON_NAME
};

/// NumPy's name of an argument, which PyTorch accepts, too.
struct Alias {
  Name name;
  const char* text;
};
constexpr Alias kAliases[] = {{Name::dim, "axis"}, {Name::keepdim, "keepdims"}, {Name::input, "x"},
                              {Name::input, "a"},  {Name::input, "x1"},         {Name::other, "x2"}};

/// Marks a signature that works but is not listed in error texts.
constexpr std::string_view kDeprecated = "|deprecated";
/// Marks a signature that methods do not have.
constexpr std::string_view kFunctionOnly = "|function";

std::string take_returned(std::string& line) {
  const std::size_t arrow = std::min(line.find(" -> "), line.size());
  std::string returned = line.substr(arrow);
  line.resize(arrow);
  return returned;
}
bool take_suffix(std::string& line, std::string_view suffix) {
  if (!line.ends_with(suffix)) return false;
  line.resize(line.size() - suffix.size());
  return true;
}

struct TypeText {
  std::string_view spelled;  // in our signatures
  Type type;
  const char* text;  // in PyTorch's error texts
};
constexpr TypeText kTypes[] = {
    {"Tensor", Type::tensor, "Tensor"},
    {"Operand", Type::operand, "Tensor"},
    {"Number", Type::number, "Number"},
    {"int", Type::integer, "int"},
    {"float", Type::floating, "float"},
    {"bool", Type::boolean, "bool"},
    {"str", Type::string, "str"},
    {"ints", Type::integers, "tuple of ints"},
    {"floats", Type::floats, "tuple of floats"},
    {"Tensors", Type::tensors, "tuple of Tensors"},
    {"dtype", Type::dtype, "torch.dtype"},
    {"device", Type::device, "torch.device"},
    {"layout", Type::layout, "torch.layout"},
    {"memory_format", Type::memory_format, "torch.memory_format"},
    {"Generator", Type::generator, "torch.Generator"},
    {"object", Type::object, "object"},
};

const char* text_of(Type type) {
  for (const TypeText& entry : kTypes)
    if (entry.type == type) return entry.text;
  return "object";
}

// An import looks up thousands of names.
Name name_of(std::string_view text) {
  static const auto& all = *[] {
    auto* names = new std::unordered_map<std::string_view, Name>;
    for (int i = 0; i < kNames; ++i) names->emplace(kNameTexts[i], static_cast<Name>(i));
    return names;
  }();
  const auto found = all.find(text);
  if (found == all.end()) throw std::logic_error("no argument is named " + std::string(text));
  return found->second;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  if (text.empty()) return parts;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

/// "Number alpha=1"; "ints[1] dim" also accepts a single integer.
Parameter parse_parameter(const std::string& text, bool keyword_only) {
  const std::size_t space = text.find(' '), equals = text.find('=');
  std::string spelled = text.substr(0, space);
  Parameter parameter{};
  parameter.keyword_only = keyword_only;
  if (spelled.back() == '?') {
    parameter.allow_none = true;
    spelled.pop_back();
  }
  if (const std::size_t bracket = spelled.find('['); bracket != std::string::npos) {
    parameter.broadcast = std::stoll(spelled.substr(bracket + 1));
    spelled.resize(bracket);
  }
  const TypeText* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const TypeText& entry) { return entry.spelled == spelled; });
  if (type == std::end(kTypes)) throw std::logic_error("no argument has the type " + spelled);
  parameter.type = type->type;
  const std::size_t name_end = equals == std::string::npos ? text.size() : equals;
  parameter.name = name_of(std::string_view(text).substr(space + 1, name_end - space - 1));
  if (equals != std::string::npos) {
    parameter.optional = true;
    parameter.default_text = text.substr(equals + 1);
    parameter.allow_none |= parameter.default_text == "None";
  }
  return parameter;
}

/// Removes `Tensor input` and `Tensor out` from a signature, for the method. False if there is no such input.
bool make_method(std::vector<std::string>& parts) {
  const auto input = std::find_if(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "Tensor input" || part == "Operand input";
  });
  if (input == parts.end()) return false;
  parts.erase(input);
  std::erase(parts, "Tensor out=None");
  std::erase(parts, "Tensors out=None");
  if (!parts.empty() && parts.back() == "*") parts.pop_back();
  return true;
}

/// A name as a Python string, made once. NumPy's names come after ours.
PyObject* interned(Name name) {
  static std::atomic<PyObject*> texts[kNames] = {};
  std::atomic<PyObject*>& known = texts[static_cast<int>(name)];
  if (PyObject* text = known.load(std::memory_order_acquire)) return text;
  PyObject* text = checked(PyUnicode_InternFromString(kNameTexts[static_cast<int>(name)].data()));
  known.store(text, std::memory_order_release);  // another thread stores the same
  return text;
}

bool is_named(PyObject* keyword, Name name) {
  PyObject* text = interned(name);
  return keyword == text || PyUnicode_Compare(keyword, text) == 0;
}
bool is_alias(PyObject* keyword, Name name) {
  return std::any_of(std::begin(kAliases), std::end(kAliases), [&](const Alias& alias) {
    return alias.name == name && PyUnicode_CompareWithASCIIString(keyword, alias.text) == 0;
  });
}

[[noreturn]] void fail_type(const std::string& text) { throw TypeError(text); }

std::string text_of_object(PyObject* unicode) {
  const char* text = PyUnicode_AsUTF8AndSize(unicode, nullptr);
  if (!text) throw PythonError{};
  return text;
}

bool is_index_tensor(PyObject* object) {
  return is_tensor(object) && tensor_of(object).dim() == 0 && is_integral(tensor_of(object).dtype());
}

/// Whether a 0-dim tensor can stand for a number. Not if it requires grad, because the number would have no history.
bool is_number_tensor(PyObject* object) {
  return is_tensor(object) && tensor_of(object).dim() == 0 && !tensor_of(object).requires_grad();
}

/// Whether an object is a list of integers. Looks at the first item; a wrong item after it is found when the list is
/// read.
bool is_integer_list(PyObject* object, int64_t broadcast, int64_t* failed) {
  if (!is_sequence(object)) return broadcast > 0 && (is_integer(object) || is_index_tensor(object));
  if (length_of(object) == 0) return true;
  const nb::object first = item_of(object, 0);
  if (is_integer(first.ptr()) || is_index_tensor(first.ptr())) return true;
  if (failed) *failed = 0;
  return false;
}

/// Whether an object is a list of numbers; as above, by its first item.
bool is_number_list(PyObject* object, int64_t* failed) {
  if (!is_sequence(object)) return false;
  if (length_of(object) == 0 || is_number(item_of(object, 0).ptr())) return true;
  if (failed) *failed = 0;
  return false;
}

bool is_tensor_list(PyObject* object, int64_t* failed) {
  if (!is_sequence(object)) return false;
  for (Py_ssize_t i = 0; i < length_of(object); ++i) {
    const nb::object item = item_of(object, i);
    if (is_tensor(item.ptr())) continue;
    if (failed) *failed = i;
    return false;
  }
  return true;
}

// --- The error text of a call that matches no signature

struct Given {
  std::vector<PyObject*> positional;
  // PyTorch lists keywords in the order of a std::unordered_map.
  std::unordered_map<std::string, PyObject*> keyword;
};

std::string described(const Given& given) {
  std::string text = "(";
  for (PyObject* object : given.positional) text += type_name(object) + ", ";
  for (const auto& [name, object] : given.keyword) text += name + "=" + type_name(object) + ", ";
  if (!given.positional.empty()) text.resize(text.size() - 2);
  return text + ")";
}

std::vector<std::string> parameters_of(const std::string& signature) {
  return split(signature.substr(1, signature.size() - 2), ", ");
}
/// PyTorch's parser knows one function by another name than its module has.
std::string name_in_errors(const std::string& name) { return name == "logsigmoid" ? "log_sigmoid" : name; }
// PyTorch takes the last word of "tuple of ints dim" as its name and the rest as its type. It also does so for "Number
// alpha = 1", which therefore no argument matches.
std::string name_in(const std::string& parameter) { return parameter.substr(parameter.rfind(' ') + 1); }
bool matches_text(const std::string& parameter, PyObject* object) {
  const std::string wanted = parameter.substr(0, parameter.rfind(' ')), given = type_name(object);
  return wanted == given || (wanted == "float" && given == "int");
}

/// "list of [int, str]".
std::string element_types(PyObject* object) {
  const std::string type = type_name(object);
  if (!is_sequence(object)) return type;
  const bool tuple = PyTuple_Check(object);
  std::vector<std::string> elements;
  for (Py_ssize_t i = 0; i < length_of(object); ++i) elements.push_back(type_name(item_of(object, i).ptr()));
  const std::string inside = joined(elements, ", ");
  return type + " of " + (tuple ? "(" + inside + (elements.size() == 1 ? ",)" : ")") : "[" + inside + "]");
}

/// The arguments compared with a signature of as many parameters. Those that do not match are between exclamation
/// marks.
std::string marked(const std::string& signature, const Given& given) {
  const std::vector<std::string> parameters = parameters_of(signature);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < given.positional.size() + given.keyword.size(); ++i) {
    const bool by_keyword = i >= given.positional.size();
    const std::string parameter = i < parameters.size() ? parameters[i] : "", name = name_in(parameter);
    PyObject* object = by_keyword ? given.keyword.at(name) : given.positional[i];
    const std::string part = (by_keyword ? name + "=" : "") + element_types(object);
    parts.push_back(matches_text(parameter, object) ? part : "!" + part + "!");
  }
  return "(" + joined(parts, ", ") + (given.positional.empty() ? ", )" : ")");
}

/// Keywords that are not among a signature's last parameters. Like PyTorch, looks at as many parameters as there are
/// keywords.
std::vector<std::string> unknown_keywords(const std::string& signature, const Given& given) {
  const std::vector<std::string> parameters = parameters_of(signature);
  const std::size_t first = parameters.size() - std::min(parameters.size(), given.keyword.size());
  std::vector<std::string> unknown;
  for (const auto& [name, object] : given.keyword) {
    const bool known =
        std::any_of(parameters.begin() + static_cast<std::ptrdiff_t>(first), parameters.end(),
                    [&, &key = name](const std::string& parameter) { return name_in(parameter) == key; });
    if (!known) unknown.push_back(name);
  }
  return unknown;
}

/// Whether the number of arguments equals that of a signature, in which "*" counts as one.
bool has_count_of(const std::string& signature, const Given& given) {
  const std::size_t expected = std::max<std::size_t>(parameters_of(signature).size(), signature == "()" ? 1 : 0);
  return expected == given.positional.size() + given.keyword.size();
}

std::string invalid_combination(const std::string& function, const std::vector<std::string>& signatures,
                                const Given& given) {
  std::string text = function + "() received an invalid combination of arguments - got ";
  if (signatures.size() == 1) {
    const std::string& signature = signatures[0];
    const std::vector<std::string> unknown = unknown_keywords(signature, given);
    if (!unknown.empty()) return text + "unrecognized keyword arguments: " + joined(unknown, ", ");
    text += has_count_of(signature, given) ? marked(signature, given) : described(given);
    return text + ", but expected " + signature;
  }
  text += described(given) + ", but expected one of:\n";
  for (const std::string& signature : signatures) {
    text += " * " + signature + "\n";
    if (!has_count_of(signature, given)) continue;
    const std::vector<std::string> unknown = unknown_keywords(signature, given);
    text += unknown.empty()
                ? "      didn't match because some of the arguments have invalid types: " + marked(signature, given)
                : "      didn't match because some of the keywords were incorrect: " + joined(unknown, ", ");
    text += "\n";
  }
  return text;
}

}  // namespace

// --- Signatures

std::string_view Signature::Parameter::name_text() const { return kNameTexts[static_cast<int>(name)]; }

std::string Signature::Parameter::text() const {
  std::string text = text_of(type);
  text += ' ';
  text += name_text();
  return optional ? text + " = " + default_text : text;
}

Signature::Signature(const std::vector<std::string>& parts) : declared("(" + joined(parts, ", ") + ")") {
  bool keyword_only = false;
  parameters.reserve(parts.size());
  for (const std::string& part : parts) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    parameters.push_back(parse_parameter(part, keyword_only));
    if (!keyword_only) ++positional;
    if (!parameters.back().optional) ++required;
  }
}

std::string Signature::text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i == positional) parts.emplace_back("*");
    parts.push_back(parameters[i].text());
  }
  return "(" + joined(parts, ", ") + ")";
}

Parser::Parser(const Definition& definition, Binding binding) : definition_(definition), name_(definition.name) {
  std::fill(std::begin(slots_), std::end(slots_), static_cast<int8_t>(-1));
  const auto give_slot = [this](Name argument) {
    int8_t& slot = slots_[static_cast<std::size_t>(argument)];
    if (slot < 0) slot = static_cast<int8_t>(slot_count_++);
  };
  if (binding == Binding::method) give_slot(Name::input);
  int number = -1;
  for (std::string line : split(definition.signatures, "\n")) {
    ++number;
    std::string returned = take_returned(line);
    const bool deprecated = take_suffix(line, kDeprecated);
    if (take_suffix(line, kFunctionOnly) && binding == Binding::method) continue;
    std::vector<std::string> parts = parameters_of(line);
    if (binding == Binding::method && !make_method(parts)) continue;
    Signature& signature = signatures_.emplace_back(parts);
    signature.deprecated = deprecated;
    signature.returned = std::move(returned);
    signature.line = number;
    for (const Parameter& parameter : signature.parameters) give_slot(parameter.name);
  }
}

// --- One call

PyObject* Parser::invoke(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) noexcept {
  return guarded([&] {
    Call call;
    call.parser_ = this;
    call.self_ = self;
    call.args_ = args;
    call.count_ = count;
    call.keywords_ = keywords;
    call.keyword_count_ = keywords ? PyTuple_Size(keywords) : 0;
    const bool only = signatures_.size() == 1;
    for (const Signature& signature : signatures_) {
      // A call with too few arguments cannot match. If no error text is needed, this is checked first.
      if (!only && signature.required > static_cast<std::size_t>(count + call.keyword_count_)) {
        ++call.signature_;
        continue;
      }
      call.clear();
      if (parse(signature, call, only)) {
        if (signature.deprecated) warn_deprecated(signature);
        return definition_.call(call);
      }
      ++call.signature_;
    }
    fail(call);
  });
}

PyObject* Parser::invoke_with(PyObject* args, PyObject* keywords) noexcept {
  return guarded([&] {
    std::vector<PyObject*> all;
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) all.push_back(NB_TUPLE_GET_ITEM(args, i));
    nb::object names;
    PyObject *name = nullptr, *value = nullptr;
    if (keywords) names = checked_object(PySequence_Tuple(keywords));
    for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &name, &value);) all.push_back(value);
    return checked(invoke(nullptr, all.data(), PyTuple_Size(args), names.ptr()));
  });
}

bool Parser::check(const Parameter& parameter, PyObject* object, int64_t* failed) {
  switch (parameter.type) {
    case Type::tensor:
      return is_tensor(object);
    case Type::operand:
      return is_tensor(object) || is_number(object);
    case Type::number:
      return is_number(object) || is_number_tensor(object);
    case Type::integer:
      return is_integer(object) || is_index_tensor(object);
    case Type::floating:
      return PyLong_Check(object) || is_float(object) || is_integer(object) || is_number_tensor(object);
    case Type::boolean:
      return PyBool_Check(object);
    case Type::string:
      return is_text(object);
    case Type::integers:
      return is_integer_list(object, parameter.broadcast, failed);
    case Type::floats:
      return is_number_list(object, failed);
    case Type::tensors:
      return is_tensor_list(object, failed);
    case Type::dtype:
      return as_dtype(object).has_value();
    case Type::device:
      return is_device(object);
    case Type::layout:
      return is_layout(object);
    case Type::memory_format:
      return as_memory_format(object).has_value();
    case Type::generator:
      return is_generator(object);
    case Type::object:
      return true;
  }
  return false;
}

bool Parser::parse(const Signature& signature, Call& call, bool raise) const {
  // f(5, 3) means f((5, 3)) if the only positional parameter is a list of integers, and the first argument is an
  // integer.
  const bool takes_loose = signature.positional == 1 && signature.parameters[0].type == Type::integers &&
                           call.count_ > 0 && (is_integer(call.args_[0]) || is_index_tensor(call.args_[0]));
  const auto given = static_cast<std::size_t>(call.count_);
  if (given > signature.positional && !takes_loose) {
    if (!raise) return false;
    const std::size_t most = signature.positional;
    const std::size_t least = signature.required;  // includes keyword-only parameters
    const std::string takes =
        least == most ? std::to_string(most) : "from " + std::to_string(least) + " to " + std::to_string(most);
    const bool many = least != most || most != 1;
    fail_type(name_in_errors(name_) + "() takes " + takes + " positional argument" + (many ? "s" : "") + " but " +
              std::to_string(given) + (given == 1 && least == most ? " was given" : " were given"));
  }
  std::size_t position = 0;
  Py_ssize_t keywords_left = call.keyword_count_;
  for (const Parameter& parameter : signature.parameters) {
    PyObject* object = nullptr;
    bool by_keyword = false;
    if (position < given) {
      if (parameter.keyword_only) {
        if (raise)
          fail_type(name_in_errors(name_) + "() takes " + std::to_string(signature.positional) +
                    " positional argument" + (signature.positional == 1 ? "" : "s") + " but " + std::to_string(given) +
                    (given == 1 ? " was given" : " were given"));
        return false;
      }
      object = call.args_[position];
    } else {
      for (Py_ssize_t i = 0; i < call.keyword_count_ && !object; ++i)
        if (is_named(NB_TUPLE_GET_ITEM(call.keywords_, i), parameter.name)) object = call.args_[call.count_ + i];
      for (Py_ssize_t i = 0; i < call.keyword_count_ && !object; ++i)
        if (is_alias(NB_TUPLE_GET_ITEM(call.keywords_, i), parameter.name)) object = call.args_[call.count_ + i];
      by_keyword = true;
    }
    int64_t failed = -1;
    PyObject*& value = call.values_[slot(parameter.name)];
    const bool loose = takes_loose && position == 0 && !by_keyword;
    if ((!object && parameter.optional) || (object == Py_None && parameter.allow_none)) {
      value = nullptr;
    } else if (!object) {
      if (!raise) return false;
      std::vector<std::string> missing;
      for (const Parameter* other = &parameter; other != signature.parameters.data() + signature.parameters.size();
           ++other)
        if (!other->optional) missing.push_back('"' + std::string(kNameTexts[static_cast<int>(other->name)]) + '"');
      fail_type(name_in_errors(name_) + "() missing " + std::to_string(missing.size()) +
                " required positional argument" + (missing.size() == 1 ? "s" : "") + ": " + joined(missing, ", "));
    } else if (check(parameter, object, &failed)) {
      value = object;
      if (parameter.type == Type::number) call.numbers_ |= 1u << slot(parameter.name);
    } else if (parameter.type == Type::tensors && failed >= 0) {  // even if there are other signatures
      throw TypeError("expected Tensor as element " + std::to_string(failed) + " in argument " +
                      std::to_string(&parameter - signature.parameters.data()) + ", but got " +
                      type_name(item_of(object, failed).ptr()));
    } else if (loose && (is_integer(object) || is_index_tensor(object))) {
      call.loose_count_ = call.count_;
      value = object;
      position = given;
      continue;
    } else if (raise) {
      const std::string argument =
          name_in_errors(name_) + "(): argument '" + std::string(kNameTexts[static_cast<int>(parameter.name)]) + "'";
      const std::string place = by_keyword ? "" : " (position " + std::to_string(position + 1) + ")";
      const std::string wanted = place + " must be " + text_of(parameter.type);
      if (failed >= 0 && !by_keyword) {
        const nb::object element = item_of(object, failed);
        fail_type(argument + wanted + ", but found element of type " + type_name(element.ptr()) + " at pos " +
                  std::to_string(failed));
      }
      fail_type(argument + wanted + ", not " + type_name(object));
    } else {
      return false;
    }
    if (!by_keyword)
      ++position;
    else if (object)
      --keywords_left;
  }
  if (keywords_left > 0) {
    if (raise) fail_extra_keywords(signature, call);
    return false;
  }
  return true;
}

void Parser::fail_extra_keywords(const Signature& signature, const Call& call) const {
  for (Py_ssize_t i = 0; i < call.keyword_count_; ++i) {
    PyObject* keyword = NB_TUPLE_GET_ITEM(call.keywords_, i);
    std::size_t at = 0;
    while (at < signature.parameters.size() && !is_named(keyword, signature.parameters[at].name)) ++at;
    if (at == signature.parameters.size())
      fail_type(name_in_errors(name_) + "() got an unexpected keyword argument '" + text_of_object(keyword) + "'");
    if (at < static_cast<std::size_t>(call.count_))
      fail_type(name_in_errors(name_) + "() got multiple values for argument '" + text_of_object(keyword) + "'");
  }
  fail_type("invalid keyword arguments");
}

void Parser::warn_deprecated(const Signature& signature) const {
  std::string text = "This overload of " + name_ + " is deprecated:\n\t" + name_ + signature.text() +
                     "\nConsider using one of the following signatures instead:";
  for (const Signature& other : signatures_)
    if (!other.deprecated) text += "\n\t" + name_ + other.text();
  warn("UserWarning", text);
}

void Parser::fail(Call& call) const {
  const auto given_count = static_cast<std::size_t>(call.count_ + call.keyword_count_);
  std::vector<const Signature*> plausible;
  for (const Signature& signature : signatures_)
    if (!signature.deprecated && given_count >= signature.required && given_count <= signature.parameters.size())
      plausible.push_back(&signature);
  if (plausible.size() == 1) {
    call.clear();
    parse(*plausible[0], call, true);
  }
  Given given;
  for (Py_ssize_t i = 0; i < call.count_; ++i) given.positional.push_back(call.args_[i]);
  for (Py_ssize_t i = 0; i < call.keyword_count_; ++i)
    given.keyword.emplace(text_of_object(NB_TUPLE_GET_ITEM(call.keywords_, i)), call.args_[call.count_ + i]);
  std::vector<std::string> texts;
  for (const Signature& signature : signatures_)
    if (!signature.deprecated) texts.push_back(signature.text());
  fail_type(invalid_combination(name_in_errors(name_), texts, given));
}

// --- Values

void Call::clear() {
  std::fill_n(values_, parser_->slot_count_, nullptr);
  numbers_ = 0;
  loose_count_ = 0;
  if (self_) values_[parser_->slot(Name::input)] = self_;
}

const char* Call::text(Name name, const char* fallback) const {
  if (!has(name)) return fallback;
  const std::string_view text = utf8_of_argument(object(name));
  if (text.find('\0') != std::string_view::npos)
    throw Error(parser_->name() + "(): argument '" + std::string(kNameTexts[static_cast<int>(name)]) + "' holds a NUL");
  return text.data();
}

void Call::fail_element(Name name, Py_ssize_t at, const std::string& why) const {
  throw TypeError(parser_->name() + "(): argument '" + std::string(kNameTexts[static_cast<int>(name)]) +
                  "' failed to unpack the object at pos " + std::to_string(at + 1) + " with error \"" + why + "\"");
}

int64_t Call::element(Name name, Py_ssize_t at, PyObject* item) const {
  const bool is_bool = at > 0 && PyBool_Check(item);  // PyTorch checks only the first one
  if (!is_bool && !is_integer(item) && !is_index_tensor(item))
    fail_element(name, at, "type must be tuple of ints,but got " + type_name(item));
  try {
    return integer_of(item);
  } catch (const ValueError& error) {
    fail_element(name, at, error.what());
  }
}

Dims Call::dims(Name name) const {
  PyObject* value = object(name);
  if (!value) return {};
  if (loose_count_ > 0 && value == args_[0]) {
    Dims dims;
    for (Py_ssize_t i = 0; i < loose_count_; ++i) dims.push_back(element(name, i, args_[i]));
    return dims;
  }
  if (!is_sequence(value)) {
    const auto& parameters = parser_->signatures()[static_cast<std::size_t>(signature_)].parameters;
    const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const Parameter& declared) { return declared.name == name; });
    return Dims(std::max<int64_t>(parameter->broadcast, 1), integer_of(value));
  }
  Dims dims;
  for (Py_ssize_t i = 0; i < length_of(value); ++i)  // length_of each time: __index__ of an item may change the list
    dims.push_back(element(name, i, item_of(value, i).ptr()));
  return dims;
}

std::optional<List<double>> Call::optional_floats(Name name) const {
  PyObject* list = object(name);
  if (!list) return std::nullopt;
  List<double> numbers;
  for (Py_ssize_t i = 0; i < length_of(list); ++i) {  // length_of each time: as in dims()
    const nb::object item = item_of(list, i);
    if (!is_number(item.ptr()) || PyComplex_Check(item.ptr()))
      throw TypeError(parser_->name() + "(): argument '" + std::string(kNameTexts[static_cast<int>(name)]) +
                      "' must be tuple of floats, but found element of type " + type_name(item.ptr()) + " at pos " +
                      std::to_string(i + 1));
    numbers.push_back(float_of(item.ptr()));
  }
  return numbers;
}

List<Tensor> Call::tensors(Name name) const {
  List<Tensor> tensors;
  PyObject* list = object(name);
  tensors.reserve(static_cast<std::size_t>(length_of(list)));
  for (Py_ssize_t i = 0; i < length_of(list); ++i) {
    const nb::object item = item_of(list, i);
    if (!is_tensor(item.ptr())) throw TypeError("expected a Tensor, not " + type_name(item.ptr()));
    tensors.push_back(tensor_of(item.ptr()));
  }
  return tensors;
}

namespace {

/// Whether a list of tensors has many elements.
bool is_long_list(PyObject* list) {
  int64_t sum = 0;
  for (Py_ssize_t i = 0; i < length_of(list); ++i) {
    const nb::object item = item_of(list, i);
    if (is_tensor(item.ptr()) && __builtin_add_overflow(sum, tensor_of(item.ptr()).numel(), &sum)) return true;
  }
  return sum >= kReleaseNumel;
}

}  // namespace

void Call::take_outs(Tensor** outs, std::size_t count) const {
  PyObject* list = object(Name::out);
  if (length_of(list) != static_cast<Py_ssize_t>(count))
    throw TypeError("expected tuple of " + std::to_string(count) + " elements but got " +
                    std::to_string(length_of(list)));
  for (std::size_t i = 0; i < count; ++i) outs[i] = &tensor_of(item_of(list, static_cast<Py_ssize_t>(i)).ptr());
}

bool Call::is_long() const {
  if (has(Name::tensors) && is_sequence(object(Name::tensors))) return is_long_list(object(Name::tensors));
  int64_t product = 1;  // the result has at most as many elements as the operands' outer product
  for (int i = 0; i < parser_->slot_count_; ++i)
    if (values_[i] && is_tensor(values_[i]))
      if (__builtin_mul_overflow(product, std::max<int64_t>(tensor_of(values_[i]).numel(), 1), &product)) return true;
  return product >= kReleaseNumel;
}

}  // namespace tenon::python
