import { request } from "node:http";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { TestApp } from "../support/app.ts";
import { startApp } from "../support/app.ts";
import { eachDatabase } from "../support/databases.ts";

// A busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

eachDatabase("documents", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const form = (
    name: string,
    content: BlobPart,
    fields: readonly (readonly [string, string])[] = [],
    part = "file",
  ) => {
    const data = new FormData();
    for (const [field, value] of fields) data.append(field, value);
    data.append(part, new Blob([content]), name);
    return data;
  };
  const upload = (body: unknown, key = app.workspace.key, query = "") =>
    app.post(`/v1/documents/upload${query}`, body, { key });
  const document = (id: string, key = app.workspace.key) => app.get(`/v1/documents/${id}`, { key });

  it("takes a file, indexes it and answers from it", async () => {
    const { status, body } = await upload(
      form("parrots.md", "# Parrots\n\nParrots live for eighty years.", [["audience", "a, b"]]),
    );
    expect(status).toBe(202);
    expect(body.document).toMatchObject({
      id: expect.stringMatching(/^doc_/),
      workspace_id: app.workspace.id,
      source: "upload",
      title: "Parrots",
      audience: ["a", "b"],
    });
    await expect
      .poll(async () => (await document(body.document.id)).body.document.status, { timeout: 60_000 })
      .toBe("indexed");
    const answered = await app.post("/v1/query", {
      workspace_id: app.workspace.id,
      query: "How many years do parrots live?",
      audience: ["a"],
    });
    expect(answered.body.answer).toContain("eighty");
  });

  it("ends an empty file as failed, with the reason", async () => {
    const { status, body } = await upload(form("empty.txt", ""));
    expect(status).toBe(202);
    await expect
      .poll(async () => (await document(body.document.id)).body.document, { timeout: 60_000 })
      .toMatchObject({ status: "failed", error: expect.stringMatching(/./) });
  });

  it("keeps the id of a file that is added again", async () => {
    const first = await upload(form("same.txt", "The first text of this file."));
    const second = await upload(form("same.txt", "The second text of this file."));
    expect(second.body.document.id).toBe(first.body.document.id);
  });

  it("refuses other types with 415", async () => {
    expect(await upload(form("image.png", "x"))).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type" },
    });
    expect(await upload({ file: "x" })).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  });

  it("refuses a file over 25 MB with 413", async () => {
    const answered = await upload(form("large.txt", Buffer.alloc(25 * 1_048_576 + 1, "a")));
    expect(answered).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });

  it("asks for the file", async () => {
    const empty = new FormData();
    empty.append("workspace_id", app.workspace.id);
    expect(await upload(empty)).toMatchObject({ status: 400, body: { code: "missing_field" } });
    expect((await upload(form("a.txt", "text", [], "other"))).body.code).toBe("invalid_parameter");
    const two = form("a.txt", "text");
    two.append("file", new Blob(["text"]), "b.txt");
    expect((await upload(two)).body.code).toBe("invalid_parameter");
  });

  it("refuses a form that breaks off", async () => {
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

  it("goes on when a client goes away in the middle of an upload", async () => {
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

  it("checks workspace_id wherever it is sent", async () => {
    const other = await app.createWorkspace();
    const withField = (id: string) => upload(form("w.txt", "Some text.", [["workspace_id", id]]));
    expect((await withField(app.workspace.id)).status).toBe(202);
    expect((await withField(app.workspace.id.replace("wt_", "ws_"))).status).toBe(202);
    expect(await withField(other.id)).toMatchObject({ status: 403, body: { code: "workspace_access_denied" } });
    expect(await withField("x")).toMatchObject({ status: 400, body: { code: "invalid_workspace_id" } });
    const inQuery = await upload(form("w.txt", "Some text."), app.workspace.key, "?workspace_id=wt_zzzzzz_0123456789");
    expect(inQuery).toMatchObject({ status: 404, body: { code: "workspace_not_found" } });
    const list = await app.get(`/v1/documents?workspace_id=${other.id}`);
    expect(list).toMatchObject({ status: 403, body: { code: "workspace_access_denied" } });
  });

  it("lists page by page, filtered by status", async () => {
    const workspace = await app.createWorkspace();
    const { key } = workspace;
    for (let i = 0; i < 5; i += 1) {
      app.clock.advance(i % 2);
      expect((await upload(form(`list-${i}.txt`, `The text of the file number ${i}.`), key)).status).toBe(202);
    }
    const list = (parameters = "") => app.get(`/v1/documents${parameters}`, { key });
    await expect.poll(async () => (await list("?status=indexed")).body.documents.length, { timeout: 60_000 }).toBe(5);
    const all = (await list()).body.documents.map(({ id }) => id);
    const walked: string[] = [];
    let cursor = "";
    for (;;) {
      const { body } = await list(`?limit=2${cursor}`);
      walked.push(...body.documents.map(({ id }) => id));
      cursor = `&cursor=${body.pagination.next_cursor}`;
      if (!body.pagination.has_more) break;
    }
    expect(walked).toEqual(all);
    expect((await list(`?limit=2${cursor}`)).body.documents).toEqual([]);
    expect((await list(`?status=failed${cursor}`)).body.code).toBe("invalid_cursor");
    expect((await list("?status=failed")).body).toMatchObject({ documents: [], pagination: { has_more: false } });
    expect((await list("?status=gone")).body.code).toBe("invalid_parameter");
    expect((await list("?limit=101")).body.code).toBe("invalid_parameter");
    const foreign = await app.get("/v1/documents?limit=100");
    expect(foreign.body.documents.some(({ id }) => all.includes(id))).toBe(false);
  });

  it("deletes a document, from which nothing is answered any more", async () => {
    const id = await app.learn("gone.md", "# Unicorns\n\nUnicorns eat seventeen apples a day.");
    const ask = () =>
      app.post("/v1/query", { workspace_id: app.workspace.id, query: "How many apples do unicorns eat?" });
    expect((await ask()).body.answer).toContain("seventeen");
    const deleted = await app.call("DELETE", `/v1/documents/${id}`);
    expect([deleted.status, deleted.body]).toEqual([204, ""]);
    expect((await ask()).body.answer).not.toContain("seventeen");
    expect((await document(id)).body.code).toBe("document_not_found");
    expect((await app.call("DELETE", `/v1/documents/${id}`)).body.code).toBe("document_not_found");
  });

  it("answers a document of another workspace like an unknown one", async () => {
    const id = await app.learn("mine.md", "# Mine\n\nThis is mine alone.");
    const other = await app.createWorkspace();
    for (const method of ["GET", "DELETE"]) {
      const answered = await app.call(method, `/v1/documents/${id}`, { key: other.key });
      expect(answered).toMatchObject({ status: 404, body: { code: "document_not_found" } });
    }
    expect((await document(id)).status).toBe(200);
  });
});
