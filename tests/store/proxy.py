"""A proxy between a server and its bucket that does to chosen requests what networks and buckets do."""
import http.client, http.server, threading, time


class Proxy:
    """Passes requests on to a port of this machine. `plan(number, method, path)` says what becomes of each, by its number
    since `watch`: None, a status that is answered in place of it, or

        lost      it is done, and the connection ends without an answer
        silent    it is done, and nobody answers
        before    `on_fault` is called, and then it is not done
        after     it is done, `on_fault` is called, and nobody learns of it
    """

    def __init__(self, upstream):
        self.upstream, self.count, self.plan, self.on_fault, self.is_down = upstream, 0, None, lambda: None, False
        self.lock = threading.Lock()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fault = proxy.fault(self.command, self.path)
                if fault == "down" or fault == "before":
                    if fault == "before":
                        proxy.on_fault()
                    self.close_connection = True
                    return
                if isinstance(fault, int):
                    return self.answer(fault, [("Content-Type", "application/xml")], b"<Error><Code>Told</Code></Error>")
                status, headers, reply = proxy.ask(self.command, self.path, self.headers.items(), body)
                if fault == "silent":
                    time.sleep(8)
                if fault == "after":
                    proxy.on_fault()
                if fault:
                    self.close_connection = True
                    return
                self.answer(status, headers, reply)

            def answer(self, status, headers, reply):
                try:
                    self.send_response_only(status)
                    for name, value in headers:
                        if name.lower() not in ("connection", "transfer-encoding", "content-length", "keep-alive"):
                            self.send_header(name, value)
                    length = dict((name.lower(), value) for name, value in headers).get("content-length")
                    self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(reply)))
                    self.end_headers()
                    self.wfile.write(reply)
                except OSError:
                    self.close_connection = True

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 128

            def handle_error(self, *words):
                pass

        self.server = Threads(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def watch(self, plan=None, on_fault=lambda: None):
        """Counts from here on, by this plan."""
        with self.lock:
            self.count, self.plan, self.on_fault = 0, plan, on_fault

    def fault(self, method, path):
        with self.lock:
            if self.is_down:
                return "down"
            number, self.count = self.count, self.count + 1
            return self.plan(number, method, path) if self.plan else None

    def ask(self, method, path, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() != "connection":
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
