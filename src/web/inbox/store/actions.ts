import { signal } from "@preact/signals";
import type { ConversationView, MacroView, Me, Person, View } from "#http/inbox/wire.ts";
import type { Action } from "./api.ts";
import { RequestFailed } from "#web/shared/request.ts";
import type { Notices } from "#web/shared/ui/notices.ts";
import { api, refusalOf } from "./api.ts";
import { hashOf } from "./address.ts";
import type { ConversationSync } from "./conversation-sync.ts";
import type { ListState } from "./list-state.ts";
import type { OpenConversation } from "./open-conversation.ts";

const doneTexts = {
  claim: "The conversation is yours.",
  release: "Released: the assistant answers again from the next message.",
  archive: "Archived.",
  reopen: "Open again.",
  snooze: "Snoozed.",
} as const;

/** How long the button that undoes is shown. */
const undoMs = 10_000;

export type Actions = ReturnType<typeof createActions>;

/** Changes of the open conversation, one at a time. */
export function createActions(
  me: Me,
  list: ListState,
  open: OpenConversation,
  notices: Notices,
  sync: Pick<ConversationSync, "receive" | "load">,
  refresh: (withConversation: boolean) => void,
) {
  const busy = signal(false);
  let undoable: { readonly id: string; readonly view: View; readonly snoozedUntil: number | null } | undefined;

  /** Returns false when the change was not made; the agent was told why. `conflict`: another agent has the conversation. */
  async function change(
    work: () => Promise<ConversationView>,
    conflict: (name: string) => void = (name) => notices.problem(`${name} already claimed this conversation.`),
  ): Promise<boolean> {
    if (busy.value) return false;
    busy.value = true;
    try {
      sync.receive(await work());
      notices.clearProblem();
      refresh(false);
      return true;
    } catch (error) {
      const other = otherAssignee(error, me);
      const newer = refusalOf(error)?.newer;
      if (newer !== undefined) open.unseen.value = newer;
      else if (other !== undefined) conflict(other.name);
      else notices.report(error);
      if (error instanceof RequestFailed && error.status === 409) refresh(true);
      return false;
    } finally {
      busy.value = false;
    }
  }

  const changeOpen = async (work: (id: string) => Promise<ConversationView>): Promise<boolean> => {
    const id = open.selected.value;
    return id === undefined ? false : change(() => work(id));
  };

  /** The answer to a change has the newest messages only. */
  async function loadIfOlder(messageId: string): Promise<void> {
    if (open.conversation.value?.messages.every(({ id }) => id !== messageId) === true) await sync.load();
  }

  /** Undoes the last resolve of this page, and opens that conversation. */
  async function undo(): Promise<void> {
    if (undoable === undefined) return notices.problem("There is nothing to undo.");
    const { id, view, snoozedUntil } = undoable;
    if (!(await change(() => api.act(id, "undo-resolve", { snoozedUntil })))) return;
    undoable = undefined;
    notices.done("Reopened.");
    location.hash = hashOf(view, id);
  }

  return {
    busy,
    change,
    async act(action: Action, body: object = {}): Promise<boolean> {
      const { selected, conversation } = open;
      const [id, before] = [selected.value, conversation.value];
      if (id === undefined) return false;
      const view = list.view.value;
      const next = list.neighbour(id);
      // The server decides by itself whether a claim is a conflict.
      const expected = action === "claim" || before === undefined ? {} : { seen: expectedOf(before) };
      if (!(await changeOpen(() => api.act(id, action, { ...expected, ...body })))) return false;
      if (action === "resolve") {
        undoable = { id, view, snoozedUntil: before?.snoozedUntil ?? null };
        const button = { label: "Undo", shortcut: "u", run: () => void undo() };
        notices.show({ kind: "done", text: "Resolved.", action: button }, undoMs);
        if (selected.value === id && next !== undefined) location.hash = hashOf(list.view.value, next);
      }
      const text = (doneTexts as Partial<Record<Action, string>>)[action];
      if (text !== undefined) notices.done(text);
      return true;
    },
    undo,
    /** Called when several were resolved at once: the one before is not the last any more. */
    forgetResolve: () => void (undoable = undefined),
    /** Does all actions of a macro, or none. `clientId`: the same one when it is tried again. */
    async applyMacro({ name, version }: MacroView, clientId: string): Promise<boolean> {
      const before = open.conversation.value;
      if (before === undefined) return false;
      const { id, lastSeq, snoozedUntil } = before;
      const view = list.view.value;
      const body = { name, version, clientId, seen: expectedOf(before), lastSeq };
      if (!(await changeOpen(() => api.act(id, "macro", body)))) return false;
      const isResolved = before.status !== "resolved" && open.conversation.value?.status === "resolved";
      if (isResolved) undoable = { id, view, snoozedUntil };
      notices.show({
        kind: "done",
        text: `Applied ${name}.`,
        ...(isResolved && { action: { label: "Undo resolve", shortcut: "u", run: () => void undo() } }),
      });
      return true;
    },
    edit: (body: object) => changeOpen((id) => api.change(id, body)),
    /** Assigns a conversation to an agent, or (null) to nobody, if it is still as it was when that was offered. */
    async assign(to: Person | null, offered: ConversationView): Promise<void> {
      const body = { to: to?.email ?? null, seen: expectedOf(offered) };
      if (!(await change(() => api.act(offered.id, "assign", body)))) return;
      if (to === null) notices.done(doneTexts.release);
      else if (to.email === me.agent.email) notices.done(doneTexts.claim);
      else notices.done(`Assigned to ${to.name}, who is told of it.`);
    },
    /** Reacts to a customer's message, or (`emoji` null) takes that back. */
    async react(messageId: string, emoji: string | null): Promise<void> {
      if (await changeOpen((id) => api.react(id, messageId, emoji))) await loadIfOlder(messageId);
    },
    /** Changes a sent reply, or (`content` null) deletes it. `was`: the text before the change. */
    async amend(messageId: string, content: string | null, was = ""): Promise<boolean> {
      const done = await changeOpen((id) =>
        content === null ? api.deleteReply(id, messageId) : api.editReply(id, messageId, { content, was }),
      );
      if (!done) return false;
      await loadIfOlder(messageId);
      const isChanging = open.shown.value.messages.some(({ id, changing }) => id === messageId && changing !== null);
      notices.done(`Your reply ${isChanging ? "is being" : "was"} ${content === null ? "deleted" : "changed"}.`);
      return true;
    },
  };
}

/** The agent who has the conversation now, where that is why the request was refused. */
function otherAssignee(error: unknown, me: Me): Person | undefined {
  const assignee = refusalOf(error)?.assignee;
  return assignee === undefined || assignee.email === me.agent.email ? undefined : assignee;
}

const expectedOf = ({ status, assignee }: ConversationView): { status: string; assignedTo: string | null } => ({
  status,
  assignedTo: assignee?.email ?? null,
});
