import type { TokenKeys } from "#domain/customer/user-token.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Store } from "#database/contract.ts";
import type { Secrets } from "#runtime/secrets.ts";

/** Returns the keys that verify user tokens of this workspace. */
export async function readTokenKeys(
  store: Pick<Store, "read">,
  secrets: Pick<Secrets, "open">,
  workspaceId: string,
): Promise<TokenKeys> {
  const row = await store.read
    .selectFrom("workspaces")
    .select(["identity_secret", "settings"])
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const { identityPublicKeys } = storedSettings(row.settings);
  return { workspaceId, secret: secrets.open(row.identity_secret), publicKeys: identityPublicKeys };
}
