import type { ConformanceTarget, FakePlatform } from "../../../test/support/conformance.ts";
import { startFakeTwilio } from "../../twilio/test/support/fake-twilio.ts";
import { textsOf } from "../texts.ts";
import type { FakeCall, FakeCalls, Posted } from "./support/fake-calls.ts";
import { createFakeCalls } from "./support/fake-calls.ts";

const target: ConformanceTarget = {
  channel: "voice",
  cannot: {
    "files-in":
      "on the telephone a caller sends no files; that recordings come whole and once stands in handover.test.ts",
  },
  start: () => start(),
};
export default target;

/** For conversations that go on after a call. */
export const redialing: ConformanceTarget = { ...target, start: () => start(true) };

const own = "+15550001111";
const awayMs = 300;
interface Said {
  readonly call: FakeCall;
  readonly request: Pick<Posted, "url" | "form">;
}
const texts = textsOf("en-US", {});

/** With `redials`, callers call again when their call is over. */
async function start(redials = false): Promise<FakePlatform> {
  const twilio = await startFakeTwilio();
  const numbers = new Map<string, string>();
  const running = new Map<string, Promise<FakeCall>>();
  const requests = new Map<string, Promise<Said>>();
  let calls: FakeCalls;
  let tick: () => Promise<void> = async () => undefined;

  const numberOf = (customer: string): string => {
    const known = numbers.get(customer) ?? `+1555200${String(numbers.size).padStart(4, "0")}`;
    numbers.set(customer, known);
    return known;
  };
  function callOf(customer: string): Promise<FakeCall> {
    const known = running.get(customer);
    if (known !== undefined) return known;
    const made = calls.call(numberOf(customer));
    running.set(customer, made);
    return made;
  }
  /** Calls of a customer that are over. */
  const earlier = new Map<string, FakeCall[]>();
  /** Whoever is not listened to any more hangs up, and calls again. */
  async function listeningCall(customer: string): Promise<FakeCall> {
    const call = await callOf(customer);
    await calls.listenToTheEnd(call);
    if (call.gather !== undefined || underway.size > 0) return call;
    calls.hangUp(call);
    earlier.set(customer, [...(earlier.get(customer) ?? []), call]);
    running.delete(customer);
    return callOf(customer);
  }
  async function begun(customer: string, text: string): Promise<Said> {
    const call = redials ? await listeningCall(customer) : await callOf(customer);
    return { call, request: await calls.request(call, text) };
  }
  const [underway, done] = [new Set<string>(), new Set<string>()];
  /** What the program says of itself, and no answer. */
  const isPrompt = (text: string): boolean =>
    Object.values(texts).includes(text) || text.startsWith(texts.greeting.split("{", 1)[0] ?? "");

  return {
    config: { account_sid: twilio.accountSid, auth_token: twilio.authToken, from: own, base_url: twilio.url },
    secrets: () => [twilio.authToken],
    retryAfterMs: 17_000,
    async connect({ webhookUrl, now, tick: passes }) {
      twilio.connect({ publicUrl: "http://parley.test", webhookUrl, now });
      // One after the other: the clock is one.
      let last: Promise<void> = Promise.resolve();
      tick = () => (last = last.then(passes));
      calls = createFakeCalls({
        twilio,
        own,
        webhookUrl: `http://parley.test${new URL(webhookUrl).pathname}`,
        now,
        pass: () => tick(),
      });
    },
    async deliver({ customer, id, text }) {
      // What is posted several times at once is said once: a call follows one answer.
      const said = requests.get(id) ?? begun(customer, text);
      requests.set(id, said);
      const { call, request } = await said;
      if (done.has(id) || underway.has(id)) return (await calls.again(request)).status === 200;
      underway.add(id);
      const { status } = await calls.attempt(call, request).finally(() => underway.delete(id));
      if (status === 200) done.add(id);
      return status === 200;
    },
    async forge({ customer, text }) {
      const call = await callOf(customer);
      const form = { CallSid: call.sid, AccountSid: twilio.accountSid, From: call.from, To: own, SpeechResult: text };
      return (await twilio.postTo(call.gather ?? "", form, { token: "a token of somebody else" })).ok;
    },
    // Twilio reports on our own calls too, and a number can call itself.
    async echo(customer) {
      const call = await callOf(customer);
      await calls.report(call, "in-progress", { Direction: "outbound-dial" });
      const form = {
        AccountSid: twilio.accountSid,
        CallSid: twilio.newSid("CA"),
        From: own,
        To: own,
        CallStatus: "ringing",
      };
      await twilio.post(form);
    },
    async shown(customer) {
      const call = await callOf(customer);
      await calls.listenToTheEnd(call);
      // Whoever is offered links wants them.
      if (call.gather !== undefined && call.heard.at(-1) === texts.link_offer)
        await calls.say(call, "1", { keys: true });
      if (call.errors.length > 0) throw new Error(call.errors.join("\n"));
      const all = [...(earlier.get(customer) ?? []), call].flatMap(({ heard }) => heard);
      const spoken = all.filter((text) => !isPrompt(text));
      const texted = twilio.taken.filter(({ to }) => to === call.from).map(({ body }) => body);
      return [...spoken, ...texted].map((text) => text.replace(/^Anna[^\n]*?(?: says: |:\n)/, ""));
    },
    misbehave(how) {
      switch (how) {
        case "refuse":
          twilio.fail({ kind: "error", status: 400, code: 21_218, message: "Invalid ApplicationSid" });
          return;
        case "limit":
          twilio.fail({ kind: "limit", retryAfterS: 17 });
          return;
        case "hang_up_after_commit":
          twilio.fail({ kind: "hang_up_after_commit" });
          return;
        case "hang_up":
          twilio.fail({ kind: "hang_up_before_commit" });
          return;
        case "unreachable":
          void twilio.goAway().then(() => setTimeout(() => void twilio.comeBack(), awayMs));
      }
    },
    away: () => twilio.goAway(),
    back: () => twilio.comeBack(),
    close: () => twilio.close(),
  };
}
