export type Mode = "reply" | "note";

/** What was written and not sent. `clientId` names the reply, so that sending it again is sending the same one. */
export interface Draft {
  readonly mode: Mode;
  readonly reply: string;
  readonly note: string;
  readonly clientId: string;
  /** Uploaded, and not sent yet. */
  readonly files: readonly DraftFile[];
  readonly at: number;
}

export interface DraftFile {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

const keptMs = 30 * 86_400_000;

export interface Drafts {
  read(conversationId: string): Draft;
  write(conversationId: string, change: Partial<Omit<Draft, "at">>): void;
  has(conversationId: string): boolean;
}

/**
 * Drafts in the browser's storage, for each agent; where storage is refused, for as long as the page is open. What another
 * window writes, or has sent, is so here too: it would be sent twice.
 */
export function createDrafts(agent: string, changedElsewhere: () => void): Drafts {
  const prefix = `parley.inbox.draft.${agent}.`;
  const memory = new Map<string, Draft>();
  for (let index = 0; index < localStorage.length; index += 1) {
    const key = localStorage.key(index);
    if (key === null || !key.startsWith(prefix)) continue;
    const draft = parse(localStorage.getItem(key));
    if (draft !== undefined && draft.at > Date.now() - keptMs) memory.set(key.slice(prefix.length), draft);
    else localStorage.removeItem(key);
  }
  const fresh = (): Draft => ({
    mode: "reply",
    reply: "",
    note: "",
    clientId: newClientId(),
    files: [],
    at: Date.now(),
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(prefix) !== true) return;
    const id = key.slice(prefix.length);
    // Whether a note or a reply is being written is each window's own: nothing becomes a reply under somebody's hands.
    const mode = memory.get(id)?.mode;
    memory.set(id, { ...(parse(newValue) ?? fresh()), ...(mode === undefined ? {} : { mode }) });
    changedElsewhere();
  });

  return {
    read: (id) => memory.get(id) ?? fresh(),
    write(id, change) {
      const draft: Draft = { ...(memory.get(id) ?? fresh()), ...change, at: Date.now() };
      const empty = draft.reply === "" && draft.note === "" && draft.files.length === 0;
      memory.set(id, draft);
      try {
        if (empty) localStorage.removeItem(prefix + id);
        else localStorage.setItem(prefix + id, JSON.stringify(draft));
      } catch {
        // Full or refused: memory has it.
      }
    },
    has(id) {
      const draft = memory.get(id);
      return draft !== undefined && (draft.reply.trim() !== "" || draft.note.trim() !== "" || draft.files.length > 0);
    },
  };
}

export const newClientId = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

function parse(text: string | null): Draft | undefined {
  try {
    const draft: unknown = JSON.parse(text ?? "null");
    if (typeof draft !== "object" || draft === null) return undefined;
    const { mode, reply, note, clientId, files, at } = draft as Partial<Record<keyof Draft, unknown>>;
    if (typeof reply !== "string" || typeof note !== "string" || typeof clientId !== "string" || typeof at !== "number")
      return undefined;
    return {
      mode: mode === "note" ? "note" : "reply",
      reply,
      note,
      clientId,
      files: Array.isArray(files) ? files.filter(isFile) : [],
      at,
    };
  } catch {
    return undefined;
  }
}

function isFile(value: unknown): value is DraftFile {
  const { id, name, bytes } = (value ?? {}) as Partial<Record<keyof DraftFile, unknown>>;
  return typeof id === "string" && typeof name === "string" && typeof bytes === "number";
}
