import { channels } from "#channels/catalog.ts";
import { parseWorkspaceId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { bodyOf, linger } from "#http/middleware/bodies/linger.ts";
import type { SendWebResponse } from "./web.ts";
import { webRequestOf } from "./web.ts";

/** `POST /widget/*` of customers' browsers. Call it in a scope of its own. */
export function postRoutes(
  scope: App,
  { sites, options }: Pick<HttpDependencies, "sites" | "options">,
  send: SendWebResponse,
): void {
  // The adapter checks the request first and then reads the body as a stream.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, done) => done(null));
  scope.route({
    method: ["POST", "OPTIONS"],
    url: "/widget/*",
    schema: { hide: true },
    handler: async (request, reply) => {
      const { body: _, ...head } = webRequestOf(request);
      const workspaceId = parseWorkspaceId(head.query["workspace"] ?? "");
      const channel = channels.find((name) => name === (head.query["channel"] ?? "widget"));
      const post =
        workspaceId === undefined || channel === undefined
          ? undefined
          : await sites.post(workspaceId, channel, head.path);
      if (post === undefined) {
        linger(request);
        throw new Problem("not_found", "There is nothing at this path.");
      }
      const aborted = new AbortController();
      const gone = (): void => aborted.abort(new Error("the browser closed the connection"));
      request.raw.once("close", () => {
        if (!request.raw.complete) gone();
      });
      // A response that waits for a message has no reader any more.
      reply.raw.once("close", () => {
        if (!reply.raw.writableFinished) gone();
      });
      try {
        return await send(reply, await post.handle(head, bodyOf(request, options.timeouts.bodyMs), aborted.signal));
      } finally {
        linger(request);
      }
    },
  });
}
