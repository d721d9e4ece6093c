import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

interface NewAccount {
  readonly id: string;
  readonly webhook_url: string;
}

eachDatabase("the address of a channel that is not connected yet", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let stranger: DashboardUser;
  let numbers = 0;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
    stranger = await dashboardUser(app, "admin", { workspaceId: (await app.createWorkspace()).id });
  });
  afterAll(() => app.close());

  const newAccount = async (channel: string, provider?: string): Promise<NewAccount | null> => {
    const query = provider === undefined ? "" : `?provider=${provider}`;
    const { body } = await admin.call("GET", `channels/kinds/${channel}${query}`);
    return (body as { readonly new_account: NewAccount | null }).new_account;
  };
  const connect = (by: DashboardUser, id?: string) => {
    numbers += 1;
    return by.call("POST", "channels", {
      channel: "sms",
      name: `Number ${numbers}`,
      settings: {
        account_sid: `AC${"0".repeat(32)}`,
        auth_token: "0123456789abcdef0123456789abcdef",
        from: `+1555000${1_000 + numbers}`,
      },
      ...(id === undefined ? {} : { id }),
    });
  };

  it("is that of the account which is connected with its id", async () => {
    const fresh = await newAccount("sms");
    expect(fresh?.webhook_url).toBe(`http://parley.test/channels/sms/${fresh?.id}`);
    expect(await connect(admin, fresh?.id)).toMatchObject({ status: 201, body: fresh });
    expect(await admin.call("GET", `channels/${fresh?.id}`)).toMatchObject({ status: 200, body: fresh });
  });

  it("is another one for each answer, and stores nothing", async () => {
    const ids = [await newAccount("sms"), await newAccount("sms")].map((each) => each?.id ?? "");
    expect(new Set(ids).size).toBe(2);
    const stored = app.store.read.selectFrom("accounts").select("id").where("id", "in", ids);
    expect(await stored.execute()).toEqual([]);
  });

  it("is made without an id too", async () => {
    const { status, body } = await connect(admin);
    expect([status, body]).toEqual([201, expect.objectContaining({ id: expect.stringMatching(/^acc_/) as unknown })]);
  });

  it("is refused in another form", async () => {
    const id = newId("acc", app.clock.now());
    for (const wrong of [
      "",
      "acc_",
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      ` ${id}`,
      `${id}\n`,
      id.replace("acc", "agt"),
    ]) {
      const { status, body } = await connect(admin, wrong);
      expect([wrong, status, body]).toMatchObject([wrong, 422, { code: "invalid_parameter" }]);
    }
  });

  it("is refused once any workspace has used it, also after the channel was removed", async () => {
    const { id = "" } = (await newAccount("sms")) ?? {};
    expect((await connect(stranger, id)).status).toBe(201);
    const refused = { status: 409, body: { code: "already_exists", detail: /Load the form again/ } };
    const isRefused = async (by: DashboardUser): Promise<void> => {
      const { status, body } = await connect(by, id);
      const { code, detail } = body as { readonly code: string; readonly detail: string };
      expect([status, code]).toEqual([refused.status, refused.body.code]);
      expect(detail).toMatch(refused.body.detail);
    };
    await isRefused(admin);
    await isRefused(stranger);
    expect((await stranger.call("DELETE", `channels/${id}`)).status).toBe(204);
    await isRefused(admin);
    await isRefused(stranger);
    expect((await admin.call("GET", `channels/${id}`)).status).toBe(404);
  });

  it("is that of one of two channels which are connected with it at the same moment", async () => {
    const { id } = (await newAccount("sms")) ?? {};
    const answers = await Promise.all([connect(admin, id), connect(stranger, id)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
  });

  it("is shown where the platform takes it before the account exists", async () => {
    const shown = async (channel: string, provider?: string) => (await newAccount(channel, provider)) !== null;
    expect([await shown("voice"), await shown("whatsapp", "twilio"), await shown("whatsapp", "meta")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await shown("intercom"), await shown("slack"), await shown("telegram"), await shown("email")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
