import Type from "typebox";
import { Value } from "typebox/value";
import type { Accepted, ChannelHost, InboundEvent } from "#channels/contract.ts";
import type { EventContext, Person } from "./inbound.ts";
import { eventsOf } from "./inbound.ts";
import type { Conversation } from "./payloads.ts";
import type { Settings } from "./config.ts";

/** Takes events from conversations, whether delivered or polled. */
export interface Events {
  /** When the account was first connected, epoch seconds. Older messages are not taken. */
  began(): Promise<number>;
  /** Takes the events since then and returns the number of new ones. Resolves when all are stored, rejects when one is not. */
  take(conversation: Conversation, since: number): Promise<number>;
  deleted(thread: string, at: number): Promise<void>;
  /** Stores the workspace's settings and teammates for all processes. */
  storeWorkspace(workspace: WorkspaceInfo): Promise<void>;
}

export interface WorkspaceInfo {
  readonly identityVerification: boolean;
  readonly people: readonly (Person & { readonly id: string })[];
}

const workspaceSchema = Type.Object({
  identityVerification: Type.Boolean(),
  people: Type.Array(
    Type.Object({ id: Type.String(), email: Type.String(), name: Type.Union([Type.String(), Type.Null()]) }),
  ),
});

const workspaceKey = "workspace";
const beganKey = "began";
const cacheMs = 60_000;

export function createEvents(host: ChannelHost, settings: Settings): Events {
  let cached: { readonly until: number; readonly info: WorkspaceInfo } | undefined;
  let startedAt: number | undefined;

  async function workspaceInfo(): Promise<WorkspaceInfo> {
    if (cached !== undefined && cached.until > host.clock.now()) return cached.info;
    const parsed: unknown = JSON.parse((await host.state.get(workspaceKey)) ?? "null");
    // Customers are unverified until the workspace's settings are known.
    const found = Value.Check(workspaceSchema, parsed) ? parsed : { identityVerification: false, people: [] };
    cached = { until: host.clock.now() + cacheMs, info: found };
    return found;
  }

  async function began(): Promise<number> {
    if (startedAt !== undefined) return startedAt;
    const stored = await host.state.get(beganKey);
    startedAt = stored === null ? Math.floor(host.clock.now() / 1_000) - startMarginS : Number(stored);
    if (stored === null) await host.state.set(beganKey, String(startedAt));
    return startedAt;
  }

  async function take(conversation: Conversation, since: number): Promise<number> {
    const { identityVerification, people } = await workspaceInfo();
    const known: EventContext = {
      appId: settings.appId,
      adminId: settings.adminId,
      baseUrl: settings.baseUrl,
      identityVerification,
      since: Math.max(since, await began()),
      people: new Map(people.map(({ id, ...person }) => [id, person])),
    };
    if (conversation.unreadable > 0) {
      host.log.warn(
        { conversation: conversation.id, parts: conversation.unreadable },
        "intercom: unknown conversation parts skipped",
      );
    }
    const events = await forPeople(conversation, eventsOf(conversation, known));
    // All are passed on before the first await: the host stores them in this order.
    const results: readonly Accepted[] = await Promise.all(events.map((event) => host.accept(event)));
    return results.filter(({ duplicate }) => !duplicate).length;
  }

  /** Leaves a customer to agents when a teammate wrote first, before the conversation existed here. */
  async function forPeople(
    { began: source, teammates, id }: Conversation,
    events: readonly InboundEvent[],
  ): Promise<readonly InboundEvent[]> {
    const isStartedByUs = source?.author.type === "admin" && String(source.author.id) === settings.adminId;
    const others = (teammates?.teammates ?? []).some((each) => String(each.id ?? "") !== settings.adminId);
    const isTheirs = (source?.delivered_as === "admin_initiated" && !isStartedByUs) || others;
    const wroteHere = events.some(({ kind }) => kind === "agent");
    if (!isTheirs || wroteHere || !events.some(({ kind }) => kind === "message")) return events;
    if ((await host.threads.get(String(id))) !== null) return events;
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
    async storeWorkspace(workspace) {
      const value = JSON.stringify(workspace);
      cached = undefined;
      if ((await host.state.get(workspaceKey)) !== value) await host.state.set(workspaceKey, value);
    },
  };
}

/** Intercom's clock may be slow. */
const startMarginS = 60;
