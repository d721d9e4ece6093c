import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { request as send } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";

interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe("text responses", () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp(newSqlite);
  });
  afterAll(() => app.close());

  async function get(path: string, headers: Record<string, string> = {}): Promise<Raw> {
    const request = send(`${app.url}${path}`, { headers });
    request.end();
    const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
  }

  it.each(["/widget.js", "/inbox/app.js", "/inbox/app.css", "/docs", "/openapi.json"])(
    "are compressed as the client asks: %s",
    async (path) => {
      const plain = await get(path);
      expect(plain.headers["content-encoding"]).toBeUndefined();
      expect(plain.headers.vary).toContain("Accept-Encoding");
      const br = await get(path, { "accept-encoding": "gzip, deflate, br" });
      expect(br.headers).toMatchObject({ "content-encoding": "br", "content-length": String(br.body.length) });
      expect(br.headers.vary).toContain("Accept-Encoding");
      expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
      expect(br.body.length).toBeLessThan(plain.body.length / 2);
      const gzip = await get(path, { "accept-encoding": "gzip;q=1, br;q=0.5" });
      expect(gzip.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      const none = await get(path, { "accept-encoding": "br;q=0, identity" });
      expect(none.headers["content-encoding"]).toBeUndefined();
    },
  );

  it.each(["/widget.js", "/inbox/app.js"])("keep a comparable ETag: %s", async (path) => {
    const plain = await get(path);
    const br = await get(path, { "accept-encoding": "br" });
    expect(br.headers.etag).toBe(`W/${plain.headers.etag}`);
    for (const etag of [plain.headers.etag, br.headers.etag]) {
      const again = await get(path, { "accept-encoding": "br", "if-none-match": etag ?? "" });
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
  });

  it("stay uncompressed if they are short or need a session", async () => {
    const short = await get("/v1/conversations/none", { "accept-encoding": "br" });
    expect(short.headers["content-encoding"]).toBeUndefined();
    const page = await get("/inbox/login", { "accept-encoding": "br" });
    expect(page.body.length).toBeGreaterThan(1_000);
    expect(page.headers["content-encoding"]).toBeUndefined();
  });

  it("stay uncompressed if they are event streams", async () => {
    const { key, id } = app.workspace;
    const response = await fetch(`${app.url}/v1/query/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "accept-encoding": "br, gzip" },
      body: JSON.stringify({ workspace_id: id, query: "What is this?" }),
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await response.text()).toContain("event: done");
  });
});
