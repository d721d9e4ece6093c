import type { ConformanceTarget, FakePlatform } from "#test/support/channels/conformance-target.ts";
import { openCalling, texts } from "./support/calling.ts";
import type { FakeCall, SpeechRequest } from "./support/fake-calls.ts";

const target: ConformanceTarget = {
  channel: "voice",
  cannot: {
    "files-in":
      "on the telephone a caller sends no files; that recordings come whole and once stands in handover.test.ts",
  },
  start: () => start(),
};
export default target;

/** For conversations that continue after a call. */
export const redialing: ConformanceTarget = { ...target, start: () => start(true) };

const own = "+15550001111";

interface Utterance {
  readonly call: FakeCall;
  readonly request: SpeechRequest;
}

/** With `redials`, callers call again when their call is over. */
async function start(redials = false): Promise<FakePlatform> {
  const calling = await openCalling({ own, callers: "+1555200", isBrief: redials });
  const { twilio, platform, numberOf } = calling;
  const running = new Map<string, Promise<FakeCall>>();
  const requests = new Map<string, Promise<Utterance>>();
  /** A customer's ended calls. */
  const earlier = new Map<string, FakeCall[]>();
  /** Addresses whose posts are held back. */
  const kept = new Set<string>();
  const [underway, done] = [new Set<string>(), new Set<string>()];

  function callOf(customer: string): Promise<FakeCall> {
    const known = running.get(customer);
    if (known !== undefined) return known;
    const made = calling.calls.call(numberOf(customer));
    running.set(customer, made);
    return made;
  }
  /** A call that listens; a customer whose call does not hangs up and calls again. */
  async function listeningCall(customer: string): Promise<FakeCall> {
    const call = await callOf(customer);
    const isOn = (): boolean => call.status !== "completed";
    await calling.calls.listenToTheEnd(call);
    // Twilio waits for the answer to speech before its next request, unless it is redirected.
    while (isOn() && call.gather !== undefined && kept.has(call.gather)) await calling.calls.wait(call);
    if ((isOn() && call.gather !== undefined) || underway.size > 0) return call;
    calling.calls.hangUp(call);
    earlier.set(customer, [...(earlier.get(customer) ?? []), call]);
    running.delete(customer);
    return callOf(customer);
  }
  async function begun(customer: string, text: string): Promise<Utterance> {
    const call = redials ? await listeningCall(customer) : await callOf(customer);
    return { call, request: await calling.calls.request(call, text) };
  }
  /** Concurrent posts of one message are one utterance: a call follows one answer. */
  function say(customer: string, id: string, text: string): Promise<Utterance> {
    const before = requests.get(id);
    if (before !== undefined) return before;
    const said = begun(customer, text);
    requests.set(id, said);
    // A caller who was not answered has said nothing yet and calls again.
    said.catch(() => requests.delete(id));
    return said;
  }
  async function deliver({ customer, id, text }: Parameters<FakePlatform["deliver"]>[0]): Promise<boolean> {
    const { call, request } = await say(customer, id, text);
    if (done.has(id) || underway.has(id)) return (await calling.calls.again(request)).status === 200;
    underway.add(id);
    // After a redirect the answer is not awaited.
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
    // Calls continue by our answers even while Twilio's API is unreachable.
    ...(redials ? { write: async (message) => void (await deliver(message)) } : {}),
    async forge({ customer, text }) {
      const call = await callOf(customer);
      const form = { CallSid: call.sid, AccountSid: twilio.accountSid, From: call.from, To: own, SpeechResult: text };
      return (await twilio.postTo(call.gather ?? "", form, { token: "a token of somebody else" })).ok;
    },
    // Twilio reports on outbound calls too, and a number can call itself.
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
      // The customer accepts offered links.
      if (call.status !== "completed" && call.gather !== undefined && call.heard.at(-1) === texts.link_offer)
        await calling.calls.say(call, "1", { keys: true });
      return calling.shown([...(earlier.get(customer) ?? []), call], customer);
    },
    async back(customer) {
      const call = await callOf(customer);
      // Callers do not hold that long, and this end of the call is not reported.
      if (redials) calling.calls.hangUp(call);
      await platform.back(customer);
    },
  };
}
