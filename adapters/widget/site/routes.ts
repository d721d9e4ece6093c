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
import { brandingOf } from "../render.ts";
import { hostHeaders, originAllowed } from "./origins.ts";
import { chatPage, chatPageHeaders, noChatPage } from "./hosted-page.ts";
import { localeOf } from "#language/locales.ts";

/** `npm run build` bundles `browser/` into this file. */
export const bundlePath = new URL("../../../dist/widget.js", import.meta.url);

interface Bundle {
  readonly body: Buffer;
  readonly etag: string;
  readonly modifiedMs: number;
}

/** The script, its texts, the hosted page, and the branding for pages whose chat has no connection yet. */
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
        // The script has the English texts.
        const texts = language === "en" ? undefined : localeOf(language)?.widget;
        if (texts === undefined) return { status: 404, headers: plain, body: "There are no texts in this language.\n" };
        const body = Buffer.from(JSON.stringify(texts));
        return cached(request, "application/json", { body, etag: etagOf(body) });
      },
    },
    {
      path: "/chat/*",
      async handle(request): Promise<WebResponse> {
        const workspace = await host.workspace();
        const [, id, rest] = /^\/chat\/([^/]+)(\/face)?$/u.exec(request.path) ?? [];
        if (id === undefined || parseWorkspaceId(id) !== account.workspaceId) {
          return { status: 404, headers: chatPageHeaders({ allowedOrigins: [] }), body: noChatPage() };
        }
        if (rest === undefined) return { status: 200, headers: chatPageHeaders(workspace), body: chatPage(workspace) };
        return brandingFor(request, workspace);
      },
    },
  ];
}

const etagOf = (body: Buffer): string => `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

/** The same for every page. */
function cached(request: WebRequest, type: string, { body, etag }: Pick<Bundle, "body" | "etag">): WebResponse {
  const headers = {
    "Content-Type": `${type}; charset=utf-8`,
    "Cache-Control": "public, max-age=300, stale-while-revalidate=86400",
    ETag: etag,
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
  };
  const isCurrent = request.headers["if-none-match"]?.includes(etag) === true;
  return isCurrent ? { status: 304, headers } : { status: 200, headers, body };
}

/** Served before the customer opens the chat, and only to pages that may embed it. */
function brandingFor({ headers, query }: WebRequest, workspace: WorkspaceBranding): WebResponse {
  const { origin } = headers;
  const channel = query["channel"] === "hosted" ? "hosted" : "widget";
  // Browsers send no Origin to a page's own server. The handshake, which always has one, is what protects.
  if (origin !== undefined && !originAllowed({ origin, ...hostHeaders(headers) }, channel, workspace.allowedOrigins)) {
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
    body: JSON.stringify(brandingOf(workspace)),
  };
}

const plain = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
