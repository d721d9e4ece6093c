import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import { networkOf } from "./client-address.ts";
import "./request-state.ts";
import type { App } from "#http/app-type.ts";

export interface BodyLimits {
  /** Bytes of bodies that this process holds in memory at a time. */
  readonly totalBytesMax: number;
  /** The same for one address. */
  readonly addressBytesMax: number;
}

export const defaultBodyLimits: BodyLimits = { totalBytesMax: 64 * 1_048_576, addressBytesMax: 16 * 1_048_576 };

type Done = (error: Error | null, body?: Buffer) => void;

export interface Bodies {
  /**
   * Reads a body of at most `bytesMax` into memory. Its bytes count until the response is sent. Fails with Problem
   * payload_too_large, request_timeout, too_many_concurrent_requests (this address) or overloaded (all addresses).
   */
  read(request: FastifyRequest, bytesMax: number, done: Done): void;
}

/** A request with a body costs this much besides it. */
const requestBytes = 4_096;
const firstBytes = 4_096;

interface Held {
  readonly address: string;
  bytes: number;
  /** Ends the reading; undefined when the body is complete. */
  abort: ((problem: Problem) => void) | undefined;
}

/** Reads bodies into memory within a bound for each address and one for all of them. `bodyMs`: for a whole body. */
export function createBodies({ totalBytesMax, addressBytesMax }: BodyLimits, bodyMs: number): Bodies {
  const addresses = new Map<string, { bytes: number; readonly held: Set<Held> }>();
  let total = 0;

  function grow(held: Held, bytes: number): void {
    const of = addresses.get(held.address) ?? { bytes: 0, held: new Set<Held>() };
    if (of.bytes + bytes > addressBytesMax) {
      throw new Problem(
        "too_many_concurrent_requests",
        "Too many bytes of unfinished requests come from this address. Send fewer at a time.",
        { retryAfterS: 1 },
      );
    }
    addresses.set(held.address, of);
    of.held.add(held);
    of.bytes += bytes;
    held.bytes += bytes;
    total += bytes;
    if (total > totalBytesMax) evict();
    if (total > totalBytesMax) throw overloaded();
  }

  function release(held: Held): void {
    const of = addresses.get(held.address);
    if (of === undefined || !of.held.delete(held)) return;
    of.bytes -= held.bytes;
    total -= held.bytes;
    if (of.held.size === 0) addresses.delete(held.address);
  }

  /** The address that holds the most gives its oldest unfinished body up: one client cannot keep all others out. */
  function evict(): void {
    let most = 0;
    let oldest: Held | undefined;
    for (const { bytes, held } of addresses.values()) {
      if (bytes <= most) continue;
      const unfinished = held.values().find(({ abort }) => abort !== undefined);
      if (unfinished === undefined) continue;
      most = bytes;
      oldest = unfinished;
    }
    oldest?.abort?.(overloaded());
  }

  return {
    read(request, bytesMax, done) {
      const declared = Number(request.headers["content-length"] ?? Number.NaN);
      if (declared > bytesMax) {
        done(tooLarge());
        return;
      }
      const held: Held = { address: networkOf(request.remoteAddress), bytes: 0, abort: undefined };
      request.response?.once("close", () => release(held));
      const finish: Done = (error, body) => {
        held.abort = undefined;
        if (error !== null) release(held);
        done(error, body);
      };
      try {
        grow(held, requestBytes);
      } catch (error) {
        finish(error as Problem);
        return;
      }
      held.abort = collect(request.raw, { declared, bytesMax, bodyMs, grow: (bytes) => grow(held, bytes) }, finish);
    },
  };
}

/** Parses bodies of this type, read within the bounds of `bodies`, the route's `bodyLimit` and `bytesMax`. */
export function parseBodies(
  app: App,
  bodies: Bodies,
  type: string,
  parse: (request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void) => void,
  bytesMax: (request: FastifyRequest) => number = ({ routeOptions }) => routeOptions.bodyLimit ?? 0,
): void {
  app.addContentTypeParser(type, (request: FastifyRequest, _payload, done) => {
    bodies.read(request, bytesMax(request), (error, body) => {
      if (error !== null || body === undefined) done(error);
      else parse(request, body, done);
    });
  });
}

interface Collecting {
  readonly declared: number;
  readonly bytesMax: number;
  readonly bodyMs: number;
  /** Throws Problem. */
  readonly grow: (bytes: number) => void;
}

/** One buffer that grows: a body that comes byte by byte costs no more than any other. Returns what ends it. */
function collect(raw: IncomingMessage, { declared, bytesMax, bodyMs, grow }: Collecting, done: Done) {
  let buffer = Buffer.alloc(0);
  let length = 0;
  const timer = setTimeout(() => end(new Problem("request_timeout", "The body did not arrive in time.")), bodyMs);

  function end(error: Error | null): void {
    clearTimeout(timer);
    raw.off("data", onData).off("end", onEnd).off("error", end);
    if (error === null) {
      done(null, buffer.subarray(0, length));
      return;
    }
    buffer = Buffer.alloc(0);
    raw.on("error", () => undefined);
    done(error);
  }
  function onData(chunk: Buffer): void {
    const needed = length + chunk.length;
    if (needed > bytesMax) {
      end(tooLarge());
      return;
    }
    try {
      if (needed > buffer.length) enlarge(needed);
    } catch (error) {
      end(error as Problem);
      return;
    }
    chunk.copy(buffer, length);
    length = needed;
  }
  function enlarge(needed: number): void {
    const most = Number.isNaN(declared) ? bytesMax : Math.min(declared, bytesMax);
    const size = Math.max(needed, Math.min(most, Math.max(firstBytes, 2 * buffer.length)));
    grow(size - buffer.length);
    const larger = Buffer.allocUnsafeSlow(size);
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  }
  function onEnd(): void {
    end(null);
  }
  raw.on("data", onData).on("end", onEnd).on("error", end);
  return end;
}

const tooLarge = (): Problem => new Problem("payload_too_large", "The body is larger than is allowed here.");

const overloaded = (): Problem =>
  new Problem("overloaded", "The service is receiving too many bytes at once. Try again.", { retryAfterS: 1 });
