import { createHmac } from "node:crypto";
import { startFakeTwilio } from "../../../adapters/twilio/shared/test/fake-twilio.ts";
import { png } from "#test/support/channels/file-channel.ts";
import { seedReports } from "#test/support/database/report-rows.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { asked, password } from "#test/support/http/inbox.ts";
import { addDeadLetter, indexingOf } from "#test/support/queue/dead-letters.ts";
import { startSite, htmlPage } from "#test/support/servers/fake-site.ts";
import { startOpenIdProvider } from "#test/support/servers/openid-provider.ts";
import { openReceiver } from "#test/support/servers/webhook-receiver.ts";

/** A workspace that has something of everything that the dashboard shows, and long words where they may be long. */
export interface FilledWorkspace {
  readonly admin: DashboardUser;
  readonly colleague: DashboardUser;
  readonly invited: string;
  readonly webhook: string;
  readonly channel: string;
  readonly article: string;
  readonly website: string;
  readonly customerEmail: string;
  close(): Promise<void>;
}

export const longName = "Donaudampfschifffahrtsgesellschaftskapitaensmuetze";

/** Needs an app that may call 127.0.0.1. */
export async function fillWorkspace(app: TestApp): Promise<FilledWorkspace> {
  const servers = {
    twilio: await startFakeTwilio(),
    site: await startSite(app.clock.now),
    receiver: await openReceiver(app.clock.now),
    provider: await startOpenIdProvider({ callbacks: [] }),
  };
  const admin = await dashboardUser(app, "admin", { name: "Anna" });
  const post = async (path: string, body: object, by = admin): Promise<unknown> =>
    ok(await by.call("POST", path, body));
  const idOf = async (path: string, body: object): Promise<string> =>
    ((await post(path, body)) as { readonly id: string }).id;

  ok(await admin.call("PUT", "settings/plan", { plan: "enterprise" }));
  const people = await fillTeam(app, admin, post);
  const documents = await fillDocuments(app, servers.site, post);
  await fillAutomation(post, servers.receiver.url);
  await post("keys", { name: "Shop server", limit_minute: 60 });
  await post("keys", { name: longName });
  await post("oauth-clients", { name: "Shop" });
  const webhook = await idOf("webhooks", { url: `${servers.receiver.url}/${"long-path/".repeat(8)}hook` });
  await post(`webhooks/${webhook}/test`, {});
  const channel = await idOf("channels", {
    channel: "sms",
    name: "Text messages",
    settings: { ...servers.twilio.settings, from: "+15550001000" },
  });
  // Nothing listens at this port, so that one channel is broken.
  const nowhere = { token: "123456:a-token-that-nobody-has", base_url: "http://127.0.0.1:9" };
  await post("channels", { channel: "telegram", name: "Telegram", settings: nowhere });
  const issued = { issuer: servers.provider.issuer, client_id: "parley", client_secret: "the client's secret" };
  ok(await admin.call("PUT", "sign-in/provider", { ...issued, groups: [{ group: "billing", role: "agent" }] }));
  const customerEmail = await fillConversations(app, people.colleague);
  await fillDeadLetters(app);
  return {
    admin,
    ...people,
    ...documents,
    webhook,
    channel,
    customerEmail,
    async close() {
      for (const server of Object.values(servers)) await server.close();
    },
  };
}

type Post = (path: string, body: object, by?: DashboardUser) => Promise<unknown>;

function ok({ status, body }: { readonly status: number; readonly body: unknown }): unknown {
  if (status >= 300) throw new Error(`filled workspace: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** A colleague who has a picture, a second factor, a token and a session, and one who is invited. */
async function fillTeam(app: TestApp, admin: DashboardUser, post: Post) {
  const colleague = await dashboardUser(app, "admin", { name: "Ben" });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(png)], { type: "image/png" }), "me.png");
  await post("me/avatar", form, colleague);
  const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
  await post("access-tokens", { name: "Terraform", scope: "write", expires_at }, colleague);
  await post("access-tokens", { name: "Terraform", scope: "read", expires_at });
  ok(await admin.call("PUT", "me/password", { password }));
  const made = (await post("agents", { email: `${longName.toLowerCase()}@shop.example`, name: longName })) as {
    readonly agent: { readonly id: string };
  };
  await post("teams", { name: "Billing", agent_ids: [colleague.id, admin.id] });
  return { colleague, invited: made.agent.id };
}

async function fillDocuments(app: TestApp, site: Awaited<ReturnType<typeof startSite>>, post: Post) {
  await app.learn("shipping.md", "# Shipping\n\nStandard delivery takes 3 to 5 working days.\n");
  await app.learn(`${longName}.md`, `# ${longName}\n\nThe captain's hat costs 30 euros.\n`, ["partners"]);
  await app.learn("arabic.md", "# الشحن\n\nيستغرق التوصيل من ثلاثة إلى خمسة أيام عمل.\n");
  // A page of the manual, as the first start adds it: before anybody is there.
  await app.learn("surveys.md", "# Surveys\n\nCustomers rate a conversation.\n");
  await app.store.write((tx) =>
    tx.updateTable("documents").set({ indexed_at: 1 }).where("file_name", "=", "surveys.md").execute(),
  );
  const added = async (path: string, body: object): Promise<string> =>
    ((await post(path, body)) as { readonly document: { readonly id: string } }).document.id;
  const article = await added("documents/articles", {
    title: "Returns",
    content: "## How long can I return?\n\nReturns are free for 30 days.\n",
  });
  site.pages.set("/", htmlPage("Comet club", "The comet club meets on Fridays.", ["/rules", "/gone"]));
  site.pages.set("/rules", htmlPage("Comet rules", "Members of the comet club bring a telescope."));
  const website = await added("documents/crawl", { url: `${site.origin}/`, max_pages: 5 });
  return { article, website };
}

async function fillAutomation(post: Post, url: string): Promise<void> {
  for (const name of ["Money", longName]) {
    await post("rules", {
      name,
      when: { message: "customer" },
      if: { words: ["money", "refund"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
      then: [{ tag: ["money"] }, { escalate: "Money" }],
    });
  }
  await post("macros", {
    name: "Refund",
    actions: [{ reply: "Hello {customer}, it is on its way." }, { resolve: true }],
  });
  await post("saved-replies", { name: "hello", text: "Hello {customer}, this is **{agent}**. ".repeat(6) });
  await post("skills", {
    name: "order_status",
    description: "Tells the state of an order.",
    request: { url: `${url}/orders/{order}`, headers: { authorization: "Bearer secret-key-1" } },
    arguments: { order: { description: "The number of the order.", shape: "A-####" } },
    answer: "It is {state}.",
  });
}

/** Questions with and without an answer, a customer with an address, and numbers for the reports. */
async function fillConversations(app: TestApp, agent: DashboardUser): Promise<string> {
  const email = "ada@customers.example";
  const hash = createHmac("sha256", app.workspace.identitySecret).update("u-ada").digest("hex");
  const user = { name: "Ada", email, user_id: "u-ada", hash };
  for (const query of ["Where is my lamp?", "How long does delivery take?", "Is there a discount for students?"]) {
    await app.post("/v1/query", { workspace_id: app.workspace.id, query, user });
  }
  const { conversationId } = await asked(app, "held");
  await app.engine.applyAction(
    app.workspace.id,
    conversationId,
    { kind: "claim" },
    { email: agent.email, name: "Ben" },
  );
  await seedReports(app.store, app.workspace.id, {
    from: "2031-04-01",
    to: "2031-05-14",
    conversationsADay: 20,
    agents: [agent.email],
  });
  return email;
}

/** More than the overview shows, with a conversation and with a long word. */
async function fillDeadLetters(app: TestApp): Promise<void> {
  const { id } = await app.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
  for (const error of ["refused", longName, "refused", "refused", "refused", "refused"]) {
    await addDeadLetter(app, { ...indexingOf(id), error });
  }
}
