# Generates the code of the interface: messages, stubs, and the table of the methods with one request.
find_program(CLEARANCE_PROTOC protoc REQUIRED)
find_program(CLEARANCE_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

# Generates from all files of a folder into another one; the sources are CLEARANCE_GENERATED_SOURCES.
function(clearance_generate proto_dir out_dir)
    file(GLOB files CONFIGURE_DEPENDS "${proto_dir}/clearance/v1/*.proto")
    if(NOT files)
        message(FATAL_ERROR "no clearance/v1/*.proto in ${proto_dir}: set CLEARANCE_PROTO_DIR")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    foreach(file IN LISTS files)
        get_filename_component(name "${file}" NAME_WE)
        set(stem "${out_dir}/clearance/v1/${name}")
        set(made "${stem}.pb.cc" "${stem}.pb.h")
        set(stubs)
        file(STRINGS "${file}" services REGEX "^service ")
        if(services)
            list(APPEND made "${stem}.grpc.pb.cc" "${stem}.grpc.pb.h")
            set(stubs "--grpc_out=${out_dir}" "--plugin=protoc-gen-grpc=${CLEARANCE_GRPC_PLUGIN}")
        endif()
        add_custom_command(OUTPUT ${made}
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${out_dir}"
            COMMAND "${CLEARANCE_PROTOC}" -I "${proto_dir}" "--cpp_out=${out_dir}" ${stubs} "${file}"
            DEPENDS ${files} VERBATIM)
        list(APPEND sources ${made})
    endforeach()
    clearance_table("${files}" "${out_dir}/clearance/methods.hpp")
    set(CLEARANCE_GENERATED_SOURCES ${sources} PARENT_SCOPE)
endfunction()

# Writes the table of methods: for each request the stub, the method and the answer.
function(clearance_table files table)
    set(includes)
    set(stubs)
    set(rows)
    foreach(file IN LISTS files)
        get_filename_component(name "${file}" NAME_WE)
        file(STRINGS "${file}" lines REGEX "^(service |  rpc )")
        foreach(line IN LISTS lines)
            if(line MATCHES "^service ([A-Za-z]+)")
                set(stub "v1::${CMAKE_MATCH_1}::Stub")
                string(APPEND includes "#include \"clearance/v1/${name}.grpc.pb.h\"\n")
                list(APPEND stubs "std::unique_ptr<${stub}>")
            elseif(line MATCHES "rpc ([A-Za-z]+)\\(([A-Za-z]+)\\) returns \\((stream )?([A-Za-z]+)\\)")
                set(kind "Unary")
                if(CMAKE_MATCH_3)
                    set(kind "ServerStreaming")
                endif()
                string(APPEND rows "template <>\nstruct ${kind}<v1::${CMAKE_MATCH_2}> {\n"
                    "    using Stub = ${stub};\n    using Answer = v1::${CMAKE_MATCH_4};\n"
                    "    static constexpr auto method = &Stub::${CMAKE_MATCH_1};\n};\n")
            endif()
        endforeach()
    endforeach()
    list(JOIN stubs ",\n                         " stubs)
    file(CONFIGURE OUTPUT "${table}" @ONLY CONTENT [[
// Generated from the interface: which method takes a request, and what it answers.
#pragma once

#include <memory>
#include <tuple>

@includes@
namespace clearance {

// One stub for each service.
using Stubs = std::tuple<@stubs@>;

// The method that takes this request and has one answer.
template <class Request>
struct Unary;

// The method that takes this request and has a stream of answers.
template <class Request>
struct ServerStreaming;

@rows@
}  // namespace clearance
]])
endfunction()
