// Calling a group: matching arguments against its signatures, and explaining why none fits.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "python/bind.h"
#include "python/call_error.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/torch_function.h"

namespace retrograd {
namespace {

struct Args {
  PyObject* self;
  PyObject* const* items;
  Py_ssize_t positional;
  PyObject* kwnames;
  bool flat = false;
  Py_ssize_t keywords() const { return kwnames ? PyTuple_GET_SIZE(kwnames) : 0; }
};

PyObject* interned_name(const ParamSpec& spec) {
  if (RG_UNLIKELY(!spec.interned)) spec.interned = PyUnicode_InternFromString(spec.name);
  return spec.interned;
}

PyObject* interned_out() {
  static PyObject* name = PyUnicode_InternFromString("out");
  return name;
}

// NumPy's names for the same thing.
constexpr struct {
  const char *param, *given;
} kAliases[] = {{"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x"}, {"input", "a"}, {"input", "x1"}, {"other", "x2"}};
bool is_alias(const char* param, const char* given) {
  return std::ranges::any_of(kAliases, [&](const auto& a) { return std::strcmp(param, a.param) == 0 && std::strcmp(given, a.given) == 0; });
}
bool is_any_alias(PyObject* interned) {
  static const auto names = [] {
    std::array<PyObject*, std::size(kAliases)> all;
    std::ranges::transform(kAliases, all.begin(), [](const auto& a) { return PyUnicode_InternFromString(a.given); });
    return all;
  }();
  return std::ranges::find(names, interned) != names.end();
}

bool keyword_is(PyObject* given, const ParamSpec& spec) {
  PyObject* name = interned_name(spec);
  if (given == name) return true;
  if (RG_LIKELY(PyUnicode_CHECK_INTERNED(given)) && !is_any_alias(given)) return false;  // as it is in all calls that programs spell out
  if (PyUnicode_Compare(given, name) == 0) return true;
  const char* text = PyUnicode_AsUTF8(given);
  if (!text) {
    PyErr_Clear();
    return false;
  }
  return is_alias(spec.name, text);
}

int find_keyword(const Args& a, const ParamSpec& spec) {
  for (Py_ssize_t k = 0; k < a.keywords(); ++k)
    if (keyword_is(PyTuple_GET_ITEM(a.kwnames, k), spec)) return static_cast<int>(k);
  return -1;
}

bool all_ints(const Args& a) {
  for (Py_ssize_t i = 0; i < a.positional; ++i) {
    PyObject* o = a.items[i];
    if (PyTuple_Check(o) || PyList_Check(o)) return false;
  }
  return true;
}

bool takes_ints(const ParamSpec& spec) { return spec.kind == Kind::Ints || spec.kind == Kind::IntList || spec.kind == Kind::IntsOpt; }

// Whether the first of the parameters stands alone, so that its elements may be arguments each: view(2, 3).
bool spreads(const Signature& s, int first) {
  const auto count = static_cast<int>(s.params.size());
  return count == first + 1 || (s.params[static_cast<size_t>(first) + 1].flags & kKeywordOnly) != 0;
}

// An element of a list of ints that is no int.
struct BadItem {
  const ParamSpec* param = nullptr;
  Py_ssize_t at = 0;
  PyObject* item = nullptr;  // borrowed
};

bool is_size(PyObject* o, Py_ssize_t at) {
  int64_t value;
  return read_int(o, value) || (at > 0 && PyBool_Check(o));
}

// Reads an argument as Parsed does, and lets a list pass whose first element alone is an int: that is as far as PyTorch looks before it has chosen a signature.
bool read_leniently(Parsed& p, int i, const ParamSpec& spec, PyObject* o, BadItem& bad) {
  if (p.read(i, spec, o)) return true;
  if (!takes_ints(spec) || (!PyTuple_Check(o) && !PyList_Check(o))) return false;
  Py_ssize_t at = 0;
  while (at < PySequence_Fast_GET_SIZE(o) && is_size(PySequence_Fast_GET_ITEM(o, at), at)) ++at;
  if (at == 0 || at >= PySequence_Fast_GET_SIZE(o)) return false;
  bad = {&spec, at, PySequence_Fast_GET_ITEM(o, at)};
  return true;
}

// With `bad`, in order to explain: see read_leniently().
template <bool kLenient = false> bool match(const Signature& s, const Args& a, Parsed& p, [[maybe_unused]] BadItem* bad = nullptr) {
  const auto read = [&](int i, const ParamSpec& spec, PyObject* o) {
    if constexpr (kLenient) return read_leniently(p, i, spec, o, *bad);
    return p.read(i, spec, o);
  };
  const int count = static_cast<int>(s.params.size());
  int first = 0;
  if (a.self) {
    if (!count || !p.read(0, s.params[0], a.self)) return false;
    first = 1;
  }
  Py_ssize_t used_keywords = 0;
  Py_ssize_t next = 0;  // positional argument
  for (int i = first; i < count; ++i) {
    const ParamSpec& spec = s.params[static_cast<size_t>(i)];
    if (next < a.positional && (a.flat || !(spec.flags & kKeywordOnly))) {
      // view(2, 3): a lone list of ints may be spread over the positional arguments. One of them is read below, if one int will do.
      if (takes_ints(spec) && (spec.kind != Kind::IntsOpt || count == first + 1) && (a.positional != 1 || spec.kind == Kind::IntList) &&
          !a.flat && i == first && spreads(s, first) && all_ints(a)) {
        if (!p.read_ints(i, a.items, a.positional)) {
          if constexpr (!kLenient) return false;
          Py_ssize_t at = 0;
          while (at < a.positional && is_size(a.items[at], at)) ++at;
          if (at == 0 || at >= a.positional) return false;
          *bad = {&spec, at, a.items[at]};
        }
        next = a.positional;
        continue;
      }
      if (!read(i, spec, a.items[next])) return false;
      ++next;
      continue;
    }
    if (a.kwnames) {
      const int k = find_keyword(a, spec);
      if (k >= 0) {
        if (!read(i, spec, a.items[a.positional + k])) return false;
        ++used_keywords;
        continue;
      }
    }
    if (spec.flags & kHasDefault) {
      p.fill_default(i, spec);
    } else {
      return false;
    }
  }
  if (next != a.positional) return false;
  if (RG_UNLIKELY(used_keywords != a.keywords())) {
    if (!s.out || used_keywords + 1 != a.keywords()) return false;
    for (Py_ssize_t k = 0; k < a.keywords(); ++k) {
      PyObject* name = PyTuple_GET_ITEM(a.kwnames, k);
      if (name != interned_out() && PyUnicode_Compare(name, interned_out()) != 0) continue;
      PyObject* out = a.items[a.positional + k];
      if (s.out->outs == 1 && (PyTuple_Check(out) || PyList_Check(out))) return false;
      return p.set_out(out);
    }
    return false;
  }
  return true;
}

std::string type_word(PyObject* o) {
  if (is_tensor(o)) return "Tensor";
  if (PyTuple_Check(o) || PyList_Check(o)) {
    std::string out = PyTuple_Check(o) ? "tuple of (" : "list of [";
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n && i < 8; ++i) out += (i ? ", " : "") + std::string(Py_TYPE(PySequence_Fast_GET_ITEM(o, i))->tp_name);
    if (n > 8) out += ", ...";
    return out + (PyTuple_Check(o) ? ")" : "]");
  }
  return Py_TYPE(o)->tp_name;
}

[[noreturn]] void fail_combination(const Group& g, const Args& a) {
  std::string got;
  for (Py_ssize_t i = 0; i < a.positional; ++i) got += (i ? ", " : "") + type_word(a.items[i]);
  for (Py_ssize_t k = 0; k < a.keywords(); ++k)
    got += (got.empty() ? "" : ", ") + text_of(PyTuple_GET_ITEM(a.kwnames, k)) + "=" + type_word(a.items[a.positional + k]);
  std::string text = str_cat(g.name, "() received an invalid combination of arguments - got (", got, "), but expected one of:\n");
  for (const Signature& s : g.signatures)
    if (!s.hidden) text += str_cat(" * ", s.text, "\n");
  throw Error(ErrorKind::Type, text);
}

// An operand is a tensor or a number, which in PyTorch are signatures of their own, but for these operators: they make a tensor of a number.
bool is_arithmetic(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return name == "add" || name == "sub" || name == "mul" || name == "div";
}

// With one signature the error can name the argument that is wrong.
[[noreturn]] void explain_single(const Group& g, const Signature& s, const Args& a) {
  const int count = static_cast<int>(s.params.size());
  const int first = a.self ? 1 : 0;
  Parsed p;
  if (a.self && count == first)
    fail(ErrorKind::Type, "TensorBase.", g.name, "() takes no ",
         a.keywords() ? std::string("keyword arguments") : str_cat("arguments (", a.positional, " given)"));
  for (Py_ssize_t k = 0; k < a.keywords(); ++k) {
    PyObject* name = PyTuple_GET_ITEM(a.kwnames, k);
    bool known = s.out && PyUnicode_CompareWithASCIIString(name, "out") == 0;
    if (PyObject* out = a.items[a.positional + k]; known && !is_tensor(out) && out != Py_None && s.out->outs == 1)
      fail(ErrorKind::Type, g.name, "(): argument 'out' must be Tensor, not ", Py_TYPE(out)->tp_name);
    for (int i = first; i < count; ++i) known |= keyword_is(name, s.params[static_cast<size_t>(i)]);
    if (!known) fail(ErrorKind::Type, g.name, "() got an unexpected keyword argument '", text_of(name), "'");
  }
  const auto takes_position = [](const ParamSpec& spec) { return !(spec.flags & kKeywordOnly); };
  const auto places = std::count_if(s.params.begin() + first, s.params.end(), takes_position);
  Py_ssize_t next = 0;
  std::string missing;
  int missing_count = 0;
  for (int i = first; i < count; ++i) {
    const ParamSpec& spec = s.params[static_cast<size_t>(i)];
    PyObject* given = nullptr;
    const bool by_position = next < a.positional && !(spec.flags & kKeywordOnly);
    if (by_position) {
      given = a.items[next++];
    } else if (const int k = find_keyword(a, spec); k >= 0) {
      given = a.items[a.positional + k];
    }
    if (!given) {
      if (spec.flags & kHasDefault) continue;
      ++missing_count;
      missing += std::string(missing.empty() ? "" : ", ") + "\"" + spec.name + "\"";
      continue;
    }
    int64_t first_size;
    if (by_position && i == first && spreads(s, first) && spec.kind == Kind::IntList && read_int(given, first_size)) continue;
    if (!p.read(i, spec, given)) {
      if (by_position && (spec.kind == Kind::Ints || spec.kind == Kind::IntList) && i == first && a.positional > places)
        break;  // zeros(1.5, 2)
      if ((spec.kind == Kind::Tensors || spec.kind == Kind::TensorOptList) && (PyTuple_Check(given) || PyList_Check(given)))
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(given); ++k)
          if (PyObject* element = PySequence_Fast_GET_ITEM(given, k); !is_tensor(element))
            fail(ErrorKind::Type, "expected Tensor as element ", static_cast<int64_t>(k), " in argument ", i - first, ", but got ",
                 Py_TYPE(element)->tp_name);
      if (spec.kind == Kind::Operand && !is_arithmetic(g.name)) fail_combination(g, a);
      const std::string where = by_position ? str_cat(" (position ", next, ")") : "";
      int64_t value;
      if (by_position && takes_ints(spec) && (PyTuple_Check(given) || PyList_Check(given)) && PySequence_Fast_GET_SIZE(given) &&
          !read_int(PySequence_Fast_GET_ITEM(given, 0), value))
        fail(ErrorKind::Type, g.name, "(): argument '", spec.name, "'", where, " must be tuple of ints, but found element of type ",
             Py_TYPE(PySequence_Fast_GET_ITEM(given, 0))->tp_name, " at pos 0");
      fail(ErrorKind::Type, g.name, "(): argument '", spec.name, "'", where, " must be ", kKindWords[static_cast<int>(spec.kind)], ", not ",
           Py_TYPE(given)->tp_name);
    }
  }
  if (missing_count && a.positional <= places)
    fail(ErrorKind::Type, g.name, "() missing ", missing_count, " required positional argument", missing_count == 1 ? "s: " : ": ",
         missing);
  if (count == first) fail(ErrorKind::Type, g.name, "() takes no arguments (", a.positional, " given)");
  fail(ErrorKind::Type, g.name, "() takes ", places, " positional argument", places == 1 ? "" : "s", " but ", a.positional, " were given");
}

// Whether a signature could take this many arguments.
bool takes_count(const Signature& s, const Args& a) {
  const Py_ssize_t given = a.positional + a.keywords() + (a.self ? 1 : 0);
  Py_ssize_t required = 0;
  for (const ParamSpec& spec : s.params) required += !(spec.flags & kHasDefault);
  return given >= required && given <= static_cast<Py_ssize_t>(s.params.size()) + (s.out != nullptr);
}

[[noreturn, gnu::cold]] void explain(const Group& g, const Args& a) {
  for (const Signature& s : g.signatures) {
    Parsed p;
    BadItem bad;
    if (!s.hidden && match<true>(s, a, p, &bad) && bad.param)
      fail(ErrorKind::Type, g.name, "(): argument '", bad.param->name, "' failed to unpack the object at pos ", bad.at + 1,
           " with error \"type must be tuple of ints,but got ", Py_TYPE(bad.item)->tp_name, "\"");
  }
  const Signature* only = nullptr;
  int plausible = 0;
  for (const Signature& s : g.signatures)
    if (!s.hidden && takes_count(s, a)) {
      only = &s;
      ++plausible;
    }
  if (g.signatures.size() == 1) only = &g.signatures[0];
  if (only && (plausible == 1 || g.signatures.size() == 1)) explain_single(g, *only, a);
  fail_combination(g, a);
}

// Tensors of several devices meet only in ops whose entries say so: those that copy between them, or look at sizes alone.
void check_devices(const Group& g, const OpRecord& op, uint8_t devices) {
  const auto whole = static_cast<uint8_t>(devices & ~Parsed::kScalarOnCpu);
  const bool several = (whole & (whole - 1)) != 0, cpu_alone = whole == 1 << static_cast<int>(DeviceType::CPU);
  if (op.crosses_devices || (!several && (whole == devices || cpu_alone || op.elementwise))) return;
  fail(
      ErrorKind::Runtime, "Expected all tensors to be on the same device, but ", g.name,
      "() got tensors on the cpu and on another device\n  Hint: move one of them with .to(device); a model and its input belong together.");
}

// addcmul(x, 2, a, b), x.set_(storage): see retrograd/_legacy.py. Null where the call is none of these.
PyObject* call_nonetheless(const Group& g, const Args& a) {
  PyObject* module = checked(PyImport_ImportModule("retrograd._legacy"));
  const Py_ssize_t shift = a.self ? 1 : 0;
  PyObject* positional = PyTuple_New(a.positional + shift);
  PyObject* named = PyDict_New();
  if (positional && named) {
    if (a.self) PyTuple_SET_ITEM(positional, 0, Py_NewRef(a.self));
    for (Py_ssize_t i = 0; i < a.positional; ++i) PyTuple_SET_ITEM(positional, i + shift, Py_NewRef(a.items[i]));
    for (Py_ssize_t k = 0; k < a.keywords(); ++k) PyDict_SetItem(named, PyTuple_GET_ITEM(a.kwnames, k), a.items[a.positional + k]);
  }
  PyObject* result = positional && named
                         ? PyObject_CallMethod(module, "call", "OsOOO", g.callable, g.name, a.self ? Py_True : Py_False, positional, named)
                         : nullptr;
  Py_DECREF(module);
  Py_XDECREF(positional);
  Py_XDECREF(named);
  checked(result);
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  return nullptr;
}

}  // namespace

PyObject* call_group(const Group& g, PyObject* self, PyObject* const* items, Py_ssize_t nargs, PyObject* kwnames, bool flat) noexcept {
  try {
    const Args args{self, items, PyVectorcall_NARGS(static_cast<size_t>(nargs)), kwnames, flat};
    if (RG_UNLIKELY(thread_state.function_modes != 0) && function_modes_active())
      return call_torch_function(g.callable, self, items, args.positional, kwnames);
    Parsed p;
    for (const Signature& s : g.signatures) {
      p.reset();
      if (!match(s, args, p)) continue;
      if (RG_UNLIKELY(p.overloaded_) && thread_state.torch_function_enabled && thread_state.torch_function_subclasses)
        return call_torch_function(g.callable, self, items, args.positional, kwnames);
      try {
        if (RG_UNLIKELY((p.devices_ & (p.devices_ - 1)) != 0)) check_devices(g, *s.record, p.devices_);
        return s.call(p);
      } catch (...) {
        set_call_error({g.name, self, items, args.positional, kwnames, s.params});
        return nullptr;
      }
    }
    if (any_overloaded(items, args.positional + args.keywords()))  // in a place where no signature wants a tensor
      return call_torch_function(g.callable, self, items, args.positional, kwnames);
    if (PyObject* result = call_nonetheless(g, args)) return result;
    explain(g, args);
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace retrograd
