import type { Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { emptyQueue } from "#database/queries/webhooks.ts";
import type { FileWebhook, FileWorkspace } from "#config/file.ts";
import { dayMs } from "#webhooks/retry.ts";
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
  replaceSecret,
} from "./webhooks.ts";

/** Makes the endpoints of the configuration file, by workspace and address, and disables those that have left it. */
export async function provisionWebhooks(
  dependencies: WebhookDependencies,
  workspaces: readonly FileWorkspace[],
): Promise<void> {
  const { store } = dependencies;
  const absent = store.read.selectFrom("webhooks").select("id").where("disabled_reason", "=", notInFile);
  // What a start that was interrupted has left must not be sent if they are enabled now.
  for (const { id } of await absent.execute()) await emptyQueue(store, id);
  for (const { name, webhooks = [] } of workspaces) {
    const given = webhooks.map(({ url, secret, events }) => ({
      url: checkedUrl(url, dependencies.allowPrivate),
      secret: checkedSecret(secret),
      events: checkedTypes(events),
    }));
    const disabled = await store.write((tx) => provisionOne(tx, dependencies, name, given));
    for (const id of disabled) await emptyQueue(store, id);
  }
}

type Checked = Required<Pick<FileWebhook, "url" | "events">> & { readonly secret: string | undefined };

/** The endpoints that are disabled since they are not in the file; what waits for them is still to be withdrawn. */
async function provisionOne(
  tx: Tx,
  { clock, secrets }: WebhookDependencies,
  name: string,
  given: readonly Checked[],
): Promise<readonly string[]> {
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
      const sealed = secrets.seal(secret);
      await replaceSecret(tx, known.id, { sealed, until: now + dayMs, by: "configuration file", now });
    }
    if (known.disabled_reason === notInFile) await enable(tx, known.id);
  }
  const left = rows.filter((row) => !given.some(({ url }) => url === row.url)).map(({ id }) => id);
  for (const id of left) await disable(tx, id, notInFile, now);
  return left;
}
