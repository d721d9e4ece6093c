import { Problem } from "#domain/problem.ts";
import type { Reader } from "#database/contract.ts";
import type { Edit, Entry, SettingsDependencies } from "./change.ts";
import { changeSettings, readStored, requireOwn } from "./change.ts";
import { checkedWorkspace, forPeople } from "./check.ts";

export interface SavedReply {
  readonly name: string;
  readonly text: string;
}

type Replies = Readonly<Record<string, string>>;

/** The saved replies by name, and whether the configuration file has them. */
export async function listSavedReplies(db: Reader, workspaceId: string) {
  const { settings, declared } = await readStored(db, workspaceId);
  const replies = Object.entries(settings.savedReplies).map(([name, text]): SavedReply => ({ name, text }));
  return {
    saved_replies: replies.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    managed_by_file: declared.has("savedReplies"),
  };
}

export function addSavedReply(dependencies: SettingsDependencies, edit: Edit, reply: SavedReply): Promise<SavedReply> {
  return editReplies(dependencies, edit, (replies) => {
    requireFree(replies, reply.name);
    return {
      replies: { ...replies, [reply.name]: reply.text },
      entry: { action: "saved_reply_added", subject: reply.name, to: forPeople(reply.text) },
      result: reply,
    };
  });
}

export function changeSavedReply(
  dependencies: SettingsDependencies,
  edit: Edit,
  name: string,
  change: Partial<SavedReply>,
): Promise<SavedReply> {
  return editReplies(dependencies, edit, (replies) => {
    const before = textOf(replies, name);
    const next = { name, text: before, ...change };
    if (next.name !== name) requireFree(replies, next.name);
    const { [name]: _, ...others } = replies;
    return {
      replies: { ...others, [next.name]: next.text },
      entry: { action: "saved_reply_changed", subject: next.name, from: forPeople(before), to: forPeople(next.text) },
      result: next,
    };
  });
}

export function removeSavedReply(dependencies: SettingsDependencies, edit: Edit, name: string): Promise<void> {
  return editReplies(dependencies, edit, (replies) => {
    const from = forPeople(textOf(replies, name));
    const { [name]: _, ...others } = replies;
    return { replies: others, entry: { action: "saved_reply_removed", subject: name, from }, result: undefined };
  });
}

function editReplies<T>(
  dependencies: SettingsDependencies,
  edit: Edit,
  change: (replies: Replies) => { readonly replies: Replies; readonly entry: Entry; readonly result: T },
): Promise<T> {
  return changeSettings(dependencies, edit, (workspace) => {
    requireOwn(workspace, "savedReplies", "saved_replies");
    const { replies, entry, result } = change(workspace.settings.savedReplies);
    const { savedReplies = {} } = checkedWorkspace({ saved_replies: replies }).settings;
    return { stored: { ...workspace.stored, savedReplies }, entries: [entry], result };
  });
}

function textOf(replies: Replies, name: string): string {
  const text = Object.hasOwn(replies, name) ? replies[name] : undefined;
  if (text === undefined) throw new Problem("not_found", "There is no saved reply of this name.");
  return text;
}

function requireFree(replies: Replies, name: string): void {
  if (Object.hasOwn(replies, name)) throw new Problem("already_exists", `name: there is a saved reply named ${name}.`);
}
