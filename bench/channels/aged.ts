import { newId } from "#domain/ids.ts";
import { openStore } from "#database/open.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { timerLane } from "#queue/lanes.ts";
import { timerKind } from "#conversations/automation/timers.ts";
import type { Installation } from "#test/support/program/installation.ts";
import { conversationAt } from "../list-data.ts";
import { loadSqlite } from "../list-load.ts";

/** 420,000 messages. */
const size = { conversations: 15_000, messagesEach: 28, wordsEach: 20 };
const asleepMs = 2 * 3_600_000;
const step = 1_000;

/**
 * Fills an installation's SQLite database with open conversations of the website chat, each with a timer of its SLA that
 * came due during an outage of two hours.
 */
export async function age({ databaseUrl, workspaceId }: Installation): Promise<void> {
  await loadSqlite(
    databaseUrl.replace(/^sqlite:/, ""),
    size,
    () => undefined,
    (place) => ({
      ...conversationAt(place, size),
      workspaceId,
      channel: "widget",
      status: "open",
      slaState: "in_compliance",
    }),
  );
  const store = await openStore(databaseUrl);
  try {
    const now = Date.now();
    const account = await store.read
      .selectFrom("accounts")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("channel", "=", "widget")
      .executeTakeFirstOrThrow();
    const contact = newId("con", now);
    await store.write(async (tx) => {
      await tx
        .insertInto("contacts")
        .values({
          id: contact,
          workspace_id: workspaceId,
          name: null,
          email: null,
          phone: null,
          user_id: null,
          attributes: "{}",
          provenance: null,
          merged_into: null,
          root_id: contact,
          pending_start: null,
          created_at: now,
          updated_at: now,
        })
        .execute();
      await tx
        .updateTable("conversations")
        .set({
          account_id: account.id,
          contact_id: contact,
          // Each target of the settings is over.
          sla_running_since: now - 30 * 86_400_000,
          timer_at: now - asleepMs,
          last_message_at: now - asleepMs,
        })
        .where("workspace_id", "=", workspaceId)
        .execute();
    });
    const rows = await store.read
      .selectFrom("conversations")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .execute();
    for (let at = 0; at < rows.length; at += step) {
      const works = rows
        .slice(at, at + step)
        .map(({ id }, i) =>
          timerKind.queued(timerLane(id), { conversationId: id }, now - asleepMs + ((at + i) / rows.length) * asleepMs),
        );
      await store.write((tx) => insertWork(tx, works, now));
    }
  } finally {
    await store.close();
  }
}
