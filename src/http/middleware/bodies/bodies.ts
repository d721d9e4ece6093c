import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import { networkOf } from "#http/middleware/client-address.ts";
import "#http/middleware/request-state.ts";
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

/** Memory that a request with a body takes besides the body. */
const requestBytes = 4_096;
const firstBytes = 4_096;

interface BufferedBody {
  readonly address: string;
  bytes: number;
  /** Stops reading; undefined once the body is complete. */
  abort: ((problem: Problem) => void) | undefined;
}

/** Reads bodies into memory, up to one limit per address and one for all. `bodyMs`: time for a whole body. */
export function createBodies({ totalBytesMax, addressBytesMax }: BodyLimits, bodyMs: number): Bodies {
  const addresses = new Map<string, { bytes: number; readonly bodies: Set<BufferedBody> }>();
  let total = 0;

  function grow(body: BufferedBody, bytes: number): void {
    const ofAddress = addresses.get(body.address) ?? { bytes: 0, bodies: new Set<BufferedBody>() };
    if (ofAddress.bytes + bytes > addressBytesMax) {
      throw new Problem(
        "too_many_concurrent_requests",
        "Too many bytes of unfinished requests come from this address. Send fewer at a time.",
        { retryAfterS: 1 },
      );
    }
    addresses.set(body.address, ofAddress);
    ofAddress.bodies.add(body);
    ofAddress.bytes += bytes;
    body.bytes += bytes;
    total += bytes;
    if (total > totalBytesMax) evict();
    if (total > totalBytesMax) throw overloaded();
  }

  function release(body: BufferedBody): void {
    const ofAddress = addresses.get(body.address);
    if (ofAddress === undefined || !ofAddress.bodies.delete(body)) return;
    ofAddress.bytes -= body.bytes;
    total -= body.bytes;
    if (ofAddress.bodies.size === 0) addresses.delete(body.address);
  }

  /** Aborts the oldest unfinished body of the address with the most bytes, so that one client cannot block the others. */
  function evict(): void {
    let most = 0;
    let oldest: BufferedBody | undefined;
    for (const { bytes, bodies } of addresses.values()) {
      if (bytes <= most) continue;
      const unfinished = bodies.values().find(({ abort }) => abort !== undefined);
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
      const body: BufferedBody = { address: networkOf(request.remoteAddress), bytes: 0, abort: undefined };
      request.response?.once("close", () => release(body));
      const finish: Done = (error, bytes) => {
        body.abort = undefined;
        if (error !== null) release(body);
        done(error, bytes);
      };
      try {
        grow(body, requestBytes);
      } catch (error) {
        finish(error as Problem);
        return;
      }
      body.abort = collect(request.raw, { declared, bytesMax, bodyMs, grow: (bytes) => grow(body, bytes) }, finish);
    },
  };
}

/** Parses bodies of this type. `bytesMax` is the route's `bodyLimit` by default. */
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

/** Collects the body in one growing buffer, so that tiny chunks cost no more memory. Returns a function that aborts it. */
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
