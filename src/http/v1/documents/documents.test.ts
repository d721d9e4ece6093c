import { request } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { defaultReserveBytes } from "#config/environment.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";

eachDatabase("broken uploads", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const form = (name: string, content: BlobPart, part = "file") => {
    const data = new FormData();
    data.append(part, new Blob([content]), name);
    return data;
  };
  const upload = (body: unknown) => app.post("/v1/documents/upload", body);

  it("require exactly one file, in its part", async () => {
    const empty = new FormData();
    empty.append("workspace_id", app.workspace.id);
    expect(await upload(empty)).toMatchObject({ status: 400, body: { code: "missing_field" } });
    expect((await upload(form("a.txt", "text", "other"))).body.code).toBe("invalid_parameter");
    const two = form("a.txt", "text");
    two.append("file", new Blob(["text"]), "b.txt");
    expect((await upload(two)).body.code).toBe("invalid_parameter");
  });

  it("are refused when the form breaks off", async () => {
    const answered = await app.post(
      "/v1/documents/upload",
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf',
      {
        headers: { "content-type": "multipart/form-data; boundary=x" },
      },
    );
    expect(answered).toMatchObject({ status: 422, body: { code: "invalid_parameter" } });
    const without = await app.post("/v1/documents/upload", "x", { headers: { "content-type": "multipart/form-data" } });
    expect(without.status).toBeGreaterThanOrEqual(400);
    expect(without.status).toBeLessThan(500);
  });

  it("do no harm when the client disconnects in the middle", async () => {
    const gone = request(`${app.url}/v1/documents/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.workspace.key}`, "content-type": "multipart/form-data; boundary=x" },
    });
    gone.on("error", () => undefined);
    gone.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf');
    await new Promise((resolve) => setImmediate(resolve));
    gone.destroy();
    expect((await upload(form("after.txt", "Text that comes after."))).status).toBe(202);
  });
});

describe("disk space for documents", () => {
  const megabyte = 1_048_576;
  let app: TestApp;
  let free: number;
  beforeEach(async () => {
    free = defaultReserveBytes + 30 * megabyte;
    app = await startApp(newSqlite, { freeBytes: async () => free });
  });
  afterEach(() => app?.close());

  const send = async () => {
    const data = new FormData();
    data.append("file", new Blob(["text"]), "a.txt");
    data.append("workspace_id", app.workspace.id);
    return (await app.post("/v1/documents/upload", data)).status;
  };
  const begin = () => {
    const body = request(`${app.url}/v1/documents/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.workspace.key}`, "content-type": "multipart/form-data; boundary=x" },
    });
    const status = new Promise<number>((resolve, reject) => {
      body.on("response", (response) => resolve(response.resume().statusCode ?? 0));
      body.on("error", reject);
    });
    body.write('--x\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\nhalf');
    return { body, status };
  };
  /** Starts two uploads, of which one is refused, and returns the other. */
  const hold = async () => {
    const uploads = [begin(), begin()];
    const first = await Promise.race(
      uploads.map(({ status }, i) => status.then((is) => ({ is, other: uploads[1 - i] }))),
    );
    expect(first.is).toBe(507);
    if (first.other === undefined) throw new Error("there are two");
    return first.other;
  };

  it("has to suffice for the largest document", async () => {
    free = defaultReserveBytes + 20 * megabyte;
    expect(await send()).toBe(507);
    free = defaultReserveBytes + 30 * megabyte;
    expect(await send()).toBe(202);
  });

  it("is reserved while a document is stored, so that two uploads cannot share it", async () => {
    const { body, status } = await hold();
    expect(await send()).toBe(507);
    body.end(" and half\r\n--x--\r\n");
    expect(await status).toBe(202);
    expect(await send()).toBe(202);
  });

  it("is released when an upload breaks off", async () => {
    const { body, status } = await hold();
    const broken = status.catch(() => "broken");
    body.destroy();
    expect(await broken).toBe("broken");
    await expect.poll(send).toBe(202);
  });
});
