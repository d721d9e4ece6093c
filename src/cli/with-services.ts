import { pino } from "pino";
import type { Services } from "#app/services.ts";
import { openServices } from "#app/services.ts";
import { systemClock } from "#runtime/clock.ts";
import { endEach } from "#runtime/closing.ts";
import type { Config } from "#config/environment.ts";
import { logOptions } from "#runtime/log.ts";
import { requireOwnSecret } from "#admin/installation/secret.ts";

/** Opens the configured installation for `work`, and closes it. Commands log warnings and errors only. */
export async function withServices<T>(config: Config, work: (core: Services) => Promise<T>): Promise<T> {
  const log = pino(logOptions(config.logLevel === "info" ? "warn" : config.logLevel), pino.destination(2));
  const core = await openServices(config, { clock: systemClock, log });
  try {
    await core.store.migrate();
    await requireOwnSecret(core.store, core.secrets);
    return await work(core);
  } finally {
    await endEach([() => core.close()], (err) => log.warn({ err }, "command: closing failed"));
  }
}
