import { createHash } from "node:crypto";
import type { ChannelHost } from "#channels/contract.ts";
import type { Judgement } from "./signature.ts";

type Refused = Exclude<Judgement, { kind: "good" }>;

/** Slack tells nobody why its deliveries are refused: the operator hears it from here. */
export interface AuthFailures {
  /** Something signed came that is refused. */
  refused(judged: Refused): Promise<void>;
  /** Something came that Slack has signed. */
  delivered(): Promise<void>;
}

const refusedKey = "refused";
const deliveredKey = "delivered";
/** Anybody can send something with a wrong signature: it is told and stored no more often than this. */
const toldEveryMs = 60_000;

/** A refusal under another secret says nothing of this one. */
const markOf = (secret: string): string =>
  createHash("sha256").update(`slack refusals ${secret}`).digest("hex").slice(0, 8);

export function createAuthFailures(
  host: Pick<ChannelHost, "clock" | "log" | "remember">,
  secret: string,
): AuthFailures {
  let refusedAt = -Infinity;
  let deliveredAt = -Infinity;

  async function keep(key: string, value: string): Promise<void> {
    try {
      await host.remember(key, value);
    } catch (error) {
      host.log.warn({ err: error }, "slack: storing refused deliveries for doctor failed");
    }
  }

  return {
    async refused(judged) {
      const now = host.clock.now();
      if (now - refusedAt < toldEveryMs) return;
      refusedAt = now;
      host.log.warn({ reason: reasonOf(judged) }, "slack: delivery refused");
      await keep(refusedKey, JSON.stringify({ at: now, mark: markOf(secret), judged }));
    },
    async delivered() {
      const now = host.clock.now();
      if (deliveredAt > refusedAt && now - deliveredAt < toldEveryMs) return;
      deliveredAt = now;
      await keep(deliveredKey, String(now));
    },
  };
}

/** Why nothing arrives, in words for the operator; undefined where nothing was refused, or something came since. */
export async function lastAuthFailure(host: Pick<ChannelHost, "recall">, secret: string): Promise<string | undefined> {
  const kept = await host.recall(refusedKey);
  if (kept === null) return undefined;
  const { at, mark, judged } = JSON.parse(kept) as {
    readonly at: number;
    readonly mark: string;
    readonly judged: Refused;
  };
  if (mark !== markOf(secret) || Number((await host.recall(deliveredKey)) ?? 0) >= at) return undefined;
  return `${reasonOf(judged)} (last at ${new Date(at).toISOString()})`;
}

function reasonOf(judged: Refused): string {
  if (judged.kind === "forged") {
    return "it is not signed with signing_secret: copy Signing Secret once more from the page Basic Information of this very app, and start Parley again";
  }
  const minutes = Math.round(Math.abs(judged.aheadSeconds) / 60);
  return `this machine's clock is ${minutes} minutes ${judged.aheadSeconds > 0 ? "ahead of" : "behind"} Slack's: set it right, best by NTP`;
}
