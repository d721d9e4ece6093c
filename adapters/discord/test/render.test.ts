import { seeded } from "#test/support/tier.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiscordPart } from "../render.ts";
import { renderParts, textMax } from "../render.ts";
import { plainText } from "./support/plain-text.ts";

const rendered = (markdown: string): readonly string[] =>
  renderParts({ role: "assistant", authorName: null, markdown, sources: [] }).map(({ payload }) => {
    const part = payload as DiscordPart;
    return part.kind === "text" ? part.content : "";
  });

describe("a message on Discord", () => {
  it("keeps its formatting as Discord's Markdown", () => {
    expect(rendered("**bold** and *slanted*, ~~gone~~ and `code`")).toEqual([
      "**bold** and _slanted_, ~~gone~~ and ``code``",
    ]);
    expect(rendered("> quoted\n\n[here](https://shop.example/a?b=1)")).toEqual([
      "> quoted\n\n[here](<https://shop.example/a?b=1>)",
    ]);
    expect(rendered("```\na *b*\n```")).toEqual(["```\na *b*\n```"]);
  });

  it("escapes characters that Discord reads as markup, mentions or headings", () => {
    for (const text of ["2 * 3 * 4", "a_b_c", "# no heading", "<@123456789012345678>", "@everyone", "|| secret ||"]) {
      const [content = ""] = rendered(text.replaceAll(/[#*_<>|]/g, String.raw`\$&`));
      expect(plainText(content)).toBe(text);
      expect(content).not.toMatch(/(?<!\\)@everyone|(?<!\\)<@/);
    }
  });

  it("shows the address in full where Discord would show the link's markup", () => {
    expect(rendered("See https://shop.example or https://shop.example/a_b.")).toEqual([
      "See <https://shop.example> or <https://shop.example/a_b>.",
    ]);
    expect(rendered("[our https://shop.example](https://shop.example/new)")).toEqual([
      "our https://shop.example (<https://shop.example/new>)",
    ]);
    expect(rendered("Write to help@shop.example or [to us](mailto:us@shop.example).").map(plainText)).toEqual([
      "Write to help@shop.example or to us (us@shop.example).",
    ]);
  });

  it("never exceeds Discord's limit of characters", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[*_`~ a-z\\[\]#>\n-]{1,400}$/), { maxLength: 30 }), (pieces) => {
        for (const content of rendered(pieces.join("\n\n"))) {
          expect(content.length).toBeLessThanOrEqual(textMax);
          expect(content.trim()).not.toBe("");
        }
      }),
      seeded,
    );
  });
});
