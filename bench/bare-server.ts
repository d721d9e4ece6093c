// The cost of a message's two inserts alone: Fastify, a message row and an outbox row on a disk that is synced before
// the response. `POST /each` commits for each request, `POST /group` for all requests that arrived together.
//   node bench/bare-server.ts PORT sqlite:PATH|mysql://…
import { randomUUID } from "node:crypto";
import Fastify from "fastify";
import type { ResultSetHeader } from "mysql2/promise";
import { createPool } from "mysql2/promise";
import { openDatabase } from "#database/dialects/sqlite.ts";

interface Message {
  readonly conversation_id: string;
  readonly external_id: string;
  readonly text: string;
}

interface Inserts {
  each(message: Message): Promise<void>;
  group(messages: readonly Message[]): Promise<void>;
}

const tables = (serial: string, key: string, text: string): readonly string[] => [
  `create table messages (id ${key} primary key, conversation_id ${key} not null, external_id ${key} not null unique,
     role ${key} not null, content ${text} not null, created_at bigint not null)`,
  "create index messages_conversation on messages (conversation_id, created_at)",
  `create table outbox (id ${serial}, lane ${key} not null, kind ${key} not null, payload ${text} not null,
     due_at bigint not null)`,
  "create index outbox_lane on outbox (lane, id)",
];
const insertMessage = "insert into messages (id, conversation_id, external_id, role, content, created_at) values";
const insertWork = "insert into outbox (lane, kind, payload, due_at) values";

const messageValues = ({ conversation_id, external_id, text }: Message): readonly (string | number)[] => [
  randomUUID(),
  conversation_id,
  external_id,
  "user",
  text,
  Date.now(),
];
const workValues = ({ conversation_id }: Message): readonly (string | number)[] => [
  `think:${conversation_id}`,
  "think",
  JSON.stringify({ conversationId: conversation_id }),
  Date.now(),
];

function openSqlite(path: string): Inserts {
  const database = openDatabase(path, { readOnly: false });
  for (const statement of tables("integer primary key", "text", "text")) database.exec(statement);
  const message = database.prepare(`${insertMessage} (?, ?, ?, ?, ?, ?)`);
  const work = database.prepare(`${insertWork} (?, ?, ?, ?)`);
  const group = async (messages: readonly Message[]): Promise<void> => {
    database.exec("begin immediate");
    for (const each of messages) {
      message.run(...messageValues(each));
      work.run(...workValues(each));
    }
    database.exec("commit");
  };
  return { group, each: (one) => group([one]) };
}

async function openMysql(url: string): Promise<Inserts> {
  const pool = createPool({ uri: url, connectionLimit: 12 });
  for (const statement of tables("bigint auto_increment primary key", "varchar(190)", "longtext"))
    await pool.query(statement);
  return {
    async each(one) {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await connection.execute<ResultSetHeader>(`${insertMessage} (?, ?, ?, ?, ?, ?)`, [...messageValues(one)]);
        await connection.execute<ResultSetHeader>(`${insertWork} (?, ?, ?, ?)`, [...workValues(one)]);
        await connection.commit();
      } finally {
        connection.release();
      }
    },
    async group(messages) {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await connection.query<ResultSetHeader>(`${insertMessage} ?`, [messages.map(messageValues)]);
        await connection.query<ResultSetHeader>(`${insertWork} ?`, [messages.map(workValues)]);
        await connection.commit();
      } finally {
        connection.release();
      }
    },
  };
}

const [port = "0", url = ""] = process.argv.slice(2);
const inserts = url.startsWith("sqlite:") ? openSqlite(url.slice("sqlite:".length)) : await openMysql(url);
const app = Fastify({ logger: false });
const groupsMax = url.startsWith("sqlite:") ? 1 : 2;
interface PendingInsert {
  readonly message: Message;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

const waiting: PendingInsert[] = [];
let groups = 0;

async function commitWaiting(): Promise<void> {
  if (groups >= groupsMax || waiting.length === 0) return;
  const taken = waiting.splice(0, 500);
  groups += 1;
  try {
    await inserts.group(taken.map(({ message }) => message));
    for (const { resolve } of taken) resolve();
  } catch (error) {
    for (const { reject } of taken) reject(error);
  }
  groups -= 1;
  setImmediate(() => void commitWaiting());
}

app.post<{ Body: Message }>("/each", async ({ body }) => {
  await inserts.each(body);
  return { ok: true };
});
app.post<{ Body: Message }>("/group", async ({ body }) => {
  await new Promise<void>((resolve, reject) => {
    waiting.push({ message: body, resolve, reject });
    if (waiting.length === 1) setImmediate(() => void commitWaiting());
  });
  return { ok: true };
});
app.get("/health/ready", async () => ({ ok: true }));
await app.listen({ host: "127.0.0.1", port: Number(port) });
