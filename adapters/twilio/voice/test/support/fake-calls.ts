import type { FakeTwilio } from "../../../shared/test/fake-twilio.ts";
import type { Verb } from "./twiml.ts";
import { parseTwiml } from "./twiml.ts";

type Form = Readonly<Record<string, string>>;

/** A call as Twilio leads it. */
export interface FakeCall {
  readonly sid: string;
  readonly from: string;
  status: "ringing" | "in-progress" | "completed";
  /** Every text that was spoken, in order. */
  readonly heard: string[];
  /** Where in it a text stands that was cut off before its end. */
  readonly cutOff: Set<number>;
  /** Every address that Twilio called for it. */
  readonly asked: string[];
  /** Where what the caller says goes to; undefined: nobody listens. */
  gather: string | undefined;
  record: Verb | undefined;
  dial: Verb | undefined;
  /** When what is spoken now is over. */
  speaksUntil: number;
  /** Goes up when the call is led elsewhere: what it was at is over. */
  course: number;
  /** What goes on by itself. */
  running: Promise<unknown>;
  /** What Twilio waits for an answer to, and then does as it says: one thing after the other. */
  asking: Promise<unknown>;
  /** What was wrong with what it was answered, as the console would tell. */
  readonly errors: string[];
}

export interface FakeCallsOptions {
  readonly twilio: FakeTwilio;
  readonly own: string;
  readonly webhookUrl: string;
  readonly now: () => number;
  /** Time goes by for the program. */
  readonly pass: (ms: number) => Promise<void>;
  /** So long an answer that is there takes to come, as a rule. */
  readonly lookMs?: number;
}

export interface FakeCalls {
  readonly all: readonly FakeCall[];
  /** Somebody calls. */
  call(from: string): Promise<FakeCall>;
  /** The caller says this, or presses keys; what Twilio posts for it. */
  say(call: FakeCall, text: string, how?: { readonly keys?: boolean }): Promise<Posted>;
  silence(call: FakeCall): Promise<Posted>;
  /** What Twilio will post when the caller says this. */
  request(call: FakeCall, text: string): Promise<Request>;
  /** Posts it one time, and does as the answer says. */
  attempt(call: FakeCall, request: Request): Promise<Posted>;
  /** Posts once more what was posted before, and does nothing with the answer. */
  again(posted: Request): Promise<Posted>;
  /** Lets time pass until the call has said what it has to say. */
  listenToTheEnd(call: FakeCall): Promise<void>;
  /** Lets a while pass, and whatever the call is led to meanwhile begin. */
  wait(call: FakeCall): Promise<void>;
  /** What the person at the other telephone does. */
  person(call: FakeCall, does: "takes" | "refuses" | "is away", seconds?: number): Promise<Posted>;
  leaveMessage(
    call: FakeCall,
    bytes: Buffer,
    seconds: number,
  ): Promise<{ readonly sid: string; readonly posted: Posted }>;
  /** What Twilio posts on a message that is left: when it ends, when it is kept, and when its words are written down. */
  recordingOf(
    call: FakeCall,
    bytes: Buffer,
    seconds: number,
    words?: string,
  ): Readonly<Record<"recorded" | "done" | "transcript", Request>> & { readonly sid: string };
  statusOf(call: FakeCall, status: string, more?: Form): Request;
  transcribe(call: FakeCall, recordingSid: string, text: string): Promise<Response>;
  nothingRecorded(call: FakeCall): Promise<void>;
  hangUp(call: FakeCall): void;
  report(call: FakeCall, status: string, more?: Form): Promise<Response>;
  /** Where callers come to when the program cannot answer. */
  fallbackUrl: string | undefined;
}

export interface Request {
  readonly url: string;
  readonly form: Form;
}

export interface Posted extends Request {
  readonly status: number;
  readonly twiml: string;
}

/** Twilio gives up after this long. */
const patienceMs = 15_000;
const stepMs = 1_000;
/** So long an answer that is there takes to come at most, on the clock of this machine. */
const slowMs = 20_000;
const stepsMax = 200;

/** The calls' side of a fake Twilio: it fetches TwiML, checks it, and does what it says. */
export function createFakeCalls({ twilio, own, webhookUrl, now, pass, lookMs = 150 }: FakeCallsOptions): FakeCalls {
  const all: FakeCall[] = [];

  const formOf = (call: FakeCall, more: Form = {}): Form => ({
    AccountSid: twilio.accountSid,
    ApiVersion: "2010-04-01",
    CallSid: call.sid,
    CallStatus: call.status,
    Caller: call.from,
    Called: own,
    Direction: "inbound",
    From: call.from,
    To: own,
    ...more,
  });

  /** While Twilio waits for an answer, time goes by. */
  async function post(
    url: string,
    form: Form,
  ): Promise<{ readonly status: number; readonly text: string; readonly type: string }> {
    let answer: Response | undefined;
    let failure: unknown;
    const asking = twilio.postTo(url, form).then(
      (response) => void (answer = response),
      (error: unknown) => void (failure = error),
    );
    const isOpen = (): boolean => answer === undefined && failure === undefined;
    const moment = (ms: number) => Promise.race([asking, new Promise((resolve) => setTimeout(resolve, ms))]);
    for (let waited = 0; isOpen() && waited < patienceMs; waited += stepMs) {
      await moment(lookMs);
      // What has come is not kept waiting for the clock: the program may wait for what the call does with it.
      if (isOpen()) await Promise.race([asking, pass(stepMs)]);
    }
    // That the machine is slow is not the program's patience.
    if (isOpen()) await moment(slowMs);
    if (isOpen()) throw new Error(`no answer within 15 seconds: ${url}`);
    if (answer === undefined) throw failure instanceof Error ? failure : new Error("no answer");
    return { status: answer.status, text: await answer.text(), type: answer.headers.get("content-type") ?? "" };
  }

  /** As often as the address says; then the fallback, or the end. */
  async function ask(call: FakeCall, url: string, more: Form = {}): Promise<Posted> {
    const form = formOf(call, more);
    const retries = Number(/#.*\brc=([0-9])/.exec(url)?.[1] ?? 0);
    const anyFailure = /#.*\brp=all\b/.test(url);
    call.asked.push(url);
    let status = 0;
    for (let attempt = 0; attempt <= retries; attempt += 1) {
      try {
        const answer = await post(url, form);
        ({ status } = answer);
        if (answer.status < 300) {
          if (!/^(?:text|application)\/xml/.test(answer.type)) throw new Error(`TwiML of type ${answer.type}`);
          return { url, form, status, twiml: answer.text };
        }
        if (!anyFailure || answer.status < 500) break;
      } catch (error) {
        // That nobody answers is no mistake in an answer.
        if (error instanceof TypeError) continue;
        call.errors.push(String(error));
      }
    }
    return { url, form, status, twiml: "" };
  }

  function inTurn<T>(call: FakeCall, asking: Promise<T>): Promise<T> {
    call.asking = asking.then(
      () => undefined,
      () => undefined,
    );
    return asking;
  }

  async function askAndFollow(call: FakeCall, url: string, more: Form = {}): Promise<Posted> {
    const { course } = call;
    const posted = await inTurn(call, ask(call, url, more));
    if (call.course !== course || call.status === "completed") return posted;
    if (posted.twiml !== "") {
      await follow(call, posted.twiml);
    } else if (fake.fallbackUrl !== undefined && url !== fake.fallbackUrl) {
      await askAndFollow(call, fake.fallbackUrl, { ErrorCode: "11200" });
    } else {
      call.heard.push("An application error has occurred. Goodbye.");
      call.status = "completed";
    }
    return posted;
  }

  async function follow(call: FakeCall, twiml: string): Promise<void> {
    const { course } = call;
    let list: readonly Verb[];
    try {
      list = parseTwiml(twiml);
    } catch (error) {
      call.errors.push(`${String(error)}: ${twiml.slice(0, 2_000)}`);
      call.status = "completed";
      return;
    }
    [call.gather, call.record, call.dial] = [undefined, undefined, undefined];
    call.status = "in-progress";
    for (const verb of list) {
      if (call.course !== course) return;
      switch (verb.name) {
        case "Say":
          speak(call, [verb]);
          break;
        case "Pause":
          await pass(Number(verb.attributes["length"] ?? 1) * 1_000);
          break;
        case "Gather":
          speak(
            call,
            verb.children.filter(({ name }) => name === "Say"),
          );
          call.gather = verb.attributes["action"];
          listenedAt.set(call, call.asked.length);
          if (verb.attributes["actionOnEmptyResult"] !== "true") call.errors.push("silence would fall through");
          return;
        case "Dial":
          call.dial = verb;
          if (verb.attributes["action"] === undefined) call.heard.push(`(dials ${verb.text})`);
          return;
        case "Record":
          call.record = verb;
          afterRecord.set(call, list[list.indexOf(verb) + 1]);
          return;
        case "Redirect":
          if (call.asked.length - (listenedAt.get(call) ?? 0) > stepsMax) throw new Error("the call goes in circles");
          await askAndFollow(call, verb.text);
          return;
        case "Hangup":
          call.status = "completed";
          return;
      }
    }
    // Twilio hangs up where there is nothing more to do.
    call.status = "completed";
  }

  const afterRecord = new Map<FakeCall, Verb | undefined>();
  /** How much Twilio had asked for a call when the caller could last speak. */
  const listenedAt = new Map<FakeCall, number>();

  /** Slower than most voices. */
  function speak(call: FakeCall, says: readonly Verb[]): void {
    call.heard.push(...says.map(({ text }) => text));
    call.speaksUntil =
      Math.max(call.speaksUntil, now()) + says.reduce((sum, { text }) => sum + text.length * 80 + 900, 0);
  }

  function required<T>(value: T | undefined, what: string): T {
    if (value === undefined) throw new Error(`the call does not ${what}`);
    return value;
  }

  const transcriptOf = (call: FakeCall, recordingSid: string, words: string): Request => ({
    url: `${webhookUrl}?at=transcript`,
    form: formOf(call, {
      RecordingSid: recordingSid,
      TranscriptionSid: twilio.newSid("TR"),
      TranscriptionStatus: "completed",
      TranscriptionText: words,
    }),
  });

  /** Nothing of the call is left to come. */
  async function settled(call: FakeCall): Promise<void> {
    for (let at = call.running; ; at = call.running) {
      await at;
      if (at === call.running) return;
    }
  }

  twilio.also = async ({ method, path, form, socket }) => {
    const sid = new RegExp(`^/2010-04-01/Accounts/${twilio.accountSid}/Calls/(CA[0-9a-f]{32})\\.json$`).exec(path)?.[1];
    if (sid === undefined) return undefined;
    const call = all.find((each) => each.sid === sid);
    if (call === undefined) return twilio.refuse(404, 20_404, `The requested resource ${path} was not found`);
    const resource = (): object => ({
      sid,
      account_sid: twilio.accountSid,
      status: call.status,
      from: call.from,
      to: own,
      direction: "inbound",
      date_created: new Date(now()).toUTCString(),
      subresource_uris: {},
    });
    if (method === "GET") return { status: 200, body: resource() };
    const fault = twilio.nextFault();
    if (fault?.kind === "error") return twilio.refuse(fault.status, fault.code, fault.message);
    if (fault?.kind === "limit") {
      return {
        ...twilio.refuse(429, 20_429, "Too Many Requests"),
        headers: fault.retryAfterS === undefined ? {} : { "retry-after": String(fault.retryAfterS) },
      };
    }
    if (fault?.kind === "hang_up_before_commit") {
      socket.destroy();
      return "none";
    }
    if (call.status === "completed") return twilio.refuse(400, 21_220, "Call is not in-progress. Cannot redirect.");
    const url = form.get("Url");
    if (url === null) return twilio.refuse(400, 21_201, "No 'Url' specified");
    // The clock is moved by hand, and does not wait for what is on its way here: nothing of it is to be cut off by that.
    await Promise.race([call.asking, new Promise((resolve) => setTimeout(resolve, slowMs))]);
    call.course += 1;
    if (now() < call.speaksUntil) call.cutOff.add(call.heard.length - 1);
    call.speaksUntil = now();
    call.running = Promise.all([call.running, askAndFollow(call, url)]);
    if (fault?.kind === "hang_up_after_commit") {
      socket.destroy();
      return "none";
    }
    return { status: 200, body: resource() };
  };

  const fake: FakeCalls = {
    all,
    fallbackUrl: undefined,
    async call(from) {
      const call: FakeCall = {
        sid: twilio.newSid("CA"),
        from,
        status: "ringing",
        heard: [],
        cutOff: new Set(),
        asked: [],
        gather: undefined,
        record: undefined,
        dial: undefined,
        speaksUntil: 0,
        course: 0,
        running: Promise.resolve(),
        asking: Promise.resolve(),
        errors: [],
      };
      all.push(call);
      await askAndFollow(call, webhookUrl);
      return call;
    },
    async say(call, text, { keys = false } = {}) {
      await settled(call);
      const action = required(call.gather, "listen");
      // Whoever speaks interrupts what is spoken.
      call.speaksUntil = now();
      return askAndFollow(call, action, keys ? { Digits: text } : { SpeechResult: text, Confidence: "0.9123" });
    },
    async silence(call) {
      await settled(call);
      const action = required(call.gather, "listen");
      await pass(6_000);
      return askAndFollow(call, action);
    },
    async request(call, text) {
      await settled(call);
      const url = required(call.gather, "listen");
      return { url, form: formOf(call, { SpeechResult: text, Confidence: "0.9123" }) };
    },
    async attempt(call, request) {
      const { course } = call;
      call.speaksUntil = now();
      const posted = await inTurn(call, fake.again(request));
      if (posted.status === 200 && call.course === course) await follow(call, posted.twiml);
      return posted;
    },
    async again({ url, form }) {
      const { status, text } = await post(url, form);
      return { url, form, status, twiml: text };
    },
    async listenToTheEnd(call) {
      await settled(call);
      while (now() < call.speaksUntil) await pass(Math.min(call.speaksUntil - now(), 6_000));
      await settled(call);
    },
    async wait(call) {
      await pass(6_000);
      await settled(call);
    },
    async person(call, does, seconds = 83) {
      const dial = required(call.dial, "put through to anybody");
      const [number] = dial.children;
      const action = required(dial.attributes["action"], "come back");
      if (does !== "is away") {
        const child = {
          ...formOf(call),
          CallSid: twilio.newSid("CA"),
          ParentCallSid: call.sid,
          Direction: "outbound-dial",
        };
        const leg = { ...child, From: call.from, To: number?.text ?? "", CallStatus: "in-progress" };
        const whisper = await post(required(number?.attributes["url"], "whisper"), leg);
        const gather = parseTwiml(whisper.text)[0];
        const pressed = { ...leg, Digits: does === "takes" ? "1" : "2" };
        await post(required(gather?.attributes["action"], "ask"), pressed);
      }
      return askAndFollow(call, action, {
        DialCallStatus: does === "is away" ? "no-answer" : "completed",
        ...(does === "takes" ? { DialCallDuration: String(seconds) } : {}),
      });
    },
    recordingOf(call, bytes, seconds, words = "") {
      const record = required(call.record, "record");
      const sid = twilio.newSid("RE");
      const path = `/2010-04-01/Accounts/${twilio.accountSid}/Recordings/${sid}`;
      twilio.keep(bytes, "audio/mpeg", `${path}.mp3`);
      const recording = { RecordingSid: sid, RecordingUrl: twilio.url + path, RecordingDuration: String(seconds) };
      const { AccountSid, CallSid } = formOf(call) as { AccountSid: string; CallSid: string };
      return {
        sid,
        recorded: {
          url: required(record.attributes["action"], "come back"),
          form: formOf(call, { ...recording, Digits: "#" }),
        },
        done: {
          url: required(record.attributes["recordingStatusCallback"], "report"),
          form: { AccountSid, CallSid, ...recording, RecordingStatus: "completed" },
        },
        transcript: transcriptOf(call, sid, words),
      };
    },
    async leaveMessage(call, bytes, seconds) {
      const { sid, recorded, done } = fake.recordingOf(call, bytes, seconds);
      const posted = await askAndFollow(call, recorded.url, recorded.form);
      await post(done.url, done.form);
      return { sid, posted };
    },
    async transcribe(call, recordingSid, text) {
      const { url, form } = transcriptOf(call, recordingSid, text);
      return twilio.postTo(url, form);
    },
    async nothingRecorded(call) {
      const then = required(afterRecord.get(call), "go on");
      await askAndFollow(call, then.text);
    },
    hangUp(call) {
      call.course += 1;
      call.status = "completed";
      call.speaksUntil = now();
    },
    statusOf: (call, status, more = {}) => ({
      url: `${webhookUrl}?at=status`,
      form: { ...formOf(call), CallStatus: status, SequenceNumber: "0", ...more },
    }),
    async report(call, status, more) {
      const { url, form } = fake.statusOf(call, status, more);
      return twilio.postTo(url, form);
    },
  };
  return fake;
}
