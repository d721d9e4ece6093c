import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Store, Tx } from "#database/contract.ts";
import { retryDeadWork } from "#database/queries/outbox.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Wake } from "#runtime/signals.ts";
import { recordChange } from "#admin/audit.ts";
import type { CanRetry, DeadLetter } from "./dead-letters.ts";
import { deadLetterPages, findDeadLetter, isOnlyWorkspace } from "./dead-letters.ts";
import { workTitle } from "./work-titles.ts";

export interface DeadLetterDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly wake: Wake;
  readonly canRetry: CanRetry;
}

interface Edit {
  readonly workspaceId: string;
  readonly by: Actor;
}

/** Queues given-up work again. Work for no workspace may be tried again by the administrators of any. */
export async function retryDeadLetter(dependencies: DeadLetterDependencies, edit: Edit, id: string): Promise<void> {
  const { store, clock, wake, canRetry } = dependencies;
  const now = clock.now();
  const lane = await store.write(async (tx) => {
    const letter = await requireDeadLetter(tx, edit.workspaceId, id);
    if (!canRetry(letter.row, now)) {
      throw new Problem("invalid_transition", "This work cannot be tried again.");
    }
    const retried = await retryAll(tx, edit, [letter], now);
    if (retried === 0) throw isTriedAlready();
    return letter.row.lane;
  });
  wake.notify([lane], now);
}

/** Queues all given-up work of the workspace that can be tried again, and that of no workspace. Returns how many. */
export async function retryDeadLetters(dependencies: DeadLetterDependencies, edit: Edit): Promise<number> {
  const { store, clock, wake, canRetry } = dependencies;
  let count = 0;
  for await (const page of deadLetterPages(store.read, edit.workspaceId)) {
    const now = clock.now();
    const letters = page.filter(({ row }) => canRetry(row, now));
    if (letters.length === 0) continue;
    count += await store.write((tx) => retryAll(tx, edit, letters, now));
    wake.notify([...new Set(letters.map(({ row }) => row.lane))], now);
  }
  return count;
}

/** Deletes given-up work. Work that is for other workspaces too stays, until it is 30 days old. */
export async function dismissDeadLetter(
  { store, clock }: Pick<DeadLetterDependencies, "store" | "clock">,
  { workspaceId, by }: Edit,
  id: string,
): Promise<void> {
  await store.write(async (tx) => {
    const letter = await requireDeadLetter(tx, workspaceId, id);
    if (!letter.isOwn && !(await isOnlyWorkspace(tx))) {
      throw new Problem("invalid_transition", "This work is for other workspaces too. It is deleted after 30 days.");
    }
    const query = tx.deleteFrom("outbox").where("id", "=", letter.row.id).where("dead_at", "is not", null);
    const { numDeletedRows } = await query.executeTakeFirst();
    if (numDeletedRows === 0n) throw isTriedAlready();
    await recordChange(tx, { workspaceId, by, action: "work_dismissed", subject: nameOf(letter), now: clock.now() });
  });
}

async function requireDeadLetter(tx: Tx, workspaceId: string, id: string): Promise<DeadLetter> {
  const letter = await findDeadLetter(tx, workspaceId, id);
  if (letter === undefined) throw new Problem("not_found", "There is no such work. It may have been done by now.");
  if (letter.row.dead_at === null) throw isTriedAlready();
  return letter;
}

const isTriedAlready = () => new Problem("invalid_transition", "This work is being tried again already.");

async function retryAll(tx: Tx, { workspaceId, by }: Edit, letters: readonly DeadLetter[], now: number) {
  const ids = letters.map(({ row }) => row.id);
  const retried = await retryDeadWork(tx, ids, now);
  const subject = namesOf(letters.filter(({ row }) => retried.has(row.id)));
  if (retried.size > 0) await recordChange(tx, { workspaceId, by, action: "work_retried", subject, now });
  return retried.size;
}

const nameOf = ({ row, conversationId }: DeadLetter): string =>
  conversationId === null ? workTitle(row.kind) : `${workTitle(row.kind)} (${conversationId})`;

/** One name, or each title with its number. */
function namesOf(letters: readonly DeadLetter[]): string {
  const [first, second] = letters;
  if (first !== undefined && second === undefined) return nameOf(first);
  const titles = Map.groupBy(letters, ({ row }) => workTitle(row.kind));
  return [...titles].map(([title, of]) => `${title} (${of.length})`).join(", ");
}
