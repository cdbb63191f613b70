// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --emit=header. Of
//   func.func @main(%x: tensor<?x784xf32>, %n: i64) -> tensor<?x10xf32>
// in mlp.mlir come, all static inline over tilewright.h,
//   mlp_load         the linked-in artifact on a device
//   mlp_main         the call: views in and out, scalars as C types
//   mlp_main_x       a view of host memory's contents: const float *, dim0
//   mlp_main_result0_read  its elements back: float *
// An argument is called what the text calls it; inputN where that is no name in C
// or is taken.

#include "Embed.h"

#include "tilewright/Target/Host/Host.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What C calls an element type, and program_abi.h.
struct CType {
  StringRef name, dtype;
};

/// Writes the header of one program.
class HeaderWriter {
public:
  HeaderWriter(StringRef prefix, const CompiledProgram &program)
      : prefix(prefix), program(program), os(text) {}
  std::string write();

private:
  void writeIntroduction();
  void writeCall(const HostFunction &function);
  void writeInput(const HostFunction &function, size_t number);
  void writeRead(const HostFunction &function, const Twine &value,
                 ShapedType type);
  std::string signatureOf(const HostFunction &function) const;
  /// Whether C has a function of this name behind the prefix already.
  bool isFunction(const Twine &name) const;
  std::vector<std::string> inputNames(const HostFunction &function) const;
  std::string nameOf(const HostFunction &function) const {
    return (prefix + "_" + asCName(function.name)).str();
  }

  StringRef prefix;
  const CompiledProgram &program;
  std::string text;
  llvm::raw_string_ostream os;
  std::vector<std::string> inputs; // names, of the function that is written
};
} // namespace

/// Words of C and C++, and what the functions here call other things.
static bool isTaken(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t",
      "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
      "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
      "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
      "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
      "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept",
      "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
      "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
      "return", "short", "signed", "sizeof", "static", "static_assert",
      "static_cast", "struct", "switch", "template", "this", "thread_local",
      "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union",
      "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor",
      "xor_eq",
      "args", "function", "memcpy", "memset", "program", "results", "size_t",
      "status", "stream"};
  return words.contains(name) || name.starts_with("tilewright") ||
         name.starts_with("TILEWRIGHT") || name.starts_with("_") ||
         name.starts_with("input") || name.starts_with("result") ||
         (name.ends_with("_t") && name.contains("int")) || name == "NULL";
}

bool HeaderWriter::isFunction(const Twine &name) const {
  std::string text = name.str();
  return llvm::any_of(program.host.functions, [&](const HostFunction &other) {
    return asCName(other.name) == text;
  });
}

std::vector<std::string>
HeaderWriter::inputNames(const HostFunction &function) const {
  std::vector<std::string> result;
  auto names = program.names->find(function.name);
  for (size_t i = 0; i < function.type.getNumInputs(); ++i) {
    std::string name;
    if (names != program.names->end() && i < names->second.size())
      name = names->second[i];
    std::string whole = asCName(function.name) + "_" + name;
    bool fits = !name.empty() && asCName(name) == name && !isTaken(name) &&
                !llvm::is_contained(result, name) && !isFunction(whole) &&
                !isFunction(whole + "_read");
    result.push_back(fits ? name : "input" + std::to_string(i));
  }
  return result;
}

static CType getCType(Type type) {
  return llvm::StringSwitch<CType>(getDTypeName(type))
      .Case("f64", {"double", "TW_F64"})
      .Case("f32", {"float", "TW_F32"})
      .Case("f16", {"uint16_t", "TW_F16"})
      .Case("bf16", {"uint16_t", "TW_BF16"})
      .Case("f8E4M3FN", {"uint8_t", "TW_F8E4M3FN"})
      .Case("f8E5M2", {"uint8_t", "TW_F8E5M2"})
      .Case("f8E4M3FNUZ", {"uint8_t", "TW_F8E4M3FNUZ"})
      .Case("f8E5M2FNUZ", {"uint8_t", "TW_F8E5M2FNUZ"})
      .Case("i64", {"int64_t", "TW_I64"})
      .Case("i32", {"int32_t", "TW_I32"})
      .Case("i16", {"int16_t", "TW_I16"})
      .Case("i8", {"int8_t", "TW_I8"})
      .Case("i4", {"uint8_t", "TW_I4"})
      .Case("i2", {"uint8_t", "TW_I2"})
      .Case("i1", {"uint8_t", "TW_I1"})
      .Default({"int64_t", "TW_INDEX"});
}

/// "f32[? x 784]", "i64".
static std::string describe(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return getDTypeName(type).str();
  std::string text = (getDTypeName(shaped.getElementType()) + "[").str();
  for (auto [d, size] : llvm::enumerate(shaped.getShape()))
    text += (d ? " x " : "") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + "]";
}

/// "main(x: f32[? x 784], input1 %0: i64) -> result0: f32[? x 10]"
std::string HeaderWriter::signatureOf(const HostFunction &function) const {
  std::string text = function.name + "(";
  auto names = program.names->find(function.name);
  for (auto [i, type] : llvm::enumerate(function.type.getInputs())) {
    text += (i ? ", " : "") + inputs[i];
    if (names != program.names->end() && i < names->second.size() &&
        !names->second[i].empty() && names->second[i] != inputs[i])
      text += " %" + names->second[i];
    text += ": " + describe(type);
  }
  text += ")";
  for (auto [i, type] : llvm::enumerate(function.type.getResults()))
    text += llvm::formatv("{0}result{1}: {2}", i ? ", " : " -> ", i,
                          describe(type));
  return text;
}

void HeaderWriter::writeIntroduction() {
  std::string guard = StringRef(prefix.upper() + "_TILEWRIGHT_H").str();
  os << "/* Written by tilewright-compile --emit=header; do not edit.\n *\n"
        " * The functions of a program for C and C++, over the runtime's C "
        "API.\n * Tensors are views on the program's device; "
     << prefix
     << "_FUNCTION_ARGUMENT makes one\n * of host memory, _resultN_read brings "
        "one back. f16, bf16 and f8 are their bits.\n * Statuses are null or "
        "belong to the caller, as everywhere in tilewright.h.\n */\n"
        "#ifndef "
     << guard << "\n#define " << guard
     << "\n\n#include \"tilewright/tilewright.h\"\n\n#include <string.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* The artifact, from the object that --emit=object writes. */\n"
        "extern const unsigned char "
     << prefix << "_artifact[];\nextern const uint64_t " << prefix
     << "_artifact_size;\n\n"
        "/* Loads the linked-in program for a device. */\n"
        "static inline tilewright_status *"
     << prefix
     << "_load(tilewright_device *device,\n"
        "    tilewright_program **program) {\n"
        "  return tilewright_program_load(device, "
     << prefix << "_artifact, (size_t)" << prefix
     << "_artifact_size,\n      NULL, program);\n}\n";
}

void HeaderWriter::writeInput(const HostFunction &function, size_t number) {
  auto type = cast<ShapedType>(function.type.getInput(number));
  CType element = getCType(type.getElementType());
  os << llvm::formatv(
      "\n/* {0} of {1}, {2}: copied from host memory when this returns. "
      "*/\nstatic inline tilewright_status *{3}_{0}(\n"
      "    tilewright_device *device, tilewright_stream *stream, const {4} "
      "*data,\n    ",
      inputs[number], function.name, describe(type), nameOf(function), element.name);
  std::string dims;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    bool dynamic = ShapedType::isDynamic(size);
    dims += (d ? ", " : "") +
            (dynamic ? "dim" + std::to_string(d) : std::to_string(size));
    if (dynamic)
      os << "int64_t dim" << d << ", ";
  }
  os << "tilewright_view **view) {\n  const int64_t dims[] = {"
     << (type.getRank() ? dims : "0")
     << "};\n  tilewright_view *made = NULL;\n"
     << llvm::formatv(
            "  tilewright_status *status =\n      "
            "tilewright_view_allocate(device, {0}, {1}, dims, &made);\n",
            element.dtype, type.getRank())
     << "  if (!status)\n    status = tilewright_view_write(made, stream, data, "
        "tilewright_view_size(made));\n"
        "  if (status)\n    tilewright_view_release(made);\n"
        "  else\n    *view = made;\n  return status;\n}\n";
}

void HeaderWriter::writeRead(const HostFunction &function, const Twine &value,
                             ShapedType type) {
  CType element = getCType(type.getElementType());
  os << llvm::formatv(
      "\n/* The `count` {5} of {0} of {1}, {2}: waits for the stream. "
      "*/\nstatic inline tilewright_status *{3}_{0}_read(\n"
      "    tilewright_view *view, tilewright_stream *stream, {4} *data, size_t "
      "count) {{\n"
      "  tilewright_status *status =\n"
      "      tilewright_view_read(view, stream, count * sizeof *data, data);\n"
      "  return status ? status\n"
      "                : tilewright_stream_synchronize(stream, "
      "TILEWRIGHT_FOREVER);\n}\n",
      value.str(), function.name, describe(type), nameOf(function),
      element.name,
      element.dtype == "TW_I4" ? "bytes, of two elements each," : "elements");
}

void HeaderWriter::writeCall(const HostFunction &function) {
  ArrayRef<Type> types = function.type.getInputs(),
                 results = function.type.getResults();
  os << "\n/* " << signatureOf(function)
     << "\n * Asynchronous; with stream NULL it waits. Views in results belong "
        "to the caller. */\nstatic inline tilewright_status *"
     << nameOf(function)
     << "(\n    tilewright_program *program, tilewright_stream *stream";
  for (auto [i, type] : llvm::enumerate(types))
    os << ",\n    "
       << (isa<ShapedType>(type) ? "tilewright_view *"
                                 : (getCType(type).name + " ").str())
       << inputs[i];
  for (auto [i, type] : llvm::enumerate(results))
    os << ",\n    "
       << (isa<ShapedType>(type) ? "tilewright_view **"
                                 : (getCType(type).name + " *").str())
       << "result" << i;
  os << ") {\n";
  os << llvm::formatv("  tilewright_value args[{0}], results[{1}];\n"
                      "  size_t function;\n"
                      "  tilewright_status *status;\n"
                      "  memset(args, 0, sizeof args);\n"
                      "  memset(results, 0, sizeof results);\n",
                      std::max<size_t>(1, types.size()),
                      std::max<size_t>(1, results.size()));
  for (auto [i, type] : llvm::enumerate(types)) {
    StringRef kind = isa<BaseMemRefType>(type) ? "BUFFER"
                     : isa<ShapedType>(type)   ? "TENSOR"
                                               : "SCALAR";
    os << llvm::formatv("  args[{0}].kind = TILEWRIGHT_{1};\n", i, kind);
    if (isa<ShapedType>(type))
      os << llvm::formatv("  args[{0}].view = {1};\n", i, inputs[i]);
    else if (isa<FloatType>(type))
      os << llvm::formatv(
          "  memcpy(&args[{0}].bits, &{1}, sizeof {1});\n", i, inputs[i]);
    else
      os << llvm::formatv("  args[{0}].bits = (uint64_t)(int64_t){1};\n", i,
                          inputs[i]);
  }
  os << llvm::formatv(
      "  status = tilewright_program_function_find(program, \"{0}\", "
      "&function);\n  if (!status)\n    status = "
      "tilewright_program_call(program, function, stream, {1}, args, {2},\n"
      "        results);\n  if (status)\n    return status;\n",
      function.name, types.size(), results.size());
  for (auto [i, type] : llvm::enumerate(results)) {
    if (isa<ShapedType>(type))
      os << llvm::formatv("  *result{0} = results[{0}].view;\n", i);
    else if (isa<FloatType>(type))
      os << llvm::formatv(
          "  memcpy(result{0}, &results[{0}].bits, sizeof *result{0});\n", i);
    else
      os << llvm::formatv("  *result{0} = ({1})results[{0}].bits;\n", i,
                          getCType(type).name);
  }
  os << "  return NULL;\n}\n";
}

std::string HeaderWriter::write() {
  writeIntroduction();
  for (const HostFunction &function : program.host.functions) {
    inputs = inputNames(function);
    for (auto [i, type] : llvm::enumerate(function.type.getInputs()))
      if (isa<ShapedType>(type))
        writeInput(function, i);
    writeCall(function);
    for (auto [i, type] : llvm::enumerate(function.type.getInputs()))
      if (auto memref = dyn_cast<MemRefType>(type))
        writeRead(function, inputs[i], memref);
    for (auto [i, type] : llvm::enumerate(function.type.getResults()))
      if (auto shaped = dyn_cast<ShapedType>(type))
        writeRead(function, "result" + Twine(i), shaped);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return std::move(text);
}

FailureOr<std::string> tilewright::buildHeader(Location loc, StringRef prefix,
                                               const CompiledProgram &program) {
  // Two names of the source may become one of C.
  llvm::StringMap<StringRef> names;
  for (const HostFunction &function : program.host.functions) {
    auto [other, isNew] =
        names.try_emplace(asCName(function.name), function.name);
    if (!isNew)
      return emitError(loc) << "functions '" << other->second << "' and '"
                            << function.name
                            << "' get the same C name; rename one";
  }
  return HeaderWriter(prefix, program).write();
}
