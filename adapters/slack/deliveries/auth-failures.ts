import { createHash } from "node:crypto";
import type { ChannelHost } from "#channels/contract.ts";
import type { Judgement } from "./signature.ts";

type Refused = Exclude<Judgement, { kind: "good" }>;

/** Records refused deliveries for the log and for doctor: Slack shows no reason to the operator. */
export interface AuthFailures {
  /** A signed delivery was refused. */
  refused(judged: Refused): Promise<void>;
  /** A delivery with a good signature arrived. */
  delivered(): Promise<void>;
}

const refusedKey = "refused";
const deliveredKey = "delivered";
/** Limits the log and the stored state: anyone can send a wrong signature. */
const recordEveryMs = 60_000;

/** A refusal under an earlier secret does not count for this one. */
const markOf = (secret: string): string =>
  createHash("sha256").update(`slack refusals ${secret}`).digest("hex").slice(0, 8);

export function createAuthFailures(host: Pick<ChannelHost, "clock" | "log" | "state">, secret: string): AuthFailures {
  let refusedAt = -Infinity;
  let deliveredAt = -Infinity;

  async function keep(key: string, value: string): Promise<void> {
    try {
      await host.state.set(key, value);
    } catch (error) {
      host.log.warn({ err: error }, "slack: storing refused deliveries for doctor failed");
    }
  }

  return {
    async refused(judged) {
      const now = host.clock.now();
      if (now - refusedAt < recordEveryMs) return;
      refusedAt = now;
      host.log.warn({ reason: reasonOf(judged) }, "slack: delivery refused");
      await keep(refusedKey, JSON.stringify({ at: now, mark: markOf(secret), judged }));
    },
    async delivered() {
      const now = host.clock.now();
      if (deliveredAt > refusedAt && now - deliveredAt < recordEveryMs) return;
      deliveredAt = now;
      await keep(deliveredKey, String(now));
    },
  };
}

/** The reason of the last refusal, for the operator; undefined after none, or after a good delivery. */
export async function lastAuthFailure(host: Pick<ChannelHost, "state">, secret: string): Promise<string | undefined> {
  const kept = await host.state.get(refusedKey);
  if (kept === null) return undefined;
  const { at, mark, judged } = JSON.parse(kept) as {
    readonly at: number;
    readonly mark: string;
    readonly judged: Refused;
  };
  if (mark !== markOf(secret) || Number((await host.state.get(deliveredKey)) ?? 0) >= at) return undefined;
  return `${reasonOf(judged)} (last at ${new Date(at).toISOString()})`;
}

function reasonOf(judged: Refused): string {
  if (judged.kind === "forged") {
    return "it is not signed with signing_secret: copy Signing Secret from the page Basic Information of this app again, and restart Parley";
  }
  const minutes = Math.round(Math.abs(judged.aheadSeconds) / 60);
  return `this machine's clock is ${minutes} minutes ${judged.aheadSeconds > 0 ? "ahead of" : "behind"} Slack's: set it right, best by NTP`;
}
