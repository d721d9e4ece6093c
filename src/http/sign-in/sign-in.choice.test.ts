import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { addAgent, cookieOf, password } from "#test/support/http/inbox.ts";

eachDatabase("signing in with a password that is valid in several workspaces", (open) => {
  let app: TestApp;
  const email = "ada@shop.example";
  const ids: string[] = [];
  beforeAll(async () => {
    app = await startApp(open);
    for (const { id } of [app.workspace, await app.createWorkspace(), await app.createWorkspace()]) {
      ids.push(id);
      await addAgent(app, "Ada", id, email);
    }
    const [renamed = ""] = ids;
    await app.store.write((tx) =>
      tx.updateTable("workspaces").set({ name: "Kettles <&>" }).where("id", "=", renamed).execute(),
    );
  });
  afterAll(() => app.close());

  const form = (fields: Readonly<Record<string, string>>) =>
    fetch(`${app.url}/inbox/login`, {
      method: "POST",
      headers: { origin: app.url },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const choices = async (answer: Response): Promise<readonly (readonly [string, string])[]> =>
    [...(await answer.text()).matchAll(/name="choice" value="([\w-]+)"[^>]*>([^<]*)</g)].map(
      ([, token = "", name = ""]) => [name, token] as const,
    );
  const workspaceOf = async (answer: Response): Promise<string> => {
    const me = await fetch(`${app.url}/inbox/api/me`, { headers: { cookie: cookieOf(answer) } });
    return ((await me.json()) as { readonly workspace: { readonly id: string } }).workspace.id;
  };

  it("offers a choice of workspace, and signs in to the chosen one", async () => {
    const answer = await form({ email, password });
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([200, null]);
    const shown = await choices(answer);
    expect(shown.map(([name]) => name)).toContain("Kettles &#60;&#38;&#62;");
    const reached: string[] = [];
    for (const name of shown.map(([each]) => each)) {
      // Attempts are distinguished by their time.
      app.clock.advance(1);
      const again = await choices(await form({ email, password }));
      const [, choice = ""] = again.find(([each]) => each === name) ?? [];
      const chosen = await form({ choice });
      expect([chosen.status, chosen.headers.get("location")]).toEqual([303, "/inbox"]);
      reached.push(await workspaceOf(chosen));
      // One choice uses up all choices of the attempt.
      for (const [, token] of again) expect((await form({ choice: token })).status).toBe(401);
    }
    expect((await form({ choice: shown[0]?.[1] ?? "" })).status).toBe(303);
    expect(reached.toSorted()).toEqual(ids.toSorted());
  });

  it("shows the ids of workspaces with the same name", async () => {
    const [, second = "", third = ""] = ids;
    const names = (await choices(await form({ email, password }))).map(([name]) => name);
    for (const id of [second, third]) expect(names.filter((name) => name.endsWith(`(${id})`))).toHaveLength(1);
  });

  it("reveals no workspace without the right password", async () => {
    const known = await form({ email, password: "not the password" });
    const unknown = await form({ email: "eve@shop.example", password: "not the password" });
    expect([known.status, unknown.status]).toEqual([401, 401]);
    expect((await known.text()).replaceAll(email, "")).toBe((await unknown.text()).replaceAll("eve@shop.example", ""));
    for (const choice of ["", "x", "x".repeat(43)]) expect((await form({ choice })).status).toBe(401);
  });

  it("accepts a choice for ten minutes", async () => {
    const late = (await choices(await form({ email, password })))[1]?.[1] ?? "";
    app.clock.advance(10 * 60_000);
    const answer = await form({ choice: late });
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
  });

  it("offers no deleted workspace, and none with another password", async () => {
    const [first = "", second = "", third = ""] = ids;
    await app.store.write((tx) =>
      tx.updateTable("workspaces").set({ deleted_at: app.clock.now() }).where("id", "=", second).execute(),
    );
    await app.store.write((tx) =>
      tx.updateTable("agents").set({ password: null }).where("workspace_id", "=", third).execute(),
    );
    const answer = await form({ email, password });
    expect(answer.status).toBe(303);
    expect(await workspaceOf(answer)).toBe(first);
  });
});
