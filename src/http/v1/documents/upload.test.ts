import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { startSite, htmlPage } from "#test/support/servers/fake-site.ts";
import { docxOf, pdfOf, wordParagraph } from "#test/support/knowledge/file-builders.ts";

const mb = 1_048_576;
const boundary = "parley-test";
const head = (name: string, more = "") =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
const fileHead = (name: string) => head("file", `; filename="${name}"\r\nContent-Type: application/octet-stream`);
const field = (name: string, value: string) => `${head(name)}${value}\r\n`;
const end = `--${boundary}--\r\n`;

// Threads start slowly on a busy machine.
const slow = { timeout: 240_000 };

eachDatabase("uploads", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open, { outbound: openGuardedFetch({ allowPrivate: ["127.0.0.1"] }) });
  });
  afterAll(() => app.close());

  const sendRaw = (text: string) =>
    app.post("/v1/documents/upload", Buffer.from(text, "latin1"), {
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    });
  const send = (name: string, content: BlobPart) => {
    const data = new FormData();
    data.append("file", new Blob([content]), name);
    return app.post("/v1/documents/upload", data);
  };
  const settled = async (id: string) => {
    await expect
      .poll(async () => (await app.get(`/v1/documents/${id}`)).body.document.status, { timeout: 200_000 })
      .toMatch(/indexed|failed/);
    return (await app.get(`/v1/documents/${id}`)).body.document as unknown as Record<string, unknown>;
  };
  const bodies = async () => {
    const heads = await app.store.read.selectFrom("document_bodies").select(["id", "document_id"]).execute();
    const parts = await app.store.read.selectFrom("document_body_parts").select(["body_id", "part"]).execute();
    return { heads, parts };
  };
  /** Sends a body in pieces while it is accepted. Returns the response and the number of bytes sent. */
  const pour = (piecesMax: number, begin: string) =>
    new Promise<{ readonly status: number; readonly body: string; readonly sent: number }>((resolve, reject) => {
      const piece = Buffer.alloc(65_536, "a");
      let sent = 0;
      let answered = false;
      const upload = request(`${app.url}/v1/documents/upload`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${app.workspace.key}`,
          "content-type": `multipart/form-data; boundary=${boundary}`,
        },
      });
      upload.on("error", (error) => {
        if (!answered) reject(error);
      });
      upload.on("response", (response) => {
        answered = true;
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("close", () => resolve({ status: response.statusCode ?? 0, body, sent }));
      });
      upload.write(begin);
      const more = (): void => {
        while (!answered && !upload.destroyed && sent < piecesMax * piece.byteLength) {
          sent += piece.byteLength;
          if (!upload.write(piece)) {
            upload.once("drain", more);
            return;
          }
        }
      };
      more();
    });

  it("accepts fields before and after the file", async () => {
    const before = await sendRaw(
      `${field("workspace_id", app.workspace.id)}${field("audience", "Team, b")}${fileHead("before.txt")}Text.\r\n${end}`,
    );
    expect(before).toMatchObject({ status: 202, body: { document: { audience: ["b", "team"] } } });
    const after = await sendRaw(
      `${fileHead("after.txt")}Text.\r\n${field("workspace_id", app.workspace.id)}${field("audience", "c")}${end}`,
    );
    expect(after).toMatchObject({ status: 202, body: { document: { audience: ["c"] } } });
  });

  it("stores nothing if the workspace turns out to be wrong or the form breaks off", async () => {
    const { heads } = await bodies();
    const other = await app.createWorkspace();
    const refused = await sendRaw(`${fileHead("other.txt")}Text.\r\n${field("workspace_id", other.id)}${end}`);
    expect(refused.status).toBe(403);
    expect((await sendRaw(`${fileHead("broken.txt")}Text that never`)).status).toBe(422);
    const after = await bodies();
    expect(after.heads).toEqual(heads);
    expect(new Set(after.parts.map((part) => part.body_id))).toEqual(new Set(heads.map(({ id }) => id)));
  });

  it("refuses other types before reading them", async () => {
    const answered = await pour(800, fileHead("film.mp4"));
    expect(answered.status).toBe(415);
    expect(JSON.parse(answered.body)).toMatchObject({ code: "unsupported_media_type" });
    expect(answered.sent).toBeLessThan(20 * mb);
  });

  it("stops an endless upload soon after the limit, and stores nothing", slow, async () => {
    const { heads } = await bodies();
    const answered = await pour(16_384, fileHead("endless.txt"));
    expect(answered.status).toBe(413);
    expect(JSON.parse(answered.body)).toMatchObject({ code: "payload_too_large" });
    // The client would send 16 GB; the sockets' buffers count too.
    expect(answered.sent).toBeLessThan(256 * mb);
    expect((await bodies()).heads).toEqual(heads);
  });

  it("stores a large file in parts without loss, and a file sent twice once", slow, async () => {
    const text = "Parcels leave on Monday. ".repeat(100_000);
    const first = await send("large.txt", text);
    expect(first.status).toBe(202);
    const count = (await bodies()).heads.length;
    const again = await send("large.txt", text);
    expect(again.body.document.id).toBe(first.body.document.id);
    const { heads, parts } = await bodies();
    expect(heads).toHaveLength(count);
    const own = heads.find((each) => each.document_id === first.body.document.id);
    expect(parts.filter((part) => part.body_id === own?.id)).toHaveLength(Math.ceil(text.length / mb));
    expect(await settled(first.body.document.id)).toMatchObject({ status: "indexed" });
  });

  it("removes the remains of interrupted uploads after an hour", slow, async () => {
    const now = app.clock.now();
    await app.store.write(async (tx) => {
      await tx.insertInto("document_bodies").values({ id: "bod_lost", document_id: null, created_at: now }).execute();
      await tx
        .insertInto("document_body_parts")
        .values({ body_id: "bod_lost", part: 0, body: Buffer.from("x") })
        .execute();
    });
    const lost = async () => (await bodies()).parts.some((part) => part.body_id === "bod_lost");
    for (let minutes = 0; minutes < 50; minutes += 10) {
      app.clock.advance(600_000);
      expect((await app.get("/health/live", { key: null })).status).toBe(200);
    }
    expect(await lost()).toBe(true);
    const later = (): Promise<boolean> => {
      app.clock.advance(600_000);
      return lost();
    };
    await expect.poll(later, { timeout: 60_000 }).toBe(false);
  });

  it("stores nothing of a document that is removed while it is being read", slow, async () => {
    const { body } = await send("removed.txt", "Unicorns weigh nothing at all. ".repeat(20_000));
    await expect
      .poll(async () => (await app.get(`/v1/documents/${body.document.id}`)).body.document.status, { timeout: 60_000 })
      .toMatch(/processing|indexed/);
    expect((await app.call("DELETE", `/v1/documents/${body.document.id}`)).status).toBe(204);
    await expect
      .poll(
        async () =>
          (
            await app.store.read
              .selectFrom("outbox")
              .select("id")
              .where("lane", "=", `ingest:${body.document.id}`)
              .execute()
          ).length,
        { timeout: 100_000 },
      )
      .toBe(0);
    const rows = await app.store.read
      .selectFrom("chunks")
      .select("id")
      .where("document_id", "=", body.document.id)
      .execute();
    expect(rows).toEqual([]);
  });

  describe("hostile files", slow, () => {
    const bomb = docxOf(wordParagraph("x"), [{ name: "word/bomb.xml", content: Buffer.alloc(70 * mb, 32) }]);
    const files: readonly (readonly [string, BlobPart, RegExp])[] = [
      ["bomb.docx", new Uint8Array(bomb), /unpacks/],
      ["deep.json", "[".repeat(200_000) + "]".repeat(200_000), /nested/],
      ["deep.html", "<div>".repeat(200_000), /nested/],
      ["scan.pdf", new Uint8Array(pdfOf([[]])), /text recognition/],
      ["renamed.md", new Uint8Array(pdfOf([[]])), /PDF/],
    ];

    it("fail with a reason, and delay no other request", async () => {
      const sent = [];
      for (const [name, content] of files) sent.push((await send(name, content)).body.document.id);
      const documents = Promise.all(sent.map(settled));
      let waiting = true;
      void documents.finally(() => (waiting = false));
      let answers = 0;
      do {
        expect((await app.get("/health/live", { key: null })).status).toBe(200);
        const asked = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "When do parcels leave?" });
        expect(asked.status).toBe(200);
        answers += 1;
      } while (waiting);
      expect(answers).toBeGreaterThan(0);
      for (const [index, document] of (await documents).entries()) {
        expect(document).toMatchObject({ status: "failed", error: expect.stringMatching(files[index]?.[2] ?? /^$/) });
      }
    });
  });

  it("crawls a website, cites its pages in answers, and removes it", slow, async () => {
    const site = await startSite(app.clock.now);
    site.pages.set("/", htmlPage("Griffins", "Griffins sleep in winter.", ["/food"]));
    site.pages.set("/food", htmlPage("Griffin food", "Griffins eat forty apples a day."));
    const begun = await app.post("/v1/documents/crawl", {
      url: `${site.origin}/`,
      max_pages: 5,
      workspace_id: app.workspace.id,
    });
    expect(begun).toMatchObject({ status: 202, body: { document: { source: "crawl", status: "pending" } } });
    const { id } = begun.body.document;
    const status = async () => {
      app.clock.advance(300);
      return (await app.get(`/v1/documents/${id}`)).body.document.status;
    };
    await expect.poll(status, { timeout: 60_000 }).toBe("indexed");
    expect((await app.get(`/v1/documents/${id}`)).body.document).toMatchObject({
      title: "Griffins",
      pages: 2,
      chunks: 2,
    });
    const ask = (more: object = {}) =>
      app.post("/v1/query", { workspace_id: app.workspace.id, query: "How many apples do griffins eat?", ...more });
    expect((await ask({ document_ids: [id] })).body).toMatchObject({
      answer: expect.stringContaining("forty") as unknown,
      sources: [{ title: "Griffin food", url: `${site.origin}/food` }],
    });
    const pages = await app.store.read.selectFrom("documents").select("id").where("parent_id", "=", id).execute();
    for (const page of pages) expect((await app.get(`/v1/documents/${page.id}`)).status).toBe(404);
    expect((await app.post(`/v1/documents/${id}/recrawl`, undefined)).status).toBe(202);
    await expect.poll(status, { timeout: 60_000 }).toBe("indexed");
    expect((await app.call("DELETE", `/v1/documents/${id}`)).status).toBe(204);
    expect((await ask()).body.answer).not.toContain("forty");
    await site.close();
  });

  it("refuses crawls of invalid addresses and of files", async () => {
    const crawl = (body: object) => app.post("/v1/documents/crawl", body);
    expect((await crawl({})).body.code).toBe("missing_field");
    expect((await crawl({ url: "not an address" })).body.code).toBe("invalid_parameter");
    expect((await crawl({ url: "https://a.example/", max_pages: 0 })).body.code).toBe("invalid_parameter");
    expect((await crawl({ url: "https://a.example/", audience: "x" })).body.code).toBe("invalid_audience");
    const file = await app.learn("file.md", "Text of a file.");
    const again = await app.post(`/v1/documents/${file}/recrawl`, undefined);
    expect(again).toMatchObject({ status: 409, body: { code: "not_a_website" } });
    const other = await app.createWorkspace();
    for (const id of [file, "doc_unknown"]) {
      expect((await app.post(`/v1/documents/${id}/recrawl`, undefined, { key: other.key })).status).toBe(404);
    }
  });
});
