import { computed, signal } from "@preact/signals";

export type Mode = "reply" | "note";

/** Unsent text and files. `clientId` identifies the reply, so that a retry does not send it twice. */
export interface Draft {
  readonly mode: Mode;
  readonly reply: string;
  readonly note: string;
  readonly clientId: string;
  /** Uploaded, and not sent yet. */
  readonly files: readonly DraftFile[];
  /** The message that the reply answers; null: none in particular. */
  readonly answered: AnsweredMessage | null;
  readonly at: number;
}

export interface AnsweredMessage {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

export interface DraftFile {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

const keptMs = 30 * 86_400_000;

export type Drafts = ReturnType<typeof createDrafts>;

/**
 * Drafts in the browser's storage, for each agent; in memory only where storage is refused. Drafts follow what another
 * window writes or sends: otherwise a reply could be sent twice.
 */
export function createDrafts(agent: string) {
  const prefix = `parley.inbox.draft.${agent}.`;
  const drafts = signal(readStorage(prefix));
  const keep = (id: string, draft: Draft): void => {
    drafts.value = new Map(drafts.value).set(id, draft);
  };
  const read = (id: string): Draft => drafts.value.get(id) ?? emptyDraft();

  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(prefix) !== true) return;
    const id = key.slice(prefix.length);
    // Each window has its own mode: a note must not become a reply while it is being written.
    const mode = drafts.value.get(id)?.mode;
    keep(id, { ...(parse(newValue) ?? emptyDraft()), ...(mode === undefined ? {} : { mode }) });
  });

  // A text, so that the list renders again only when another conversation has a draft.
  const written = computed(() => [...drafts.value].flatMap(([id, draft]) => (isWritten(draft) ? [id] : [])).join());

  return {
    read,
    write(id: string, change: Partial<Omit<Draft, "at">>): void {
      const draft: Draft = { ...read(id), ...change, at: Date.now() };
      const isEmpty = draft.reply === "" && draft.note === "" && draft.files.length === 0 && draft.answered === null;
      keep(id, draft);
      try {
        if (isEmpty) localStorage.removeItem(prefix + id);
        else localStorage.setItem(prefix + id, JSON.stringify(draft));
      } catch {
        // Storage is full or refused: the draft is kept in memory.
      }
    },
    /** The conversations with a draft. */
    ids: computed<ReadonlySet<string>>(() => new Set(written.value.split(","))),
  };
}

export const newClientId = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

const emptyDraft = (): Draft => ({
  mode: "reply",
  reply: "",
  note: "",
  clientId: newClientId(),
  files: [],
  answered: null,
  at: Date.now(),
});

const isWritten = ({ reply, note, files }: Draft): boolean =>
  reply.trim() !== "" || note.trim() !== "" || files.length > 0;

/** Also removes drafts that are too old or cannot be read. */
function readStorage(prefix: string): ReadonlyMap<string, Draft> {
  const drafts = new Map<string, Draft>();
  for (const key of Object.keys(localStorage).filter((each) => each.startsWith(prefix))) {
    const draft = parse(localStorage.getItem(key));
    if (draft !== undefined && draft.at > Date.now() - keptMs) drafts.set(key.slice(prefix.length), draft);
    else localStorage.removeItem(key);
  }
  return drafts;
}

function parse(text: string | null): Draft | undefined {
  try {
    const draft: unknown = JSON.parse(text ?? "null");
    if (typeof draft !== "object" || draft === null) return undefined;
    const { mode, reply, note, clientId, files, answered, at } = draft as Partial<Record<keyof Draft, unknown>>;
    if (typeof reply !== "string" || typeof note !== "string" || typeof clientId !== "string" || typeof at !== "number")
      return undefined;
    return {
      mode: mode === "note" ? "note" : "reply",
      reply,
      note,
      clientId,
      files: Array.isArray(files) ? files.filter(isFile) : [],
      answered: isAnswered(answered) ? answered : null,
      at,
    };
  } catch {
    return undefined;
  }
}

function isAnswered(value: unknown): value is AnsweredMessage {
  const { id, author, text } = (value ?? {}) as Partial<Record<keyof AnsweredMessage, unknown>>;
  return typeof id === "string" && typeof author === "string" && typeof text === "string";
}

function isFile(value: unknown): value is DraftFile {
  const { id, name, bytes } = (value ?? {}) as Partial<Record<keyof DraftFile, unknown>>;
  return typeof id === "string" && typeof name === "string" && typeof bytes === "number";
}
