import type { ConformanceTarget, FakePlatform } from "#test/support/channels/conformance-target.ts";
import { openCalling, texts } from "./support/calling.ts";
import type { FakeCall, Posted } from "./support/fake-calls.ts";

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

interface Said {
  readonly call: FakeCall;
  readonly request: Pick<Posted, "url" | "form">;
}

/** With `redials`, callers call again when their call is over. */
async function start(redials = false): Promise<FakePlatform> {
  const calling = await openCalling({ own, callers: "+1555200", isBrief: redials });
  const { twilio, platform, numberOf } = calling;
  const running = new Map<string, Promise<FakeCall>>();
  const requests = new Map<string, Promise<Said>>();
  /** Calls of a customer that are over. */
  const earlier = new Map<string, FakeCall[]>();
  /** Where something said is kept back on its way to the program. */
  const kept = new Set<string>();
  const [underway, done] = [new Set<string>(), new Set<string>()];

  function callOf(customer: string): Promise<FakeCall> {
    const known = running.get(customer);
    if (known !== undefined) return known;
    const made = calling.calls.call(numberOf(customer));
    running.set(customer, made);
    return made;
  }
  /** Whoever is not listened to any more hangs up, and calls again. */
  async function listeningCall(customer: string): Promise<FakeCall> {
    const call = await callOf(customer);
    const isOn = (): boolean => call.status !== "completed";
    await calling.calls.listenToTheEnd(call);
    // Twilio waits for an answer to what was said, and asks for nothing else before: but it can be led elsewhere.
    while (isOn() && call.gather !== undefined && kept.has(call.gather)) await calling.calls.wait(call);
    if ((isOn() && call.gather !== undefined) || underway.size > 0) return call;
    calling.calls.hangUp(call);
    earlier.set(customer, [...(earlier.get(customer) ?? []), call]);
    running.delete(customer);
    return callOf(customer);
  }
  async function begun(customer: string, text: string): Promise<Said> {
    const call = redials ? await listeningCall(customer) : await callOf(customer);
    return { call, request: await calling.calls.request(call, text) };
  }
  /** What is posted several times at once is said once: a call follows one answer. */
  function say(customer: string, id: string, text: string): Promise<Said> {
    const before = requests.get(id);
    if (before !== undefined) return before;
    const said = begun(customer, text);
    requests.set(id, said);
    // Whoever calls while nobody answers has said nothing yet, and calls again.
    said.catch(() => requests.delete(id));
    return said;
  }
  async function deliver({ customer, id, text }: Parameters<FakePlatform["deliver"]>[0]): Promise<boolean> {
    const { call, request } = await say(customer, id, text);
    if (done.has(id) || underway.has(id)) return (await calling.calls.again(request)).status === 200;
    underway.add(id);
    // Where the call was led elsewhere meanwhile, nobody waits for the answer.
    kept.delete(request.url);
    const isLate = call.gather !== request.url;
    const posted = isLate ? calling.calls.again(request) : calling.calls.attempt(call, request);
    const { status } = await posted.finally(() => underway.delete(id));
    if (status === 200) done.add(id);
    return status === 200;
  }

  return {
    ...platform,
    deliver,
    async keepBack({ customer, id, text }) {
      kept.add((await say(customer, id, text)).request.url);
    },
    // Calls are led by our answers, also while nobody can ask anything of Twilio.
    ...(redials ? { write: async (message) => void (await deliver(message)) } : {}),
    async forge({ customer, text }) {
      const call = await callOf(customer);
      const form = { CallSid: call.sid, AccountSid: twilio.accountSid, From: call.from, To: own, SpeechResult: text };
      return (await twilio.postTo(call.gather ?? "", form, { token: "a token of somebody else" })).ok;
    },
    // Twilio reports on our own calls too, and a number can call itself.
    async echo(customer) {
      const call = await callOf(customer);
      await calling.calls.report(call, "in-progress", { Direction: "outbound-dial" });
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
      await calling.calls.listenToTheEnd(call);
      // Whoever is offered links wants them.
      if (call.status !== "completed" && call.gather !== undefined && call.heard.at(-1) === texts.link_offer)
        await calling.calls.say(call, "1", { keys: true });
      return calling.shown([...(earlier.get(customer) ?? []), call], customer);
    },
    async back(customer) {
      const call = await callOf(customer);
      // Nobody holds the line for that long; and who hangs up meanwhile does so without a report of it.
      if (redials) calling.calls.hangUp(call);
      await platform.back(customer);
    },
  };
}
