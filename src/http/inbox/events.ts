import type { FastifyReply } from "fastify";
import { agentTopic, workspaceTopic } from "#queue/signals/topics.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import { conversationOfContext } from "#database/queries/conversations.ts";
import type { LiveEvent } from "./wire.ts";

const heartbeatMs = 20_000;
/** A reader that is this far behind is let go; it comes back and fetches what it missed. */
const unsentBytesMax = 256 * 1_024;
const streamsPerAgentMax = 20;

export interface LiveEvents {
  /** Keeps the response open and tells of every change in the workspace until `stillSignedIn` says no. */
  open(
    reply: FastifyReply,
    agent: { readonly id: string; readonly email: string; readonly workspace_id: string },
    stillSignedIn: () => Promise<boolean>,
  ): void;
  close(): void;
}

type Signal =
  | { readonly kind: "changed"; readonly conversationId: string }
  | { readonly kind: "assigned"; readonly conversationId: string; readonly to: string; readonly by: string | null }
  | { readonly kind: "typing"; readonly accountId: string; readonly thread: string };

export function createLiveEvents(db: Reader, fanout: Fanout, clock: Clock, log: Log): LiveEvents {
  const streams = new Map<string, Set<() => void>>();

  return {
    open(reply, agent, stillSignedIn) {
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        // Proxies that gather answers would hold the events back.
        "x-accel-buffering": "no",
      });
      raw.write("retry: 2000\n\n: connected\n\n");

      const own = streams.get(agent.id) ?? new Set();
      streams.set(agent.id, own);
      // More than anybody has windows: the oldest goes.
      if (own.size >= streamsPerAgentMax) [...own][0]?.();

      let ended = false;
      let stopBeating = (): void => undefined;
      const end = (): void => {
        if (ended) return;
        ended = true;
        stopBeating();
        unsubscribe();
        stopListening();
        own.delete(end);
        if (own.size === 0) streams.delete(agent.id);
        raw.end();
      };
      const write = (text: string): void => {
        if (ended) return;
        if (raw.writableLength > unsentBytesMax) {
          end();
          raw.destroy();
        } else raw.write(text);
      };
      const tell = (event: LiveEvent): void => write(`data: ${JSON.stringify(event)}\n\n`);
      const failed = (error: unknown): void => {
        log.warn({ err: error }, "inbox: live connection failed");
        end();
      };

      const tellOfTyping = async (accountId: string, thread: string): Promise<void> => {
        const row = await conversationOfContext(db, { accountId, contextKey: thread });
        if (row?.workspace_id === agent.workspace_id) tell({ kind: "typing", conversationId: row.id });
      };
      const tellOfAssignment = async (conversationId: string, by: string | null): Promise<void> => {
        const row = await db
          .selectFrom("conversations")
          .select(["id", "customer_name", "customer_email", "customer_phone"])
          .where("id", "=", conversationId)
          .where("workspace_id", "=", agent.workspace_id)
          .executeTakeFirst();
        if (row !== undefined) tell({ kind: "assigned", conversationId, by, customer: customerLabel(row) });
      };
      const unsubscribe = fanout.subscribe(workspaceTopic(agent.workspace_id), (message) => {
        const signal = JSON.parse(message) as Signal;
        switch (signal.kind) {
          case "changed":
            tell({ kind: "changed", conversationId: signal.conversationId });
            break;
          case "assigned":
            if (signal.to === agent.email) tellOfAssignment(signal.conversationId, signal.by).catch(failed);
            break;
          case "typing":
            tellOfTyping(signal.accountId, signal.thread).catch(failed);
            break;
        }
      });
      const endUnlessSignedIn = (): void => {
        stillSignedIn()
          .then((still) => (still ? undefined : end()))
          .catch(failed);
      };
      const stopListening = fanout.subscribe(agentTopic(agent.id), endUnlessSignedIn);
      const checkAndBeat = async (): Promise<void> => {
        if (!(await stillSignedIn())) end();
        if (ended) return;
        write(": \n\n");
        beat();
      };
      const beat = (): void => {
        stopBeating = clock.timer(heartbeatMs, () => void checkAndBeat().catch(failed));
      };
      own.add(end);
      raw.on("close", end);
      raw.on("error", end);
      beat();
      // Who signed out while this was being opened was told of nothing yet.
      endUnlessSignedIn();
    },
    close() {
      for (const own of streams.values()) for (const end of own) end();
    },
  };
}
