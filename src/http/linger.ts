import type { FastifyRequest } from "fastify";

/** The bytes of a body as they come. Who stops reading does not thereby end the connection, which the answer needs. */
export function bodyOf({ raw }: FastifyRequest): AsyncIterable<Uint8Array> {
  return raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
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
