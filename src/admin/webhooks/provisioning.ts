import type { Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { emptyQueue, typesOf } from "#database/queries/webhooks.ts";
import type { FileWebhook, FileWorkspace } from "#config/workspace.ts";
import { dayMs } from "#webhooks/retry.ts";
import { fileActor } from "#admin/audit.ts";
import { newWebhookSecret } from "#webhooks/signature.ts";
import type { WebhookDependencies } from "./webhooks.ts";
import {
  checkedSecret,
  checkedTypes,
  checkedUrl,
  disable,
  enable,
  newRow,
  notInFile,
  recordWebhook,
  replaceSecret,
} from "./webhooks.ts";

/** Creates and updates the file's endpoints, by workspace and address, and disables those that the file no longer has. */
export async function provisionWebhooks(
  dependencies: WebhookDependencies,
  workspaces: readonly FileWorkspace[],
): Promise<void> {
  const { store } = dependencies;
  const absent = store.read.selectFrom("webhooks").select("id").where("disabled_reason", "=", notInFile);
  // Deliveries left by an interrupted start must not be sent when the webhooks are enabled.
  for (const { id } of await absent.execute()) await emptyQueue(store, id);
  for (const { name, webhooks = [] } of workspaces) {
    const given = webhooks.map(({ url, secret, events, enabled = true }) => ({
      enabled,
      url: checkedUrl(url, dependencies.allowPrivate),
      secret: checkedSecret(secret),
      events: checkedTypes(events),
    }));
    const disabled = await store.write((tx) => provisionOne(tx, dependencies, name, given));
    for (const id of disabled) await emptyQueue(store, id);
  }
}

const offInFile = "disabled in the configuration file";

type CheckedWebhook = Required<Pick<FileWebhook, "url" | "events" | "enabled">> & {
  readonly secret: string | undefined;
};

/** Returns the endpoints that are disabled because the file lacks them or says so. The caller empties their queues. */
async function provisionOne(
  tx: Tx,
  { clock, secrets }: WebhookDependencies,
  name: string,
  given: readonly CheckedWebhook[],
): Promise<readonly string[]> {
  const query = tx
    .selectFrom("workspaces")
    .select("id")
    .where("name", "=", name)
    .where("deleted_at", "is", null)
    .orderBy("created_at");
  // The lock serialises processes that start together.
  const workspace = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirstOrThrow();
  const rows = await tx
    .selectFrom("webhooks")
    .selectAll()
    .where("workspace_id", "=", workspace.id)
    .where("managed_by", "=", "file")
    .execute();
  const now = clock.now();
  for (const { url, secret, events, enabled } of given) {
    const known = rows.find((row) => row.url === url);
    if (known === undefined) {
      const sealed = secrets.seal(secret ?? newWebhookSecret());
      const row = newRow({ workspaceId: workspace.id, url, events, secret: sealed, now, by: "file" });
      await tx.insertInto("webhooks").values(row).execute();
      if (!enabled) await disable(tx, row.id, offInFile, now);
      await recordWebhook(tx, row, "webhook_added", fileActor, now);
      continue;
    }
    const wasOn = known.disabled_reason !== notInFile && known.disabled_reason !== offInFile;
    if (typesOf(known).join() !== events.join() || wasOn !== enabled) {
      await recordWebhook(tx, known, "webhook_changed", fileActor, now);
    }
    await tx
      .updateTable("webhooks")
      .set({ events: JSON.stringify(events) })
      .where("id", "=", known.id)
      .execute();
    if (secret !== undefined && secrets.open(known.secret) !== secret) {
      const sealed = secrets.seal(secret);
      await replaceSecret(tx, known.id, { sealed, until: now + dayMs, by: fileActor, now });
    }
    if (!enabled) await disable(tx, known.id, offInFile, now);
    else if (known.disabled_reason === notInFile || known.disabled_reason === offInFile) await enable(tx, known.id);
  }
  const left = rows.filter((row) => !given.some(({ url }) => url === row.url)).map(({ id }) => id);
  for (const id of left) await disable(tx, id, notInFile, now);
  for (const row of rows) {
    const isNew = left.includes(row.id) && row.disabled_reason !== notInFile;
    if (isNew) await recordWebhook(tx, row, "webhook_removed", fileActor, now);
  }
  const off = rows.filter((row) => given.some(({ url, enabled }) => url === row.url && !enabled)).map(({ id }) => id);
  return [...left, ...off];
}
