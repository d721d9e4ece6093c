import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static, TSchema } from "typebox";
import Type from "typebox";
import Value from "typebox/value";
import { openStore } from "#database/open.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { newWorkspace, noFetch, silentLog } from "#test/support/knowledge/knowledge.ts";
import type { Meaning, WithMeaning } from "../meaning.ts";
import { withMeaning } from "../meaning.ts";

/** The made-up companies of this folder. */

const Gold = Type.Object({
  documents: Type.Array(Type.String()),
  answers: Type.Array(Type.Array(Type.String())),
});
const Expected = Type.Union([Gold, Type.Null()]);
const Conversations = Type.Array(
  Type.Object({
    id: Type.String(),
    turns: Type.Array(Type.Object({ text: Type.String(), kind: Type.String(), gold: Expected })),
  }),
);
const Messages = Type.Array(
  Type.Object({
    id: Type.String(),
    text: Type.String(),
    kind: Type.String(),
    gold: Expected,
    expected: Type.Optional(Type.Array(Expected)),
  }),
);

const home = import.meta.dirname;
const clock = { now: () => Date.now(), timer: () => () => undefined };

export const setNames = readdirSync(home, { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);

function read<T extends TSchema>(schema: T, ...path: string[]): Static<T> {
  return Value.Parse(schema, JSON.parse(readFileSync(join(home, ...path), "utf8")));
}

export const messagesOf = (set: string): Static<typeof Messages> => read(Messages, set, "questions.json");
export const conversationsOf = (set: string): Static<typeof Conversations> =>
  read(Conversations, set, "conversations.json");

/** A company's documents in a workspace of their own. */
export interface OpenSet {
  readonly workspaceId: string;
  /** File names by document id. */
  readonly names: ReadonlyMap<string, string>;
  /** `changed` replaces the encoder's calibration. */
  readonly index: WithMeaning;
  close(): Promise<void>;
}

/** `meaning`: with this encoder; undefined: by words alone. */
export async function openSet(set: string, meaning: Meaning | undefined): Promise<OpenSet> {
  const folder = mkdtempSync(join(tmpdir(), "parley-answers-"));
  const store = await openStore(`sqlite:${join(folder, "parley.sqlite")}`);
  const words = openEmbeddedIndex({ store, path: join(folder, "index"), log: silentLog });
  await store.migrate();
  const workspaceId = await newWorkspace(store);
  const documents = createDocuments({ store, clock, log: silentLog, fetch: noFetch });
  const names = new Map<string, string>();
  const place = set === "manual" ? join(home, "../../docs") : join(home, set, "documents");
  for (const name of readdirSync(place).filter((each) => /\.\w+$/u.test(each))) {
    const { id } = await documents.add({ workspaceId, fileName: name, bytes: readFileSync(join(place, name)) });
    await documents.process(id);
    names.set(id, name);
  }
  await words.prepare(workspaceId, new AbortController().signal);
  const opened = meaning === undefined ? () => words : await withMeaning(store, words, workspaceId, meaning);
  let last: ReturnType<WithMeaning> = words;
  return {
    workspaceId,
    names,
    index: (changed) => (last = opened(changed)),
    async close() {
      await last.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
