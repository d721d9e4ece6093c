import { createServer as createHttpServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { LogController } from "fastify";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { newId } from "#domain/ids.ts";
import { requestContext } from "#src/request-context.ts";
import { Problem } from "#domain/problem.ts";
import { createClientAddress } from "./client-address.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { health } from "./health.ts";
import { createInFlight } from "./in-flight.ts";
import { fileLinks } from "./files.ts";
import { registerInbox } from "./inbox/routes.ts";
import { observe } from "./observe.ts";
import { describeApi } from "./openapi.ts";
import { handleError, rawProblem, sendProblem } from "./problem.ts";
import { parseJsonBodies } from "./json-body.ts";
import { site } from "./site.ts";
import { v1 } from "./v1/routes.ts";
import { compileValidator } from "./validation.ts";

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>;

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
        "requests come with X-Forwarded-For, and no proxy is trusted: behind one, all customers share the limits of one address; see TRUSTED_PROXIES",
      );
    }
    warned = true;
  });
  const ending = new AbortController();
  const inFlight = createInFlight();
  let closing = false;

  const logger: FastifyBaseLogger = log;
  const app: App = Fastify({
    loggerInstance: logger,
    // observe.ts writes one line a request.
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
          // Clients that offer HTTP/2 on a plain request are served HTTP/1.1.
          shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
        },
        handler,
      );
      server.maxConnections = options.connectionsMax;
      // Node's own time limits begin with the first byte.
      server.on("connection", (socket: Socket) => {
        const timer = setTimeout(() => {
          if (socket.bytesRead === 0) socket.destroy();
        }, timeouts.firstByteMs);
        socket.once("close", () => clearTimeout(timer));
      });
      return server;
    },
    clientErrorHandler: refuseBrokenRequest(() => newId("req", clock.now())),
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((_request, reply) =>
    sendProblem(reply, new Problem("not_found", "There is nothing at this path.")),
  );
  parseJsonBodies(app);

  app.decorateRequest("caller", null);
  app.decorateRequest("rate", null);
  app.decorateRequest("slot", null);
  app.decorateRequest("remoteAddress", "");
  app.addHook("onRequest", (request, _reply, done) => requestContext.run(request.id, done));
  // What reads a body goes on in the connection's context, not in the request's.
  app.addHook("preValidation", (request, _reply, done) => requestContext.run(request.id, done));
  // Hooks of every request call back instead of being awaited: each promise is another turn for all of them.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    const forwarded = request.headers["x-forwarded-for"];
    request.remoteAddress = clientAddress(
      request.raw.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    );
    if (closing && !request.url.startsWith("/health/")) {
      done(new Problem("deploying", "This process is ending; another takes over.", { retryAfterS: 30 }));
    } else done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    // A client that keeps its connection would keep us from ending.
    if (closing) reply.header("connection", "close");
    done(null, payload);
  });
  observe(app, dependencies);

  await describeApi(app, dependencies);
  await app.register(async (scope: App) => v1(scope, dependencies, { ending: ending.signal, inFlight }), {
    prefix: "/v1",
  });
  health(app, dependencies, () => closing);
  await registerInbox(app, dependencies);
  fileLinks(app, dependencies);
  await site(app, dependencies, clientAddress);
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

/** The router refuses text that is not URL-encoded before any hook runs; this way the request is a normal 404. */
function routableUrl(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? "/";
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path === "/v1" || path.startsWith("/v1/") ? "/v1/-" : "/-";
  }
}

function refuseBrokenRequest(newRequestId: () => string) {
  return function refuse(error: Error & { readonly code?: string }, socket: Socket): void {
    if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
      socket.destroy(error);
      return;
    }
    const id = newRequestId();
    switch (error.code) {
      case "ERR_HTTP_REQUEST_TIMEOUT":
        socket.end(rawProblem(408, "invalid_parameter", "The request did not arrive in time.", id));
        break;
      case "HPE_HEADER_OVERFLOW":
        socket.end(rawProblem(431, "payload_too_large", "The request's headers are too large.", id));
        break;
      default:
        socket.end(rawProblem(400, "invalid_parameter", "This is not an HTTP request.", id));
    }
    // What does not read our answer does not keep the socket either.
    socket.destroySoon();
  };
}
