import { setImmediate as turn } from "node:timers/promises";
import type { Question } from "#engine/ports.ts";
import type { KnowledgeIndex } from "#knowledge/index/index-port.ts";
import type { Composed } from "./compose.ts";
import { compose } from "./compose.ts";
import type { Found, Lookup } from "./retrieve.ts";
import { retrieve } from "./retrieve.ts";

/** The passage that tells the steps often ranks a little below those that only speak of them. */
const passagesBeyond = 3;

/** What the documents hold for a question. */
export interface Judged {
  readonly found: Found;
  /** The answer that their own sentences make; undefined where there is none. */
  readonly extract: Composed | undefined;
}

/** What is found for a question, and how much of an answer the documents' own sentences make. */
export async function judge(
  index: KnowledgeIndex,
  lookup: Lookup & Pick<Question, "topK">,
  signal: AbortSignal,
): Promise<Judged> {
  const found = await retrieve(index, lookup, signal);
  // To rank and to put together each take a millisecond or two, and other requests have their turn between.
  await turn();
  signal.throwIfAborted();
  const count = lookup.topK + passagesBeyond;
  const extract = compose(found.question, found.asked, found.ranked, count, found.confidenceOfScore);
  signal.throwIfAborted();
  return { found, extract };
}
