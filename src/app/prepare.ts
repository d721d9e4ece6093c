import { requireOwnSecret } from "#admin/installation/secret.ts";
import { provisionTeams } from "#admin/team/provisioning.ts";
import { provisionWebhooks } from "#admin/webhooks/provisioning.ts";
import { provisionWorkspaces } from "#admin/workspaces/workspaces.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { Config } from "#config/environment.ts";
import type { ProcessLease } from "#queue/process-lease.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Services } from "./services.ts";

/** `doctor` checks larger files. A start must not take minutes. */
const checkedMax = 512 * 1_048_576;

/** Brings the database up to date, and stores what the configuration file declares. */
export async function prepareDatabase(
  { file }: Config,
  { store, secrets }: Pick<Services, "store" | "secrets">,
  clock: Clock,
  load: LoadAdapter,
): Promise<void> {
  await store.check(checkedMax);
  await store.migrate();
  await requireOwnSecret(store, secrets);
  await provisionWorkspaces({ store, clock, secrets, load }, file.workspaces);
  await provisionTeams({ store, clock }, file.workspaces);
  const { allowPrivate = false } = file;
  await provisionWebhooks({ store, clock, secrets, allowPrivate }, file.workspaces);
}

export function warnOfLateSignals({ redisUrl }: Config, { others }: ProcessLease, log: Log): void {
  if (others === 0 || redisUrl !== undefined) return;
  log.warn(
    { others },
    "start: another process uses this database without REDIS_URL, messages are shown late: stop one, or set REDIS_URL",
  );
}
