import type { Registry } from "prom-client";
import { Histogram } from "prom-client";

/** Measures the requests to the search engine outside; nothing without a registry. */
export function createSearchMetrics(
  registry: Registry | undefined,
): (outcome: "answered" | "away", seconds: number) => void {
  if (registry === undefined) return () => undefined;
  const durations = new Histogram({
    name: "parley_search_engine_request_duration_seconds",
    help: "Time of requests to Typesense: answered, or away when no server answered in time or all refused.",
    labelNames: ["outcome"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30],
    registers: [registry],
  });
  durations.zero({ outcome: "answered" });
  durations.zero({ outcome: "away" });
  return (outcome, seconds) => durations.observe({ outcome }, seconds);
}
