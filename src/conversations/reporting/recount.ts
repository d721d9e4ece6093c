import type { CellSums } from "#domain/reporting/cells.ts";
import { addCounts, createCellSums } from "#domain/reporting/cells.ts";
import type { Days } from "#domain/reporting/periods.ts";
import type { Count, Progress } from "#domain/reporting/tally.ts";
import { newProgress, tally } from "#domain/reporting/tally.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { storedSettings, timezoneOf } from "#domain/workspace/settings.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { factsOf } from "./facts.ts";

type Counted = Pick<ConversationRow, "id" | "started_at">;

/** Counts the stored messages and the audit log of conversations; by conversation, with its progress after them. */
export async function recountConversations(
  db: Reader | Tx,
  conversations: readonly Counted[],
  settings: WorkspaceSettings,
): Promise<ReadonlyMap<string, { readonly counts: readonly Count[]; readonly progress: Progress }>> {
  if (conversations.length === 0) return new Map();
  const ids = conversations.map(({ id }) => id);
  const messages = await db
    .selectFrom("messages")
    .select(["id", "conversation_id", "role", "kind", "author_id", "created_at"])
    .where("conversation_id", "in", ids)
    .execute();
  const audits = await db
    .selectFrom("audit")
    .select([
      "id",
      "conversation_id",
      "action",
      "actor_type",
      "actor_id",
      "from_value",
      "to_value",
      "detail",
      "created_at",
    ])
    .where("conversation_id", "in", ids)
    .execute();
  const messagesOf = Map.groupBy(messages, (row) => row.conversation_id);
  const auditsOf = Map.groupBy(audits, (row) => row.conversation_id);
  return new Map(
    conversations.map(({ id, started_at: startedAt }) => {
      const progress = newProgress(startedAt);
      const facts = factsOf(messagesOf.get(id) ?? [], auditsOf.get(id) ?? []);
      return [id, { counts: tally(progress, facts, settings.slaTargets), progress }];
    }),
  );
}

const conversationsAtOnce = 100;
const dayMs = 86_400_000;

interface RecountOptions {
  /** Called now and then with the number of conversations that were read. */
  readonly progress?: ((conversations: number) => void) | undefined;
}

/** Counts the stored conversations of a workspace again, by the present time zone and SLA targets. */
export async function recountStored(
  db: Reader,
  workspaceId: string,
  days: Days,
  { progress }: RecountOptions = {},
): Promise<CellSums> {
  const { settings: stored } = await db
    .selectFrom("workspaces")
    .select("settings")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const settings = storedSettings(stored);
  const sums = createCellSums();
  const pages = db
    .selectFrom("conversations")
    .select(["id", "started_at", "last_message_at", "channel", "opened_at"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .limit(conversationsAtOnce);
  let read = 0;
  for (let page = await pages.execute(); page.length > 0;) {
    const counted = page.filter((row) => row.opened_at !== null);
    const concerned = await activeIn(db, counted, days);
    const found = await recountConversations(db, concerned, settings);
    for (const { id, channel } of concerned) {
      addCounts(sums, found.get(id)?.counts ?? [], channel, timezoneOf(settings));
    }
    read += page.length;
    progress?.(read);
    page = await pages.where("id", ">", page.at(-1)?.id ?? "").execute();
  }
  return sums;
}

type Dated = Counted & Pick<ConversationRow, "last_message_at">;

/** The conversations that may have a count in these days, wherever the time zone is. */
async function activeIn<Row extends Dated>(
  db: Reader,
  rows: readonly Row[],
  { from, to }: Days,
): Promise<readonly Row[]> {
  const [start, end] = [(from - 1) * dayMs, (to + 2) * dayMs];
  const begun = rows.filter((row) => row.started_at <= end);
  const quiet = begun.filter((row) => row.last_message_at < start).map(({ id }) => id);
  if (quiet.length === 0) return begun;
  const changed = await db
    .selectFrom("audit")
    .select("conversation_id")
    .distinct()
    .where("conversation_id", "in", quiet)
    .where("created_at", ">=", start)
    .execute();
  const still = new Set(quiet);
  for (const { conversation_id: id } of changed) if (id !== null) still.delete(id);
  return begun.filter(({ id }) => !still.has(id));
}
