import { field } from "../../shared/form.ts";
import { comesMs, holding, lateMs, listening } from "./replies.ts";
import type { CallRecord } from "./calls.ts";
import { leftBehind, replyTo, withReply, withSaid } from "./calls.ts";
import { senderOf } from "./caller.ts";
import { handOver } from "./handover.ts";
import { textLinks } from "../text-links.ts";
import type { CallRequest, VoiceDependencies } from "./call-request.ts";
import { numberOf } from "../config.ts";
import { speechMs } from "../twiml.ts";
import { createWaiter } from "./waiter.ts";

/** How long a request waits for an answer: the first one of a turn, then each round of hold. */
const firstWaitMs = 1_500;
const waitMs = 4_000;
/** The length of a round of hold, with its word and the network. */
const roundMs = 6_500;
/** Characters in one answer to Twilio, whose limit is 64 KB. */
const speechMax = 6_000;
const wordEvery = 3;

/** People speak in short turns. A call ends by itself. */
const callLimit = { max: 400, withinMs: 3_600_000 } as const;

/** An incoming call: greets the caller. */
export async function begin({ host, calls, settings, twiml }: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { botName } = await host.workspace();
  const greeting = settings.texts.greeting.replaceAll("{bot}", () => botName);
  return calls.change(asked.callSid, (call) => {
    const before = replyTo(call, asked.at);
    if (before !== undefined) return [undefined, before];
    if (call.phase === "over") return [undefined, twiml.hangUp([])];
    return listening({ host, twiml }, call, asked.at, [greeting]);
  });
}

/** The result of listening: speech, keys or silence. */
export async function turn(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { host, calls, settings } = dependencies;
  const { form, callSid, caller, at, detail } = asked;
  const known = await calls.read(callSid);
  const before = replyTo(known, at);
  if (before !== undefined) return before;
  const [speech, digits] = [field(form, "SpeechResult"), field(form, "Digits")];
  const said = speech === "" ? digits : speech;
  if (said === "") return silence(dependencies, asked);
  const hasLinks = (known?.links.length ?? 0) > 0;
  if (hasLinks && (digits === "1" || asksForLinks(settings.linkPhrases, speech))) return textLinks(dependencies, asked);
  const wantsPerson = speech === "" && digits === "0";
  const confidence = Number(field(form, "Confidence"));
  await host.accept({
    kind: "message",
    externalId: `turn:${callSid}:${detail}`,
    thread: callSid,
    sender: senderOf(callSid, caller),
    sentAt: host.clock.now(),
    text: wantsPerson ? "[pressed 0]" : said,
    botLimit: callLimit,
    metadata: {
      ...(speech === "" ? { digits } : {}),
      ...(speech !== "" && Number.isFinite(confidence) && confidence > 0 ? { confidence } : {}),
    },
    ...(wantsPerson ? { peopleOnly: "The caller pressed 0 to talk to a person." } : {}),
  });
  return converse(dependencies, asked, {
    waitMs: wantsPerson ? 0 : firstWaitMs,
    turn: detail,
    silences: 0,
    otherwise: (call) => holding(dependencies, call, at, `hold.${detail}.1`, settings.texts.moment),
  });
}

const asksForLinks = (phrases: readonly string[], speech: string): boolean => {
  const said = speech.toLowerCase();
  return phrases.some((phrase) => said.includes(phrase.toLowerCase()));
};

/** A round of hold: waits for the answer again. */
export async function hold(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { settings } = dependencies;
  const { at, detail } = asked;
  const [number = "", round = ""] = detail.split(".");
  const rounds = Number.parseInt(round, 10) || 1;
  return converse(dependencies, asked, {
    waitMs,
    turn: number,
    otherwise: (call) =>
      (rounds + 1) * roundMs > settings.holdMs
        ? listening(dependencies, call, at, [settings.texts.slow])
        : holding(
            dependencies,
            call,
            at,
            `hold.${number}.${rounds + 1}`,
            rounds % wordEvery === 0 ? settings.texts.still : undefined,
          ),
  });
}

/** Continues a message that did not fit into one answer. */
export async function next(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  return converse(dependencies, asked, {
    waitMs,
    otherwise: (call) => listening(dependencies, call, asked.at, []),
  });
}

/**
 * The call was redirected to speak a message. If the caller spoke at the same moment, the message went out with that
 * turn's answer and the redirect cut the answer off: it is repeated from the start.
 */
export async function interrupted(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { host, calls } = dependencies;
  const { callSid, at, detail: key } = asked;
  const cutOff = await calls.change<string | undefined>(callSid, (call) => {
    if (call.phase === "over" || replyTo(call, at) !== undefined) return [undefined, undefined];
    const last = call.replies.at(-1);
    // The new turn number makes the answer to any earlier, still open turn void.
    const isHeard = call.phase === "talking" && call.until <= host.clock.now();
    if (last === undefined || isHeard || !call.said.includes(key)) return [{ turn: call.turn + 1 }, undefined];
    return [{ ...withReply(call, at, last.twiml), until: call.until + comesMs }, last.twiml];
  });
  return cutOff ?? next(dependencies, asked);
}

async function silence(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { host, calls, settings, twiml } = dependencies;
  const { callSid, at, detail } = asked;
  const { texts } = settings;
  const handledBy = (await host.threads.get(callSid))?.handledBy;
  return calls.change(callSid, (call) => {
    const before = replyTo(call, at);
    if (before !== undefined) return [undefined, before];
    if (call.phase === "over") return [undefined, twiml.hangUp([])];
    const elsewhere = leftBehind(call, detail);
    if (elsewhere !== undefined) return [undefined, elsewhere];
    if (call.offered.length > 0) return speaking(dependencies, call, asked, handledBy === "waiting");
    const silences = call.silences + 1;
    if (silences < 2) {
      // A caller who waits for an agent's reply is silent on purpose.
      const [change, reply] =
        handledBy === "agent"
          ? holding(dependencies, call, at, `hold.${detail}.1`, texts.moment)
          : listening(dependencies, call, at, [texts.again]);
      return [{ ...change, silences }, reply];
    }
    if (handledBy === "agent" || handledBy === "waiting") return handOver(dependencies, call, asked, []);
    const reply = twiml.hangUp([texts.goodbye]);
    return [{ ...withReply(call, at, reply), phase: "away", until: host.clock.now() + lateMs }, reply];
  });
}

interface Conversing {
  readonly waitMs: number;
  /** The turn to continue; absent: the current one. */
  readonly turn?: string;
  readonly silences?: number;
  /** The answer when nothing was offered in that time. */
  readonly otherwise: (call: CallRecord) => readonly [Partial<CallRecord>, string];
}

/** Waits for parts that the bot or an agent offers to the call, and speaks them. */
async function converse(
  dependencies: VoiceDependencies,
  asked: CallRequest,
  { waitMs: patienceMs, turn: number, silences, otherwise }: Conversing,
): Promise<string> {
  const { host, calls, twiml } = dependencies;
  const { callSid, at } = asked;
  const end = host.clock.now() + patienceMs;
  const waiter = createWaiter(host, callSid);
  try {
    await calls.change(callSid, (call) =>
      replyTo(call, at) !== undefined || call.phase === "over" || leftBehind(call, number) !== undefined
        ? [undefined, undefined]
        : [{ phase: "holding", until: end + lateMs, ...(silences === undefined ? {} : { silences }) }, undefined],
    );
    for (;;) {
      const waiting = (await host.threads.get(callSid))?.handledBy === "waiting";
      const left = end - host.clock.now();
      const reply = await calls.change<string | undefined>(callSid, (call) => {
        const before = replyTo(call, at);
        if (before !== undefined) return [undefined, before];
        if (call.phase === "over") return [undefined, twiml.hangUp([])];
        const elsewhere = leftBehind(call, number);
        if (elsewhere !== undefined) return [undefined, elsewhere];
        if (call.offered.length > 0) return speaking(dependencies, call, asked, waiting);
        if (left > 0) return [undefined, undefined];
        return waiting ? handOver(dependencies, call, asked, []) : otherwise(call);
      });
      if (reply !== undefined) return reply;
      await waiter.wait(left);
    }
  } finally {
    waiter.close();
  }
}

/** Speaks the offered parts, as many as one answer to Twilio holds. */
function speaking(
  dependencies: VoiceDependencies,
  call: CallRecord,
  asked: CallRequest,
  waiting: boolean,
): readonly [Partial<CallRecord>, string] {
  const { host, twiml, settings } = dependencies;
  const { caller, at } = asked;
  let room = speechMax;
  const taken = call.offered.filter(({ speech }, index) => (room -= speech.length) >= 0 || index === 0);
  const speech = taken.map((offer) => offer.speech);
  const said = withSaid(
    call,
    taken.map(({ key }) => key),
  );
  const links = taken.flatMap((offer) => offer.links);
  const base = { ...call, ...said, links: links.length > 0 ? links : call.links };
  const last = taken.at(-1);
  if (last !== undefined && (last.more || base.offered.length > 0)) {
    const reply = twiml.goOn(`more.${last.key}`, speech);
    const until = host.clock.now() + speechMs(speech) + lateMs;
    return [{ ...base, ...withReply(call, at, reply), phase: "holding", until }, reply];
  }
  if (waiting) return handOver(dependencies, base, asked, speech);
  const offer = links.length > 0 && numberOf(caller) !== undefined ? [settings.texts.link_offer] : [];
  return listening({ host, twiml }, base, at, [...speech, ...offer]);
}
