#include "clearance/error.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <google/protobuf/unknown_field_set.h>

namespace clearance {

// What the details of a status say.
struct Error::Told {
    std::string text;
    std::string reason;
    std::string field;
    std::map<std::string, std::string> info;
    std::optional<std::chrono::milliseconds> retry_after;
};

namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// The domain of the reasons of this API.
constexpr std::string_view DOMAIN = "clearance.v1";

// What the names of reasons begin with in the interface, and not in details.
constexpr std::string_view REASON = "ERROR_REASON_";

// The names of codes, in the order of their numbers.
constexpr std::array CODES = {
    "OK",           "CANCELLED",           "UNKNOWN",          "INVALID_ARGUMENT",    "DEADLINE_EXCEEDED",
    "NOT_FOUND",    "ALREADY_EXISTS",      "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",      "OUT_OF_RANGE",        "UNIMPLEMENTED",    "INTERNAL",            "UNAVAILABLE",
    "DATA_LOSS",    "UNAUTHENTICATED",
};

// The fields of a message. The types of `google.rpc` are read without their descriptors, which a program may have from
// elsewhere, and of which it may have one set only.
struct Fields : UnknownFieldSet {
    explicit Fields(const std::string& bytes) {
        if (!ParseFromString(bytes)) Clear();
    }
};

// Every text or message among these fields that has this number.
template <class Visit>
void each(const UnknownFieldSet& set, int number, Visit visit) {
    for (int at = 0; at < set.field_count(); at++) {
        const UnknownField& field = set.field(at);
        if (field.number() == number && field.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
            visit(field.length_delimited());
        }
    }
}

// The first text of this number, or nothing.
std::string text(const UnknownFieldSet& set, int number) {
    std::string found;
    each(set, number, [&](const std::string& one) {
        if (found.empty()) found = one;
    });
    return found;
}

// A google.protobuf.Duration.
std::chrono::milliseconds duration(const std::string& bytes) {
    std::chrono::nanoseconds sum{0};
    const Fields set(bytes);
    for (int at = 0; at < set.field_count(); at++) {
        const UnknownField& field = set.field(at);
        if (field.type() != UnknownField::TYPE_VARINT) continue;
        const auto value = static_cast<std::int64_t>(field.varint());
        if (field.number() == 1) sum += std::chrono::seconds(value);
        if (field.number() == 2) sum += std::chrono::nanoseconds(value);
    }
    return std::chrono::ceil<std::chrono::milliseconds>(sum);
}

// Whether the connection broke under a call. gRPC then makes a status of its own, and not always UNAVAILABLE.
bool is_broken(const grpc::Status& status) {
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) return true;
    if (!status.error_details().empty()) return false;
    const std::string words = status.error_message();
    const auto says = [&](std::string_view part) { return words.find(part) != std::string::npos; };
    return says("RST_STREAM") || says("Stream removed") || says("Socket closed") || says("Connection reset");
}

// The words of an error.
std::string words(grpc::StatusCode code, const std::string& message, const std::string& field) {
    const auto at = static_cast<std::size_t>(code);
    std::string said = at < CODES.size() ? CODES[at] : "code " + std::to_string(at);
    said += ": " + message;
    if (!field.empty() && message.find(field) == std::string::npos) said += " (" + field + ")";
    return said;
}

}  // namespace

Error::Error(const grpc::Status& status) : Error(status, [&] {
    Told told;
    // google.rpc.Status: a list of google.protobuf.Any at 3.
    each(Fields(status.error_details()), 3, [&](const std::string& any) {
        const Fields entry(any);
        const std::string type = text(entry, 1);
        const Fields detail(text(entry, 2));
        if (type.ends_with("/google.rpc.ErrorInfo") && text(detail, 2) == DOMAIN) {
            told.reason = text(detail, 1);
            each(detail, 3, [&](const std::string& bytes) {
                const Fields pair(bytes);
                told.info[text(pair, 1)] = text(pair, 2);
            });
        } else if (type.ends_with("/google.rpc.BadRequest")) {
            each(detail, 1, [&](const std::string& violation) {
                if (told.field.empty()) told.field = text(Fields(violation), 1);
            });
        } else if (type.ends_with("/google.rpc.RetryInfo")) {
            told.retry_after = duration(text(detail, 1));
        }
    });
    told.text = words(status.error_code(), status.error_message(), told.field);
    return told;
}()) {}

Error::Error(const grpc::Status& status, Told told)
    : std::runtime_error(told.text),
      code_(status.error_code()),
      reason_name_(std::move(told.reason)),
      field_(std::move(told.field)),
      info_(std::move(told.info)),
      retry_after_(told.retry_after),
      is_lost_(is_broken(status)) {
    v1::ErrorReason_Parse(std::string(REASON) + reason_name_, &reason_);
}

Error::Error(grpc::StatusCode code, const std::string& message) : Error(grpc::Status(code, message)) {}

Error::Error(grpc::StatusCode code, v1::ErrorReason reason, const std::string& message) : Error(code, message) {
    reason_ = reason;
    reason_name_ = v1::ErrorReason_Name(reason).substr(REASON.size());
}

TakenOver::TakenOver()
    : Error(grpc::StatusCode::ABORTED, v1::ERROR_REASON_TAKEN_OVER, "another stream took the session over") {}

ProtocolError::ProtocolError(const std::string& message) : Error(grpc::StatusCode::INTERNAL, message) {}

}  // namespace clearance
