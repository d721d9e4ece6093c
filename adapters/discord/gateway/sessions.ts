import type { SessionInfo } from "@discordjs/ws";
import Type from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channels/contract.ts";

const storedSchema = Type.Array(
  Type.Object({
    resumeURL: Type.String(),
    sequence: Type.Integer({ minimum: 0 }),
    sessionId: Type.String(),
    shardCount: Type.Integer({ minimum: 1 }),
    shardId: Type.Integer({ minimum: 0 }),
  }),
);

const key = "discord sessions";
/** A late save only makes Discord resend packets that the host then drops as duplicates. */
const saveEveryMs = 1_000;

/**
 * The sessions with Discord's gateway. The saved sequence is the last one before which all packets are stored, and may be
 * lower than the client's: after a restart Discord resends the rest.
 */
export interface Sessions {
  get(shardId: number): SessionInfo | null;
  /** Takes the client's state of a session; null: the session has ended. */
  set(shardId: number, info: SessionInfo | null): void;
  /** Registers a received packet; returns a function to call once it is stored. */
  began(shardId: number, sequence: number): () => void;
  /** Ignores later calls of `set`: a client that is destroyed drops its sessions, which must remain resumable. */
  keep(): void;
  save(): Promise<void>;
}

export async function createSessions(host: Pick<ChannelHost, "state" | "clock" | "log">): Promise<Sessions> {
  const known = new Map<number, SessionInfo>();
  const running = new Map<number, Set<number>>();
  /** The highest sequence received, per shard. The client counts a packet before it emits it. */
  const arrived = new Map<number, number>();
  let keeping = false;
  let saved = (await host.state.get(key)) ?? "";
  let saving: Promise<void> | undefined;
  let timed = false;
  for (const info of read(saved)) {
    known.set(info.shardId, info);
    arrived.set(info.shardId, info.sequence);
  }

  function durable(): string {
    const infos = [...known.values()].map((info) => {
      const first = Math.min(...(running.get(info.shardId) ?? []));
      return { ...info, sequence: Math.min(arrived.get(info.shardId) ?? 0, first - 1) };
    });
    return JSON.stringify(infos);
  }

  async function save(): Promise<void> {
    const text = durable();
    if (text === saved) return;
    await host.state.set(key, text);
    saved = text;
  }

  function saveSoon(): void {
    if (timed) return;
    timed = true;
    host.clock.timer(saveEveryMs, () => {
      timed = false;
      saving = save().catch((error: unknown) =>
        host.log.warn({ err: error }, "discord: storing the read position failed"),
      );
    });
  }

  return {
    get: (shardId) => known.get(shardId) ?? null,
    set(shardId, info) {
      if (keeping) return;
      const before = known.get(shardId);
      if (info === null) known.delete(shardId);
      else known.set(shardId, info);
      if (before?.sessionId !== info?.sessionId) {
        running.delete(shardId);
        arrived.delete(shardId);
      }
      saveSoon();
    },
    began(shardId, sequence) {
      const own = running.get(shardId) ?? new Set();
      running.set(shardId, own);
      own.add(sequence);
      arrived.set(shardId, Math.max(sequence, arrived.get(shardId) ?? 0));
      return () => {
        own.delete(sequence);
        saveSoon();
      };
    },
    keep() {
      keeping = true;
    },
    async save() {
      await saving;
      await save();
    },
  };
}

function read(text: string): readonly SessionInfo[] {
  if (text === "") return [];
  const value: unknown = JSON.parse(text);
  return Value.Check(storedSchema, value) ? value : [];
}
