import { hash, timingSafeEqual } from "node:crypto";
import { isApiKey, isSecret } from "#domain/ids.ts";
import { requireFeature } from "#domain/workspace/plan.ts";
import { Problem } from "#domain/problem.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Plan } from "#domain/workspace/settings.ts";
import type { Store } from "#database/contract.ts";
import { prepareRead } from "#database/dialects/prepared.ts";

/** The owner of an API key. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly workspaceId: string;
  readonly workspaceDeleted: boolean;
  readonly plan: Plan;
  /** JSON: Partial<WorkspaceSettings>. */
  readonly settings: string;
  readonly limitMinute: number | null;
  readonly limitDay: number | null;
  /** To the minute. */
  readonly lastUsedAt: number | null;
}

/**
 * Authenticates an Authorization header. Throws Problem missing_auth, malformed_auth, invalid_key or expired_key. Reads the
 * database each time, so a revoked key is refused at once.
 */
export async function authenticate(
  store: Pick<Store, "read" | "select">,
  header: string | undefined,
  now: number,
): Promise<Caller> {
  if (header === undefined) {
    throw new Problem("missing_auth", "Send the API key in the header Authorization: Bearer ak_…");
  }
  const key = header.startsWith("Bearer ") ? header.slice("Bearer ".length) : "";
  if (isSecret("oat", key)) return clientOf(store, key, now);
  if (!isApiKey(key)) {
    throw new Problem(
      "malformed_auth",
      "The Authorization header must be the word Bearer, one space and the whole API key, which begins with ak_.",
    );
  }
  const digest = hash("sha256", key, "hex");
  const [row] = await keyRows(store, { digest });
  if (row === undefined || row.revokedAt !== null || !sameText(row.hash, digest)) {
    throw new Problem("invalid_key", "This API key was revoked or never existed.");
  }
  if (row.expiresAt !== null && row.expiresAt <= now) {
    throw new Problem("expired_key", "This API key has expired.");
  }
  return callerOf(row);
}

/** The client that a token was issued to. Throws Problem invalid_key, expired_key or feature_not_in_plan. */
async function clientOf(store: Pick<Store, "read" | "select">, token: string, now: number): Promise<Caller> {
  const [row] = await tokenRows(store, { digest: hash("sha256", token, "hex") });
  if (row === undefined || row.revokedAt !== null) {
    throw new Problem("invalid_key", "This token was revoked or never existed.");
  }
  if (row.tokenExpiresAt <= now) throw new Problem("expired_key", "This token has expired: request another.");
  requireFeature(row.plan, "oauth");
  return callerOf(row);
}

function callerOf(row: KeyRow): Caller {
  return {
    keyId: row.keyId,
    keyName: row.keyName,
    workspaceId: row.workspaceId,
    workspaceDeleted: row.deletedAt !== null,
    plan: row.plan,
    settings: row.settings,
    limitMinute: row.limitMinute,
    limitDay: row.limitDay,
    lastUsedAt: row.lastUsedAt,
  };
}

const callerColumns = [
  "api_keys.id as keyId",
  "api_keys.name as keyName",
  "api_keys.hash as hash",
  "api_keys.workspace_id as workspaceId",
  "api_keys.limit_minute as limitMinute",
  "api_keys.limit_day as limitDay",
  "api_keys.expires_at as expiresAt",
  "api_keys.revoked_at as revokedAt",
  "api_keys.last_used_at as lastUsedAt",
  "workspaces.plan as plan",
  "workspaces.settings as settings",
  "workspaces.deleted_at as deletedAt",
] as const;

/** Runs with every request, so it is prepared. */
const keyRows = prepareRead((db, { digest }: { readonly digest: string }) =>
  db
    .selectFrom("api_keys")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .select(callerColumns)
    .where("api_keys.hash", "=", digest),
);

const tokenRows = prepareRead((db, { digest }: { readonly digest: string }) =>
  db
    .selectFrom("oauth_tokens")
    .innerJoin("api_keys", "api_keys.id", "oauth_tokens.key_id")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .select(callerColumns)
    .select("oauth_tokens.expires_at as tokenExpiresAt")
    .where("oauth_tokens.hash", "=", digest),
);

type KeyRow = Awaited<ReturnType<typeof keyRows>>[number];

export function keyActor(caller: Caller): Actor {
  return { type: "api_key", id: caller.keyId, name: caller.keyName };
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
