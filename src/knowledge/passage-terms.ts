import { termsOf } from "#answering/terms.ts";

export interface PassageTerms {
  readonly titleTerms: readonly string[];
  readonly bodyTerms: readonly string[];
}

/** The terms of a document's passages, in their order: the same for every index. */
export function termsOfPassages(
  passages: readonly { readonly title: string; readonly text: string }[],
): readonly PassageTerms[] {
  return passages.map(({ title, text }) => ({ titleTerms: termsOf(title), bodyTerms: termsOf(text) }));
}
