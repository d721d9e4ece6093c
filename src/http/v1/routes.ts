import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import { authenticate } from "#http/middleware/auth.ts";
import { createIdempotency } from "#http/middleware/idempotency.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { InFlight } from "#http/middleware/in-flight.ts";
import type { RateState } from "#http/middleware/rate-limits.ts";
import { createLimits, limitsOfCaller, rateHeaders, unknownCallerRate } from "#http/middleware/rate-limits.ts";
import { handleError, MethodNotAllowed } from "#http/problem.ts";
import type { App } from "#http/app-type.ts";
import { unknownName } from "#http/middleware/unknown-fields.ts";
import "#http/middleware/request-state.ts";
import { bulkRoutes } from "./bulk.ts";
import { conversationRoutes } from "./conversations.ts";
import { documentNotFound, documentRoutes } from "./documents.ts";
import { messageRoutes } from "./messages.ts";
import { queryRoutes } from "./query.ts";
import { createRepresentation } from "./representation.ts";
import { pathOf } from "./resources.ts";
import { conversationNotFound } from "./not-found.ts";
import { formLimits } from "./upload.ts";
import { checkWorkspaceId } from "./workspace-id.ts";

/** Everything below /v1: who asks, how often they may, and then the resources. */
/** Long enough to read a page of messages and then its files. */
const apiLinkMs = 3_600_000;

export async function v1(
  app: App,
  dependencies: HttpDependencies,
  { ending, inFlight }: { readonly ending: AbortSignal; readonly inFlight: InFlight },
): Promise<void> {
  const { store, clock } = dependencies;
  const limits = createLimits(dependencies);
  const settle = new WeakMap<FastifyRequest, () => void>();
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  app.addHook("onRoute", ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll(/:[a-z_]+/g, "[^/]+")}$`);
    const entry = known.get(url) ?? { pattern, methods: new Set() };
    known.set(url, entry);
    for (const each of [method].flat()) entry.methods.add(each);
  });

  app.addHook("onRequest", async (request, reply) => {
    request.rate = unknownCallerRate(clock.now());
    // What customers write is nothing for a cache on the way.
    reply.header("cache-control", "no-store");
    const caller = await authenticate(store, request.headers.authorization, clock.now());
    request.caller = caller;
    leaveAtTheEnd(request, reply, enter(request, caller.keyId));
    settle.set(request, inFlight.enter());
    const { rate, slot, problem } = await limits.take(caller);
    request.rate = rate;
    request.slot = slot;
    if (problem !== null) throw problem;
    if (request.is404) throw unknownPath(request);
    // `upload` in place of a document's id is never an id.
    const literal = known.get(pathOf(request))?.methods;
    if (literal?.has(request.method) === false) throw notAllowed(literal);
    if (caller.workspaceDeleted) throw new Problem("workspace_not_found", "This key's workspace was deleted.");
  });

  /** The limits are told even to who has too many requests in flight, though nothing is counted then. */
  function enter(request: FastifyRequest, keyId: string): () => void {
    try {
      return limits.enter(keyId);
    } catch (error) {
      if (request.caller !== null) {
        const { perMinute, perDay } = limitsOfCaller(request.caller);
        request.rate = {
          ...unknownCallerRate(clock.now()),
          limitMinute: Math.min(perMinute, request.caller.limitMinute ?? perMinute),
          limitDay: Math.min(perDay, request.caller.limitDay ?? perDay),
        };
      }
      throw error;
    }
  }

  function unknownPath(request: FastifyRequest): Problem {
    const path = pathOf(request);
    const { methods } = known.get(path) ?? known.values().find(({ pattern }) => pattern.test(path)) ?? {};
    // A path that is not URL-encoded is no path of ours, though it may look like one.
    if (methods === undefined || methods.has(request.method)) {
      return new Problem("not_found", "There is nothing at this path.");
    }
    return notAllowed(methods);
  }

  function notAllowed(methods: ReadonlySet<string>): Problem {
    return new MethodNotAllowed([...methods].toSorted().join(", "));
  }

  app.addHook("preValidation", (request, _reply, done) => {
    const { schema, config } = request.routeOptions;
    const { caller } = request;
    try {
      requireExactIds(request.params);
      if (schema?.body !== undefined && !isObject(request.body)) {
        throw new Problem("invalid_json", "The body must be a JSON object.");
      }
      if (config.workspaceId === undefined || caller === null) {
        refuseUnknown(request);
        done();
        return;
      }
    } catch (error) {
      done(error as Problem);
      return;
    }
    checkWorkspace(request, caller.workspaceId, config.workspaceId)
      .then(() => refuseUnknown(request))
      .then(() => done(), done);
  });

  /** Sent in the body and in the query, both must be the caller's. */
  async function checkWorkspace(
    { body, query }: FastifyRequest,
    own: string,
    presence: "required" | "optional",
  ): Promise<void> {
    const named = [body, query].map((from) => valueOf(from, "workspace_id") ?? undefined);
    const given = named.filter((id) => id !== undefined);
    for (const id of given.length === 0 ? [undefined] : given) await checkWorkspaceId(store.read, id, own, presence);
  }

  app.addHook("onSend", (request, reply, payload, done) => {
    const { slot } = request;
    // Who is refused before their key was looked at (the process is ending) has the headers as well.
    const rate = request.rate ?? unknownCallerRate(clock.now());
    const counts = reply.statusCode >= 200 && reply.statusCode < 300;
    const send = (shown: RateState): void => {
      reply.headers(rateHeaders(shown));
      settle.get(request)?.();
      done(null, payload);
    };
    if (slot === null || counts) {
      send(rate);
      return;
    }
    request.slot = null;
    const given = { ...rate, remainingMinute: rate.remainingMinute + 1, remainingDay: rate.remainingDay + 1 };
    void limits
      .giveBack(slot)
      // The caller is told of what failed, not of the slot that stays taken until its window ends.
      .catch((error: unknown) => request.log.error({ err: error, requestId: request.id }, "limits: refund failed"))
      .then(() => send(given));
  });

  app.setErrorHandler((error, request, reply) => handleError(error, request, reply));
  app.setNotFoundHandler((request, reply) => handleError(unknownPath(request), request, reply));
  await app.register(multipart, { limits: formLimits, throwFileSizeLimit: false });

  const representation = createRepresentation(
    store,
    () => clock.now(),
    (id) => dependencies.files.link(id, apiLinkMs),
  );
  const idempotency = createIdempotency(dependencies);
  const resources = { ...dependencies, limits, idempotency, representation, ending };
  conversationRoutes(app, resources);
  messageRoutes(app, resources);
  bulkRoutes(app, resources);
  queryRoutes(app, resources);
  documentRoutes(app, resources);
}

/** MySQL takes an id with spaces after it for the same; no id of ours has any. */
function requireExactIds(params: unknown): void {
  if (!isObject(params)) return;
  for (const [name, id] of Object.entries(params)) {
    if (typeof id !== "string" || !id.endsWith(" ")) continue;
    if (name === "conversation_id") throw conversationNotFound();
    if (name === "document_id") throw documentNotFound();
    throw new Problem("not_found", "There is nothing with this id.");
  }
}

/** Where a route has a schema, the validator refuses; where it has none, it takes nothing, or `workspace_id` alone. */
function refuseUnknown({ routeOptions, query, body }: FastifyRequest): void {
  const { schema, config } = routeOptions;
  const known = config.workspaceId === "optional" ? ["workspace_id"] : [];
  if (schema?.querystring === undefined && isObject(query)) {
    const problem = unknownName(query, known, "parameter");
    if (problem !== undefined) throw problem;
  }
  if (schema?.body !== undefined || body === undefined || body === null) return;
  if (!isObject(body)) throw new Problem("invalid_json", "The body must be a JSON object.");
  const problem = unknownName(body, known, "field");
  if (problem !== undefined) throw problem;
}

/**
 * Whichever comes first: the end of the response, or of its connection. A response that waits behind others on a
 * connection hears nothing of that one's end, and either may have been while we looked up the key.
 */
function leaveAtTheEnd(request: FastifyRequest, reply: FastifyReply, leave: () => void): void {
  const { socket } = request.raw;
  const end = (): void => {
    socket.off("close", end);
    reply.raw.off("close", end);
    leave();
  };
  // As many as one key may have in flight, each with a listener.
  socket.setMaxListeners(100);
  socket.once("close", end);
  reply.raw.once("close", end);
  if (socket.destroyed || reply.raw.destroyed) end();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueOf(from: unknown, name: string): unknown {
  return isObject(from) && Object.hasOwn(from, name) ? from[name] : undefined;
}
