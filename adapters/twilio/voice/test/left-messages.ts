import type { ConformanceTarget, CustomerMessage, FakePlatform } from "#test/support/channels/conformance-target.ts";
import { openCalling } from "./support/calling.ts";
import type { FakeCall, Request } from "./support/fake-calls.ts";

/**
 * Callers who ask once and hang up after the answer. They leave each further message in a call of its own, and get
 * replies as text messages.
 */
export const leavingMessages: ConformanceTarget = { channel: "voice", cannot: {}, start };

const own = "+15550003333";
const seconds = 7;

async function start(): Promise<FakePlatform> {
  const calling = await openCalling({ own, callers: "+1555300", isBrief: true });
  const { twilio, platform, numberOf } = calling;
  const rung = new Map<string, FakeCall[]>();
  /** The first message of each customer, by its id. */
  const openings = new Map<string, string>();
  /** Twilio's posts for a message, in order. */
  const posts = new Map<string, Promise<readonly Request[]>>();
  const kept = new Set<string>();

  async function ring(customer: string): Promise<FakeCall> {
    const call = await calling.calls.call(numberOf(customer));
    rung.set(customer, [...(rung.get(customer) ?? []), call]);
    return call;
  }
  async function ask({ customer, text }: CustomerMessage): Promise<readonly Request[]> {
    const call = await ring(customer);
    const request = await calling.calls.request(call, text);
    const { status } = await calling.calls.attempt(call, request);
    if (status !== 200) throw new Error("nobody has heard it");
    await calling.untilAnswered(call);
    await calling.calls.listenToTheEnd(call);
    calling.calls.hangUp(call);
    return [request, calling.calls.statusOf(call, "completed", { CallDuration: "30" })];
  }
  async function leave({ customer, id, text }: CustomerMessage): Promise<readonly Request[]> {
    const call = await ring(customer);
    await calling.calls.say(call, "0", { keys: true });
    const voice = Buffer.from(`the voice of ${customer}: ${text}`);
    const { recorded, done, transcript } = calling.calls.recordingOf(call, voice, seconds, text);
    calling.calls.hangUp(call);
    const over = calling.calls.statusOf(call, "completed", { CallDuration: "20" });
    return kept.has(id) ? [over, transcript, done, recorded] : [recorded, done, over, transcript];
  }
  function postsOf(message: CustomerMessage): Promise<readonly Request[]> {
    const { customer, id } = message;
    const known = posts.get(id);
    if (known !== undefined) return known;
    const isOpening = (openings.get(customer) ?? id) === id;
    openings.set(customer, openings.get(customer) ?? id);
    const made = isOpening ? ask(message) : leave(message);
    posts.set(id, made);
    // A caller who is not answered calls again.
    made.catch(() => posts.delete(id));
    return made;
  }
  async function deliver(message: CustomerMessage): Promise<boolean> {
    for (const request of await postsOf(message)) {
      const { status } = await calling.calls.again(request);
      if (status !== 200) return false;
    }
    return true;
  }

  return {
    ...platform,
    deliver,
    async keepBack({ id }) {
      kept.add(id);
    },
    // Calls reach the program even while Twilio's API is unreachable.
    write: async (message) => void (await deliver(message)),
    async forge(message) {
      const [request] = await postsOf(message);
      if (request === undefined) return true;
      return (await twilio.postTo(request.url, request.form, { token: "a token of somebody else" })).ok;
    },
    async echo(customer) {
      for (const { sid, to } of twilio.taken) if (to === numberOf(customer)) await twilio.report(sid, "sent");
      for (const call of rung.get(customer) ?? []) {
        await calling.calls.report(call, "in-progress", { Direction: "outbound-dial" });
      }
    },
    async shown(customer) {
      const all = rung.get(customer) ?? [];
      for (const call of all) await calling.calls.listenToTheEnd(call);
      return calling.shown(all, customer);
    },
  };
}
