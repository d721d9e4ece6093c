import type { App } from "./app-type.ts";
import { createServer as createHttpServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { LogController } from "fastify";
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { newId } from "#domain/ids.ts";
import { requestContext } from "#runtime/request-context.ts";
import type { ProblemCode } from "#domain/problem.ts";
import { Problem } from "#domain/problem.ts";
import { createBodies } from "./middleware/bodies.ts";
import { createClientAddress } from "./middleware/client-address.ts";
import { createCompression } from "./middleware/compress.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { health } from "./health.ts";
import { createInFlight } from "./middleware/in-flight.ts";
import { fileLinks } from "./files.ts";
import { registerInbox } from "./inbox/routes.ts";
import { linger } from "./middleware/linger.ts";
import { observe } from "./middleware/observe.ts";
import { describeApi } from "./openapi/openapi.ts";
import { handleError, rawProblem, sendProblem } from "./problem.ts";
import { parseJsonBodies } from "./middleware/json-body.ts";
import { site } from "./sites/sites.ts";
import { v1 } from "./v1/routes.ts";
import { compileValidator } from "./middleware/validation.ts";

export interface HttpServer {
  /** Where it listens; resolves once connections are taken. */
  listen(host: string, port: number): Promise<string>;
  /** Takes no more requests, lets those in flight finish for `closeMs`, then cuts off what is left. */
  close(): Promise<void>;
}

const bodyBytesMax = 1_048_576;
const headerBytesMax = 16_384;
/** For the answers that say so to what is cut off. */
const answerMs = 1_000;
const flushMs = 50;

/** Assembles everything that is answered over HTTP. Nothing listens yet. */
export async function createServer(dependencies: HttpDependencies): Promise<HttpServer> {
  const { clock, log, options } = dependencies;
  const { timeouts } = options;
  let warned = false;
  const clientAddress = createClientAddress(options.trustedProxies, () => {
    if (!warned) {
      log.warn(
        {},
        "http: X-Forwarded-For from an untrusted proxy, all customers behind it share one address's limits, see TRUSTED_PROXIES",
      );
    }
    warned = true;
  });
  const responses: Responses = new WeakMap();
  const ending = new AbortController();
  const inFlight = createInFlight();
  let closing = false;

  const logger: FastifyBaseLogger = log;
  const app: App = Fastify({
    loggerInstance: logger,
    // src/http/middleware/observe.ts writes one line a request.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: () => newId("req", clock.now()),
    requestIdHeader: false,
    // The log itself knows the request that it is written in.
    childLoggerFactory: (parent) => parent,
    bodyLimit: bodyBytesMax,
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // An id of any length is an unknown id; what bounds it is the size of the headers.
    routerOptions: { maxParamLength: headerBytesMax },
    rewriteUrl: (request) => routableUrl(request.url ?? "/"),
    serverFactory: (handler) => {
      const server = createHttpServer(
        {
          headersTimeout: timeouts.headersMs,
          requestTimeout: timeouts.requestMs,
          connectionsCheckingInterval: timeouts.checkMs,
          keepAliveTimeout: timeouts.keepAliveMs,
          maxHeaderSize: headerBytesMax,
          // Node would refuse these without a body; see requireOneHost.
          requireHostHeader: false,
          // Clients that offer HTTP/2 on a plain request are served HTTP/1.1.
          shouldUpgradeCallback: ({ headers, url }) =>
            headers.upgrade?.toLowerCase() === "websocket" && !isApiPath(url ?? "/"),
        },
        handler,
      );
      server.maxConnections = options.connectionsMax;
      server.on("request", ({ socket }, response) => {
        const open = responses.get(socket) ?? new Set();
        responses.set(socket, open.add(response));
        response.once("close", () => open.delete(response));
      });
      // An expectation that is not known is ignored; Node would refuse it without a body.
      server.on("checkExpectation", (request, response) => server.emit("request", request, response));
      // Node's own time limits begin with the first byte.
      server.on("connection", (socket: Socket) => {
        const timer = setTimeout(() => {
          if (socket.bytesRead === 0) socket.destroy();
        }, timeouts.firstByteMs);
        socket.once("close", () => clearTimeout(timer));
      });
      return server;
    },
    clientErrorHandler: refuseBrokenRequest(dependencies, responses),
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, nothingHere()));
  const bodies = createBodies(options.bodies, timeouts.bodyMs);
  parseJsonBodies(app, bodies);

  app.decorateRequest("caller", null);
  app.decorateRequest("rate", null);
  app.decorateRequest("slot", null);
  app.decorateRequest("remoteAddress", "");
  app.decorateRequest("response", null);
  app.addHook("onRequest", (request, _reply, done) => requestContext.run(request.id, done));
  // What reads a body goes on in the connection's context, not in the request's.
  app.addHook("preValidation", (request, _reply, done) => requestContext.run(request.id, done));
  // Hooks of every request call back instead of being awaited: each promise is another turn for all of them.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    request.response = reply.raw;
    const forwarded = request.headers["x-forwarded-for"];
    request.remoteAddress = clientAddress(
      request.raw.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    );
    if (closing && !request.url.startsWith("/health/")) {
      done(new Problem("deploying", "This process is ending; another takes over.", { retryAfterS: 30 }));
    } else done(requireOneHost(request.raw));
  });
  // After the scopes' own hooks: /v1 authenticates first. No body is read for a path that does not exist.
  app.addHook("preParsing", (request, _reply, payload, done) => {
    const problem = request.is404 ? nothingHere() : refuseEncoded(request);
    if (problem === undefined) done(null, payload);
    else done(problem);
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    const isUnread = hasLongUnreadBody(request);
    if (isUnread) linger(request);
    // A client that keeps its connection would keep us from ending, or send the rest of what was refused.
    if (closing || isUnread) reply.header("connection", "close");
    done(null, payload);
  });
  app.addHook("onSend", createCompression());
  observe(app, dependencies);

  await describeApi(app, dependencies);
  await app.register(async (scope: App) => v1(scope, dependencies, { ending: ending.signal, inFlight }), {
    prefix: "/v1",
  });
  health(app, dependencies, () => closing);
  await registerInbox(app, dependencies, bodies);
  fileLinks(app, dependencies);
  await site(app, dependencies, { bodies, clientAddress });
  await app.ready();

  return {
    listen: (host, port) => app.listen({ host, port }),
    async close() {
      closing = true;
      const cutOff = setTimeout(() => {
        ending.abort(new Problem("deploying", "This process is ending.", { retryAfterS: 30 }));
        void inFlight.settled(answerMs).then(() => setTimeout(() => app.server.closeAllConnections(), flushMs));
      }, timeouts.closeMs);
      try {
        await app.close();
        // What was cut off has yet to give back what it took; the database is closed after us.
        await inFlight.settled(flushMs);
      } finally {
        clearTimeout(cutOff);
      }
    },
  };
}

const nothingHere = (): Problem => new Problem("not_found", "There is nothing at this path.");

/** Shorter bodies arrive with their headers, and the connection is kept for the next request. */
const shortBodyBytes = 65_536;

function hasLongUnreadBody({ raw, headers }: FastifyRequest): boolean {
  if (raw.complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") > shortBodyBytes;
}

/** The router refuses text that is not URL-encoded before any hook runs; this way the request is a normal 404. */
function routableUrl(url: string): string {
  try {
    decodeURIComponent(pathOf(url));
    return url;
  } catch {
    return isApiPath(url) ? "/v1/-" : "/-";
  }
}

function isApiPath(url: string): boolean {
  const path = pathOf(url);
  return path === "/v1" || path.startsWith("/v1/");
}

function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? "/";
}

/** RFC 9112, 3.2: HTTP/1.1 needs one Host header, and no request may have two. */
function requireOneHost({ rawHeaders, httpVersion }: IncomingMessage): Problem | undefined {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts === 1 || (hosts === 0 && httpVersion === "1.0")) return undefined;
  return new Problem("missing_field", "The request needs one Host header.");
}

function refuseEncoded({ headers }: FastifyRequest): Problem | undefined {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return undefined;
  return new Problem(
    "unsupported_media_type",
    "A body with a Content-Encoding is not accepted here; send it as it is.",
  );
}

/** Those of each connection that have not ended. */
type Responses = WeakMap<Socket, Set<ServerResponse>>;

/** For what is no request that a route could answer: there is only a socket. */
function refuseBrokenRequest({ clock, log }: HttpDependencies, responses: Responses) {
  return function refuse(error: Error & { readonly code?: string }, socket: Socket): void {
    // An answer in the middle of another one would be taken for a part of it.
    const busy = responses
      .get(socket)
      ?.values()
      .some(({ headersSent }) => headersSent);
    if (error.code === "ECONNRESET" || !socket.writable || busy === true || socket.bytesRead === 0) {
      socket.destroy(error);
      return;
    }
    const [status, code, detail] = brokenAs(error.code);
    const requestId = newId("req", clock.now());
    log.info({ requestId, status, error: error.code }, "http: request refused");
    socket.end(rawProblem(status, code, detail, { requestId, now: clock.now() }));
    // What does not read our answer does not keep the socket either.
    socket.destroySoon();
  };
}

function brokenAs(code: string | undefined): readonly [400 | 408 | 431, ProblemCode, string] {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "request_timeout", "The request did not arrive in time."];
    case "HPE_HEADER_OVERFLOW":
      return [431, "payload_too_large", `The request line and headers may have ${headerBytesMax} bytes in all.`];
    default:
      return [400, "invalid_parameter", "This is not an HTTP request."];
  }
}
