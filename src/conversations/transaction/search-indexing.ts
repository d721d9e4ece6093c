import type { NewWork, OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, PartlyFailed, finishWork, insertWork } from "#database/queries/outbox.ts";
import { indexLane } from "#queue/lanes.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";

interface IndexPayload {
  readonly conversationIds: readonly string[];
}

/** Makes the texts of these conversations as they are then findable. */
export function indexWork(conversationIds: readonly string[], dueAt: number): NewWork {
  return { lane: indexLane, kind: "index", payload: { conversationIds } satisfies IndexPayload, dueAt };
}

/** Texts are indexed at full halves of a second: question and answer together, as the whole conversation is read for it. */
const indexEveryMs = 500;
/** A long one is indexed less often: with each half of a second more as many messages are read for it. */
const messagesEach = 25;
/** No more of one conversation are indexed than a thousand, so what they take grows no further: 20 seconds. */
const indexEveryMsMost = 40 * indexEveryMs;
/** What one piece of that work names: it is short, and others go between. */
const indexedTogether = 25;

/** Makes what was said in these conversations findable, with what is still said there until then. */
export function indexWorks(
  spoken: readonly { readonly id: string; readonly last_seq: number }[],
  now: number,
): readonly NewWork[] {
  const byDueAt = Map.groupBy(spoken, ({ last_seq: messages }) => {
    const everyMs = Math.min(indexEveryMs * Math.ceil(messages / messagesEach), indexEveryMsMost);
    return now - (now % everyMs) + everyMs;
  });
  const works: NewWork[] = [];
  for (const [dueAt, of] of byDueAt) {
    const ids = of.map(({ id }) => id);
    for (let at = 0; at < ids.length; at += indexedTogether) {
      works.push(indexWork(ids.slice(at, at + indexedTogether), dueAt));
    }
  }
  return works;
}

interface Pace {
  /** As long as one write may keep what comes meanwhile waiting: an acknowledgement, say. */
  readonly stepMs: number;
  /** As long as a write gives way to others. */
  readonly calmMs: number;
}

/** SQLite works in this process, and all else waits for it. A conversation has to be found soon all the same. */
const paces: Readonly<Record<Store["dialect"], Readonly<Record<"usual" | "late", Pace>>>> = {
  sqlite: { usual: { stepMs: 1, calmMs: 6 }, late: { stepMs: 4, calmMs: 2 } },
  mysql: { usual: { stepMs: 20, calmMs: 0 }, late: { stepMs: 20, calmMs: 0 } },
};
const lateMs = 1_000;
/** Conversations whose text is indexed in one write; as many as are done in that time. */
const stepSizes = { least: 2, first: 6, most: 50 };

export interface IndexDependencies {
  readonly store: Store;
  readonly search: ConversationSearch;
  readonly clock: Clock;
  /** Made by {@link createGiveWay}. */
  readonly waitUntilIdle: (maxMs: number) => Promise<void>;
}

/**
 * Does such work: each conversation once, however often it is named. Where that fails each row is done by itself, so that
 * a conversation whose text cannot be stored keeps no other out.
 */
export async function indexTexts(
  { store, search, clock, waitUntilIdle }: IndexDependencies,
  rows: readonly OutboxRow[],
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<void> {
  const done = new Set<string>();
  let step: OutboxRow[] = [];
  let ids: string[] = [];
  let stepSize = stepSizes.first;
  let pace = paces[store.dialect].usual;
  /** Of these some conversations could not be stored together with others. */
  const apart = new Set<OutboxRow>();
  const failures: { readonly row: OutboxRow; readonly error: unknown }[] = [];
  const write = async (last: OutboxRow): Promise<void> => {
    const [ended, named] = [step, ids];
    [step, ids] = [[], []];
    pace = paces[store.dialect][clock.now() - last.due_at > lateMs ? "late" : "usual"];
    await waitUntilIdle(pace.calmMs);
    // What is left of a long backlog is for who starts next: the database is about to be closed.
    signal.throwIfAborted();
    try {
      await indexNow(ended, named);
    } catch {
      // A database that is away fails all of them, each after a time of its own: that is for who waits for it.
      await store.write(async () => undefined, { flush: false });
      if (!ended.includes(last)) apart.add(last);
      for (const row of ended) await indexAlone(row);
    }
  };
  const indexNow = (ended: readonly OutboxRow[], named: readonly string[]): Promise<void> =>
    store.write(
      async (tx) => {
        const began = now();
        await finishWork(tx, ended);
        await search.index(tx, named);
        const tookMs = Math.max(now() - began, 0.1);
        const fitting = Math.round((named.length * pace.stepMs) / tookMs);
        stepSize = Math.min(Math.max(fitting, stepSizes.least), stepSizes.most);
      },
      { flush: false },
    );
  const indexAlone = async (row: OutboxRow): Promise<void> => {
    const named = idsOf(row);
    try {
      await indexNow([row], named);
    } catch (error) {
      // Somebody else has it.
      if (error instanceof LostLease) return;
      if (named.length > 1) await store.write((tx) => splitIndexWork(tx, row));
      else failures.push({ row, error });
    }
  };
  // In small steps: who waits for an acknowledgement goes before them.
  for (const row of rows) {
    for (const id of idsOf(row)) {
      if (done.has(id)) continue;
      if (ids.length >= stepSize) await write(row);
      done.add(id);
      ids.push(id);
    }
    // It ends with the last of its conversations.
    if (apart.has(row)) await indexAlone(row);
    else step.push(row);
  }
  const last = step.at(-1);
  if (last !== undefined) await write(last);
  if (failures.length > 0) throw new PartlyFailed(failures);
}

/** A row for each of its conversations takes its place. */
async function splitIndexWork(tx: Tx, row: OutboxRow): Promise<void> {
  await finishWork(tx, [row]);
  const works = idsOf(row).map((id) => indexWork([id], row.due_at));
  await insertWork(tx, works, row.created_at);
}

/** Work that an older version has stored names one. */
function idsOf(row: OutboxRow): readonly string[] {
  const payload = JSON.parse(row.payload) as IndexPayload | { readonly conversationId: string };
  return "conversationIds" in payload ? payload.conversationIds : [payload.conversationId];
}
