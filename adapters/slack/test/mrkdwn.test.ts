import { seeded } from "#test/support/tier.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { styledText, textOf } from "#channels/text/styled-text.ts";
import { markdownOf } from "../desk/render.ts";
import { emojiOf, escapeText, mrkdwnOf, namedUsers, plainText, unescapeText } from "../messages/mrkdwn.ts";
import type { SlackPart } from "../render.ts";
import { renderParts, textMax } from "../render.ts";
import { blocksMistake, shownText } from "./support/fake-messages.ts";

const names = { users: new Map([["U1", "Ada"]]), emoji: new Map([["wave", "👋"]]) };
const plain = (text: string) => plainText(text, names);
const render = (markdown: string, more: object = {}) =>
  renderParts({ role: "assistant", authorName: null, markdown, sources: [], ...more });
const payloads = (markdown: string, more: object = {}) =>
  render(markdown, more).map(({ payload }) => {
    const part = payload as SlackPart;
    if (part.kind !== "text") throw new Error("it is a file");
    return part;
  });

describe("a customer's text in Slack", () => {
  it("is read as the customer saw it", () => {
    expect(plain("1 &lt; 2 &amp;&amp; 3 &gt; 2, *not* bold")).toBe("1 < 2 && 3 > 2, *not* bold");
    expect(plain("ask <@U1> or <@U2|bob> or <@U3>")).toBe("ask @Ada or @bob or @U3");
    expect(plain("in <#C1|general> and <#C2>")).toBe("in #general and #C2");
    expect(plain("<!here> <!subteam^S1|@helpers> <!date^139^{date}|yesterday>")).toBe("@here @helpers yesterday");
    expect(plain("see <https://a.example/x?a=1&amp;b=2>")).toBe("see https://a.example/x?a=1&b=2");
    expect(plain("<http://a.example|a.example> <mailto:a@b.example|a@b.example> <tel:+4930|+49 30>")).toBe(
      "a.example a@b.example +49 30 (+4930)",
    );
    expect(plain("<https://evil.example|https://bank.example>")).toBe("https://bank.example (https://evil.example)");
    expect(plain("hello :wave: at 10:30:00 :unknown:")).toBe("hello 👋 at 10:30:00 :unknown:");
  });

  it("is not read a second time", () => {
    expect(plain("&amp;lt;@U1&amp;gt;")).toBe("&lt;@U1&gt;");
    expect(plain("&lt;@U1&gt; and &lt;!here&gt;")).toBe("<@U1> and <!here>");
    expect(plain("<https://x.example|&lt;@U1&gt;>")).toBe("<@U1> (https://x.example)");
  });

  it("is never lost", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(plainText(escapeText(text), { users: new Map(), emoji: new Map() })).toBe(text);
        expect(unescapeText(escapeText(text))).toBe(text);
      }),
      seeded,
    );
  });

  it("reads emoji from the blocks, and tolerates malformed blocks", () => {
    const blocks = [
      {
        type: "rich_text",
        elements: [
          {
            elements: [
              { type: "emoji", name: "wave", unicode: "1f44b" },
              { type: "emoji", name: "+1", skin_tone: 3, unicode: "1f44d-1f3fc" },
              { type: "emoji", name: "own-picture" },
              { type: "emoji", name: "broken", unicode: "ffffff" },
            ],
          },
        ],
      },
      null,
      "text",
      { elements: "none" },
    ];
    expect(Object.fromEntries(emojiOf(blocks))).toEqual({ "+1::skin-tone-3": "👍🏼", wave: "👋" });
    expect(namedUsers("<@U1> <@U1|ada> <@W2> <!here> @U3 &lt;@U4&gt;")).toEqual(["U1", "W2"]);
  });
});

/** An agent's text from Slack, as the customer sees it on another channel. */
const readElsewhere = (written: string): string =>
  textOf(styledText(markdownOf(plainText(escapeText(written), { users: new Map(), emoji: new Map() }))));

describe("an agent's text in Slack", () => {
  it("is shown on other channels as in Slack", () => {
    for (const text of [
      "Run\n\nnpm install shop",
      "C:\\_temp\\*.log on \\\\server\\share",
      "# 5 is the right one",
      "Title\n---\nand more",
      "[note]: see https://a.example/x_y_z?a=1&copy=2",
      "&copy; is not <b>bold</b>",
      "1. yes\n3. no",
      "Title\n- \nmore",
      "1. yes\n- \n5. no",
    ]) {
      expect(readElsewhere(text).replaceAll(/ +$/gm, "")).toBe(text.replaceAll(/ +$/gm, ""));
    }
    expect(readElsewhere("1. run `a`\n3. run `b`\n4. x")).toBe("1. run a\n3. run b\n4. x");
    expect(readElsewhere("1) one\n\n```x```\n3) three")).toMatch(/^1\) one\s+x\s+3\) three$/);
    expect(readElsewhere("- `a`\n- `b`")).toBe("• a\n• b");
    expect(markdownOf("*see `a`* and \\`b`")).toBe("**see `a`** and \\\\`b`");
    expect(markdownOf("• \nmore")).toBe("• \nmore");
    expect(readElsewhere("```npm install\nnpm start``` and *then* `a*b`")).toBe(
      "npm install\nnpm start\n\nand then a*b",
    );
  });

  it("ends a quote and a list where they end in Slack", () => {
    const shown = (written: string) =>
      styledText(markdownOf(written)).map(({ text, styles }) => [text.trim(), Math.min(1, styles.length)]);
    const quoted = [
      ["How much?", 1],
      ["Five euros", 0],
    ];
    expect(shown("> How much?\nFive euros")).toEqual(quoted);
    expect(shown("> How much?\n\nFive euros")).toEqual(quoted);
    expect(shown("> How much?\n> In red?\nFive *euros*")).toEqual([
      ["How much?\nIn red?", 1],
      ["Five", 0],
      ["euros", 1],
    ]);
    expect(shown(">>> How much?\nAnd in red?")).toEqual([["How much?\nAnd in red?", 1]]);
    expect(shown("• one\n• two\nThanks")).toEqual([["• one\n• two\n\nThanks", 0]]);
    expect(shown("1. one\n2. two\nThanks\nMia")).toEqual([["1. one\n2. two\n\nThanks\nMia", 0]]);
    expect(shown("• one\n  more of it\n• two")).toEqual([["• one\n  more of it\n• two", 0]]);
    expect(shown("Hi\nthere\n5. May\nis fine")).toEqual([["Hi\nthere\n5. May\nis fine", 0]]);
  });

  it("loses only markup characters", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ..."* _ ~ ` ``` ** ~~ # + - > | \\ ! & [ ] ( ) : ; < = 1. 3. 😀".split(" "),
        "\n",
        " ",
        "\t",
        "&amp;",
        "`a`",
        "\n1. ",
        "\n2) ",
        "\n4. ",
        "\n- \n",
      ),
      fc.string({ unit: "grapheme-ascii", maxLength: 10 }),
    );
    const bare = (text: string): string => text.replaceAll(/[\s*_~`•—>-]/g, "").replaceAll(/(\d)\)/g, "$1.");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const written = pieces.join("");
        // A Markdown link shows only its text.
        fc.pre(!written.includes("]("));
        expect(bare(readElsewhere(written))).toBe(bare(written));
      }),
      { numRuns: 500, seed: 4 },
    );
  });
});

describe("a message to Slack", () => {
  it("cannot notify users or forge a link with any text", () => {
    const hostile =
      "<!here> <!channel> <@U012> <!subteam^S1> <#C1> <https://evil.example|https://bank.example> &lt;!here&gt;";
    const [part] = payloads(hostile, { role: "agent", authorName: "<!here> & co" });
    expect(part?.text).not.toMatch(/<[!@#]/);
    expect(part?.text).toContain("&lt;!here&gt; &amp; co");
    // Only link elements can point anywhere, and each shows its address.
    const links = JSON.stringify(part?.blocks).match(/"type":"(?!text|rich_text|link)[^"]*"/g);
    expect(links).toBeNull();
    const [linked] = payloads("[https://bank.example](https://evil.example/a|b>c)");
    expect(linked?.text).toBe("<https://evil.example/a%7Cb%3Ec|https://bank.example>");
  });

  it("is formatted in both forms", () => {
    const [part] = payloads("**Bold** and *slanted*, ~~gone~~, `code`, [a link](https://a.example/?x=1&y=2)\n\n> said");
    expect(part?.text).toBe("*Bold* and _slanted_, ~gone~, `code`, <https://a.example/?x=1&amp;y=2|a link>\n\n>said");
    expect(part?.blocks).toEqual([
      {
        type: "rich_text",
        elements: [
          {
            type: "rich_text_section",
            elements: [
              { type: "text", text: "Bold", style: { bold: true } },
              { type: "text", text: " and " },
              { type: "text", text: "slanted", style: { italic: true } },
              { type: "text", text: ", " },
              { type: "text", text: "gone", style: { strike: true } },
              { type: "text", text: ", " },
              { type: "text", text: "code", style: { code: true } },
              { type: "text", text: ", " },
              { type: "link", url: "https://a.example/?x=1&y=2", text: "a link" },
              { type: "text", text: "\n\n" },
            ],
          },
          { type: "rich_text_quote", elements: [{ type: "text", text: "said" }] },
        ],
      },
    ]);
    expect(mrkdwnOf(styledText("```\na < b\n```"))).toBe("```a &lt; b```");
  });

  it("is not formatted where its text contains the markup character", () => {
    expect(mrkdwnOf(styledText("**5 * 5** and `` a`b ``"))).toBe("5 * 5 and a`b");
  });

  it("is split before Slack's limit, escapes included, and loses nothing", () => {
    const words = Array.from({ length: 3_000 }, (_, at) => `w${at}<&>`).join(" ");
    const parts = payloads(words);
    expect(parts.length).toBeGreaterThan(3);
    for (const { text, blocks } of parts) {
      expect(text.length).toBeLessThanOrEqual(textMax);
      expect(blocksMistake(blocks)).toBeUndefined();
    }
    expect(
      parts
        .map(shownText)
        .join(" ")
        .match(/w\d+<&>/g),
    ).toEqual(words.split(" "));
  });

  it("is always valid for Slack", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (markdown) => {
        for (const part of payloads(markdown)) {
          expect(blocksMistake(part.blocks)).toBeUndefined();
          expect(part.text).not.toBe("");
        }
      }),
      { ...seeded, examples: [["**"], ["[](https://a.example)"], ["``` \n```"], ["> \n> "], ["# "]] },
    );
  });

  it("has each file as a part of its own, after the text", () => {
    const file = { id: "file_1", name: "a <b>.pdf", mediaType: "application/pdf", bytes: 3 };
    expect(render("See this", { files: [file], role: "agent", authorName: "Anna" })).toMatchObject([
      { text: "Anna:\nSee this" },
      { text: "[file: a <b>.pdf]", payload: { kind: "file", file, comment: "Anna: a <b>.pdf" } },
    ]);
    expect(render("", { files: [file] })).toHaveLength(1);
  });
});
