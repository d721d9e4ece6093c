import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/support/tier.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { TelegramPart } from "../render.ts";
import { renderParts, textMax } from "../render.ts";

const bySupport = (markdown: string) => renderParts({ role: "assistant", authorName: null, markdown, sources: [] });
const payloadOf = (part: Part | undefined) => part?.payload as TelegramPart;

/** The text of each entity, with its type. */
function marked(part: Part | undefined): readonly string[] {
  const { text, entities } = payloadOf(part);
  return entities.map(({ type, offset, length, url }) =>
    [type, text.slice(offset, offset + length), ...(url === undefined ? [] : [url])].join("|"),
  );
}

/** Entities that the Bot API forbids: two that overlap in part, or the same one twice on a range. */
function crossing(entities: TelegramPart["entities"]) {
  return entities
    .flatMap((a, at) => entities.slice(at + 1).map((b) => [a, b] as const))
    .find(([a, b]) => {
      const isDisjoint = a.offset + a.length <= b.offset || b.offset + b.length <= a.offset;
      const isWithin = b.offset >= a.offset && b.offset + b.length <= a.offset + a.length;
      return !isDisjoint && (!isWithin || a.type === b.type);
    });
}

describe("a message on Telegram", () => {
  it("renders Markdown as text with entities, and escapes nothing", () => {
    const [part] = bySupport("## Costs\n\nIt is **5 € & _up_**, see [the list](https://shop.test/a?b=1&c) or `x < y`.");
    expect(part?.text).toBe("Costs\n\nIt is 5 € & up, see the list or x < y.");
    expect(marked(part)).toEqual([
      "bold|Costs",
      "bold|5 € & up",
      "italic|up",
      "text_link|the list|https://shop.test/a?b=1&c",
      "code|x < y",
    ]);
  });

  it("renders lists with bullets, and nested content below its item", () => {
    expect(bySupport("1. First\n   - inner\n2. Second")[0]?.text).toBe("1. First\n   • inner\n2. Second");
  });

  it("renders a small table in columns", () => {
    const [part] = bySupport("| Size | Price |\n| - | - |\n| Small | 5 |\n| Large | 10 |");
    expect(part?.text).toBe("Size  | Price\nSmall | 5\nLarge | 10");
    expect(marked(part)).toEqual([`pre|${part?.text}`]);
  });

  it("names its agent, and lists each source once", () => {
    const [agent] = renderParts({ role: "agent", authorName: "Anna", markdown: "Hello", sources: [] });
    expect(agent?.text).toBe("Anna:\nHello");
    const sources = [
      { title: "Returns", url: "https://docs.test/returns", chunk: "", score: 1 },
      { title: "Returns", url: "https://docs.test/returns", chunk: "", score: 0.5 },
      { title: "handbook.pdf", url: "", chunk: "", score: 0.4 },
    ];
    const [answer] = renderParts({ role: "assistant", authorName: null, markdown: "Yes.", sources });
    expect(answer?.text).toBe("Yes.\n\nSources:\n1. Returns\n2. handbook.pdf");
    expect(marked(answer)).toContain("text_link|Returns|https://docs.test/returns");
  });

  it("reopens an entity instead of letting two overlap", () => {
    expect(marked(bySupport("**a *b***_c_")[0])).toEqual(["bold|a b", "italic|b", "italic|c"]);
    expect(marked(bySupport("_c_**_b_ a**")[0])).toEqual(["italic|cb", "bold|b", "bold| a"]);
  });

  it("links only to web addresses", () => {
    expect(marked(bySupport("[press](javascript:alert) <tg://user?id=1>")[0])).toEqual([]);
  });

  it("shows the address where Telegram would not link to it", () => {
    const shown = (markdown: string) => [bySupport(markdown)[0]?.text, marked(bySupport(markdown)[0])];
    expect(shown("Write to help@shop.test")).toEqual(["Write to help@shop.test", []]);
    expect(shown("**[Write](mailto:help@shop.test)**")).toEqual([
      "Write (help@shop.test)",
      ["bold|Write (help@shop.test)"],
    ]);
    expect(shown("See [the wiki](http://wiki/start)")).toEqual(["See the wiki (http://wiki/start)", []]);
    const sources = [{ title: "Wiki", url: "http://wiki/start", chunk: "", score: 1 }];
    const [answer] = renderParts({ role: "assistant", authorName: null, markdown: "Yes.", sources });
    expect(answer?.text).toBe("Yes.\n\nSources:\n1. Wiki (http://wiki/start)");
  });

  it("keeps the address of a link in any formatting", () => {
    const [part] = bySupport("Set [`depth`](https://docs.test/depth) and [**`width`**](https://docs.test/width)");
    expect(marked(part)).toEqual([
      "text_link|depth|https://docs.test/depth",
      "text_link|width|https://docs.test/width",
      "bold|width",
    ]);
    expect(bySupport("| Plan | Buy |\n| - | - |\n| S | [here](https://shop.test/s) |")[0]?.text).toBe(
      "Plan | Buy\nS    | here (https://shop.test/s)",
    );
  });

  it("is split above Telegram's limit of entities, and keeps all addresses", () => {
    const linked = (count: number) =>
      Array.from({ length: count }, (_, at) => `- [page ${at + 1}](https://docs.test/${at + 1})`).join("\n");
    const addresses = (parts: readonly Part[]) =>
      parts.flatMap((part) => payloadOf(part).entities.flatMap(({ url }) => url ?? []));
    const parts = bySupport(linked(230));
    expect(parts.map((part) => payloadOf(part).entities.length)).toEqual([100, 100, 30]);
    expect(new Set(addresses(parts)).size).toBe(230);
    for (const part of parts) expect(part.text).toMatch(/^• page \d+\n.*\d$/s);
    expect(bySupport(linked(100))).toHaveLength(1);
    // Without a paragraph or line break to split at.
    const dense = bySupport(Array.from({ length: 250 }, (_, at) => `[a](https://docs.test/${at})`).join(""));
    expect(dense.every((part) => payloadOf(part).entities.length <= 100)).toBe(true);
    expect(addresses(dense)).toHaveLength(250);
    expect(dense.map(({ text }) => text).join("")).toBe("a".repeat(250));
    // A text with too many entities for a caption is sent before the file.
    const file = { id: "f", name: "a.pdf", mediaType: "application/pdf", bytes: 9 };
    const withFile = renderParts({
      role: "agent",
      authorName: "Anna",
      markdown: linked(101),
      sources: [],
      files: [file],
    });
    expect(withFile.map((part) => payloadOf(part).file !== undefined)).toEqual([false, false, true]);
  });

  it("is split between paragraphs, with its entities in place", () => {
    const paragraph = `**start** ${"word ".repeat(300)}end`;
    const parts = bySupport([paragraph, paragraph, paragraph, paragraph].join("\n\n"));
    expect(parts.map(({ text }) => text.length <= textMax)).toEqual([true, true]);
    for (const part of parts) {
      expect(part.text).toMatch(/^start .*end$/s);
      expect(marked(part)).toEqual(["bold|start", "bold|start"]);
    }
  });

  it("is never split within a character", () => {
    const family = "👩‍👩‍👧‍👦";
    for (let before = 0; before < family.length; before += 1) {
      const parts = bySupport(`${"a".repeat(before)}${family.repeat(800)}`);
      expect(parts.length).toBeGreaterThan(2);
      for (const { text } of parts) expect(text).toMatch(new RegExp(`^a*(?:${family})+$`, "u"));
    }
  });

  it("keeps its whole text in a caption", () => {
    const file = { id: "file_1", name: "a.pdf", mediaType: "application/pdf", bytes: 3 };
    const markdown = `${"a".repeat(500)}\n\n${"b".repeat(520)}${"&nbsp;".repeat(10)}`;
    const parts = renderParts({ role: "assistant", authorName: null, markdown, sources: [], files: [file] });
    expect(parts.map((part) => payloadOf(part).text).join("")).toMatch(/^a{500}\s+b{520}$/);
    expect(parts.filter((part) => payloadOf(part).file !== undefined)).toHaveLength(1);
  });

  it("keeps any text whole, with all entities inside it", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "**",
        "_",
        "`",
        "~~",
        "\n\n",
        "\n- ",
        "> ",
        "| a | b |\n|-|-|\n",
        "```\n",
        "😀",
        "👩‍👩‍👧",
        "[x](https://a.test)",
      ),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.integer({ min: 1, max: 3_000 }).map((length) => "y".repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        // The text after a fence is the code's language, which is not shown.
        const markdown = pieces.join("").replaceAll(/(~{3,}|`{3,})[^\n]*/g, "$1");
        const parts = bySupport(markdown);
        for (const part of parts) {
          const { text, entities } = payloadOf(part);
          expect(text.length).toBeLessThanOrEqual(textMax);
          expect(text.isWellFormed()).toBe(true);
          for (const { offset, length } of entities) {
            expect(length).toBeGreaterThan(0);
            expect(offset + length).toBeLessThanOrEqual(text.length);
          }
          expect(crossing(entities)).toBeUndefined();
        }
        const letters = (text: string) => text.split("y").length;
        expect(letters(parts.map(({ text }) => text).join(""))).toBe(letters(markdown));
      }),
      { numRuns: 300, ...seeded },
    );
  });
});
