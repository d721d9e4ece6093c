import { afterAll, beforeAll, beforeEach, expect, it, describe } from "vitest";
import type { WebResponse } from "#channel/contract.ts";
import { createHandMovedClock } from "../../../test/support/hand-moved-clock.ts";
import { bytesOf, png } from "../../../test/support/file-channel.ts";
import type { TestApp } from "../../../test/support/app.ts";
import { startApp } from "../../../test/support/app.ts";
import { newSqlite } from "../../../test/support/databases.ts";
import { createLimits } from "../limits.ts";
import { tokenOf } from "../session.ts";
import { createUploads } from "../uploads.ts";
import type { TestHost } from "./support/site.ts";
import { createTestHost, workspaceId } from "./support/site.ts";

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

  it("is kept for the session whose token comes with it", async () => {
    const { status, json, headers } = await send();
    expect([status, headers?.["Access-Control-Allow-Origin"]]).toEqual([200, shop]);
    expect(host.uploads.get(json.id ?? "")).toMatchObject({ name: "a.txt", bytes: 5, thread: `web:${session.id}` });
  });

  it("is refused without a session, from another page, or where none are taken", async () => {
    expect((await send({ token: "made.up" })).json.code).toBe("bad_token");
    expect((await send({ token: `${tokenOf(session, host)}x` })).json.code).toBe("bad_token");
    expect((await send({ origin: "https://evil.example" })).status).toBe(403);
    expect((await send({ origin: "https://evil.example", method: "OPTIONS" })).status).toBe(403);
    expect((await send({ method: "OPTIONS" })).headers?.["Access-Control-Allow-Methods"]).toBe("POST");
    host.face = { ...host.face, files: null };
    expect((await send()).json.code).toBe("forbidden");
    expect(host.uploads.size).toBe(0);
  });

  it("is refused with the token of a visitor whose thread is a user's by now", async () => {
    host.set(`web:${session.id}`, { userId: "user-1" });
    expect((await send()).json.code).toBe("bad_token");
    expect((await send({ token: tokenOf({ ...session, userId: "user-1" }, host) })).status).toBe(200);
  });

  it("is refused when it is too large, of another kind than those taken, or one of too many", async () => {
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

describe("the door for files of customers", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(newSqlite);
  });
  afterAll(() => app?.close());

  it("answers what it refuses, however much is still coming", async () => {
    const post = (path: string, body: BodyInit) =>
      fetch(`${app.url}${path}`, { method: "POST", headers: { "content-type": "image/png" }, body });
    const files = `/widget/files?workspace=${app.workspace.id}&channel=widget&name=a.png`;
    expect((await post(files, Uint8Array.from(png))).status).toBe(401);
    expect((await post(files, new Uint8Array(3_000_000))).status).toBe(401);
    expect((await post("/widget/files?workspace=wt_nobody_0123456789abcdef", "x")).status).toBe(404);
    expect((await post("/widget/other", "x")).status).toBe(404);
  });
});
