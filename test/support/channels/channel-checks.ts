import { pino } from "pino";
import { checkChannels } from "#app/channels/checks.ts";
import type { EngineBench } from "../engine-bench.ts";
import { benchSecret } from "../engine-bench.ts";

/** Runs the channel checks of `parley doctor` on a bench, as another process that knows only stored data. */
export async function channelChecks({ url: databaseUrl, dataDir, clock }: EngineBench): Promise<readonly string[]> {
  const checks = await checkChannels(
    {
      host: "127.0.0.1",
      port: 0,
      publicUrl: "http://parley.test",
      dataDir,
      secret: benchSecret,
      databaseUrl,
      redisUrl: undefined,
      role: "all",
      logLevel: "silent",
      trustedProxies: [],
      metricsToken: undefined,
      file: { workspaces: [], allowPrivate: ["127.0.0.1"] },
      killAt: undefined,
    },
    { clock, log: pino({ level: "silent" }) },
  );
  return checks.map(({ ok, detail }) => `${ok ? "good" : "wrong"}: ${detail}`);
}
