import { newId } from "#domain/ids.ts";
import { pictureTypeOf } from "#domain/pictures.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { Files } from "#files/contract.ts";
import { recordChange } from "#admin/audit.ts";
import type { AgentOf } from "./agents.ts";
import { requireAgent } from "./agents.ts";
import { dropAvatar } from "./drop-avatar.ts";

export const avatarBytesMax = 1_048_576;

interface AvatarDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: Pick<Files, "store">;
}

/** Stores the picture that customers see with the agent's messages. Its id is the only key to it. */
export async function setAvatar(
  { store, clock, files }: AvatarDependencies,
  { workspaceId, agentId, by }: AgentOf,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<string> {
  const type = pictureTypeOf(bytes);
  if (type === undefined) throw new Problem("unsupported_media_type", "file: choose a PNG, JPEG or WebP picture.");
  const id = newId("file", clock.now());
  await files.store({ workspaceId, id }, oneChunk(bytes), type, avatarBytesMax, signal);
  await store.write(async (tx) => {
    const now = clock.now();
    const { email } = await requireAgent(tx, workspaceId, agentId);
    await dropAvatar(tx, workspaceId, agentId, now);
    await tx.updateTable("agents").set({ avatar: id, avatar_type: type }).where("id", "=", agentId).execute();
    const subject = `picture of ${email}`;
    await recordChange(tx, { workspaceId, by, action: "agent_changed", subject, to: type, now });
  });
  return id;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export async function removeAvatar(
  { store, clock }: Pick<AvatarDependencies, "store" | "clock">,
  { workspaceId, agentId, by }: AgentOf,
): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now();
    const { email } = await requireAgent(tx, workspaceId, agentId);
    if (!(await dropAvatar(tx, workspaceId, agentId, now))) return;
    const subject = `picture of ${email}`;
    await recordChange(tx, { workspaceId, by, action: "agent_changed", subject, to: "none", now });
  });
}
