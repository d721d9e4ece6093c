import type { FastifyReply, FastifyRequest } from "fastify";
import type { SiteRoute, WebRequest, WebResponse } from "#channels/contract.ts";
import { parseWorkspaceId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { Bodies } from "#http/middleware/bodies/bodies.ts";
import type { createClientAddress } from "#http/middleware/client-address.ts";
import { postRoutes } from "./posts.ts";
import { acceptSockets } from "./sockets.ts";
import { createSendWebResponse, webRequestOf } from "./web.ts";
import { webhookRoutes } from "./webhooks.ts";

/** The pages, posts and sockets of channels for customers, and the webhooks of platforms. */
export async function site(
  app: App,
  dependencies: HttpDependencies,
  {
    bodies,
    clientAddress,
  }: { readonly bodies: Bodies; readonly clientAddress: ReturnType<typeof createClientAddress> },
): Promise<void> {
  const { sites, demoPage, options } = dependencies;
  const hidden = { schema: { hide: true } };
  const send = createSendWebResponse(options.publicUrl);

  const widget = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const webRequest = webRequestOf(request);
    return send(reply, await serve(await sites.page(webRequest.path, webRequest.query), webRequest));
  };
  app.get("/widget.js", hidden, widget);
  app.get("/widget/*", hidden, widget);

  const hosted = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const webRequest = webRequestOf(request);
    const workspaceId = parseWorkspaceId(webRequest.path.split("/")[2] ?? "");
    const route =
      workspaceId === undefined ? undefined : await sites.workspacePage(workspaceId, webRequest.path, webRequest.query);
    return send(reply, route === undefined ? unknownPage : await serve(route, webRequest));
  };
  app.get("/chat/:workspace", hidden, hosted);
  app.get("/chat/:workspace/*", hidden, hosted);

  // Customers get a page of their own, so only agents open the bare address.
  app.get("/", hidden, async (_request, reply) => reply.redirect("/inbox", 302));

  if (demoPage !== undefined) {
    app.get("/demo", hidden, async (_request, reply) => send(reply, await demoPage()));
  }

  await app.register(async (scope: App) => webhookRoutes(scope, dependencies, bodies, send));
  await app.register(async (scope: App) => postRoutes(scope, dependencies, send));
  acceptSockets(app.server, dependencies, clientAddress);
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
    // Lets a widget distinguish an unknown workspace from a network failure.
    "access-control-allow-origin": "*",
  },
  body: '<!doctype html><html lang="en"><meta charset="utf-8"><title>Not found</title><h1>This chat does not exist</h1><p>Please check the address.</p></html>',
};
