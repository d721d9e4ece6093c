import { createConnection } from "mysql2/promise";
import { documentOf, facetTokens } from "#database/search/words.ts";
import { openDatabase } from "#database/dialects/sqlite.ts";
import { rowsOf } from "#test/support/database/conversation-rows.ts";
import type { BenchConversation, Size } from "./list-data.ts";
import { bodyOf, conversationAt, messageId } from "./list-data.ts";

// Writes the rows of conversations directly to the database: many rows in a statement, and MySQL's full-text index
// after all of them.

type Value = string | number | bigint | null;

const messageColumns = "id, conversation_id, seq, role, content, created_at";

function messageValues({ id, messages, startedAt }: BenchConversation): Value[][] {
  return messages.map((content, i) => [
    messageId(id, i + 1),
    id,
    i + 1,
    i % 2 === 0 ? "user" : "assistant",
    content,
    startedAt + i,
  ]);
}

function valuesOf(row: object): Value[] {
  return Object.values(row) as Value[];
}

/** The fast indexed text must equal the program's own. */
function checkBodies(some: readonly BenchConversation[]): void {
  for (const each of some) {
    if (bodyOf(each) !== documentOf(each.workspaceId, each.messages)) {
      throw new Error("the bench's text for the index is not what the program would index");
    }
  }
}

export type Progress = (done: number) => void;

export async function loadSqlite(
  path: string,
  size: Size,
  progress: Progress,
  conversation: (place: number) => BenchConversation = (place) => conversationAt(place, size),
): Promise<void> {
  const database = openDatabase(path, { readOnly: false });
  database.exec("pragma synchronous = off; pragma cache_size = -600000; pragma wal_autocheckpoint = 20000");
  const prepare = (table: string, columns: string, count: number) => {
    const row = `(${columns
      .split(",")
      .map(() => "?")
      .join()})`;
    return database.prepare(
      `insert into ${table} (${columns}) values ${Array.from({ length: count }, () => row).join()}`,
    );
  };
  const example = rowsOf({ workspaceId: "wt_x", startedAt: 0, tags: ["x"] });
  const insertConversation = prepare("conversations", Object.keys(example.conversation).join(), 1);
  const tag = prepare("conversation_tags", Object.keys(example.tags[0] ?? {}).join(), 1);
  const messages = prepare("messages", messageColumns, size.messagesEach);
  const text = prepare("conversation_text", "position, conversation_id, indexed_seq", 1);
  const document = prepare("conversation_fts", "rowid, body", 1);
  const step = 20_000;
  for (let at = 0; at < size.conversations; at += step) {
    const seeds = Array.from({ length: Math.min(step, size.conversations - at) }, (_, i) => conversation(at + i));
    if (at === 0) checkBodies(seeds.slice(0, 200));
    database.exec("begin");
    for (const seed of seeds) {
      const made = rowsOf({ ...seed, messages: [] });
      const count = seed.messages.length;
      const row = { ...made.conversation, message_count: count, last_seq: count, last_customer_seq: count };
      insertConversation.run(...valuesOf(row));
      for (const each of made.tags) tag.run(...valuesOf(each));
      messages.run(...messageValues(seed).flat());
      const position = BigInt(seed.startedAt) << 20n;
      text.run(position, seed.id, count);
      document.run(position, `${facetTokens(seed).join(" ")} ${bodyOf(seed)}`);
    }
    database.exec("commit");
    progress(at + seeds.length);
  }
  database.close();
}

export async function loadMysql(url: string, size: Size, progress: Progress): Promise<void> {
  const connection = await createConnection({ uri: url });
  await connection.query("set session unique_checks = 0, foreign_key_checks = 0");
  await connection.query("alter table conversation_text drop index conversation_text_body");
  const insert = async (table: string, columns: string, made: readonly Value[][]): Promise<void> => {
    if (made.length > 0) await connection.query(`insert into ${table} (${columns}) values ?`, [made]);
  };
  const step = 2_000;
  for (let at = 0; at < size.conversations; at += step) {
    const seeds = Array.from({ length: Math.min(step, size.conversations - at) }, (_, i) =>
      conversationAt(at + i, size),
    );
    if (at === 0) checkBodies(seeds.slice(0, 200));
    const made = seeds.map((seed) => rowsOf({ ...seed, messages: [] }));
    const count = size.messagesEach;
    await connection.query("begin");
    await insert(
      "conversations",
      Object.keys(made[0]?.conversation ?? {}).join(),
      made.map(({ conversation }) =>
        valuesOf({ ...conversation, message_count: count, last_seq: count, last_customer_seq: count }),
      ),
    );
    const tags = made.flatMap((row) => row.tags);
    await insert("conversation_tags", Object.keys(tags[0] ?? {}).join(), tags.map(valuesOf));
    await insert("messages", messageColumns, seeds.flatMap(messageValues));
    await insert(
      "conversation_text",
      "conversation_id, indexed_seq, body",
      seeds.map((seed) => [seed.id, count, bodyOf(seed)]),
    );
    await connection.query("commit");
    if (at % 20_000 === 0) progress(at + seeds.length);
  }
  progress(size.conversations);
  await connection.query("create fulltext index conversation_text_body on conversation_text (body)");
  await connection.query("analyze table conversations, conversation_tags, conversation_text, messages");
  await connection.end();
}
