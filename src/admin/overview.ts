import type { Actor } from "#domain/conversation/message.ts";
import type { Reader, Store } from "#database/contract.ts";
import { modelTokensUsed } from "#database/queries/counters.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import { recordChange } from "./audit.ts";
import type { CanRetry } from "./installation/dead-letters.ts";
import { readDeadLetters } from "./installation/dead-letters.ts";
import type { ManualDependencies } from "./installation/manual.ts";
import { manualDocuments } from "./installation/manual.ts";

/** Reads the problems of a workspace, and the first steps of a new one. Takes few statements at any size. */
export async function readOverview(
  dependencies: ManualDependencies & { readonly canRetry: CanRetry },
  workspaceId: string,
  now: number,
) {
  const db = dependencies.store.read;
  const [manual, channels, documents, webhooks, deadLetters, versions, steps, isModelSpent] = await Promise.all([
    manualDocuments(dependencies, workspaceId),
    troubledChannels(db, workspaceId),
    documentCounts(db, workspaceId),
    troubledWebhooks(db, workspaceId),
    readDeadLetters(db, dependencies.canRetry, workspaceId, now),
    mixedVersions(db),
    firstSteps(db, workspaceId),
    hasSpentModel(db, workspaceId, now),
  ]);
  return {
    channels,
    documents_failed: documents.failed,
    webhooks,
    dead_letters: deadLetters,
    versions,
    model_budget_spent: isModelSpent,
    first_steps: { ...steps, documents: documents.all > manual.length, manual: manual.length > 0 },
  };
}

/** Accounts in use that do not work with their current settings. */
async function troubledChannels(db: Reader, workspaceId: string) {
  return db
    .selectFrom("accounts")
    .innerJoin("account_status", "account_status.account_id", "accounts.id")
    .select(["accounts.id", "accounts.name", "accounts.channel", "account_status.error"])
    .where("accounts.workspace_id", "=", workspaceId)
    .where("accounts.removed_at", "is", null)
    .where("accounts.enabled", "=", 1)
    .where("accounts.paused", "=", 0)
    .where("account_status.state", "in", ["broken", "unusable"])
    .whereRef("account_status.revision", "=", "accounts.revision")
    .orderBy("accounts.name")
    .execute();
}

async function documentCounts(db: Reader, workspaceId: string) {
  const rows = await db
    .selectFrom("documents")
    .select((eb) => ["status", eb.fn.countAll<number | string>().as("count")])
    .where("workspace_id", "=", workspaceId)
    .groupBy("status")
    .execute();
  const countOf = (some: typeof rows): number => some.reduce((sum, { count }) => sum + Number(count), 0);
  return { all: countOf(rows), failed: countOf(rows.filter(({ status }) => status === "failed")) };
}

async function troubledWebhooks(db: Reader, workspaceId: string) {
  const rows = await db
    .selectFrom("webhooks")
    .select(["id", "url", "disabled_at", "disabled_reason"])
    .where("workspace_id", "=", workspaceId)
    .where((eb) => eb.or([eb("disabled_reason", "is not", null), eb("failing_since", "is not", null)]))
    .orderBy("id")
    .execute();
  return rows.map(({ id, url, disabled_at: at, disabled_reason: reason }) => ({
    id,
    url,
    state: at === null ? ("failing" as const) : ("disabled" as const),
    reason,
  }));
}

/** The versions of the running processes if there are several; null: one from before versions were stored. */
async function mixedVersions(db: Reader): Promise<readonly (string | null)[]> {
  const rows = await db.selectFrom("processes").select("version").distinct().orderBy("version").execute();
  return rows.length > 1 ? rows.map(({ version }) => version) : [];
}

/** Whether the language model's tokens of this month are used up. */
async function hasSpentModel(db: Reader, workspaceId: string, now: number): Promise<boolean> {
  const row = await db.selectFrom("workspaces").select("settings").where("id", "=", workspaceId).executeTakeFirst();
  const max = row === undefined ? null : storedSettings(row.settings).modelTokensPerMonth;
  return max !== null && (await modelTokensUsed(db, workspaceId, now)) >= max;
}

async function firstSteps(db: Reader, workspaceId: string) {
  const conversations = db.selectFrom("conversations").select("id").where("workspace_id", "=", workspaceId).limit(1);
  const [question, widget, channel, agents, workspace] = await Promise.all([
    conversations.executeTakeFirst(),
    conversations.where("channel", "=", "widget").executeTakeFirst(),
    db
      .selectFrom("accounts")
      .leftJoin("account_status", (join) =>
        join
          .onRef("account_status.account_id", "=", "accounts.id")
          .onRef("account_status.revision", "=", "accounts.revision")
          .on("account_status.state", "in", ["broken", "unusable"]),
      )
      .select("accounts.id")
      .where("accounts.workspace_id", "=", workspaceId)
      .where("accounts.managed_by", "!=", "builtin")
      .where("accounts.removed_at", "is", null)
      .where("account_status.account_id", "is", null)
      .limit(1)
      .executeTakeFirst(),
    db.selectFrom("agents").select("id").where("workspace_id", "=", workspaceId).limit(2).execute(),
    db.selectFrom("workspaces").select("first_steps_dismissed_at").where("id", "=", workspaceId).executeTakeFirst(),
  ]);
  return {
    dismissed: (workspace?.first_steps_dismissed_at ?? null) !== null,
    question: question !== undefined,
    widget: widget !== undefined,
    channel: channel !== undefined,
    colleague: agents.length > 1,
  };
}

/** Hides the first steps for all administrators of the workspace. */
export async function dismissFirstSteps(store: Store, clock: Clock, workspaceId: string, by: Actor): Promise<void> {
  const now = clock.now();
  await store.write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("workspaces")
      .set({ first_steps_dismissed_at: now })
      .where("id", "=", workspaceId)
      .where("first_steps_dismissed_at", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    await recordChange(tx, {
      workspaceId,
      by,
      action: "workspace_changed",
      subject: "first steps",
      to: "dismissed",
      now,
    });
  });
}
