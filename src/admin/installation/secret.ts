import type { Store } from "#database/contract.ts";
import type { Config } from "#config/environment.ts";
import { ConfigError } from "#config/environment.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createSecrets, peekSecret } from "#runtime/secrets.ts";

export { hasSecret } from "#runtime/secrets.ts";

/**
 * Throws where the secret is not the one that this database's data was stored with: nobody could prove who they are, and
 * every customer's conversation would begin anew.
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
      "the secret is not the one that this database was made with: set PARLEY_SECRET to that one, or put back the file `secret` of the data folder",
      { cause: error },
    );
  }
}

/** The same, for the secret that the configuration names. */
export function requireConfiguredSecret(store: Store, config: Pick<Config, "secret" | "dataDir">): Promise<void> {
  return requireOwnSecret(store, createSecrets(peekSecret(config)));
}
