import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/support/tier.ts";
import type { Block, Inline } from "./markdown.ts";
import { markdownBytesMax, plainBlocks, safeHref, safeTree } from "./markdown.ts";
import { marksMax } from "./markdown-parts.ts";

const only = (markdown: string): Block | undefined => safeTree(markdown)[0];

describe("the safe tree", () => {
  it("equals the parser's tree for plain text, which skips the parser", () => {
    const words = fc.constantFrom(
      ..."a Hello 1. 12) - ( ) ' \" . , ; ? ! 5% 12€ $3 www. www.x.y ws Ärger 東京 3.5 -- --- 1.\t * it’s \n \n\n \t".split(
        " ",
      ),
      " ",
      "  ",
      "\n\n",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 8 }), fc.constantFrom("", " "), (parts, between) => {
        const text = parts.join(between);
        // A definition shows nothing, and is nothing that plain text has.
        expect(safeTree(text)).toEqual(safeTree(`${text}\n\n[none]: https://none.example`));
      }),
      { numRuns: 1_500, ...seeded },
    );
  });

  it("has a node for every element of answers", () => {
    expect(safeTree("# Title\n\n**b** *i* ~~s~~ `c`  \nnext\n\n---")).toEqual([
      { t: "h", level: 1, c: ["Title"] },
      {
        t: "p",
        c: [
          { t: "b", c: ["b"] },
          " ",
          { t: "i", c: ["i"] },
          " ",
          { t: "s", c: ["s"] },
          " ",
          { t: "code", text: "c" },
          { t: "br" },
          "next",
        ],
      },
      { t: "hr" },
    ]);
    expect(only("3. three\n4. four\n   - inner")).toEqual({
      t: "ol",
      start: 3,
      items: [
        [{ t: "p", c: ["three"] }],
        [
          { t: "p", c: ["four"] },
          { t: "ul", items: [[{ t: "p", c: ["inner"] }]] },
        ],
      ],
    });
    expect(only("> quoted")).toEqual({ t: "quote", c: [{ t: "p", c: ["quoted"] }] });
    expect(only("```ts\nlet a;\n```")).toEqual({ t: "pre", text: "let a;" });
    expect(only("| a | b |\n|---|---|\n| 1 | **2** |")).toEqual({
      t: "table",
      head: [["a"], ["b"]],
      rows: [[["1"], [{ t: "b", c: ["2"] }]]],
    });
    expect(only("- [x] done\n- [ ] open")).toEqual({
      t: "ul",
      items: [[{ t: "p", c: ["☑ ", "done"] }], [{ t: "p", c: ["☐ ", "open"] }]],
    });
  });

  it("shows raw HTML as text", () => {
    expect(safeTree("<b>x</b> <script>alert(1)</script>")).toEqual([
      { t: "p", c: ["<b>", "x", "</b>", " ", "<script>", "alert(1)", "</script>"] },
    ]);
    expect(only("<div onclick=x>\ny\n</div>")).toEqual({
      t: "p",
      c: ["<div onclick=x>", { t: "br" }, "y", { t: "br" }, "</div>"],
    });
  });

  it("links http, https and mailto addresses, and shows other addresses as text", () => {
    const href = (markdown: string): string | undefined => {
      const block = only(markdown);
      const inline: Inline | undefined = block?.t === "p" ? block.c[0] : undefined;
      return typeof inline === "object" && inline.t === "a" ? inline.href : undefined;
    };
    expect(href("[x](https://a.test/b?c#d)")).toBe("https://a.test/b?c#d");
    expect(href("<mail@a.test>")).toBe("mailto:mail@a.test");
    expect(href("www.a.test")).toBe("http://www.a.test/");
    expect(href("[x][r]\n\n[r]: https://a.test/")).toBe("https://a.test/");
    for (const address of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "data:text/html,x",
      "vbscript:x",
      "/relative",
      "//a.test",
      "blob:x",
      "&#106;avascript:x",
    ]) {
      expect(href(`[x](${address})`)).toBeUndefined();
      expect(JSON.stringify(safeTree(`[x](${address})`))).toContain('"x"');
    }
  });

  it("shows a picture as a link, never within another link", () => {
    expect(only("![a cat](https://a.test/cat.png)")).toEqual({
      t: "p",
      c: [{ t: "a", href: "https://a.test/cat.png", c: ["a cat"] }],
    });
    expect(only("[![a cat](https://a.test/cat.png)](https://b.test/)")).toEqual({
      t: "p",
      c: [{ t: "a", href: "https://b.test/", c: ["a cat"] }],
    });
  });

  it("keeps every word of deeply nested text, at a limited depth", () => {
    for (const depth of [11, 20, 39, 41, 5_000]) {
      const tree = safeTree(`${"> ".repeat(depth)}**the end**`);
      expect(JSON.stringify(tree)).toContain("the end");
      expect(depthOf(tree)).toBeLessThan(40);
    }
  });

  it("keeps the writer's line breaks", () => {
    expect(safeTree("Our address:\nMain Street 1\n**12345\nTown**")).toEqual([
      {
        t: "p",
        c: ["Our address:", { t: "br" }, "Main Street 1", { t: "br" }, { t: "b", c: ["12345", { t: "br" }, "Town"] }],
      },
    ]);
  });

  it("shows text beyond the parsing limit as plain text, completely", () => {
    const long = `**bold** ${"word ".repeat(markdownBytesMax / 5)}end`;
    expect(safeTree(long)).toEqual([{ t: "p", c: [long] }]);
    expect(plainBlocks("one\ntwo\n\nthree")).toEqual([
      { t: "p", c: ["one", { t: "br" }, "two"] },
      { t: "p", c: ["three"] },
    ]);
  });

  it.each([
    ["brackets", "["],
    ["closed brackets", "[]("],
    ["emphasis", "*a "],
    ["underscores", "_"],
    ["quotes", ">"],
    ["quotes with spaces", "> "],
    ["lists", "- "],
    ["numbered lists", "1. "],
    ["backticks", "`a"],
    ["angles", "<a "],
    ["entities", "&#"],
    ["tables", "|-"],
    ["autolinks", "www.a."],
    ["mail addresses", "a@"],
    ["strikes", "~~a"],
    ["footnotes", "[^a]"],
    ["escapes", "\\"],
    ["tabs", "\t> "],
    ["mixed containers", "> - "],
    ["lines of growing lists", "\n - x"],
  ])("parses 16 KB of %s in a moment", (_what, piece) => {
    const marks = Math.max(1, piece.match(/[^\w\s.@]/gu)?.length ?? 0);
    for (const count of [Math.floor(markdownBytesMax / piece.length), Math.floor(marksMax / marks)]) {
      const text = piece.repeat(count).slice(0, markdownBytesMax);
      const before = process.threadCpuUsage();
      safeTree(text);
      const { user, system } = process.threadCpuUsage(before);
      // Microseconds of processor time, which other programs hardly change. Quadratic work takes minutes.
      expect(user + system).toBeLessThan(5_000_000);
    }
  });

  it("shows excessive emphasis as text, since its parsing takes quadratic time", () => {
    const text = "*a* ".repeat(marksMax / 2).trim();
    expect(safeTree(text)).toEqual([{ t: "p", c: [text] }]);
  });

  it("caches the parsed tree of the fifty longest messages", () => {
    const texts = Array.from({ length: 50 }, (_, n) => `- *a* ${n}\n`.repeat(50).padEnd(markdownBytesMax, " words"));
    const trees = texts.map(safeTree);
    expect(texts.filter((text, index) => safeTree(text) !== trees[index])).toEqual([]);
  });
});

describe("addresses", () => {
  it("are returned in the form that a browser reads", () => {
    expect(safeHref("HTTPS://A.test/ä")).toBe("https://a.test/%C3%A4");
    expect(safeHref("java\nscript:alert(1)")).toBeUndefined();
    expect(safeHref(" javascript:alert(1)")).toBeUndefined();
    expect(safeHref("not an address")).toBeUndefined();
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
