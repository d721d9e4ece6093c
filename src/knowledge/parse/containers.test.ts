import { describe, expect, it } from "vitest";
import { parseMarkdown } from "./markdown.ts";

/** The blocks as lines; headings are marked. */
const read = (source: string): readonly string[] =>
  parseMarkdown(source).blocks.map((block) => {
    if (block.kind === "heading") return `# ${block.text}`;
    return block.kind === "row" ? block.cells.join(", ") : block.text;
  });

describe("notices and tabs of documentation generators", () => {
  it.each([
    ["Docusaurus", ":::danger\n\nAll scenes are deleted.\n\n:::\n\nThen restart.", "Danger: All scenes are deleted."],
    [
      "a title",
      ":::warning[Read this first]\nAll scenes are deleted.\n:::\nThen restart.",
      "Read this first: All scenes are deleted.",
    ],
    [
      "VitePress",
      "::: tip Saves time\nAll scenes are deleted.\n:::\nThen restart.",
      "Saves time: All scenes are deleted.",
    ],
    [
      "MkDocs",
      '!!! danger "Careful"\n    All scenes are deleted.\n\nThen restart.',
      "Careful: All scenes are deleted.",
    ],
    ["a folded one", "??? note\n\n    All scenes are deleted.\n\nThen restart.", "Note: All scenes are deleted."],
  ])("begin with the kind or the title: %s", (_, source, notice) => {
    expect(read(source)).toEqual([notice, "Then restart."]);
  });

  it("name a tab above its text", () => {
    const mkDocs =
      '=== "Mac"\n    Press Cmd.\n\n    !!! warning\n        Save first.\n\n=== "Windows"\n    Press Ctrl.\n\nDone.';
    expect(read(mkDocs)).toEqual(["# Mac", "Press Cmd.", "Warning: Save first.", "# Windows", "Press Ctrl.", "Done."]);
    const mdx = `import Tabs from '@theme/Tabs';\n\n<Tabs><TabItem value="mac" label="Mac">\n\nPress Cmd.\n\n</TabItem></Tabs>\n\n<Accordion title="How do I pay?">\nBy card.\n</Accordion>`;
    expect(read(mdx)).toEqual(["# Mac", "Press Cmd.", "# How do I pay?", "By card."]);
  });

  it("stand before a list, and leave code alone", () => {
    expect(read(":::note\n- one\n- two\n:::")).toEqual(["Note:", "one", "two"]);
    const code = ":::warning\nx\n:::\nimport a from 'b'";
    expect(read(`\`\`\`md\n${code}\n\`\`\``)).toEqual([code]);
  });

  it.each(["!!! Important: read this first", "??? really", "=== equals", "import duties from the EU apply"])(
    "are not made of text: %s",
    (text) => {
      expect(read(`${text}\n\nNext.`)).toEqual([text, "Next."]);
    },
  );
});
