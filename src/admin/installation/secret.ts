import type { Store } from "#database/contract.ts";
import type { Config } from "#config/environment.ts";
import { ConfigError } from "#config/config-error.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createSecrets, readOnlySecret } from "#runtime/secrets.ts";

export { hasSecret } from "#runtime/secrets.ts";

/**
 * Throws if this database was created with another secret. With the wrong one, identity proofs and links would be invalid,
 * and customers would lose their conversations.
 */
export async function requireOwnSecret(store: Store, secrets: Secrets): Promise<void> {
  const row = await store.read
    .selectFrom("workspaces")
    .select("identity_secret")
    .where("deleted_at", "is", null)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return;
  try {
    secrets.open(row.identity_secret);
  } catch (error) {
    throw new ConfigError(
      "the secret is not the one that this database was made with: set PARLEY_SECRET to that one, or restore the file `secret` of the data folder",
      { cause: error },
    );
  }
}

/** Like {@link requireOwnSecret}, with the secret of the configuration. */
export function requireConfiguredSecret(store: Store, config: Pick<Config, "secret" | "dataDir">): Promise<void> {
  return requireOwnSecret(store, createSecrets(readOnlySecret(config)));
}
