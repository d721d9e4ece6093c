import * as fc from "fast-check";
import { request as ask } from "undici";
import { expect } from "vitest";
import { brokenDelivery, brokenForm } from "../fuzz.ts";

/** Who says that they have sent a delivery: the platform, or somebody else. */
export type Signer = "platform" | "forger" | "nobody";

export interface Knocking {
  /** What the platform would send, of every kind that is read and some that are not. */
  readonly samples: readonly object[];
  /** `form`: each sample is a form, by field. */
  readonly as: "json" | "form";
  readonly count: number;
  readonly seed: number;
  /** The request of a delivery. `late`: signed as it should be, but at another time. */
  readonly request: (
    body: Buffer,
    signer: Signer,
    late: boolean,
  ) => { readonly url: string; readonly init: { readonly headers: Readonly<Record<string, string>> } };
  /** Whether a delivery of the wrong time is refused. */
  readonly refusesLate: boolean;
}

/** As a webhook takes at most. */
const bytesMax = 4 * 1_048_576;
const patienceMs = 30_000;

/**
 * Sends what a platform would not: malformed, oversized, forged, late and repeated. Each is answered in time, and by no
 * failure of ours; what is not the platform's is refused. How often each status was answered to whom.
 */
export async function knock(given: Knocking): Promise<ReadonlyMap<string, number>> {
  const { samples, as, count, seed, request, refusesLate } = given;
  const broken =
    as === "json" ? brokenDelivery(samples) : brokenForm(samples as readonly Readonly<Record<string, string>>[]);
  const deliveries = fc.sample(fc.tuple(broken, fc.nat(999)), { numRuns: count, seed });
  const seen = new Map<string, number>();
  let next = 0;

  async function send(body: Buffer, signer: Signer, late: boolean): Promise<void> {
    const { url, init } = request(body, signer, late);
    const response = await ask(url, {
      method: "POST",
      ...init,
      body,
      headersTimeout: patienceMs,
      bodyTimeout: patienceMs,
    });
    await response.body.dump();
    const { statusCode: status } = response;
    const isAllowed =
      body.length > bytesMax
        ? status === 413
        : signer !== "platform" || (late && refusesLate)
          ? status === 401
          : status === 200 || status === 400;
    const what = (): string => `${signer}${late ? ", late" : ""}: ${body.subarray(0, 2_000).toString()}`;
    if (!isAllowed) expect.fail(`${status} for ${what()}`);
    const key = `${signer} ${status}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }

  async function sendNext(): Promise<void> {
    for (let at = next++; at < deliveries.length; at = next++) {
      const [delivery, dice = 0] = deliveries[at] ?? [];
      const body = dice === 999 ? Buffer.alloc(bytesMax + 1, "x") : (delivery ?? Buffer.alloc(0));
      if (dice < 700) await send(body, "platform", false);
      // Again, and at the same time.
      else if (dice < 800) await Promise.all([1, 2, 3].map(() => send(body, "platform", false)));
      else if (dice < 880) await send(body, "forger", false);
      else if (dice < 940) await send(body, "nobody", false);
      else await send(body, "platform", true);
    }
  }

  await Promise.all(Array.from({ length: 8 }, sendNext));
  return seen;
}
