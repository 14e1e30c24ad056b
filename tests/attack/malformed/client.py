"""A client that knows a server by reflection alone and can break every rule; and what its attacks found."""
import os, socket, struct, time

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICES = [f'clearance.v1.{name}Service' for name in ('Polytope', 'Query', 'Robot', 'Session', 'Server')]
OPEN_BYTES = [('grpc.max_receive_message_length', -1), ('grpc.max_send_message_length', -1)]


class Reply:
    """What a call gave: a code, and either a message or what the error's details say."""

    def __init__(self, wire, code, message=None, error=None):
        self.code, self.message, self.reason, self.fields, self.metadata, self.retry = code, message, '', [], {}, False
        self.words = error.details() if error else ''
        for key, value in (error.trailing_metadata() or ()) if error else ():
            if key == 'grpc-status-details-bin': self.read(wire, value)

    def read(self, wire, value):
        for detail in wire.type('google.rpc.Status').FromString(value).details:
            name = detail.type_url.rsplit('/', 1)[-1]
            inner = wire.type(name).FromString(detail.value)
            if name == 'google.rpc.ErrorInfo': self.reason, self.metadata = inner.reason, dict(inner.metadata)
            if name == 'google.rpc.BadRequest': self.fields = [violation.field for violation in inner.field_violations]
            if name == 'google.rpc.RetryInfo': self.retry = inner.retry_delay.ToTimedelta().total_seconds() > 0

    def __repr__(self): return f'{self.code} {self.reason} {self.fields} {self.words[:120]!r}'


class Wire:
    """The server as a client sees it that knows only the address."""

    def __init__(self, address, slow):
        self.address, self.slow = address, slow
        self.channel = grpc.insecure_channel(address, OPEN_BYTES)
        grpc.channel_ready_future(self.channel).result(20)
        self.pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))
        self.methods = {}
        for service in SERVICES:
            for method in self.pool.FindServiceByName(service).methods: self.methods[method.name] = (f'/{service}/{method.name}', method)
        health = self.pool.FindServiceByName('grpc.health.v1.Health').FindMethodByName('Check')
        self.methods['Check'] = ('/grpc.health.v1.Health/Check', health)

    def type(self, name): return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(name))

    def make(self, method, request):
        if isinstance(request, dict): return json_format.ParseDict(request, message_factory.GetMessageClass(self.methods[method][1].input_type)())
        return request

    def stub(self, method, channel=None):
        path, descriptor = self.methods[method]
        ways = ('stream' if descriptor.client_streaming else 'unary') + '_' + ('stream' if descriptor.server_streaming else 'unary')
        return getattr(channel or self.channel, ways)(
            path, request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(descriptor.output_type).FromString)

    def call(self, method, request, timeout=15, channel=None):
        """One call with a dict, a message or bytes; a list for methods that take a stream."""
        descriptor = self.methods[method][1]
        if descriptor.client_streaming: request = iter([self.make(method, part) for part in request])
        else: request = self.make(method, request)
        try:
            message = self.stub(method, channel)(request, timeout=timeout * self.slow)
            if descriptor.server_streaming: message = list(message)
            return Reply(self, 'OK', message)
        except grpc.RpcError as error: return Reply(self, error.code().name, error=error)

    def limit(self, name):
        return next(limit.value for limit in self.call('GetServerInfo', {}).message.limits if limit.name == name)


class Report:
    """Collects what broke."""

    def __init__(self): self.broken, self.checks = [], 0

    def holds(self, fact, what):
        self.checks += 1
        if not fact: self.broken.append(what); print(f'   BROKEN: {what}', flush=True)

    def refused(self, what, reply, codes, reason=None, field=None):
        """The call was refused as the contract says, with details."""
        codes = (codes,) if isinstance(codes, str) else codes
        self.holds(reply.code in codes and (reason is None or reply.reason == reason)
                   and (field is None or field in reply.fields) and reply.reason != '', f'{what}: {reply}')


class Raw:
    """HTTP/2 by hand, so that it can be broken anywhere."""

    def __init__(self, address, window=65535):
        host, port = address.rsplit(':', 1)
        self.socket = socket.create_connection((host, int(port)), timeout=5)
        self.socket.sendall(b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'); self.frame(4, 0, 0, struct.pack('>HI', 4, window))

    def frame(self, kind, flags, stream, payload, length=None):
        length = len(payload) if length is None else length
        self.socket.sendall(struct.pack('>I', length)[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload)

    def headers(self, stream, path):
        block = b''
        for name, value in ((':method', 'POST'), (':scheme', 'http'), (':path', path), (':authority', 'x'), ('content-type', 'application/grpc'), ('te', 'trailers')):
            block += b'\x00' + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
        self.frame(1, 4, stream, block)

    def message(self, stream, data, length=None, end=0):
        self.frame(0, end, stream, b'\x00' + struct.pack('>I', len(data) if length is None else length) + data)


def varint(value):
    out = b''
    while value > 127: out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def iter_then_wait(messages, stop, seconds=10):
    yield from messages
    stop.wait(seconds)


def until(seconds, fact):
    end = time.monotonic() + seconds
    while not (result := fact()) and time.monotonic() < end: time.sleep(0.05)
    return result


def alive(pid):
    try:
        with open(f'/proc/{pid}/stat') as file: return file.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError: return False
