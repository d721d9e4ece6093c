import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SiteRoute, WebRequest, WebResponse } from "#channels/contract.ts";
import { newId, parseWorkspaceId } from "#domain/ids.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { channels } from "#domain/conversation/message.ts";
import type { ProblemCode } from "#domain/problem.ts";
import { Problem } from "#domain/problem.ts";
import type { Bodies } from "#http/middleware/bodies.ts";
import { parseBodies } from "#http/middleware/bodies.ts";
import type { createClientAddress } from "#http/middleware/client-address.ts";
import type { HttpDependencies, Webhook } from "#http/dependencies.ts";
import { rawProblem, retryAfterDefaultS } from "#http/problem.ts";
import { bodyOf, linger } from "#http/middleware/linger.ts";
import type { App } from "#http/app-type.ts";

const webhookBytesMax = 4 * 1_048_576;

/** What customers and platforms reach: pages and sockets of the accounts, and the platforms' webhooks. */
export async function site(
  app: App,
  { sites, demoPage, clock, log, options }: HttpDependencies,
  {
    bodies,
    clientAddress,
  }: { readonly bodies: Bodies; readonly clientAddress: ReturnType<typeof createClientAddress> },
): Promise<void> {
  const hidden = { schema: { hide: true } };

  const widget = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const webRequest = webRequestOf(request);
    return answer(reply, await serve(await sites.page(webRequest.path, webRequest.query), webRequest));
  };
  app.get("/widget.js", hidden, widget);
  app.get("/widget/*", hidden, widget);

  const hosted = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const webRequest = webRequestOf(request);
    const workspaceId = parseWorkspaceId(webRequest.path.split("/")[2] ?? "");
    const route = workspaceId === undefined ? undefined : await sites.workspacePage(workspaceId, webRequest.path);
    return answer(reply, route === undefined ? unknownPage : await serve(route, webRequest));
  };
  app.get("/chat/:workspace", hidden, hosted);
  app.get("/chat/:workspace/*", hidden, hosted);

  // Who opens the bare address works here: customers come by a page of their own.
  app.get("/", hidden, async (_request, reply) => reply.redirect("/inbox", 302));

  if (demoPage !== undefined) {
    app.get("/demo", hidden, async (_request, reply) => answer(reply, await demoPage()));
  }

  await app.register(async (scope: App) => {
    const webhooks = new WeakMap<FastifyRequest, Webhook>();
    const webhookOf = (request: FastifyRequest): Webhook => {
      const webhook = webhooks.get(request);
      if (webhook === undefined) throw new Problem("not_found", "There is no such account.");
      return webhook;
    };
    // Signatures are made over the bytes, whatever type they claim to be of.
    scope.removeAllContentTypeParsers();
    parseBodies(
      scope,
      bodies,
      "*",
      (_request, body, done) => done(null, body),
      (request) => webhookOf(request).bodyBytesMax ?? webhookBytesMax,
    );
    // Before the body is read: whose it is, and whether it can be the platform's.
    scope.addHook<{ Params: { channel: string; account: string } }>("onRequest", async (request, reply) => {
      const webhook = await sites.webhook(request.params.channel, request.params.account);
      if (webhook !== undefined) webhooks.set(request, webhook);
      const refused = webhookOf(request).refuse?.(webRequestOf(request)) ?? null;
      if (refused !== null) return answer(reply, refused);
      return undefined;
    });
    scope.route<{ Params: { channel: string; account: string } }>({
      // Platforms ask by HEAD whether there is somebody.
      method: ["GET", "HEAD", "POST"],
      url: "/channels/:channel/:account",
      ...hidden,
      handler: async (request, reply) => answer(reply, await webhookOf(request).receive(webRequestOf(request))),
    });
  });

  await app.register(async (scope: App) => {
    // A file is read as it comes, by whoever checks first whether it is welcome.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    scope.route({
      method: ["POST", "OPTIONS"],
      url: "/widget/*",
      ...hidden,
      handler: async (request, reply) => {
        const { body: _, ...asked } = webRequestOf(request);
        const workspaceId = parseWorkspaceId(asked.query["workspace"] ?? "");
        const channel = channels.find((name) => name === (asked.query["channel"] ?? "widget"));
        const uploads =
          workspaceId === undefined || channel === undefined
            ? undefined
            : await sites.uploads(workspaceId, channel, asked.path);
        if (uploads === undefined) {
          linger(request);
          throw new Problem("not_found", "There is nothing at this path.");
        }
        const gone = new AbortController();
        request.raw.once("close", () => {
          if (!request.raw.complete) gone.abort(new Error("the browser went away"));
        });
        try {
          return await answer(
            reply,
            await uploads.handle(asked, bodyOf(request, options.timeouts.bodyMs), gone.signal),
          );
        } finally {
          linger(request);
        }
      },
    });
  });

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    if (url === null) {
      refuse(socket, 404, "not_found", "There is no such socket.");
      return;
    }
    const workspaceId = parseWorkspaceId(url.searchParams.get("workspace") ?? "");
    const channel = channels.find((name) => name === (url.searchParams.get("channel") ?? "widget"));
    const target =
      workspaceId === undefined || channel === undefined
        ? undefined
        : await socketOf(workspaceId, channel, url.pathname);
    if (target === undefined) {
      refuse(socket, 404, "not_found", "There is no such socket.");
      return;
    }
    const forwarded = request.headers["x-forwarded-for"];
    const remote = clientAddress(
      request.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    );
    target.upgrade(request, socket, head, remote);
  };

  const socketOf = (workspaceId: string, channel: Channel, path: string) => sites.socket(workspaceId, channel, path);

  const refuse = (socket: Duplex, status: 400 | 404 | 503, code: ProblemCode, detail: string): void => {
    // No time limit of the server's holds for it any more: left half open, it would last as long as the other side likes.
    socket.once("finish", () => socket.destroy());
    socket.end(rawProblem(status, code, detail, { requestId: newId("req", clock.now()), now: clock.now() }));
  };

  app.server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const ignoreReset = (): void => undefined;
    // Until the adapter listens itself, a connection that breaks must not end the process.
    socket.on("error", ignoreReset);
    upgrade(request, socket, head).then(
      () => socket.off("error", ignoreReset),
      (error: unknown) => {
        log.error({ err: error }, "http: WebSocket handshake failed");
        refuse(socket, 503, "upstream_timeout", "The handshake failed on our side.");
      },
    );
  });

  const secure = options.publicUrl.startsWith("https:");

  function answer(reply: FastifyReply, response: WebResponse): FastifyReply {
    reply.code(response.status);
    reply.header("referrer-policy", "strict-origin-when-cross-origin");
    if (secure) reply.header("strict-transport-security", "max-age=31536000");
    if (response.status === 503) reply.header("retry-after", String(retryAfterDefaultS));
    for (const [name, value] of Object.entries(response.headers ?? {})) reply.header(name, value);
    return reply.send(response.body ?? "");
  }
}

async function serve(route: SiteRoute | undefined, request: WebRequest): Promise<WebResponse> {
  if (route === undefined) throw new Problem("not_found", "There is nothing at this path.");
  return route.handle(request);
}

const unknownPage: WebResponse = {
  status: 404,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    // Lets a widget tell that its workspace does not exist from that the network is away.
    "access-control-allow-origin": "*",
  },
  body: '<!doctype html><html lang="en"><meta charset="utf-8"><title>Not found</title><h1>This chat does not exist</h1><p>Please check the address.</p></html>',
};

function webRequestOf(request: FastifyRequest): WebRequest {
  const [path = "/", query = ""] = splitOnce(request.originalUrl);
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.push([name, Array.isArray(value) ? value.join(", ") : value]);
  }
  return {
    method: request.method,
    path,
    query: query === "" ? {} : Object.fromEntries(new URLSearchParams(query)),
    headers: Object.fromEntries(headers),
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    remoteAddress: request.remoteAddress,
  };
}

function splitOnce(url: string): readonly string[] {
  const at = url.indexOf("?");
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
