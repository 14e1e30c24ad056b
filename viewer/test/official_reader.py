#!/usr/bin/env python3
"""Recordings as the official `mcap` package reads them: every message decodes by the schema that the file has of it, and
a file that is cut off anywhere is read up to there. usage: official_reader.py FILE.mcap.gz..."""
import gzip, io, random, sys

from mcap.exceptions import EndOfFile, McapError
from mcap.reader import NonSeekingReader
from mcap.stream_reader import StreamReader
from mcap_protobuf.decoder import DecoderFactory

TOPICS = {'/clearance/open', '/clearance/frame', '/clearance/watch', '/clearance/report', '/clearance/shape'}


def records_before_end(data):
    """How many records there are up to where the bytes end, chunks not opened."""
    count = 0
    try:
        for _ in StreamReader(io.BytesIO(data), emit_chunks=True).records:
            count += 1
    except (EndOfFile, McapError):
        pass
    return count


for name in sys.argv[1:]:
    data = gzip.open(name).read()
    reader = NonSeekingReader(io.BytesIO(data), decoder_factories=[DecoderFactory()])
    counts = {}
    for schema, channel, message, decoded in reader.iter_decoded_messages():
        assert decoded.DESCRIPTOR.full_name == schema.name, (decoded.DESCRIPTOR.full_name, schema.name)
        assert decoded.SerializeToString(deterministic=True), channel.topic
        counts[channel.topic] = counts.get(channel.topic, 0) + 1
    missing = TOPICS - counts.keys()
    assert not missing, f'{name}: nothing on {missing}'
    random.seed(1)
    cuts = sorted(random.randrange(8, len(data)) for _ in range(20))
    read = [records_before_end(data[:cut]) for cut in cuts]
    assert read == sorted(read) and read[-1] > read[0], read
    print(f'{name}: {sum(counts.values())} messages on {len(counts)} topics, all decoded')
