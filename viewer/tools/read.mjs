// Reads the messages of a recording that is not compressed inside, as far as it goes; the page has a reader of its own.
const HEADER_BYTES = 9, MAGIC_BYTES = 8;
const text = new TextDecoder();

export function readMessages(bytes) {
  const topics = new Map(), messages = [];
  records(bytes.subarray(MAGIC_BYTES), topics, messages);
  return messages;
}

function records(bytes, topics, out) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const opcode = bytes[at], start = at + HEADER_BYTES;
    at = start + Number(view.getBigUint64(at + 1, true));
    if (at > bytes.length || opcode === 0x0f) return;
    if (opcode === 0x04) {
      const name = view.getUint32(start + 4, true);
      topics.set(view.getUint16(start, true), text.decode(bytes.subarray(start + 8, start + 8 + name)));
    } else if (opcode === 0x05) {
      out.push({ topic: topics.get(view.getUint16(start, true)), time: view.getBigUint64(start + 6, true), data: bytes.subarray(start + 22, at) });
    } else if (opcode === 0x06) {
      if (view.getUint32(start + 28, true) > 0) throw new Error('chunks are compressed');
      records(bytes.subarray(start + 40, at), topics, out);
    }
  }
}
