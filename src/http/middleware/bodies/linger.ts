import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import { within } from "#runtime/abort.ts";

/**
 * Streams a body. Ending the iteration keeps the connection open for the response. Throws Problem request_timeout if no
 * chunk arrives for `silenceMs`.
 */
export async function* bodyOf({ raw }: FastifyRequest, silenceMs: number): AsyncGenerator<Uint8Array> {
  const chunks = raw.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined>;
  try {
    for (;;) {
      const next = await within(silenceMs, chunks.next(), silence);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Settles when the connection closes if a read is pending.
    chunks.return?.().catch(() => undefined);
  }
}

const silence = (): Problem => new Problem("request_timeout", "The body did not arrive in time.");

/** How long the rest of a refused body is read, so that the client can read the response. */
const lingerMs = 2_000;

/** Discards the rest of the body. A connection that is closed while the client sends would lose the response. */
export function linger({ raw }: FastifyRequest): void {
  if (raw.readableEnded || raw.destroyed) return;
  const { socket } = raw;
  // The server calls it after the response when it does not keep the connection.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  };
  raw.resume();
}
