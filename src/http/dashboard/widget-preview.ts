import type { FastifyReply } from "fastify";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
].join("; ");

/**
 * The page in the dashboard's frame: a website with the real widget. The dashboard sends it values that are not saved
 * yet by the event `parley:preview`. The widget has the channel of the hosted page, which this server may always use.
 */
export function sendWidgetPreview(reply: FastifyReply, workspaceId: string): FastifyReply {
  return reply
    .header("content-type", "text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .header("content-security-policy", policy)
    .header("referrer-policy", "same-origin")
    .header("x-frame-options", "SAMEORIGIN").send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Preview of the widget</title>
<link rel="icon" href="data:,">
<script src="/widget.js" data-workspace="${workspaceId}" data-channel="hosted" defer></script>
</head>
<body></body>
</html>
`);
}
