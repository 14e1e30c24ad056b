// Reads recordings: MCAP files, whole or cut off anywhere, plain or inside gzip.
import { decompress } from 'fzstd';

// One message of a recording.
export interface Recorded {
  topic: string;
  time: bigint;
  data: Uint8Array;
}

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
const HEADER_BYTES = 9;
const text = new TextDecoder();

// What is inside gzip, as far as it goes; other bytes as they are.
export async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const parts: Uint8Array[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value as Uint8Array);
    }
  } catch {
    // It is cut off: what came before stands.
  }
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

// All messages up to the end or to where the file is cut off.
export function readMessages(bytes: Uint8Array): { messages: Recorded[]; cut: boolean } {
  if (MAGIC.some((byte, k) => bytes[k] !== byte)) throw new Error('this is no recording: an MCAP file begins otherwise');
  const topics = new Map<number, string>();
  const messages: Recorded[] = [];
  const isWhole = readRecords(bytes.subarray(MAGIC.length), topics, messages);
  return { messages, cut: !isWhole };
}

// Whether the records end with one that says so.
function readRecords(bytes: Uint8Array, topics: Map<number, string>, out: Recorded[]): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const opcode = bytes[at]!, length = Number(view.getBigUint64(at + 1, true));
    const start = at + HEADER_BYTES;
    if (start + length > bytes.length) return false;
    at = start + length;
    if (opcode === 0x0f) return true;
    if (opcode === 0x04) {
      const name = view.getUint32(start + 4, true);
      topics.set(view.getUint16(start, true), text.decode(bytes.subarray(start + 8, start + 8 + name)));
    } else if (opcode === 0x05) {
      const topic = topics.get(view.getUint16(start, true));
      const data = bytes.subarray(start + 22, at);
      if (topic) out.push({ topic, time: view.getBigUint64(start + 6, true), data });
    } else if (opcode === 0x06 && !readChunk(bytes.subarray(start, at), topics, out)) {
      return false;
    }
  }
  return false;
}

function readChunk(bytes: Uint8Array, topics: Map<number, string>, out: Recorded[]): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = Number(view.getBigUint64(16, true)), named = view.getUint32(28, true);
  const compression = text.decode(bytes.subarray(32, 32 + named));
  const held = bytes.subarray(40 + named);
  if (compression !== '' && compression !== 'zstd') throw new Error(`chunks are compressed by ${compression}, which is not read here`);
  const plain = compression === 'zstd' ? decompress(held, new Uint8Array(size)) : held;
  readRecords(plain, topics, out);
  return plain.length === size;
}
