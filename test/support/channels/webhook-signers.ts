import * as fc from "fast-check";
import { request as ask } from "undici";
import { expect } from "vitest";
import { brokenDelivery, brokenForm } from "../fuzz.ts";

/** The signature of a delivery: the platform's, a forged one, or none. */
export type Signer = "platform" | "forger" | "nobody";

export interface FuzzedDeliveries {
  /** Deliveries of every kind that is read, and of some that are not. */
  readonly samples: readonly object[];
  /** `form`: each sample is an object of form fields. */
  readonly as: "json" | "form";
  readonly count: number;
  readonly seed: number;
  /** Builds the request of a delivery. `late`: validly signed, but at another time. */
  readonly request: (
    body: Buffer,
    signer: Signer,
    late: boolean,
  ) => { readonly url: string; readonly init: { readonly headers: Readonly<Record<string, string>> } };
  /** Whether the adapter refuses a delivery with an old signature. */
  readonly refusesLate: boolean;
}

/** The limit of a webhook's body. */
const bytesMax = 4 * 1_048_576;
const patienceMs = 30_000;

/**
 * Sends malformed, oversized, forged, late and repeated deliveries. Each must be answered in time and without a server
 * error; deliveries that the platform did not sign must be refused. Returns how often each signer got each status.
 */
export async function sendFuzzedDeliveries(given: FuzzedDeliveries): Promise<ReadonlyMap<string, number>> {
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
      // The same delivery three times, concurrently.
      else if (dice < 800) await Promise.all([1, 2, 3].map(() => send(body, "platform", false)));
      else if (dice < 880) await send(body, "forger", false);
      else if (dice < 940) await send(body, "nobody", false);
      else await send(body, "platform", true);
    }
  }

  await Promise.all(Array.from({ length: 8 }, sendNext));
  return seen;
}
