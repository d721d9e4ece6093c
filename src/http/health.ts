import { setTimeout as delay } from "node:timers/promises";
import type { DependencyState, HttpDependencies } from "./dependencies.ts";
import { mayReadMetrics } from "./metrics-access.ts";
import { Problem } from "#domain/problem.ts";
import type { App } from "./app-type.ts";

/** `/health/live`: the process answers. `/health/ready`: it can do its work, and otherwise what is missing. */
export function health(
  app: App,
  { readiness, prove, metrics, options, log }: HttpDependencies,
  closing: () => boolean,
): void {
  app.get("/health/live", { schema: { hide: true } }, async (request) => {
    const proof = prove((request.query as Readonly<Record<string, unknown>>)["proof"]);
    return { status: "live", version: options.version, ...(proof === undefined ? {} : { proof }) };
  });

  app.get("/health/ready", { schema: { hide: true } }, async (_request, reply) => {
    const dependencies = await states();
    const ready = !closing() && dependencies.every(({ state }) => state !== "failed");
    return reply
      .code(ready ? 200 : 503)
      .header("cache-control", "no-store")
      .send({
        status: closing() ? "ending" : ready ? "ready" : "not_ready",
        dependencies,
      });
  });

  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!mayReadMetrics({ token: options.metricsToken, publicUrl: options.publicUrl }, request)) {
      throw options.metricsToken === undefined
        ? new Problem("not_found", "Set METRICS_TOKEN, and send it as Authorization: Bearer, to read the metrics here.")
        : new Problem("invalid_key", "Send the METRICS_TOKEN as Authorization: Bearer to read the metrics.");
    }
    return reply
      .headers({ "content-type": metrics.contentType, "cache-control": "no-store" })
      .send(await metrics.metrics());
  });

  async function states(): Promise<readonly DependencyState[]> {
    const waited = new AbortController();
    try {
      return await Promise.race([
        readiness(),
        delay(options.timeouts.readinessMs, undefined, { signal: waited.signal, ref: false }).then(() => {
          throw new Error(`the dependencies did not tell their state within ${options.timeouts.readinessMs} ms`);
        }),
      ]);
    } catch (error) {
      log.warn({ err: error }, "health: reading the dependencies' state failed");
      return [{ name: "readiness", state: "failed", cause: "the dependencies did not tell their state in time" }];
    } finally {
      waited.abort();
    }
  }
}
