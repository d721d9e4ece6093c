import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Account, ChannelHost, SiteRoute, WebResponse } from "#channel/contract.ts";
import { parseWorkspaceId } from "#domain/ids.ts";
import type { Face } from "./frames.ts";
import { originAllowed } from "./origins.ts";
import { chatPage, chatPageHeaders, noChatPage } from "./page.ts";

/** What `npm run build` makes of `browser/`. */
export const bundlePath = new URL("../../dist/widget.js", import.meta.url);

interface Bundle {
  readonly body: Buffer;
  readonly etag: string;
  readonly modifiedMs: number;
}

/** The script, the face of the workspace for a page that has not opened the chat yet, and the hosted page. */
export function siteRoutes(account: Account, host: ChannelHost, bundle: URL = bundlePath): readonly SiteRoute[] {
  let loaded: Bundle | undefined;

  const load = async (): Promise<Bundle> => {
    const { mtimeMs } = await stat(bundle);
    if (loaded?.modifiedMs !== mtimeMs) {
      const body = await readFile(bundle);
      loaded = { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`, modifiedMs: mtimeMs };
    }
    return loaded;
  };

  return [
    {
      path: "/widget.js",
      async handle(request): Promise<WebResponse> {
        let script: Bundle;
        try {
          script = await load();
        } catch (error) {
          host.log.error({ err: error }, "dist/widget.js cannot be read: run `npm run build`");
          return { status: 503, headers: plain, body: "The widget has not been built. Run: npm run build\n" };
        }
        const headers = {
          "Content-Type": "text/javascript; charset=utf-8",
          "Cache-Control": "public, max-age=300, stale-while-revalidate=86400",
          ETag: script.etag,
          "Cross-Origin-Resource-Policy": "cross-origin",
          "X-Content-Type-Options": "nosniff",
        };
        const known = request.headers["if-none-match"] ?? "";
        return known.includes(script.etag) ? { status: 304, headers } : { status: 200, headers, body: script.body };
      },
    },
    {
      path: "/widget/*",
      async handle(request): Promise<WebResponse> {
        if (request.path !== "/widget/face") return { status: 404, headers: plain, body: "Not found.\n" };
        if (parseWorkspaceId(request.query["workspace"] ?? "") !== account.workspaceId) {
          return { status: 404, headers: { ...plain, "Access-Control-Allow-Origin": "*" }, body: "There is no such workspace.\n" };
        }
        const face = await host.workspace();
        const { origin } = request.headers;
        // A page's request to its own server carries no Origin; the handshake, which always does, is what protects.
        const allowed =
          origin === undefined || originAllowed({ ...hostHeaders(request.headers), origin }, account.channel, face.allowedOrigins);
        if (!allowed) return { status: 403, headers: { ...plain, Vary: "Origin" }, body: "This page may not use this widget.\n" };
        const { title, botName, greeting, color, leadCapture } = face;
        return {
          status: 200,
          headers: {
            "Content-Type": "application/json; charset=utf-8",
            "Cache-Control": "private, max-age=60",
            Vary: "Origin",
            ...(origin === undefined ? {} : { "Access-Control-Allow-Origin": origin }),
            "Cross-Origin-Resource-Policy": "cross-origin",
          },
          body: JSON.stringify({ title, botName, greeting, color, leadCapture } satisfies Face),
        };
      },
    },
    {
      path: "/chat/*",
      async handle(request): Promise<WebResponse> {
        const face = await host.workspace();
        const named = /^\/chat\/([^/]+)\/?$/u.exec(request.path)?.[1];
        if (named === undefined || parseWorkspaceId(named) !== account.workspaceId) {
          return { status: 404, headers: chatPageHeaders({ allowedOrigins: [] }), body: noChatPage() };
        }
        return { status: 200, headers: chatPageHeaders(face), body: chatPage(face) };
      },
    },
  ];
}

const plain = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };

function hostHeaders(headers: Readonly<Record<string, string>>): { host?: string; "x-forwarded-host"?: string } {
  const { host, "x-forwarded-host": forwarded } = headers;
  return { ...(host === undefined ? {} : { host }), ...(forwarded === undefined ? {} : { "x-forwarded-host": forwarded }) };
}
