import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies, Webhook } from "#http/dependencies.ts";
import type { Bodies } from "#http/middleware/bodies/bodies.ts";
import { parseBodies } from "#http/middleware/bodies/bodies.ts";
import type { SendWebResponse } from "./web.ts";
import { webRequestOf } from "./web.ts";

const webhookBytesMax = 4 * 1_048_576;

/** `/channels/:channel/:account`: deliveries of the platforms. Call it in a scope of its own. */
export function webhookRoutes(
  scope: App,
  { sites }: Pick<HttpDependencies, "sites">,
  bodies: Bodies,
  send: SendWebResponse,
): void {
  const webhooks = new WeakMap<FastifyRequest, Webhook>();
  const webhookOf = (request: FastifyRequest): Webhook => {
    const webhook = webhooks.get(request);
    if (webhook === undefined) throw new Problem("not_found", "There is no such account.");
    return webhook;
  };
  // Signatures cover the bytes, so the content type does not matter.
  scope.removeAllContentTypeParsers();
  parseBodies(
    scope,
    bodies,
    "*",
    (_request, body, done) => done(null, body),
    (request) => webhookOf(request).bodyBytesMax ?? webhookBytesMax,
  );
  // Refuses what cannot come from the platform before the body is read.
  scope.addHook<{ Params: { channel: string; account: string } }>("onRequest", async (request, reply) => {
    const webhook = await sites.webhook(request.params.channel, request.params.account);
    if (webhook !== undefined) webhooks.set(request, webhook);
    const refused = webhookOf(request).refuse?.(webRequestOf(request)) ?? null;
    if (refused !== null) return send(reply, refused);
    return undefined;
  });
  scope.route<{ Params: { channel: string; account: string } }>({
    // Some platforms check the address with HEAD.
    method: ["GET", "HEAD", "POST"],
    url: "/channels/:channel/:account",
    schema: { hide: true },
    handler: async (request, reply) => send(reply, await webhookOf(request).receive(webRequestOf(request))),
  });
}
