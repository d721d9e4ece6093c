import type { Source } from "#domain/conversation/message.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Ranked } from "#answering/rank/ranked.ts";
import type { Retrieval, RetrievalRequest } from "./retrieve.ts";
import { retrieve } from "./retrieve.ts";

/**
 * The passage of a source of an earlier reply, `at` its place in the history: found by the question before the reply, or
 * by its own title. Undefined when it has changed since, or this asker may not see it.
 */
export async function pastPassage(
  index: KnowledgeIndex,
  lookup: RetrievalRequest,
  at: number,
  source: Pick<Source, "title" | "chunk">,
  signal: AbortSignal,
): Promise<{ readonly found: Retrieval; readonly passage: Ranked } | undefined> {
  const asked = lookup.history.findLastIndex(({ role }, i) => i < at && role === "user");
  const before = lookup.history.slice(0, Math.max(0, asked));
  for (const text of [lookup.history[asked]?.content, source.title]) {
    if (text === undefined) continue;
    const found = await retrieve(index, { ...lookup, text, history: before }, signal);
    const passage = found.ranked.find(
      ({ candidate }) => candidate.text === source.chunk && candidate.title === source.title,
    );
    if (passage !== undefined) return { found, passage };
  }
  return undefined;
}
