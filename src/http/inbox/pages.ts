import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";

/** The inbox's few pages: a shell that the script fills, and the ones for signing in, which need no script. */

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

export function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return (
    reply
      .code(status)
      .header("content-type", "text/html; charset=utf-8")
      .header("cache-control", "no-store")
      .header("content-security-policy", policy)
      .header("cross-origin-opener-policy", "same-origin")
      // A sign-in link is an address: it must not be told to others. Forms need to say where they come from.
      .header("referrer-policy", "same-origin")
      .header("x-frame-options", "DENY")
      .send(html)
  );
}

export const shell = page(
  "Inbox",
  `<main id="inbox"><noscript><div class="door"><h1>Inbox</h1><p>The inbox needs JavaScript. Please allow it for this page and load it again.</p></div></noscript></main>
<script src="/inbox/app.js" defer></script>`,
);

export function signInPage({
  problem,
  email = "",
}: { readonly problem?: string; readonly email?: string } = {}): string {
  // Without an action the form goes to the address of the page as it stands, with what is behind its #: browsers keep that
  // over redirections, so that a link to a conversation leads there through this page.
  return signInFrame(`<h1>Sign in to the inbox</h1>
${problem === undefined ? "" : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="200" value="${escapeHtml(email)}"${email === "" ? " autofocus" : ""}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="500"${email === "" ? "" : " autofocus"}>
<button class="primary" type="submit">Sign in</button>
</form>
<p class="hint">No password? Ask whoever runs this installation for a sign-in link.</p>`);
}

interface Choice {
  readonly workspace: string;
  readonly token: string;
}

/** Shown after the right password only. Without an action, as the sign-in form. */
export function choicePage(choices: readonly Choice[]): string {
  const buttons = choices.map(
    ({ workspace, token }, i) =>
      `<li><button class="primary" type="submit" name="choice" value="${token}"${i === 0 ? " autofocus" : ""}>${escapeHtml(workspace)}</button></li>`,
  );
  return signInFrame(`<h1 id="choose">Choose a workspace</h1>
<p>You can sign in to ${choices.length} workspaces. To change later, sign out and in again.</p>
<form method="post"><ul class="choices" aria-labelledby="choose">${buttons.join("\n")}</ul></form>`);
}

/** Looking at the link does not use it up: programs that check links in mails look at them. */
export const linkPage = signInFrame(`<h1>Sign in to the inbox</h1>
<p>This link works once. Press the button to sign in on this device.</p>
<form method="post">
<button class="primary" type="submit" autofocus>Sign in</button>
</form>`);

export const spentLinkPage = signInFrame(`<h1>This link does not work any more</h1>
<p>Sign-in links work once and for a day. Ask for a new one, or sign in with your password.</p>
<p><a class="primary" href="/inbox/login">Sign in with a password</a></p>`);

export function refusedPage(detail: string): string {
  return signInFrame(`<h1>That did not work</h1>
<p class="problem" role="alert">${escapeHtml(detail)}</p>
<p><a class="primary" href="/inbox/login">Back to sign-in</a></p>`);
}

function signInFrame(body: string): string {
  return page(
    "Sign in",
    `<main class="door"><div class="card"><span class="mark" aria-hidden="true"></span>${body}</div></main>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/inbox/app.css">
</head>
<body>
${body}
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (character) => `&#${character.codePointAt(0)};`);
}

interface Loaded {
  readonly body: Buffer;
  readonly etag: string;
  readonly modifiedMs: number;
}

/** Serves a file of the browser build; a new build is seen at once. */
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
      throw new Problem("deploying", "The inbox has not been built. Run: npm run build", { cause: error });
    }
    void reply.header("content-type", type).header("cache-control", "no-cache").header("etag", asset.etag);
    if ((request.headers["if-none-match"] ?? "").includes(asset.etag)) return reply.code(304).send();
    return reply.send(asset.body);
  };
}
