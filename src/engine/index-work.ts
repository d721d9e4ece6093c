import type { NewWork, OutboxRow } from "#store/outbox.ts";
import { finishWork } from "#store/outbox.ts";
import { indexLane } from "./lanes.ts";
import type { ConversationSearch, Store } from "./ports.ts";

interface IndexPayload {
  readonly conversationIds: readonly string[];
}

/** Makes the texts of these conversations as they are then findable. */
export function indexWork(conversationIds: readonly string[], dueAt: number): NewWork {
  return { lane: indexLane, kind: "index", payload: { conversationIds } satisfies IndexPayload, dueAt };
}

/** Conversations whose text is indexed in one write. */
const stepSize = 50;

/** Does such work: each conversation once, however often it is named. */
export async function indexTexts(
  { store, search }: { readonly store: Store; readonly search: ConversationSearch },
  rows: readonly OutboxRow[],
): Promise<void> {
  const done = new Set<string>();
  let step: OutboxRow[] = [];
  let ids: string[] = [];
  const write = async (): Promise<void> => {
    const [ended, named] = [step, ids];
    [step, ids] = [[], []];
    await store.write(async (tx) => {
      await finishWork(tx, ended);
      await search.index(tx, named);
    });
  };
  // In small steps: who waits for an acknowledgement goes before them.
  for (const row of rows) {
    const fresh = idsOf(row).filter((id) => !done.has(id));
    if (step.length > 0 && ids.length + fresh.length > stepSize) await write();
    step.push(row);
    for (const id of fresh) {
      done.add(id);
      ids.push(id);
    }
  }
  if (step.length > 0) await write();
}

/** Work that an older version has stored names one. */
function idsOf(row: OutboxRow): readonly string[] {
  const payload = JSON.parse(row.payload) as IndexPayload | { readonly conversationId: string };
  return "conversationIds" in payload ? payload.conversationIds : [payload.conversationId];
}
