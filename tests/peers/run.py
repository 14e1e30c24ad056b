#!/usr/bin/env python3
"""Asks a fresh server every case of other libraries' own tests and judges its answers by the exact values beside them.

usage: tests/peers/run.py BINARY [CASES.jsonl.gz]

Prints what is wrong or refused, and how many are right. Exits with 1 if one is wrong. Knows the service by reflection
alone. The format of the cases is told in README.md."""
import collections, fractions, gzip, json, os, socket, subprocess, sys, time

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

Fraction = fractions.Fraction
VERDICTS = ['UNSPECIFIED', 'SEPARATED', 'TOUCHING', 'OVERLAPPING']
OUTCOMES = ['UNSPECIFIED', 'CONTACT', 'NO_CONTACT', 'UNDECIDED']
# Exact values are written with 50 digits: this part of a value covers what that rounds off.
WRITTEN = Fraction(1, 10**45)
# Widest bracket of a first contact, as a fraction of the motion: what the service promises by default.
TIME_WIDTH_MAX = 1e-6


class Refused(Exception):
    """The server answered with a status instead of an answer."""


class Service:
    """The methods of a server, by name."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address, options=[('grpc.max_receive_message_length', 1 << 28)])
        self.pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))
        self.methods = {}

    def method(self, service, name):
        """The call, and the classes of its request and its reply."""
        if name not in self.methods:
            found = self.pool.FindServiceByName(f'clearance.v1.{service}').FindMethodByName(name)
            request, reply = map(message_factory.GetMessageClass, (found.input_type, found.output_type))
            path = f'/clearance.v1.{service}/{name}'
            call = self.channel.unary_unary(path, request.SerializeToString, reply.FromString)
            self.methods[name] = call, request, reply
        return self.methods[name]

    def call(self, service, name, request):
        """The reply to a request that is written as JSON."""
        call, message, _ = self.method(service, name)
        if isinstance(request, dict):
            request = json_format.ParseDict(request, message())
        try:
            return call(request, timeout=60)
        except grpc.RpcError as error:
            raise Refused(f'{name}: {error.code().name}: {error.details()}')

    def ask(self, name, claim, request, expect):
        """The answer to a question, after its certificate was verified."""
        answer = self.call('QueryService', name, request)
        told = self.method('QueryService', 'VerifyCertificate')[1]()
        json_format.ParseDict(request, getattr(told, claim).question)
        getattr(told, claim).answer.CopyFrom(answer)
        judged = self.call('QueryService', 'VerifyCertificate', told)
        expect(judged.valid, f'{name}: certificate: {judged.refusal}')
        return answer


def encloses(bracket, exact):
    exact = Fraction(exact)
    slack = abs(exact) * WRITTEN
    return Fraction(bracket.lower) <= exact + slack and exact - slack <= Fraction(bracket.upper)


def static(service, request, exact, expect):
    answer = service.ask('CheckCollision', 'collision', request, expect)
    expect(VERDICTS[answer.verdict] == exact['verdict'], f'verdict {VERDICTS[answer.verdict]}')
    answer = service.ask('MeasureDistance', 'distance', request, expect)
    expect(encloses(answer.distance, exact['dist']), f'distance {answer.distance}')
    answer = service.ask('MeasurePenetration', 'penetration', {**request, 'withSurface': True}, expect)
    if 'depth' in exact:
        expect(encloses(answer.depth, exact['depth']), f'depth {answer.depth}')
    else:
        is_within = answer.depth.upper >= exact['depth_lb'] and answer.depth.lower <= exact['depth_ub']
        expect(is_within, f'depth {answer.depth}')


def margin(service, request, exact, expect):
    for name, claim in (('CheckCollision', 'collision'), ('MeasureDistance', 'distance')):
        answer = service.ask(name, claim, request, expect)
        expect(VERDICTS[answer.verdict] == exact['verdict'], f'{name}: verdict {VERDICTS[answer.verdict]}')
        expect(answer.within_margin == exact['within'], f'{name}: within_margin {answer.within_margin}')


def first_contact(service, request, exact, expect):
    answer = service.ask('FindFirstContact', 'first_contact', request, expect)
    outcome = OUTCOMES[answer.outcome]
    if exact.get('toi') is not None:
        toi, told = Fraction(exact['toi']), f'{outcome} [{answer.t_free}, {answer.t_contact}]'
        expect(outcome == 'CONTACT' and answer.t_contact - answer.t_free <= TIME_WIDTH_MAX, told)
        expect(Fraction(answer.t_free) <= toi and toi * (1 - WRITTEN) <= Fraction(answer.t_contact), told)
    elif 'toi' in exact:
        expect(outcome == 'NO_CONTACT', outcome)
    else:
        expect(outcome != 'UNDECIDED', outcome)


def along(service, request, exact, expect):
    answer = service.ask('MeasureDistanceAlong', 'distance_along', request, expect)
    for name in ('enter', 'exit'):
        is_there, bracket = answer.HasField(name), getattr(answer, name)
        expect(is_there == (exact[name] is not None), f'{name} {bracket}')
        expect(not is_there or exact[name] is None or encloses(bracket, exact[name]), f'{name} {bracket}')


def hull(service, request, exact, expect):
    specs = {'polytopes': [{'vertices': request['vertices']}]}
    found = service.call('PolytopeService', 'RegisterPolytopes', specs).reports[0].polytope
    wanted = {'id': found.id, 'withVertices': True}
    listed = service.call('PolytopeService', 'GetPolytope', wanted).vertices.xyz
    extreme = sorted(list(listed[i:i + 3]) for i in range(0, len(listed), 3))
    expect(found.dimension == exact['dim'], f'dimension {found.dimension}')
    # Adding zero makes -0 the 0 that it is.
    expect(extreme == [[c + 0.0 for c in point] for point in exact['extreme']], f'{len(extreme)} extreme points')
    expect('faces' not in exact or found.face_count == exact['faces'], f'{found.face_count} faces')


KINDS = {
    'static': static, 'margin': margin, 'linear': first_contact, 'motion': first_contact, 'along': along, 'hull': hull
}


def judge(service, case):
    """Whether the answers are right, wrong or refused, and why."""
    wrong = []
    try:
        note = lambda holds, text: holds or wrong.append(text)
        KINDS[case['kind']](service, case['request'], case.get('exact') or {}, note)
    except Refused as refusal:
        return 'refused', str(refusal)
    return ('wrong', '; '.join(wrong)) if wrong else ('right', '')


def start(binary):
    """A server on a free port, and its address."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        address = f'127.0.0.1:{probe.getsockname()[1]}'
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    server = subprocess.Popen([binary, 'serve', '--listen', address], **quiet)
    grpc.channel_ready_future(grpc.insecure_channel(address)).result(timeout=20)
    return server, address


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    cases = sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, 'cases.jsonl.gz')
    server, address = start(sys.argv[1])
    tally, sources, begin = collections.Counter(), collections.Counter(), time.monotonic()
    try:
        service = Service(address)
        for line in gzip.open(cases, 'rt'):
            case = json.loads(line)
            state, why = judge(service, case)
            tally[state] += 1
            sources[case['source']] += 1
            if state != 'right':
                print(f"{state}: {case['id']} ({case['source_file']}, {case['test']}): {why[:300]}")
    finally:
        server.terminate()
        server.wait()
    seconds = time.monotonic() - begin
    print(', '.join(f'{name} {count}' for name, count in sources.most_common()))
    counts = ', '.join(f'{tally[state]} {state}' for state in ('right', 'refused', 'wrong'))
    print(f'{counts} of {sum(tally.values())} in {seconds:.1f} s')
    # No case at all is no success.
    sys.exit(tally['wrong'] > 0 or tally['right'] == 0)


if __name__ == '__main__':
    main()
