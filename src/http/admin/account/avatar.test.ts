import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { removeOrphanFiles } from "#conversations/attachments/remove-files.ts";
import { closeWorkspace, emptyWorkspace } from "#conversations/retention/remove-workspace.ts";
import { png } from "#test/support/channels/file-channel.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { inTime } from "#test/support/in-time.ts";

eachDatabase("pictures of agents", (open) => {
  let app: TestApp;
  let anna: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    anna = await dashboardUser(app, "viewer", { name: "anna" });
  });
  afterAll(() => app.close());

  const upload = (bytes: Uint8Array<ArrayBuffer>, type = "image/png", user = anna) => {
    const form = new FormData();
    form.set("file", new Blob([bytes], { type }), "me.png");
    return user.call("POST", "me/avatar", form);
  };
  const pathOf = ({ body }: { readonly body: unknown }): string =>
    new URL((body as { readonly avatar_url: string }).avatar_url).pathname;
  const load = (path: string) => fetch(`${app.url}${path}`);

  it("are served to anybody who knows the id, with the type of the bytes, until they are replaced or removed", async () => {
    // The sender's type counts for nothing.
    const set = await upload(new Uint8Array(png), "text/html");
    expect(set.status).toBe(200);
    const first = pathOf(set);
    const served = await load(first);
    expect(served.status).toBe(200);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=86400, immutable",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    });
    expect(Buffer.from(await served.arrayBuffer()).equals(png)).toBe(true);
    expect((await anna.call("GET", "me")).body).toMatchObject({ agent: { avatar_url: `http://parley.test${first}` } });

    const jpeg = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, ...Buffer.from("a picture")]);
    const second = pathOf(await upload(jpeg));
    expect([(await load(first)).status, (await load(second)).headers.get("content-type")]).toEqual([404, "image/jpeg"]);
    expect((await anna.call("DELETE", "me/avatar")).status).toBe(204);
    expect((await load(second)).status).toBe(404);
    expect((await anna.call("GET", "me")).body).toMatchObject({ agent: { avatar_url: null } });
    for (const id of ["file_00000000000000000000000000", "..%2f..%2fetc", "x"]) {
      expect((await load(`/avatars/${id}`)).status).toBe(404);
    }
  });

  it("are PNG, JPEG or WebP of at most 1 MB", async () => {
    const webp = new Uint8Array(1_048_576);
    webp.set(Buffer.from("RIFF1234WEBPVP8 "));
    expect((await upload(webp)).status).toBe(200);
    const large = new Uint8Array(1_048_577);
    large.set(new Uint8Array(png));
    expect((await upload(large)).status).toBe(413);
    for (const text of ["<svg xmlns='http://www.w3.org/2000/svg'/>", "GIF89a", "<html>", "", "RIFF1234WAVE"]) {
      const { status, body } = await upload(new Uint8Array(Buffer.from(text)));
      expect([text, status, body]).toEqual([text, 415, expect.objectContaining({ code: "unsupported_media_type" })]);
    }
    const { cookie } = anna;
    const own = { cookie, "sec-fetch-site": "same-origin" };
    expect((await callAdmin(app, "POST", "me/avatar", {}, own)).status).toBe(415);
    expect((await callAdmin(app, "POST", "me/avatar", new FormData(), own)).status).toBe(422);
    expect((await callAdmin(app, "POST", "me/avatar", new FormData(), { cookie })).status).toBe(403);
  });

  it("are removed by an administrator, who is named in the audit log, and with the agent", async () => {
    const admin = await dashboardUser(app, "admin");
    const colleague = await dashboardUser(app, "agent", { name: "cleo" });
    const path = pathOf(await upload(new Uint8Array(png), "image/png", colleague));
    expect((await colleague.call("DELETE", `agents/${admin.id}/avatar`)).status).toBe(403);
    expect((await admin.call("DELETE", `agents/${colleague.id}/avatar`)).status).toBe(204);
    expect((await load(path)).status).toBe(404);
    const entry = await app.store.read
      .selectFrom("audit")
      .select(["actor_id", "detail", "to_value"])
      .where("detail", "=", `picture of ${colleague.email}`)
      .orderBy("id", "desc")
      .executeTakeFirst();
    expect(entry).toEqual({ actor_id: admin.email, detail: `picture of ${colleague.email}`, to_value: "none" });
    const again = pathOf(await upload(new Uint8Array(png), "image/png", colleague));
    expect((await admin.call("DELETE", `agents/${colleague.id}`)).status).toBe(204);
    expect((await load(again)).status).toBe(404);
  });

  it("are removed with the workspace", async () => {
    const other = await app.createWorkspace();
    const owner = await dashboardUser(app, "admin", { workspaceId: other.id });
    const path = pathOf(await upload(new Uint8Array(png), "image/png", owner));
    const { store, clock } = app;
    const { files, search } = app.app.services;
    const name = { workspaceId: other.id, id: path.slice("/avatars/".length) };
    await files.open(name);
    await store.write((tx) => closeWorkspace(tx, other.id, clock.now()));
    expect((await load(path)).status).toBe(404);
    await emptyWorkspace({ store, clock, search }, other.id, AbortSignal.timeout(60_000), () => undefined);
    const isGone = () => expect(files.open(name)).rejects.toThrow("not stored any more");
    await inTime(clock, eventually(isGone));
  });

  it("survive the removal of orphaned files", async () => {
    const path = pathOf(await upload(new Uint8Array(png)));
    const { files } = app.app.services;
    const { store, clock } = app;
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
    await removeOrphanFiles({ store, clock, files, log }, AbortSignal.timeout(60_000));
    expect((await load(path)).status).toBe(200);
  });
});
