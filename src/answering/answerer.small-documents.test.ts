import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExtractiveAnswerer } from "./answerer.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer } from "./contract.ts";
import type { Store } from "#database/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

/** Small documents, as many companies begin with: tables, a few rules, and no sentence too many. */
const documents: Readonly<Record<string, string>> = {
  "plans.md":
    "# Prices\n\nPer month.\n\n| Plan | Monthly price in euros | Users included |\n|---|---|---|\n| Mini | 4 | 1 |\n| Midi | 14 | 12 |\n| Maxi | 44 | 120 |\n",
  "shops.csv": "Shop,Opens,Parking\nGhent,9:00,yes\nBruges,10:30,no\n",
  "bowls.csv": "Product,Price,Stock\nVase,12.50,4\nBowl,8.00,11\n",
  "harbours.csv": "harbour,opening_hours,berth_price\nOldport,7:00-19:00,30 euros\nNewport,8:00-20:00,45 euros\n",
  "tarife.csv": "Tarif,Preis im Monat,Geräte\nKlein,5 Euro,zwei\nMittel,12 Euro,acht\n",
  "blankets.csv":
    "question,answer\nCan I wash the blanket?,At 30 degrees.\nHow warm is the blanket?,Down to 4 degrees.\n",
  "mill.csv":
    'question,answer\nHow old is the mill?,Eleven years.\nIs the mill open?,"Yes, until 5 in the afternoon."\nWho owns the mill?,Ada.\n',
  "tents.html":
    "<main><h1>Tent help</h1><h2>Can I wash the tent</h2><p>Never in a machine. Use a sponge and cold water.</p><h2>Storing the tent</h2><p>Keep it dry, away from mice.</p></main>",
  "zones.md": "# Zones\n\n| Zone | Days | Carrier |\n|---|---|---|\n| Inland | 2 | Post |\n| Europe | 6 | Courier |\n",
  "pumps.md":
    "# Pumps\n\nAll pumps come with a hose.\n\n| Pump | Power | Noise |\n|---|---|---|\n| Ada | 40 W | soft |\n| Bea | 80 W | loud |\n",
  "lifts.md": "# Lifts\n\nOur lifts are safe. Their doors open and close without a sound. A price is on request.",
  "rental.md":
    "# Boat rental\n\n## Cancel a rental\n\nOpen the mail that confirms your rental and press Cancel, or ring the desk, which answers from eight in the morning to eight in the evening on every day of the season. The desk needs the number of the rental and the name of the skipper, and writes to you once it is done.\n\nUntil two days before the start you get everything back. Later you pay half of the price. After the start nothing is paid back, apart from storms: then the harbour master decides.",
  "oars.md":
    "# Oars\n\n## Which parts does an oar have?\n\n- The grip is held.\n- The shaft is long.\n- The sleeve is of plastic.\n- The collar stops it.\n- The neck is thin.\n- The blade is wide.\n- The tip is of copper.\n- The edge is sharp.\n",
  "rooms.md": "# Room rules\n\nQuiet hours begin at 22:00. Check-out is at 11:00. Pets are welcome in most rooms.",
};

describe("answers from small documents", () => {
  let store: Store;
  let closeStore: () => Promise<void>;
  let index: KnowledgeIndex;
  let workspaceId: string;
  let answerer: Answerer;

  beforeAll(async () => {
    ({ store, close: closeStore } = await openTestStore(newSqlite));
    index = openEmbeddedIndex({ store, path: ":memory:", log: silentLog });
    const knowledge = testKnowledge(store);
    workspaceId = await newWorkspace(store);
    answerer = createExtractiveAnswerer({ index });
    for (const [name, text] of Object.entries(documents)) await knowledge.add(workspaceId, name, text);
  });
  afterAll(async () => {
    await index.close();
    await closeStore();
  });

  const ask = (text: string): Promise<Answer> =>
    answerer.answer(
      { workspaceId, text, history: [], strictness: "strict", topK: 5, audience: [], settings: defaultSettings },
      new AbortController().signal,
    );

  it("write the names of columns as people read them", async () => {
    const { text } = await ask("What is the berth price of Oldport?");
    expect(text).toBe("- harbour: Oldport, opening hours: 7:00-19:00, berth price: 30 euros");
  });

  it.each([
    ["How many users are included in Midi?", "Users included: 12"],
    ["How loud is the pump Bea?", "Noise: loud"],
    ["When does the shop in Ghent open?", "Opens: 9:00"],
    ["What is the price of the bowl?", "Price: 8.00"],
    ["Wie viele Geräte hat der Tarif Mittel?", "Geräte: acht"],
    ["Can I wash the tent?", "Use a sponge and cold water."],
    ["Can I wash the blanket?", "At 30 degrees."],
    ["How old is the mill?", "Eleven years."],
    ["Who owns the mill?", "Ada."],
    ["When is check-out?", "Check-out is at 11:00."],
    ["which parts does an oar have", "The edge is sharp."],
    ["Can I cancel a rental?", "Later you pay half of the price."],
  ])("%s", async (question, expected) => {
    const { text, answered } = await ask(question);
    expect(answered, text).toBe(true);
    expect(text).toContain(expected);
  });

  it.each(["How many users are included in Mega?", "What is the price of the lamp?", "When is breakfast?"])(
    "%s is not answered from another row",
    async (question) => {
      expect((await ask(question)).answered).toBe(false);
    },
  );
});
