import { array, assert, oneof, property, stringMatching } from "fast-check";
import { describe, expect, it } from "vitest";
import { wordCount } from "#language/words/terms.ts";
import type { Unit } from "./chunk-text.ts";
import { readUnits, writeUnits } from "./chunk-text.ts";
import { chunkDocument } from "./chunk.ts";
import { parseTextDocument } from "#knowledge/parse/parse.ts";
import { splitSentences } from "#language/words/sentences.ts";

const chunksOf = (markdown: string, title = "Guide") =>
  chunkDocument(parseTextDocument(Buffer.from(markdown), "text/markdown"), title);
const sentence = (n: number) => `Sentence number ${n} has exactly eight words here.`;
const sentences = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => sentence(from + index)).join(" ");

describe("sentences", () => {
  it("do not end after abbreviations and initials", () => {
    expect(splitSentences("Ask Dr. Smith, e.g. by mail. J. Doe knows too! Call 9 a.m. to 5 p.m. daily. Ok?")).toEqual([
      "Ask Dr. Smith, e.g. by mail.",
      "J. Doe knows too!",
      "Call 9 a.m. to 5 p.m. daily.",
      "Ok?",
    ]);
  });

  it("keep version numbers whole", () => {
    expect(splitSentences("Use version 2.0.1 now. Then go.")).toEqual(["Use version 2.0.1 now.", "Then go."]);
  });
});

describe("chunks", () => {
  it("hold about 120 words, end with a sentence, and repeat the last sentence of the previous chunk", () => {
    const chunks = chunksOf(sentences(1, 40));
    expect(chunks.length).toBe(3);
    for (const chunk of chunks) {
      expect(wordCount(chunk.text)).toBeLessThanOrEqual(120);
      expect(chunk.text).toMatch(/here\.$/);
    }
    expect(chunks[1]?.text.startsWith(sentence(15))).toBe(true);
    const all = chunks.map((chunk) => chunk.text).join(" ");
    for (let n = 1; n <= 40; n += 1) expect(all).toContain(sentence(n));
  });

  it("have the document's title and the path of headings", () => {
    const chunks = chunksOf(
      `# Guide\n\n${sentences(1, 3)}\n\n## Setup\n\n${sentences(4, 6)}\n\n### Linux\n\n${sentences(7, 9)}`,
    );
    expect(chunks.map((chunk) => chunk.title)).toEqual(["Guide", "Guide › Setup", "Guide › Setup › Linux"]);
  });

  it("join neighbouring sections of a few words, but no questions", () => {
    expect(chunksOf("## Phone\n\nCall 555.\n\n## Fax\n\nFax 556.").map((chunk) => chunk.text)).toEqual([
      "## Phone\n\nCall 555.\n\n## Fax\n\nFax 556.",
    ]);
    expect(chunksOf("## Phone?\n\nCall 555.\n\n## Fax?\n\nFax 556.")).toHaveLength(2);
  });

  it("keep a list together with its introducing sentence", () => {
    const steps = Array.from(
      { length: 12 },
      (_, n) => `${n + 1}. Do the step that is called ${n} with great care.`,
    ).join("\n");
    const chunks = chunksOf(`${sentences(1, 12)}\n\nFollow these steps:\n\n${steps}`);
    expect(chunks).toHaveLength(2);
    expect(chunks[1]?.text).toContain("Follow these steps:\n\n1. Do the step");
    expect(chunks[1]?.text).toContain("\n12. Do the step");
  });

  it("drop repeated sentences of a page, but keep every command, table row and introduced text in its place", () => {
    const command = `curl -fsSL https://downloads.example.com/install.sh | sudo bash -s -- --region eu`;
    const tile = "The agent sends what it has measured to the region that is named when it is installed.";
    const point = "- It needs no more than forty megabytes of memory, wherever it runs.";
    const asRoot = "Become root before you go on, and stay it until the end of it all:";
    const on = (system: string): string =>
      `${tile}\n\n${point}\n\nOn ${system}:\n\n${point}\n\n${asRoot}\n\n\`\`\`\n${command}\n\`\`\``;
    const text = chunksOf(`${on("Debian")}\n\n${on("Fedora")}`)
      .map((chunk) => chunk.text)
      .join("\n");
    const times = (part: string): number => text.split(part).length - 1;
    expect([tile, command, asRoot, point].map(times)).toEqual([1, 2, 2, 3]);
  });

  it("leave out sections that only link to other pages", () => {
    expect(
      chunksOf("Text that says something.\n\n## More\n\n- [One](/1)\n- [Two](/2)").map((chunk) => chunk.title),
    ).toEqual(["Guide"]);
  });

  it("are parsed back into the units from which they were written", () => {
    const word = stringMatching(/^[A-Za-z]{1,9}$/);
    const line = array(word, { minLength: 2, maxLength: 8 }).map((words) => `X${words.join(" ")} end.`);
    const lines = array(line, { minLength: 1, maxLength: 3 });
    type Made = (group: number) => Unit[];
    const made = oneof(
      line.map((text): Made => () => [{ kind: "heading", text }]),
      line.map((text): Made => () => [{ kind: "code", text: `${text}\n  - ${text}` }]),
      lines.map(
        (texts): Made =>
          (group) =>
            texts.map((text) => ({ kind: "sentence", text, group })),
      ),
      lines.map(
        (texts): Made =>
          (group) =>
            texts.map((text) => ({ kind: "row", text: `${text} | ${text}`, group })),
      ),
      lines.map(
        (texts): Made =>
          (group) =>
            texts.map((text, at) => ({ kind: "item", text, number: at + 1, depth: at % 2, group })),
      ),
    );
    assert(
      property(array(made, { minLength: 1, maxLength: 6 }), (makers) => {
        const units = makers.flatMap((make, group) => make(group));
        const read = readUnits(writeUnits(units));
        expect(read.map(({ kind, text }) => ({ kind, text }))).toEqual(units.map(({ kind, text }) => ({ kind, text })));
        expect(writeUnits(read)).toBe(writeUnits(units));
      }),
    );
  });
});
