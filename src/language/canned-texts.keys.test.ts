import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setWorkspace } from "#admin/workspaces/settings.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";

describe("what the bot says by itself", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(newSqlite);
    await app.learn("hours.md", "# Öffnungszeiten\n\nWir haben täglich von neun bis fünf geöffnet.");
  });
  afterAll(() => app.close());

  async function ask(query: string, more: { readonly conversation_id?: string } = {}) {
    const { status, body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query, ...more });
    expect(status).toBe(200);
    return body;
  }
  const answer = async (query: string): Promise<string> => (await ask(query)).answer;

  it.each([
    ["Hello!", "Hello! What can I help you with?"],
    ["Guten Tag!", "Hallo! Wie kann ich Ihnen helfen?"],
    ["Merci beaucoup pour votre aide", "Je vous en prie ! Puis-je vous aider pour autre chose ?"],
    ["¡Muchas gracias!", "¡De nada! ¿Puedo ayudarle en algo más?"],
    ["ありがとうございます", "どういたしまして。ほかにお手伝いできることはありますか。"],
    ["你好", "您好！请问有什么可以帮您？"],
    ["Спасибо!", "Пожалуйста! Могу ли я помочь ещё чем-нибудь?"],
  ])("answers “%s” in its language", async (text, reply) => {
    expect(await answer(text)).toBe(reply);
  });

  it("does not know in the customer's language, also in a follow-up that does not tell it", async () => {
    expect(await answer("Wie viele Monde hat der Jupiter?")).toMatch(/^Das weiß ich nicht/);
    expect(await answer("Combien de lunes a la planète Jupiter ?")).toMatch(/^Je ne sais pas/);
    expect(await answer("木星にはいくつの月がありますか")).toContain("分かりません");
    expect(await answer("How many moons does Jupiter have?")).toMatch(/^I don't know/);
    const { conversation_id } = await ask("Wann haben Sie geöffnet?");
    expect((await ask("Jupiter", { conversation_id })).answer).toMatch(/^Das weiß ich nicht/);
  });

  it("hands over in the customer's language", async () => {
    const { conversation_id } = await ask("Wie viele Monde hat der Jupiter?");
    expect((await ask("Und wie viele hat der Saturn?", { conversation_id })).answer).toMatch(
      /Kolleginnen und Kollegen/,
    );
    expect((await ask("Ist da jemand?", { conversation_id })).answer).toMatch(/^Ihre Nachricht ist/);
  });

  it("says the workspace's own sentences: those of the language before those for all", async () => {
    const set = (...assignments: string[]) => setWorkspace(app.store, app.clock, app.workspace.id, assignments);
    await set("messages.translations.de.unknown=Keine Ahnung.", "messages.translations.de.hello=Moin von {bot}!");
    await set("messages.translations.fr.unknown=Aucune idée.", "messages.unknown=No idea.", "bot_name=Ada $&");
    app.clock.advance(2_000);
    expect(await answer("Wie viele Monde hat der Jupiter?")).toBe("Keine Ahnung.");
    expect(await answer("Combien de lunes a la planète Jupiter ?")).toBe("Aucune idée.");
    expect(await answer("¿Cuántas lunas tiene el planeta Júpiter?")).toBe("No idea.");
    expect(await answer("Hallo")).toBe("Moin von Ada $&!");
    await expect(set("messages.translations.xx.unknown=?")).rejects.toThrow(
      /translations\.xx is not a setting; allowed here: .*by its code: en, de/,
    );
  });
});
