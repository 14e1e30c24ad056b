// Ways to a server, or to several: calls that failed are made again where that helps.
//
// | status                                               | made again                      |
// |------------------------------------------------------|---------------------------------|
// | RESOURCE_EXHAUSTED with RetryInfo: the server is full | after as long as it says        |
// | UNAVAILABLE, or no answer                            | at the next address, after that |
// | everything else: it will not help                    | never                           |
//
// Every call of one message may be repeated: bodies and robots are named by what they are, and
// frames by their numbers.

import { Code, type Transport } from "@connectrpc/connect";
import { ClearanceError } from "./errors.js";

/** How often, and how long after one another, a call is made. */
export interface RetryPolicy {
  /** Attempts in all; with 1, nothing is tried again. */
  readonly attemptsMax: number;
  /** The pause after the first attempt, milliseconds; each that follows is twice as long. */
  readonly pauseFirstMs: number;
  /** The longest pause, milliseconds, unless the server asks for a longer one. */
  readonly pauseMaxMs: number;
}

/** Six attempts within about three seconds. */
export const USUAL_RETRY: RetryPolicy = { attemptsMax: 6, pauseFirstMs: 100, pauseMaxMs: 5_000 };

/** The pause before the attempt after this one, milliseconds; undefined: nothing helps. */
export function pauseAfter(
  policy: RetryPolicy,
  attempt: number,
  error: ClearanceError,
): number | undefined {
  if (attempt >= policy.attemptsMax) return undefined;
  const pause = Math.min(policy.pauseFirstMs * 2 ** (attempt - 1), policy.pauseMaxMs);
  // The first change of servers costs no time.
  if (error.isLost) return attempt === 1 ? 0 : pause;
  const isFull = error.code === Code.ResourceExhausted && error.retryAfterMs !== undefined;
  return isFull ? Math.max(pause, error.retryAfterMs ?? 0) : undefined;
}

/** Waits, or throws what the signal was aborted with. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** All ways, as one transport. */
export class Ways implements Transport {
  private current = 0;

  constructor(
    private readonly ways: readonly Transport[],
    readonly policy: RetryPolicy,
  ) {
    if (ways.length === 0) throw new TypeError("there has to be an address");
  }

  private way(): Transport {
    return this.ways[this.current % this.ways.length] as Transport;
  }

  /** The next address is taken, unless somebody else has done that already. */
  private leave(used: Transport): void {
    if (used === this.way()) this.current = (this.current + 1) % this.ways.length;
  }

  unary: Transport["unary"] = async (method, signal, timeoutMs, header, input, values) => {
    let wasLost = false;
    for (let attempt = 1; ; attempt++) {
      const used = this.way();
      try {
        return await used.unary(method, signal, timeoutMs, header, input, values);
      } catch (thrown) {
        const error = ClearanceError.of(thrown, signal?.aborted);
        error.mayBeDone = wasLost;
        wasLost ||= error.isLost;
        const wait = pauseAfter(this.policy, attempt, error);
        if (wait === undefined) throw error;
        if (error.isLost) this.leave(used);
        await pause(wait, signal);
      }
    }
  };

  stream: Transport["stream"] = async (method, signal, timeoutMs, header, input, values) => {
    const used = this.way();
    try {
      const reply = await used.stream(method, signal, timeoutMs, header, input, values);
      return { ...reply, message: this.told(used, reply.message, signal) };
    } catch (thrown) {
      throw this.failed(used, thrown, signal);
    }
  };

  private async *told<T>(
    used: Transport,
    messages: AsyncIterable<T>,
    signal: AbortSignal | undefined,
  ): AsyncIterable<T> {
    try {
      yield* messages;
    } catch (thrown) {
      throw this.failed(used, thrown, signal);
    }
  }

  private failed(used: Transport, thrown: unknown, signal?: AbortSignal): ClearanceError {
    const error = ClearanceError.of(thrown, signal?.aborted);
    if (error.isLost) this.leave(used);
    return error;
  }
}
