// A client: every method with one request, what it has registered, and sessions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearance/connection.hpp"
#include "clearance/registration.hpp"

namespace clearance {

class Known;
class Session;

// The answers to one request, one after the other. One thread reads it; `cancel` may come from another.
template <class Answer>
class Answers {
public:
    // The next answer; nothing: there are no more. Throws `Error`; nothing is tried again.
    std::optional<Answer> next() {
        Answer answer;
        if (reader_ && reader_->Read(&answer)) return answer;
        if (!reader_) return std::nullopt;
        const grpc::Status status = reader_->Finish();
        reader_.reset();
        if (status.ok()) return std::nullopt;
        const Error error(status);
        if (error.is_lost()) connections_->move_on(*connection_);
        throw error;
    }

    // Ends it; `next` then throws CANCELLED.
    void cancel() { context_->TryCancel(); }

    Answers(Answers&&) = default;
    Answers& operator=(Answers&&) = delete;
    ~Answers() {
        if (!reader_) return;
        context_->TryCancel();
        Answer rest;
        while (reader_->Read(&rest)) {
        }
        reader_->Finish();
    }

private:
    friend class Client;
    Answers(std::shared_ptr<Connections> connections) : connections_(std::move(connections)) {}

    std::shared_ptr<Connections> connections_;
    std::shared_ptr<const Connection> connection_ = connections_->current();
    std::unique_ptr<grpc::ClientContext> context_ = std::make_unique<grpc::ClientContext>();
    std::unique_ptr<grpc::ClientReader<Answer>> reader_;
};

// A server, or several that stand in for one another. Cheap to copy; copies share it, and so may threads.
class Client {
public:
    // Calls the server at an address; of several, with commas between, the first, and where one stops, the next. How an
    // address is written `Connections` says.
    explicit Client(std::string_view addresses, ConnectOptions options = {});

    // Calls the method that takes this request, and again where that helps. (Throws `Error`.)
    template <class Request>
    typename Unary<Request>::Answer call(const Request& request, CallOptions options = {}) const {
        using Row = Unary<Request>;
        typename Row::Answer answer;
        const auto ask = [&](const Connection& connection, grpc::ClientContext& context) {
            auto& stub = *std::get<std::unique_ptr<typename Row::Stub>>(connection.stubs);
            return (stub.*Row::method)(&context, request, &answer);
        };
        connections_->retried(ask, session_of(request), options);
        return answer;
    }

    // Calls the method that takes this request and answers by a stream.
    template <class Request>
    Answers<typename ServerStreaming<Request>::Answer> stream(const Request& request) const {
        using Row = ServerStreaming<Request>;
        Answers<typename Row::Answer> answers(connections_);
        connections_->prepare(*answers.context_, session_of(request));
        auto& stub = *std::get<std::unique_ptr<typename Row::Stub>>(answers.connection_->stubs);
        answers.reader_ = (stub.*Row::method)(answers.context_.get(), request);
        return answers;
    }

    // Registers bodies, in several messages if they are many; those of a message all, or none on an error. And again
    // wherever a session is opened anew on a server without them.
    std::vector<Registered> register_bodies(const std::vector<v1::PolytopeSpec>& specs) const;
    // Registers one.
    Registered register_body(const v1::PolytopeSpec& spec) const;
    // Registers a robot, likewise.
    v1::Robot register_robot(const v1::RegisterRobotRequest& request) const;
    // Registers again what this client has registered, for a server that has forgotten it, or has never known it.
    void register_again() const;

    // Opens a session with its scene, which outlives connections and servers.
    Session open(v1::OpenSessionRequest request) const;

    // Addresses and the connection in use, for methods that take streams: `current()->channel` and `prepare`.
    const std::shared_ptr<Connections>& connections() const { return connections_; }

private:
    std::shared_ptr<Connections> connections_;
    std::shared_ptr<Known> known_;
};

}  // namespace clearance
