import { performance } from "node:perf_hooks";
import type { FakeTwilio } from "../../../shared/test/fake-twilio.ts";
import type { Verb } from "./twiml.ts";
import { parseTwiml } from "./twiml.ts";

type Form = Readonly<Record<string, string>>;

/** A call at Twilio. */
export interface FakeCall {
  readonly sid: string;
  readonly from: string;
  status: "ringing" | "in-progress" | "completed";
  /** Every text that was spoken, in order. */
  readonly heard: string[];
  /** Indexes in `heard` of texts that were cut off. */
  readonly cutOff: Set<number>;
  /** All addresses that Twilio requested for the call. */
  readonly asked: string[];
  /** The address for the caller's speech; undefined: the call does not listen. */
  gather: string | undefined;
  record: Verb | undefined;
  dial: Verb | undefined;
  /** The end of the current speech. */
  speaksUntil: number;
  /** Increases with each redirect, which ends the current step. */
  course: number;
  /** The call's running steps. */
  running: Promise<unknown>;
  /** Pending requests and their TwiML, in sequence. */
  asking: Promise<unknown>;
  /** Errors in the answers, as Twilio's console shows them. */
  readonly errors: string[];
}

export interface FakeCallsOptions {
  readonly twilio: FakeTwilio;
  readonly own: string;
  readonly webhookUrl: string;
  readonly now: () => number;
  /** Advances the program's clock. */
  readonly pass: (ms: number) => Promise<void>;
  /** The usual real time for an answer that is ready. */
  readonly lookMs?: number;
}

export interface FakeCalls {
  readonly all: readonly FakeCall[];
  /** Starts an incoming call. */
  call(from: string): Promise<FakeCall>;
  /** The caller speaks or presses keys. Returns Twilio's post. */
  say(call: FakeCall, text: string, how?: { readonly keys?: boolean }): Promise<Posted>;
  silence(call: FakeCall): Promise<Posted>;
  /** Returns the request that Twilio posts for this speech. */
  request(call: FakeCall, text: string): Promise<SpeechRequest>;
  /** Posts the request once. Follows the answer unless the call was redirected since the speech. */
  attempt(call: FakeCall, request: SpeechRequest): Promise<Posted>;
  /** Repeats a request and ignores the answer. */
  again(posted: Request): Promise<Posted>;
  /** Advances the time to the end of the speech. */
  listenToTheEnd(call: FakeCall): Promise<void>;
  /** Advances the time a little and starts the steps that the call was redirected to. */
  wait(call: FakeCall): Promise<void>;
  /** The action of the dialed person. */
  person(call: FakeCall, does: "takes" | "refuses" | "is away", seconds?: number): Promise<Posted>;
  leaveMessage(
    call: FakeCall,
    bytes: Buffer,
    seconds: number,
  ): Promise<{ readonly sid: string; readonly posted: Posted }>;
  /** Twilio's posts for a recorded message: its end, the stored recording and the transcript. */
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
  /** The address under "Primary handler fails". */
  fallbackUrl: string | undefined;
}

export interface Request {
  readonly url: string;
  readonly form: Form;
}

export interface SpeechRequest extends Request {
  /** The call's course when the caller spoke. */
  readonly course: number;
}

export interface Posted extends Request {
  readonly status: number;
  readonly twiml: string;
}

/** Twilio's timeout for a request. */
const patienceMs = 15_000;
const stepMs = 1_000;
/** The maximum real time for an answer that is ready. */
const slowMs = 20_000;
/** The longest delay between a redirect and the new speech. */
const redirectMs = 10_000;
const stepsMax = 200;
const looksMax = 20;
const busyShare = 0.3;

/** The calls of a fake Twilio: fetches TwiML, validates it and runs it. */
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

  /** Time passes while Twilio waits for an answer. */
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
      for (let looks = 0; looks < looksMax && isOpen(); looks += 1) {
        const before = performance.eventLoopUtilization();
        await moment(lookMs);
        const { utilization, active, idle } = performance.eventLoopUtilization(before);
        // The program still works on the answer, or the machine on something else.
        if (utilization < busyShare && active + idle < lookMs * 2) break;
      }
      // An answer ends the wait at once: the program may depend on the call's next step.
      if (isOpen()) await Promise.race([asking, pass(stepMs)]);
    }
    // A slow machine must not count as the program's delay.
    if (isOpen()) await moment(slowMs);
    if (isOpen()) throw new Error(`no answer within 15 seconds: ${url}`);
    if (answer === undefined) throw failure instanceof Error ? failure : new Error("no answer");
    return { status: answer.status, text: await answer.text(), type: answer.headers.get("content-type") ?? "" };
  }

  /** Tries as often as the address's fragment says, then the fallback, then ends the call. */
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
        // A failed connection is not an error in an answer.
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
          speakTexts(call, [verb]);
          break;
        case "Pause":
          await pass(Number(verb.attributes["length"] ?? 1) * 1_000);
          break;
        case "Gather":
          speakTexts(
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
    // Twilio hangs up at the end of the TwiML.
    call.status = "completed";
  }

  const afterRecord = new Map<FakeCall, Verb | undefined>();
  /** The number of requests of a call when it last listened. */
  const listenedAt = new Map<FakeCall, number>();

  /** Speaks more slowly than most voices. */
  function speakTexts(call: FakeCall, says: readonly Verb[]): void {
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

  /** Waits for the call's pending requests. */
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
    // Advancing the clock must not cut off requests in flight.
    await Promise.race([call.asking, new Promise((resolve) => setTimeout(resolve, slowMs))]);
    call.course += 1;
    const isCutOff = now() < call.speaksUntil;
    if (isCutOff) call.cutOff.add(call.heard.length - 1);
    // The program allows for this delay before it speaks again.
    call.speaksUntil = now() + (isCutOff ? redirectMs : 0);
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
      // The caller's speech interrupts the call's (barge-in).
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
      return { url, form: formOf(call, { SpeechResult: text, Confidence: "0.9123" }), course: call.course };
    },
    async attempt(call, request) {
      call.speaksUntil = now();
      const posted = await inTurn(call, fake.again(request));
      if (posted.status === 200 && call.course === request.course) await follow(call, posted.twiml);
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
