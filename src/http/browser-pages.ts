import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";

/** Pages of agents, and the files of the browser build that they load. */

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** `frames`: the page may show pages of this server in frames. */
export function sendPage(
  reply: FastifyReply,
  status: number,
  html: string,
  { frames = false }: { readonly frames?: boolean } = {},
): FastifyReply {
  return (
    reply
      .code(status)
      .header("content-type", "text/html; charset=utf-8")
      .header("cache-control", "no-store")
      .header("content-security-policy", frames ? `${policy}; frame-src 'self'` : policy)
      .header("cross-origin-opener-policy", "same-origin")
      // Other sites must not get a sign-in link as a referrer. Own forms must name their origin.
      .header("referrer-policy", "same-origin")
      .header("x-frame-options", "DENY")
      .send(html)
  );
}

/** `area`: the path that has the style sheet. */
export function browserPage(title: string, body: string, area: "inbox" | "dashboard" = "inbox"): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${area}/app.css">
</head>
<body>
${body}
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (character) => `&#${character.codePointAt(0)};`);
}

interface Loaded {
  readonly body: Buffer;
  readonly etag: string;
  readonly modifiedMs: number;
}

/** Serves a file of the browser build. It is read again when the file changes. */
export function createAsset(file: URL, type: string) {
  let loaded: Loaded | undefined;

  const load = async (): Promise<Loaded> => {
    const { mtimeMs } = await stat(file);
    if (loaded?.modifiedMs !== mtimeMs) {
      const body = await readFile(file);
      loaded = {
        body,
        etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
        modifiedMs: mtimeMs,
      };
    }
    return loaded;
  };

  return async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    let asset: Loaded;
    try {
      asset = await load();
    } catch (error) {
      throw new Problem("deploying", "The pages have not been built. Run: npm run build", { cause: error });
    }
    void reply.header("content-type", type).header("cache-control", "no-cache").header("etag", asset.etag);
    if ((request.headers["if-none-match"] ?? "").includes(asset.etag)) return reply.code(304).send();
    return reply.send(asset.body);
  };
}
