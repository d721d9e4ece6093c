import type { FastifyReply } from "fastify";
import { agentTopic, workspaceTopic } from "#queue/signals/topics.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";
import { lastingSessions } from "#admin/team/sessions.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import { conversationOfContext } from "#database/queries/conversations.ts";
import type { LiveEvent } from "./wire.ts";

const heartbeatMs = 20_000;
/** A session that ended in another process is noticed after this time, also without Redis. */
const sessionsMs = 500;
/** A slower reader is disconnected. It reconnects and fetches what it missed. */
const unsentBytesMax = 256 * 1_024;
const streamsPerAgentMax = 20;

export interface LiveEvents {
  /** Streams every change in the workspace until `stillSignedIn` returns false or the session of `token` ends. */
  open(
    reply: FastifyReply,
    agent: { readonly id: string; readonly email: string; readonly workspace_id: string },
    token: string,
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
  const sessions = createSessionWatch(db, clock, log);

  return {
    open(reply, agent, token, stillSignedIn) {
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        // Without it, proxies buffer the events.
        "x-accel-buffering": "no",
      });
      raw.write("retry: 2000\n\n: connected\n\n");

      const own = streams.get(agent.id) ?? new Set();
      streams.set(agent.id, own);
      // More than an agent has windows: closes the oldest.
      if (own.size >= streamsPerAgentMax) [...own][0]?.();

      let ended = false;
      let stopHeartbeat = (): void => undefined;
      const end = (): void => {
        if (ended) return;
        ended = true;
        stopHeartbeat();
        unsubscribe();
        stopListening();
        stopWatching();
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
      const emit = (event: LiveEvent): void => write(`data: ${JSON.stringify(event)}\n\n`);
      const failed = (error: unknown): void => {
        log.warn({ err: error }, "inbox: live connection failed");
        end();
      };

      const emitFound = (found: Promise<LiveEvent | undefined>): void => {
        found.then((event) => event && emit(event)).catch(failed);
      };
      const unsubscribe = fanout.subscribe(workspaceTopic(agent.workspace_id), (message) => {
        const signal = JSON.parse(message) as Signal;
        switch (signal.kind) {
          case "changed":
            emit({ kind: "changed", conversationId: signal.conversationId });
            break;
          case "assigned":
            if (signal.to === agent.email) emitFound(assignmentIn(db, agent.workspace_id, signal));
            break;
          case "typing":
            emitFound(typingIn(db, agent.workspace_id, signal));
            break;
        }
      });
      const endUnlessSignedIn = (): void => {
        stillSignedIn()
          .then((still) => (still ? undefined : end()))
          .catch(failed);
      };
      const stopListening = fanout.subscribe(agentTopic(agent.id), endUnlessSignedIn);
      const stopWatching = sessions.watch(token, end);
      const checkSession = async (): Promise<void> => {
        if (!(await stillSignedIn())) end();
        if (ended) return;
        write(": \n\n");
        nextHeartbeat();
      };
      const nextHeartbeat = (): void => {
        stopHeartbeat = clock.timer(heartbeatMs, () => void checkSession().catch(failed));
      };
      own.add(end);
      raw.on("close", end);
      raw.on("error", end);
      nextHeartbeat();
      // The agent may have signed out before the subscription.
      endUnlessSignedIn();
    },
    close() {
      for (const own of streams.values()) for (const end of own) end();
    },
  };
}

async function assignmentIn(
  db: Reader,
  workspaceId: string,
  { conversationId, by }: Extract<Signal, { kind: "assigned" }>,
): Promise<LiveEvent | undefined> {
  const row = await db
    .selectFrom("conversations")
    .select(["id", "customer_name", "customer_email", "customer_phone"])
    .where("id", "=", conversationId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row && { kind: "assigned", conversationId, by, customer: customerLabel(row) };
}

async function typingIn(
  db: Reader,
  workspaceId: string,
  { accountId, thread }: Extract<Signal, { kind: "typing" }>,
): Promise<LiveEvent | undefined> {
  const row = await conversationOfContext(db, { accountId, contextKey: thread });
  return row?.workspace_id === workspaceId ? { kind: "typing", conversationId: row.id } : undefined;
}

/** Looks for ended sessions, with one query for all streams of this process. */
function createSessionWatch(db: Reader, clock: Clock, log: Log) {
  const watched = new Map<string, Set<() => void>>();
  let stop: (() => void) | undefined;

  async function look(): Promise<void> {
    const lasting = await lastingSessions(db, watched.keys(), clock.now());
    for (const [token, ends] of watched) if (!lasting.has(token)) for (const end of ends) end();
  }

  function next(): void {
    const cancel = clock.timer(sessionsMs, () => {
      void look()
        .catch((error: unknown) => log.warn({ err: error }, "inbox: looking for ended sessions failed, retrying"))
        .then(() => {
          if (stop === cancel) next();
        });
    });
    stop = cancel;
  }

  return {
    /** Calls `end` when the session ends. Returns a function that stops watching. */
    watch(token: string, end: () => void): () => void {
      const ends = watched.get(token) ?? new Set();
      watched.set(token, ends.add(end));
      if (stop === undefined) next();
      return () => {
        ends.delete(end);
        if (ends.size === 0) watched.delete(token);
        if (watched.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}
