// Errors. C++ code throws Error (an exception type and a message) or PythonError (the Python error indicator is already set);
// the boundary in csrc/python turns either into a Python exception. Throwing is for bad input only: nothing on a hot path throws.
#pragma once

#include <Python.h>

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace retrograd {

enum class ErrorKind : uint8_t { Runtime, Type, Value, Index, NotImplemented, Memory, Attribute, Buffer, Assertion, Overflow, Recursion };

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
  std::string message_;
};

struct PythonError : std::exception {};

// Sets the Python error indicator from the exception in flight; call inside catch (...).
void set_python_error() noexcept;

// Throws PythonError when a CPython call returned null.
inline PyObject* checked(PyObject* object) {
  if (!object) throw PythonError();
  return object;
}

namespace detail {
void append(std::string& out, std::string_view text);
void append(std::string& out, const char* text);
void append(std::string& out, int64_t value);
inline void append(std::string& out, int value) { append(out, static_cast<int64_t>(value)); }
inline void append(std::string& out, uint32_t value) { append(out, static_cast<int64_t>(value)); }
inline void append(std::string& out, size_t value) { append(out, static_cast<int64_t>(value)); }
void append(std::string& out, double value);
void append(std::string& out, std::span<const int64_t> values);  // [2, 3]
}  // namespace detail

template <class... Args> std::string str_cat(const Args&... args) {
  std::string out;
  (detail::append(out, args), ...);
  return out;
}

template <class... Args> [[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorKind kind, const Args&... args) {
  throw Error(kind, str_cat(args...));
}

}  // namespace retrograd

#define RG_LIKELY(x) __builtin_expect(!!(x), 1)
#define RG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RG_CHECK(condition, ...) \
  if (RG_UNLIKELY(!(condition))) ::retrograd::fail(::retrograd::ErrorKind::Runtime, __VA_ARGS__)
#define RG_CHECK_AS(kind, condition, ...) \
  if (RG_UNLIKELY(!(condition))) ::retrograd::fail(::retrograd::ErrorKind::kind, __VA_ARGS__)
