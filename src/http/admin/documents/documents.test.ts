import { afterAll, beforeAll, expect, it } from "vitest";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { AdminAnswer, DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { pdfOf } from "#test/support/knowledge/file-builders.ts";
import { htmlPage, startSite } from "#test/support/servers/fake-site.ts";

interface ShownDocument {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly status: string;
  readonly error: string | null;
  readonly audience: readonly string[];
  readonly content_version: string;
  readonly progress: Readonly<Record<string, number>> | null;
}

// Threads start slowly on a busy machine.
const slow = { timeout: 120_000 };

eachDatabase("documents of the dashboard", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let viewer: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open, { outbound: openGuardedFetch({ allowPrivate: ["127.0.0.1"] }) });
    admin = await dashboardUser(app, "admin");
    viewer = await dashboardUser(app, "viewer");
  });
  afterAll(() => app.close());

  const documentOf = ({ body }: AdminAnswer) => (body as { readonly document: ShownDocument }).document;
  const upload = async (name: string, content: BlobPart, audience?: string) => {
    const form = new FormData();
    if (audience !== undefined) form.append("audience", audience);
    form.append("file", new Blob([content]), name);
    return documentOf(await admin.call("POST", "documents/upload", form));
  };
  const get = async (id: string) => documentOf(await viewer.call("GET", `documents/${id}`));
  const settled = async (id: string) => {
    const status = async () => {
      app.clock.advance(300);
      return (await get(id)).status;
    };
    await expect.poll(status, { timeout: 60_000 }).toMatch(/indexed|failed/);
    return get(id);
  };
  const ask = async (query: string) =>
    (await app.post("/v1/query", { workspace_id: app.workspace.id, query })).body.answer;
  const list = async (query: string) => {
    const { body } = await viewer.call("GET", `documents?${query}`);
    return (body as { readonly documents: readonly ShownDocument[] }).documents.map(({ title }) => title);
  };

  it("lists files, websites and articles, by kind, status, tag and text", slow, async () => {
    const file = await upload("Unicorn_care.md", "Unicorns need new horseshoes every spring.", "gold");
    expect(file).toMatchObject({ kind: "file", file_name: "Unicorn_care.md", audience: ["gold"], editable: true });
    await settled(file.id);
    const broken = await upload("broken.pdf", new Uint8Array(pdfOf([[]])));
    expect(await settled(broken.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/text recognition/),
    });
    expect(await list("status=failed")).toEqual(["Broken"]);
    expect(await list("tag=gold")).toEqual(["Unicorn care"]);
    expect(await list("tag=gol")).toEqual([]);
    expect(await list("q=UNICORN_C")).toEqual(["Unicorn care"]);
    expect(await list("q=100%25")).toEqual([]);
    expect(await list("kind=website")).toEqual([]);
    expect((await viewer.call("GET", "documents/tags")).body).toEqual({ tags: ["gold"] });
    const first = (await viewer.call("GET", "documents?limit=1")).body as {
      readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
    };
    expect(first.pagination.has_more).toBe(true);
    const cursor = encodeURIComponent(first.pagination.next_cursor);
    expect(await list(`limit=1&cursor=${cursor}`)).toEqual(["Unicorn care"]);
    expect((await viewer.call("GET", `documents?limit=1&kind=file&cursor=${cursor}`)).status).toBe(422);
  });

  it("changes a title without reading the file again, and the bot cites the new one at once", slow, async () => {
    const { id } = await upload("dragons.md", "# Dragons\n\n## Food\n\nDragons eat two sheep a day.");
    await settled(id);
    const before = await app.store.read.selectFrom("documents").selectAll().where("id", "=", id).executeTakeFirst();
    const changed = await admin.call("PATCH", `documents/${id}`, { title: "All about dragons" });
    expect(documentOf(changed)).toMatchObject({ title: "All about dragons", status: "indexed" });
    const answer = await app.post("/v1/query", {
      workspace_id: app.workspace.id,
      query: "How many sheep do dragons eat a day?",
    });
    expect(answer.body.sources[0]?.title).toBe("All about dragons › Food");
    const { body } = await viewer.call("GET", `documents/${id}/passages?q=SHEEP`);
    expect(body).toMatchObject({
      passages: [{ title: "All about dragons › Food", text: "Dragons eat two sheep a day.", position: 0 }],
      pagination: { has_more: false },
    });
    // A later upload of the file keeps the title.
    await upload("dragons.md", "# Dragons\n\nDragons eat three sheep a day.");
    expect(await settled(id)).toMatchObject({ title: "All about dragons" });
    expect(before?.body_id).not.toBeNull();
  });

  it("takes the title of a later version where only the audience was changed", slow, async () => {
    const { id } = await upload("basilisks.md", "# Basilisks\n\nBasilisks turn people to stone.");
    const { title } = await settled(id);
    // The form sends the title too.
    await admin.call("PATCH", `documents/${id}`, { title, audience: ["gold"] });
    await upload("basilisks.md", "# All about basilisks\n\nBasilisks turn people to stone.");
    expect(await settled(id)).toMatchObject({ title: "All about basilisks", audience: ["gold"] });
  });

  it("changes the title while the document is being indexed", slow, async () => {
    const { id } = await upload("griffins.md", "# Griffins\n\nGriffins sleep in winter.");
    expect((await admin.call("PATCH", `documents/${id}`, { title: "Winter" })).status).toBe(200);
    expect(await settled(id)).toMatchObject({ status: "indexed", title: "Winter" });
    const { body } = await viewer.call("GET", `documents/${id}/passages`);
    // Also where the document was indexed before the change came.
    expect(body).toMatchObject({ passages: [{ title: "Winter" }] });
    await upload("griffins.md", "# Griffins\n\nGriffins sleep in summer.");
    await settled(id);
    const later = await viewer.call("GET", `documents/${id}/passages`);
    expect(later.body).toMatchObject({ passages: [{ title: "Winter", text: "Griffins sleep in summer." }] });
  });

  it("changes the audience at once", slow, async () => {
    const { id } = await upload("phoenix.md", "A phoenix burns every five hundred years.");
    await settled(id);
    expect(await ask("How often does a phoenix burn?")).toContain("five hundred");
    await admin.call("PATCH", `documents/${id}`, { audience: ["Partners"] });
    expect((await get(id)).audience).toEqual(["partners"]);
    expect(await ask("How often does a phoenix burn?")).not.toContain("five hundred");
  });

  it("takes an article, and replaces it once the new version is indexed", slow, async () => {
    const added = await admin.call("POST", "documents/articles", {
      title: "Mermaids",
      content: "## Address\n\nMermaids live at the north pier.",
      audience: [],
    });
    expect(added.status).toBe(202);
    const { id } = documentOf(added);
    expect(await settled(id)).toMatchObject({ kind: "article", title: "Mermaids", status: "indexed" });
    const { body } = await viewer.call("GET", `documents/${id}/content`);
    const read = body as { readonly content: string; readonly version: string };
    expect(read.content).toBe("## Address\n\nMermaids live at the north pier.");

    const edit = { title: "Mermaids", content: "Mermaids live at the south pier.", based_on: read.version };
    expect((await admin.call("PUT", `documents/articles/${id}`, edit)).status).toBe(202);
    await settled(id);
    expect(await ask("Where do mermaids live?")).toContain("south pier");
    const late = await admin.call("PUT", `documents/articles/${id}`, { ...edit, content: "Mermaids moved." });
    expect([late.status, late.body]).toMatchObject([409, { code: "edit_conflict" }]);
    expect(await ask("Where do mermaids live?")).toContain("south pier");
  });

  it("edits uploaded text files, and refuses other documents", slow, async () => {
    const { id, content_version: version } = await upload("trolls.txt", "Trolls count slowly.");
    await settled(id);
    const save = { title: "Trolls", content: "Trolls count fast.", based_on: version };
    expect(documentOf(await admin.call("PUT", `documents/articles/${id}`, save))).toMatchObject({ kind: "file" });
    const pdf = await upload("empty.pdf", new Uint8Array(pdfOf([[]])));
    const refused = await viewer.call("GET", `documents/${pdf.id}/content`);
    expect([refused.status, refused.body]).toMatchObject([409, { code: "not_editable" }]);
    const unsaved = await admin.call("PUT", `documents/articles/${pdf.id}`, {
      ...save,
      based_on: pdf.content_version,
    });
    expect(unsaved.body).toMatchObject({ code: "not_editable" });
    const bodies = await app.store.read
      .selectFrom("document_bodies")
      .select("id")
      .where("document_id", "is", null)
      .execute();
    expect(bodies).toEqual([]);
    for (const content of ["", " \n", "x".repeat(200_001)]) {
      const answer = await admin.call("POST", "documents/articles", { title: "T", content });
      expect(answer.status).toBe(422);
    }
  });

  it("adds a website, shows its progress and pages, and crawls it again", slow, async () => {
    const site = await startSite(app.clock.now);
    site.pages.set("/", htmlPage("Sphinxes", "Sphinxes ask riddles.", ["/a", "/missing", "/app"]));
    site.pages.set("/app", '<div id="root"><p>Loading the sphinxes.</p></div><script src="/app.js"></script>');
    site.pages.set("/a", htmlPage("Riddles", "A riddle has one answer."));
    const added = await admin.call("POST", "documents/crawl", { url: `${site.origin}/`, max_pages: 10 });
    const { id } = documentOf(added);
    expect(documentOf(added)).toMatchObject({ kind: "website", status: "pending", progress: { found: 0, kept: 0 } });
    expect(await settled(id)).toMatchObject({
      status: "indexed",
      progress: { found: 4, queued: 0, kept: 3, partly: 1, failed: 1 },
    });
    const first = (await viewer.call("GET", `documents/${id}/pages?limit=2`)).body as {
      readonly pages: readonly { readonly state: string; readonly title: string | null }[];
      readonly pagination: { readonly next_cursor: string };
    };
    expect(first.pages).toMatchObject([{ title: "Sphinxes", state: "kept", passages: 1 }, {}]);
    const cursor = encodeURIComponent(first.pagination.next_cursor);
    const rest = (await viewer.call("GET", `documents/${id}/pages?limit=2&cursor=${cursor}`)).body;
    expect(rest).toMatchObject({
      pages: [{}, { state: "kept", reason: expect.stringContaining("no scripts run here") as unknown }],
      pagination: { has_more: false },
    });
    const gone = (await viewer.call("GET", `documents/${id}/pages?state=gone`)).body as typeof first;
    const failed = (await viewer.call("GET", `documents/${id}/pages?state=failed`)).body as typeof first;
    expect([...gone.pages, ...failed.pages]).toMatchObject([{ url: `${site.origin}/missing` }]);
    const { body } = await viewer.call("GET", `documents/${id}/passages?limit=1`);
    expect(body).toMatchObject({ passages: [{}], pagination: { has_more: true } });
    expect((await admin.call("PATCH", `documents/${id}`, { title: "The site" })).status).toBe(200);
    expect((await admin.call("POST", `documents/${id}/recrawl`)).status).toBe(202);
    await expect
      .poll(
        async () => {
          app.clock.advance(300);
          const { progress } = await get(id);
          return progress?.["queued"];
        },
        { timeout: 60_000 },
      )
      .toBe(0);
    expect((await get(id)).title).toBe("The site");
    await site.close();
  });

  it("removes several documents, and records who changed what", slow, async () => {
    const one = await upload("one.md", "Text one.");
    const two = await upload("two.md", "Text two.");
    const { body } = await admin.call("POST", "documents/remove", { document_ids: [one.id, "doc_none", two.id] });
    expect(body).toEqual({ removed: [one.id, two.id] });
    expect((await admin.call("DELETE", `documents/${one.id}`)).status).toBe(404);
    const { id } = documentOf(await admin.call("POST", "documents/articles", { title: "Short", content: "Text." }));
    await admin.call("PATCH", `documents/${id}`, { title: "Long", audience: ["a"] });
    expect((await admin.call("DELETE", `documents/${id}`)).status).toBe(204);
    const entries = await app.store.read
      .selectFrom("audit")
      .select(["action", "actor_id", "detail", "to_value"])
      .where("detail", "in", ["One", "Short", "Long"])
      .orderBy("id")
      .execute();
    const by = { actor_id: admin.email };
    expect(entries).toMatchObject([
      { action: "document_added", detail: "One", ...by },
      { action: "document_removed", detail: "One", ...by },
      { action: "document_added", detail: "Short", ...by },
      { action: "document_changed", detail: "Short", to_value: "title: Long; audience: a", ...by },
      { action: "document_removed", detail: "Long", ...by },
    ]);
  });

  it("refuses changes by viewers, and shows nothing of other workspaces", async () => {
    const article = { title: "T", content: "Text." };
    expect((await viewer.call("POST", "documents/articles", article)).status).toBe(403);
    const { id } = documentOf(await admin.call("POST", "documents/articles", article));
    const workspaceId = (await app.createWorkspace()).id;
    const other = await dashboardUser(app, "admin", { workspaceId });
    for (const path of ["", "/pages", "/passages", "/content"]) {
      expect((await other.call("GET", `documents/${id}${path}`)).status).toBe(404);
    }
    for (const [method, path, body] of [
      ["PATCH", `documents/${id}`, { title: "Mine" }],
      ["PUT", `documents/articles/${id}`, { ...article, based_on: "x" }],
      ["POST", `documents/${id}/recrawl`, undefined],
      ["DELETE", `documents/${id}`, undefined],
    ] as const) {
      expect((await other.call(method, path, body)).status).toBe(404);
    }
    expect((await other.call("POST", "documents/remove", { document_ids: [id] })).body).toEqual({ removed: [] });
  });
});
