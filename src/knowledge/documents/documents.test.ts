import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createWorkTable } from "#queue/work-table.ts";
import type { OpenStore } from "#database/open.ts";
import type { Document, Documents } from "./documents.ts";
import { documentBytesMax } from "./blocks.ts";
import { createDocuments } from "./documents.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { newWorkspace, noFetch, silentLog, steppingClock } from "#test/support/knowledge/knowledge.ts";

eachDatabase("documents", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  let documents: Documents;
  let workspaceId: string;
  let settled: Document[];
  const clock = steppingClock();

  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
  });
  afterAll(() => close());
  beforeEach(async () => {
    settled = [];
    workspaceId = await newWorkspace(store);
    documents = createDocuments({
      store,
      clock,
      log: silentLog,
      fetch: noFetch,
      onSettled: async (_tx, document) => {
        settled.push(document);
      },
    });
  });

  const upload = (fileName: string, text: string, more: object = {}) =>
    documents.add({ workspaceId, fileName, bytes: Buffer.from(text), ...more });
  const chunkTexts = async (documentId: string) =>
    (
      await store.read
        .selectFrom("chunks")
        .select(["text"])
        .where("document_id", "=", documentId)
        .orderBy("position")
        .execute()
    ).map((row) => row.text);
  const work = (documentId: string) =>
    store.read
      .selectFrom("outbox")
      .select(["lane", "kind", "payload"])
      .where("lane", "=", `ingest:${documentId}`)
      .execute();
  const version = async () =>
    (
      await store.read
        .selectFrom("workspaces")
        .select("knowledge_version")
        .where("id", "=", workspaceId)
        .executeTakeFirstOrThrow()
    ).knowledge_version;

  it("stores an upload and queues its indexing in one transaction", async () => {
    const document = await upload("return-policy.md", "# Returns\n\nThirty days.", {
      audience: ["b", "a", "b"],
      url: "https://s.example/r",
    });
    expect(document).toEqual({
      id: expect.stringMatching(/^doc_/) as unknown,
      workspaceId,
      source: "upload",
      title: "Return policy",
      url: "https://s.example/r",
      status: "pending",
      error: null,
      chunks: 0,
      pages: 0,
      audience: ["a", "b"],
      createdAt: clock.now(),
      indexedAt: null,
      crawledAt: null,
    });
    expect(await work(document.id)).toEqual([
      { lane: `ingest:${document.id}`, kind: "ingest", payload: JSON.stringify({ documentId: document.id }) },
    ]);
  });

  it("indexes a document once, even if several workers run the work", async () => {
    const { id } = await upload("a.md", "# Returns\n\nThirty days.");
    await Promise.all([documents.process(id), documents.process(id), documents.process(id)]);
    await documents.process(id);
    expect(await documents.get(workspaceId, id)).toMatchObject({
      status: "indexed",
      title: "Returns",
      chunks: 1,
      pages: 1,
      indexedAt: clock.now(),
    });
    expect(await chunkTexts(id)).toEqual(["Thirty days."]);
    expect(await version()).toBe(1);
    expect(settled.map(({ status }) => status)).toEqual(["indexed"]);
  });

  it("does not index an unchanged document again", async () => {
    const { id } = await upload("a.md", "Thirty days.");
    await documents.process(id);
    const again = await upload("a.md", "Thirty days.");
    expect(again).toMatchObject({ id, status: "indexed" });
    expect(await work(id)).toHaveLength(1);
    expect(await version()).toBe(1);
  });

  it("replaces a document of the same name, whose old version answers until the new one is ready", async () => {
    const { id } = await upload("a.md", "Thirty days.");
    await documents.process(id);
    const again = await upload("a.md", "Forty days.");
    expect(again).toMatchObject({ id, status: "pending" });
    expect(await chunkTexts(id)).toEqual(["Thirty days."]);
    await documents.process(id);
    expect(await chunkTexts(id)).toEqual(["Forty days."]);
    expect(await version()).toBe(2);
    expect((await documents.list(workspaceId)).documents).toHaveLength(1);
  });

  it("keeps the old version and reports the error if the new one is unreadable", async () => {
    const { id } = await upload("a.md", "Thirty days.");
    await documents.process(id);
    await documents.add({ workspaceId, fileName: "a.md", bytes: Buffer.from([0, 1, 2, 3]) });
    await documents.process(id);
    expect(await documents.get(workspaceId, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("binary") as unknown,
    });
    expect(await chunkTexts(id)).toEqual(["Thirty days."]);
    expect(settled.map(({ status }) => status)).toEqual(["indexed", "failed"]);
    // Adding the same content again is a new attempt.
    expect(await documents.add({ workspaceId, fileName: "a.md", bytes: Buffer.from([0, 1, 2, 3]) })).toMatchObject({
      status: "pending",
    });
  });

  it("marks an empty file as failed", async () => {
    const { id } = await upload("empty.txt", "");
    await documents.process(id);
    expect(await documents.get(workspaceId, id)).toMatchObject({ status: "failed", error: "The file is empty." });
  });

  it("indexes the newest content if the document is replaced during the indexing", async () => {
    const { id } = await upload("a.md", `Old. ${"Some words to read. ".repeat(2_000)}`);
    const running = documents.process(id);
    await upload("a.md", "New.");
    await running;
    await documents.process(id);
    expect(await chunkTexts(id)).toEqual(["New."]);
    expect(await documents.get(workspaceId, id)).toMatchObject({ status: "indexed" });
  });

  it("creates one document for a file added twice concurrently", async () => {
    const added = await Promise.all(Array.from({ length: 6 }, () => upload("a.md", "Thirty days.")));
    expect(new Set(added.map(({ id }) => id)).size).toBe(1);
  });

  it("changes the audience of a document without re-indexing it", async () => {
    const { id } = await upload("a.md", "Thirty days.");
    await documents.process(id);
    expect(await upload("a.md", "Thirty days.", { audience: ["staff"] })).toMatchObject({
      status: "indexed",
      audience: ["staff"],
    });
    expect(await version()).toBe(2);
    expect(await work(id)).toHaveLength(1);
  });

  it("refuses unreadable types and files that are too large", async () => {
    await expect(upload("photo.png", "x", { mediaType: "image/png" })).rejects.toMatchObject({
      code: "unsupported_media_type",
    });
    const bytes = new Uint8Array(25 * 1024 * 1024 + 1);
    await expect(documents.add({ workspaceId, fileName: "a.md", bytes })).rejects.toMatchObject({
      code: "payload_too_large",
    });
  });

  it("stores and reads a file of the maximum size, and an empty file", async () => {
    const sentence = "Parcels leave on Monday. ";
    const bytes = Buffer.from(sentence.repeat(Math.floor(documentBytesMax / sentence.length)));
    const large = await documents.add({ workspaceId, fileName: "large.txt", bytes });
    const stored = await store.read
      .selectFrom("document_body_parts")
      .innerJoin("document_bodies", "document_bodies.id", "body_id")
      .select("body")
      .where("document_id", "=", large.id)
      .orderBy("part")
      .execute();
    expect(Buffer.concat(stored.map(({ body }) => body)).equals(bytes)).toBe(true);
    const empty = await upload("empty.txt", "");
    await documents.process(empty.id);
    expect(await documents.get(workspaceId, empty.id)).toMatchObject({ status: "failed", error: "The file is empty." });
  });

  it("keeps the audience of a document that is added again without one, and removes it on request", async () => {
    const add = (audience?: readonly string[]) =>
      documents.add({
        workspaceId,
        fileName: "gated.md",
        bytes: Buffer.from(`Text ${Math.random()}`),
        ...(audience === undefined ? {} : { audience }),
      });
    await add(["pro"]);
    expect((await add()).audience).toEqual(["pro"]);
    expect((await add([])).audience).toEqual([]);
    const site = (audience?: readonly string[]) =>
      documents.crawl({ workspaceId, url: "https://gated.test/", ...(audience === undefined ? {} : { audience }) });
    await site(["pro"]);
    expect((await site()).audience).toEqual(["pro"]);
    expect((await site([])).audience).toEqual([]);
  });

  it("retries an abandoned website at its next regular crawl", async () => {
    const { id } = await documents.crawl({ workspaceId, url: "https://broken.test/" });
    const itsWork = () => store.read.selectFrom("outbox").selectAll().where("payload", "like", `%${id}%`).execute();
    const [row] = await itsWork();
    if (row === undefined) throw new Error("the website has no work");
    const works = createWorkTable(documents.work);
    const read = works.read(row);
    if (read === undefined) throw new Error("the work cannot be read");
    await store.write(async (tx) => works.get(row.kind)?.onAbandon?.(tx, read, "it broke", row.created_at));
    expect(await documents.get(workspaceId, id)).toMatchObject({ status: "failed" });
    expect((await itsWork()).filter(({ kind }) => kind === "recrawl")).toHaveLength(1);
  });

  it("queues work for pending documents without work", async () => {
    const { id } = await upload("a.md", "Thirty days.");
    await store.write((tx) => tx.deleteFrom("outbox").where("lane", "=", `ingest:${id}`).execute());
    await documents.resumePending();
    await documents.resumePending();
    expect(await work(id)).toHaveLength(1);
  });

  it("removes a document with all its data, only in its own workspace", async () => {
    const { id } = await upload("a.md", "Thirty days.");
    await documents.process(id);
    expect(await documents.remove(await newWorkspace(store), id)).toBe(false);
    expect(await documents.remove(workspaceId, id)).toBe(true);
    expect(await documents.remove(workspaceId, id)).toBe(false);
    expect(await documents.get(workspaceId, id)).toBeUndefined();
    expect(await chunkTexts(id)).toEqual([]);
    expect(await version()).toBe(2);
    // The queued work finds no document.
    await documents.process(id);
  });

  describe("the list of documents", () => {
    it("returns pages newest first, without repeats or gaps while documents are added", async () => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        if (n % 2 === 0) clock.advance(1);
        ids.unshift((await upload(`${n}.md`, "x")).id);
      }
      const seen: string[] = [];
      let page = await documents.list(workspaceId, { limit: 2 });
      for (;;) {
        seen.push(...page.documents.map(({ id }) => id));
        if (!page.hasMore) break;
        await upload(`later-${seen.length}.md`, "x");
        page = await documents.list(workspaceId, { limit: 2, cursor: page.nextCursor });
      }
      expect(seen).toEqual(ids);
      const after = await documents.list(workspaceId, { limit: 2, cursor: page.nextCursor });
      expect(after).toMatchObject({
        documents: [],
        hasMore: false,
        nextCursor: expect.stringMatching(/^cur_/) as unknown,
      });
    });

    it("filters by status, and refuses a cursor of another list", async () => {
      const { id } = await upload("a.md", "Text.");
      await documents.process(id);
      await upload("b.md", "Text.");
      const page = await documents.list(workspaceId, { status: "indexed" });
      expect(page.documents.map((document) => document.id)).toEqual([id]);
      for (const cursor of [
        page.nextCursor,
        "cur_x",
        "nonsense",
        `cur_${Buffer.from("[1,2]").toString("base64url")}`,
      ]) {
        await expect(documents.list(workspaceId, { cursor })).rejects.toMatchObject({ code: "invalid_cursor" });
      }
    });
  });
});
