// Errors with what the server says beside its words: the reason, the field, and when to try again.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include <grpcpp/support/status.h>

#include "clearance/v1/status.pb.h"

namespace clearance {

// A call that failed. Its text has the code, the server's words and the field.
class Error : public std::runtime_error {
public:
    // Of the status of a call, with the `google.rpc` details that it carries.
    explicit Error(const grpc::Status& status);
    // Of this side, without details.
    Error(grpc::StatusCode code, const std::string& message);

    grpc::StatusCode code() const { return code_; }
    // The reason for programs; UNSPECIFIED where the server was not reached, or has a newer one.
    v1::ErrorReason reason() const { return reason_; }
    // The reason as the server writes it, as `BAD_FIELD`, or nothing.
    const std::string& reason_name() const { return reason_name_; }
    // The path of the field that is wrong, as `frames[3].poses[1].rotation`, or nothing.
    const std::string& field() const { return field_; }
    // What the reason comes with: ids, limits, counts.
    const std::map<std::string, std::string>& info() const { return info_; }
    // After so long the same call may be answered; nothing: that does not help.
    std::optional<std::chrono::milliseconds> retry_after() const { return retry_after_; }
    // Whether there is no connection, or none that is of use for long.
    bool is_lost() const { return is_lost_; }

protected:
    // Of this side, with a reason.
    Error(grpc::StatusCode code, v1::ErrorReason reason, const std::string& message);

private:
    struct Told;
    Error(const grpc::Status& status, Told told);

    grpc::StatusCode code_;
    v1::ErrorReason reason_ = v1::ERROR_REASON_UNSPECIFIED;
    std::string reason_name_;
    std::string field_;
    std::map<std::string, std::string> info_;
    std::optional<std::chrono::milliseconds> retry_after_;
    bool is_lost_ = false;
};

// Another stream took the session over. `Session::take_back` goes on with it.
class TakenOver : public Error {
public:
    TakenOver();
};

// The server answered something else than what was asked for.
class ProtocolError : public Error {
public:
    explicit ProtocolError(const std::string& message);
};

}  // namespace clearance
