import { createHash } from "node:crypto";
import type { WorkspaceBranding } from "#channels/contract.ts";
import { escapeHtml } from "#channels/text/escape-html.ts";

/** The hosted chat page, and the page for unknown workspaces. No inline scripts, no resources of other hosts. */

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
html,body{height:100%;margin:0;background:#f6f7f9;color:#1b1f27}
main{display:grid;place-content:center;gap:.5rem;min-height:100%;padding:2rem;box-sizing:border-box;text-align:center}
h1{margin:0;font-size:1.375rem;line-height:1.3}
p{margin:0;max-width:34rem;color:#5a6270}
@media (prefers-color-scheme:dark){html,body{background:#0f1115;color:#e8eaf0}p{color:#a2a9b8}}`;

const styleHash = createHash("sha256").update(style).digest("base64");

export function chatPageHeaders(workspace: Pick<WorkspaceBranding, "allowedOrigins">): Record<string, string> {
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-cache",
    "Content-Security-Policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'sha256-${styleHash}'`,
      "connect-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${["'self'", ...workspace.allowedOrigins.filter((origin) => /^https?:\/\/[\w.:[\]-]+$/u.test(origin))].join(" ")}`,
      "require-trusted-types-for 'script'",
    ].join("; "),
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Content-Type-Options": "nosniff",
  };
}

export function chatPage(workspace: WorkspaceBranding): string {
  return page(
    workspace.title,
    `<script src="../widget.js" data-workspace="${escapeHtml(workspace.id)}" data-channel="hosted" data-mode="page" defer></script>`,
    `<noscript><main><h1>${escapeHtml(workspace.title)}</h1><p>This chat needs JavaScript. Please allow it for this page and load it again.</p></main></noscript>`,
  );
}

export function noChatPage(): string {
  return page(
    "No chat here",
    "",
    "<main><h1>There is no chat at this address</h1><p>The link may be incomplete, or the chat may have been closed. Please ask whoever gave you the link for a new one.</p></main>",
  );
}

function page(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
${head}
</head>
<body>${body}</body>
</html>
`;
}
