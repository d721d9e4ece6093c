import { createHash } from "node:crypto";

export interface DemoOptions {
  readonly workspaceId: string;
  /** Questions that a click asks in the chat. */
  readonly questions?: readonly string[];
}

const defaultQuestions = [
  "What is Parley?",
  "How do I put the widget on my website?",
  "How do I add documents?",
  "When does a person take over?",
  "How do I verify who a customer is?",
  "I want to talk to a human",
];

const style = `
:root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--text:#1c1f26;--soft:#5b6270;--line:#e6e3dc;--accent:#1f6feb;--deep:#14315f;--sun:#ffd08a;font:17px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",sans-serif}
@media (prefers-color-scheme:dark){:root{--bg:#101217;--card:#191c23;--text:#eceef3;--soft:#a5acba;--line:#2b2f39;--accent:#6ea6ff;--deep:#0c1a33;--sun:#c98f45}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);-webkit-font-smoothing:antialiased}
a{color:var(--accent)}
.wrap{max-width:1080px;margin:0 auto;padding:0 24px}
.top{display:flex;align-items:center;gap:12px;padding-top:22px;padding-bottom:22px;font-weight:650;letter-spacing:-.01em}
.mark{width:32px;height:32px;border-radius:10px;background:linear-gradient(140deg,var(--accent),var(--deep));display:grid;place-content:center}
.mark::after{content:"";width:12px;height:12px;border-radius:50% 50% 50% 2px;background:var(--sun)}
.top nav{margin-left:auto;display:flex;gap:22px;font-weight:500;font-size:15px}
.top nav a{color:var(--soft);text-decoration:none}
.top nav a:hover{color:var(--text);text-decoration:underline}
.hero{padding-top:clamp(32px,7vw,84px);padding-bottom:clamp(36px,6vw,72px)}
.note{display:inline-block;padding:5px 13px;border:1px solid var(--line);border-radius:99px;background:var(--card);color:var(--soft);font-size:14px}
h1{max-width:15em;margin:20px 0 16px;font-size:clamp(2.1rem,5.2vw,3.5rem);line-height:1.08;letter-spacing:-.03em;text-wrap:balance}
.lead{max-width:34em;margin:0;color:var(--soft);font-size:clamp(1.05rem,1.6vw,1.2rem)}
h2{margin:0 0 4px;font-size:1.35rem;letter-spacing:-.015em}
.ask{max-width:42rem;padding:28px;border:1px solid var(--line);border-radius:22px;background:var(--card)}
.ask>p{margin:0 0 18px;color:var(--soft)}
.questions{display:flex;flex-wrap:wrap;gap:10px;margin:0;padding:0;list-style:none}
button{font:inherit;color:inherit;cursor:pointer}
.questions button{padding:10px 16px;border:1px solid var(--line);border-radius:14px;background:var(--bg);text-align:start;font-size:16px;transition:border-color .12s,transform .12s}
.questions button:hover{border-color:var(--accent);transform:translateY(-1px)}
button:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:6px}
.questions button:focus-visible{border-radius:14px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,260px),1fr));gap:18px;padding-top:18px;padding-bottom:110px}
.card{padding:24px;border:1px solid var(--line);border-radius:22px;background:var(--card)}
.card p{margin:6px 0 0;color:var(--soft);font-size:16px}
.card h2{font-size:1.08rem}
code{padding:2px 6px;border-radius:6px;background:color-mix(in srgb,var(--text) 8%,transparent);font-size:.87em;overflow-wrap:anywhere}
pre{margin:14px 0 0;padding:14px;border:1px solid var(--line);border-radius:12px;background:var(--bg);overflow-x:auto;font-size:14px;line-height:1.5}
pre code{padding:0;background:none;overflow-wrap:normal}
@media (max-width:560px){.top nav a:not(:last-child){display:none}.ask{padding:22px}.questions li{width:100%}.questions button{width:100%}}
@media (prefers-reduced-motion:reduce){*{transition:none!important}}
`;

/**
 * An example page of a company that has embedded the widget. Its parameters are escaped. Its content security policy
 * allows no inline script and nothing from other hosts.
 */
export function demoPage({ workspaceId, questions = defaultQuestions }: DemoOptions): string {
  const id = escapeHtml(workspaceId);
  const items = questions
    .map(
      (question) =>
        `<li><button type="button" data-parley-ask="${escapeHtml(question)}">${escapeHtml(question)}</button></li>`,
    )
    .join("\n");
  const snippet = `<script src="https://YOUR-ADDRESS/widget.js"\n        data-workspace="${workspaceId}" async></script>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>Your company, with a Parley chat</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header class="wrap top">
<span class="mark" aria-hidden="true"></span>
<span>Your company</span>
<nav aria-label="Places of this installation">
<a href="inbox">Agents’ inbox</a>
<a href="docs">API reference</a>
<a href="chat/${id}">Chat page</a>
</nav>
</header>
<main>
<section class="wrap hero">
<span class="note">An example page with the chat in its corner</span>
<h1>Ask a question. Get an answer with its source.</h1>
<p class="lead">The chat at the bottom of this page answers from the documents that you give it, at first from Parley’s own manual. When it should not answer, a person takes over in the same window.</p>
</section>
<section class="wrap">
<div class="ask">
<h2>Try one of these</h2>
<p>A click asks it in the chat.</p>
<ul class="questions">
${items}
</ul>
</div>
</section>
<section class="wrap cards">
<div class="card"><h2>Put it on your site</h2><p>One line, before <code>&lt;/body&gt;</code>:</p><pre tabindex="0"><code>${escapeHtml(snippet)}</code></pre></div>
<div class="card"><h2>Be the person who takes over</h2><p>Ask for a human in the chat, open the <a href="inbox">inbox</a> in another window, and reply. Both see the other type.</p></div>
<div class="card"><h2>No website needed</h2><p>The same chat has <a href="chat/${id}">a page of its own</a>: put its address into an e-mail or behind a QR code.</p></div>
</section>
</main>
<script src="widget.js" data-workspace="${id}" defer></script>
</body>
</html>
`;
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (character) => `&#${character.codePointAt(0)};`);
}
