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
  /** Increases with each change, so that compareAndSet never sees the same state twice. */
  version: Type.Integer(),
  /**
   * `talking`: the call speaks, by estimate until `until`, then listens. `holding`: it waits for an answer, and its next
   * request arrives before `until`. `away`: the caller talks to a person or leaves a message. `over`: it has ended.
   */
  phase: Type.Enum(["talking", "holding", "away", "over"]),
  until: Type.Integer(),
  /** The number of the current turn. */
  turn: Type.Integer(),
  silences: Type.Integer(),
  /** Parts to speak, in order. */
  offered: Type.Array(offerSchema),
  /** Keys of spoken parts. */
  said: Type.Array(Type.String()),
  /** The links of the last answer that had any. */
  links: Type.Array(Type.String()),
  /** The latest answers by step: a repeated request gets the same answer. */
  replies: Type.Array(Type.Object({ at: Type.String(), twiml: Type.String() })),
  /** The dialed person accepted the call. */
  taken: Type.Boolean(),
  /** The step that is sending links, or whose result is unknown. */
  texting: Type.Union([Type.String(), Type.Null()]),
  textingSince: Type.Integer(),
  /** The number of a caller who leaves a message: Twilio's callbacks on the recording lack it. */
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

/** The state of calls. It is in the database because another process may serve the next turn, or repeat the same one. */
export interface Calls {
  /** undefined: the call is unknown or its record expired. */
  read(callSid: string): Promise<CallRecord | undefined>;
  /**
   * Stores the change that `decide` returns (undefined: none) and returns its second value. After a conflict `decide` runs
   * again on the new state, so it must be free of side effects.
   */
  change<T>(callSid: string, decide: (call: CallRecord) => readonly [Partial<CallRecord> | undefined, T]): Promise<T>;
}

export function createCalls(host: Pick<ChannelHost, "state" | "threads">): Calls {
  const nameOf = (callSid: string): string => `call:${callSid}`;

  return {
    async read(callSid) {
      return parse(await host.state.get(nameOf(callSid)));
    },
    async change(callSid, decide) {
      for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
        const stored = await host.state.get(nameOf(callSid));
        const call = parse(stored) ?? fresh;
        const [changed, result] = decide(call);
        if (changed === undefined) return result;
        const next: CallRecord = { ...call, ...changed, version: call.version + 1 };
        if (await host.state.compareAndSet(nameOf(callSid), stored, JSON.stringify(next), lifetimeMs)) {
          // Notifies the waiters of this call, also in other processes.
          host.threads.announce(callSid);
          return result;
        }
      }
      throw new Error("storing a call's state failed: too many conflicts");
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
 * The answer to a turn that the call has left because it was redirected. Twilio ignores the answer to such a turn, so
 * it must not take any parts to speak. undefined: the call is still at this turn.
 */
export function leftBehind(call: CallRecord, turn: string | undefined): string | undefined {
  return turn !== undefined && Number.parseInt(turn, 10) < call.turn ? call.replies.at(-1)?.twiml : undefined;
}

/** The change that stores an answer to Twilio for repeated requests. */
export const withReply = (call: CallRecord, at: string, twiml: string): Pick<CallRecord, "replies"> => ({
  replies: [...call.replies.filter((reply) => reply.at !== at), { at, twiml }].slice(-repliesMax),
});

export const withSaid = (call: CallRecord, keys: readonly string[]): Pick<CallRecord, "said" | "offered"> => ({
  said: [...call.said, ...keys].slice(-saidMax),
  offered: call.offered.filter(({ key }) => !keys.includes(key)),
});

/** The record of an ended call. Texts and links are removed. */
export const ended = (call: CallRecord): Partial<CallRecord> => ({
  ...fresh,
  said: call.said,
  taken: call.taken,
  turn: call.turn,
  ...(call.caller === undefined ? {} : { caller: call.caller }),
  phase: "over",
});
