// A server of the tests' own, which can be killed and started again at the same address.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace testing {

// A port that was free just now.
int free_port();

// A program; its standard output is read.
class Program {
public:
    explicit Program(std::vector<std::string> command);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program();

    // The next line that it prints; false: it has closed its output.
    bool line(std::string& text);
    // Waits for its end; its code, or minus the signal that ended it.
    int wait();
    void signal(int number);

private:
    pid_t process_ = -1;
    int output_ = -1;
    std::string rest_;
};

// The program of the environment variable CLEARANCE_SERVER, on a free port of the loopback interface.
class Server {
public:
    explicit Server(std::vector<std::string> flags = {});
    // Kills it.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    int port() const { return port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

    // Starts it again.
    void start();
    // Ends the process by a signal, and waits until it has ended.
    void stop(int signal);
    void kill();
    // Sends it a signal, and waits for nothing.
    void signal(int number);
    void restart();

private:
    std::vector<std::string> flags_;
    int port_;
    std::unique_ptr<Program> process_;
};

}  // namespace testing
