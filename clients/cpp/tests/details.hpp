// Statuses with the details of `google.rpc`, as servers make them.
#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/support/status.h>

namespace testing {

using google::protobuf::UnknownFieldSet;

// A message of texts by their numbers.
inline std::string texts(std::initializer_list<std::pair<int, std::string>> fields) {
    UnknownFieldSet set;
    for (const auto& [number, text] : fields) set.AddLengthDelimited(number, text);
    std::string bytes;
    set.SerializeToString(&bytes);
    return bytes;
}

inline std::string duration(std::uint64_t seconds, std::uint64_t nanos) {
    UnknownFieldSet set;
    set.AddVarint(1, seconds);
    set.AddVarint(2, nanos);
    std::string bytes;
    set.SerializeToString(&bytes);
    return bytes;
}

inline std::string any(const std::string& type, const std::string& value) {
    return texts({{1, "type.googleapis.com/google.rpc." + type}, {2, value}});
}

// A status with these details, each an `any`.
inline grpc::Status status(grpc::StatusCode code, const std::string& words, std::initializer_list<std::string> details) {
    UnknownFieldSet set;
    set.AddVarint(1, static_cast<std::uint64_t>(code));
    for (const std::string& detail : details) set.AddLengthDelimited(3, detail);
    std::string bytes;
    set.SerializeToString(&bytes);
    return {code, words, bytes};
}

}  // namespace testing
