import type { Actor } from "#domain/conversation/message.ts";
import type { Tx } from "#database/contract.ts";
import { typesOf } from "#database/queries/webhooks.ts";
import type { FileWebhook } from "#config/workspace.ts";
import { newWebhookSecret } from "#webhooks/signature.ts";
import { recordChange } from "#admin/audit.ts";
import { requireRoom } from "#admin/workspaces/caps.ts";
import { Problem } from "#domain/problem.ts";
import {
  beingRemoved,
  checkedSecret,
  checkedTypes,
  checkedUrl,
  disable,
  enable,
  newRow,
} from "#admin/webhooks/webhooks.ts";
import type { ApplyDependencies } from "./dependencies.ts";

const offByFile = "disabled by an applied file";

interface WebhooksToApply {
  readonly id: string;
  readonly by: Actor;
  readonly now: number;
  readonly prune: boolean;
  readonly webhooks: readonly FileWebhook[];
}

/** Adds and changes the dashboard's endpoints, by address. The caller deletes the ended ones, and empties the queues of the disabled ones. */
export async function applyWebhooks(
  tx: Tx,
  { secrets, allowPrivate }: Pick<ApplyDependencies, "secrets" | "allowPrivate">,
  { id: workspaceId, by, now, prune, webhooks }: WebhooksToApply,
): Promise<{ readonly ended: readonly string[]; readonly disabled: readonly string[] }> {
  const rows = await tx.selectFrom("webhooks").selectAll().where("workspace_id", "=", workspaceId).execute();
  const record = (action: "webhook_added" | "webhook_changed" | "webhook_removed", subject: string) =>
    recordChange(tx, { workspaceId, by, action, subject, now });
  const named = new Set<string>();
  const disabled: string[] = [];
  for (const given of webhooks) {
    const url = checkedUrl(given.url, allowPrivate);
    const events = checkedTypes(given.events);
    const secret = checkedSecret(given.secret);
    const { enabled = true } = given;
    named.add(url);
    const known = rows.find((row) => row.url === url);
    if (known?.managed_by === "file") {
      throw new Problem("managed_by_file", `webhooks: ${url} is in the configuration file.`);
    }
    if (known === undefined) {
      const sealed = secrets.seal(secret ?? newWebhookSecret());
      const row = newRow({ workspaceId, url, events, secret: sealed, now, by: "operator" });
      await requireRoom(tx, workspaceId, "webhooks");
      await tx.insertInto("webhooks").values(row).execute();
      if (!enabled) await disable(tx, row.id, offByFile, now);
      await record("webhook_added", url);
      continue;
    }
    const isSameSecret = secret === undefined || secrets.open(known.secret) === secret;
    if (isSameSecret && (known.disabled_at === null) === enabled && typesOf(known).join() === events.join()) continue;
    await tx
      .updateTable("webhooks")
      .set({ events: JSON.stringify(events), ...(isSameSecret ? {} : { secret: secrets.seal(secret) }) })
      .where("id", "=", known.id)
      .execute();
    if (enabled) await enable(tx, known.id);
    else {
      await disable(tx, known.id, offByFile, now);
      disabled.push(known.id);
    }
    await record("webhook_changed", url);
  }
  const ended = rows.filter((row) => prune && row.managed_by !== "file" && !named.has(row.url));
  for (const { id, url } of ended) {
    await disable(tx, id, beingRemoved, now);
    await record("webhook_removed", url);
  }
  return { ended: ended.map(({ id }) => id), disabled };
}
