import type { Handover, OutboundNote, ThreadContext } from "#channels/contract.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { stateEvent } from "./inbound.ts";
import { findOurs } from "./sent-parts.ts";
import type { Conversation } from "./payloads.ts";
import { readConversation } from "./payloads.ts";
import { htmlOf } from "./render.ts";
import type { Sending } from "./send.ts";
import { readThread } from "./send.ts";

/** Intercom has no snooze without an end: a year replaces it. A customer's message ends any snooze. */
const endlessMs = 365 * 86_400_000;
/** A snooze longer than this counts as one without an end. */
const nearlyEndlessMs = 300 * 86_400_000;

/** Reads the state first: a change whose answer was lost must not be made twice. */
export async function setState(
  { api, settings, host }: Sending,
  state: PlatformStatus,
  { thread, signal }: ThreadContext,
): Promise<void> {
  const now = host.clock.now();
  const before = await readThread(api, thread, signal);
  if (isNoOp(before, state, now)) return;
  const { adminId } = settings;
  const answer = await api.call((client) =>
    client.conversations.manage(
      { conversation_id: thread, body: bodyOf(state, adminId, now) },
      { abortSignal: signal },
    ),
  );
  // Records this change's place in Intercom's order: earlier changes that are delivered late must not undo it.
  const after = readConversation(answer);
  const ours = after?.parts.findLast(
    ({ author, part_type: type }) =>
      author.type === "admin" && String(author.id) === adminId && /^(?:close|open|snoozed|unsnoozed)$/.test(type),
  );
  if (after === null || after === undefined || ours === undefined) return;
  await host.accept(stateEvent(after, ours, { kind: "ours" }, null));
}

function bodyOf(state: PlatformStatus, adminId: string, now: number) {
  switch (state.kind) {
    case "open":
      return { message_type: "open", admin_id: adminId } as const;
    case "closed":
      return { message_type: "close", type: "admin", admin_id: adminId } as const;
    case "snoozed":
      return {
        message_type: "snoozed",
        admin_id: adminId,
        snoozed_until: Math.ceil((state.until ?? now + endlessMs) / 1_000),
      } as const;
  }
}

function isNoOp({ state, open, snoozed_until: until }: Conversation, target: PlatformStatus, now: number): boolean {
  const current = state ?? (open === false ? "closed" : "open");
  if (target.kind !== "snoozed") return current === target.kind;
  // The snooze has already ended.
  if (target.until !== null && target.until <= now) return true;
  if (current !== "snoozed" || until === null || until === undefined) return false;
  const left = until * 1_000 - now;
  return target.until === null ? left > nearlyEndlessMs : Math.abs(until * 1_000 - target.until) < 1_000;
}

export async function addNote(
  sending: Sending,
  { text, author, createdAt }: OutboundNote,
  { thread, signal }: ThreadContext,
): Promise<void> {
  const html = htmlOf([
    { text: `${author}:`, styles: [{ kind: "bold" }] },
    { text: `\n${text}`, styles: [] },
  ]);
  const before = await readThread(sending.api, thread, signal);
  await writeNote(sending, before, { html, createdAt }, { thread, signal });
}

/** Adds a note with the reason, then assigns the conversation, for the teammates who work in Intercom. */
export async function handOver(
  sending: Sending,
  { reason: handoverReason, by, at }: Handover,
  { thread, signal }: ThreadContext,
): Promise<void> {
  const { api, settings } = sending;
  const { adminId, handoverTo } = settings;
  const html = htmlOf([
    {
      text: `${by === null ? "The bot" : by} has handed this conversation over to people`,
      styles: [{ kind: "bold" }],
    },
    { text: handoverReason === null ? "." : `: ${handoverReason}.`, styles: [] },
  ]);
  const before = await readThread(api, thread, signal);
  await writeNote(sending, before, { html, createdAt: at }, { thread, signal });
  for (const { type, id } of handoverTo) {
    const now = type === "team" ? before.team_assignee_id : before.admin_assignee_id;
    if (String(now ?? "") === id) continue;
    const body = { message_type: "assignment", type, admin_id: adminId, assignee_id: id } as const;
    try {
      await api.call((client) =>
        client.conversations.manage({ conversation_id: thread, body }, { abortSignal: signal }),
      );
    } catch (error) {
      if (!(error instanceof DeliveryError) || error.outcome !== "rejected") throw error;
      // The error names the setting to fix.
      const reason = `it is not assigned to ${type} ${id}: check \`handover_to_${type}\` (${error.message})`;
      throw new DeliveryError("rejected", reason);
    }
  }
}

async function writeNote(
  { api, settings: { adminId } }: Sending,
  before: Conversation,
  { html, createdAt }: { readonly html: string; readonly createdAt: number },
  { thread, signal }: ThreadContext,
): Promise<void> {
  if (findOurs(before, { adminId, kind: "note", html, since: createdAt }) !== undefined) return;
  await api.call((client) =>
    client.conversations.reply(
      {
        conversation_id: thread,
        body: { message_type: "note", type: "admin", admin_id: adminId, body: html },
      },
      { abortSignal: signal },
    ),
  );
}
