// Writes MCAP: messages of protobuf channels, in one chunk that is not compressed for so many messages.
import { toBinary, create } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const MAGIC = Uint8Array.of(0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a);
const utf8 = new TextEncoder();

class Bytes {
  constructor() { this.parts = []; this.length = 0; }
  raw(bytes) { this.parts.push(bytes); this.length += bytes.length; return this; }
  number(size, value) {
    const view = new DataView(new ArrayBuffer(size));
    if (size === 8) view.setBigUint64(0, BigInt(value), true);
    else if (size === 4) view.setUint32(0, value, true);
    else if (size === 2) view.setUint16(0, value, true);
    else view.setUint8(0, value);
    return this.raw(new Uint8Array(view.buffer));
  }
  text(value) { const bytes = utf8.encode(value); return this.number(4, bytes.length).raw(bytes); }
  blob(bytes) { return this.number(4, bytes.length).raw(bytes); }
  record(opcode, bytes) { return this.number(1, opcode).number(8, bytes.length).raw(bytes.all()); }
  all() {
    const out = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) { out.set(part, at); at += part.length; }
    return out;
  }
}

// A message's file and those that it imports, each after what it builds on.
function fileSet(schema) {
  const files = new Map();
  const visit = (file) => {
    if (files.has(file.name)) return;
    for (const dependency of file.dependencies) visit(dependency);
    files.set(file.name, file.proto);
  };
  visit(schema.file);
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...files.values()] }));
}

export class Writer {
  constructor() {
    this.out = new Bytes().raw(MAGIC);
    this.out.record(0x01, new Bytes().text('clearance').text('clearance viewer tools'));
    this.channels = new Map();
    this.chunk = new Bytes();
    this.times = [];
    this.sequence = 0;
  }

  write(topic, schema, message, time) {
    let id = this.channels.get(topic);
    if (id === undefined) {
      id = this.channels.size + 1;
      this.channels.set(topic, id);
      const described = new Bytes().number(2, id).text(schema.typeName).text('protobuf').blob(fileSet(schema));
      this.chunk.record(0x03, described);
      this.chunk.record(0x04, new Bytes().number(2, id).number(2, id).text(topic).text('protobuf').number(4, 0));
    }
    const head = new Bytes().number(2, id).number(4, this.sequence++).number(8, time).number(8, time);
    this.chunk.record(0x05, head.raw(toBinary(schema, message)));
    this.times.push(time);
    if (this.chunk.length > 1 << 18) this.flush();
  }

  flush() {
    if (this.chunk.length === 0) return;
    const held = this.chunk.all();
    const start = this.times.reduce((a, b) => (a < b ? a : b), this.times[0] ?? 0n);
    const end = this.times.reduce((a, b) => (a > b ? a : b), this.times[0] ?? 0n);
    this.out.record(0x06, new Bytes().number(8, start).number(8, end).number(8, held.length).number(4, 0)
      .text('').number(8, held.length).raw(held));
    this.chunk = new Bytes();
    this.times = [];
  }

  end() {
    this.flush();
    this.out.record(0x0f, new Bytes().number(4, 0));
    this.out.record(0x02, new Bytes().number(8, 0).number(8, 0).number(4, 0));
    return this.out.raw(MAGIC).all();
  }
}
