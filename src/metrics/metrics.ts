import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { Answerer } from "#answering/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import { processMetrics } from "./process.ts";
import type { WatchedParts } from "./watched.ts";
import { watch } from "./watched.ts";

/** Last activity of a channel: a request of its platform, a customer's message, a sent message. */
export type Direction = "transport" | "inbound" | "outbound";

/** The metrics of a process. */
export interface Metrics {
  readonly registry: Registry;
  seen(channel: Channel, direction: Direction): void;
  /** Counts a platform call by how it ended. */
  send<T>(channel: Channel, call: () => Promise<T>): Promise<T>;
  /** Counts a visitor's file that was not taken, by why. */
  fileRefused(reason: "storage_full" | "rate_limit_day"): void;
  /** Counts a try to deliver a webhook's event. */
  webhook(outcome: string): void;
  /** The same answerer, with its time and confidence measured. */
  answerer(inner: Answerer): Answerer;
  /** Registers metrics that are read at each scrape. Must be called once. */
  watch(parts: WatchedParts): void;
}

/** Labels take few values, all of them ours: never an id, an address or a customer's text. */
export function createMetrics(version: string, clock: Pick<Clock, "now">): Metrics {
  const registry = Registry.merge([processMetrics()]);
  const registers = [registry];
  new Gauge({
    name: "parley_build_info",
    help: "Always 1; the version of the program is in the label.",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
  const lastSeen = new Gauge({
    name: "parley_channel_last_seen_timestamp_seconds",
    help: "When a channel last did something since this process began: its platform or a browser reached us (transport), a customer's event came in (inbound), a message was taken by the platform (outbound).",
    labelNames: ["channel", "direction"],
    registers,
  });
  const sends = new Counter({
    name: "parley_channel_sends_total",
    help: "Messages, or parts of them, given to platforms: accepted, rejected for good, not_sent and tried again, or unknown.",
    labelNames: ["channel", "outcome"],
    registers,
  });
  const refusedFiles = new Counter({
    name: "parley_files_refused_total",
    help: "Visitors' files that were not taken: the disk is nearly full (storage_full), or a quota of the day is used up (rate_limit_day).",
    labelNames: ["reason"],
    registers,
  });
  const webhookTries = new Counter({
    name: "parley_webhook_deliveries_total",
    help: "Tries to deliver an event to a webhook endpoint, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const answers = new Histogram({
    name: "parley_answer_duration_seconds",
    help: "Time to make an answer, by its confidence.",
    labelNames: ["confidence"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const answerFailures = new Counter({
    name: "parley_answer_failures_total",
    help: "Answers that could not be made.",
    registers,
  });

  const seen = (channel: Channel, direction: Direction): void =>
    lastSeen.set({ channel, direction }, clock.now() / 1_000);

  return {
    registry,
    seen,
    async send(channel, call) {
      try {
        const receipt = await call();
        sends.inc({ channel, outcome: "accepted" });
        seen(channel, "outbound");
        return receipt;
      } catch (error) {
        sends.inc({ channel, outcome: error instanceof DeliveryError ? error.outcome : "unknown" });
        throw error;
      }
    },
    fileRefused: (reason) => refusedFiles.inc({ reason }),
    webhook: (outcome) => webhookTries.inc({ outcome }),
    answerer: (inner) => ({
      async answer(question, signal) {
        const began = performance.now();
        try {
          const answer = await inner.answer(question, signal);
          if (question.isTrial !== true)
            answers.observe({ confidence: answer.confidence }, (performance.now() - began) / 1_000);
          return answer;
        } catch (error) {
          // An interrupted one is not a failure: its customer went away, or the program stops.
          if (!signal.aborted) answerFailures.inc();
          throw error;
        }
      },
    }),
    watch: (parts) => watch(registry, parts),
  };
}
