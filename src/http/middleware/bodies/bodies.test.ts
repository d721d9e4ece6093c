import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { newSqlite } from "#test/support/database/databases.ts";
import type { HttpOptions, TestHttp } from "#test/support/http/http-server.ts";
import { startHttp } from "#test/support/http/http-server.ts";

const kb = 1_024;

describe("a request's body", () => {
  let http: TestHttp | undefined;
  const opened: Socket[] = [];
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    await http?.close();
    http = undefined;
  });

  const start = async (options: HttpOptions = {}): Promise<TestHttp> => {
    http = await startHttp(newSqlite, {
      trustedProxies: ["127.0.0.1"],
      sites: {
        webhook: (_channel, account) =>
          account === "nobody"
            ? undefined
            : {
                bodyBytesMax: 200 * kb,
                refuse: ({ headers }) => (headers["x-secret"] === "right" ? null : { status: 401 }),
                receive: async ({ body }) => ({ status: 200, body: String(body.length) }),
              },
      },
      ...options,
    });
    return http;
  };

  interface Unfinished {
    readonly answer: Promise<string>;
    send(bytes: number): void;
  }

  /** Announces a body, and sends some of it. */
  const begin = (path: string, bytes: number, headers: readonly string[] = []): Unfinished => {
    const { port = 0 } = http ?? {};
    const socket = connect(port, "127.0.0.1");
    opened.push(socket);
    const answer = Promise.withResolvers<string>();
    socket.on("error", () => undefined);
    socket.on("data", (data) => answer.resolve(data.toString()));
    socket.on("close", () => answer.resolve("closed"));
    const head = [`POST ${path} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...headers];
    const hasLength = headers.some((each) => /^(content-length|transfer-encoding)/i.test(each));
    socket.write(`${[...head, ...(hasLength ? [] : [`Content-Length: ${bytes}`])].join("\r\n")}\r\n\r\n`);
    return { answer: answer.promise, send: (count) => void socket.write(Buffer.alloc(count, "x")) };
  };

  const known = "X-Secret: right";
  const from = (address: string): string => `X-Forwarded-For: ${address}`;

  it("is not read before authentication", async () => {
    const { key } = await start();
    const doors: readonly (readonly [string, readonly string[], RegExp])[] = [
      ["/channels/telegram/nobody", [], /^HTTP\/1\.1 404 /],
      ["/channels/telegram/known", [], /^HTTP\/1\.1 401 /],
      ["/channels/telegram/known", [known, "Content-Length: 300000"], /^HTTP\/1\.1 413 /],
      ["/nothing", [], /^HTTP\/1\.1 404 /],
      ["/health/live", [], /^HTTP\/1\.1 404 /],
      ["/widget/files?workspace=wt_abcdef_0123456789", [], /^HTTP\/1\.1 404 /],
      ["/v1/query", [], /^HTTP\/1\.1 401 .*missing_auth/s],
      ["/v1/nothing", [`Authorization: Bearer ${key}`], /^HTTP\/1\.1 404 /],
      ["/v1/query", [`Authorization: Bearer ${key}`, "Content-Length: 2000000"], /^HTTP\/1\.1 413 /],
      ["/inbox/login", [], /^HTTP\/1\.1 403 .*cross_site/s],
      ["/inbox/login", ["Sec-Fetch-Site: same-origin"], /^HTTP\/1\.1 413 /],
      ["/inbox/api/bulk", ["Sec-Fetch-Site: same-origin"], /^HTTP\/1\.1 401 /],
    ];
    for (const [path, headers, expected] of doors) {
      const { answer } = begin(path, 100 * kb, headers);
      expect(await answer, path).toMatch(expected);
    }
  });

  it("counts against the limit of its address while it is in memory", async () => {
    const { url } = await start({ bodies: { addressBytesMax: 300 * kb } });
    const path = "/channels/telegram/known";
    const first = begin(path, 190 * kb, [known, from("203.0.113.1")]);
    first.send(150 * kb);
    const second = begin(path, 190 * kb, [known, from("203.0.113.1")]);
    second.send(189 * kb);
    const refused = await Promise.race([first.answer, second.answer]);
    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toMatch(/retry-after: 1\r\n.*too_many_concurrent_requests/s);
    const elsewhere = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "x-secret": "right", "x-forwarded-for": "203.0.113.2" },
      body: Buffer.alloc(180 * kb),
    });
    expect([elsewhere.status, await elsewhere.text()]).toEqual([200, String(180 * kb)]);
    for (const socket of opened) socket.destroy();
    await expect
      .poll(async () => {
        const again = await fetch(`${url}${path}`, {
          method: "POST",
          headers: { "x-secret": "right", "x-forwarded-for": "203.0.113.1" },
          body: Buffer.alloc(190 * kb),
        });
        return again.status;
      })
      .toBe(200);
  });

  it("is dropped for the address with the most bytes when all together exceed the limit", async () => {
    const { url } = await start({ bodies: { totalBytesMax: 400 * kb } });
    const path = "/channels/telegram/known";
    const many = [1, 2].map(() => begin(path, 190 * kb, [known, from("203.0.113.1")]));
    for (const each of many) each.send(150 * kb);
    const other = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "x-secret": "right", "x-forwarded-for": "203.0.113.2" },
      body: Buffer.alloc(100 * kb),
    });
    expect(other.status).toBe(200);
    expect(await Promise.race(many.map(({ answer }) => answer))).toMatch(/^HTTP\/1\.1 503 .*overloaded/s);
  });

  it("takes no more memory when it arrives byte by byte", async () => {
    await start({ bodies: { addressBytesMax: 64 * kb } });
    const { answer, send } = begin("/channels/telegram/known", 0, [known, "Content-Length: 30000"]);
    for (let sent = 0; sent < 30_000; sent += 100) send(100);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*30000$/s);
  });

  it("has to arrive in time", async () => {
    await start({ timeouts: { bodyMs: 100 } });
    const { answer, send } = begin("/channels/telegram/known", 100, [known]);
    send(10);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*request_timeout/s);
  });
});
