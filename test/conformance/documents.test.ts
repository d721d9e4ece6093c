import { expect, it } from "vitest";
import type { Client } from "../support/http/contract.ts";
import { eachContract, idPattern, shownNow, timestampPattern, walk } from "../support/http/contract.ts";

eachContract("4.9 documents", (at) => {
  const form = (name: string, content: BlobPart, fields: readonly (readonly [string, string])[] = []) => {
    const data = new FormData();
    for (const [field, value] of fields) data.append(field, value);
    data.append("file", new Blob([content]), name);
    return data;
  };
  const upload = (body: unknown, client: Client = at.client, query = "") =>
    client.post(`/v1/documents/upload${query}`, body);
  const document = async (id: string, client: Client = at.client) =>
    (await client.get(`/v1/documents/${id}`)).body.document;
  const settled = async (id: string, client?: Client) => {
    await expect.poll(async () => (await document(id, client)).status).toMatch(/indexed|failed/);
    return document(id, client);
  };

  it("4.9 answers 202 to an upload, with the current document", async () => {
    const { status, body } = await upload(
      form("parrots.md", "# Parrots\n\nParrots live for eighty years.", [["audience", "a, b"]]),
    );
    expect(status).toBe(202);
    expect(body).toEqual({
      document: {
        id: expect.stringMatching(idPattern("doc")),
        workspace_id: at.client.id,
        source: "upload",
        title: expect.any(String),
        url: null,
        status: expect.stringMatching(/^(pending|processing|indexed)$/),
        error: null,
        chunks: expect.any(Number),
        pages: expect.any(Number),
        audience: ["a", "b"],
        created_at: shownNow(at.app),
        indexed_at: null,
      },
    });
    expect(await settled(body.document.id)).toMatchObject({
      status: "indexed",
      title: "Parrots",
      chunks: 1,
      indexed_at: expect.stringMatching(timestampPattern),
    });
  });

  it.each([
    ["guide.md", "# Guide\n\nThe capital of Elbonia is Mudville."],
    ["guide.txt", "The capital of Elbonia is Mudville."],
    ["guide.html", "<html><body><h1>Guide</h1><p>The capital of Elbonia is Mudville.</p></body></html>"],
    ["GUIDE.TXT", "The capital of Elbonia is Mudville."],
  ])("4.9 accepts %s and answers from it", async (name, content) => {
    const client = await at.fresh();
    const { status, body } = await upload(form(name, content), client);
    expect(status).toBe(202);
    expect(await settled(body.document.id, client)).toMatchObject({ status: "indexed", error: null });
    const answered = await client.ask({ query: "What is the capital of Elbonia?" });
    expect(answered.body.sources.map((source) => Reflect.get(source, "chunk") as string).join()).toContain("Mudville");
  });

  it.each(["image.png", "archive.zip", "program.exe", "noextension", "trick.md.exe", ".md"])(
    "4.9 answers 415 to a file of another type: %s",
    async (name) => {
      const { status, body } = await upload(form(name, "\u0089PNG x"));
      expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
    },
  );

  it("4.9 answers 415 to a body that is not a form", async () => {
    const { status, body } = await upload({ file: "x" });
    expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
  });

  it("4.9 marks an empty file as failed, with the reason", async () => {
    const { status, body } = await upload(form("empty.txt", ""));
    expect(status).toBe(202);
    expect(await settled(body.document.id)).toMatchObject({ status: "failed", error: expect.stringMatching(/\S/) });
  });

  it("4.9 accepts 25 MB, and answers 413 to one byte more", async () => {
    const over = await upload(form("large.txt", Buffer.alloc(25 * 1_048_576 + 1, "a")));
    expect([over.status, over.body.code]).toEqual([413, "payload_too_large"]);
  });

  it("4.9 requires the part named file", async () => {
    const empty = new FormData();
    empty.append("workspace_id", at.client.id);
    const { status, body } = await upload(empty);
    expect([status, body.code]).toEqual([400, "missing_field"]);
    expect(body.detail).toContain("file");
  });

  it("4.9 reads workspace_id from a field or a parameter, and requires the key's workspace", async () => {
    const other = await at.fresh();
    const withField = (id: string) => upload(form("w.txt", "Some text.", [["workspace_id", id]]));
    expect((await withField(at.client.id)).status).toBe(202);
    expect((await withField(at.client.id.replace("wt_", "ws_"))).status).toBe(202);
    for (const [id, status, code] of [
      [other.id, 403, "workspace_access_denied"],
      ["x", 400, "invalid_workspace_id"],
      ["wt_zzzzzz_0123456789", 404, "workspace_not_found"],
    ] as const) {
      const asField = await withField(id);
      expect([id, asField.status, asField.body.code]).toEqual([id, status, code]);
      const asParameter = await upload(form("w.txt", "Some text."), at.client, `?workspace_id=${id}`);
      expect([id, asParameter.status, asParameter.body.code]).toEqual([id, status, code]);
      const list = await at.client.get(`/v1/documents?workspace_id=${id}`);
      expect([id, list.status, list.body.code]).toEqual([id, status, code]);
    }
    expect((await other.get("/v1/documents")).body.documents).toEqual([]);
  });

  it("4.9 keeps the id of a file that is uploaded again, and answers from the new version once it is indexed", async () => {
    const client = await at.fresh();
    const first = await upload(form("fee.txt", "The fee for a zeppelin ride is twelve euros."), client);
    await settled(first.body.document.id, client);
    const second = await upload(form("fee.txt", "The fee for a zeppelin ride is ninety euros."), client);
    expect(second.body.document.id).toBe(first.body.document.id);
    await expect
      .poll(async () => (await client.ask({ query: "What is the fee for a zeppelin ride?" })).body.answer)
      .toContain("ninety");
    expect((await client.get("/v1/documents")).body.documents).toHaveLength(1);
  });

  it("4.9 lists the newest documents first, by page and by status", async () => {
    const client = await at.fresh();
    const ids = [];
    for (let i = 0; i < 5; i += 1) {
      at.app.clock.advance(i % 2);
      ids.push((await upload(form(`list-${i}.txt`, `The text of the file number ${i}.`), client)).body.document.id);
    }
    const failed = (await upload(form("none.txt", ""), client)).body.document.id;
    for (const id of [...ids, failed]) await settled(id, client);
    const list = (parameters = "") => client.get(`/v1/documents?${parameters}`);
    const idsOf = (body: { readonly documents: readonly { readonly id: string }[] }) =>
      body.documents.map(({ id }) => id);
    const all = idsOf((await list()).body);
    expect(all).toHaveLength(6);
    const { ids: walked, last } = await walk((cursor) => list(`limit=4${cursor}`), idsOf);
    expect(walked).toEqual(all);
    expect((await list(`limit=4${last}`)).body).toMatchObject({ documents: [], pagination: { has_more: false } });
    expect(idsOf((await list("status=failed")).body)).toEqual([failed]);
    expect(idsOf((await list("status=indexed")).body).toSorted()).toEqual(ids.toSorted());
    expect(idsOf((await list("status=pending")).body)).toEqual([]);
    expect((await list(`status=failed${last}`)).body.code).toBe("invalid_cursor");
  });

  it.each(["status=gone", "status=", "limit=0", "limit=101", "limit=x"])(
    "4.9 refuses a list with %s",
    async (given) => {
      const { status, body } = await at.client.get(`/v1/documents?${given}`);
      expect([status, body.code]).toEqual([422, "invalid_parameter"]);
    },
  );

  it("4.9 deletes a document and stops answering from it", async () => {
    const id = await at.app.learn("gone.md", "# Unicorns\n\nUnicorns eat seventeen apples a day.");
    const ask = async () => (await at.client.ask({ query: "How many apples do unicorns eat?" })).body.answer;
    expect(await ask()).toContain("seventeen");
    const deleted = await at.client.call("DELETE", `/v1/documents/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, ""]);
    expect(await ask()).not.toContain("seventeen");
    for (const method of ["GET", "DELETE"]) {
      const { status, body } = await at.client.call(method, `/v1/documents/${id}`);
      expect([method, status, body.code]).toEqual([method, 404, "document_not_found"]);
    }
    expect((await at.client.ask({ document_ids: [id] })).body.code).toBe("document_not_found");
  });

  it("4.9 compares a document's id exactly", async () => {
    const id = await at.app.learn("letter.md", "# Letter\n\nTo the letter.");
    for (const other of [`${id}%20`, id.toUpperCase(), "doc_none", "a".repeat(2_000)]) {
      for (const method of ["GET", "DELETE"]) {
        expect([method, other, (await at.client.call(method, `/v1/documents/${other}`)).status]).toEqual([
          method,
          other,
          404,
        ]);
      }
    }
    expect((await at.client.ask({ document_ids: [`${id} `] })).body.code).toBe("document_not_found");
  });

  it("4.9 removes paths and control characters from a file's name", async () => {
    const client = await at.fresh();
    for (const name of ["../../etc/passwd.txt", "C:\\secrets\\list.txt", "a\u0000b.txt", `${"n".repeat(300)}.txt`]) {
      const { status, body } = await upload(form(name, "Some text."), client);
      expect([name, status]).toEqual([name, 202]);
      // oxlint-disable-next-line no-control-regex -- the name must not contain control characters
      expect(JSON.stringify(await settled(body.document.id, client))).not.toMatch(/etc\/|secrets|[\u0000-\u001f]/);
    }
  });
});
