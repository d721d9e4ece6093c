import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { Block } from "#knowledge/documents/blocks.ts";
import { parseInWorker } from "./parse-in-worker.ts";
import { idleThreads } from "./parser-thread.ts";
import { readableType } from "#knowledge/documents/file-types.ts";
import type { TextType } from "#knowledge/documents/file-types.ts";
import { parseTextDocument, titleFromFileName } from "./parse.ts";

const parse = (text: string, type: TextType) => parseTextDocument(Buffer.from(text), type);
const texts = (blocks: readonly Block[]) =>
  blocks.map((block) => (block.kind === "row" ? block.cells.join("; ") : block.text));

describe("Markdown", () => {
  it("reads the title from the front matter, and drops the front matter from the text", () => {
    const { title, blocks } = parse(`---\ntitle: "Returns: how and when"\n---\n# Other\n\nText.`, "text/markdown");
    expect(title).toBe("Returns: how and when");
    expect(texts(blocks)).toEqual(["Other", "Text."]);
  });

  it("uses the first heading as the title if there is no front matter", () => {
    expect(parse("Intro.\n\n# Returns\n\nText.", "text/markdown").title).toBe("Returns");
  });

  it("keeps steps and their numbers, with a listing between them", () => {
    const { blocks } = parse(
      "1. Open **it**.\n2. Run `npm ci`\n\n   ```\n   a\n   b\n   ```\n\n3. Done.\n   - Sub",
      "text/markdown",
    );
    expect(blocks).toEqual([
      { kind: "item", number: 1, depth: 0, text: "Open it." },
      { kind: "item", number: 2, depth: 0, text: "Run `npm ci`" },
      { kind: "code", text: "a\nb" },
      { kind: "item", number: 3, depth: 0, text: "Done." },
      { kind: "item", number: null, depth: 1, text: "Sub" },
    ]);
  });

  it("names a table's values by their columns", () => {
    const { blocks } = parse("| Size | Price |\n|---|---|\n| S | 4 € |\n| M | |", "text/markdown");
    expect(texts(blocks)).toEqual(["Size: S; Price: 4 €", "Size: M; "]);
  });

  it("reduces links and pictures to their text, and marks lines that consist of links", () => {
    const { blocks } = parse(
      "See [the guide](https://x.example).\n\n[All guides](/g)\n\n![A big photo](p.png)\n\nClick ![Save icon](s.svg) **Save**.",
      "text/markdown",
    );
    expect(texts(blocks)).toEqual(["See the guide.", "→ All guides", "Click Save."]);
  });

  it("drops generator attributes after links, and keeps other braces", () => {
    const { blocks } = parse(
      "Open [the shop](x){.button}.\n\n[Orders](x){: target=_blank}\n\nWrite {#if sale} or {name}.",
      "text/markdown",
    );
    expect(texts(blocks)).toEqual(["Open the shop.", "→ Orders", "Write {#if sale} or {name}."]);
  });

  it("reads HTML inside Markdown", () => {
    const { blocks } = parse("<details><summary>When?</summary><p>Soon.</p></details>", "text/markdown");
    expect(texts(blocks)).toEqual(["When?", "Soon."]);
  });

  it("reads a text that is parsed in pieces like any other text", () => {
    const section = (n: number) =>
      `## Section ${n}\n\n${`Sentence of section ${n}. `.repeat(20)}\n\n\`\`\`\n# not a heading ${n}\n\`\`\`\n\n`;
    const source = Array.from({ length: 200 }, (_, n) => section(n)).join("");
    const { blocks } = parse(source, "text/markdown");
    expect(source.length).toBeGreaterThan(64 * 1024);
    expect(blocks.filter((block) => block.kind === "heading")).toHaveLength(200);
    expect(blocks.filter((block) => block.kind === "code")).toHaveLength(200);
  });
});

describe("HTML", () => {
  const page = `<!doctype html><html><head><title>Returns | Shop</title><style>p{}</style></head><body>
    <nav><a href="/">Home</a></nav><script>alert("no")</script>
    <main><h1>Returns</h1><p>Send it back &amp; get <b>money</b>.<br>Within 30&nbsp;days.</p>
    <ol><li>Print<li><p>Stick</p></ol><table><tr><th>To<th>Days</tr><tr><td>Home<td>3</tr></table>
    <form><input value="x">Search</form><p hidden>secret</p></main><footer>© Shop</footer></body></html>`;

  it("reads the page's content without navigation, scripts, forms and hidden elements", () => {
    const { title, blocks } = parse(page, "text/html");
    expect(title).toBe("Returns");
    expect(texts(blocks)).toEqual([
      "Returns",
      "Send it back & get money.",
      "Within 30 days.",
      "Print",
      "Stick",
      "To: Home; Days: 3",
    ]);
  });

  it("ignores a table that is only used for layout", () => {
    const { blocks } = parse(
      `<table><tr><td><h3>Kettles</h3><ul><li><a href="x">Descale</a><li>Fill up</ul></td>
      <td><h3>Lids</h3><p>They fit.</p></td></tr></table><table><tr><td>Lid<td>7</tr></table>`,
      "text/html",
    );
    expect(texts(blocks)).toEqual(["Kettles", "→ Descale", "Fill up", "Lids", "They fit.", "Lid; 7"]);
  });

  it("uses the head's title if there is no h1, and the body if nothing marks the content", () => {
    const { title, blocks } = parse("<title>Shop</title><body><p>Text <i>here</i>", "text/html");
    expect(title).toBe("Shop");
    expect(texts(blocks)).toEqual(["Text here"]);
  });

  it("keeps the lines of pre", () => {
    expect(parse("<pre>a\n  b</pre>", "text/html").blocks).toEqual([{ kind: "code", text: "a\n  b" }]);
  });
});

describe("HTML without semantic elements", () => {
  const links = (...names: string[]) =>
    names.map((name) => `<li><a href="/${name}">${name} and more</a></li>`).join("");

  it("drops parts that consist mostly of links, and parts named as side content", () => {
    const { blocks } = parse(
      `<body><div class="top"><ul>${links("Home", "Shop", "About", "Help", "Jobs")}</ul></div>
      <div class="wrap has-sidebar"><div class="text"><h1>Returns</h1><p>Send it <a href="/back">back</a> in thirty days.</p></div>
      <div class="sidebar widget"><p>Follow us everywhere.</p></div></div>
      <div id="cookie-banner">We use cookies.</div><div role="contentinfo">© Shop</div></body>`,
      "text/html",
    );
    expect(texts(blocks)).toEqual(["Returns", "Send it back in thirty days."]);
  });

  it("reads an element with a common content class", () => {
    const { blocks } = parse(
      `<div>Free delivery today.</div><div class="entry-content"><p>${"Parcels leave on Monday. ".repeat(12)}</p></div><div>Read this next.</div>`,
      "text/html",
    );
    expect(texts(blocks)).toEqual(["Parcels leave on Monday. ".repeat(12).trim()]);
  });

  it("keeps a page that consists of a list of links", () => {
    const { blocks } = parse(`<ul>${links("One", "Two", "Three", "Four", "Five")}</ul>`, "text/html");
    expect(blocks).toHaveLength(5);
  });
});

describe("plain text", () => {
  it("joins wrapped lines, and reads questions and short single lines as headings", () => {
    const { title, blocks } = parse(
      "Shop help\n\nHow long does it take?\nA: It takes three days, as long as nothing comes in\nbetween.\n\n- one\n- two\n",
      "text/plain",
    );
    expect(title).toBe("Shop help");
    expect(blocks).toEqual([
      { kind: "heading", depth: 1, text: "Shop help" },
      { kind: "heading", depth: 2, text: "How long does it take?" },
      { kind: "paragraph", text: "It takes three days, as long as nothing comes in between." },
      { kind: "item", number: null, depth: 0, text: "one" },
      { kind: "item", number: null, depth: 0, text: "two" },
    ]);
  });
});

describe("bytes", () => {
  const reading = (bytes: Uint8Array) => () => parseTextDocument(bytes, "text/plain");

  it("reads UTF-8 with and without a byte order mark, and UTF-16 with one", () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("Grüße an alle.", "utf16le")]);
    for (const bytes of [Buffer.from("Grüße an alle."), Buffer.from("\ufeffGrüße an alle."), utf16]) {
      expect(texts(parseTextDocument(bytes, "text/plain").blocks)).toEqual(["Grüße an alle."]);
    }
  });

  it("reads text that is not UTF-8 as Windows-1252", () => {
    expect(texts(parseTextDocument(Buffer.from("Gr\xfc\xdfe an alle.", "latin1"), "text/plain").blocks)).toEqual([
      "Grüße an alle.",
    ]);
  });

  it("reads text in other letters in the encoding that they suggest", () => {
    const russian = "Сколько весит рюкзак? Он весит два килограмма вместе с дождевиком.";
    for (const encoding of ["windows-1251", "koi8-r"]) {
      expect(texts(parseTextDocument(iconv.encode(russian, encoding), "text/plain").blocks).join(" ")).toBe(russian);
    }
    const japanese = "送料はいくらですか。配達には三日かかります。";
    expect(texts(parseTextDocument(iconv.encode(japanese, "shift_jis"), "text/plain").blocks)).toEqual([japanese]);
  });

  it("refuses binary data, with a reason that a person can act on", () => {
    expect(reading(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]))).toThrow(UnreadableDocument);
    expect(reading(Buffer.from("text\0text"))).toThrow(/binary/);
    expect(reading(Buffer.alloc(0))).toThrow(/empty/);
    expect(reading(Buffer.from(" \n\t "))).toThrow(/no text/);
    expect(() => parse("# Only\n\n## headings", "text/markdown")).toThrow(/no text/);
    expect(reading(new Uint8Array(25 * 1024 * 1024 + 1).fill(97))).toThrow(/25 MB/);
  });
});

// Starting threads takes long on a busy machine.
describe("hostile documents", { timeout: 180_000 }, () => {
  const task = (text: string, type: TextType) => ({ bytes: Buffer.from(text), type, title: "T" });

  it("does not block the event loop during the parsing of a large document", async () => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 5);
    const { chunks } = await parseInWorker(task("# A\n\nSome text here. ".repeat(10_000), "text/markdown"));
    clearInterval(timer);
    expect(chunks.length).toBeGreaterThan(100);
    expect(ticks).toBeGreaterThan(5);
  });

  it("share one thread, one after the other, and get another after one that failed", async () => {
    const limits = { inPlaceBytesMax: 0, timeMs: 60_000, heapMb: 300 };
    const before = idleThreads();
    for (const text of ["# One\n\nText.", "# Two\n\nText.", ""]) {
      const parsed = parseInWorker(task(text, "text/markdown"), limits);
      if (text === "") await expect(parsed).rejects.toThrow(/empty/);
      else expect((await parsed).title).toBe(text.slice(2, 5));
      expect(idleThreads()).toBe(before + 1);
    }
    const slow = parseInWorker(task("Some text here. ".repeat(300_000), "text/markdown"), { ...limits, timeMs: 50 });
    await expect(slow).rejects.toThrow(/longer/);
    expect(idleThreads()).toBe(before);
    expect((await parseInWorker(task("# Three\n\nText.", "text/markdown"), limits)).title).toBe("Three");
  });

  it("abort after the time limit", async () => {
    const limits = { inPlaceBytesMax: 0, timeMs: 50, heapMb: 512 };
    await expect(parseInWorker(task("Some text here. ".repeat(300_000), "text/markdown"), limits)).rejects.toThrow(
      /longer/,
    );
  });

  it("abort at once when the program stops", async () => {
    const stopping = new AbortController();
    const limits = { inPlaceBytesMax: 0, timeMs: 20_000, heapMb: 512 };
    // Would take far longer than the test's limit.
    const parsed = parseInWorker(task("> ".repeat(100_000), "text/markdown"), limits, stopping.signal);
    stopping.abort(new Error("the program stops"));
    await expect(parsed).rejects.toThrow("the program stops");
    await expect(parseInWorker(task("# A", "text/markdown"), limits, stopping.signal)).rejects.toThrow("stops");
  });

  it("abort at the memory limit without harm to the process", async () => {
    const limits = { inPlaceBytesMax: 0, timeMs: 60_000, heapMb: 24 };
    await expect(parseInWorker(task("Some *text* here.\n\n".repeat(200_000), "text/markdown"), limits)).rejects.toThrow(
      UnreadableDocument,
    );
  });

  it("are read as text if nested too deeply, otherwise as Markdown", async () => {
    for (const deep of [`${">".repeat(7_000)} x`, "[".repeat(600_000), "- ".repeat(7_000)]) {
      const { title, chunks } = await parseInWorker(task(`# Title\n\n${deep}\n\nThe *end*.`, "text/markdown"));
      expect([title, chunks.at(-1)?.text.endsWith("The end.")]).toEqual(["Title", true]);
    }
  });

  it("repeats the head of a long table, and the definitions of its links", async () => {
    const rows = Array.from({ length: 900 }, (_, n) => `| [Part ${n}][shop] | ${n} € |`).join("\n");
    const source = `# Parts\n\n| Part | Price |\n|---|---|\n${rows}\n\n[shop]: https://shop.example/`;
    const { chunks } = await parseInWorker(task(source, "text/markdown"));
    const text = chunks.map((chunk) => chunk.text).join("\n");
    for (const n of [0, 299, 300, 301, 598, 599, 600, 899]) expect(text).toContain(`Part: Part ${n} | Price: ${n} €`);
    expect(text).not.toContain("[shop]");
  });

  it("make short passages from any text", async () => {
    for (const text of ["x".repeat(7_000), "漢字".repeat(3_000), "😀".repeat(1_500), "a?\n".repeat(2_000)]) {
      const { chunks } = await parseInWorker(task(text, "text/plain"));
      expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThan(2_000);
      expect(chunks.every((chunk) => chunk.text.isWellFormed())).toBe(true);
    }
  });
});

it("are parsed by the file's ending, or by the media type if the ending is unknown", () => {
  expect(readableType("a.MD", "application/octet-stream")).toBe("text/markdown");
  expect(readableType("page", "text/html; charset=utf-8")).toBe("text/html");
  expect(readableType("release-v1.2", "text/plain")).toBe("text/plain");
  expect(readableType("photo.png", "image/png")).toBeUndefined();
});

it("get a readable title from the file's name", () => {
  expect(titleFromFileName("return-policy_2024.md")).toBe("Return policy 2024");
  expect(titleFromFileName("dir\\sub/.md")).not.toBe("");
});
