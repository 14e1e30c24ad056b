#include "server.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <cstdlib>
#include <netinet/in.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace testing {

namespace {

// The words after which a server answers.
constexpr const char* LISTENS = "listening on";

void check(bool is_right, const char* what) {
    if (!is_right) throw std::runtime_error(what);
}

}  // namespace

int free_port() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(listener >= 0, "no socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* as = reinterpret_cast<sockaddr*>(&address);
    const bool is_bound = bind(listener, as, size) == 0 && getsockname(listener, as, &size) == 0;
    close(listener);
    check(is_bound, "no port");
    return ntohs(address.sin_port);
}

Program::Program(std::vector<std::string> command) {
    int ends[2];
    check(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    // Its settings are those of its command alone.
    char* none = nullptr;
    const int failure = posix_spawnp(&process_, words[0], &actions, nullptr, words.data(), &none);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
    check(failure == 0, "no process");
}

Program::~Program() {
    if (process_ > 0) {
        signal(SIGKILL);
        wait();
    }
    close(output_);
}

bool Program::line(std::string& text) {
    for (;;) {
        const std::size_t end = rest_.find('\n');
        if (end != std::string::npos) {
            text = rest_.substr(0, end);
            rest_.erase(0, end + 1);
            return true;
        }
        char bytes[4096];
        const ssize_t count = read(output_, bytes, sizeof bytes);
        if (count <= 0) return false;
        rest_.append(bytes, static_cast<std::size_t>(count));
    }
}

int Program::wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0) check(errno == EINTR, "the process is not ours");
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void Program::signal(int number) {
    if (process_ > 0) ::kill(process_, number);
}

Server::Server(std::vector<std::string> flags) : flags_(std::move(flags)), port_(free_port()) { start(); }

Server::~Server() { kill(); }

void Server::start() {
    const char* program = std::getenv("CLEARANCE_SERVER");
    check(program != nullptr, "CLEARANCE_SERVER has to be the path of a server");
    std::vector<std::string> command{program, "serve", "--listen", address(), "--log", "warn"};
    command.insert(command.end(), flags_.begin(), flags_.end());
    process_ = std::make_unique<Program>(std::move(command));
    std::string line;
    while (process_->line(line)) {
        if (line.find(LISTENS) != std::string::npos) return;
    }
    throw std::runtime_error("the server does not start");
}

void Server::stop(int signal) {
    if (!process_) return;
    process_->signal(signal);
    process_->wait();
    process_.reset();
}

void Server::kill() { stop(SIGKILL); }

void Server::signal(int number) { process_->signal(number); }

void Server::restart() {
    kill();
    start();
}

}  // namespace testing
