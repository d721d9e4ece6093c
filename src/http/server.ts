import type { App } from "./app-type.ts";
import type { IncomingMessage } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { LogController } from "fastify";
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { newId } from "#domain/ids.ts";
import { requestContext } from "#runtime/request-context.ts";
import { Problem } from "#domain/problem.ts";
import type { Bodies } from "./middleware/bodies/bodies.ts";
import { createBodies } from "./middleware/bodies/bodies.ts";
import { createClientAddress } from "./middleware/client-address.ts";
import { createCompression } from "./middleware/compress.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { health } from "./health/health.ts";
import type { InFlight } from "./middleware/in-flight.ts";
import { createInFlight } from "./middleware/in-flight.ts";
import { avatarFiles } from "./files/avatars.ts";
import { fileLinks } from "./files/files.ts";
import { registerInbox } from "./inbox/routes.ts";
import { linger } from "./middleware/bodies/linger.ts";
import { observe } from "./middleware/observe.ts";
import { describeApi } from "./openapi/openapi.ts";
import type { OpenResponses } from "./node-server.ts";
import { createNodeServer, headerBytesMax, isApiPath, pathOf, refuseBrokenRequest } from "./node-server.ts";
import { handleError, sendProblem } from "./problem.ts";
import { parseJsonBodies } from "./middleware/bodies/json-body.ts";
import { site } from "./sites/sites.ts";
import { adminV1 } from "./admin/routes.ts";
import { registerDashboard } from "./dashboard/dashboard.ts";
import { registerOAuth } from "./v1/access/oauth.ts";
import { createResources } from "./v1/resources.ts";
import { v1 } from "./v1/routes.ts";
import { compileValidator } from "./middleware/validation.ts";

export interface HttpServer {
  /** Resolves with the address once connections are accepted. */
  listen(host: string, port: number): Promise<string>;
  /** Accepts no more requests, gives those in flight `closeMs` to finish, then aborts the rest. */
  close(): Promise<void>;
}

const bodyBytesMax = 1_048_576;
/** Time to send error responses to requests that are cut off. */
const answerMs = 1_000;
const flushMs = 50;

/** Registers all routes. The server does not listen yet. */
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
  const responses: OpenResponses = new WeakMap();
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
    // Log lines get the request id from the request context.
    childLoggerFactory: (parent) => parent,
    bodyLimit: bodyBytesMax,
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // A long id is an unknown id. The limit of headers also limits it.
    routerOptions: { maxParamLength: headerBytesMax },
    rewriteUrl: (request) => routableUrl(request.url ?? "/"),
    serverFactory: (handler) => createNodeServer(options, responses, handler),
    clientErrorHandler: refuseBrokenRequest(dependencies, responses),
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, nothingHere()));
  const bodies = createBodies(options.bodies, timeouts.bodyMs);
  parseJsonBodies(app, bodies);

  addRequestHooks(app, clientAddress, () => closing);
  observe(app, dependencies);

  await describeApi(app, dependencies);
  health(app, dependencies, () => closing);
  await registerApis(app, dependencies, { ending: ending.signal, inFlight, bodies });
  await registerInbox(app, dependencies, bodies);
  await registerDashboard(app, dependencies);
  fileLinks(app, dependencies);
  avatarFiles(app, dependencies);
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
        // Aborted requests still refund their limits, and the database is closed next.
        await inFlight.settled(flushMs);
      } finally {
        clearTimeout(cutOff);
      }
    },
  };
}

/** Hooks of every request use callbacks, because promises would cost time with each request. */
function addRequestHooks(
  app: App,
  clientAddress: ReturnType<typeof createClientAddress>,
  isClosing: () => boolean,
): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("administrator", null);
  app.decorateRequest("rate", null);
  app.decorateRequest("slot", null);
  app.decorateRequest("remoteAddress", "");
  app.decorateRequest("response", null);
  app.addHook("onRequest", (request, _reply, done) => requestContext.run(request.id, done));
  // Reading a body continues in the context of the connection.
  app.addHook("preValidation", (request, _reply, done) => requestContext.run(request.id, done));
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    request.response = reply.raw;
    const forwarded = request.headers["x-forwarded-for"];
    request.remoteAddress = clientAddress(
      request.raw.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    );
    if (isClosing() && !request.url.startsWith("/health/")) {
      done(new Problem("deploying", "This process is ending; another takes over.", { retryAfterS: 30 }));
    } else done(requireOneHost(request.raw));
  });
  // Runs after the hooks of the scopes, so /v1 authenticates first. Bodies for unknown paths are not read.
  app.addHook("preParsing", (request, _reply, payload, done) => {
    const problem = request.is404 ? nothingHere() : refuseEncoded(request);
    if (problem === undefined) done(null, payload);
    else done(problem);
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    const isUnread = hasLongUnreadBody(request);
    if (isUnread) linger(request);
    // A kept connection would delay the end of the program, or bring the rest of a refused body.
    if (isClosing() || isUnread) reply.header("connection", "close");
    done(null, payload);
  });
  app.addHook("onSend", createCompression());
}

interface ApiOptions {
  readonly ending: AbortSignal;
  readonly inFlight: InFlight;
  readonly bodies: Bodies;
}

/** `/v1` with the tokens that open it, and `/admin/v1`. */
async function registerApis(
  app: App,
  dependencies: HttpDependencies,
  { ending, inFlight, bodies }: ApiOptions,
): Promise<void> {
  const resources = createResources(dependencies, ending);
  await app.register(async (scope: App) => v1(scope, resources, inFlight), { prefix: "/v1" });
  await app.register(async (scope: App) => adminV1(scope, resources), { prefix: "/admin/v1" });
  await registerOAuth(app, dependencies, bodies);
}

const nothingHere = (): Problem => new Problem("not_found", "There is nothing at this path.");

/** Shorter bodies arrive with their headers, so the connection is kept. */
const shortBodyBytes = 65_536;

function hasLongUnreadBody({ raw, headers }: FastifyRequest): boolean {
  if (raw.complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") > shortBodyBytes;
}

/** The router refuses bad URL encoding before any hook. With this path, the request gets a normal 404. */
function routableUrl(url: string): string {
  try {
    decodeURIComponent(pathOf(url));
    return url;
  } catch {
    return isApiPath(url) ? "/v1/-" : "/-";
  }
}

/** RFC 9112, section 3.2: HTTP/1.1 needs one Host header, and no request may have two. */
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
