# Makes the targets that our code links: halftone::protobuf_lite, halftone::onnx, halftone::hwy, and for tests
# halftone::json and halftone::catch2. Each is the system's where that is suitable, else built into the cache.

include("${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake")

if(EMSCRIPTEN)
  set(halftone_platform wasm)
else()
  set(halftone_platform native)
endif()

# Static libraries that are installed beside our own, since ours can't be linked without them.
set(HALFTONE_BUNDLED_LIBRARIES "")

function(halftone_import_static target library include)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${include}")
endfunction()

# --- protoc, which runs on this machine whatever we build for: its version must be the runtime's.
function(halftone_find_protoc result)
  halftone_dependency_facts(protobuf)
  if(HALFTONE_SYSTEM_DEPENDENCIES)
    find_program(HALFTONE_SYSTEM_PROTOC protoc NO_CMAKE_FIND_ROOT_PATH)
    mark_as_advanced(HALFTONE_SYSTEM_PROTOC)
    if(HALFTONE_SYSTEM_PROTOC)
      execute_process(COMMAND "${HALFTONE_SYSTEM_PROTOC}" --version OUTPUT_VARIABLE found)
      string(REGEX MATCH "[0-9.]+" found "${found}")
      if(found VERSION_EQUAL VERSION)
        set(${result} "${HALFTONE_SYSTEM_PROTOC}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endif()
  halftone_provide(protoc native prefix -Dprotobuf_BUILD_TESTS=OFF)
  set(${result} "${prefix}/bin/protoc" PARENT_SCOPE)
endfunction()

# --- protobuf-lite
function(halftone_find_system_protobuf)
  if(EMSCRIPTEN OR NOT HALFTONE_SYSTEM_DEPENDENCIES)
    return()
  endif()
  halftone_dependency_facts(protobuf)
  find_package(Protobuf QUIET)
  if(Protobuf_FOUND AND TARGET protobuf::libprotobuf-lite AND Protobuf_VERSION VERSION_EQUAL VERSION)
    set(HALFTONE_PROTOBUF_FROM_SYSTEM ON PARENT_SCOPE)
    list(GET Protobuf_INCLUDE_DIRS 0 include)
    set(halftone_protobuf_include "${include}" PARENT_SCOPE)
    add_library(halftone::protobuf_lite INTERFACE IMPORTED GLOBAL)
    target_link_libraries(halftone::protobuf_lite INTERFACE protobuf::libprotobuf-lite)
  endif()
endfunction()

set(HALFTONE_PROTOBUF_FROM_SYSTEM OFF)
halftone_find_system_protobuf()
if(NOT HALFTONE_PROTOBUF_FROM_SYSTEM)
  halftone_provide(protobuf ${halftone_platform} halftone_protobuf_prefix)
  set(halftone_protobuf_include "${halftone_protobuf_prefix}/include")
  halftone_import_static(halftone::protobuf_lite
    "${halftone_protobuf_prefix}/lib/libprotobuf-lite.a" "${halftone_protobuf_include}")
  list(APPEND HALFTONE_BUNDLED_LIBRARIES "${halftone_protobuf_prefix}/lib/libprotobuf-lite.a")
endif()
if(NOT EMSCRIPTEN)
  find_package(Threads REQUIRED)
  target_link_libraries(halftone::protobuf_lite INTERFACE Threads::Threads)
endif()

# --- ONNX. Never the system's: distributions build it on the full protobuf and with schemas registered before main,
# which src/model relies on not happening.
halftone_find_protoc(halftone_protoc)
halftone_provide(onnx ${halftone_platform} halftone_onnx_prefix
  "-DHALFTONE_PROTOC=${halftone_protoc}" "-DHALFTONE_PROTOBUF_INCLUDE=${halftone_protobuf_include}")
halftone_import_static(halftone::onnx "${halftone_onnx_prefix}/lib/libonnx.a" "${halftone_onnx_prefix}/include")
target_compile_definitions(halftone::onnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1 __ONNX_DISABLE_STATIC_REGISTRATION)
target_link_libraries(halftone::onnx INTERFACE halftone::protobuf_lite)
list(APPEND HALFTONE_BUNDLED_LIBRARIES "${halftone_onnx_prefix}/lib/libonnx.a")

# --- Highway
set(HALFTONE_HWY_FROM_SYSTEM OFF)
if(HALFTONE_SYSTEM_DEPENDENCIES AND NOT EMSCRIPTEN)
  halftone_dependency_facts(highway)
  find_package(hwy ${VERSION} QUIET CONFIG)
  set(HALFTONE_HWY_FROM_SYSTEM ${hwy_FOUND})
endif()
if(HALFTONE_HWY_FROM_SYSTEM)
  add_library(halftone::hwy INTERFACE IMPORTED GLOBAL)
  target_link_libraries(halftone::hwy INTERFACE hwy::hwy)
else()
  halftone_provide(highway ${halftone_platform} halftone_hwy_prefix)
  halftone_import_static(halftone::hwy "${halftone_hwy_prefix}/lib/libhwy.a" "${halftone_hwy_prefix}/include")
  target_compile_definitions(halftone::hwy INTERFACE HWY_STATIC_DEFINE)
  list(APPEND HALFTONE_BUNDLED_LIBRARIES "${halftone_hwy_prefix}/lib/libhwy.a")
endif()

# --- nlohmann-json, headers only
if(HALFTONE_SYSTEM_DEPENDENCIES AND NOT EMSCRIPTEN)
  find_package(nlohmann_json 3.11 QUIET CONFIG)
endif()
add_library(halftone::json INTERFACE IMPORTED GLOBAL)
if(TARGET nlohmann_json::nlohmann_json)
  target_link_libraries(halftone::json INTERFACE nlohmann_json::nlohmann_json)
else()
  # Headers only: the same folder serves every platform.
  halftone_provide(nlohmann_json native halftone_json_prefix -DJSON_BuildTests=OFF)
  target_include_directories(halftone::json INTERFACE "${halftone_json_prefix}/include")
endif()

# --- Catch2
if(HALFTONE_BUILD_TESTS)
  if(HALFTONE_SYSTEM_DEPENDENCIES AND NOT EMSCRIPTEN)
    halftone_dependency_facts(catch2)
    find_package(Catch2 ${VERSION} QUIET CONFIG)
  endif()
  add_library(halftone::catch2 INTERFACE IMPORTED GLOBAL)
  if(TARGET Catch2::Catch2WithMain)
    target_link_libraries(halftone::catch2 INTERFACE Catch2::Catch2WithMain)
  else()
    # One translation unit instead of a hundred, as in upstream's amalgamated file.
    halftone_provide(catch2 ${halftone_platform} halftone_catch2_prefix
      -DCATCH_INSTALL_DOCS=OFF -DCATCH_INSTALL_EXTRAS=OFF -DCATCH_DEVELOPMENT_BUILD=OFF -DBUILD_TESTING=OFF
      -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=40 -DCMAKE_CXX_STANDARD=20)
    target_include_directories(halftone::catch2 INTERFACE "${halftone_catch2_prefix}/include")
    target_link_libraries(halftone::catch2 INTERFACE
      "${halftone_catch2_prefix}/lib/libCatch2Main.a" "${halftone_catch2_prefix}/lib/libCatch2.a")
  endif()
endif()
