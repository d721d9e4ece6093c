import { hash, timingSafeEqual } from "node:crypto";
import { newApiKey, newId, newSecret } from "#domain/ids.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { planHas, requireFeature } from "#domain/workspace/plan.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { requireWorkspace } from "./api-keys.ts";
import { recordChange } from "./audit.ts";
import { requireRoom } from "./workspaces/caps.ts";

/** How long an issued token is valid. */
export const tokenLifeMs = 3_600_000;

/** Makes a client of the workspace. The result has the only unencrypted copy of its secret. */
export async function createOAuthClient(
  store: Store,
  clock: Clock,
  given: { readonly workspaceId: string; readonly name: string; readonly by: Actor },
) {
  const { id: workspaceId, plan } = await requireWorkspace(store, given.workspaceId);
  requireFeature(plan, "oauth");
  const now = clock.now();
  const id = newId("key", now);
  const secret = newSecret("ocs");
  const name = given.name.trim();
  await store.write(async (tx) => {
    await requireRoom(tx, workspaceId, "OAuth clients");
    await tx
      .insertInto("api_keys")
      .values({
        id,
        workspace_id: workspaceId,
        name,
        // The text of this key is thrown away, so that no request can have it.
        hash: hash("sha256", newApiKey(workspaceId)),
        hint: secret.slice(-4),
        client_secret: hash("sha256", secret),
        limit_minute: null,
        limit_day: null,
        expires_at: null,
        revoked_at: null,
        created_at: now,
      })
      .execute();
    await recordChange(tx, { workspaceId, by: given.by, action: "oauth_client_added", subject: name, now });
  });
  return { id, name, secret };
}

/** The clients of the workspace that are not revoked, oldest first. */
export function listOAuthClients(store: Store, workspaceId: string) {
  return store.read
    .selectFrom("api_keys")
    .select(["id", "name", "hint", "last_used_at", "created_at"])
    .where("workspace_id", "=", workspaceId)
    .where("client_secret", "is not", null)
    .where("revoked_at", "is", null)
    .orderBy("created_at")
    .execute();
}

/** The id of the client with this secret; undefined where there is none, or its plan has no clients any more. */
export async function authenticateClient(store: Store, id: string, secret: string): Promise<string | undefined> {
  const row = await store.read
    .selectFrom("api_keys")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .select(["api_keys.client_secret as digest", "workspaces.plan"])
    .where("api_keys.id", "=", id)
    .where("api_keys.revoked_at", "is", null)
    .where("workspaces.deleted_at", "is", null)
    .executeTakeFirst();
  const given = Buffer.from(hash("sha256", secret));
  const expected = Buffer.from(row?.digest ?? hash("sha256", ""));
  if (!timingSafeEqual(given, expected) || row === undefined || row.digest === null) return undefined;
  return planHas(row.plan, "oauth") ? id : undefined;
}

/** Valid tokens of a client. A client needs one for each of its processes. */
const tokensMax = 100;

/** Issues a token to an authenticated client. Above {@link tokensMax} its oldest ones are revoked. */
export async function issueToken(store: Store, clock: Clock, clientId: string): Promise<string> {
  const token = newSecret("oat");
  const now = clock.now();
  await store.write(async (tx) => {
    const surplus = await tx
      .selectFrom("oauth_tokens")
      .select("hash")
      .where("key_id", "=", clientId)
      .orderBy("created_at", "desc")
      .limit(1_000)
      .offset(tokensMax - 1)
      .execute();
    const hashes = surplus.map((row) => row.hash);
    if (hashes.length > 0) await tx.deleteFrom("oauth_tokens").where("hash", "in", hashes).execute();
    await tx
      .insertInto("oauth_tokens")
      .values({ hash: hash("sha256", token), key_id: clientId, expires_at: now + tokenLifeMs, created_at: now })
      .execute();
  });
  return token;
}

/** Revokes a token of the client. Unknown tokens and those of other clients stay as they are. */
export async function revokeToken(store: Store, clientId: string, token: string): Promise<void> {
  await store.write((tx) =>
    tx.deleteFrom("oauth_tokens").where("hash", "=", hash("sha256", token)).where("key_id", "=", clientId).execute(),
  );
}
