import Type from "typebox";
import type { Static } from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channels/contract.ts";

const lifetimeMs = 12 * 3_600_000;

const offerSchema = Type.Object({
  key: Type.String(),
  speech: Type.String(),
  links: Type.Array(Type.String()),
  more: Type.Boolean(),
});

const recordSchema = Type.Object({
  /** Goes up with each change, so that no two states are alike. */
  version: Type.Integer(),
  /**
   * What the call does. `talking`: it speaks, by our estimate until `until`, and then listens. `holding`: it waits for us,
   * and asks again before `until`. `away`: the caller talks to a person, or leaves a message. `over`: it has ended.
   */
  phase: Type.Enum(["talking", "holding", "away", "over"]),
  until: Type.Integer(),
  /** The last turn that was asked for. */
  turn: Type.Integer(),
  silences: Type.Integer(),
  /** Waits to be spoken, in order. */
  offered: Type.Array(offerSchema),
  /** Keys of what Twilio was told to speak. */
  said: Type.Array(Type.String()),
  /** Of what was spoken last. */
  links: Type.Array(Type.String()),
  /** What Twilio was answered last, by what it asked: what it asks again is answered the same. */
  replies: Type.Array(Type.Object({ at: Type.String(), twiml: Type.String() })),
  /** A person has taken the call at their telephone. */
  taken: Type.Boolean(),
  /** The turn at which links were asked for, before they were sent. */
  texting: Type.Union([Type.String(), Type.Null()]),
  textingSince: Type.Integer(),
  /** Who is leaving a message: what Twilio tells of it later does not say so. */
  caller: Type.Optional(Type.String()),
});

export type CallRecord = Static<typeof recordSchema>;

const fresh: CallRecord = {
  version: 0,
  phase: "talking",
  until: 0,
  turn: 0,
  silences: 0,
  offered: [],
  said: [],
  links: [],
  replies: [],
  taken: false,
  texting: null,
  textingSince: 0,
};

const repliesMax = 6;
const saidMax = 60;
const attemptsMax = 50;

/** How each running call stands: in the database, for another process may take the next turn, or the same once more. */
export interface Calls {
  /** undefined: nothing is known of it (any more). */
  read(callSid: string): Promise<CallRecord | undefined>;
  /**
   * Stores what `decide` makes of the call as it stands, and gives back what it says besides; undefined: no change.
   * `decide` may run again, on what somebody else has stored meanwhile.
   */
  change<T>(callSid: string, decide: (call: CallRecord) => readonly [Partial<CallRecord> | undefined, T]): Promise<T>;
}

export function createCalls(host: Pick<ChannelHost, "recall" | "exchange" | "announce">): Calls {
  const nameOf = (callSid: string): string => `call:${callSid}`;

  return {
    async read(callSid) {
      return parse(await host.recall(nameOf(callSid)));
    },
    async change(callSid, decide) {
      for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
        const stored = await host.recall(nameOf(callSid));
        const call = parse(stored) ?? fresh;
        const [changed, told] = decide(call);
        if (changed === undefined) return told;
        const next: CallRecord = { ...call, ...changed, version: call.version + 1 };
        if (await host.exchange(nameOf(callSid), stored, JSON.stringify(next), lifetimeMs)) {
          // Whoever waits for a change of the call looks again.
          host.announce(callSid);
          return told;
        }
      }
      throw new Error("a call's state changed again and again while it was to be stored");
    },
  };
}

function parse(stored: string | null): CallRecord | undefined {
  const value: unknown = stored === null ? null : JSON.parse(stored);
  return Value.Check(recordSchema, value) ? value : undefined;
}

export const replyTo = (call: CallRecord | undefined, at: string): string | undefined =>
  call?.replies.find((reply) => reply.at === at)?.twiml;

/**
 * What a turn is answered with that the call has gone on from, because we have led it elsewhere: Twilio passes over what
 * answers that turn, so that nothing may be spoken by it. undefined: the call is at this turn.
 */
export function leftBehind(call: CallRecord, turn: string | undefined): string | undefined {
  return turn !== undefined && Number.parseInt(turn, 10) < call.turn ? call.replies.at(-1)?.twiml : undefined;
}

/** The change that stores an answer to Twilio. */
export const withReply = (call: CallRecord, at: string, twiml: string): Pick<CallRecord, "replies"> => ({
  replies: [...call.replies.filter((reply) => reply.at !== at), { at, twiml }].slice(-repliesMax),
});

export const withSaid = (call: CallRecord, keys: readonly string[]): Pick<CallRecord, "said" | "offered"> => ({
  said: [...call.said, ...keys].slice(-saidMax),
  offered: call.offered.filter(({ key }) => !keys.includes(key)),
});

/** What is left of a call that has ended: nothing of what was said. */
export const ended = (call: CallRecord): Partial<CallRecord> => ({
  ...fresh,
  said: call.said,
  taken: call.taken,
  turn: call.turn,
  ...(call.caller === undefined ? {} : { caller: call.caller }),
  phase: "over",
});
