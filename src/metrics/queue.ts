import type { Reader } from "#database/contract.ts";

/** State of the outbox for one kind of work. */
export interface QueueMetrics {
  readonly kind: string;
  readonly waiting: number;
  /** When the oldest row that waits was due; null when none does. */
  readonly oldestDueAt: number | null;
  readonly dead: number;
}

/** More than this is counted as this: the answer costs the same however long the queue is. */
const countedRowsMax = 10_000;

/** Counts of due and abandoned rows. Both are read from the front of an index. */
export async function queueMetrics(db: Reader, now: number): Promise<QueueMetrics[]> {
  const waiting = await db
    .selectFrom((from) =>
      from
        .selectFrom("outbox")
        .select(["kind", "due_at"])
        .where("dead_at", "is", null)
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .limit(countedRowsMax)
        .as("due"),
    )
    .select((eb) => ["kind", eb.fn.countAll<number>().as("rows"), eb.fn.min("due_at").as("oldest")])
    .groupBy("kind")
    .execute();
  const dead = await db
    .selectFrom((from) =>
      from.selectFrom("outbox").select("kind").where("dead_at", "is not", null).limit(countedRowsMax).as("dead"),
    )
    .select((eb) => ["kind", eb.fn.countAll<number>().as("rows")])
    .groupBy("kind")
    .execute();
  const kinds = new Set([...waiting, ...dead].map(({ kind }) => kind));
  return [...kinds].map((kind) => {
    const due = waiting.find((each) => each.kind === kind);
    return {
      kind,
      waiting: due?.rows ?? 0,
      oldestDueAt: due === undefined ? null : due.oldest,
      dead: dead.find((each) => each.kind === kind)?.rows ?? 0,
    };
  });
}
