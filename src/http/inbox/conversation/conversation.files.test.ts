import { afterAll, beforeAll, expect, it } from "vitest";
import type { ConversationView, FileView } from "#http/inbox/wire.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { png } from "#test/support/channels/file-channel.ts";
import type { InboxUser } from "#test/support/http/inbox.ts";
import { asked, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("files in the inbox", (open) => {
  let app: TestApp;
  let anna: InboxUser;
  let ben: InboxUser;
  let stranger: InboxUser;
  let customers = 0;

  beforeAll(async () => {
    app = await startApp(open);
    ({ anna, ben, stranger } = await signInTeam(app));
  });
  afterAll(() => app?.close());

  const begin = async (): Promise<string> => {
    const { conversationId } = await asked(app, `files-${(customers += 1)}`, "Where is my bill?");
    return conversationId;
  };
  const upload = (
    user: InboxUser,
    id: string,
    name: string,
    bytes: Uint8Array | ReadableStream,
    headers: Record<string, string> = { origin: app.url },
  ) =>
    fetch(`${app.url}/inbox/api/conversations/${id}/files?${new URLSearchParams({ name, type: "text/plain" })}`, {
      method: "POST",
      headers: { cookie: user.cookie, "content-type": "application/octet-stream", ...headers },
      body: bytes instanceof Uint8Array ? Uint8Array.from(bytes) : bytes,
      ...(bytes instanceof Uint8Array ? {} : { duplex: "half" }),
    });
  const uploaded = async (user: InboxUser, id: string, name: string, bytes: Uint8Array): Promise<FileView> =>
    (await upload(user, id, name, bytes)).json();
  const file = (user: InboxUser, url: string | null) =>
    fetch(`${app.url}${url ?? ""}`, { headers: { cookie: user.cookie } });
  const reply = async (user: InboxUser, id: string, files: readonly string[], content = "") => {
    const view = (await user.get(`conversations/${id}`)).body as ConversationView;
    return user.send("POST", `conversations/${id}/reply`, {
      content,
      files,
      clientId: `client-${id.slice(-8)}-${files.length}${content.length}`,
      lastSeq: view.lastSeq,
    });
  };

  it("are sent with a reply, displayed if they are pictures, and otherwise downloaded", async () => {
    const id = await begin();
    const picture = await uploaded(anna, id, "photo.txt", png);
    const page = await uploaded(anna, id, "page.html", Buffer.from("<script>alert(1)</script>"));
    const answered = await reply(anna, id, [picture.id, page.id]);
    expect(answered.status).toBe(200);
    const { files } = (answered.body as ConversationView).messages.at(-1) ?? { files: [] };
    expect(files).toMatchObject([
      { name: "photo.txt", preview: true, state: "stored" },
      { name: "page.html", preview: false, state: "stored" },
    ]);
    const [shown, saved] = await Promise.all(files.map(({ url }) => file(anna, url)));
    expect([shown?.status, shown?.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(saved?.headers.get("content-type")).toBe("application/octet-stream");
    for (const each of [shown, saved]) {
      expect(each?.headers.get("content-disposition")).toMatch(/^attachment;/);
      expect(each?.headers.get("x-content-type-options")).toBe("nosniff");
      expect(each?.headers.get("content-security-policy")).toContain("sandbox");
    }
    expect(Buffer.from(await (shown ?? new Response()).arrayBuffer()).equals(png)).toBe(true);
    const list = (await anna.get("conversations?view=mine")).body as {
      readonly items: readonly { preview: unknown }[];
    };
    expect(list.items[0]?.preview).toMatchObject({ text: "Where is my bill?" });
    // The API returns a link that needs no key and expires.
    const single = await app.get(`/v1/conversations/${id}`);
    const { attachments } =
      (single.body as unknown as { messages: { attachments?: { url: string }[] }[] }).messages.at(-1) ?? {};
    const link = new URL(attachments?.[0]?.url ?? "");
    expect((await fetch(`${app.url}${link.pathname}`)).status).toBe(200);
    expect((await fetch(`${app.url}${link.pathname.slice(0, -2)}`)).status).toBe(404);
  });

  it("are limited per message, also when they arrive at the same time", async () => {
    const id = await begin();
    const all = await Promise.all(
      Array.from({ length: 26 }, (_, i) => upload(anna, id, `${i}.txt`, Buffer.from(`file ${i}`))),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(20);
    expect(statuses.filter((status) => status === 413)).toHaveLength(6);
    const rows = app.store.read.selectFrom("attachments").select("id").where("conversation_id", "=", id);
    expect(await rows.execute()).toHaveLength(20);
  });

  it("are visible in their workspace only, and sent by their uploader only", async () => {
    const id = await begin();
    const bill = await uploaded(anna, id, "bill.pdf", Buffer.from("%PDF-1.7"));
    expect((await file(stranger, bill.url)).status).toBe(404);
    expect((await fetch(`${app.url}${bill.url ?? ""}`)).status).toBe(401);
    expect((await upload(stranger, id, "x", Buffer.from("x"))).status).toBe(404);
    expect((await upload(anna, id, "x", Buffer.from("x"), { origin: "https://evil.example" })).status).toBe(403);
    expect((await reply(ben, id, [bill.id])).status).toBe(422);
    const drop = (user: InboxUser) =>
      fetch(`${app.url}${bill.url ?? ""}`, { method: "DELETE", headers: { cookie: user.cookie, origin: app.url } });
    await drop(ben);
    expect((await file(anna, bill.url)).status).toBe(200);
    expect((await drop(anna)).status).toBe(204);
    expect((await file(anna, bill.url)).status).toBe(404);
    expect((await reply(anna, id, [bill.id])).status).toBe(422);
    expect((await reply(anna, id, [])).status).toBe(422);
  });

  it("are refused while they arrive if too large, and leave nothing if the browser disconnects", async () => {
    const id = await begin();
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1_048_576)),
    });
    const answer = await upload(anna, id, "endless", endless).catch(() => undefined);
    // A client that still sends may see the connection close before the response.
    if (answer !== undefined) expect(answer.status).toBe(413);
    const abort = new AbortController();
    const half = fetch(`${app.url}/inbox/api/conversations/${id}/files?name=half`, {
      method: "POST",
      headers: { cookie: anna.cookie, "content-type": "application/octet-stream", origin: app.url },
      body: new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(1_000)),
        pull: () => new Promise(() => undefined),
      }),
      duplex: "half",
      signal: abort.signal,
    } as RequestInit).catch(() => undefined);
    setTimeout(() => abort.abort(), 200);
    await half;
    const rows = await app.store.read
      .selectFrom("attachments")
      .select("id")
      .where("conversation_id", "=", id)
      .execute();
    expect(rows).toEqual([]);
  });
});
