// Errors with what the server says beside its words: the reason, the field, and when to try again.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";

/** A call that failed. */
export class ClearanceError extends ConnectError {
  /** The reason for programs, as `BAD_FIELD`; empty where the server was not reached. */
  readonly reason: string;
  /** The path of the field that is wrong, as `frames[3].poses[1].rotation`, or nothing. */
  readonly field: string;
  /** What the reason comes with: ids, limits, counts. */
  readonly info: Readonly<Record<string, string>>;
  /** After so many milliseconds the same call may be answered; undefined: that helps nothing. */
  readonly retryAfterMs: number | undefined;
  /** An earlier attempt of the call was lost, so what it asks for may have been done. */
  mayBeDone = false;
  /** Whether there is no connection, or none that is of use for long. */
  readonly isLost: boolean;

  private constructor(from: ConnectError, told: Told, isLost: boolean) {
    super(from.rawMessage, from.code, from.metadata, undefined, from.cause);
    this.name = "ClearanceError";
    this.details = from.details;
    this.reason = told.reason;
    this.field = told.field;
    this.info = told.info;
    this.retryAfterMs = told.retryAfterMs;
    this.isLost = isLost;
  }

  /** That of `ConnectError` takes every error of that name for one of its class. */
  static override [Symbol.hasInstance](one: unknown): boolean {
    return Object.prototype.isPrototypeOf.call(ClearanceError.prototype, one as object);
  }

  /** Of whatever a call has thrown that its caller has, or has not, given up. */
  static of(thrown: unknown, isGivenUp = false): ClearanceError {
    if (thrown instanceof ClearanceError) return thrown;
    const error = ConnectError.from(thrown);
    const told: Told = { reason: "", field: "", info: {}, retryAfterMs: undefined };
    for (const detail of error.details) {
      if (!("type" in detail)) continue;
      try {
        read(detail.type, detail.value, told);
      } catch {
        // Bytes that are no message of their type say nothing; the code and the words are known all the same.
      }
    }
    return new ClearanceError(error, told, !isGivenUp && isLost(error, told));
  }
}

interface Told {
  reason: string;
  field: string;
  info: Record<string, string>;
  retryAfterMs: number | undefined;
}

/** The server has not answered, and not because somebody has given the call up. */
function isLost(error: ConnectError, told: Told): boolean {
  if (error.code === Code.Unavailable) return true;
  if (told.reason !== "" || error.code === Code.DeadlineExceeded) return false;
  // Node calls a stream so whose connection has broken.
  if (error.code === Code.Canceled) return true;
  // What `fetch` throws when it gets no answer, and what Node's sockets do.
  const cause = error.cause;
  if (cause instanceof TypeError) return true;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && code.startsWith("E");
}

/** Details are messages of `google.rpc`, of which a few fields are wanted. */
function read(type: string, bytes: Uint8Array, told: Told): void {
  switch (type) {
    case "google.rpc.ErrorInfo":
      fields(bytes, (number, run) => {
        if (number === 1) told.reason = text(run);
        if (number !== 3) return;
        const entry = ["", ""];
        fields(run, (at, part) => (entry[at - 1] = text(part)));
        told.info[entry[0] ?? ""] = entry[1] ?? "";
      });
      break;
    case "google.rpc.BadRequest":
      fields(bytes, (_, violation) =>
        fields(violation, (number, run) => {
          if (number === 1 && told.field === "") told.field = text(run);
        }),
      );
      break;
    case "google.rpc.RetryInfo":
      told.retryAfterMs = 0;
      fields(bytes, (_, delay) => (told.retryAfterMs = milliseconds(delay)));
      break;
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The fields of a message that are texts or messages. */
function fields(bytes: Uint8Array, visit: (number: number, run: Uint8Array) => void): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) visit(number, reader.bytes());
    else reader.skip(type, number);
  }
}

function milliseconds(duration: Uint8Array): number {
  const reader = new BinaryReader(duration);
  let milliseconds = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.Varint) reader.skip(type, number);
    else milliseconds += Number(reader.int64()) * (number === 1 ? 1_000 : 1e-6);
  }
  return milliseconds;
}
