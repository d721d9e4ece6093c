import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";

/**
 * The bytes of a body as they come. Ending the iteration keeps the connection open, which the answer needs. Throws
 * Problem request_timeout when nothing comes for `silenceMs`.
 */
export async function* bodyOf({ raw }: FastifyRequest, silenceMs: number): AsyncGenerator<Uint8Array> {
  const chunks = raw.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined>;
  try {
    for (;;) {
      const next = await within(silenceMs, chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Settles with the connection when a chunk is still waited for.
    chunks.return?.().catch(() => undefined);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => silence.reject(new Problem("request_timeout", "The body did not arrive in time.")),
    ms,
  );
  try {
    return await Promise.race([work, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long a body that is not wanted is still read, so that its sender reads the answer. */
const lingerMs = 2_000;

/** A connection that is closed on somebody who is still sending takes the answer with it: what comes is thrown away. */
export function linger({ raw }: FastifyRequest): void {
  if (raw.readableEnded || raw.destroyed) return;
  const { socket } = raw;
  // What the server calls when it has answered and keeps the connection no longer.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  };
  raw.resume();
}
