import { hash } from "node:crypto";
import type { Sender } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { emailIdentity, phoneIdentity } from "#domain/customer/identity-proof.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";
import type { ContactsTable, IdentitiesTable } from "#database/schema/tables.ts";
import type { Tx } from "#database/contract.ts";

/** Key of an identity: a platform's id, a user id or an address. */
export type IdentityKey = Pick<IdentitiesTable, "workspace_id" | "kind" | "value">;

export const textOf = ({ workspace_id, kind, value }: IdentityKey): string => `${workspace_id}\n${kind}\n${value}`;

/** The sender's identity on the platform, and what a signature or the platform proves. */
export interface ChannelSender {
  readonly workspaceId: string;
  readonly channel: Channel;
  readonly sender: Sender;
}

/** The identities of one sender. */
export interface SenderKeys {
  readonly session: IdentityKey;
  readonly user: IdentityKey | undefined;
  readonly addresses: readonly IdentityKey[];
}

export function keysOfSender({ workspaceId, channel, sender }: ChannelSender): SenderKeys {
  const key = (kind: string, value: string): IdentityKey => ({
    workspace_id: workspaceId,
    kind,
    value: identityValue(value),
  });
  const phone = phoneIdentity(sender.proven?.phone ?? "");
  const email = emailIdentity(sender.proven?.email ?? "");
  return {
    session: key(channel, sender.key),
    user: sender.verified === undefined ? undefined : key("user_id", sender.verified.userId),
    addresses: [
      ...(phone === undefined ? [] : [key("phone", phone)]),
      ...(email === undefined ? [] : [key("email", email)]),
    ],
  };
}

/** Length of the column `identities.value` in characters. */
const identityMax = 190;

/**
 * Value of the column `identities.value`. MySQL ignores trailing spaces in comparisons, but "ada " and "ada" are two users,
 * so a value that ends in a space gets a NUL appended.
 */
export function identityValue(value: string): string {
  if (!/[ \0]$/.test(value)) return value;
  // The longest values have no room for it.
  return [...value].length < identityMax ? `${value}\0` : `sha256:${hash("sha256", value)}\0`;
}

/** Loads identities by `textOf`, and by id the contacts that they and merges lead to. */
export async function loadIdentities(tx: Tx, requested: readonly IdentityKey[]) {
  const keys = new Map(requested.map((key) => [textOf(key), key]));
  const identities = new Map<string, IdentitiesTable>();
  const contacts = new Map<string, ContactsTable>();
  if (keys.size === 0) return { identities, contacts };
  const groups = [...Map.groupBy(keys.values(), ({ workspace_id, kind }) => `${workspace_id}\n${kind}`).values()];
  const rows: IdentitiesTable[] = [];
  for (const group of groups) {
    const { workspace_id: workspaceId = "", kind = "" } = group[0] ?? {};
    rows.push(...(await identitiesOf(tx, { workspaceId, kind, values: group.map(({ value }) => value) })).rows);
  }
  for (const row of rows) identities.set(textOf(row), row);
  let missing = [...new Set(rows.map(({ contact_id }) => contact_id))];
  // Two rounds at most: the contacts, then their root contacts.
  while (missing.length > 0) {
    const { rows: found } = await contactsOf(tx, { ids: missing });
    for (const row of found) contacts.set(row.id, row);
    missing = [...new Set(found.map(({ root_id }) => root_id))].filter((id) => !contacts.has(id));
    if (found.length === 0) break;
  }
  return { identities, contacts };
}

interface OneKind extends Readonly<Record<string, string | readonly string[]>> {
  readonly workspaceId: string;
  readonly kind: string;
  readonly values: readonly string[];
}

const identitiesOf = prepareStatement((db, { workspaceId, kind, values }: OneKind) =>
  db
    .selectFrom("identities")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("kind", "=", kind)
    .where("value", "in", values),
);

const contactsOf = prepareStatement((db, { ids }: { readonly ids: readonly string[] }) =>
  db.selectFrom("contacts").selectAll().where("id", "in", ids),
);

/** Pairs of contacts, `a\nb` in both orders, whose merge was undone. */
export async function undoneMerges(tx: Tx, contactIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom("contact_merges")
    .select(["from_contact_id as from", "into_contact_id as into"])
    .where((eb) => eb.or([eb("from_contact_id", "in", contactIds), eb("into_contact_id", "in", contactIds)]))
    .where("undone_at", "is not", null)
    .execute();
  return new Set(rows.flatMap(({ from, into }) => [`${from}\n${into}`, `${into}\n${from}`]));
}

export async function saveIdentities(tx: Tx, rows: readonly IdentitiesTable[]): Promise<void> {
  await insertRows(tx, "identities", rows, {
    keys: ["workspace_id", "kind", "value"],
    replace: ["contact_id", "verified"],
  });
}
