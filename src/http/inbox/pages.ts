import { browserPage } from "#http/browser-pages.ts";

/** The page that the inbox's script fills. */
export const shell = browserPage(
  "Inbox",
  `<main id="inbox"><noscript><div class="door"><h1>Inbox</h1><p>The inbox needs JavaScript. Please allow it for this page and load it again.</p></div></noscript></main>
<script src="/inbox/app.js" defer></script>`,
);
