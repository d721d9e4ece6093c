import * as fc from "fast-check";

// Texts for the splitting rule. A numbered mark replaces every word, so that sent and shown texts can be compared
// although platforms change bold print, lists and line ends.

const word = fc.integer({ min: 1, max: 12 }).map((length) => "@".repeat(length));
const words = (max: number) => fc.array(word, { minLength: 1, maxLength: max });
const sentence = (max: number) => words(max).map((all) => all.join(" "));
const block = fc.oneof(
  { weight: 4, arbitrary: sentence(120) },
  sentence(6).map((text) => `## ${text}`),
  fc.array(sentence(12), { minLength: 1, maxLength: 12 }).map((items) => items.map((item) => `- ${item}`).join("\n")),
  fc.array(sentence(8), { minLength: 1, maxLength: 40 }).map((lines) => `\`\`\`\n${lines.join("\n")}\n\`\`\``),
  sentence(20).map((text) => `> ${text}`),
  sentence(10).map((text) => `**${text}** and *${text}*, \`${text}\` 😀`),
  sentence(2).map((text) => `| a | b |\n| - | - |\n| ${text} | ${text} |`),
  fc.integer({ min: 300, max: 900 }).map((length) => "@".repeat(length)),
  fc.integer({ min: 1, max: 300 }).map((signs) => "👩‍👩‍👧😀".repeat(signs)),
);
export const document = fc.array(block, { minLength: 1, maxLength: 12 });

export function numbered(blocks: readonly string[]): string {
  let mark = 0;
  return blocks.join("\n\n").replaceAll("@", () => `w${(mark += 1)}x`);
}

export const faces = (text: string): number => text.split("😀").length - 1;

/** The marks of a text in order, without any markup between and within them. */
export function marks(text: string): readonly string[] {
  return text.replaceAll(/[^a-z0-9]/g, "").match(/w\d+x/g) ?? [];
}
