import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type {
  Account,
  ChannelHost,
  SiteRoute,
  WebRequest,
  WebResponse,
  WorkspaceBranding,
} from "#channels/contract.ts";
import { parseWorkspaceId } from "#domain/ids.ts";
import type { Face } from "./frames.ts";
import { hostHeaders, originAllowed } from "./origins.ts";
import { chatPage, chatPageHeaders, noChatPage } from "./hosted-page.ts";
import { textsOf } from "./translations/texts.ts";

/** What `npm run build` makes of `browser/`. */
export const bundlePath = new URL("../../dist/widget.js", import.meta.url);

interface Bundle {
  readonly body: Buffer;
  readonly etag: string;
  readonly modifiedMs: number;
}

/** The script, its texts in a language, the face of the workspace for a page that has not opened the chat yet, and the hosted page. */
export function siteRoutes(account: Account, host: ChannelHost, bundle: URL = bundlePath): readonly SiteRoute[] {
  let loaded: Bundle | undefined;

  const load = async (): Promise<Bundle> => {
    const { mtimeMs } = await stat(bundle);
    if (loaded?.modifiedMs !== mtimeMs) {
      const body = await readFile(bundle);
      loaded = {
        body,
        etag: etagOf(body),
        modifiedMs: mtimeMs,
      };
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
          host.log.error({ err: error }, "widget: reading dist/widget.js failed, run `npm run build`");
          return { status: 503, headers: plain, body: "The widget has not been built. Run: npm run build\n" };
        }
        return cached(request, "text/javascript", script);
      },
    },
    {
      path: "/widget/texts/*",
      handle(request): WebResponse {
        const [, language = ""] = /^\/widget\/texts\/([a-z]+)\.json$/u.exec(request.path) ?? [];
        const texts = textsOf(language);
        if (texts === undefined) return { status: 404, headers: plain, body: "There are no texts in this language.\n" };
        const body = Buffer.from(JSON.stringify(texts));
        return cached(request, "application/json", { body, etag: etagOf(body) });
      },
    },
    {
      path: "/chat/*",
      async handle(request): Promise<WebResponse> {
        const face = await host.workspace();
        const [, named, rest] = /^\/chat\/([^/]+)(\/face)?$/u.exec(request.path) ?? [];
        if (named === undefined || parseWorkspaceId(named) !== account.workspaceId) {
          return { status: 404, headers: chatPageHeaders({ allowedOrigins: [] }), body: noChatPage() };
        }
        if (rest === undefined) return { status: 200, headers: chatPageHeaders(face), body: chatPage(face) };
        return faceFor(request, face);
      },
    },
  ];
}

const etagOf = (body: Buffer): string => `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

/** For every page, and the same for each. */
function cached(request: WebRequest, type: string, { body, etag }: Pick<Bundle, "body" | "etag">): WebResponse {
  const headers = {
    "Content-Type": `${type}; charset=utf-8`,
    "Cache-Control": "public, max-age=300, stale-while-revalidate=86400",
    ETag: etag,
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
  };
  const known = request.headers["if-none-match"] ?? "";
  return known.includes(etag) ? { status: 304, headers } : { status: 200, headers, body };
}

/** What a page that embeds the widget shows before the customer opens it: not for pages that may not embed it. */
function faceFor(
  { headers, query }: WebRequest,
  { title, botName, greeting, color, leadCapture, files, allowedOrigins }: WorkspaceBranding,
): WebResponse {
  const { origin } = headers;
  const channel = query["channel"] === "hosted" ? "hosted" : "widget";
  // A page's request to its own server carries no Origin; the handshake, which always has one, is what protects.
  if (origin !== undefined && !originAllowed({ origin, ...hostHeaders(headers) }, channel, allowedOrigins)) {
    return {
      status: 403,
      headers: { ...plain, Vary: "Origin", "Access-Control-Allow-Origin": origin },
      body: "This page may not use this widget: its origin is not in the workspace's list.\n",
    };
  }
  return {
    status: 200,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": "private, max-age=60",
      Vary: "Origin",
      ...(origin === undefined ? {} : { "Access-Control-Allow-Origin": origin }),
      "Cross-Origin-Resource-Policy": "cross-origin",
    },
    body: JSON.stringify({ title, botName, greeting, color, leadCapture, files } satisfies Face),
  };
}

const plain = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
