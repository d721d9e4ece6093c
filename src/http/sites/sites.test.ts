import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import type { SiteSocket, WebRequest } from "#channels/contract.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { TestHttp } from "#test/support/http/http-server.ts";
import { startHttp } from "#test/support/http/http-server.ts";

let http: TestHttp;
const received: WebRequest[] = [];
const upgraded: (readonly [string, string, string])[] = [];
const sockets = new WebSocketServer({ noServer: true });
let failing = false;

beforeAll(async () => {
  const socketOf = (workspaceId: string, channel: string): SiteSocket => ({
    path: "/widget/ws",
    upgrade(request, socket, head, remoteAddress) {
      upgraded.push([workspaceId, channel, remoteAddress]);
      sockets.handleUpgrade(request, socket, head, (ws) => ws.send(`hello ${channel}`));
    },
  });
  http = await startHttp(newSqlite, {
    sites: {
      page: (path) =>
        path === "/widget.js"
          ? {
              path,
              handle: () => ({
                status: 200,
                headers: { "content-type": "text/javascript", "cache-control": "max-age=60" },
                body: "1",
              }),
            }
          : undefined,
      workspacePage: (workspaceId, path) =>
        workspaceId === "wt_abcdef_0123456789"
          ? {
              path,
              handle: ({ query }) => ({
                status: 200,
                headers: { "content-type": "text/html" },
                body: `chat ${query["lang"] ?? ""}`,
              }),
            }
          : undefined,
      socket: async (workspaceId, channel, path) =>
        path === "/widget/ws" && workspaceId === "wt_abcdef_0123456789" ? socketOf(workspaceId, channel) : undefined,
      webhook: (channel, account) =>
        channel === "telegram" && account === "acc_1"
          ? {
              receive: async (request) => {
                received.push(request);
                if (failing) throw new Error("the database is full of secrets");
                return { status: 200, headers: { "x-seen": "yes" }, body: Buffer.from("ok") };
              },
            }
          : undefined,
    },
    demoPage: async () => ({ status: 200, headers: { "content-type": "text/html" }, body: "<h1>Demo</h1>" }),
  });
});
afterAll(async () => {
  sockets.close();
  await http.close();
});

it("serves the widget's script and pages without a key", async () => {
  const script = await fetch(`${http.url}/widget.js?v=1`);
  expect([script.status, script.headers.get("cache-control"), await script.text()]).toEqual([200, "max-age=60", "1"]);
  expect(script.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await fetch(`${http.url}/widget/none.css`)).status).toBe(404);
  expect(await (await fetch(`${http.url}/demo`)).text()).toBe("<h1>Demo</h1>");
});

it("redirects the bare address to the inbox", async () => {
  const response = await fetch(`${http.url}/`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, "/inbox"]);
});

it("serves a workspace's chat page, also under its alias, and an error page for an unknown workspace", async () => {
  expect(await (await fetch(`${http.url}/chat/wt_abcdef_0123456789?lang=de`)).text()).toBe("chat de");
  expect((await fetch(`${http.url}/chat/ws_abcdef_0123456789`)).status).toBe(200);
  for (const id of ["wt_zzzzzz_0123456789", "x", "%3Cscript%3E"]) {
    const missing = await fetch(`${http.url}/chat/${id}`);
    expect([missing.status, missing.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await missing.text()).not.toContain("<script");
  }
});

it("passes a webhook's bytes unchanged to the account", async () => {
  const body = Buffer.from([0xff, 0x00, 0x7b, 0x22]);
  const answered = await http.post("/channels/telegram/acc_1?a=1&b=%20", body, {
    "content-type": "application/json",
    "x-signature": "abc",
  });
  expect([answered.status, answered.text, answered.headers.get("x-seen")]).toEqual([200, "ok", "yes"]);
  expect(received.at(-1)).toMatchObject({
    method: "POST",
    path: "/channels/telegram/acc_1",
    query: { a: "1", b: " " },
    headers: { "x-signature": "abc" },
    remoteAddress: "127.0.0.1",
  });
  expect(received.at(-1)?.body.equals(body)).toBe(true);
});

it("accepts a webhook of any content type, or none, up to 4 MiB", async () => {
  for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
    expect((await http.post("/channels/telegram/acc_1", "a=1", { "content-type": type })).status).toBe(200);
    expect(received.at(-1)?.body.toString()).toBe("a=1");
  }
  const bare = await fetch(`${http.url}/channels/telegram/acc_1`, { method: "POST", body: Buffer.from("bare") });
  expect([bare.status, received.at(-1)?.body.toString()]).toEqual([200, "bare"]);
  const large = Buffer.alloc(4 * 1_048_576, 1);
  expect((await http.post("/channels/telegram/acc_1", large)).status).toBe(200);
  expect(received.at(-1)?.body.length).toBe(large.length);
  const over = await http.post("/channels/telegram/acc_1", Buffer.alloc(4 * 1_048_576 + 1, 1));
  expect(over.status).toBe(413);
});

it("answers a webhook that cannot be stored with an error, without details", async () => {
  failing = true;
  const answered = await http.post("/channels/telegram/acc_1", "{}");
  failing = false;
  expect(answered.status).toBe(500);
  expect(JSON.stringify(answered.body)).not.toContain("secrets");
});

it("answers 404 for an unknown account", async () => {
  expect((await http.post("/channels/telegram/acc_2", "{}")).status).toBe(404);
  expect((await http.post("/channels/fax/acc_1", "{}")).status).toBe(404);
});

it("passes a handshake to the account of its workspace and channel", async () => {
  const ws = new WebSocket(`${http.url.replace("http", "ws")}/widget/ws?workspace=ws_abcdef_0123456789&channel=hosted`);
  const message = await new Promise((resolve, reject) => {
    ws.addEventListener("message", ({ data }) => resolve(data));
    ws.addEventListener("error", () => reject(new Error("the handshake failed")));
  });
  expect(message).toBe("hello hosted");
  expect(upgraded.at(-1)).toEqual(["wt_abcdef_0123456789", "hosted", "127.0.0.1"]);
  ws.close();
});

it.each([
  "/widget/ws",
  "/widget/ws?workspace=wt_zzzzzz_0123456789&channel=widget",
  "/widget/ws?workspace=wt_abcdef_0123456789&channel=fax",
  "//",
])("refuses a handshake at %s", async (path) => {
  const key = createHash("sha1").update(path).digest("base64");
  const answer = await raw(
    http.port,
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
});

it("closes a connection that a client keeps open after a refused handshake", async () => {
  const { port } = new URL(http.url);
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.write(
    "GET /widget/elsewhere?workspace=nobody HTTP/1.1\r\nHost: parley.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  await once(socket.resume(), "end");

  // A closed peer answers later bytes with a reset, which ends this side too.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const writing = setInterval(() => socket.write("x"), 10);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 5_000))]);
  clearInterval(writing);
  const letGo = socket.destroyed;
  socket.destroy();
  expect(letGo).toBe(true);
});

it("answers a plain request that offers another protocol", async () => {
  const answer = await raw(
    http.port,
    "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    /live/,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

/** Sends bytes and reads until the end, or until `enough` matches. */
function raw(port: number, text: string, enough?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (data) => {
      answer += data.toString();
      if (enough?.test(answer) === true) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}
