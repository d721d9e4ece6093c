import type { NewWork } from "#database/queries/outbox.ts";
import { Type } from "typebox";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { LostLease, PartlyFailed, finishWork, insertWork } from "#database/queries/outbox.ts";
import { indexLane } from "#queue/lanes.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";

/** The indexing of conversations' current texts for search. The first version stored one conversation in a row. */
export const indexKind = workKind(
  "index",
  Type.Union([
    Type.Object({ conversationIds: Type.Array(Type.String()) }),
    Type.Object({ conversationId: Type.String() }),
  ]),
  { unordered: true },
);

type IndexWork = Work<PayloadOf<typeof indexKind>>;

export function indexWork(conversationIds: readonly string[], dueAt: number): NewWork {
  return indexKind.queued(indexLane, { conversationIds }, dueAt);
}

export function declareIndexing(dependencies: IndexDependencies): WorkDeclaration {
  return declareWork(indexKind, {
    batch: true,
    attemptsMax: 20,
    // A question and a quick answer are indexed together.
    yieldsMs: 1_000,
    run: (rows, signal) => indexTexts(dependencies, rows, signal),
  });
}

/**
 * Texts are indexed every half second: a question and its answer together, since indexing reads the whole conversation.
 */
const indexEveryMs = 500;
/** Long conversations are indexed less often: half a second more for each this many messages. */
const messagesEach = 25;
/** Reached at a thousand messages: only the newest thousand are indexed, so indexing takes no longer beyond that. */
const indexEveryMsMost = 40 * indexEveryMs;
/** Conversations per row of work. Rows are short, so that other writes can run between them. */
const indexedTogether = 25;

/** Queues the indexing of these conversations, and of further messages in them until then. */
export function indexWorks(
  changed: readonly { readonly id: string; readonly last_seq: number }[],
  now: number,
): readonly NewWork[] {
  const byDueAt = Map.groupBy(changed, ({ last_seq: messages }) => {
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
  /** Limits how long one write may delay others, such as acknowledgements. */
  readonly stepMs: number;
  /** Time to yield to other writes before each write. */
  readonly calmMs: number;
}

/** SQLite runs in this process and blocks everything else. Even so, a conversation must be searchable soon. */
const paces: Readonly<Record<Store["dialect"], Readonly<Record<"usual" | "late", Pace>>>> = {
  sqlite: { usual: { stepMs: 1, calmMs: 6 }, late: { stepMs: 4, calmMs: 2 } },
  mysql: { usual: { stepMs: 20, calmMs: 0 }, late: { stepMs: 20, calmMs: 0 } },
};
const lateMs = 1_000;
/** Conversations per write, adjusted to the time that a write takes. */
const stepSizes = { least: 2, first: 6, most: 50 };

export interface IndexDependencies {
  readonly store: Store;
  readonly search: ConversationSearch;
  readonly clock: Clock;
  /** Made by {@link createWaitUntilIdle}. */
  readonly waitUntilIdle: (maxMs: number) => Promise<void>;
}

/**
 * Indexes each named conversation once. After a failure each row is retried alone, so that a conversation that cannot
 * be stored does not block the others.
 */
export async function indexTexts(
  { store, search, clock, waitUntilIdle }: IndexDependencies,
  rows: readonly IndexWork[],
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<void> {
  const done = new Set<string>();
  let step: IndexWork[] = [];
  let ids: string[] = [];
  let stepSize = stepSizes.first;
  let pace = paces[store.dialect].usual;
  /** Rows of which some conversations have to be stored alone. */
  const storedAlone = new Set<IndexWork>();
  const failures: { readonly row: IndexWork; readonly error: unknown }[] = [];
  const write = async (last: IndexWork): Promise<void> => {
    const [ended, named] = [step, ids];
    [step, ids] = [[], []];
    pace = paces[store.dialect][clock.now() - last.due_at > lateMs ? "late" : "usual"];
    await waitUntilIdle(pace.calmMs);
    // The rest of a long backlog is left to the next start, since the database is about to be closed.
    signal.throwIfAborted();
    try {
      await indexNow(ended, named);
    } catch {
      // If the database is away, every row would fail after its own timeout. The worker waits for the database instead.
      await store.write(async () => undefined, { flush: false });
      if (!ended.includes(last)) storedAlone.add(last);
      for (const row of ended) await indexAlone(row);
    }
  };
  const indexNow = (ended: readonly IndexWork[], named: readonly string[]): Promise<void> =>
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
  const indexAlone = async (row: IndexWork): Promise<void> => {
    const named = idsOf(row);
    try {
      await indexNow([row], named);
    } catch (error) {
      // Another process holds the row.
      if (error instanceof LostLease) return;
      if (named.length > 1) await store.write((tx) => splitIndexWork(tx, row));
      else failures.push({ row, error });
    }
  };
  // In small steps, so that acknowledgements can run between them.
  for (const row of rows) {
    for (const id of idsOf(row)) {
      if (done.has(id)) continue;
      if (ids.length >= stepSize) await write(row);
      done.add(id);
      ids.push(id);
    }
    // The row is deleted with the last of its conversations.
    if (storedAlone.has(row)) await indexAlone(row);
    else step.push(row);
  }
  const last = step.at(-1);
  if (last !== undefined) await write(last);
  if (failures.length > 0) throw new PartlyFailed(failures);
}

/** Replaces the row by one row per conversation. */
async function splitIndexWork(tx: Tx, row: IndexWork): Promise<void> {
  await finishWork(tx, [row]);
  const works = idsOf(row).map((id) => indexWork([id], row.due_at));
  await insertWork(tx, works, row.created_at);
}

function idsOf({ payload }: IndexWork): readonly string[] {
  return "conversationIds" in payload ? payload.conversationIds : [payload.conversationId];
}
