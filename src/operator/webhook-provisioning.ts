import type { Tx } from "#engine/ports.ts";
import { dialectOf } from "#store/dialect.ts";
import type { FileWebhook, FileWorkspace } from "../config-file.ts";
import { dayMs } from "../webhooks/retry.ts";
import { newWebhookSecret } from "../webhooks/signature.ts";
import type { WebhookDependencies } from "./webhooks.ts";
import {
  checkedSecret,
  checkedTypes,
  checkedUrl,
  disable,
  enable,
  newRow,
  notInFile,
  replaceSecret,
} from "./webhooks.ts";

/** Makes the endpoints of the configuration file, by workspace and address, and disables those that have left it. */
export async function provisionWebhooks(
  dependencies: WebhookDependencies,
  workspaces: readonly FileWorkspace[],
): Promise<void> {
  for (const { name, webhooks = [] } of workspaces) {
    const given = webhooks.map(({ url, secret, events }) => ({
      url: checkedUrl(url, dependencies.allowPrivate),
      secret: checkedSecret(secret),
      events: checkedTypes(events),
    }));
    await dependencies.store.write((tx) => provisionOne(tx, dependencies, name, given));
  }
}

type Checked = Required<Pick<FileWebhook, "url" | "events">> & { readonly secret: string | undefined };

async function provisionOne(
  tx: Tx,
  { clock, secrets }: WebhookDependencies,
  name: string,
  given: readonly Checked[],
): Promise<void> {
  const query = tx
    .selectFrom("workspaces")
    .select("id")
    .where("name", "=", name)
    .where("deleted_at", "is", null)
    .orderBy("created_at");
  // Processes that start together do this one after the other.
  const workspace = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirstOrThrow();
  const rows = await tx
    .selectFrom("webhooks")
    .selectAll()
    .where("workspace_id", "=", workspace.id)
    .where("managed_by", "=", "file")
    .execute();
  const now = clock.now();
  for (const { url, secret, events } of given) {
    const known = rows.find((row) => row.url === url);
    if (known === undefined) {
      const sealed = secrets.seal(secret ?? newWebhookSecret());
      const row = newRow({ workspaceId: workspace.id, url, events, secret: sealed, now, by: "file" });
      await tx.insertInto("webhooks").values(row).execute();
      continue;
    }
    await tx
      .updateTable("webhooks")
      .set({ events: JSON.stringify(events) })
      .where("id", "=", known.id)
      .execute();
    if (secret !== undefined && secrets.open(known.secret) !== secret) {
      await replaceSecret(tx, known.id, secrets.seal(secret), now + dayMs);
    }
    if (known.disabled_reason === notInFile) await enable(tx, known.id);
  }
  for (const row of rows) {
    if (!given.some(({ url }) => url === row.url)) await disable(tx, row.id, notInFile, now);
  }
}
