# What a page doesn't need of ONNX, taken out of the extracted `source` before it is built for WASM (Dependencies.cmake
# includes this). Nobody sees the texts of the schemas there, and code that runs once, when the first model is opened,
# is worth its size rather than its speed. What schemas, shape inference, checker and version converter accept, infer
# and say stays as it is: the same tests pass with the native build, which is not edited.
#
# Every edit says how often its text is there and fails where that isn't so: another release of ONNX is to be looked at.

# onnx_edit(FILE TIMES REGEX REPLACEMENT)
function(onnx_edit file times regex replacement)
  file(READ "${source}/onnx/${file}" text)
  string(ASCII 1 mark)
  string(REGEX REPLACE "${regex}" "${mark}" marks "${text}")
  string(REGEX REPLACE "[^${mark}]" "" marks "${marks}")
  string(LENGTH "${marks}" found)
  if(NOT found EQUAL times)
    message(FATAL_ERROR "onnx/${file} has this ${found} times, not ${times}:\n${regex}\n"
                        "cmake/dependencies/onnx/wasm.cmake was written for another release of ONNX.")
  endif()
  string(REGEX REPLACE "${regex}" "${replacement}" text "${text}")
  file(WRITE "${source}/onnx/${file}" "${text}")
endfunction()

# --- Texts. Upstream's own switch drops those of operators. Those of inputs, outputs, attributes and type constraints
# are handed to functions of another file, so the compiler has to keep them; an empty parameter lets it drop them.
set(description "(const char\\* |const std::string& |std::string )description([,)])")
onnx_edit(defs/schema.h 14 "${description}" "ForgottenText description\\2")
onnx_edit(defs/schema.cc 13 "${description}" "ForgottenText description\\2")
onnx_edit(defs/schema.h 1 "\nnamespace ONNX_NAMESPACE {\n" "
#define __ONNX_NO_DOC_STRINGS

namespace ONNX_NAMESPACE {

struct ForgottenText {
  ForgottenText(const char*) {}
  ForgottenText(const std::string&) {}
  operator std::string() const { return {}; }
};
")

# --- Builders of function bodies, which only an inliner of nodes calls. Bodies that are written out stay: shapes are
# inferred through the one of MeanVarianceNormalization.
onnx_edit(defs/schema.h 1 "  OpSchema& SetContextDependentFunctionBodyBuilder\\(\n" "
  template <typename Builder>
  OpSchema& SetContextDependentFunctionBodyBuilder(Builder&&, int = kUninitializedSinceVersion) { return *this; }
\\0")

# --- What the definition of every schema repeats: its end, which also copies the schema, and a std::function of a type
# of its own for each inference function, although most are plain functions.
set(named "\\.SetName\\(#name\\)\\.SetDomain\\(domain_str\\)\\.SinceVersion\\(ver\\)")
onnx_edit(defs/schema.h 1 "return impl${named}\\.SetLocation\\(__FILE__, __LINE__\\);"
  "return impl.Finish(#name, domain_str, ver);")
onnx_edit(defs/schema.h 1 "  OpSchema& TypeAndShapeInferenceFunction\\(InferenceFunction inferenceFunction\\);\n" "\\0
  [[gnu::noinline]] OpSchema&& Finish(const char* name, const char* domain, int version) {
    return std::move(SetName(name).SetDomain(domain).SinceVersion(version));
  }

  using PlainInference = void (*)(InferenceContext&);
  [[gnu::noinline]] OpSchema& InferBy(PlainInference function) {
    return TypeAndShapeInferenceFunction(InferenceFunction(function));
  }
  template <typename Plain>
  std::enable_if_t<std::is_convertible_v<Plain, PlainInference>, OpSchema&>
  TypeAndShapeInferenceFunction(Plain function) {
    return InferBy(function);
  }

  using PlainPropagation = void (*)(DataPropagationContext&);
  [[gnu::noinline]] OpSchema& PropagateBy(PlainPropagation function) {
    return PartialDataPropagationFunction(DataPropagationFunction(function));
  }
  template <typename Plain>
  std::enable_if_t<std::is_convertible_v<Plain, PlainPropagation>, OpSchema&>
  PartialDataPropagationFunction(Plain function) {
    return PropagateBy(function);
  }
")

# --- Registration of the schemas: the code for one of them isn't repeated for each.
function(onnx_edit_operator_set file versions schemas)
  onnx_edit(${file} ${versions} "std::function<void\\(OpSchema&&\\)>" "const SchemaRegistrar&")
  onnx_edit(${file} ${schemas} "fn\\((GetOpSchema<[^;]+>)\\(\\)\\);" "fn(\\1);")
endfunction()
onnx_edit_operator_set(defs/operator_sets.h 22 542)
onnx_edit_operator_set(defs/operator_sets_ml.h 5 25)
onnx_edit_operator_set(defs/operator_sets_preview.h 1 4)
onnx_edit_operator_set(defs/operator_sets_training.h 1 0)
onnx_edit(defs/schema.h 1 "// Registers the latest opset schema before opset_version_to_load\n" "
struct SchemaRegistrar {
  int opset_version_to_load;
  bool fail_duplicate_schema;
  [[gnu::noinline]] void operator()(OpSchema (*schema)()) const {
    RegisterSchema(schema(), opset_version_to_load, fail_duplicate_schema);
  }
};

\\0")
onnx_edit(defs/schema.h 1
  "T::ForEachSchema\\(\\[opset_version_to_load, fail_duplicate_schema\\]\\(OpSchema&& schema\\) {\n[^}]*}\\);"
  "T::ForEachSchema(SchemaRegistrar{opset_version_to_load, fail_duplicate_schema});")

# --- The same for the adapters of the version converter.
set(new_adapter "registerAdapter\\([ \n]*std::make_unique<([A-Za-z]+)>\\([ \n]*")
set(adapted "(\"[A-Za-z0-9]+\"), OpSetID\\(([0-9]+)\\), OpSetID\\(([0-9]+)\\)")
onnx_edit(version_converter/convert.h 419 "${new_adapter}${adapted}" "(registerNew<\\1>(\\2, \\3, \\4")
onnx_edit(version_converter/BaseConverter.h 1 ", NodeTransformerFunction transformer\\)"
  ", const NodeTransformerFunction& transformer)")
onnx_edit(version_converter/BaseConverter.h 1 "  void registerAdapter\\(const char\\* op" "
  template <typename Kind, typename... Options>
  [[gnu::noinline]] void registerNew(const char* op, int from, int to, const Options&... options) {
    registerAdapter(std::make_unique<Kind>(op, OpSetID(from), OpSetID(to), options...));
  }

  [[gnu::noinline]]
\\0")
