import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "#database/contract.ts";
import type { KnowledgeIndex, SearchRequest } from "#knowledge/index/contract.ts";
import { contentWordsOf, termsOf } from "#language/words/terms.ts";
import { newSqlite, openTestStore } from "../database/databases.ts";
import type { TestKnowledge } from "./knowledge.ts";
import { newWorkspace, testKnowledge } from "./knowledge.ts";

/** The tests that every knowledge index has to pass. `open` opens an empty index on a store. */
export function knowledgeIndexContract(name: string, open: (store: Store) => Promise<KnowledgeIndex>): void {
  describe(name, () => {
    let store: Store;
    let closeStore: () => Promise<void>;
    let index: KnowledgeIndex;
    let knowledge: TestKnowledge;
    let workspaceId: string;

    beforeEach(async () => {
      ({ store, close: closeStore } = await openTestStore(newSqlite));
      index = await open(store);
      knowledge = testKnowledge(store);
      workspaceId = await newWorkspace(store);
    });
    afterEach(async () => {
      await index.close();
      await closeStore();
    });

    const search = (text: string, more: Partial<SearchRequest> = {}) =>
      index.search({
        workspaceId,
        terms: [...new Set(termsOf(text))],
        text: () => text,
        audience: [],
        limit: 50,
        ...more,
      });
    const titles = async (text: string, more: Partial<SearchRequest> = {}) =>
      (await search(text, more)).candidates.map((candidate) => candidate.title);

    it("finds nothing in an empty or unknown workspace", async () => {
      const empty = { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };
      expect(await search("refund")).toMatchObject(empty);
      expect(await search("refund", { workspaceId: "wt_aaaaaa_bbbbbbbbbb" })).toMatchObject(empty);
    });

    it("finds passages with any of the words, in any form of them, also in the title", async () => {
      await knowledge.add(workspaceId, "refunds.md", "# Refunds\n\nMoney goes back to the card.");
      await knowledge.add(workspaceId, "shipping.md", "# Shipping\n\nParcels leave on the same day.");
      expect(await titles("refunded parcel")).toEqual(expect.arrayContaining(["Refunds", "Shipping"]));
      expect(await titles("refunding")).toEqual(["Refunds"]);
      expect(await titles("weather")).toEqual([]);
    });

    it("returns a stored passage with its terms, its position and its address", async () => {
      const id = await knowledge.add(workspaceId, "a.md", "# Café hours\n\nWe're open daily.", {
        url: "https://shop.example/a",
      });
      const [candidate] = (await search("cafe")).candidates;
      expect(candidate).toMatchObject({
        documentId: id,
        position: 0,
        title: "Café hours",
        text: "We're open daily.",
        url: "https://shop.example/a",
        titleTerms: termsOf("Café hours"),
        bodyTerms: termsOf("We're open daily."),
      });
    });

    it("counts the passages with each word in this workspace alone", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle kettle kettle. Boil water.");
      await knowledge.add(workspaceId, "b.md", "Kettle and lid.");
      const other = await newWorkspace(store);
      await knowledge.add(other, "c.md", "Kettle of another shop.");
      const { frequency, chunkCount, averageTerms } = await search("kettle lid spoon");
      expect([...frequency]).toEqual(
        expect.arrayContaining([
          ["kettl", 2],
          ["lid", 1],
        ]),
      );
      expect(frequency.has("spoon")).toBe(false);
      expect(chunkCount).toBe(2);
      // The words are "a kettle kettle kettle boil water" and "b kettle lid"; the titles are the files' names.
      expect(averageTerms).toBeCloseTo((5 + 3) / 2, 5);
    });

    it("never finds another workspace's passages", async () => {
      const other = await newWorkspace(store);
      await knowledge.add(other, "secret.md", "The secret is a kettle.");
      await knowledge.add(workspaceId, "public.md", "A kettle.");
      expect(await titles("secret kettle")).toEqual(["Public"]);
    });

    it("shows gated documents only to those who have one of their tags", async () => {
      await knowledge.add(workspaceId, "all.md", "Prices for all.");
      await knowledge.add(workspaceId, "partners.md", "Prices for partners.", { audience: ["partner", "staff"] });
      expect(await titles("prices")).toEqual(["All"]);
      expect(await titles("prices", { audience: ["customer"] })).toEqual(["All"]);
      expect(await titles("prices", { audience: ["x", "staff"] })).toEqual(expect.arrayContaining(["All", "Partners"]));
      // Naming the document must not bypass the audience.
      const id = (await search("prices", { audience: ["staff"] })).candidates.find(
        (each) => each.title === "Partners",
      )?.documentId;
      expect(await titles("prices", { documentIds: [id ?? ""] })).toEqual([]);
    });

    it("hides a document at once when it becomes gated", async () => {
      await knowledge.add(workspaceId, "prices.md", "Prices.");
      expect(await titles("prices")).toEqual(["Prices"]);
      await knowledge.documents.add({
        workspaceId,
        fileName: "prices.md",
        bytes: Buffer.from("Prices."),
        audience: ["staff"],
      });
      expect(await titles("prices")).toEqual([]);
      expect(await titles("prices", { audience: ["staff"] })).toEqual(["Prices"]);
    });

    it("searches only the named documents", async () => {
      const one = await knowledge.add(workspaceId, "one.md", "Kettle.");
      await knowledge.add(workspaceId, "two.md", "Kettle.");
      expect(await titles("kettle", { documentIds: [one] })).toEqual(["One"]);
      expect(await titles("kettle", { documentIds: [] })).toEqual([]);
    });

    it("returns at most the requested number of candidates, the best ones", async () => {
      for (let n = 0; n < 10; n += 1) await knowledge.add(workspaceId, `d${n}.md`, `Filler text ${n}. The kettle.`);
      await knowledge.add(workspaceId, "best.md", "# Kettle lid\n\nThe lid of the kettle.");
      const found = await titles("kettle lid", { limit: 3 });
      expect(found).toHaveLength(3);
      expect(found[0]).toBe("Kettle lid");
    });

    it("serves the new version of a document once it is indexed, and not before", async () => {
      await knowledge.add(workspaceId, "hours.md", "Open until five.");
      expect((await search("open until")).candidates[0]?.text).toBe("Open until five.");
      const { id } = await knowledge.documents.add({
        workspaceId,
        fileName: "hours.md",
        bytes: Buffer.from("Open until six."),
      });
      expect((await search("open until")).candidates.map((each) => each.text)).toEqual(["Open until five."]);
      await knowledge.documents.process(id);
      expect((await search("open until")).candidates.map((each) => each.text)).toEqual(["Open until six."]);
    });

    it("drops a removed document, also from its counts", async () => {
      const id = await knowledge.add(workspaceId, "a.md", "Kettle.");
      await knowledge.add(workspaceId, "b.md", "Lid.");
      expect((await search("kettle")).chunkCount).toBe(2);
      await knowledge.documents.remove(workspaceId, id);
      const { candidates, chunkCount, frequency } = await search("kettle");
      expect({ candidates, chunkCount, known: frequency.has("kettl") }).toEqual({
        candidates: [],
        chunkCount: 1,
        known: false,
      });
    });

    it("drops a deleted workspace", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      expect(await titles("kettle")).toEqual(["A"]);
      await store.write((tx) =>
        tx.updateTable("workspaces").set({ deleted_at: 1 }).where("id", "=", workspaceId).execute(),
      );
      expect(await titles("kettle")).toEqual([]);
    });

    it("accepts words of any script, and text that looks like its own query syntax", async () => {
      // Mostly English, so that its words are stemmed like the query's.
      await knowledge.add(
        workspaceId,
        "a.md",
        'What is it? Чайник кипит. 電気ケトルの保証。 Größe "OR" NEAR(a b) col:x * -y \'',
      );
      for (const text of ["чайник", "保証", "grösse größe", `kettle" OR "größe`, "NEAR(größe", "größe*"]) {
        expect(await titles(text), text).toHaveLength(1);
      }
      expect(
        await index.search({ workspaceId, terms: [`"`, "a OR b", "'", "(", "*", ""], audience: [], limit: 5 }),
      ).toBeDefined();
    });

    it("finds words that are spelt almost like a misspelt one", async () => {
      await knowledge.add(workspaceId, "refunds.md", "# Refunds\n\nThe refund goes back to the card.");
      await knowledge.add(workspaceId, "parcels.md", "# Parcels\n\nA parcel is insured.");
      const misspelt = contentWordsOf("refnud");
      const { candidates, repaired, frequency } = await search("refnud", { misspelt });
      expect(repaired?.get("refnud")).toEqual(["refund"]);
      expect(frequency.get("refund")).toBe(1);
      expect(candidates.map(({ title }) => title)).toEqual(["Refunds"]);
      expect((await search("xyzzyxyzzy", { misspelt: contentWordsOf("xyzzyxyzzy") })).candidates).toEqual([]);
    });

    it("corrects a typo to the nearest words, in any script, and splits a joined word in two", async () => {
      await knowledge.add(workspaceId, "power.md", "# Power\n\nThe batteries are charging overnight.");
      await knowledge.add(workspaceId, "ru.md", "# Доставка\n\nДоставка занимает три дня, посылку привозит курьер.");
      const repairOf = async (text: string, language: "en" | "ru" = "en") => {
        const misspelt = contentWordsOf(text, language);
        const { repaired } = await search("", { terms: misspelt.map(({ term }) => term), misspelt });
        return repaired?.get(misspelt[0]?.term ?? "") ?? [];
      };
      const stem = (word: string, language: "en" | "ru" = "en") => contentWordsOf(word, language)[0]?.term;
      expect(await repairOf("chraging")).toEqual([stem("charging")]);
      expect(await repairOf("abtteries")).toEqual([stem("batteries")]);
      expect(await repairOf("дсотавка", "ru")).toEqual([stem("доставка", "ru")]);
      expect((await repairOf("chargingovernight")).toSorted()).toEqual([stem("charging"), stem("overnight")]);
    });

    it("answers many searches at once while documents change", async () => {
      await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          await knowledge.add(workspaceId, `d${n}.md`, `Kettle number ${n}.`);
          expect(await titles("kettle")).toContain(`D${n}`);
        }),
      );
      expect((await search("kettle")).chunkCount).toBe(12);
    });
  });
}
