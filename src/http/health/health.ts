import { setTimeout as delay } from "node:timers/promises";
import type { DependencyState, HttpDependencies } from "#http/dependencies.ts";
import { mayReadMetrics } from "./metrics-access.ts";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";

/** `/health/live`: the process runs. `/health/ready`: its dependencies work, or which of them do not. `/metrics`. */
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
    const done = new AbortController();
    try {
      return await Promise.race([
        readiness(),
        delay(options.timeouts.readinessMs, undefined, { signal: done.signal, ref: false }).then(() => {
          throw new Error(`the dependencies did not report their state within ${options.timeouts.readinessMs} ms`);
        }),
      ]);
    } catch (error) {
      log.warn({ err: error }, "health: reading the dependencies' state failed");
      return [{ name: "readiness", state: "failed", cause: "the dependencies did not report their state in time" }];
    } finally {
      done.abort();
    }
  }
}
