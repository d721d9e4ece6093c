import Type from "typebox";
import { Value } from "typebox/value";
import type { Accepted, ChannelHost, InboundEvent } from "#channels/contract.ts";
import type { Known, Person } from "./inbound.ts";
import { eventsOf } from "./inbound.ts";
import type { Conversation } from "./payloads.ts";
import type { Settings } from "./config.ts";

/** What is taken in of a conversation, whichever way it was told. */
export interface Events {
  /** Since when Parley answers in this workspace, epoch seconds. */
  began(): Promise<number>;
  /** Takes what is new; how many events were. Resolves when all of it is durable, rejects when something is not. */
  take(conversation: Conversation, since: number): Promise<number>;
  deleted(thread: string, at: number): Promise<void>;
  /** Keeps what was asked of Intercom, for all processes. */
  learn(workspace: Learned): Promise<void>;
}

export interface Learned {
  readonly identityVerification: boolean;
  readonly people: readonly (Person & { readonly id: string })[];
}

const learnedSchema = Type.Object({
  identityVerification: Type.Boolean(),
  people: Type.Array(
    Type.Object({ id: Type.String(), email: Type.String(), name: Type.Union([Type.String(), Type.Null()]) }),
  ),
});

const learnedKey = "workspace";
const beganKey = "began";
const cacheMs = 60_000;

export function createEvents(host: ChannelHost, settings: Settings): Events {
  let cached: { readonly until: number; readonly learned: Learned } | undefined;
  let begun: number | undefined;

  async function learned(): Promise<Learned> {
    if (cached !== undefined && cached.until > host.clock.now()) return cached.learned;
    const parsed: unknown = JSON.parse((await host.recall(learnedKey)) ?? "null");
    // Until Intercom has been asked, nobody is verified.
    const found = Value.Check(learnedSchema, parsed) ? parsed : { identityVerification: false, people: [] };
    cached = { until: host.clock.now() + cacheMs, learned: found };
    return found;
  }

  async function began(): Promise<number> {
    if (begun !== undefined) return begun;
    const kept = await host.recall(beganKey);
    begun = kept === null ? Math.floor(host.clock.now() / 1_000) - startMarginS : Number(kept);
    if (kept === null) await host.remember(beganKey, String(begun));
    return begun;
  }

  async function take(conversation: Conversation, since: number): Promise<number> {
    const { identityVerification, people } = await learned();
    const known: Known = {
      appId: settings.appId,
      adminId: settings.adminId,
      baseUrl: settings.baseUrl,
      identityVerification,
      since: Math.max(since, await began()),
      people: new Map(people.map(({ id, ...person }) => [id, person])),
    };
    if (conversation.strange > 0) {
      host.log.warn(
        { conversation: conversation.id, parts: conversation.strange },
        "intercom: unknown conversation parts skipped",
      );
    }
    const events = await forPeople(conversation, eventsOf(conversation, known));
    // Handed over together, so that they are stored in this order.
    const results: readonly Accepted[] = await Promise.all(events.map((event) => host.accept(event)));
    return results.filter(({ duplicate }) => !duplicate).length;
  }

  /** A customer who answers what a teammate wrote to them, before there was a conversation here, is that teammate's. */
  async function forPeople(
    { began: source, teammates, id }: Conversation,
    events: readonly InboundEvent[],
  ): Promise<readonly InboundEvent[]> {
    const isBegunByUs = source?.author.type === "admin" && String(source.author.id) === settings.adminId;
    const others = (teammates?.teammates ?? []).some((each) => String(each.id ?? "") !== settings.adminId);
    const isTheirs = (source?.delivered_as === "admin_initiated" && !isBegunByUs) || others;
    const wroteHere = events.some(({ kind }) => kind === "agent");
    if (!isTheirs || wroteHere || !events.some(({ kind }) => kind === "message")) return events;
    if ((await host.thread(String(id))) !== null) return events;
    const peopleOnly = "A teammate has written to this customer in Intercom before, so the bot leaves it to people.";
    return events.map((event) => (event.kind === "message" ? { ...event, peopleOnly } : event));
  }

  return {
    began,
    take,
    async deleted(thread, at) {
      const base = { thread, sentAt: at * 1_000 };
      await Promise.all([
        host.accept({
          ...base,
          kind: "notice",
          externalId: `${thread}:deleted`,
          text: "The conversation was deleted in Intercom: nothing can be sent to the customer there any more.",
        }),
        host.accept({
          ...base,
          kind: "state",
          externalId: `${thread}:deleted:state`,
          change: { kind: "closed" },
          by: null,
          order: "~",
        }),
      ]);
    },
    async learn(workspace) {
      const value = JSON.stringify(workspace);
      cached = undefined;
      if ((await host.recall(learnedKey)) !== value) await host.remember(learnedKey, value);
    },
  };
}

/** Intercom's clock may be a little behind. */
const startMarginS = 60;
