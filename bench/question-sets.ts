import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Static } from "typebox";
import Type from "typebox";
import Value from "typebox/value";

/** Questions with known right documents, as bench:retrieval reads them, and the variants made of them. */

const QuestionSetSchema = Type.Object({
  name: Type.String(),
  docs: Type.Array(Type.Object({ id: Type.String(), title: Type.String(), text: Type.String() })),
  queries: Type.Array(
    Type.Object({
      id: Type.String(),
      text: Type.String(),
      rel: Type.Optional(Type.Array(Type.String())),
      answers: Type.Optional(Type.Array(Type.String())),
      noAnswer: Type.Optional(Type.Boolean()),
      near: Type.Optional(Type.String()),
    }),
  ),
});
export type QuestionSet = Static<typeof QuestionSetSchema>;
export type SetQuestion = QuestionSet["queries"][number];

const OffDomain = Type.Object({ questions: Type.Array(Type.String()) });

/** `tune` and `report` are disjoint halves: settings are chosen on one, and reported on the other. */
export type Half = "tune" | "report" | "all";

/** A number from 0 to below 1 that depends only on the text and the purpose. */
function shareOf(text: string, purpose: string): number {
  return createHash("sha256").update(`${purpose}\n${text}`).digest().readUInt32BE(0) / 2 ** 32;
}

export function inHalf(key: string, half: Half): boolean {
  return half === "all" || shareOf(key, "half") < 0.5 === (half === "tune");
}

/** Reads the sets of a folder and the off-domain questions. `skipped` lists files of another form. */
export function readQuestionSets(
  folder: string,
  half: Half,
): { readonly sets: QuestionSet[]; readonly offDomain: string[]; readonly skipped: string[] } {
  const sets: QuestionSet[] = [];
  const skipped: string[] = [];
  let offDomain: string[] = [];
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json"))) {
    const content: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
    if (Value.Check(OffDomain, content)) offDomain = content.questions.filter((text) => inHalf(text, half));
    else if (Value.Check(QuestionSetSchema, content) && content.queries.length > 0) {
      // Questions on one document stay in one half: settings tuned on a question must not be reported on its
      // rephrasings.
      const keyOf = (query: SetQuestion): string => query.rel?.[0] ?? query.near ?? query.id;
      sets.push({ ...content, queries: content.queries.filter((query) => inHalf(keyOf(query), half)) });
    } else skipped.push(name);
  }
  return { sets, offDomain, skipped };
}

/** Whether a document is left out of the index, so that questions on it alone must be refused. */
export function isHeldOut(documentId: string): boolean {
  return shareOf(documentId, "held out") < 0.4;
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const typoWordMin = 5;

/**
 * The question with one typo in a word of five letters or more: two letters swapped, one left out, added or replaced.
 */
export function withTypo(text: string): string {
  const words = [...text.matchAll(/\p{L}+/gu)].filter(([word]) => word.length >= typoWordMin);
  const chosen = words[Math.floor(shareOf(text, "word") * words.length)];
  if (chosen === undefined) return text;
  const [word] = chosen;
  const at = Math.floor(shareOf(text, "place") * (word.length - 1));
  const letter = letters.charAt(Math.floor(shareOf(text, "letter") * letters.length));
  const typos = [
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + letter + word.slice(at),
    word.slice(0, at) + letter + word.slice(at + 1),
  ];
  const typo = typos[Math.floor(shareOf(text, "kind") * typos.length)] ?? word;
  return text.slice(0, chosen.index) + typo + text.slice(chosen.index + word.length);
}
