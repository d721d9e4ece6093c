import { request } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, describe } from "vitest";
import type { WebResponse } from "#channels/contract.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { bytesOf, png } from "#test/support/channels/file-channel.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { createLimits } from "./config.ts";
import { tokenOf } from "./visitor/session.ts";
import { createUploads } from "./files.ts";
import { greet } from "./test/support/client.ts";
import type { TestHost } from "./test/support/site.ts";
import { createTestHost, workspaceId } from "./test/support/site.ts";

const session = { id: "ses_00000000000000000000000001", userId: null };
const shop = "https://shop.example";

describe("a file that a customer sends", () => {
  let host: TestHost;
  let uploads: ReturnType<typeof createUploads>;

  beforeEach(() => {
    host = createTestHost(createHandMovedClock(Date.UTC(2031, 0, 1)), { allowedOrigins: [shop] });
    const account = { id: "acc", workspaceId, channel: "widget", name: "widget", config: {} } as const;
    uploads = createUploads(account, host, createLimits(account.config, host));
  });

  const send = async (
    given: {
      readonly token?: string;
      readonly origin?: string;
      readonly method?: string;
      readonly bytes?: Uint8Array;
    } = {},
  ): Promise<WebResponse & { readonly json: { readonly code?: string; readonly id?: string } }> => {
    const { token = tokenOf(session, host), origin = shop, method = "POST", bytes = Buffer.from("hello") } = given;
    const response = await uploads.handle(
      {
        method,
        path: "/widget/files",
        query: { name: "a.txt", type: "text/plain" },
        headers: { origin, authorization: `Bearer ${token}`, host: "help.example" },
        remoteAddress: "203.0.113.7",
      },
      bytesOf(bytes),
      new AbortController().signal,
    );
    return { ...response, json: response.body === undefined ? {} : (JSON.parse(String(response.body)) as object) };
  };

  it("is stored for the session of its token", async () => {
    const { status, json, headers } = await send();
    expect([status, headers?.["Access-Control-Allow-Origin"]]).toEqual([200, shop]);
    expect(host.uploads.get(json.id ?? "")).toMatchObject({ name: "a.txt", bytes: 5, thread: `web:${session.id}` });
  });

  it("is refused without a session, from another page, or where files are off", async () => {
    expect((await send({ token: "made.up" })).json.code).toBe("bad_token");
    expect((await send({ token: `${tokenOf(session, host)}x` })).json.code).toBe("bad_token");
    expect((await send({ origin: "https://evil.example" })).status).toBe(403);
    expect((await send({ origin: "https://evil.example", method: "OPTIONS" })).status).toBe(403);
    expect((await send({ method: "OPTIONS" })).headers?.["Access-Control-Allow-Methods"]).toBe("POST");
    host.face = { ...host.face, files: null };
    expect((await send()).json.code).toBe("forbidden");
    expect(host.uploads.size).toBe(0);
  });

  it("is refused with the token of a visitor whose thread became a user's", async () => {
    host.set(`web:${session.id}`, { userId: "user-1" });
    expect((await send()).json.code).toBe("bad_token");
    expect((await send({ token: tokenOf({ ...session, userId: "user-1" }, host) })).status).toBe(200);
  });

  it("is refused when it is too large, of a type that is not accepted, or one of too many", async () => {
    expect((await send({ bytes: new Uint8Array(1_001) })).json.code).toBe("too_large");
    host.face = { ...host.face, files: { bytesMax: 1_000, types: ["image/*", "application/pdf"] } };
    expect((await send()).json.code).toBe("type");
    expect(host.uploads.size).toBe(0);
    host.face = { ...host.face, files: { bytesMax: 1_000, types: [] } };
    const codes = new Set<string | undefined>();
    for (let i = 0; i < 30; i += 1) codes.add((await send()).json.code);
    expect(codes).toContain("limited");
  });
});

eachDatabase("the files that visitors send", (open) => {
  const mb = 1_048_576;
  const metricsToken = "a-token-for-metrics";
  let app: TestApp;
  let freeBytes: number;
  let visitors = 0;
  beforeEach(async () => {
    freeBytes = Number.MAX_SAFE_INTEGER;
    app = await startApp(open, {
      freeBytes: async () => freeBytes,
      trustedProxies: ["127.0.0.1"],
      metricsToken,
      settings: { uploadMbVisitor: 2, uploadMbAddress: 3, uploadMbWorkspace: 5 },
    });
  });
  afterEach(() => app?.close());

  const socketUrl = () => `${app.url.replace("http", "ws")}/widget/ws?workspace=${app.workspace.id}&channel=hosted`;
  const talk = () => greet({ socketUrl: socketUrl() }, {}, { headers: { origin: app.url } });
  const visitor = async (): Promise<string> => {
    const client = await talk();
    client.close();
    return client.ready.token;
  };
  const send = async (
    token: string,
    bytes: number,
    address = "203.0.113.1",
    body: BodyInit = Buffer.alloc(bytes, "x"),
  ) => {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": address, origin: app.url };
    const init = { method: "POST", headers, body, duplex: "half" };
    const response = await fetch(
      `${app.url}/widget/files?workspace=${app.workspace.id}&channel=hosted&name=${(visitors += 1)}.bin`,
      init,
    );
    const { code } = (await response.json()) as { readonly code?: string };
    return `${response.status} ${code ?? "stored"}${response.headers.has("retry-after") ? ", later" : ""}`;
  };
  const full = "429 quota, later";

  it("are limited in a day for each visitor, each address and the workspace", async () => {
    const [one, two, three, four] = [await visitor(), await visitor(), await visitor(), await visitor()];
    const together = await Promise.all([1, 2, 3, 4].map(() => send(one, mb)));
    expect(together.toSorted()).toEqual(["200 stored", "200 stored", full, full]);
    expect([await send(two, mb), await send(two, mb)]).toEqual(["200 stored", full]);
    expect([await send(two, mb, "203.0.113.2"), await send(three, mb, "203.0.113.3")]).toEqual([
      "200 stored",
      "200 stored",
    ]);
    expect(await send(four, mb, "203.0.113.4")).toBe(full);
    app.clock.advance(24 * 3_600_000);
    expect(await send(four, mb, "203.0.113.4")).toBe("200 stored");
    const metrics = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
    expect(await metrics.text()).toContain('parley_files_refused_total{reason="rate_limit_day"} 4');
  });

  it("are accepted without a length up to the day's quota", async () => {
    const token = await visitor();
    const chunked = (bytes: number) => send(token, bytes, undefined, new Blob([Buffer.alloc(bytes, "x")]).stream());
    expect(await send(token, mb)).toBe("200 stored");
    expect(await chunked(mb / 2)).toBe("200 stored");
    expect(await chunked(mb / 2 + 1)).toBe(full);
    expect(await chunked(mb / 2)).toBe("200 stored");
    expect(await chunked(1)).toBe(full);
    const stored = await app.store.read.selectFrom("attachments").select("bytes").orderBy("bytes", "desc").execute();
    expect(stored).toEqual([{ bytes: mb }, { bytes: mb / 2 }, { bytes: mb / 2 }]);
  });

  it("count with the bytes that were stored only", async () => {
    const token = await visitor();
    for (let i = 0; i < 6; i += 1) expect(await send(token, mb / 8)).toBe("200 stored");
    const broken = request(`${app.url}/widget/files?workspace=${app.workspace.id}&channel=hosted&name=cut.bin`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "x-forwarded-for": "203.0.113.1",
        origin: app.url,
        "content-length": mb,
      },
    });
    broken.on("error", () => undefined);
    broken.write(Buffer.alloc(1_000));
    const next = (): Promise<string> => {
      // Files of a minute are bounded too.
      app.clock.advance(60_000);
      return send(token, mb);
    };
    const counted = () =>
      app.store.read.selectFrom("counters").select("value").where("name", "like", "upload:visitor:%").execute();
    await expect.poll(counted).toEqual([{ value: 1_024 + 768 }]);
    expect(await next()).toBe(full);
    broken.destroy();
    await expect.poll(next).toBe("200 stored");
  });

  it("are refused while the disk is full, and accepted again after", async () => {
    const token = await visitor();
    freeBytes = 1_024 * mb;
    expect(await send(token, mb)).toBe("507 full, later");
    const disk = async () => {
      const ready = await fetch(`${app.url}/health/ready`);
      const { dependencies } = (await ready.json()) as { readonly dependencies: readonly { readonly name: string }[] };
      return [ready.status, dependencies.find(({ name }) => name === "disk")];
    };
    expect(await disk()).toEqual([200, { name: "disk", state: "ready", cause: null }]);
    freeBytes = 1_023 * mb;
    const cause = expect.stringMatching(/^1023 MB are free and 1024 MB are kept \(FILES_RESERVE_MB\)/);
    expect(await disk()).toEqual([200, { name: "disk", state: "degraded", cause }]);
    freeBytes = 1_026 * mb;
    expect(await send(token, mb)).toBe("200 stored");
  });

  it("belong to one message of their visitor: any other is refused, its repetition is not", async () => {
    const [one, other] = [await talk(), await talk()];
    await send(one.ready.token, 10);
    const { id } = await app.store.read.selectFrom("attachments").select("id").executeTakeFirstOrThrow();
    const sent = { kind: "send", text: "", files: [id] };
    other.send({ ...sent, clientId: "of-another" });
    expect(await other.next("nack")).toMatchObject({ clientId: "of-another", code: "files_gone" });
    one.send({ ...sent, clientId: "the-first" });
    const first = await one.next("ack");
    one.send({ ...sent, clientId: "the-first" });
    expect(await one.next("ack")).toEqual(first);
    one.send({ ...sent, clientId: "the-second" });
    expect(await one.next("nack")).toMatchObject({ clientId: "the-second", code: "files_gone" });
    const messages = await app.store.read.selectFrom("messages").select("id").where("role", "=", "user").execute();
    expect(messages).toHaveLength(1);
    one.close();
    other.close();
  });

  it("are removed an hour after their upload when they were not sent", async () => {
    const token = await visitor();
    await send(token, 10);
    app.clock.advance(50 * 60_000);
    const count = async (): Promise<number> =>
      (await app.store.read.selectFrom("attachments").select("id").execute()).length;
    expect(await count()).toBe(1);
    await expect
      .poll(() => {
        app.clock.advance(10 * 60_000);
        return count();
      })
      .toBe(0);
  });
});

describe("the upload route", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(newSqlite);
  });
  afterAll(() => app?.close());

  it("answers refused uploads of any size", async () => {
    const post = (path: string, body: BodyInit) =>
      fetch(`${app.url}${path}`, { method: "POST", headers: { "content-type": "image/png" }, body });
    const files = `/widget/files?workspace=${app.workspace.id}&channel=widget&name=a.png`;
    expect((await post(files, Uint8Array.from(png))).status).toBe(401);
    expect((await post(files, new Uint8Array(3_000_000))).status).toBe(401);
    expect((await post("/widget/files?workspace=wt_nobody_0123456789abcdef", "x")).status).toBe(404);
    expect((await post("/widget/other", "x")).status).toBe(404);
  });
});
