// Printing: takes a tensor; gives PyTorch's text (torch/_tensor_str.py): one format for all elements, nested brackets,
// only edges of large tensors, and suffixes for what the numbers do not show.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "base/fork.h"
#include "tenon/autograd.h"
#include "tenon/tensor.h"
#include "tensor/history.h"
#include "type/visit.h"

namespace tenon {
namespace {

ForkMutex options_mutex;
PrintOptions current_options;

// --- Reading

/// Reads an element of any dtype, or one part of a complex element.
using Reader = Scalar (*)(const std::byte* element);

Reader reader_of(Dtype dtype) {
  return visit_dtype(dtype, []<class T>() -> Reader {
    return [](const std::byte* element) {
      if constexpr (is_complex_v<T>)
        return Scalar(reinterpret_cast<const T*>(element)->re);
      else
        return to_scalar(*reinterpret_cast<const T*>(element));
    };
  });
}
Reader imaginary_reader_of(Dtype dtype) {
  return visit_dtype(dtype, []<class T>() -> Reader {
    if constexpr (is_complex_v<T>)
      return [](const std::byte* element) { return Scalar(reinterpret_cast<const T*>(element)->im); };
    else
      return nullptr;
  });
}

/// The elements of a tensor that are printed: of a summarised dim only the edges.
struct Elements {
  const Tensor& tensor;
  const PrintOptions& options;
  Reader read;
  bool summarized;

  int64_t dim() const { return tensor.dim(); }
  int64_t size(int64_t dim) const { return tensor.sizes()[dim]; }
  bool cuts(int64_t dim) const {
    return summarized && size(dim) / 2 >= options.edgeitems && size(dim) > 2 * options.edgeitems;
  }
  const std::byte* first() const { return static_cast<const std::byte*>(tensor.data_ptr()); }
  /// The address of the element that is `steps` further along a dim.
  const std::byte* at(const std::byte* base, int64_t dim, int64_t steps) const {
    return base + steps * tensor.strides()[dim] * tensor.itemsize();  // exact: inside the storage
  }
};

/// Iterates over vectors, the slices along the last dim. Not recursive, because a tensor may have any number of dims.
class Vectors {
 public:
  /// For a tensor that has dims and elements.
  explicit Vectors(const Elements& elements)
      : elements_(elements), index_(elements.dim(), 0), base_(elements.first()) {}

  const std::byte* base() const { return base_; }

  struct Move {
    int64_t dim;   // the dim whose index increased; -1 after the last vector
    bool skipped;  // whether the entries between its edges were skipped
  };
  Move next() {
    for (int64_t dim = elements_.dim() - 2; dim >= 0; --dim) {
      const int64_t size = elements_.size(dim), edge = elements_.options.edgeitems;
      const bool skips = elements_.cuts(dim) && index_[dim] + 1 == edge;
      const int64_t wanted = skips ? size - edge : index_[dim] + 1;
      if (wanted < size) {
        move(dim, wanted);
        return {dim, skips};
      }
      move(dim, 0);
    }
    return {-1, false};
  }

 private:
  void move(int64_t dim, int64_t wanted) {
    base_ = elements_.at(base_, dim, wanted - index_[dim]);
    index_[dim] = wanted;
  }

  const Elements& elements_;
  Dims index_;
  const std::byte* base_;
};

/// Calls `visit` with every printed number.
template <class Visit>
void for_each_shown(const Elements& elements, const Visit& visit) {
  if (elements.dim() == 0) return visit(elements.read(elements.first()));
  const int64_t last = elements.dim() - 1, size = elements.size(last), edge = elements.options.edgeitems;
  Vectors vectors(elements);
  do {
    for (int64_t i = 0; i < size; ++i) {
      if (elements.cuts(last) && i == edge) i = size - edge;
      visit(elements.read(elements.at(vectors.base(), last, i)));
    }
  } while (vectors.next().dim >= 0);
}

/// Visits the numbers that decide the format. With edgeitems=0 PyTorch looks at a whole vector, and at no number of a
/// tensor with more dims.
template <class Visit>
void for_each_measured(const Elements& elements, const Visit& visit) {
  if (!elements.summarized || elements.options.edgeitems > 0) return for_each_shown(elements, visit);
  if (elements.dim() != 1) return;
  for (int64_t i = 0; i < elements.size(0); ++i) visit(elements.read(elements.at(elements.first(), 0, i)));
}

// --- Formatting numbers

std::string printed(const char* format, int precision, double value) {
  const int length = std::snprintf(nullptr, 0, format, precision, value);
  std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}

/// The format of all elements of a tensor.
struct Format {
  bool floating = false;
  bool integral = true;  // all numbers are integers: no decimals, only the point
  bool scientific = false;
  int precision = 4;
  std::size_t width = 1;

  std::string text(Scalar number) const {
    if (number.is_boolean()) return number.as_bool() ? "True" : "False";
    if (number.is_wide()) return std::to_string(static_cast<uint64_t>(number.as_int64()));
    if (!floating) return std::to_string(number.as_int64());
    const double value = number.as_double();
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (scientific) return printed("%.*e", precision, value);
    return integral ? printed("%.*f", 0, value) + "." : printed("%.*f", precision, value);
  }
  void widen(const std::string& text) { width = std::max(width, text.size()); }
  std::string padded(Scalar number) const {
    const std::string digits = text(number);
    return std::string(digits.size() < width ? width - digits.size() : 0, ' ') + digits;
  }
};

/// Facts about the finite nonzero numbers, which decide between plain and scientific format.
struct Extent {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  bool integral = true;

  void add(double value) {
    smallest = std::min(smallest, std::abs(value));
    largest = std::max(largest, std::abs(value));
    integral &= value == std::ceil(value);
  }
  bool empty() const { return largest == 0; }
  bool needs_exponents() const { return largest / smallest > 1000.0 || largest > 1.0e8 || smallest < 1.0e-4; }
};

bool is_measured(double value) { return std::isfinite(value) && value != 0; }

Format floating_format(const Elements& elements) {
  Format format;
  format.floating = true;
  format.precision = std::max(elements.options.precision, 0);
  Extent extent;
  for_each_measured(elements, [&](Scalar number) {
    if (is_measured(number.as_double())) extent.add(number.as_double());
  });
  if (extent.empty()) return format;
  format.integral = extent.integral;
  format.scientific = elements.options.scientific.value_or(extent.needs_exponents());
  for_each_measured(elements, [&](Scalar number) {
    if (is_measured(number.as_double())) format.widen(format.text(number));
  });
  return format;
}

Format format_of(const Elements& elements) {
  if (is_inexact(elements.tensor.dtype())) return floating_format(elements);
  Format format;
  for_each_measured(elements, [&](Scalar number) { format.widen(format.text(number)); });
  return format;
}

/// Writes elements. The two parts of complex elements have separate formats.
struct Writer {
  const Elements& elements;
  Format format;
  Reader read_imaginary;
  Format imaginary;

  explicit Writer(const Elements& shown)
      : elements(shown), format(format_of(shown)), read_imaginary(imaginary_reader_of(shown.tensor.dtype())) {
    if (read_imaginary) imaginary = format_of({shown.tensor, shown.options, read_imaginary, shown.summarized});
  }
  // exact: columns of a line
  std::size_t width() const { return read_imaginary ? format.width + imaginary.width + 1 : format.width; }
  std::string text(const std::byte* element) const {
    const std::string first = format.padded(elements.read(element));
    if (!read_imaginary) return first;
    std::string second = imaginary.padded(read_imaginary(element)) + "j";
    second.erase(0, second.find_first_not_of(' '));
    return first + (second[0] == '-' ? "" : "+") + second;
  }
};

// --- Laying out

/// `entries` in brackets, as many per line as fit.
std::string lines_of(const std::vector<std::string>& entries, int64_t per_line, int64_t indent) {
  std::string text = "[";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool breaks = i > 0 && static_cast<int64_t>(i) % per_line == 0;
    if (breaks)
      text += ",\n" + std::string(static_cast<std::size_t>(indent + 1), ' ');
    else if (i > 0)
      text += ", ";
    text += entries[i];
  }
  return text + "]";
}

std::string vector_text(const Writer& writer, const std::byte* base, int64_t indent) {
  const Elements& elements = writer.elements;
  const int64_t dim = elements.dim() - 1, size = elements.size(dim), edge = elements.options.edgeitems;
  const int64_t element_length = static_cast<int64_t>(writer.width()) + 2;
  const int64_t per_line = std::max<int64_t>(1, (elements.options.linewidth - indent) / element_length);
  std::vector<std::string> entries;
  for (int64_t i = 0; i < size; ++i) {
    if (elements.cuts(dim) && i == edge) {
      entries.emplace_back(" ...");
      i = size - edge;
    }
    entries.push_back(writer.text(elements.at(base, dim, i)));
  }
  return lines_of(entries, per_line, indent);
}

std::string brackets(int64_t count, char bracket) { return std::string(static_cast<std::size_t>(count), bracket); }

/// The text of all dims, indented by `indent` columns.
std::string nested_text(const Writer& writer, int64_t indent) {
  const Elements& elements = writer.elements;
  if (elements.dim() == 0) return writer.text(elements.first());
  if (elements.summarized && elements.options.edgeitems == 0) return "[...]";
  const int64_t outer = elements.dim() - 1;  // dims outside the vectors
  std::string text = brackets(outer, '[');
  for (Vectors vectors(elements);;) {
    text += vector_text(writer, vectors.base(), indent + outer);
    const Vectors::Move step = vectors.next();
    const int64_t closed = outer - 1 - step.dim;
    text += brackets(closed, ']');
    if (step.dim < 0) return text;
    const std::string separator = "," + std::string(static_cast<std::size_t>(closed + 1), '\n') +
                                  std::string(static_cast<std::size_t>(indent + step.dim + 1), ' ');
    text += separator;
    if (step.skipped) text.append("...").append(separator);
    text += brackets(closed, '[');
  }
}

/// A tuple as Python prints it: "(2,)".
std::string tuple_text(SizesView sizes) {
  std::string text = "(";
  for (int64_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

/// The name of the tensor's node; empty if it has none. A view made under no_grad has none after a write to its base.
std::string origin_of(const Tensor& tensor) {
  try {
    const autograd::Node node = tensor.grad_fn();
    return node.defined() ? node.name().substr(node.name().rfind(':') + 1) : "";
  } catch (const Error&) {
    return "Invalid";
  }
}

bool is_default_complex(Dtype dtype) {
  return is_complex(dtype) && dtype == (get_default_dtype() == float64 ? complex128 : complex64);
}

std::vector<std::string> suffixes_of(const Tensor& tensor, const PrintOptions& options) {
  const bool is_default = tensor.dtype() == get_default_dtype();
  // int64, bool and default complex dtypes can be recognised from the numbers, if any are printed.
  const bool shows_numbers = !tensor.is_meta() && tensor.numel() > 0;
  const bool tells_dtype =
      is_default ||
      (shows_numbers && (tensor.dtype() == int64 || tensor.dtype() == bool_ || is_default_complex(tensor.dtype())));
  const bool tells_size = shows_numbers ? options.edgeitems > 0 : !tensor.is_meta() && tensor.dim() == 1;
  std::vector<std::string> suffixes;
  if (tensor.is_meta()) suffixes.emplace_back("device='meta'");
  if (!tells_size) suffixes.push_back("size=" + tuple_text(tensor.sizes()));
  if (!tells_dtype) suffixes.push_back(std::string("dtype=torch.") + dtype_name(tensor.dtype()));
  if (const std::string origin = origin_of(tensor); !origin.empty())
    suffixes.push_back("grad_fn=<" + origin + ">");
  else if (tensor.requires_grad())
    suffixes.emplace_back("requires_grad=True");
  return suffixes;
}

/// Adds suffixes; one that does not fit begins a new line.
std::string with_suffixes(std::string text, const std::vector<std::string>& suffixes, int64_t indent,
                          int64_t linewidth) {
  const std::size_t line_start = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  // PyTorch counts two columns more than the last line has.
  int64_t length = static_cast<int64_t>(text.size() - line_start) + 2;  // exact: of a text
  for (const std::string& suffix : suffixes) {
    const int64_t added = static_cast<int64_t>(suffix.size());
    const bool fits = length + added + 2 <= linewidth;
    text += fits ? ", " : ",\n" + std::string(static_cast<std::size_t>(indent), ' ');
    text += suffix;
    length = fits ? length + added + 2 : indent + added;
  }
  return text + ")";
}

std::string elements_text(const Tensor& tensor, const PrintOptions& options, int64_t indent) {
  if (tensor.is_meta()) return "...";
  if (tensor.numel() == 0) return "[]";
  const Elements elements{tensor, options, reader_of(tensor.dtype()), tensor.numel() > options.threshold};
  return nested_text(Writer(elements), indent);
}

}  // namespace

PrintOptions print_options() noexcept {
  const std::lock_guard lock(options_mutex);
  return current_options;
}

void set_print_options(const PrintOptions& options) noexcept {
  const std::lock_guard lock(options_mutex);
  current_options = options;
}

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";
  if (stands_for_data(tensor))
    throw NotImplementedError("a tensor cannot be printed while a function is traced: there is no data");
  PrintOptions options = print_options();
  options.edgeitems = std::max<int64_t>(options.edgeitems, 0);
  const std::string prefix = "tensor(";
  const int64_t indent = static_cast<int64_t>(prefix.size());
  return with_suffixes(prefix + elements_text(tensor, options, indent), suffixes_of(tensor, options), indent,
                       options.linewidth);
}

}  // namespace tenon
