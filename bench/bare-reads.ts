// The cost of reads alone: Fastify and the program's own statements for the same read, run by the driver. No key, no
// limits, no log.
//   node bench/bare-reads.ts PORT sqlite:PATH|mysql://… WORKSPACE CONVERSATION
import Fastify from "fastify";
import type { CompiledQuery } from "kysely";
import type { RowDataPacket } from "mysql2/promise";
import { createPool } from "mysql2/promise";
import { listConversations } from "#database/queries/conversation-list.ts";
import { openStore } from "#database/open.ts";
import { openDatabase } from "#database/dialects/sqlite.ts";
import { recordingStore } from "#test/support/database/query-plans.ts";

const [port = "0", url = "", workspaceId = "", conversationId = ""] = process.argv.slice(2);
const store = await openStore(url);
const { store: recorded, taken } = recordingStore(store);
const { read } = recorded;

const { rows } = await listConversations(recorded, { workspaceId, limit: 20 });
await read
  .selectFrom("conversation_tags")
  .select(["conversation_id", "tag"])
  .where(
    "conversation_id",
    "in",
    rows.map(({ id }) => id),
  )
  .orderBy("tag")
  .execute();
const list = taken();

const of = "conversation_id";
await read
  .selectFrom("conversations")
  .selectAll()
  .where("id", "=", conversationId)
  .where("workspace_id", "=", workspaceId)
  .execute();
await read
  .selectFrom("conversation_tags")
  .select(["conversation_id", "tag"])
  .where(of, "in", [conversationId])
  .execute();
await read.selectFrom("messages").selectAll().where(of, "=", conversationId).orderBy("seq").execute();
await read.selectFrom("notes").selectAll().where(of, "=", conversationId).orderBy("id").execute();
await read.selectFrom("audit").selectAll().where(of, "=", conversationId).orderBy("id").execute();
const conversation = taken();

await read.selectFrom("conversations").select("id").where("id", "=", conversationId).execute();
await read
  .selectFrom("messages")
  .selectAll()
  .where(of, "=", conversationId)
  .where("seq", ">", 0)
  .orderBy("seq", "asc")
  .limit(51)
  .execute();
const messages = taken();
await store.close();

type Run = (query: CompiledQuery) => Promise<readonly unknown[]>;

function openRun(): Run {
  if (url.startsWith("sqlite:")) {
    const database = openDatabase(url.slice("sqlite:".length), { readOnly: true });
    const statements = new Map(
      [...list, ...conversation, ...messages].map((query) => [query.sql, database.prepare(query.sql)]),
    );
    return async ({ sql, parameters }) => statements.get(sql)?.all(...(parameters as string[])) ?? [];
  }
  const pool = createPool({ uri: url, connectionLimit: 12 });
  return async ({ sql, parameters }) => (await pool.query<RowDataPacket[]>(sql, [...parameters]))[0];
}

const run = openRun();
const app = Fastify({ logger: false });
for (const [path, queries] of Object.entries({ list, conversation, messages })) {
  app.get(`/${path}`, async () => {
    const results: (readonly unknown[])[] = [];
    for (const query of queries) results.push(await run(query));
    return { results };
  });
}
app.get("/health/ready", async () => ({ ok: true }));
await app.listen({ host: "127.0.0.1", port: Number(port) });
