/** Texts that try to become script, markup or a request. Each must stay text, or a harmless link. */
const scripts = [
  "alert(1)",
  "alert`1`",
  "fetch('https://evil.test/')",
  "location='https://evil.test/'",
  "parent.postMessage(document.cookie,'*')",
];

const schemes = [
  "javascript:",
  "JaVaScRiPt:",
  " javascript:",
  "java\tscript:",
  "java\nscript:",
  "javascript&colon;",
  "&#106;avascript:",
  "&#x6A;avascript:",
  "\u0001javascript:",
  "vbscript:",
  "data:text/html,<script>",
  "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
  "blob:",
  "file:///etc/passwd?",
  "//evil.test/",
  "\\\\evil.test\\",
  "view-source:",
  "feed:javascript:",
];

const linked = schemes.flatMap((scheme) =>
  scripts
    .slice(0, 2)
    .flatMap((script) => [
      `[click me](${scheme}${script})`,
      `[click me](<${scheme}${script}>)`,
      `![picture](${scheme}${script})`,
      `[click me][ref]\n\n[ref]: ${scheme}${script}`,
      `<${scheme}${script}>`,
    ]),
);

const markup = scripts.flatMap((script) => [
  `<script>${script}</script>`,
  `<img src=x onerror="${script}">`,
  `<svg onload="${script}">`,
  `<svg><script>${script}</script></svg>`,
  `<svg><animate onbegin="${script}" attributeName=x dur=1s>`,
  `<details open ontoggle="${script}">`,
  `<body onload="${script}">`,
  `<input autofocus onfocus="${script}">`,
  `<iframe srcdoc="<script>${script}</script>"></iframe>`,
  `<math><mi//xlink:href="data:x,<script>${script}</script>">`,
  `<noscript><p title="</noscript><img src=x onerror=${script}>">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${script}>`,
  `<a href="javascript:${script}">x</a>`,
  `<video><source onerror="${script}"></video>`,
  `<marquee onstart="${script}">`,
  `\`\`\`html\n<script>${script}</script>\n\`\`\``,
  `\`<img src=x onerror=${script}>\``,
  `# <img src=x onerror=${script}>`,
  `| <img src=x onerror=${script}> |\n|---|\n| <script>${script}</script> |`,
  `> <iframe src="javascript:${script}">`,
  `- [x] <object data="javascript:${script}">`,
]);

const requests = [
  "![tracker](https://evil.test/pixel.png)",
  "![][ref]\n\n[ref]: https://evil.test/pixel.png",
  '<img src="https://evil.test/a.png">',
  '<link rel="stylesheet" href="https://evil.test/a.css">',
  '<style>@import "https://evil.test/a.css";</style>',
  '<base href="https://evil.test/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.test/">',
  '<object data="https://evil.test/">',
  '<embed src="https://evil.test/">',
  '<audio src="https://evil.test/" autoplay>',
  '<form action="https://evil.test/"><button>x</button></form>',
  '<a href="https://evil.test/" ping="https://evil.test/ping">x</a>',
  '<div style="background:url(https://evil.test/)">x</div>',
  "[![inner](https://evil.test/a.png)](https://evil.test/)",
];

const confusing = [
  "\u202Egnp.exe\u202C",
  "\u2066\u202E<script>alert(1)</script>\u2069",
  "שלום <img src=x onerror=alert(1)> עולם",
  "www.evil.test/<script>alert(1)</script>",
  'https://evil.test/"onmouseover="alert(1)',
  "https://evil.test/'><script>alert(1)</script>",
  "mailto:a@evil.test?body=<script>alert(1)</script>",
  '[x](https://evil.test/"onclick="alert(1))',
  '[x](https://evil.test/ "title\\" onclick=\\"alert(1)")',
  "[a](javascript:alert(1) 'b')",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "__proto__",
  "[".repeat(500),
  "*".repeat(500),
  ">".repeat(500),
  "- ".repeat(300),
  "`".repeat(501),
  "\u0000<script\u0000>alert(1)</script>",
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  "<![CDATA[<script>alert(1)</script>]]>",
  '<?xml version="1.0"?><script>alert(1)</script>',
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324\u031E\u0349\u035A\u032F\u031E\u0320\u034DA".repeat(
    40,
  ),
];

export const hostileTexts: readonly string[] = [...linked, ...markup, ...requests, ...confusing];
