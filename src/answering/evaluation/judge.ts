import type { Answer } from "#answering/contract.ts";

/**
 * A right answer names all facts, each in one of its alternatives, and cites one of the documents. An empty list is not
 * judged by.
 */
export interface Gold {
  readonly documents: readonly string[];
  readonly answers: readonly (readonly string[])[];
}

export const verdicts = ["right", "partly", "wrong", "refused rightly", "refused wrongly"] as const;
export type Verdict = (typeof verdicts)[number];

/** An answer with the names of the documents that it cites. */
export interface Given extends Pick<Answer, "text" | "answered" | "confidence"> {
  readonly cited: readonly string[];
}

/** `expected` holds one entry for each question of the message. Null: the documents have no answer to it. */
export function judgeAnswer({ text, answered, cited }: Given, expected: readonly (Gold | null)[]): Verdict {
  const golds = expected.filter((each) => each !== null);
  if (!answered) return golds.length === 0 ? "refused rightly" : "refused wrongly";
  if (golds.length === 0) return "wrong";
  const plain = plainly(text);
  const isCited = golds.some(
    ({ documents }) => documents.length === 0 || documents.some((each) => cited.includes(each)),
  );
  const facts = golds.flatMap(({ answers }) => answers);
  const named = facts.filter((alternatives) => alternatives.some((each) => names(plain, plainly(each)))).length;
  if (!isCited || (named === 0 && facts.length > 0)) return "wrong";
  return named === facts.length ? "right" : "partly";
}

/** Without Markdown, and with one spelling for spaces and percentages. */
function plainly(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[*`\\]/g, "")
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/(\d) %/g, "$1%");
}

/** Whether the text has the fact between other words: "8" is not in "18". */
function names(text: string, fact: string): boolean {
  for (let at = text.indexOf(fact); at !== -1; at = text.indexOf(fact, at + 1)) {
    const [before = "", after = ""] = [text[at - 1], text[at + fact.length]];
    if (!joins(before, fact[0]) && !joins(after, fact.at(-1))) return true;
  }
  return false;
}

const joins = (outside: string, inside = ""): boolean => /[\p{L}\p{N}]/u.test(outside) && /[\p{L}\p{N}]/u.test(inside);
