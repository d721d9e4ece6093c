import { gzipSync } from "node:zlib";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { defaultBodyLimits } from "./bodies.ts";
import { defaultTimeouts } from "#http/dependencies.ts";

const kb = 1_024;
const mb = 1_024 * kb;
/** Memory of the server. The clients share the process, but their bytes are mostly in the kernel. */
const grownBytesMax = 400 * mb;
const answeredMs = 20_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp(newSqlite, {
    // A nearly full disk of this machine would answer 507 instead.
    freeBytes: async () => 1_000 * 1_000 * mb,
    http: {
      timeouts: { ...defaultTimeouts, headersMs: 2_000, bodyMs: 1_000, requestMs: 3_000, checkMs: 200 },
      bodies: defaultBodyLimits,
    },
  });
});
afterAll(() => app.close());

type Headers = Readonly<Record<string, string | number>>;

/** Every address that accepts a body or a socket, with and without credentials. */
const addresses = (): readonly (readonly [string, Headers])[] => {
  const key = { authorization: `Bearer ${app.workspace.key}` };
  const own = { "sec-fetch-site": "same-origin" };
  const workspace = `workspace=${app.workspace.id}`;
  return [
    ["/", {}],
    ["/nothing", {}],
    ["/health/live", {}],
    ["/metrics", {}],
    ["/openapi.json", {}],
    ["/v1/query", {}],
    ["/v1/query", key],
    ["/v1/query/stream", key],
    ["/v1/conversations/bulk", key],
    ["/v1/conversations/conv_00000000000000000000000000/messages", key],
    ["/v1/documents/crawl", key],
    ["/v1/documents/upload", key],
    ["/v1/nothing", key],
    ["/inbox/login", own],
    ["/inbox/login/token", own],
    ["/inbox/logout", own],
    ["/inbox/api/bulk", own],
    ["/inbox/api/conversations/conv_00000000000000000000000000/files", own],
    ["/widget/files?channel=hosted", {}],
    [`/widget/files?${workspace}&channel=hosted`, { authorization: "Bearer made.up" }],
    [`/widget/ws?${workspace}`, {}],
    [`/chat/${app.workspace.id}`, {}],
    ["/channels/telegram/acc_nothing", {}],
    ["/channels/slack/acc_nothing", {}],
    ["/channels/sms/acc_nothing", {}],
    ["/channels/voice/acc_nothing", {}],
    ["/channels/intercom/acc_nothing", {}],
    ["/files/made.up", {}],
  ];
};

const boundary = "----attack";
const part = (name: string, value: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const form = { "content-type": `multipart/form-data; boundary=${boundary}` };
const json = { "content-type": "application/json" };

interface Attack {
  readonly headers: Headers;
  /** Bytes after the head; the connection stays open. */
  readonly body: readonly (string | Buffer)[];
}

const whole = (headers: Headers, body: string | Buffer): Attack => ({
  headers: { ...headers, "content-length": Buffer.byteLength(body) },
  body: [body],
});

const chunk = (body: Buffer): readonly (string | Buffer)[] => [`${body.length.toString(16)}\r\n`, body, "\r\n"];

const attacks: Readonly<Record<string, Attack>> = {
  "an unfinished body": { headers: { ...json, "content-length": mb }, body: [Buffer.alloc(200 * kb, " ")] },
  "an unfinished chunked body": {
    headers: { ...json, "transfer-encoding": "chunked" },
    body: chunk(Buffer.alloc(200 * kb, " ")),
  },
  "a thousand tiny chunks": {
    headers: { ...json, "transfer-encoding": "chunked" },
    body: [Array.from({ length: 1_000 }, () => "1\r\n \r\n").join(""), "0\r\n\r\n"],
  },
  "a length without a body": { headers: { ...json, "content-length": 900_000 }, body: [] },
  "a length beyond all numbers": { headers: { ...json, "content-length": "9".repeat(30) }, body: [] },
  "deep JSON": whole(json, `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
  "wide JSON": whole(json, `{"a":[${"{},".repeat(200_000)}{}]}`),
  "a gzip bomb": whole({ ...json, "content-encoding": "gzip" }, gzipSync(Buffer.alloc(20 * mb))),
  "headers of 100 KB": { headers: { "x-long": "a".repeat(100 * kb) }, body: [] },
  "thousands of headers": {
    headers: Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`x-${i}`, "1"])),
    body: [],
  },
  "a part's name of 200 KB": whole(form, `${part("n".repeat(200 * kb), "1")}--${boundary}--\r\n`),
  "five thousand parts": whole(
    form,
    `${Array.from({ length: 5_000 }, (_, i) => part(`f${i}`, "1")).join("")}--${boundary}--`,
  ),
  "a part's headers without end": {
    headers: { ...form, "content-length": mb },
    body: [`--${boundary}\r\nX: ${"a".repeat(100 * kb)}`],
  },
  "an unfinished file": {
    headers: { ...form, "content-length": mb },
    body: [
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`,
      Buffer.alloc(100 * kb, "a"),
    ],
  },
  "a form of a hundred thousand fields": whole(
    { "content-type": "application/x-www-form-urlencoded" },
    "a=1&".repeat(100_000),
  ),
  "an upgrade with a body": {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": 13,
      "content-length": 100 * kb,
    },
    body: [Buffer.alloc(100 * kb, "a")],
  },
};

/** The status of the first answer; 0: the connection was closed without one. */
function attempt(method: string, path: string, headers: Headers, body: Attack["body"]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`${method} ${path} got no answer in ${answeredMs} ms`));
    }, answeredMs);
    let answer = "";
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? "0"));
    };
    socket.on("error", () => undefined);
    socket.on("close", end);
    socket.on("data", (data) => {
      answer += data.toString("latin1");
      if (answer.includes("\r\n\r\n")) end();
    });
    const lines = Object.entries({ host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    for (const piece of body) socket.write(piece);
  });
}

it(
  "answers attacks at every address in time, without an internal error, in little memory",
  { timeout: 300_000 },
  async () => {
    const before = process.memoryUsage().rss;
    const jobs = addresses().flatMap(([path, opens]) =>
      Object.entries(attacks).flatMap(([name, { headers, body }]) =>
        ["POST", "PATCH", "DELETE"].map((method) => ({ method, path, name, headers: { ...opens, ...headers }, body })),
      ),
    );
    const wrong: string[] = [];
    const statuses = new Map<number, number>();
    let next = 0;
    const work = async (): Promise<void> => {
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
        const status = await attempt(job.method, job.path, job.headers, job.body);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        // 503: all bodies together are too much.
        if (status >= 500 && status !== 503) wrong.push(`${status}: ${job.method} ${job.path}, ${job.name}`);
      }
    };
    await Promise.all(Array.from({ length: 40 }, work));
    const tried = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    expect(wrong).toEqual([]);
    expect(tried).toBe(addresses().length * Object.keys(attacks).length * 3);
    // Normally none: a slow machine may have a few.
    for (const status of [0, 503]) expect((statuses.get(status) ?? 0) / tried, `${status}`).toBeLessThan(0.02);
    expect(app.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
    expect(process.memoryUsage().rss - before).toBeLessThan(grownBytesMax);
    expect((await app.get("/health/live", { key: null })).status).toBe(200);
    expect((await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello" })).status).toBe(200);
  },
);
