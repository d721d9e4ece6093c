import type { Store } from "#database/contract.ts";
import { foldChanges } from "./changes.ts";

/** How a tag is about a customer: it has their address, or a name that others may share. */
export type TagMention = "address" | "name" | undefined;

/** Deletes the counts of tags that name an erased customer. A name that another conversation has as its tag stays. */
export async function forgetTags(
  store: Store,
  workspaceId: string,
  mentionIn: (tag: string) => TagMention,
): Promise<void> {
  // Increments hold tags too, and would bring the counts back.
  await foldChanges(store);
  const counts = store.read.selectFrom("report_counts").where("workspace_id", "=", workspaceId);
  const tags = await counts.select("name").distinct().where("dimension", "=", "tag").execute();
  for (const { name } of tags) {
    const mention = mentionIn(name);
    if (mention === undefined || (mention === "name" && (await isUsed(store, workspaceId, name)))) continue;
    await store.write((tx) =>
      tx
        .deleteFrom("report_counts")
        .where("workspace_id", "=", workspaceId)
        .where("dimension", "=", "tag")
        .where("name", "=", name)
        .execute(),
    );
  }
}

async function isUsed(store: Store, workspaceId: string, tag: string): Promise<boolean> {
  const row = await store.read
    .selectFrom("conversation_tags")
    .select("conversation_id")
    .where("workspace_id", "=", workspaceId)
    .where("tag", "=", tag)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
