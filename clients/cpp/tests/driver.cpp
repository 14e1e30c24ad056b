// The driver of this client for the situations of tests/situations: a command a line, and an answer a line.

#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "clearance/clearance.hpp"
#include "driver_words.hpp"

namespace {

using clearance::Client;
using clearance::Error;
using clearance::Session;
namespace v1 = clearance::v1;

// A session that is followed on a thread of its own.
class Following {
public:
    explicit Following(clearance::Watch watch) : watch_(std::move(watch)), thread_([this] { run(); }) {}
    ~Following() {
        watch_.stop();
        thread_.join();
    }

    // What has come, once it has come to a frame, or to the end.
    Json until(std::uint64_t frame) {
        std::vector<Json> news;
        std::unique_lock lock(mutex_);
        for (bool is_there = false; !is_there;) {
            changed_.wait(lock, [&] { return !news_.empty() || has_ended_; });
            if (news_.empty()) break;
            is_there = news_.front().second >= frame;
            news.push_back(std::move(news_.front().first));
            news_.pop_front();
        }
        const bool has_ended = has_ended_ && news_.empty();
        Json answer = fine();
        put(answer, "news", json(std::move(news)));
        put(answer, "ended", json(has_ended));
        if (has_ended && error_) put(answer, "error", *error_);
        return answer;
    }

private:
    void run() {
        std::optional<Json> error;
        try {
            while (const auto told = watch_.next()) {
                const std::lock_guard lock(mutex_);
                if (told->has_state()) {
                    const std::uint64_t id = told->state().frame_id();
                    const auto lost = static_cast<double>(told->lost_frames());
                    news_.emplace_back(json({json("state"), digits(id), json(lost)}), id);
                }
                if (told->has_frame()) {
                    const std::uint64_t id = told->frame().frame_id();
                    news_.emplace_back(json({json("frame"), digits(id), events_of(told->frame().events())}), id);
                }
                changed_.notify_all();
            }
        } catch (const Error& thrown) {
            error = error_of(thrown);
        }
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        error_ = error;
        changed_.notify_all();
    }

    clearance::Watch watch_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::pair<Json, std::uint64_t>> news_;
    bool has_ended_ = false;
    std::optional<Json> error_;
    std::thread thread_;
};

// Clients, sessions and watches by the names that the judge gives them.
class Driver {
public:
    Json obey(Command& command) {
        const std::string what = command.text("do");
        const auto found = DEEDS.find(what);
        if (found == DEEDS.end()) throw std::runtime_error("a command that this driver does not know: " + what);
        return (this->*found->second)(command);
    }

private:
    using Deed = Json (Driver::*)(Command&);
    static const std::map<std::string, Deed> DEEDS;

    Json connect(Command& command) {
        std::string addresses;
        for (const std::string& address : texts_of(command.value("addresses"))) addresses += address + ",";
        clearance::ConnectOptions options;
        options.key = command.text_or("key", "");
        options.retry.attempts_max = static_cast<unsigned>(command.number_or("attempts", options.retry.attempts_max));
        const std::string name = command.text("client");
        command.end();
        clients_.insert_or_assign(name, Client(addresses, options));
        return fine();
    }

    Json register_shape(Command& command) {
        const Client& client = clients_.at(command.text("client"));
        const std::string shape = command.text("shape");
        const auto spec = spec_of(command);
        command.end();
        shapes_[shape] = client.register_body(spec).id;
        Json answer = fine();
        put(answer, "id", json(shapes_[shape]));
        return answer;
    }

    Json open(Command& command) {
        const Client& client = clients_.at(command.text("client"));
        const std::string name = command.text("session");
        const auto request = opening_of(shapes_, command);
        command.end();
        Session session = client.open(request);
        Json answer = answer_of(session.opened().report());
        put(answer, "session_id", json(session.id()));
        put(answer, "incarnation", digits(session.incarnation()));
        sessions_.insert_or_assign(name, std::move(session));
        return answer;
    }

    Json frame(Command& command) {
        Session& session = sessions_.at(command.text("session"));
        const auto frame = frame_of(shapes_, command);
        command.end();
        return answer_of(session.step(frame));
    }

    Json state(Command& command) {
        const Session& session = sessions_.at(command.text("session"));
        command.end();
        return state_of(session.state());
    }

    Json take_back(Command& command) {
        Session& session = sessions_.at(command.text("session"));
        command.end();
        session.take_back();
        return fine();
    }

    Json ask(Command& command) {
        const Client& client = clients_.at(command.text("client"));
        const std::string question = command.text("question");
        const auto p = placed_of(shapes_, command.value("p"));
        const auto q = placed_of(shapes_, command.value("q"));
        const auto deadline = static_cast<int>(command.number_or("deadline_ms", 0));
        const auto given_up = static_cast<int>(command.number_or("cancel_ms", 0));
        command.end();
        std::stop_source source;
        std::jthread giving_up;
        if (given_up > 0) {
            giving_up = std::jthread([source, given_up]() mutable {
                std::this_thread::sleep_for(std::chrono::milliseconds(given_up));
                source.request_stop();
            });
        }
        const clearance::CallOptions options{.time_max = std::chrono::milliseconds(deadline), .stop = source.get_token()};
        const auto asked = [&](auto request) {
            *request.mutable_p() = p;
            *request.mutable_q() = q;
            return client.call(request, options).verdict();
        };
        const v1::Verdict verdict =
            question == "distance" ? asked(v1::MeasureDistanceRequest()) : asked(v1::CheckCollisionRequest());
        Json answer = fine();
        put(answer, "verdict", verdict_of(verdict));
        return answer;
    }

    Json watch(Command& command) {
        const Session& session = sessions_.at(command.text("session"));
        const std::string name = command.text("watch");
        command.end();
        watches_[name] = std::make_unique<Following>(session.watch());
        return fine();
    }

    Json watched(Command& command) {
        Following& following = *watches_.at(command.text("watch"));
        const std::uint64_t until = command.digits_or("until_frame", UINT64_MAX);
        command.truth("until_end");
        command.end();
        return following.until(until);
    }

    Json close(Command& command) {
        const std::string name = command.text("session");
        command.end();
        Session session = sessions_.at(name);
        sessions_.erase(name);
        session.close();
        return fine();
    }

    Json wait(Command& command) {
        const auto time = static_cast<int>(command.number("ms"));
        command.end();
        std::this_thread::sleep_for(std::chrono::milliseconds(time));
        return fine();
    }

    std::map<std::string, Client> clients_;
    Shapes shapes_;
    std::map<std::string, Session> sessions_;
    std::map<std::string, std::unique_ptr<Following>> watches_;
};

const std::map<std::string, Driver::Deed> Driver::DEEDS = {
    {"connect", &Driver::connect}, {"register", &Driver::register_shape}, {"open", &Driver::open},
    {"frame", &Driver::frame},     {"state", &Driver::state},             {"take_back", &Driver::take_back},
    {"ask", &Driver::ask},         {"watch", &Driver::watch},             {"watched", &Driver::watched},
    {"close", &Driver::close},     {"wait", &Driver::wait},
};

}  // namespace

int main() {
    Driver driver;
    for (std::string line; std::getline(std::cin, line);) {
        Json answer;
        try {
            Command command(line);
            answer = driver.obey(command);
        } catch (const clearance::ProtocolError& error) {
            answer = refused(other_error("CLIENT", error.what()));
        } catch (const Error& error) {
            answer = refused(error_of(error));
        } catch (const std::invalid_argument& error) {
            answer = refused(other_error("CLIENT", error.what()));
        } catch (const std::exception& error) {
            answer = refused(other_error("DRIVER", error.what()));
        }
        std::cout << line_of(answer) << std::endl;
    }
}
