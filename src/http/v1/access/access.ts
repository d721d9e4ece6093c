import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { App } from "#http/app-type.ts";
import { recordKeyUse } from "#admin/api-keys.ts";
import type { Caller } from "./auth.ts";
import { authenticate } from "./auth.ts";
import type { InFlight } from "#http/middleware/in-flight.ts";
import { storeBeside } from "#http/middleware/reads.ts";
import type { Limits, RateState } from "./rate-limits.ts";
import { limitsOfCaller, rateHeaders, unknownCallerRate } from "./rate-limits.ts";
import type { RouteTable } from "#http/v1/route-table.ts";

interface Access {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly inFlight: InFlight;
  readonly routes: RouteTable;
}

/** Authenticates every request, counts it against its limits, and sends the limits with the response. */
export function requireAccess(app: App, { store, clock, limits, inFlight, routes }: Access): void {
  const leaveProgram = new WeakMap<FastifyRequest, () => void>();

  app.addHook("onRequest", async (request, reply) => {
    request.rate = unknownCallerRate(clock.now());
    // Caches must not keep what customers write.
    reply.header("cache-control", "no-store");
    const caller = await authenticate(store, request.headers.authorization, clock.now());
    request.caller = caller;
    callAtEnd(request, reply, enter(request, caller.keyId));
    leaveProgram.set(request, inFlight.enter());
    const taken = await storeBeside(request, () => limits.take(caller));
    request.rate = taken?.rate ?? uncountedRate(caller);
    request.slot = taken?.slot ?? null;
    if (taken !== undefined && taken.problem !== null) throw taken.problem;
    if (request.is404) throw routes.refusal(request);
    routes.requireMethod(request);
    if (caller.workspaceDeleted) throw new Problem("workspace_not_found", "This key's workspace was deleted.");
    await storeBeside(request, () => recordKeyUse(store, caller, clock.now()));
  });

  function uncountedRate(caller: Caller): RateState {
    const { perMinute, perDay } = limitsOfCaller(caller);
    return {
      ...unknownCallerRate(clock.now()),
      limitMinute: Math.min(perMinute, caller.limitMinute ?? perMinute),
      limitDay: Math.min(perDay, caller.limitDay ?? perDay),
    };
  }

  /** A request beyond the limit of concurrent ones is not counted, but its response has the limits too. */
  function enter(request: FastifyRequest, keyId: string): () => void {
    try {
      return limits.enter(keyId);
    } catch (error) {
      if (request.caller !== null) request.rate = uncountedRate(request.caller);
      throw error;
    }
  }

  app.addHook("onSend", (request, reply, payload, done) => {
    const { slot } = request;
    // Requests that are refused before authentication, because the process is ending, have the headers too.
    const rate = request.rate ?? unknownCallerRate(clock.now());
    const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
    const send = (shown: RateState): void => {
      reply.headers(rateHeaders(shown));
      leaveProgram.get(request)?.();
      done(null, payload);
    };
    if (slot === null || isSuccess) {
      send(rate);
      return;
    }
    request.slot = null;
    const refunded = { ...rate, remainingMinute: rate.remainingMinute + 1, remainingDay: rate.remainingDay + 1 };
    void limits
      .giveBack(slot)
      // The response has the error of the request. The slot is free again when its window ends.
      .catch((error: unknown) => request.log.error({ err: error, requestId: request.id }, "limits: refund failed"))
      .then(() => send(refunded));
  });
}

/**
 * Calls `leave` once, when the response or the connection ends. A response that is queued behind others on a connection
 * gets no event when that closes. Either may have ended while the key was looked up.
 */
function callAtEnd(request: FastifyRequest, reply: FastifyReply, leave: () => void): void {
  const { socket } = request.raw;
  const end = (): void => {
    socket.off("close", end);
    reply.raw.off("close", end);
    leave();
  };
  // Pipelined requests of one connection have a listener each; the limit of a key is below this.
  socket.setMaxListeners(100);
  socket.once("close", end);
  reply.raw.once("close", end);
  if (socket.destroyed || reply.raw.destroyed) end();
}
